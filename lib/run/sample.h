/* SPDX-License-Identifier: MIT */
/* sample.h -- takes a stack and counts it in the thread's tree.
 *
 * A sample is for one or more resources.  All pending hits of the thread for
 * these are counted at the innermost frame's node.  If no sample can be taken
 * now, because the collector is at work in this thread or sampling has cost too
 * much, the hits stay pending.
 *
 * All functions: async-signal-safe, on the thread, unless stated otherwise.
 */
#ifndef CPPROF_SAMPLE_H
#define CPPROF_SAMPLE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/allowance.h"
#include "lib/base/thread.h"
#include "lib/cpprofdata.h"
#include "lib/store/live.h"
#include "lib/store/tree.h"

/* ---- progress.c ---- */

/*
 * Whether a program makes progress between its samples.
 *
 * Nothing that the collector does should make a sample due
 * (lib/sources/sources.h).  If it did nevertheless, on some kernel or with
 * some future source, the next signal would follow as soon as the handler
 * returns, and the program would never advance.  Its registers would then be
 * the same at every signal.  If that lasts, the thread gets pauses between its
 * samples.  A program that waits in a loop gets them, too, which does no harm,
 * since all of its samples have the same stack.
 *
 * Async-signal-safe, on the thread.
 */

#define PROGRESS_SIGNALS 1000	/* in a row, equal or different */

struct thread_progress {
	uint64_t registers;	/* hash of those at the last signal */
	uint32_t n_same, n_other;	/* in a row */
	bool is_lacking;
};

/* Notes the context (a ucontext_t) that a signal has interrupted. */
void progress_note(struct thread_progress *progress, const void *context);

/* ---- a thread's stage and budget ---- */

/*
 * Other threads take only the first and the last step, each while the thread
 * does not use its state.
 */
enum thread_stage {
	THREAD_IDLE,		/* nobody's, or its thread has not begun */
	THREAD_TO_BE_WOKEN,	/* by a timer of control.c */
	THREAD_RUNNING,		/* sampled; thread_self points to it */
	THREAD_ASLEEP,		/* not sampled for now; if it has not begun, its
				   thread was in an earlier recording */
	THREAD_HELD,		/* claimed by control.c */
	THREAD_LEFT		/* sampling has ended for good, but its thread
				   has not noticed, and will not use it */
};

/* The part of a thread's state that belongs to lib/run. */
struct thread_run {
	struct thread *_Atomic *all;	/* the first of all states */
	struct thread *next_idle;	/* of the states without a thread */
	void *argument;			/* of its routine */
	unsigned program_mask;		/* of its creator; signals.h */
	_Atomic enum thread_stage stage;
	bool has_begun;			/* its thread has been sampled */
	bool is_owned;			/* by a thread that may live, and have
					   marks of its unwinder */
	bool is_whole;			/* from its first instruction on */
	struct allowance allowance;
	int64_t rest_ns;		/* a pause after the last sample, */
	int64_t rest_until_ns;		/* which ends then; monotonic */
	uint64_t last_sample_ns;	/* monotonic; for sample_time_passed */
	uint64_t n_samples;
	uint64_t own_us;	/* CPU time of the sample in progress */
	/* Of what a forked child used before it could be sampled: */
	uint64_t beginning_hits;	/* that its first sample counts, */
	uint32_t beginning_phase;	/* in that one */
	bool is_latency;		/* so is the sample being taken */
	uint64_t began_ns;		/* when it was at its start and in no
					   observed call; 0: not known, or
					   open-calls.c knows */
	/* Of parallel.c: its CPU clock when somebody looked, and when it was
	   last seen to have run. */
	uint64_t looked_at_ns, ran_ns;
	uint64_t latency_seed;
	struct thread_progress progress;	/* of the program */
	volatile bool is_in_call;	/* that may wait, or that executes a
					   program; or the collector's work */
	volatile uint64_t n_waits;	/* as of the last off_cpu_note_waits */
	uint32_t n_ticks_rest;		/* at which it looks at no other */
	_Atomic bool is_in_handler;	/* only if process.is_inside */
	bool is_left_stopped;		/* control.c has stopped its ticks */
};

/*
 * sampling_work_begins for that thread, which may not have noticed that an
 * earlier recording has ended (THREAD_LEFT); NULL: any.
 */
bool sample_work_begins(const struct thread *thread);

/* ---- waits.c ---- */

/*
 * The calls in which threads wait, recorded in the file while they last.
 *
 * The time of a call is charged when it returns.  Some calls never return:
 * those that hang, and those that have not returned when the process ends,
 * however it ends.  So the thread's record shows each wait from its beginning
 * (struct cpprofdata_wait), and whoever reads the file charges its time so far.
 * No thread needs to be asked, and no call of the program is disturbed.
 *
 * The node of a wait is found by walking the stack when it begins.  Programs
 * wait at few sites, so a thread remembers them, with the words of the stack
 * that the walk has used.  As long as these are unchanged, so is the stack, and
 * a few comparisons find its node.  Otherwise the stack is walked, within a
 * budget.  If a thread waits at ever new sites and never for long, only the
 * call itself is inserted, below CPPROFDATA_PARTIAL.
 *
 * All functions: async-signal-safe, on the thread.
 */

