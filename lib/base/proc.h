/* SPDX-License-Identifier: MIT */
/* proc.h -- what the kernel's files in /proc say of a process or thread.
 *
 * Each look opens a file for a moment.
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_PROC_H
#define CPPROF_PROC_H

#include <stdbool.h>
#include <stdint.h>

#define PROC_PATH_SIZE 40

/* The directory of the calling thread. */
#define PROC_THIS_THREAD "/proc/thread-self"

/*
 * Write the directory of a process of this PID namespace, or of a thread of this
 * process, to path, and return it.
 */
const char *proc_of_process(char path[static PROC_PATH_SIZE], uint32_t pid);
const char *proc_of_thread(char path[static PROC_PATH_SIZE], uint32_t tid);

/* Source: proc(5), /proc/pid/stat. */
struct proc_state {
	char state;		/* 'R': runs or could, 'S': waits, 'D': waits
				   whatever signals come, 'Z': has ended */
	uint64_t n_threads;
	uint64_t processor;	/* on which it ran last */
};

/* Source: Documentation/scheduler/sched-stats.rst, /proc/pid/schedstat. */
struct proc_schedule {
	uint64_t ran_ns;
	uint64_t waited_ns;	/* for a processor */
	uint64_t n_runs;	/* how often it has got one */
};

/* False: it is gone, or the kernel does not tell. */
bool proc_read_state(const char *directory, struct proc_state *state);
bool proc_read_schedule(const char *directory, struct proc_schedule *schedule);

/* How often a thread has given up its processor by itself, to wait; likewise. */
bool proc_read_waits(const char *directory, uint64_t *n);

#endif
