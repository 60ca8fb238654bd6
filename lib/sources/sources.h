/* SPDX-License-Identifier: MIT */
/* sources.h -- the sources of resources, and what they keep for a thread.
 *
 * lib/sources/resource.h has what all sources are.  A tick is a signal of a
 * thread's timer.  It can bring several expiries, one for each interval.
 */
#ifndef CPPROF_SOURCES_H
#define CPPROF_SOURCES_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/base/attributes.h"
#include "lib/base/meter.h"
#include "lib/base/thread.h"
#include "lib/cpprofdata.h"
#include "lib/store/tree.h"

struct resource_source;

/* ---- tick-mode.c ---- */

/*
 * In which mode a tick has found the thread.
 *
 * The kernel charges each of its ticks to user mode or to itself, depending on
 * where it found the thread.  Its clocks of both show which it was, because
 * they are not smoothed by other clocks.  (getrusage's times are smoothed: both
 * move a little at every tick.)  The handler cannot tell otherwise, since it
 * always runs on the way back to user mode.
 */

enum tick_mode {
	TICK_NO_MODE,
	TICK_OF_USER, TICK_OF_KERNEL,
	TICK_UNCLEAR		/* several ticks of both modes, or the time was
				   another virtual machine's */
};

struct tick_clocks {
	uint64_t all_ns, user_ns;	/* as of the last tick */
};

/*
 * Whether the kernel charges whole ticks.  On processors without ticks
 * (nohz_full) it measures both modes instead.  Once, from the constructor.
 */
bool tick_mode_is_known(void);

/*
 * Begins on the calling thread; returns the mode in which its ticks have found
 * it since the last call.  Async-signal-safe.
 */
void tick_mode_start(struct tick_clocks *clocks);
enum tick_mode tick_mode_read(struct tick_clocks *clocks);

/* ---- usage.c ---- */

/*
 * What the kernel counts for each thread.
 *
 * Totals are the kernel's own (getrusage).  The place is only known at ticks of
 * CPU time: what came between two ticks is charged to the stack that the second
 * finds.  For `user` and `system` nothing better is possible: a kernel that
 * counts CPU time by ticks charges each tick to user mode or to itself,
 * depending on where it finds the thread, and our tick is the same one.
 *
 * All functions: async-signal-safe, on the thread.
 */

extern const struct resource_source source_user, source_system,
    source_page_faults, source_major_faults, source_minor_faults,
    source_context_switches, source_voluntary_switches,
    source_involuntary_switches;

