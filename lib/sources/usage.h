/* SPDX-License-Identifier: MIT */
/* usage.h -- what the kernel counts for each thread.
 *
 * Totals are the kernel's own (getrusage).  The place is only known at ticks of
 * CPU time: what came between two ticks is charged to the stack that the second
 * finds.  For `user` and `system` nothing better is possible: a kernel that
 * counts CPU time by ticks charges each tick to user mode or to itself,
 * depending on where it finds the thread, and our tick is the same one.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_SOURCE_USAGE_H
#define CPPROF_SOURCE_USAGE_H

#include <stdint.h>

#include "lib/sources/resource.h"

extern const struct resource_source source_user, source_system,
    source_page_faults, source_major_faults, source_minor_faults,
    source_context_switches;

/* Values of a source's `usage`. */
enum usage {
	USAGE_NONE,
	USAGE_CPU, USAGE_USER, USAGE_SYSTEM,	/* microseconds */
	USAGE_PAGE_FAULTS, USAGE_MAJOR_FAULTS, USAGE_MINOR_FAULTS,
	USAGE_CONTEXT_SWITCHES
};

/*
 * What the calling thread has spent since the last hits were counted, in
 * gticks.
 */
uint64_t usage_unseen(const struct thread *thread, unsigned column);

/* `start` and `hits` of a source with a `usage`. */
bool usage_start(struct thread *thread, unsigned column);
uint64_t usage_hits(struct thread *thread, unsigned column,
    uint64_t expiries);

/* The same, but of at most that many gticks; the rest remains unseen. */
uint64_t usage_hits_of(struct thread *thread, unsigned column, uint64_t most);

/*
 * Between these, faults and switches of the calling thread do not count.
 * usage_unseen returns what it was at the beginning (lib/sources/dispatch.h).
 */
void usage_hold(struct thread *thread);
void usage_release(struct thread *thread);

#endif
