/* SPDX-License-Identifier: MIT */
/* threads.c -- the states of threads: taken, used, given back. */
#include "lib/run/start.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/python/python.h"
#include "lib/run/sample.h"
#include "lib/sources/sources.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"

/*
 * A complete state.  What most processes and forked children write to comes
 * first and together.
 */
struct threads_thread_state {
	struct thread thread;
	struct thread_run run;
	struct thread_waits waits;
	struct thread_meters meters;
	struct carryover carryover;	/* of the first state of a routine */
	struct thread_file file;
	struct unwinder unwinder;
	struct python python;
	struct walked_frame frames[2][UNWIND_FIRST_FRAMES];
};

#define BATCH_MAX 32

/* States that were mapped together, for the reason in lib/store/memory.c. */
static struct {
	struct threads_thread_state *states;
	_Atomic size_t n_left;		/* set last: another thread may fork */
	size_t n_last;
} batch;

static struct thread *_Atomic all;
static struct carryover *_Atomic carryovers;
static struct thread *idle WIPED;
static atomic_flag threads_lock WIPED;	/* of the lists */

static struct threads_thread_state first
    BIG_WITH_START; /* the first thread's */
static bool first_is_taken;

/* Memory for a state; NULL: there is none.  Lock held. */
static struct threads_thread_state *
take_memory(void)
{
	const size_t n = batch.n_last == 0 ? 1 : batch.n_last < BATCH_MAX ?
	    2 * batch.n_last : BATCH_MAX;
	void *memory;

	if (!first_is_taken) {
		first_is_taken = true;
		return &first;
	}
	if (batch.n_left == 0) {
		memory = files_map(n * sizeof *batch.states,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (memory == MAP_FAILED)
			return NULL;
		batch.states = memory;
		batch.n_last = n;
		batch.n_left = n;
	}
	return &batch.states[--batch.n_left];
}

/* Lock held. */
static struct thread *
make_state(const void *routine)
{
	struct threads_thread_state *state = take_memory();
	struct carryover *carryover;

	if (state == NULL)
		return NULL;
	unwind_lend(&state->unwinder, state->frames);
	state->thread = (struct thread){
		.unwinder = &state->unwinder,
		.python = &state->python,
		.file = &state->file,
		.meters = &state->meters,
		.run = &state->run,
		.waits = &state->waits,
		.next = all,
		.routine = routine,
	};
	/* All threads with one start routine share one carryover. */
	for (carryover = carryovers; carryover != NULL;
	    carryover = carryover->next)
		if (carryover->routine == routine)
			break;
	if (carryover == NULL) {
		carryover = &state->carryover;
		carryover->routine = routine;
		if (routine != NULL)
			carryover->off_cpu_ticks[false] =
			    carryover->off_cpu_ticks[true] = OFF_CPU_LEFT_TICKS;
		carryover->next = carryovers;
		carryovers = carryover;
	}
	state->meters.carryover = carryover;
	state->run.all = &all;
	all = &state->thread;
	return &state->thread;
}

struct thread *
threads_take(const void *routine, void *argument)
{
	struct thread **link = &idle, *thread;

	process_lock(&threads_lock);
	while ((thread = *link) != NULL && thread->routine != routine)
		link = &thread->run->next_idle;
	if (thread != NULL)
		*link = thread->run->next_idle;
	else
		thread = make_state(routine);
	process_unlock(&threads_lock);
	if (thread != NULL)
		thread->run->argument = argument;
	return thread;
}

void
threads_give_back(struct thread *thread)
{
	thread->run->has_begun = thread->run->is_owned = false;
	thread->run->stage = THREAD_IDLE;
	process_lock(&threads_lock);
	thread->run->next_idle = idle;
	idle = thread;
	process_unlock(&threads_lock);
}

struct thread *
threads_all(void)
{
	return atomic_load_explicit(&all, memory_order_acquire);
}

struct carryover *
threads_carryovers(void)
{
	return atomic_load_explicit(&carryovers, memory_order_acquire);
}

/*
 * Resets what belonged to the state's last thread or to the parent: a fork may
 * come while other threads are sampled, and their states are used again.
 */
static void
start_afresh(struct thread *thread)
{
	thread->meters->own_work.has_usage = false;
	thread->run->progress = (struct thread_progress){ 0 };
	/* With a debt, short threads and children would have no samples. */
	sample_begin_allowance(thread);
	thread->run->rest_ns = thread->run->rest_until_ns = 0;
	thread->waits->allowance_ns = 0;
	/* Leave untouched pages alone. */
	if (thread->meters->awaits_found)
		thread->meters->awaits_found = false;
	if (thread->meters->n_found != 0)
		thread->meters->n_found = 0;
}

void
threads_begin(struct thread *thread, const void *stack, const void *stack_end)
{
	thread->tid = process_thread_id();
	thread->run->is_whole = false;
	thread->file->is_announced = thread->file->has_own_name = false;
	thread->file->n_samples = 0;
	waits_forget(thread);
	thread->held_off = 0;
	thread->is_sampling = false;
	start_afresh(thread);
	if (thread->run->is_owned)
		trampoline_begin_again(thread->unwinder);
	else
		trampoline_forget(thread->unwinder);
	thread->run->is_owned = true;
	if (thread->unwinder->stack.n > 0)
		unwind_remember(thread->unwinder, 0);
	/* Without a stack, its page is left untouched. */
	if (thread->unwinder->stack.frames != NULL &&
	    thread->python->n_walks > 0)
		python_begin(thread->python);
	readable_init(&thread->unwinder->readable, (uintptr_t)stack,
	    (uintptr_t)stack_end);
	trampoline_attach(thread->unwinder);
	thread->run->has_begun = true;
	thread->run->is_in_call = true;
	thread->run->stage = THREAD_RUNNING;
	atomic_signal_fence(memory_order_seq_cst);
	thread_self = thread;
}

void
threads_resume_sampling(struct thread *thread)
{
	/* What it used up to now is counted, or nobody's. */
	thread->run->is_whole = false;
	thread->held_off = 0;
	thread->is_sampling = false;
	sample_begin_allowance(thread);
	unwind_remember(thread->unwinder, 0);
	if (process.is_inside)
		trampoline_attach(thread->unwinder);
	thread->run->is_in_call = true;
	thread->run->stage = THREAD_RUNNING;
	atomic_signal_fence(memory_order_seq_cst);
	thread_self = thread;
}

/* Nobody's state any more, and nothing of it is in the next file. */
static void
threads_make_idle(struct thread *thread)
{
	thread->run->stage = THREAD_IDLE;
	thread->run->has_begun = thread->run->is_owned = false;
	thread->run->next_idle = idle;
	idle = thread;
}

static void
forget_carryovers(void)
{
	struct carryover *carryover;
	unsigned i;

	/* Most have nothing; leave their pages alone. */
	for (carryover = carryovers; carryover != NULL;
	    carryover = carryover->next) {
		if (carryover->ended_ns != 0 || carryover->living_ns != 0)
			carryover->ended_ns = carryover->living_ns = 0;
		if (carryover->unsampled_ns != 0)
			carryover->unsampled_ns = 0;
		if (carryover->off_cpu_ns != 0)
			carryover->off_cpu_ns = 0;
		if (carryover->apart_ns != 0)
			carryover->apart_ns = 0;
		for (i = 0; i < resources.n; i++) {
			if (carryover->pending[i] != 0)
				carryover->pending[i] = 0;
			if (carryover->apart[i] != 0)
				carryover->apart[i] = 0;
		}
		if (carryover->has_pending)
			carryover->has_pending = false;
	}
}

/* Nothing of a thread's samples is in the next file. */
static void
threads_forget_samples(struct thread *thread)
{
	struct unwinder *unwinder = thread->unwinder;

	thread_file_forked(thread);
	/*
	 * Most states have no frames, either.  A thread that is just moving its
	 * mark may read them.
	 */
	if ((unwinder->stack.frames != NULL ||
	    unwinder->fresh.frames != NULL) && !trampoline_runs(unwinder)) {
		unwind_forked(unwinder);
		if (thread->python->n_walks > 0)
			python_begin(thread->python);
	}
	waits_forget(thread);
	start_afresh(thread);
	thread->meters->has_timer = false;
	thread->meters->uncounted_ns = thread->meters->noted_ns = 0;
	thread->meters->unsampled_ns = 0;
}

void
threads_forked(void)
{
	struct unwinder *unwinder;
	struct thread *thread;

	forget_carryovers();
	for (thread = all; thread != NULL; thread = thread->next) {
		unwinder = thread->unwinder;
		if (thread != thread_self)
			trampoline_forget(unwinder);
		else if (unwinder->trampoline.cfa != 0)
			trampoline_withdraw(unwinder);
		if (thread->calls != NULL)
			open_calls_forked(thread);
		perf_forked(thread);
		threads_forget_samples(thread);
		if (thread == thread_self) {
			thread->tid = process_own.pid;
			thread->run->stage = THREAD_RUNNING;
			/* What it used before is drawn at the fork. */
			thread->run->is_whole = false;
			thread->run->beginning_hits = 0;
			continue;
		}
		threads_make_idle(thread);
	}
}

bool
threads_lives(const struct thread *thread)
{
	return thread->run->is_owned && arch_system_call(SYS_tgkill,
	    process_id(), (long)thread->tid, 0, 0) == 0;
}

/*
 * The thread goes on, and only it will get the state again: marks that are left
 * on its stack belong to the state's unwinder.
 */
static void
threads_keep(struct thread *thread)
{
	threads_forget_samples(thread);
	thread->run->has_begun = false;
	thread->run->stage = THREAD_ASLEEP;
}

/* Not if somebody has the lock: perhaps the calling thread, in a handler. */
void
threads_take_back(struct thread *thread, bool has_ended)
{
	if (!has_ended) {
		threads_keep(thread);
		return;
	}
	if (atomic_flag_test_and_set_explicit(&threads_lock,
	    memory_order_acquire))
		return;
	threads_forget_samples(thread);
	threads_make_idle(thread);
	process_unlock(&threads_lock);
}

void
threads_begin_again(void)
{
	struct thread *thread;

	forget_carryovers();
	for (thread = all; thread != NULL; thread = thread->next) {
		if (threads_lives(thread)) {
			if (thread->run->stage != THREAD_LEFT)
				threads_keep(thread);
			continue;
		}
		trampoline_forget(thread->unwinder);
		threads_forget_samples(thread);
		threads_make_idle(thread);
	}
}
