/* SPDX-License-Identifier: MIT */
/* process.h -- facts about this process, and clocks.
 *
 * lib/run/settings.c fills the facts in when the library is loaded.  The rest
 * of the collector only reads them.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.
 */
#ifndef CPPROF_PROCESS_H
#define CPPROF_PROCESS_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define PROCESS_NAME_SIZE 16		/* of a thread's name, NUL included */
#define PROCESS_MAX_SIZE ((uint64_t)1 << 36)	/* limit of any file */

struct process_facts {
	char *arguments;		/* one after another, each with NUL */
	size_t arguments_size;
	const char *first_argument;	/* where the program has it, and may
					   overwrite it; NULL: not known */
	uint32_t n_arguments;
	bool may_speak;			/* on stderr, if it cannot sample */
	bool is_alone;			/* do not sample forked children */
	bool is_inside;			/* loaded while it ran: lib/run/inside.c */
	uint64_t max_size;		/* of the file */
	uint64_t origin_ns, origin_mono_ns;	/* when the recording began */
	uint64_t slice_ns;		/* width of the narrowest slices; 0:
					   none are kept */
	bool counts_returns;		/* wanted, and later: active */
	bool wants_kernel;		/* frames of the kernel */
	/*
	 * The functions whose calls are observed: one after another, each with
	 * NUL.
	 */
	const char *call_functions;
	unsigned n_call_functions;
	uintptr_t own_start, own_end;	/* of the file */
	const char *directory;
	const char *output;		/* directory of the files */
	const char *shared_file;	/* in it, of lib/cpprof-shared.h */
	uint32_t user;			/* effective user when it began */
	bool has_executable;		/* process_names.executable is valid */
	bool is_forked;			/* and has executed nothing since */
	bool reads_no_files;		/* the program forbade itself read, */
	bool sends_no_signals;		/* or rt_tgsigqueueinfo, */
	bool asks_no_signals;		/* or rt_sigpending or rt_sigaction, */
	bool never_waits;		/* or sched_yield or futex, */
	bool never_polls;		/* or ppoll */
};

extern struct process_facts process;

/*
 * The collector's code in a static program, which lib/make-static has given a
 * section of its own.  Elsewhere there is none: all of the library is ours.
 */
extern const char __start_cpprof_text[] __attribute__((weak));
extern const char __stop_cpprof_text[] __attribute__((weak));

static inline bool
process_is_static(void)
{
	return __start_cpprof_text != NULL;
}

/* Of this process only: zeroed in forked children (lib/base/attributes.h). */
struct process_own {
	uint32_t pid, parent_pid;
	uint64_t start_ns, start_mono_ns;	/* the same moment on two
						   clocks */
	uint64_t start_cpu_ns;		/* CPU time used before it */
	char start_name[PROCESS_NAME_SIZE];	/* of its first thread, or of
						   the one that forked it */
	bool is_given_up;		/* the process cannot be sampled */
};

extern struct process_own process_own;

/* Only needed in files; "" until process_read_names. */
struct process_names {
	char host[256];
	bool has_link;			/* `started_as` is valid */
	char executable[PATH_MAX];
	char started_as[PATH_MAX];	/* the link that leads to it */
};

extern struct process_names process_names;

/* The part of a path behind its last slash.  Async-signal-safe. */
const char *process_last_component(const char *path);

/*
 * Finds the host's and the executable's names, which only the file needs.  With
 * the file's lock held, or before the program runs.
 */
void process_read_names(void);

/*
 * What the process calls itself now, in title[size], or "": by overwriting its
 * arguments (setproctitle), or, in a forked child, by naming its first thread
 * anew.
 */
void process_read_title(char *title, size_t size);

/*
 * Fills in process_own, when sampling begins and in a forked child.
 */
void process_begin(void);

/*
 * The number of this process's PID namespace, by which processes of the same id
 * differ; 0: unknown, since there is no /proc.
 */
uint32_t process_pid_namespace(void);

/* The process's limit of a resource (RLIMIT_...).  False: it is not known. */
bool process_limit(int resource, uint64_t *limit);

/*
 * Moves a descriptor to a number higher than programs rely on, and returns it;
 * the same one if that fails.  It is closed at exec.
 */
int process_move_up(int fd);

/*
 * Whether the program has a thread sanitizer, which intercepts functions of the
 * C library and uses locks that an interrupted thread may hold.
 */
bool process_has_thread_sanitizer(void);

/* getrusage of the calling thread; likewise async-signal-safe. */
bool process_thread_usage(struct rusage *usage);

/* As clock_gettime, but async-signal-safe under a thread sanitizer, too. */
int process_read_clock(clockid_t clock, struct timespec *now);

/* The time of a clock in ns, 0 if it does not exist. */
uint64_t process_clock(clockid_t clock);

/*
 * The same by a system call.  For processes that have hardly run: the pages for
 * the C library's clocks cost more.
 */
uint64_t process_ask_clock(clockid_t clock);

/*
 * CPU time of a process of this PID namespace, or of a thread of this process;
 * 0: it is gone.
 */
uint64_t process_cpu_time_of(uint32_t pid);
uint64_t process_thread_cpu_time(uint32_t tid);

/* The calling thread's id, by a system call that no wrapper counts. */
uint32_t process_thread_id(void);

/* The calling process's; not process_own.pid in a child of a raw fork. */
uint32_t process_id(void);

/* The kernel's tick in ns. */
uint64_t process_kernel_tick(void);

/* UTC in ns since 1970. */
uint64_t process_now(void);

/* CPU time of the process since its start, in ns. */
uint64_t process_cpu_time(void);

/*
 * Sleeps briefly, so that others can run, even of lower priority.  For loops
 * that wait for a lock.  Not a cancellation point.
 */
void process_pause(void);

/*
 * A lock that handlers never take.  It is WIPED, and so free in a forked child.
 */
static inline void
process_lock(atomic_flag *lock)
{
	while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
		process_pause();
}

static inline void
process_unlock(atomic_flag *lock)
{
	atomic_flag_clear_explicit(lock, memory_order_release);
}

#define PROCESS_LONG_WAITS 10000	/* so many take one to two seconds */

#endif
