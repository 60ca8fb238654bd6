/* SPDX-License-Identifier: MIT */
/* start.c -- beginning and end of the process, of its forks and its threads.
 *
 * Sampling begins before all other constructors (lib/collector.c).  For the
 * same reason it ends with the last of all exit handlers.
 *
 * The library writes at most one message, on stderr, when it cannot sample, and
 * does nothing afterwards.
 *
 * The first sample creates the file, since most processes are short and have no
 * sample.  Only the program that was launched creates it at once, while a
 * failure can still be reported.
 *
 * Our signals are blocked during fork, because they would restart the call, and
 * a fork that takes longer than an interval would never end.  Forks that bypass
 * the C library are noticed by memory that the kernel wipes in children
 * (lib/base/attributes.h).  A child of fork creates its timer and accounts and
 * nothing else: most children execute a program at once, so each page that they
 * touch before is wasted.  A child of vfork shares our memory and is left
 * alone.
 */
#include "lib/run/start.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprof-environment.h"
#include "lib/run/sample.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"

extern void *__libc_stack_end;	/* ld.so: where the kernel stored argc */
extern int __cxa_atexit(void (*)(void *), void *, void *);
extern int __cxa_at_quick_exit(void (*)(void *), void *);
/* Called by pthread_atfork, which is statically linked into each program. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
    void *);

#define LONGEST_STACK ((uintptr_t)64 << 20)	/* searched for the stack's
						   end */
#define UNSAMPLED "unsampled: "	/* and a thread's name: its time without
				   samples */
#define LOADING_HITS 4		/* of its samples, since each costs a record */
#define KEYS_IN_PLACE 32	/* PTHREAD_KEY_2NDLEVEL_SIZE of glibc */

static const struct start_parts *parts;
static pthread_key_t end_key;
static bool has_warned;
static atomic_uint n_changing WIPED;	/* threads that begin or end now */
static bool has_ended WIPED;	/* end_process was called */
static int wiping_error;	/* of sampling_wipe_children; 0: children are wiped */

/* Writes one line, once.  Only early: later, descriptor 2 may not be stderr. */
static void
start_warn(const char *what, int error)
{
	char line[512];
	char *at = line, *const end = line + sizeof line - 1;

	if (has_warned || !process.may_speak)
		return;
	has_warned = true;
	at = stpncpy(at, "cpprof: not sampling: ", (size_t)(end - at));
	at = stpncpy(at, what, (size_t)(end - at));
	if (error != 0) {
		at = stpncpy(at, ": ", (size_t)(end - at));
		at = stpncpy(at, strerrordesc_np(error), (size_t)(end - at));
	}
	*at++ = '\n';
	if (files_write(STDERR_FILENO, line, (size_t)(at - line)) < 0)
		return;		/* nobody to report to */
}

/*
 * Threads.
 */

/*
 * Around what a thread does when its sampling begins or ends, for which
 * start_wait_for_changes waits.  False: sampling is off, and the thread must do
 * nothing.
 */
static bool
change_begins(void)
{
	atomic_fetch_add(&n_changing, 1);
	return sampling_is_on();
}

static void
change_ends(void)
{
	atomic_fetch_sub(&n_changing, 1);
}

/*
 * Not for ever, because a signal handler of a thread may last for ever; but
 * long, because a thread may get no processor for a tenth of a second.
 */
bool
start_wait_for_changes(void)
{
	unsigned i;

	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < PROCESS_LONG_WAITS && n_changing != 0; i++)
		process_pause();
	return n_changing == 0;
}

bool
start_is_changing(void)
{
	return n_changing != 0;
}

/*
 * What a new thread has used before its CPU time was counted, and since that has
 * stopped: mostly, its beginning and end in the kernel and in here.
 */
static void
start_leave_rest(struct thread *thread, uint64_t stopped_ns)
{
	/* A timer's hits are counted up to its last look at the clock. */
	if (thread->meters->last_tick_ns > stopped_ns)
		stopped_ns = thread->meters->last_tick_ns;
	resources_leave_apart(thread, thread->meters->began_ns +
	    process_clock(CLOCK_THREAD_CPUTIME_ID) - stopped_ns);
}

