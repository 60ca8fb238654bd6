/* SPDX-License-Identifier: MIT */
/* cpprof-shared.h -- what the processes of a recording have in common.
 *
 * `cpprof record` makes it in memory (a sealed memfd, so that nobody can cut
 * it short) and names it in the environment; each process that is sampled maps
 * it.  It serves the recording while it lasts and is in no file: what is
 * counted here tells `record` how much of the CPU time of all descendants was
 * sampled, and where not, why.  Anybody who was recorded can write anything
 * into it: nothing in it is an address, a size or an index to who reads it.
 */
#ifndef CPPROF_SHARED_H
#define CPPROF_SHARED_H

#include <stdint.h>

#define CPPROF_SHARED_MAGIC 0x31687363u		/* "csh1" */
#define CPPROF_SHARED_SIZE 16384
#define CPPROF_SHARED_KINDS 320
#define CPPROF_SHARED_EXECS 512

/* What processes of one kind leave to each other. */
enum cpprof_shared_time {
	CPPROF_SHARED_CPU,
	CPPROF_SHARED_REAL,
	CPPROF_SHARED_N_TIMES
};

/* Why a program's CPU time is not sampled. */
enum cpprof_shared_reason {
	CPPROF_SHARED_TRACED,		/* by a debugger, strace, valgrind */
	CPPROF_SHARED_NO_FILE,		/* could be made */
	CPPROF_SHARED_NO_TIMER,
	CPPROF_SHARED_CONFINED,		/* the program forbade itself what
					   sampling needs */
	CPPROF_SHARED_NO_PRELOAD,	/* executed with an environment that
					   does not load the collector */
	CPPROF_SHARED_STATIC,		/* executed, and links statically */
	CPPROF_SHARED_PRIVILEGED,	/* executed, with rights of its own */
	CPPROF_SHARED_OTHER_USER,	/* executed by one who has become
					   another user */
	CPPROF_SHARED_N_REASONS
};

#define CPPROF_SHARED_MAX_REASONS 16

struct cpprof_shared {
	uint32_t magic;
	uint32_t reserved0;
	uint64_t n_images;	/* processes that began, and programs they
				   executed */
	uint64_t cpu_ns;	/* CPU time of those that sampled it */
	uint64_t before_ns;	/* of it, before the collector was loaded */
	uint64_t n_reasons[CPPROF_SHARED_MAX_REASONS];
	uint64_t error;		/* errno */
	uint64_t n_rings;	/* processes with I/O by io_uring, where I/O is
				   counted */
	uint64_t n_tracers;	/* processes that may trace others; more, if
				   it is not known */
	uint64_t n_recorded;	/* files made, and records in the brief one */
	/*
	 * Time of processes of one kind that no sample stands for yet; less than
	 * nothing where samples stand for more.
	 */
	struct {
		uint64_t kind;
		int64_t unsampled_ns[CPPROF_SHARED_N_TIMES];
	} kinds[CPPROF_SHARED_KINDS];
	/* CPU time of a process when it executed another program. */
	struct {
		uint64_t pid;
		uint64_t cpu_ns;
	} execs[CPPROF_SHARED_EXECS];
};

_Static_assert(sizeof(struct cpprof_shared) <= CPPROF_SHARED_SIZE, "size");

#endif
