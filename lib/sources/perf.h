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

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/sources/resource.h"

/* ---- perf-event.c ---- */

/*
 * Opens a source's event, disabled.  Returns its descriptor, or -1 with errno
 * set.  *had_to: it excludes the kernel, as more is not allowed.
 * perf_event_sender recognises its traps by `column`.  Async-signal-safe.
 */
int perf_event_open(const struct resource_source *source, uint64_t period,
    unsigned column, bool *had_to);

/*
 * Whether this kernel can disable an event that traps after one trap
 * (PERF_EVENT_IOC_REFRESH).  From the constructor.
 */
bool perf_event_can_trap_once(void);

/* The column whose event has sent a SIGTRAP, or -1.  Async-signal-safe. */
int perf_event_sender(const siginfo_t *info);

/*
 * Whether the event can be opened in this process, with the kernel's part if
 * with_kernel; if not, *why is the reason.  From the constructor.
 */
bool perf_event_is_available(const struct resource_source *source,
    bool with_kernel, const char **why);

/* ---- perf-clock.c ---- */

/*
 * CPU time by a perf event, and what the event does not see.
 *
 * Without privileges, the event traps only in user mode.  Each trap then is one
 * period of user mode; a period that ends in the kernel is repeated.  The rest
 * of the thread's CPU time was spent in the kernel.  It is charged only where
 * ticks find the thread in the kernel (lib/sources/tick-mode.h).
 *
 * Unless the user has chosen the interval, samples are one interval apart at
 * the beginning of a recording and several of them later, and then stand for as
 * many hits.  So a short run has enough samples and a long one costs little.
 * The pace depends on nothing but the CPU time of the whole recording, and each
 * thread begins and changes it at a random point of an interval.  The intervals
 * of its first samples have no memory (lib/base/meter.h), since these cost most.
 * So it is equally likely for each microsecond to be counted, whatever its age
 * in its thread or process.
 *
 * An event uses the kernel's high-resolution timers, which are set again each
 * time the thread leaves a processor and comes back.  If a thread does this
 * very often, it costs more than the samples, and the cost falls into the calls
 * that wait; the difference between the thread's clock and the event's goes to
 * wherever the next trap is.  Therefore such a thread's event is closed, and
 * the thread is sampled at ticks (CPPROFDATA_CLOCK_GIVEN_UP) until it switches
 * less.
 *
 * If an event has stopped trapping, as some with --random have for a quarter of
 * a second on a busy machine, ticks notice, and it is opened again.
 *
 * All functions: async-signal-safe, in the handler on the thread, or with its
 * ticks and traps held off.
 */

/* Begins a new event on a thread. */
void perf_clock_start(struct thread *thread, unsigned column);

/*
 * After a thread's first samples: makes intervals differ by no more than they
 * have to.  They are drawn between half and one and a half of their mean, if
 * they are random or are to be out of step with the program's timers, or fixed,
 * if not or if the kernel is to repeat them.  If this changes them, the new ones
 * begin at a random point of the first: returns true, and the next boundary is
 * the end of another period.
 */
bool perf_clock_settle(struct thread *thread, unsigned column,
    bool is_repeated);

/*
 * The period to set now, at least `least`, so that the event traps after
 * `period` since the boundary that was due last.
 */
uint64_t perf_clock_set(struct thread *thread, uint64_t period,
    uint64_t least);

/*
 * The new hits for what the collector itself has used since the trap.  The
 * thread's clock counts that as the time of the interrupted code, so the hits
 * belong there and not to wherever the thread goes next.
 */
uint64_t perf_clock_own(struct thread *thread, unsigned column);

/* The new hits at its own trap, or at that of another event. */
uint64_t perf_clock_trap(struct thread *thread, unsigned column,
    bool is_own_trap);

/* To be called at the end of the handler of such a trap. */
void perf_clock_end_trap(struct thread *thread);

/* The new hits at a tick; with 0 expiries, when the thread ends. */
uint64_t perf_clock_tick(struct thread *thread, unsigned column,
    uint64_t expiries);

/*
 * To be called when that tick's sample has been taken or deferred.  If it was
 * deferred, the kernel's part waits for another such tick.  Returns whether the
 * event must be opened again.
 */
bool perf_clock_end_tick(struct thread *thread, unsigned column);

/*
 * Checks from time to time how often the thread switches, and says whether its
 * event is to be closed (given up) or opened again.  is_given_up is set
 * accordingly.
 */
enum perf_clock_change {
	PERF_CLOCK_UNCHANGED, PERF_CLOCK_CLOSE, PERF_CLOCK_OPEN
};
enum perf_clock_change perf_clock_check(struct thread *thread);

/* ---- perf.c ---- */

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
 * tracepoint (dispatch.h).
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
