/* SPDX-License-Identifier: MIT */
/* off-cpu.c -- finds where threads have lost the processor.
 *
 * A thread's own ticks find it where it runs.  A thread that loses the processor
 * when a system call or page fault ends, or that waits to map memory, is not
 * found there.  So each tick looks at one other thread, at all of them in turn.
 * If that one waits, it gets a signal, which it takes when it goes on, where it
 * stood.  The longer it waits in a place, the likelier it is found there.
 *
 * The signal must not end a system call early.  So the thread
 *  - is in no measured call; all calls of the C library that wait are measured;
 *  - ran last on the processor that handles the tick: that one is taken, so the
 *    thread does not run, and begins no call meanwhile; and
 *  - waits for memory, which no signal ends, or for the processor, but not at
 *    the end of a wait in a call that is not measured.
 *
 * The last is known in two ways.  A thread notes how often it has given up the
 * processor.  If the kernel has the same number, it has not waited since.  The
 * numbers also differ where threads wait for memory.  Then no thread with that
 * start routine must have been seen in another wait, in many looks.
 *
 * A virtual processor is sometimes taken away for milliseconds, while the other
 * processors go on, and one of them may take the thread over.  The kernel counts
 * no switch there; but the look takes long, and then no signal is sent.  Only in
 * the moment between the end of the look and the signal is that not noticed.
 */
#include "lib/run/sample.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/proc.h"
#include "lib/base/process.h"
#include "lib/signals/signals.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"

#define MOST_PASSED 8	/* threads that cannot be meant, at a tick */
#define MANY_LOOKS 256	/* without seeing a wait */
#define LOOKS_NEVER (INT_MIN / 2)	/* will not be many */
#define LOOK_PART 100	/* a look may take this part of the CPU time */
#define WORTH_TICKS 64	/* for which threads are looked at, after one waited */
#define LONG_LOOK 8	/* times the shortest one */

/* Their addresses identify the signals. */
static const char ready_mark, blocked_mark;

static struct thread *_Atomic off_cpu_next;
static atomic_int off_cpu_worth;
static _Atomic uint64_t off_cpu_shortest_ns;	/* of looks that found a wait */

enum off_cpu
off_cpu_sent(const siginfo_t *info)
{
	if (info->si_code != SI_QUEUE ||
	    info->si_pid != (pid_t)process_own.pid)
		return OFF_CPU_NOT;
	return info->si_ptr == &ready_mark ? OFF_CPU_READY :
	    info->si_ptr == &blocked_mark ? OFF_CPU_BLOCKED : OFF_CPU_NOT;
}

static bool
off_cpu_is_candidate(const struct thread *thread)
{
	return thread->run->stage == THREAD_RUNNING && !thread->run->is_in_call;
}

void
off_cpu_note_waits(struct thread *thread)
{
	struct rusage usage;

	if (process_thread_usage(&usage))
		thread->run->n_waits = (uint64_t)usage.ru_nvcsw;
}

/* Whether a thread that could run has not woken in a call. */
static bool
off_cpu_is_safe(const struct thread *thread, const char *directory)
{
	const struct carryover *carryover = thread->meters->carryover;
	uint64_t n;

	return (carryover->off_cpu_ticks[true] > 0 &&
	    carryover->n_looks >= MANY_LOOKS) ||
	    (proc_read_waits(directory, &n) && n == thread->run->n_waits);
}

/* What a thread does that is in no measured call. */
static enum off_cpu
off_cpu_state(const struct thread *thread)
{
	struct carryover *carryover = thread->meters->carryover;
	char path[PROC_PATH_SIZE];
	const char *directory = proc_of_thread(path, thread->tid);
	struct proc_state now;

	if (!proc_read_state(directory, &now) || !off_cpu_is_candidate(thread))
		return OFF_CPU_NOT;
	if (now.state == 'S') {
		carryover->n_looks = LOOKS_NEVER;
		carryover->off_cpu_ticks[true] = 0;
	} else if (carryover->n_looks < MANY_LOOKS) {
		carryover->n_looks++;
	}
	if (now.processor != (uint64_t)sched_getcpu())
		return OFF_CPU_NOT;
	if (now.state == 'D')
		return OFF_CPU_BLOCKED;
	return now.state == 'R' && off_cpu_is_safe(thread, directory) ?
	    OFF_CPU_READY : OFF_CPU_NOT;
}

static void
off_cpu_send(const struct thread *thread, enum off_cpu state)
{
	siginfo_t info = { .si_signo = signals_number(OUR_TICKS),
		.si_code = SI_QUEUE };

	info.si_pid = (pid_t)process_own.pid;
	info.si_ptr = (void *)(uintptr_t)(state == OFF_CPU_READY ?
	    &ready_mark : &blocked_mark);
	arch_system_call(SYS_rt_tgsigqueueinfo, (long)process_own.pid,
	    (long)thread->tid, info.si_signo, (long)&info);
}

/* The next thread in turn that may be meant; NULL: none of the next few. */
static struct thread *
off_cpu_choose(const struct thread *self)
{
	struct thread *thread = off_cpu_next;
	int i;

	for (i = 0; i < MOST_PASSED; i++) {
		thread = thread == NULL || thread->next == NULL ?
		    *self->run->all : thread->next;
		off_cpu_next = thread;
		if (thread != self && off_cpu_is_candidate(thread))
			return thread;
	}
	return NULL;
}

/* How often the calling thread has lost its processor; 0: it is not known. */
static uint64_t
off_cpu_switches(void)
{
	struct rusage usage;

	return process_thread_usage(&usage) ?
	    (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw : 0;
}

/* Whether a look that found a wait began so long ago that it may be over. */
static bool
off_cpu_is_old(uint64_t began_ns)
{
	const uint64_t ns = process_clock(CLOCK_MONOTONIC) - began_ns,
	    shortest_ns = off_cpu_shortest_ns;

	if (shortest_ns == 0 || ns < shortest_ns)
		off_cpu_shortest_ns = ns;
	return shortest_ns == 0 || ns > LONG_LOOK * shortest_ns;
}

void
off_cpu_look(struct thread *self, bool has_waited)
{
	struct thread *thread;
	enum off_cpu state;
	uint64_t began_ns, took_ns, n_switches;

	if (has_waited)
		off_cpu_worth = WORTH_TICKS;
	else if (off_cpu_worth > 0)
		off_cpu_worth--;
	if (off_cpu_worth <= 0 || process.reads_no_files ||
	    process.sends_no_signals)
		return;
	if (self->run->n_ticks_rest > 0) {
		self->run->n_ticks_rest--;
		return;
	}
	thread = off_cpu_choose(self);
	if (thread == NULL)
		return;
	began_ns = process_clock(CLOCK_MONOTONIC);
	n_switches = off_cpu_switches();
	state = off_cpu_state(thread);
	took_ns = process_clock(CLOCK_MONOTONIC) - began_ns;
	/* If this thread lost its processor, the other one may run by now. */
	if (off_cpu_switches() != n_switches)
		return;
	self->run->n_ticks_rest = (uint32_t)(took_ns * LOOK_PART /
	    (uint64_t)timer_unit());
	datafile_count_time(took_ns);
	if (state != OFF_CPU_NOT && off_cpu_is_candidate(thread) &&
	    !off_cpu_is_old(began_ns))
		off_cpu_send(thread, state);
}