/* The part of a thread's state for its waits. */
struct thread_waits {
	struct wait_sites *sites;	/* NULL: none yet */
	uint32_t generation;		/* in which the sites are valid */
	int64_t allowance_ns;		/* what walking may still cost */
	uint64_t last_check_ns;		/* monotonic */
	struct node node;		/* of the present wait */
	uint32_t columns;		/* that it counts for; 0: there is
					   none */
	uint64_t since_ns;
};

/*
 * To be called when the thread begins.  Time that no sample or wait accounts
 * for is counted from since_ns.  May change errno.
 */
void waits_begin_thread(struct thread *thread, uint64_t since_ns);

/*
 * Finds the node of the stack at which `function` is called; TREE_ROOT if it
 * cannot be found.  `frame` is the frame address of a function of this library
 * on the stack, with a frame pointer; the stack further out must not change
 * during the call.  `now_ns` is the monotonic time; returns the time
 * afterwards.  May change errno.
 */
uint64_t waits_find_node(struct thread *thread, uintptr_t frame,
    const void *function, uint64_t now_ns, struct node *node);

/*
 * Notes that the thread waits since then at waits->node, for the set `columns`.
 * All earlier time has been charged, except for `gathered_ns`.
 */
void waits_begin(struct thread *thread, uint32_t columns, uint64_t since_ns,
    uint64_t gathered_ns);

/*
 * Notes that the thread does not wait, and that its time has been charged up to
 * since_ns; 0: nothing is known.
 */
void waits_end(struct thread *thread, uint64_t since_ns, uint64_t gathered_ns);

/* The same for a thread that ends: charges the present wait up to now. */
void waits_charge_last(struct thread *thread, uint64_t now_ns);

/* Forgets the sites, because the thread's stack or tree is invalid. */
void waits_forget(struct thread *thread);

/* ---- parallel.c ---- */

/*
 * Whether a sample of CPU time that is taken now counts as latency: it does with
 * the probability 1 / n if n recorded threads run.
 */
bool parallel_keeps(struct thread *self);

extern const struct resource_source source_latency;

/* ---- off-cpu.c ---- */

/* What a thread does that does not run. */
enum off_cpu {
	OFF_CPU_NOT,		/* it does, or it is not known */
	OFF_CPU_READY,		/* waits for a processor */
	OFF_CPU_BLOCKED		/* in the kernel, whatever signals come */
};

/*
 * At a tick: may send a signal to another thread that waits, so that it is found
 * where it stands when it goes on.  has_waited: the calling thread has lost the
 * processor since its last tick; nothing is done if none has for long.
 */
void off_cpu_look(struct thread *self, bool has_waited);

/* Notes how often the calling thread has given up the processor so far. */
void off_cpu_note_waits(struct thread *thread);

/* Whether a signal was sent so, and for what. */
enum off_cpu off_cpu_sent(const siginfo_t *info);

/* ---- open-calls.c ---- */

/*
 * How long calls of some functions took, and what happened in them.
 *
 * A sample of time that finds such a function on the stack marks its outermost
 * call (trampoline_mark_call), so that its end is exact.  The call's hits are
 * kept until then, when they are counted under its length.  A thread has at most
 * one open call of each function.
 *
 * All functions: async-signal-safe, on the thread, in a handler or with a guard,
 * unless stated otherwise.
 */

/*
 * Finds calls on the stack in the unwinder, and makes room in the file for what
 * may be counted of them up to the thread's next sample: of all calls, and of
 * hits in a thousand places.  STORE_BUSY: to be called again with a stack;
 * otherwise calls could be lost in silence.
 */
enum store_result open_calls_find(struct thread *thread);

/*
 * The number of intervals that a tick's sample stands for: of the time that the
 * thread ran since the last one, which is *gap_ns.
 */
uint64_t open_calls_take_ran(struct thread *thread, uint64_t *gap_ns);

/*
 * A sample of that stack: ends and begins calls.  With a weight, it is a sample
 * of time that begins to observe a call, and stands for so many intervals.
 * Without one it only shows that calls go on or have ended.
 */
struct calls_sample {
	uint64_t weight, gap_ns;	/* from the sample before */
	uint64_t now_ns, since_ns;	/* it has had that stack since then */
	uint64_t boundary_ns;	/* the moment that was sampled */
	bool is_of_wait;	/* it waited in a measured call since then */
};

void open_calls_see(struct thread *thread, const struct calls_sample *sample);

/* The sample is over and has taken that time. */
void open_calls_resume(struct thread *thread, uint64_t taken_ns);

/* Hits of the sample are counted at that node. */
void open_calls_count(struct thread *thread, const struct node *leaf,
    unsigned column, uint64_t hits);

/* Whether open calls refer to nodes of the thread's tree. */
bool open_calls_refer(const struct thread *thread);

/* Whether a call has returned and waits to be counted.  Also without a guard. */
bool open_calls_have_returned(const struct thread *thread);