/* Values of a source's `usage`. */
enum usage {
	USAGE_NONE,
	USAGE_CPU, USAGE_USER, USAGE_SYSTEM,	/* microseconds */
	USAGE_PAGE_FAULTS, USAGE_MAJOR_FAULTS, USAGE_MINOR_FAULTS,
	/* Switches, which happen only in the kernel: */
	USAGE_CONTEXT_SWITCHES, USAGE_VOLUNTARY_SWITCHES,
	USAGE_INVOLUNTARY_SWITCHES
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
 * usage_unseen returns what it was at the beginning (own_work_begin).
 */
void usage_hold(struct thread *thread);
void usage_release(struct thread *thread);

/* ---- timer.c ---- */

/*
 * A timer on each thread's CPU clock.
 *
 * It only says when to look: at each tick, timer.c converts the CPU time since
 * the last tick into hits.  So the hits of a thread add up to its CPU time at
 * any tick rate of the kernel.  The first expiry is at once, or if an interval
 * is longer than a tick of the kernel, at a random one of these, so that on
 * average a thread or process shorter than an interval counts as much as it
 * uses.
 *
 * A timer's signal is allocated in advance, so none is lost and signals cannot
 * pile up.  It does not make system calls fail with EINTR: Linux on x86 (5.9
 * and later) checks CPU timers on the way back to user space, when a call has
 * its result.
 */

struct carryover;

/* CPU time, as the thread's clock shows it at each tick; see timer.c. */
extern const struct resource_source source_timer;

/*
 * Create and start the calling thread's timer, with interval resources.tick_ns;
 * stop and free it.  False with errno set if it could not be created.  Not from
 * a handler; async-signal-safe in a forked child.
 */
bool timer_start(struct thread *thread);
void timer_stop(struct thread *thread);

/* Changes the interval of its ticks.  On the thread; async-signal-safe. */
void timer_change(struct thread *thread, uint64_t tick_ns);

/*
 * The parts of these, by raw system calls, for other clocks and marks: create a
 * timer for a thread whose tid is known; set it to expire once or repeatedly;
 * free it.  Async-signal-safe.
 */
bool timer_make(struct thread *thread, clockid_t clock, const void *mark);
bool timer_set(const struct thread *thread, uint64_t first_ns,
    uint64_t interval_ns);
void timer_free(const struct thread *thread);

/*
 * The nanoseconds that an expiry counts for; a thread's expiries may count at
 * most TIMER_MOST_AHEAD of these more than it has used.  Async-signal-safe.
 */
#define TIMER_MOST_AHEAD 2
int64_t timer_unit(void);

/*
 * When a thread ends: leaves the CPU time that no tick has counted to others
 * with the same start routine.  On the thread, after its last sample.
 */
void timer_leave(struct thread *thread);

/*
 * At the end of the process: the hits of the time that no thread took, if it is
 * more than an expiry counts for; the rest in ns, which may be negative.  Each
 * takes it.
 */
uint64_t timer_lose(struct carryover *carryover);
int64_t timer_take_rest(struct carryover *carryover);

/* Whether a signal comes from one of our timers.  Async-signal-safe. */
bool timer_sent(const siginfo_t *info);

/* ---- unsampled.c ---- */

/*
 * Real time of threads that is in no sample.
 *
 * It is time outside calls before the first tick that finds a thread, and after
 * the last one (lib/wrap/wrapped.c).  A thread with many samples counts it at
 * the first and the last of these when it ends.  Other threads leave that time,
 * or what was counted too much, to threads with the same start routine.  These
 * count it where their first ticks have found them, when that happens or when
 * they end.
 * So the time of many short threads is spread as their first ticks are.  At the
 * end of the process, the rest is lost, or if it is less than a tick, passes to
 * the next process of the same program.
 */

/*
 * Notes the node of a sample with these columns.  Async-signal-safe, on the
 * thread.
 */
void unsampled_note_sample(struct thread *thread, uint32_t columns,
    const struct node *node);

/*
 * Counts time at the thread's last sample, if that is possible now; returns how
 * much was counted.  In the handler.
 */
uint64_t unsampled_count_back(struct thread *thread, uint64_t ns);

/*
 * When a thread ends: counts what others have left, and leaves its own time.
 * On the thread, after its last sample.
 */
void unsampled_leave(struct thread *thread);

/*
 * What ended threads have left, in ns, perhaps negative; the caller takes it.
 * Async-signal-safe.
 */
int64_t unsampled_take(struct carryover *carryover);

/*
 * At the end of the process: the hits that stand for it, if it is more than a
 * tick counts for; takes these, and leaves the rest.  Real time is sampled.
 */
uint64_t unsampled_lose(struct carryover *carryover);

/* ---- perf events ---- */

/*
 * The kernel's perf events, with a trap at each interval.
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
 * needed any more; a clock's is kept, since traps read it, unless clocks have
 * more than a quarter of the descriptors that the process may open.  The mapping
 * keeps the event alive, the program may close what it likes, and a forked child
 * inherits neither.  The event ends at exec.
 *
 * All functions: async-signal-safe, on the thread.
 */

/* ---- perf-event.c ---- */

struct account;

/* What an event sees of the kernel. */
enum perf_view {
	PERF_SEES_USER,		/* nothing */
	PERF_SEES_ALL,		/* it counts there, too, */
	PERF_SEES_STACKS	/* and writes its stacks: perf-stack.c */
};

/*
 * Opens a source's event, disabled, with the *view that is wanted or, if more
 * is not allowed, the next lower one, which *view becomes.  Returns its
 * descriptor, or -errno.  perf_event_sender recognises its traps by `column`.
 * Async-signal-safe.
 */
RUNS_ONCE int perf_event_open(const struct resource_source *source,
    uint64_t period, unsigned column, enum perf_view *view);

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
RUNS_ONCE bool perf_event_is_available(const struct resource_source *source,
    bool with_kernel, const char **why);

/*
 * Whether the account's descriptor is that of its event; the program may have
 * closed it, and opened another.  Async-signal-safe.
 */
bool perf_event_is_ours(const struct account *account);

/*
 * What the thread's event of a column has counted, in microseconds; it is a
 * clock.  False if it has no descriptor, or the program has closed that.
 * Async-signal-safe, on the thread.
 */
bool perf_event_time(struct thread *thread, unsigned column, uint64_t *us);

/* ---- perf-stack.c ---- */

/*
 * The kernel's part of a stack.
 *
 * A trap reaches its handler when the thread leaves the kernel.  Where the
 * kernel allows it, it writes to the event's pages, at each end of a period,
 * the addresses of its own functions that the thread was in, and the pc and
 * the stack pointer with which the thread had entered it.  Several periods may
 * end before the thread leaves the kernel, and some in the handler itself.
 * What belongs to the interrupted stack is recognised by these registers.
 *
 * The frames stand below the program's innermost one, so the values of the
 * program's own paths are the same as without them.
 *
 * All functions: async-signal-safe, on the thread.
 */

/*
 * Map an event's pages, without those for stacks if there is no memory for
 * them.
 */
void perf_stack_map(struct account *account);
void perf_stack_unmap(struct account *account);

/* Counts hits of a column at a node of the thread's tree. */
typedef void count_at(struct thread *thread, unsigned column,
    const struct node *node, uint64_t hits, uint64_t now_ns);

/*
 * Calls `count` with the hits of a column: those of periods that have ended in
 * the kernel are at nodes below `leaf`, the node of the context's pc, and all
 * others there.
 */
void perf_stack_count(struct thread *thread, unsigned column,
    const struct node *leaf, uint64_t hits, uint64_t now_ns,
    const void *context, count_at *count);

/* ---- perf-clock.c ---- */

/*
 * CPU time by a perf event, and what the event does not see.
 *
 * Without privileges, the event traps only in user mode.  Each trap then is one
 * period of user mode; a period that ends in the kernel is repeated.  The rest
 * of the thread's CPU time was spent in the kernel.  It is charged only where
 * ticks find the thread in the kernel (tick-mode.c).
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
 * At a trap, time is read from the event and not from the thread's clock.  When
 * Linux reads that, it checks whether the thread's time slice is over.  Then a
 * thread that shares its processor would often be suspended at a trap, and what
 * it does first when it goes on, such as the handlers of its timers, would keep
 * step with the traps.  At ticks Linux checks the slice anyway, so the two
 * clocks are compared there.
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
 * have to.  They are drawn between half and one and a half of their mean, or
 * fixed, if the kernel is to repeat them.  If this changes them, the new ones
 * begin at a random point of the first: returns true, and the next boundary is
 * the end of another period.
 */
bool perf_clock_steady(struct thread *thread, unsigned column,
    bool is_fixed);

/*
 * The period to set now, at least `least`, so that the event traps after
 * `period` since the boundary that was due last.
 */
uint64_t perf_clock_set(struct thread *thread, unsigned column,
    uint64_t period, uint64_t least);

/*
 * How far apart traps should be at least, so that the kernel has little to do
 * with them: some of their usual delays, but only a part of an interval.
 */
uint64_t perf_clock_room(uint64_t interval);

/* Compares the clocks of the thread and of its event.  Not at traps. */
void perf_clock_compare(struct thread *thread, unsigned column);

/* The thread's CPU time since the last hits, in microseconds. */
uint64_t perf_clock_unseen(struct thread *thread, unsigned column);

/* What the collector itself has used since a trap. */
struct own_work {
	uint64_t us;
	uint64_t hits;		/* new ones, for that */
	bool is_long;		/* as of a process's first sample: it is not the
				   interrupted code's, otherwise it is */
};

/*
 * The hits of long work do not depend on where the next boundary is, which stays
 * as far away.
 */
struct own_work perf_clock_own(struct thread *thread, unsigned column);

/* Hits of CPU time that belongs to no period, drawn so that they are right on
 * average. */
uint64_t perf_clock_draw(struct thread *thread, unsigned column, uint64_t us);

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
enum perf_clock_change perf_clock_check(struct thread *thread,
    unsigned column);

/* ---- perf.c ---- */

extern const struct resource_source source_perf_clock, source_perf_user_clock,
    source_perf_user,
    source_perf_faults,
    source_perf_major_faults, source_perf_minor_faults, source_perf_switches,
    source_perf_voluntary_switches, source_perf_involuntary_switches,
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
 * What the handler of the clock's trap itself has used.  Its hits are added to
 * the pending ones; *columns is the set of their column, empty without hits.  In
 * that handler: before it, the time since its last trap is not its own.
 */
struct own_work perf_own_work(struct thread *thread, uint32_t *columns);

/*
 * The CPU time in microseconds that the calling thread, the first of a new
 * process, had used when its event began to count, if that has just begun;
 * *column is then the event's.  0 if no such event counts CPU time.
 */
uint64_t perf_before_us(struct thread *thread, unsigned *column);

/*
 * Adds the hits of a trap of that column to the pending hits, and sets the
 * event's next interval.  Does the same for other columns whose traps may have
 * come at the same time, since SIGTRAP does not queue.  Returns the set of
 * columns with pending hits; *hits are the new ones.  In the handler.
 */
uint32_t perf_trap(struct thread *thread, unsigned column, uint64_t *hits);

/*
 * Between these, system calls of the calling thread are not counted by the
 * tracepoint (own_work_begin).
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

/* ---- dispatch.c ---- */

/*
 * Stops and counts system calls by syscall user dispatch.
 *
 * A dispatched thread gets a SIGSYS for each system call that it makes outside
 * this library.  The handler counts the call, and a stub of ours makes it
 * (lib/sources/dispatch-x86_64.S).  SIGSYS must never be blocked then, or the
 * kernel would kill the process.
 */

extern const struct resource_source source_dispatch;

/*
 * Let the collector's own calls on this thread pass, and stop calls again.
 * dispatch_pause returns the state to give to dispatch_resume.
 * Async-signal-safe.
 */
RUNS_ONCE unsigned char dispatch_pause(void);
void dispatch_resume(unsigned char state);

/*
 * To be called when a function of ours was called, with its return address.  If
 * the caller is Go code, ends dispatch in this process, and the wrappers count
 * instead.  Any thread, not from a handler.
 */
void dispatch_check_caller(const void *return_address);

/*
 * At the end of a handler: stops calls again, even if a missing stub had let
 * them pass.  Async-signal-safe.
 */
void dispatch_again(void);

/*
 * Excludes the collector's own work from what is counted.
 *
 * Between the two calls, what the thread uses counts for no resource but time:
 * stopped system calls are let through, the tracepoint's event is disabled, and
 * faults and switches are subtracted from the kernel's counts.  So no sample
 * can become due during a sample.
 *
 * Both: async-signal-safe, on the thread, with all signals blocked.
 */

void own_work_begin(struct thread *thread);
void own_work_end(struct thread *thread);

/* ---- exceptions.c ---- */

/*
 * Floating-point exceptions, each trapped and counted.
 *
 * The exceptions that lib/base/fpu.h lists are unmasked in sampled threads.  An
 * instruction that raises one causes a SIGFPE.  Its handler masks the
 * exceptions and single-steps the instruction, which leaves its default result
 * and causes a SIGTRAP.  That handler counts one exception and unmasks again.
 * So the program continues as it would without us; it can notice only by
 * reading the masks.
 *
 * The exceptions become masked when the program sets the masks itself, and in
 * its signal handlers, which the kernel starts with all masked.  Ticks find
 * this and unmask them, unless SIGFPE is blocked or the program itself has
 * unmasked some, in which case the program gets its SIGFPEs.
 *
 * All functions: async-signal-safe, on the thread.
 */

extern const struct resource_source source_exceptions;

/*
 * In the handler of SIGFPE: whether it was caused by our unmasking.  If so,
 * starts the single step; if the thread is not sampled any more, masks the
 * exceptions instead.
 */
bool exceptions_take(bool is_sampled, const siginfo_t *info, void *context);

/*
 * In the handler of SIGTRAP: false if it was the end of a single step of ours
 * and nothing else.  *has_raised: the instruction has raised an exception and a
 * sample is due; the context then points to the instruction until
 * exceptions_go_on.
 */
bool exceptions_end_step(void *context, bool *has_raised);
void exceptions_go_on(void *context);

/* At a tick of a sampled thread, in the handler. */
void exceptions_tick(void *context);

/*
 * To be called before the program unmasks exceptions by feenableexcept, so that
 * it finds the masks as it would without us; after it has cleared flags, a set
 * of FE_*, by feclearexcept.
 */
void exceptions_program_enables(void);
void exceptions_program_clears(int exceptions);

/* ---- what the sources keep for a thread ---- */

/*
 * What the sources of resources keep for a thread.
 *
 * Only the thread itself and its handlers use it, except that another thread
 * may free its timer when sampling ends.  What threads leave to others when
 * they end is in struct carryover.
 */

/* A thread's part of a column. */
struct account {
	struct meter meter;
	uint64_t pending;	/* hits that are in no sample yet */
	uint64_t noted;		/* of these, how many the file shows */
	uint64_t seen;		/* counted by the source so far */
	bool needs_ticks;	/* may differ from the source's */

