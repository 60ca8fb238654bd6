/* SPDX-License-Identifier: MIT */
/* perf.h -- the kernel's perf events, with a trap at each interval.
 *
 * An event counts in one thread.  Whenever it has counted an interval, the
 * thread gets a SIGTRAP (attr.sigtrap, Linux 5.13) on its way back to user
 * space: right at the instruction, or at the end of the system call or wait
 * that caused it.  It never interrupts a call.  The program can still use
 * SIGTRAP (signals.h).
 *
 * What the kernel counts for the thread anyway (time, faults, switches) is read
 * at each trap, so totals are exact even if traps are lost.
 *
 * An event's page is mapped, and its descriptor is closed as soon as it is not
 * needed any more.  The mapping keeps the event alive, the program may close
 * what it likes, and a forked child inherits neither.  The event ends at exec.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_SOURCE_PERF_H
#define CPPROF_SOURCE_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/source.h"

extern const struct resource_source source_perf_clock, source_perf_user_clock,
    source_perf_faults,
    source_perf_major_faults, source_perf_minor_faults, source_perf_switches,
    source_perf_syscalls, source_perf_cycles, source_perf_instructions,
    source_perf_cache_misses, source_perf_branch_misses;

/* Whether a sampled resource uses such events. */
bool perf_is_used(void);

/* Whether the events of a column also count what the handler uses. */
bool perf_measures_work(unsigned column);

/*
 * The thread's interval of CPU time in nanoseconds, if a column counts that by
 * a perf event; 0 otherwise.
 */
uint64_t perf_clock_ns(const struct thread *thread, unsigned column);

/*
 * The hits of CPU time for what the handler of the clock's trap itself has
 * used, which are added to the pending ones; *columns is the set of their
 * column.  In that handler: before it, the time since its last trap is not its
 * own.
 */
uint64_t perf_own_hits(struct thread *thread, uint32_t *columns);

/*
 * Adds the hits of a trap of that column to the pending hits, and sets the
 * event's next interval.  Does the same for other columns whose traps may have
 * come at the same time, since SIGTRAP does not queue.  Returns the set of
 * columns with pending hits; *hits are the new ones.  In the handler.
 */
uint32_t perf_trap(struct thread *thread, unsigned column, uint64_t *hits);

/*
 * Between these, system calls of the calling thread are not counted by the
 * tracepoint (own-work.h).
 */
void perf_hold(struct thread *thread);
void perf_release(struct thread *thread);

/*
 * To be called when the sample of a trap of that column, or of a tick, has been
 * taken.  In the handler.
 */
void perf_end_trap(struct thread *thread, unsigned column);
void perf_end_tick(struct thread *thread);

/*
 * Close the calling thread's events, and open them again.
 */
void perf_pause(struct thread *thread);
void perf_go_on(struct thread *thread);

/* In a forked child: forgets the parent's events. */
void perf_forked(struct thread *thread);

#endif