/* On the thread, after its last tick. */
static void
end_sampling(struct thread *thread)
{
	const bool bus_was_blocked = signals_unblock_bus();
	uint64_t stopped_ns;

	/* Waits for a processor from here on are not the program's. */
	thread->run->is_in_call = true;
	resources_stop(thread);
	stopped_ns = process_clock(CLOCK_THREAD_CPUTIME_ID);
	parts->end_calls(thread);
	resources_leave_late(thread);
	sample_take_last(thread);
	if (thread->calls != NULL)
		open_calls_end(thread, true);
	thread_self = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	trampoline_attach(NULL);
	resources_leave(thread);
	timer_leave(thread);
	unsampled_leave(thread);
	waits_end(thread, 0, 0);
	if (thread->file->is_announced) {
		thread_file_note_name(thread);
		thread_file_note_end(thread);
	}
	if (thread->run->is_whole)
		start_leave_rest(thread, stopped_ns);
	signals_block_bus_again(bus_was_blocked);
}

/*
 * Counts hits of the calling thread for cpu_ns of CPU time that it used before
 * it could be sampled.  Most processes have no other sample and need no file of
 * their own.
 */
static void
start_count_beginning(enum cpprofdata_brief_kind kind, unsigned column,
    uint64_t hits, uint64_t cpu_ns)
{
	static const char names[][16] = {
		[CPPROFDATA_LOADING] = "loading",
		[CPPROFDATA_FORKING] = "forking",
		[CPPROFDATA_SAMPLING] = "sampling",
	};
	const unsigned columns[] = { column,
		resources.place[RESOURCE_LATENCY] - 1u };
	struct sample_guard guard;
	bool is_brief = false;

	if (sample_guard_begin(thread_self, &guard)) {
		is_brief = !datafile_exists() && brief_add(kind, columns,
		    resource_is_wanted(RESOURCE_LATENCY) ? 2 : 1, hits,
		    sample_is_latency(thread_self, 1u << column), cpu_ns);
		sample_guard_end(thread_self, &guard);
	}
	/* A file is not worth what it costs, nor that it may fail. */
	if (!is_brief && (kind == CPPROFDATA_LOADING || datafile_exists()))
		sample_count_apart(thread_self, column, hits, names[kind]);
}

/*
 * Draws hits for the CPU time that the child of a fork used before its event
 * counted: others_us in the kernel and in what others do at a fork, and then in
 * ours.  All go to one of the two, drawn as well, so that both are right on
 * average.  The first sample counts them: a record of their own costs as much as
 * what they stand for.
 */
static void
start_draw_beginning(uint64_t others_us)
{
	struct thread *self = thread_self;
	unsigned column;
	const uint64_t us = self != NULL ? perf_before_us(self, &column) : 0;

	if (us == 0)
		return;
	self->run->beginning_hits = perf_clock_draw(self, column, us);
	self->run->beginning_phase = meter_random(us + process_own.start_ns +
	    ((uint64_t)process_own.pid << 40)) % us < others_us ?
	    PHASE_FORKING : PHASE_SAMPLING;
}

/*
 * At the end of a child that had no sample, which needs no file of its own.  Not
 * on an alternate stack, which may be small: what it has drawn is lost then.
 */
static void
start_count_forked(struct thread *self)
{
	struct thread_run *run = self->run;
	const uint64_t hits = run->beginning_hits;
	stack_t stack;

	run->beginning_hits = 0;
	if (hits > 0 && arch_system_call(SYS_sigaltstack, 0, (long)&stack, 0,
	    0) == 0 && (stack.ss_flags & SS_ONSTACK) == 0)
		start_count_beginning(run->beginning_phase == PHASE_SAMPLING ?
		    CPPROFDATA_SAMPLING : CPPROFDATA_FORKING,
		    resources.place[RESOURCE_CPU] - 1u, hits,
		    process_clock(CLOCK_PROCESS_CPUTIME_ID));
}

