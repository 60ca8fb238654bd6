/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_tasks.h -- the processes and threads that perf watched.
 *
 * They are entered into the profile when they have their first sample, and
 * anew when they change their name: what runs then is another program.
 */
#ifndef CPPROF_FORMATS_PERF_TASKS_H
#define CPPROF_FORMATS_PERF_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/id_table.h"
#include "src/formats/perf/perf_space.h"
#include "src/profile/profile.h"

struct perf_process {
	struct perf_space *space;	/* NULL: nothing is known of it */
	uint32_t pid, parent;
	uint32_t number;	/* in the profile, UINT32_MAX: not yet */
};

/* Start with { .profile }. */
struct perf_tasks {
	struct profile *profile;
	struct id_table pids, tids;	/* numbers index: */
	struct perf_process *processes;
	struct perf_task *tasks;
	size_t n_processes, n_tasks, processes_capacity, tasks_capacity;
};

/* The spaces are their users' to let go. */
void perf_tasks_free(struct perf_tasks *tasks);

/* The process of a pid, good until the next call; NULL with *error set. */
struct perf_process *perf_tasks_process(struct perf_tasks *tasks,
                                        uint32_t pid, struct error *error);

/*
 * The thread of the profile that a sample is of, under the name that it has by
 * now; entered if new.  UINT32_MAX with *error set.
 */
uint32_t perf_tasks_thread(struct perf_tasks *tasks, uint32_t pid,
                           uint32_t tid, struct error *error);

/* A thread's name from now on; 0 or -1. */
int perf_tasks_rename(struct perf_tasks *tasks, uint32_t pid, uint32_t tid,
                      const char *name, struct error *error);

/* A thread begins, with the name of the one that made it; 0 or -1. */
int perf_tasks_fork(struct perf_tasks *tasks, uint32_t pid, uint32_t tid,
                    uint32_t parent_pid, uint32_t parent_tid,
                    struct error *error);

#endif