	/* Of perf events (perf.c): */
	bool is_armed;		/* its traps count */
	int fd;			/* -1: closed */
	bool is_in_n_open;	/* counted there */
	uint64_t event_id;	/* shows whether fd is still our event */
	uint64_t period;	/* gticks that its next trap stands for */
	uint64_t unsampled;	/* hits found while the event was disabled */
	bool is_by_hand;	/* the handler sets each period */
	bool traps_once;	/* the event is disabled after its trap */
	unsigned n_traps;	/* since it was opened */
	void *page;		/* NULL: none */
	enum perf_view view;	/* when it was opened last */
	uint32_t stacks_size;	/* bytes for stacks that follow the page */
	uint32_t stacks_most;	/* no more of them are asked for */
	uint64_t stacks_seen;	/* their head when they were used */
};

/* Of perf-clock.c. */
struct perf_clock {
	unsigned stride;	/* intervals from one boundary to the next */
	bool must_set;		/* the period in progress is not the meter's */
	int64_t offset_us;	/* the thread's clock, less the event's */
	/* On the event's clock: */
	uint64_t armed_us, alarm_us;	/* when the alarm was set, for when */
	uint64_t counted_us;	/* up to when time is counted */
	bool is_stray;		/* it was of an earlier period */
	bool is_of_user_mode;	/* its traps do not see the kernel */
	bool is_given_up;	/* only ticks are used */