/* Called in a thread that returns, exits or is cancelled. */
static void
start_end_thread(void *state)
{
	struct thread *thread = state;

	/*
	 * The state of an earlier recording, which this thread has not noticed
	 * to have ended, is perhaps another's now.
	 */
	if (process.is_inside && (thread->run->stage == THREAD_LEFT ||
	    thread->tid != process_thread_id())) {
		if (change_begins() && thread == thread_self) {
			trampoline_attach(NULL);
			thread_self = NULL;
			threads_take_back(thread, true);
		}
		change_ends();
		return;
	}
	if (change_begins() && sampling_is_own_process()) {
		const enum thread_stage stage = thread->run->stage;

		if (stage == THREAD_RUNNING) {
			start_count_forked(thread);
			end_sampling(thread);
		}
		alternate_end();
		/* Perhaps control.c has made a timer for it, which it frees. */
		if (!process.is_inside || stage == THREAD_RUNNING)
			threads_give_back(thread);
	}
	change_ends();
}

/*
 * Begins to sample this thread, whose own stack lies between the two addresses.
 * In the handler, has_key may have to be false; then the thread's end is not
 * noticed.
 */
static void
start_begin_thread(struct thread *thread, uintptr_t stack, uintptr_t stack_end,
    bool has_key)
{
	int saved = errno;
	bool ok;

	threads_begin(thread, (const void *)stack, (const void *)stack_end);
	ok = !has_key || pthread_setspecific(end_key, thread) == 0;
	if (ok) {
		signals_unblock();
		ok = resources_start(thread);
	}
	/*
	 * Later, descriptor 2 may be anything, so other threads are only
	 * counted.
	 */
	if (!ok && thread->is_main) {
		start_warn("no timer", errno);
		shared_give_up(CPPROF_SHARED_NO_TIMER, errno);
	}
	datafile_count_thread(ok);
	errno = saved;
}

/* The thread is at its start, so no observed call can have begun before. */
static void
start_note_beginning(struct thread *thread)
{
	if (process.n_call_functions > 0)
		thread->run->began_ns = process_clock(CLOCK_MONOTONIC);
}

void
start_thread_sampling(struct thread *thread)
{
	/* The C library keeps a thread's descriptor above its stack. */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t above = (uintptr_t)pthread_self();

	if (above < here || above - here > 1 << 20)
		above = here;
	/* Sampling may have ended since the thread was created. */
	if (change_begins()) {
		signals_inherit(thread->run->program_mask);
		start_note_beginning(thread);
		start_begin_thread(thread, here, above, true);
		thread->run->is_whole = true;
	}
	change_ends();
}

/*
 * On the thread, which runs on `stack`.  In the handler, has_key may be false.
 * Preserves errno.
 */
static void
begin_or_resume(struct thread *thread, uintptr_t stack, bool has_key)
{
	const int saved = errno;
	struct readable found;
	uintptr_t end;

	if (thread->run->has_begun) {
		threads_resume_sampling(thread);
		signals_unblock();
		resources_start(thread);
		errno = saved;
		return;
	}
	thread->is_main = process_thread_id() == process_own.pid;
	thread->run->began_ns = 0;
	/*
	 * If not all memory up to the end of the thread's own stack is
	 * readable, the thread may run on another one.
	 */
	end = thread->is_main ? (uintptr_t)__libc_stack_end :
	    (uintptr_t)pthread_self();
	readable_init(&found, end, end);
	if (stack > end || end - stack > LONGEST_STACK ||
	    !readable_range(&found, stack, end - stack))
		end = stack;
	start_begin_thread(thread, stack, end, has_key);
}

void
start_waking_thread(struct thread *thread, uintptr_t stack)
{
	/*
	 * The values of the first keys are stored in the thread's descriptor.
	 */
	const bool has_key = end_key < KEYS_IN_PLACE;
	struct thread *const before = thread_self;

	if (change_begins() && (before == NULL ||
	    before->run->stage == THREAD_LEFT)) {
		begin_or_resume(thread, stack, has_key);
		if (before != NULL)
			threads_take_back(before, false);
	} else {
		thread->run->stage = THREAD_HELD;
	}
	change_ends();
}

void
start_woken_thread(struct thread *thread, const void *context)
{
	struct cfi_registers registers;

	arch_registers(context, &registers);
	start_waking_thread(thread, registers.value[ARCH_STACK]);
}

