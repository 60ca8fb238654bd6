/* SPDX-License-Identifier: GPL-3.0-or-later */
/* companion.c -- samples from outside what the collector cannot enter.
 *
 * The collector asks for it, by the shared memory, before it executes such a
 * program.  One thread waits for questions, since a futex cannot be polled; the
 * other answers them between two looks at the samples.  The kernel's events are
 * opened with the first question.
 */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/task.h"
#include "src/base/worker.h"

enum { COMPANION_DEPTH_MAX = 1000 };	/* of a process below this one */

struct companion {
	struct cpprof_shared *shared;
	struct sample_recording files;
	struct sampler_options sampling;
	struct worker *listening, *answering;
	int questions;			/* readable if there are some */
	atomic_bool is_over;
	struct sampler_result result;
	struct error error;		/* which ended the sampling early */
};

static void
companion_futex(uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* ---- questions ---- */

static void
companion_listen(void *context)
{
	struct companion *companion = context;
	uint32_t *n_asked = &companion->shared->n_asked;
	uint32_t seen = 0;

	while (!companion->is_over) {
		const uint32_t n = __atomic_load_n(n_asked, __ATOMIC_ACQUIRE);

		if (n == seen)
			companion_futex(n_asked, FUTEX_WAIT, seen);
		else
			eventfd_write(companion->questions, 1);
		seen = n;
	}
	eventfd_write(companion->questions, 1);
}

/* Whether a process was started, directly or not, by this one. */
static bool
companion_is_below(pid_t pid)
{
	const pid_t own = getpid();

	for (int depth = 0; depth < COMPANION_DEPTH_MAX && pid > 1 &&
	     pid != own; depth++) {
		struct task task;

		if (!task_read(pid, &task))
			return false;
		pid = task.parent;
	}
	return pid == own;
}

/* Any process may have written the question. */
static bool
companion_do(struct sampler *sampler, pid_t pid, uint32_t wish)
{
	struct error why = { 0 };

	if (wish == CPPROF_SHARED_NEVER_MIND) {
		sampler_remove(sampler, pid);
		return true;
	}
	if (!companion_is_below(pid))
		return false;
	return wish == CPPROF_SHARED_CHILD ||
	    sampler_add(sampler, pid, wish == CPPROF_SHARED_AT_EXEC ?
	                SAMPLE_AT_EXEC : SAMPLE_NOW, &why) == 0;
}

/* Answers all questions; whether the program has ended. */
static bool
companion_attend(void *context, struct sampler *sampler)
{
	struct companion *companion = context;
	eventfd_t n;

	eventfd_read(companion->questions, &n);
	for (size_t i = 0; i < CPPROF_SHARED_QUESTIONS; i++) {
		struct cpprof_shared_question *question =
		    &companion->shared->questions[i];
		uint32_t state = CPPROF_SHARED_ASKED;

		if (!__atomic_compare_exchange_n(&question->state, &state,
		        CPPROF_SHARED_READ, false, __ATOMIC_ACQUIRE,
		        __ATOMIC_RELAXED))
			continue;
		state = companion_do(sampler, (pid_t)question->process,
		                     question->wish) ?
		    CPPROF_SHARED_YES : CPPROF_SHARED_NO;
		__atomic_store_n(&question->state, state, __ATOMIC_RELEASE);
		__atomic_fetch_add(&companion->shared->n_answered, 1,
		                   __ATOMIC_RELAXED);
		companion_futex(&question->state, FUTEX_WAKE, INT_MAX);
	}
	return companion->is_over;
}

static void
companion_answer(void *context)
{
	struct companion *companion = context;
	struct pollfd polled = { companion->questions, POLLIN, 0 };
	struct sampler *sampler = NULL;

	while (poll(&polled, 1, -1) < 0 && errno == EINTR)
		;
	if (!companion->is_over)
		sampler = sampler_new(&companion->sampling,
		                      &companion->error);
	if (sampler != NULL)
		sampler_run(sampler, &companion->result, &companion->error);
	/* Nobody is to wait for an answer any more. */
	companion->shared->pid_namespace = 0;
	sampler_free(sampler);
}

/* ---- beginning and end ---- */

struct companion *
companion_new(const struct record_options *options,
              const struct recording *recording, const char *symfs,
              const struct sampled_time *time)
{
	struct error ignored = { 0 };
	struct companion *companion;
	struct stat namespace;

	if (time->shared == NULL || options->is_alone || options->is_random ||
	    stat("/proc/self/ns/pid", &namespace) != 0)
		return NULL;
	companion = memory_array(1, sizeof *companion, &ignored);
	if (companion == NULL)
		return NULL;
	companion->shared = time->shared;
	companion->files = attach_recording(options, recording);
	companion->sampling = (struct sampler_options){
		.recording = &companion->files,
		.symfs = symfs,
		.attend = companion_attend,
		.context = companion,
		.asking = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	companion->questions = companion->sampling.asking;
	attach_choose_possible(options, &companion->sampling.events,
	                       &companion->files);
	if (companion->questions < 0 ||
	    companion->sampling.events.n_kinds == 0) {
		if (companion->questions >= 0)
			close(companion->questions);
		free(companion);
		return NULL;
	}
	interrupt_requested = 0;
	companion->listening = worker_new();
	companion->answering = worker_new();
	/* Without threads, both jobs would be done here. */
	if (companion->listening != NULL && companion->answering != NULL) {
		worker_start(companion->listening, companion_listen, companion);
		worker_start(companion->answering, companion_answer, companion);
		time->shared->pid_namespace = (uint32_t)namespace.st_ino;
	}
	return companion;
}

void
companion_end(struct companion *companion, struct sampler_result *result,
              struct error *error)
{
	if (companion == NULL)
		return;
	companion->shared->pid_namespace = 0;
	companion->is_over = true;
	__atomic_fetch_add(&companion->shared->n_asked, 1, __ATOMIC_RELEASE);
	companion_futex(&companion->shared->n_asked, FUTEX_WAKE, INT_MAX);
	worker_free(companion->listening);
	worker_free(companion->answering);
	close(companion->questions);
	*result = companion->result;
	*error = companion->error;
	free(companion);
}