	/* If is_of_user_mode: */
	bool has_seen_tick, has_seen_kernel;
	bool is_own_tick;	/* the next tick has found the collector */

	unsigned n_user_ticks;	/* in a row without a trap */
	bool is_stalled;	/* no trap came, although time has passed */

	/*
	 * The kernel's part has its own meter.  The other meter's boundaries
	 * are where traps are, so a tick soon after a trap would cross too few
	 * of them, and the next trap too many.
	 */
	struct meter of_kernel;

	/* While a tick is being sampled: */
	bool is_at_tick;
	uint64_t pending_traps;	/* pending hits of traps */
	uint64_t tick_hits;
	uint64_t seen, left;	/* before the tick */
	bool had_seen_kernel;

	/* How often the thread switches, as of the last check. */
	uint64_t n_switches, checked_us;
};

/*
 * What threads with one start routine leave to each other.  Any thread may
 * change it at any time, in handlers, too.
 */
struct carryover {
	struct carryover *next;		/* of another routine */
	const void *routine;
	/* CPU time without hits, of ended threads and of others: timer.c */
	_Atomic int64_t ended_ns, living_ns;
	/* Real time of ended threads, likewise: unsampled.c */
	_Atomic int64_t unsampled_ns;
	/*
	 * Real time off the processor that is still to be charged, and for how
	 * many ticks it is left so (by whether it was blocked), at first and
	 * when a thread was found waiting: lib/wrap/wrapped.c
	 */
	_Atomic int64_t off_cpu_ns;
	_Atomic int off_cpu_ticks[2];
	/* How often threads were seen in no wait outside calls: off-cpu.c */
	_Atomic int n_looks;
	/*
	 * Hits of ended threads that are in no sample: resource.c.  What ticks
	 * count, a first tick of another thread takes (pending); all others are
	 * counted apart when the process ends.
	 */
	_Atomic bool has_pending;
	_Atomic uint64_t pending[CPPROFDATA_MAX_RESOURCES];	/* by column */
	_Atomic uint64_t apart[CPPROFDATA_MAX_RESOURCES];
	/* CPU time of ended threads that will be such hits: resource.c */
	_Atomic int64_t apart_ns;
};

#define OFF_CPU_LEFT_TICKS 16	/* off_cpu_ticks at first and then */

/*
 * Only a thread's first ticks take what others have left, since the others were
 * short.
 */
#define CARRYOVER_TICKS 4

/* The part of a thread's state that belongs to lib/sources. */
struct thread_meters {
	bool has_timer;
	int timer;		/* the kernel's number */
	struct perf_clock clock;
	struct tick_clocks tick_clocks;
	enum tick_mode tick_mode;	/* of the tick being handled */
	struct {		/* own_work_begin: */
		unsigned char dispatch;
		bool has_usage;
		struct rusage usage;	/* the kernel's counts before it */
	} own_work;
	uint64_t n_expiries;	/* brought by ticks */
	uint64_t began_ns;	/* on its CPU clock: `cpu` is counted from
				   then on */
	uint64_t last_tick_ns;	/* on its CPU clock; or when it began */
	uint64_t tick_ns;	/* the interval of its timer */
	struct carryover *carryover;
	int64_t uncounted_ns;	/* CPU time: timer.c */
	int64_t noted_ns;	/* its part of carryover->living_ns */
	int64_t unsampled_ns;	/* real time: lib/wrap/wrapped.c */
	uint64_t off_here_ns;	/* real time: at the last tick the thread lost
				   its processor for so long, or on average if
				   it has lost it several times */
	uint64_t in_calls_ns;	/* real time: in all measured calls so far */
	uint64_t ran_ns;	/* real time: between these, but waits for a
				   processor left out, as far as ticks have
				   found it and open-calls.c has not taken it */
	bool awaits_found;	/* a tick's real time is in no sample yet */
	uint32_t n_found;	/* samples of such ticks */
	struct node found, last_found;	/* nodes of the first and the last */
	struct account accounts[CPPROFDATA_MAX_RESOURCES];	/* by column */
};

#endif
