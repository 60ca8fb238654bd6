/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.h -- one job at a time on another processor.
 *
 * A caller with two long and independent jobs gives one to a worker, does the
 * other, and waits.  If no thread can be started the job is done at once, so
 * that callers need not care.
 */
#ifndef CPPROF_BASE_WORKER_H
#define CPPROF_BASE_WORKER_H

struct worker;

/* Processors that this process may use; at least 1. */
unsigned worker_processors(void);

/* NULL when there is no memory or no thread; worker_start accepts that. */
struct worker *worker_new(void);

/* Waits for the job that is running. */
void worker_free(struct worker *worker);

/*
 * Starts job(context); the caller must have waited for the one before.  The
 * job owns what it touches until worker_wait.  It gets no signals.
 */
void worker_start(struct worker *worker, void (*job)(void *context),
                  void *context);

/* Waits until the last job is done; returns at once if there was none. */
void worker_wait(struct worker *worker);

#endif
