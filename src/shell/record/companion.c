/* SPDX-License-Identifier: GPL-3.0-or-later */
/* companion.c -- samples from outside what the collector cannot enter.
 *
 * The collector asks for it, by the shared memory, before it executes such a
 * program.  One thread waits for questions, since a futex cannot be polled; the
 * other answers them between two looks at the samples.  The kernel's events are
 * opened with the first question.
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	uint32_t namespace;		/* of PIDs, of this process */
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

/* The number of a process's PID namespace; 0: it is not known. */
static uint32_t
companion_namespace(const char *pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof path, "/proc/%.20s/ns/pid", pid);
	return stat(path, &status) == 0 ? (uint32_t)status.st_ino : 0;
}

/* The id of a process in its own PID namespace; 0: it is not known. */
static uint32_t
companion_innermost_id(const char *pid)
{
	char path[64], line[256];
	uint32_t id = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%.20s/status", pid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, "NSpid:", strlen("NSpid:")) == 0)
			id = (uint32_t)strtoul(strrchr(line, '\t'), NULL, 10);
	if (file != NULL)
		fclose(file);
	return id;
}

/*
 * The process that has that id in a PID namespace; 0: there is none.  Where a
 * process has no /proc, it does not know its namespace: it is taken to be ours.
 */
static pid_t
companion_find(const struct companion *companion, uint32_t namespace,
               uint32_t id)
{
	const struct dirent *entry;
	DIR *processes;
	pid_t found = 0;

	if (namespace == 0 || namespace == companion->namespace)
		return (pid_t)id;
	processes = opendir("/proc");
	while (found == 0 && processes != NULL &&
	       (entry = readdir(processes)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    companion_namespace(entry->d_name) == namespace &&
		    companion_innermost_id(entry->d_name) == id)
			found = (pid_t)strtol(entry->d_name, NULL, 10);
	if (processes != NULL)
		closedir(processes);
	return found;
}

/* Any process may have written the question. */
static bool
companion_do(struct sampler *sampler, pid_t pid, uint32_t wish)
{
	struct error why = { 0 };

	if (pid == 0)
		return false;
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

/* Who waits for an answer sees that there is work done. */
static void
companion_step(void *context)
{
	struct companion *companion = context;

	__atomic_fetch_add(&companion->shared->n_steps, 1, __ATOMIC_RELAXED);
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
		state = companion_do(sampler, companion_find(companion,
		        (uint32_t)(question->asker >> 32), question->process),
		        question->wish) ?
		    CPPROF_SHARED_YES : CPPROF_SHARED_NO;
		__atomic_store_n(&question->state, state, __ATOMIC_RELEASE);
		companion_step(companion);
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
		.step = companion_step,
		.context = companion,
		.asking = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	companion->questions = companion->sampling.asking;
	companion->namespace = (uint32_t)namespace.st_ino;
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
		time->shared->pid_namespace = companion->namespace;
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