bool
start_calling_thread(void)
{
	struct thread *thread;
	const uint32_t tid = process_thread_id();

	/* It has had no tick while sampling was stopped, and so did not stop. */
	if (thread_self != NULL)
		return true;
	for (thread = threads_all(); thread != NULL; thread = thread->next)
		if (thread->tid == tid && thread->run->stage == THREAD_ASLEEP)
			break;
	if (thread == NULL)
		thread = threads_take(NULL, NULL);
	if (thread == NULL)
		return false;
	if (!thread->run->has_begun)
		signals_inherit(signals_program_mask());
	begin_or_resume(thread, (uintptr_t)__builtin_frame_address(0), true);
	return true;
}

void
start_put_to_sleep(struct thread *thread)
{
	enum thread_stage asleep = THREAD_ASLEEP;

	if (!change_begins()) {
		change_ends();
		return;
	}
	resources_stop(thread);
	resources_forget(thread);
	waits_end(thread, 0, 0);
	thread_self = NULL;
	/* Another recording of this process may give the state to another. */
	if (process.is_inside)
		trampoline_attach(NULL);
	thread->run->stage = THREAD_ASLEEP;
	/*
	 * Sampling may have been resumed meanwhile, and nobody else would wake
	 * this thread.
	 */
	if (!sampling_is_stopped() && atomic_compare_exchange_strong(
	    &thread->run->stage, &asleep, THREAD_RUNNING))
		begin_or_resume(thread, 0, true);
	change_ends();
}

void
start_look_for_modules(void)
{
	parts->look_for_modules();
}

bool
start_end_inside(void)
{
	parts->open_gates(false);
	sampling_turn(false);
	return start_wait_for_changes();
}

/*
 * Forks.
 */

/* Replaces everything that the child must not share with its parent. */
static void
set_up_child(void)
{
	struct thread *self = thread_self;

	sampling_same_process = 1;
	process.is_forked = true;
	shared_forked();
	process_begin();
	disk_forked();
	threads_forked();
	if (process.is_alone) {
		thread_self = NULL;
		sampler_uninstall();
	} else if (self != NULL && sampling_is_stopped()) {
		start_put_to_sleep(self);
	} else if (self != NULL) {
		signals_unblock();
		datafile_count_thread(resources_start(self));
	}
}

/*
 * A thread that had not been woken in the parent yet (lib/run/control.c) is not
 * woken in the child, either.  With the program's mask of signals.
 */
static void
start_child_of_sleeper(void)
{
	if (sampling_is_on() && !sampling_is_stopped() && thread_self == NULL)
		start_calling_thread();
}

static void
set_up_unseen_child(void)
{
	const uint64_t began_ns = process_clock(CLOCK_THREAD_CPUTIME_ID);

	set_up_child();
	start_child_of_sleeper();
	start_draw_beginning(began_ns / 1000);
}

static void
before_fork(void)
{
	thread_is_in_fork = sampling_is_on() && signals_block();
	if (sampling_is_on())
		real_prepare_for_children();
}

static void
after_fork(void)
{
	if (!thread_is_in_fork)
		return;
	signals_unblock();
	thread_is_in_fork = false;
}

/* Only a missing timer can make this fail; saving errno is not worth a page. */
static void
after_fork_in_child(void)
{
	uint64_t began_ns;

	if (!sampling_is_on())
		return;
	began_ns = process_clock(CLOCK_THREAD_CPUTIME_ID);
	sampling_forget_work();
	/* While it is still known which signals are ours. */
	if (process.is_alone)
		after_fork();
	set_up_child();
	if (!process.is_alone)
		after_fork();
	start_child_of_sleeper();
	start_draw_beginning(began_ns / 1000);
}

/*
 * Processes.
 */

void
start_leave(bool is_leaving)
{
	bool bus_was_blocked;

	if (!datafile_exists() || !sampling_is_on() ||
	    !sampling_is_own_process() || sampling_is_stopped())
		return;
	bus_was_blocked = signals_unblock_bus();
	datafile_note_leaving(is_leaving);
	signals_block_bus_again(bus_was_blocked);
}

/*
 * Passes the time that no sample accounts for to the next process of its kind.
 * Only once, although exec may be called several times to search PATH.
 */
