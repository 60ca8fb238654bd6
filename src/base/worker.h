/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.h -- one job at a time on another processor.
 *
 * Who has two things to do, each long and neither in the other's way, gives
 * one to a worker, does the other, and waits.  Where no thread can be had the
 * job is done at once, so that nothing else changes.
 */
#ifndef CPPROF_BASE_WORKER_H
#define CPPROF_BASE_WORKER_H

struct worker;

/* NULL when there is no memory or no thread for it: worker_start copes. */
struct worker *worker_new(void);

/* Waits for the job that is under way. */
void worker_free(struct worker *worker);

/*
 * Has job(context) done; the one before must have been waited for.  The job
 * owns what it touches until worker_wait.  It gets no signals.
 */
void worker_start(struct worker *worker, void (*job)(void *context),
                  void *context);

/* Until the job that was started last is done; at once if none was. */
void worker_wait(struct worker *worker);

#endif
