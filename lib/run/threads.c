/* SPDX-License-Identifier: MIT */
/* threads.c -- states of threads: taken, used, given back. */
#include "lib/run/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/wiped.h"
#include "lib/run/waits.h"
#include "lib/sources/perf.h"
#include "lib/store/datafile.h"

/* Sampling may cost this at once before it has to pause. */
#define FIRST_ALLOWANCE_NS 1000000

__thread struct thread *thread_self;

static struct thread *_Atomic all;
static struct thread *idle WIPED;
static __thread char given_name[16];	/* by the program; "": none */
static atomic_flag locked WIPED;

/*
 * Of the first thread.  What all processes write to, and forked children,
 * begins it, and shares a page with the other variables, which lie before.
 */
static struct thread first __attribute__((aligned(2048),
    section(".bss.cpprof_after")));
static bool first_is_taken;

void
threads_hold_off(void)
{
	struct thread *self = thread_self;

	if (self != NULL)
		self->held_off++;
}

void
threads_resume(void)
{
	struct thread *self = thread_self;

	if (self != NULL)
		self->held_off--;
}

/* The lists' lock; handlers never take it. */
static void
lock(void)
{
	while (atomic_flag_test_and_set_explicit(&locked,
	    memory_order_acquire))
		process_pause();
}

static void
unlock(void)
{
	atomic_flag_clear_explicit(&locked, memory_order_release);
}

static struct thread *
find_idle(const void *start)
{
	struct thread **link, *thread;

	for (link = &idle; (thread = *link) != NULL; link = &thread->next_idle)
		if ((const void *)thread->start.posix == start) {
			*link = thread->next_idle;
			return thread;
		}
	return NULL;
}