static void
pass_on_time(struct thread *self)
{
	struct carryover *carryover;

	if (self == NULL || self->tid != process_own.pid)
		return;
	for (carryover = threads_carryovers(); carryover != NULL;
	    carryover = carryover->next) {
		self->meters->uncounted_ns += timer_take_rest(carryover);
		self->meters->unsampled_ns += unsampled_take(carryover);
	}
	shared_give_time(CPPROF_SHARED_CPU, &self->meters->uncounted_ns);
	shared_give_time(CPPROF_SHARED_REAL, &self->meters->unsampled_ns);
}

/*
 * On the thread `self`; NULL: one that cannot count now.  False: it has waited
 * for the file's lock in vain.
 */
static bool
start_count_unsampled(struct thread *self, const struct carryover *carryover,
    unsigned column, uint64_t hits)
{
	char name[sizeof UNSAMPLED + THREAD_NAME_SIZE] = UNSAMPLED;

	if (self == NULL) {
		datafile_count_drop(CPPROFDATA_LOST_AT_EXIT, 1, hits);
		datafile_count_lost(CPPROFDATA_LOST_AT_EXIT, column, hits);
		return true;
	}
	thread_file_name_of(threads_all(), carryover->routine,
	    name + sizeof UNSAMPLED - 1);
	return sample_count_apart(self, column, hits, name);
}

/*
 * Counts what ended threads have used and nobody was sampled for.  Without a
 * file, it all passes on.  `self` is the calling thread, or NULL.  If the file's
 * lock stays taken, it waits only once: a program may have hundreds of groups of
 * threads.
 */
static void
start_count_rest(struct thread *self)
{
	struct carryover *carryover;
	bool bus_was_blocked;
	uint64_t hits;
	unsigned i;

	if (!datafile_exists())
		return;
	if (self != NULL && (self->held_off > 0 || self->is_sampling))
		self = NULL;
	bus_was_blocked = signals_unblock_bus();
	for (carryover = threads_carryovers(); carryover != NULL;
	    carryover = carryover->next)
		for (i = 0; i < resources.n; i++) {
			hits = resources_take_apart(carryover, i);
			if (i + 1 == resources.place[RESOURCE_CPU])
				hits += timer_lose(carryover);
			else if (i + 1 == resources.place[RESOURCE_REAL])
				hits += unsampled_lose(carryover);
			if (hits > 0 && !start_count_unsampled(self,
			    carryover, i, hits))
				self = NULL;
		}
	signals_block_bus_again(bus_was_blocked);
}

static void
end_process(bool ends_thread, bool (*lock)(void))
{
	struct thread *self = thread_self;

	if (!sampling_is_on() || !sampling_is_own_process())
		return;
	if (self != NULL && ends_thread) {
		start_count_forked(self);
		parts->finish();
		end_sampling(self);
	}
	start_count_rest(self);
	if (lock()) {
		datafile_finish();
		datafile_unlock();
	}
	pass_on_time(self);
	if (!process_own.is_given_up)
		shared_report_cpu_time(0);
	if (!has_ended)
		shared_note_end(true);
	has_ended = true;
}

/*
 * The last exit handler, after all destructors.  Other threads are sampled
 * until the process is gone.  datafile_lock_patiently, because a handler of the
 * program that calls exit may have interrupted the holder of the lock.
 */
static void
start_finish(void *unused)
{
	(void)unused;
	end_process(true, datafile_lock_patiently);
}

void
start_end(void)
{
	const struct thread *self = thread_self;

	end_process(self != NULL && self->run->stage == THREAD_RUNNING &&
	    self->held_off == 0 && !self->is_sampling, datafile_lock);
}

void
start_execute(void)
{
	struct thread *self = thread_self;

	if (self != NULL && self->held_off == 0 && !self->is_sampling) {
		start_count_forked(self);
		sample_take_last(self);
	}
	start_count_rest(self);
	pass_on_time(self);
	shared_note_exec();
	shared_note_end(true);
}

/*
 * Counts the CPU time that the process used before it could be sampled, for the
 * kernel's loading of the program and the loader's of its libraries.  It is
 * rounded to hits at random, so that it is right on average.
 */
