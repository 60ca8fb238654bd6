/* SPDX-License-Identifier: MIT */
/* perf.h -- the kernel's perf events, each interval a trap.
 *
 * An event counts in one thread, and each time it has counted an interval the
 * thread gets a SIGTRAP (attr.sigtrap, Linux 5.13) on its way back to user
 * space: at the very instruction, or at the end of the system call or the wait
 * that brought it, and never by cutting a call short.  The program's own use
 * of SIGTRAP is kept (signals.h).
 *
 * What the kernel counts for the thread anyway (time, faults, switches) is
 * asked for at each trap, so that totals are exact whatever traps are lost.
 *
 * An event's page is mapped and its descriptor closed as soon as it is not
 * needed any more: the mapping keeps the event alive, the program may close
 * what it likes, and a forked child inherits neither.  It goes at exec.
 */
#ifndef CPPROF_SOURCE_PERF_H
#define CPPROF_SOURCE_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/source.h"

extern const struct source source_perf_clock, source_perf_user_clock,
    source_perf_faults,
    source_perf_major_faults, source_perf_minor_faults, source_perf_switches,
    source_perf_syscalls, source_perf_cycles, source_perf_instructions,
    source_perf_cache_misses, source_perf_branch_misses;

/* Whether a resource that is sampled comes from such events. */
bool perf_is_used(void);

/* Whether a column's events count what the handler, too, must use. */
bool perf_measures_work(unsigned column);

/*
 * What a trap of that column has brought goes to what the thread owes, and the
 * event is set to its next interval.  So is what traps of other columns would
 * have brought that came at the same time: SIGTRAP does not queue.  Returns the
 * set of columns that owe something, *hits the new hits.  Handler.
 */
uint32_t perf_trap(struct thread *thread, unsigned column, uint64_t *hits);

/*
 * Between the two, system calls of the calling thread do not count where the
 * tracepoint counts them (own-work.h).
 */
void perf_hold(struct thread *thread);
void perf_release(struct thread *thread);

/*
 * When the samples of a trap of that column, or of a tick, have been taken.
 * Handler.
 */
void perf_end_trap(struct thread *thread, unsigned column);
void perf_end_tick(struct thread *thread);

/*
 * Takes the calling thread's events away, and brings them back.
 * Async-signal-safe.
 */
void perf_pause(struct thread *thread);
void perf_go_on(struct thread *thread);

/* In a forked child: the parent's events are not ours.  Async-signal-safe. */
void perf_forked(struct thread *thread);

#endif
