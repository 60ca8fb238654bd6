/* SPDX-License-Identifier: MIT */
/* process.h -- what is known of this process, and its clocks.
 *
 * lib/run/settings.c fills it in, from the constructor; the rest of the
 * collector only reads it.
 */
#ifndef CPPROF_PROCESS_H
#define CPPROF_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define PROCESS_MAX_SIZE ((uint64_t)1 << 36)	/* of a file, in any case */

struct process {
	char *arguments;		/* one after another, each with NUL */
	size_t arguments_size;
	uint32_t n_arguments;
	bool may_speak;			/* on stderr, when it cannot sample */
	bool is_alone;			/* forked children are not sampled */
	uint64_t max_size;		/* of the file */
	bool counts_returns;		/* wanted, and then: done */
	uintptr_t own_start, own_end;	/* where this library is mapped */
	const char *directory;
	const char *output;		/* directory for the files */
	uint32_t user;			/* effective, when it began */
	bool has_executable;		/* process_names has */
};

extern struct process process;

/* Of this process, and not of its forked children (lib/base/wiped.h). */
struct process_own {
	uint32_t pid, parent_pid;
	uint64_t start_ns, start_mono_ns;	/* of one moment, on two clocks */
	uint64_t start_cpu_ns;		/* CPU time used before it */
	bool is_given_up;		/* it cannot be sampled */
};

extern struct process_own process_own;

/* What only files tell; "" before process_read_names. */
struct process_names {
	char executable[PATH_MAX];
	char host[256];
};

extern struct process_names process_names;

/*
 * Finds out what only the file is to tell, before it is made: the executable,
 * the host.  Async-signal-safe; with the file's lock, or before the program
 * runs.
 */
void process_read_names(void);
void process_read_executable(void);

/*
 * Fills in process_own: from the constructor, and in a forked child.
 * Async-signal-safe.
 */
void process_begin(void);

/*
 * A descriptor far from those that programs count on, in place of `fd`, which
 * stays if there is none.  Closed at exec.  Async-signal-safe.
 */
int process_move_up(int fd);

/*
 * Whether the program has a thread sanitizer: its functions stand before some
 * of the C library's, with locks that an interrupted thread may hold.
 */
bool process_has_thread_sanitizer(void);

/* clock_gettime; async-signal-safe under a thread sanitizer, too. */
int process_read_clock(clockid_t clock, struct timespec *now);

/* What a clock shows in ns, 0 if there is none such.  Async-signal-safe. */
uint64_t process_clock(clockid_t clock);

/*
 * The same by a system call, where little has run yet: the C library's clocks
 * bring pages that cost more.  Async-signal-safe.
 */
uint64_t process_ask_clock(clockid_t clock);

/* What a tick of the kernel stands for, in ns.  Async-signal-safe. */
uint64_t process_kernel_tick(void);

/* UTC in ns since 1970.  Async-signal-safe. */
uint64_t process_now(void);

/* CPU time of the process since its start.  Async-signal-safe. */
uint64_t process_cpu_time(void);

/*
 * Lets others run, also those of lower priority: for who waits for a lock.
 * Async-signal-safe, and no cancellation point.
 */
void process_pause(void);

#endif
