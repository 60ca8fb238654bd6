/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task.h -- processes and threads of this machine, as /proc shows them. */
#ifndef CPPROF_BASE_TASK_H
#define CPPROF_BASE_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