static void
count_time_before(void)
{
	const unsigned place = resources.place[RESOURCE_CPU];
	const uint64_t now = process_clock(CLOCK_PROCESS_CPUTIME_ID);
	const uint64_t before = shared_time_before();
	uint64_t interval, ns, hits, step;

	if (now <= before)
		return;
	ns = now - before;
	shared_report_cpu_time(ns);
	if (place == 0 || thread_self == NULL)
		return;
	step = resources.columns[place - 1].is_paced ? LOADING_HITS : 1;
	interval = resources.columns[place - 1].interval * 1000 * step;
	hits = (ns + meter_random(process_own.start_ns +
	    ((uint64_t)process_own.pid << 40)) % interval) / interval * step;
	if (hits > 0)
		start_count_beginning(CPPROFDATA_LOADING, place - 1, hits, ns);
}

/*
 * Whether the program needs a library.  One that needs none was not written for
 * the C library, although a loader has brought that with this one: Go's programs
 * that can be loaded anywhere handle signals by system calls, and would take
 * ours.  They are sampled from outside, as static programs are.
 */
static bool
needs_library(void)
{
	size_t n;
	const struct link_map *program = lookup_loaded(&n);
	const ElfW(Dyn) *entry = program != NULL ? program->l_ld : NULL;

	if (process_is_static())
		return true;
	for (; entry != NULL && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_NEEDED)
			return true;
	return false;
}

bool
start_process(char **environment, char **words, const char *output,
    const char **problem)
{
	static bool has_key, watches_forks, watches_exit;
	bool ok;

	errno = 0;
	*problem = NULL;
	if (output == NULL && !needs_library())
		return false;
	if (!settings_read(environment, words, output, problem))
		return false;
	*problem = process.output;
	if (process.may_speak || process.is_inside || output != NULL) {
		datafile_lock_wait();
		ok = sample_make_file();
		datafile_unlock();
		if (!ok) {
			shared_give_up(CPPROF_SHARED_NO_FILE, errno);
			return false;
		}
	}
	*problem = "cannot install its handlers";
	if (sampling_same_process == 0) {
		errno = wiping_error;
		if (wiping_error != 0)
			return false;
		sampling_on_fork(set_up_unseen_child);
		sampling_same_process = 1;
		/*
		 * Any address that is not a module's handle, so that it is
		 * never unloaded.
		 */
		watches_forks = watches_forks || __register_atfork(before_fork,
		    after_fork, after_fork_in_child, &end_key) == 0;
		if (!watches_forks)
			return false;
	}
	if (!watches_exit && (__cxa_atexit(start_finish, NULL, NULL) != 0 ||
	    __cxa_at_quick_exit(start_finish, NULL) != 0))
		return false;
	watches_exit = true;
	if (!has_key && pthread_key_create(&end_key, start_end_thread) != 0)
		return false;
	has_key = true;
	if (!sampler_install(start_put_to_sleep))
		return false;
	parts->open_gates(true);
	/* The caller is a thread of ours, and what was before is not sampled. */
	if (process.is_inside)
		return true;
	if (!start_calling_thread())
		return false;
	if (output == NULL) {
		start_note_beginning(thread_self);
		count_time_before();
	}
	return true;
}

void
start_library(const struct start_parts *start_parts, char **environment,
    char **words)
{
	const char *problem, *offer;

	parts = start_parts;
	/*
	 * Always, because another thread may fork while the program is inside
	 * cpprof_start, and the child must not find its locks taken.
	 */
	if (!sampling_wipe_children(&process_own, &sampling_same_process))
		wiping_error = errno;
	offer = settings_variable(environment, CPPROF_ENVIRONMENT_OFFER);
	if (offer != NULL && getauxval(AT_SECURE) == 0) {
		process.is_inside = strcmp(offer, CPPROF_OFFER_INSIDE) == 0;
		_exit(offer_resources(settings_variable(environment,
		    CPPROF_ENVIRONMENT_RESOURCES),
		    settings_variable(environment,
		    CPPROF_ENVIRONMENT_RANDOM) != NULL));
	}
	if (!start_process(environment, words, NULL, &problem) &&
	    problem != NULL)
		/* Of EINVAL the message itself says enough. */
		start_warn(problem, errno == EINVAL ? 0 : errno);
	if (!sampling_is_on())
		parts->open_gates(false);
}