/* Counts the calls that have returned; with `all`, the others as unfinished. */
void open_calls_end(struct thread *thread, bool all);

/* In a forked child: the thread has no open calls. */
void open_calls_forked(struct thread *thread);

/* ---- call-functions.c ---- */

/*
 * Where the functions are whose calls are observed: finds their symbols in the
 * files of the modules that samples have found, once for each.
 *
 * A name is that of a symbol, also with a compiler's suffix, like that of the
 * part that is rarely executed ("name.cold"); or a C++ or Rust name without
 * parameters, "space::type::name", which stands for all overloads.
 */

/*
 * Looks in modules that are new, unless another thread does, and adds the
 * functions to the file.  Returns a number that changes with what is known.
 */
size_t call_functions_refresh(void);

/* Whether all modules were looked at. */
bool call_functions_are_known(void);

/* From one sample of a thread's time to the next. */
uint64_t call_functions_interval_ns(void);

/*
 * The number of the function that has the code at an offset of a module, or
 * CPPROFDATA_CALL_FUNCTIONS_MAX.
 */
unsigned call_functions_find(uint32_t module, uint64_t offset);

/* ---- sample.c ---- */

/*
 * Creates the process's file if it has none, after examining the modules that
 * affect sampling.  False with errno set.  With the file's lock held.
 */
bool sample_make_file(void);

/*
 * Whether a sample of these columns that is taken now counts as latency: the
 * threads that run now matter.
 */
bool sample_is_latency(struct thread *thread, uint32_t columns);

/*
 * The same when no sample is certain to follow.  Takes the lock; with ticks
 * held off.  Preserves errno.
 */
void sample_prepare_file(void);

/*
 * Counts hits that are in no sample under `name` in brackets, together with the
 * thread's pending ones.  Waits for the file's lock, but not for ever; false if
 * that was in vain, and the hits are lost.  Only with ticks not held off.
 */
bool sample_count_apart(struct thread *thread, unsigned column, uint64_t hits,
    const char *name);

/*
 * The node of that phase, or, if it is 0, that of `function` as the outermost
 * frame.  Hits are not counted.  With signals blocked.
 */
enum store_result sample_node_apart(struct thread *thread, uint32_t phase,
    const void *function, struct node *node);

struct sample_request {
	uint32_t columns;	/* set of the resources to sample */
	uint64_t hits;		/* new hits, already pending */
	uint64_t overrun;	/* of these, those that came too late */
	uint64_t time_ns;	/* that it stands for, which limits its cost */
	uint64_t clock_ns;	/* for a trap of the clock: its interval */
	bool counts_sampling;	/* sampling uses up the resource, too */
	const void *function;	/* called by the innermost frame; NULL: none */
	bool is_last;		/* nothing follows, so it waits for others */
	bool is_measured;	/* all pending hits were used by the call */
};

/* For a thread that is sampled from now on, or again. */
void sample_begin_allowance(struct thread *thread);

/*
 * Takes a sample of the stack that a signal has interrupted (a ucontext_t).  In
 * the handler, with all signals blocked.
 */
void sample_take(struct thread *thread, const struct sample_request *request,
    const void *context);

/* Wall-clock nanoseconds since the last call. */
uint64_t sample_time_passed(struct thread *thread);

/*
 * Takes a sample when hits of a column have become due; see `on_due` of struct
 * resource_parts.
 */
void sample_due(struct thread *thread, unsigned column, uint64_t hits,
    const void *function, const void *context);

/*
 * When the thread ends or sampling is stopped: takes a last sample of the
 * present stack, with all pending hits and those spent since the last tick.
 * Waits for the file's lock, but not for ever.  With ticks stopped.
 */
void sample_take_last(struct thread *thread);

/*
 * Around work on the stack and tree that is not a sample: all signals of the
 * calling thread are blocked in between, and what it spends is not the
 * program's.  False if that is not possible.  May change errno.
 */
struct sample_guard {
	uint64_t mask;
};

bool sample_guard_begin(struct thread *thread, struct sample_guard *guard);
void sample_guard_end(struct thread *thread, const struct sample_guard *guard);

/*
 * Takes a sample of the present stack for a block of memory that the calling
 * thread (NULL: one that has no state) has just been given by `function`, and
 * follows the block, all but whose time the caller has filled in.  If the stack
 * cannot be walked now, the block is counted below CPPROFDATA_PARTIAL; if it
 * cannot be entered at all, as CPPROFDATA_NOT_FOLLOWED.  Returns the ns that
 * this took.
 */
uint64_t sample_block(struct thread *thread, struct live_allocation *allocation,
    const void *function);

/* Prepares what must be in the file before the thread's first node. */
enum store_result sample_prepare(struct thread *thread);

/*
 * Inserts the stack of a context (a ucontext_t), and the function that it calls
 * unless that is NULL, without counting hits.  *leaf is its node.  The second
 * inserts only the function, below CPPROFDATA_PARTIAL.
 */
enum store_result sample_enter(struct thread *thread, const void *function,
    const void *context, struct node *leaf);
enum store_result sample_enter_partial(struct thread *thread,
    const void *function, struct node *leaf);

#endif
