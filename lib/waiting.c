/* SPDX-License-Identifier: MIT */
/* waiting.c -- asks the threads that wait, one signal each. */
#include "lib/waiting.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/arch.h"
#include "lib/process.h"
#include "lib/resource.h"
#include "lib/sample.h"
#include "lib/signals.h"
#include "lib/threads.h"
#include "lib/wrapped.h"

#define PAUSES_MAX 1000		/* of 100 microseconds each */
#define TRIES_MAX 200		/* a pause between two */

static const char ask_mark;	/* its address marks our question */
static _Atomic unsigned n_unanswered;

static bool
ask(const struct thread *thread)
{
	siginfo_t info;

	memset(&info, 0, sizeof info);
	info.si_signo = signals_number(OUR_TICKS);
	info.si_code = SI_QUEUE;
	info.si_pid = (pid_t)process.pid;
	info.si_ptr = (void *)&ask_mark;
	return syscall(SYS_rt_tgsigqueueinfo, process.pid, thread->tid,
	    signals_number(OUR_TICKS), &info) == 0;
}

void
waiting_ask(void)
{
	struct thread *thread;
	unsigned i;

	if (!resource_is_wanted(RESOURCE_REAL))
		return;
	for (thread = threads_all(); thread != NULL; thread = thread->next) {
		if (thread == thread_self || !thread->is_waiting ||
		    thread->stage != THREAD_RUNNING)
			continue;
		atomic_fetch_add(&n_unanswered, 1);
		if (!ask(thread))
			atomic_fetch_sub(&n_unanswered, 1);
	}
	for (i = 0; i < PAUSES_MAX && atomic_load(&n_unanswered) > 0; i++)
		process_pause();
}

/*
 * It is the thread's last sample, which cannot be put off.  All who wait
 * answer at once, often with the first sample of theirs, and find each other
 * at work on the file.
 */
static void
charge(struct thread *thread, const void *context)
{
	const unsigned column = resources.place[RESOURCE_REAL] - 1u;
	struct account *account = &thread->accounts[column];
	const uint64_t us = wrapped_waited();
	struct occasion occasion = {
		.columns = 1u << column,
		.time_ns = us * 1000,
	};
	int i;

	account->owed += meter_spend(&account->meter, us);
	for (i = 0; i < TRIES_MAX && account->owed > 0; i++) {
		if (i > 0)
			process_pause();
		occasion.hits = account->owed;
		sample_take(thread, &occasion, context);
	}
}

bool
waiting_answer(const siginfo_t *info, const void *context)
{
	struct thread *thread = thread_self;
	bool waits;

	if (info->si_code != SI_QUEUE || info->si_ptr != &ask_mark ||
	    info->si_pid != (pid_t)process.pid)
		return false;
	waits = thread != NULL && wrapped_was_inside(context);
	if (waits)
		charge(thread, context);
	atomic_fetch_sub(&n_unanswered, 1);
	while (waits)
		arch_system_call(SYS_ppoll, 0, 0, 0, 0);
	return true;
}