/* Lock held. */
static struct thread *
make_state(const void *start)
{
	struct thread *thread = &first;
	void *memory;

	if (first_is_taken) {
		memory = files_map(sizeof *thread,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (memory == MAP_FAILED)
			return NULL;
		thread = memory;
	}
	first_is_taken = true;
	memcpy(&thread->start, &start, sizeof start);
	thread->next = all;
	all = thread;
	return thread;
}

struct thread *
threads_take(const void *start, void *argument)
{
	struct thread *thread;

	lock();
	thread = find_idle(start);
	if (thread == NULL)
		thread = make_state(start);
	unlock();
	if (thread != NULL)
		thread->argument = argument;
	return thread;
}

void
threads_give_back(struct thread *thread)
{
	thread->has_begun = false;
	thread->stage = THREAD_IDLE;
	lock();
	thread->next_idle = idle;
	idle = thread;
	unlock();
}

struct thread *
threads_all(void)
{
	return atomic_load_explicit(&all, memory_order_acquire);
}

/*
 * What was so of the state's last thread, or of the parent's: a fork may come
 * while other threads are being sampled, and their states are taken again.
 */
static void
start_afresh(struct thread *thread)
{
	thread->own_work.has_usage = false;
	thread->progress = (struct progress){ 0 };
	/* Debts would leave short threads and children unseen. */
	thread->allowance_ns = FIRST_ALLOWANCE_NS;
	thread->rest_until_ns = 0;
	thread->waits_allowance_ns = 0;
}

void
threads_begin(struct thread *thread, const void *stack, const void *stack_end)
{
	thread->tid = (uint32_t)arch_system_call(SYS_gettid, 0, 0, 0,
	    0);
	thread->is_announced = false;
	waits_forget(thread);
	thread->held_off = 0;
	thread->is_sampling = false;
	start_afresh(thread);
	trampoline_forget(&thread->unwinder);
	if (thread->unwinder.stack.n > 0)
		unwind_remember(&thread->unwinder, 0);
	readable_init(&thread->unwinder.readable, (uintptr_t)stack,
	    (uintptr_t)stack_end);
	trampoline_attach(&thread->unwinder);
	thread->has_begun = true;
	thread->stage = THREAD_RUNNING;
	atomic_signal_fence(memory_order_seq_cst);
	thread_self = thread;
}

void
threads_resume_sampling(struct thread *thread)
{
	thread->held_off = 0;
	thread->is_sampling = false;
	thread->allowance_ns = FIRST_ALLOWANCE_NS;
	unwind_remember(&thread->unwinder, 0);
	thread->stage = THREAD_RUNNING;
	atomic_signal_fence(memory_order_seq_cst);
	thread_self = thread;
}

/* A record for a state that has none, and what does not change in it. */
static enum tree_result
add_record(struct thread *thread)
{
	struct cpprofdata_thread *record;
	uint32_t number, module = CPPROFDATA_NO_MODULE;
	uint64_t offset = 0;

	if (!thread->is_main &&
	    modules_find(&thread->modules, (uintptr_t)thread->start.posix,
	    &module, &offset) == MODULES_BUSY)
		return TREE_BUSY;
	if (!datafile_lock())
		return TREE_BUSY;
	record = datafile_add_records(CPPROFDATA_THREADS, sizeof *record, 1,
	    &number);
	if (record != NULL) {
		record->start_module = module;
		record->start_offset = offset;
		record->start_ns = process_now();
		record->flags = thread->is_main ? CPPROFDATA_THREAD_MAIN : 0;
		record->tid = thread->tid;
		datafile_publish(CPPROFDATA_THREADS, 1);
		thread->record = record;
		thread->wait_mapped = &((struct cpprofdata_thread *)
		    datafile_mapped(CPPROFDATA_THREADS, record))->wait;
		thread->tree.owner = number;
	}
	datafile_unlock();
	return record != NULL ? TREE_OK : TREE_FULL;
}

/* Brings the file up to what a thread's record is now, but for its waits. */
static void
note(const struct thread *thread)
{
	datafile_update(CPPROFDATA_THREADS, thread->record,
	    offsetof(struct cpprofdata_thread, wait));
}

enum tree_result
threads_announce(struct thread *thread)
{
	enum tree_result result = TREE_OK;

	if (thread->record == NULL)
		result = add_record(thread);
	if (result != TREE_OK)
		return result;
	thread->record->tid = thread->tid;
	thread->record->n_threads++;
	thread->record->end_ns = 0;
	note(thread);
	thread->is_announced = true;
	threads_note_name(thread);
	return TREE_OK;
}

void
threads_note_end(struct thread *thread)
{
	thread->record->end_ns = process_now();
	note(thread);
}

void
threads_note_name(struct thread *thread)
{
	char name[sizeof given_name] = "";

	if (given_name[0] != '\0')
		memcpy(name, given_name, sizeof name);
	else if (prctl(PR_GET_NAME, name) != 0)
		return;
	if (memcmp(thread->record->name, name, sizeof name) == 0)
		return;
	memcpy(thread->record->name, name, sizeof name);
	note(thread);
}

void
threads_name(const char *name)
{
	struct thread *self;

	threads_hold_off();
	memset(given_name, 0, sizeof given_name);
	if (name != NULL)
		strncpy(given_name, name, sizeof given_name - 1);
	self = thread_self;
	if (self != NULL && self->is_announced)
		threads_note_name(self);
	threads_resume();
}

/* What a thread had in the parent's file; most have nothing. */
static void
forget_file(struct thread *thread)
{
	struct unwinder *unwinder = &thread->unwinder;

	modules_forget(&thread->modules);
	thread->is_announced = false;
	thread->wait_mapped = NULL;
	if (thread->record != NULL)
		tree_forked(&thread->tree);
	thread->record = NULL;
	if (unwinder->stack.frames != NULL || unwinder->fresh.frames != NULL)
		unwind_forked(unwinder);
}

static void
begin_in_child(struct thread *thread)
{
	perf_forked(thread);
	waits_forget(thread);
	start_afresh(thread);
	thread->has_timer = false;
	thread->uncounted_ns = 0;
	thread->unfound_ns = 0;
}

void
threads_forked(void)
{
	struct thread *thread;

	for (thread = all; thread != NULL; thread = thread->next) {
		if (thread != thread_self)
			trampoline_forget(&thread->unwinder);
		else if (thread->unwinder.trampoline.cfa != 0)
			trampoline_withdraw(&thread->unwinder);
		forget_file(thread);
		begin_in_child(thread);
		if (thread == thread_self) {
			thread->tid = process_own.pid;
			thread->stage = THREAD_RUNNING;
			continue;
		}
		thread->stage = THREAD_IDLE;
		thread->has_begun = false;
		thread->next_idle = idle;
		idle = thread;
	}
}
