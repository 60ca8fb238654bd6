/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c -- one job at a time on another processor. */
#include "src/base/worker.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct worker {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	void (*job)(void *context);	/* NULL: nothing to do */
	void *context;
	bool is_ending;
};

static void *
work(void *argument)
{
	struct worker *worker = argument;

	pthread_mutex_lock(&worker->mutex);
	while (!worker->is_ending || worker->job != NULL) {
		if (worker->job == NULL) {
			pthread_cond_wait(&worker->changed, &worker->mutex);
			continue;
		}
		pthread_mutex_unlock(&worker->mutex);
		worker->job(worker->context);
		pthread_mutex_lock(&worker->mutex);
		worker->job = NULL;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->mutex);
	return NULL;
}

/* Starts the thread with all signals blocked: others handle them. */
static int
create_thread(struct worker *worker)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

unsigned
worker_processors(void)
{
	cpu_set_t usable;

	/* (It fails where there are more than 1,024.) */
	return sched_getaffinity(0, sizeof usable, &usable) != 0 ? 1 :
	    (unsigned)CPU_COUNT(&usable);
}

struct worker *
worker_new(void)
{
	struct worker *worker = calloc(1, sizeof *worker);

	if (worker == NULL)
		return NULL;
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_cond_init(&worker->changed, NULL);
	if (create_thread(worker) != 0) {
		free(worker);
		return NULL;
	}
	return worker;
}

void
worker_free(struct worker *worker)
{
	if (worker == NULL)
		return;
	pthread_mutex_lock(&worker->mutex);
	worker->is_ending = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->mutex);
	pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->changed);
	pthread_mutex_destroy(&worker->mutex);
	free(worker);
}

void
worker_start(struct worker *worker, void (*job)(void *context), void *context)
{
	if (worker == NULL) {
		job(context);
		return;
	}
	pthread_mutex_lock(&worker->mutex);
	worker->job = job;
	worker->context = context;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->mutex);
}

void
worker_wait(struct worker *worker)
{
	if (worker == NULL)
		return;
	pthread_mutex_lock(&worker->mutex);
	while (worker->job != NULL)
		pthread_cond_wait(&worker->changed, &worker->mutex);
	pthread_mutex_unlock(&worker->mutex);
}
