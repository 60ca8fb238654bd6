/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task.h -- processes and threads of this machine, as /proc shows them. */
#ifndef CPPROF_BASE_TASK_H
#define CPPROF_BASE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/error.h"

struct task {
	char state;		/* proc(5): 'S' sleeps, 'Z' has ended */
	pid_t parent;		/* of its process */
	long n_threads;		/* of its process, itself included */
	uint64_t waited;	/* CPU time of the processes that its process has
				 * waited for; in ticks, as the next */
	uint64_t start;		/* in ticks of _SC_CLK_TCK, since the boot */
};

/* Reads a process or thread; false: there is none, or it cannot be read. */
bool task_read(pid_t tid, struct task *task);

/*
 * A thread of a process by which /proc shows what all its threads have in common:
 * the first, unless that has ended before others.  0: all have ended.
 */
pid_t task_of_process(pid_t pid);

/*
 * Adds to pids, which is malloc'ed with room for *capacity, the processes that
 * the threads of a process have started and that have not been waited for; none
 * if it has ended, or if /proc cannot be read.  -1 with *error set: there is no
 * memory.
 */
int task_add_children(pid_t pid, pid_t **pids, size_t *n, size_t *capacity,
                      struct error *error);

#endif
