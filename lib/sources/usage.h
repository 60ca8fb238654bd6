/* SPDX-License-Identifier: MIT */
/* usage.h -- what the kernel counts for each thread.
 *
 * Totals are the kernel's own (getrusage).  Where it was spent is known to a
 * tick of CPU time only: what came between two ticks is charged to the stack
 * that the second finds.  For `user` and `system` that is as good as it gets:
 * a kernel that counts CPU time by ticks charges each tick to the one or the
 * other by where it finds the thread, and our tick is that one.
 */
#ifndef CPPROF_SOURCE_USAGE_H
#define CPPROF_SOURCE_USAGE_H

#include <stdint.h>

#include "lib/sources/source.h"

extern const struct source source_user, source_system, source_page_faults,
    source_major_faults, source_minor_faults, source_context_switches;

/* A source's `usage`. */
enum usage {
	USAGE_NONE,
	USAGE_CPU, USAGE_USER, USAGE_SYSTEM,	/* microseconds */
	USAGE_PAGE_FAULTS, USAGE_MAJOR_FAULTS, USAGE_MINOR_FAULTS,
	USAGE_CONTEXT_SWITCHES
};

/*
 * What the calling thread has spent since usage_hits last saw it, in gticks.
 * Async-signal-safe.
 */
uint64_t usage_unseen(const struct thread *thread, unsigned column);

/* As struct source has them, for one with a `usage`; async-signal-safe. */
bool usage_start(struct thread *thread, unsigned column);
uint64_t usage_hits(struct thread *thread, unsigned column,
    uint64_t expiries);

/* The same of that many gticks at most; the rest stays unseen. */
uint64_t usage_hits_of(struct thread *thread, unsigned column, uint64_t most);

/*
 * Between the two, faults and switches of the calling thread do not count; who
 * asks meanwhile is told what it was at the beginning (lib/sources/own-work.h).
 */
void usage_hold(struct thread *thread);
void usage_release(struct thread *thread);

#endif
