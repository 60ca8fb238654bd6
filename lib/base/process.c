/* SPDX-License-Identifier: MIT */
/* process.c -- reads environment and words once, before the program runs. */
#include "lib/base/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/big.h"
#include "lib/base/files.h"
#include "lib/base/shared.h"
#include "lib/base/wiped.h"
#include "lib/cpprof-environment.h"
#include "lib/run/own-resource.h"
#include "lib/sources/resource.h"

#define MAX_ARGUMENTS_SIZE 32768	/* a longer command line is cut */
#define MAX_VARIABLES 32

struct process process;
struct process_own process_own WIPED;
struct process_names process_names BIG_TABLE;

void __tsan_init(void) __attribute__((weak));

bool
process_has_thread_sanitizer(void)
{
	return __builtin_expect(__tsan_init != NULL, 0);
}

int
process_read_clock(clockid_t clock, struct timespec *now)
{
	/* Those of CPU time only the kernel knows. */
	if (clock != CLOCK_PROCESS_CPUTIME_ID &&
	    clock != CLOCK_THREAD_CPUTIME_ID &&
	    !process_has_thread_sanitizer())
		return clock_gettime(clock, now);
	return (int)files_result(arch_system_call(SYS_clock_gettime, clock,
	    (long)now, 0, 0));
}

static uint64_t
to_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

uint64_t
process_ask_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	arch_system_call(SYS_clock_gettime, clock, (long)&now, 0, 0);
	return to_ns(&now);
}

uint64_t
process_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	process_read_clock(clock, &now);
	return to_ns(&now);
}

uint64_t
process_kernel_tick(void)
{
	static _Atomic uint64_t tick_ns;
	uint64_t ns = atomic_load_explicit(&tick_ns, memory_order_relaxed);
	struct timespec tick = { 0 };

	if (ns != 0)
		return ns;
	arch_system_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE,
	    (long)&tick, 0, 0);
	ns = tick.tv_nsec > 0 ? (uint64_t)tick.tv_nsec : 1;
	atomic_store_explicit(&tick_ns, ns, memory_order_relaxed);
	return ns;
}

uint64_t
process_now(void)
{
	return process_clock(CLOCK_REALTIME);
}

uint64_t
process_cpu_time(void)
{
	return process_clock(CLOCK_PROCESS_CPUTIME_ID) -
	    process_own.start_cpu_ns;
}

void
process_pause(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };

	syscall(SYS_nanosleep, &pause, NULL);
}

int
process_move_up(int fd)
{
	struct rlimit limit;
	int lowest, moved = -1;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		limit.rlim_cur = 256;
	lowest = limit.rlim_cur > 1100 ? 1000 : (int)limit.rlim_cur * 3 / 4;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	if (moved < 0)
		return fd;
	files_close(fd);
	return moved;
}

void
process_begin(void)
{
	process_own.pid = (uint32_t)arch_system_call(SYS_getpid, 0, 0, 0, 0);
	process_own.parent_pid = (uint32_t)arch_system_call(SYS_getppid, 0, 0,
	    0, 0);
	process_own.start_ns = process_ask_clock(CLOCK_REALTIME);
	process_own.start_mono_ns = process_ask_clock(CLOCK_MONOTONIC);
	process_own.start_cpu_ns = process_clock(CLOCK_PROCESS_CPUTIME_ID);
	process_own.is_given_up = false;
}

void
process_give_up(enum cpprof_shared_reason reason, int error)
{
	if (!process_own.is_given_up)
		shared_count(reason, error);
	process_own.is_given_up = true;
}

static bool
begins(const char *text, const char *start)
{
	while (*start != '\0' && *text == *start)
		text++, start++;
	return *start == '\0';
}

const char *
process_variable(char **environment, const char *name)
{
	const size_t size = strlen(name);

	for (; *environment != NULL; environment++)
		if (begins(*environment, name) && (*environment)[size] == '=')
			return *environment + size + 1;
	return NULL;
}

/*
 * The variables that say anything to us, so that a long environment is gone
 * through once; if they are too many, all.
 */
static char **
pick_variables(char **environment, char *picked[MAX_VARIABLES])
{
	size_t n = 0;
	char **at;

	for (at = environment; *at != NULL; at++) {
		if (!begins(*at, CPPROF_ENVIRONMENT_PREFIX) &&
		    !begins(*at, "LD_PRELOAD="))
			continue;
		if (n == MAX_VARIABLES - 1)
			return environment;
		picked[n++] = *at;
	}
	picked[n] = NULL;
	return picked;
}

/*
 * The text of a file in /proc, as far as it fits, "" if there is none; and its
 * end.
 */
static void
read_file(const char *path, char *text, size_t size, char **end)
{
	int fd = files_open(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = 0;

	if (fd >= 0) {
		n = files_read(fd, text, size - 1);
		files_close(fd);
	}
	*end = text + (n > 0 ? n : 0);
	**end = '\0';
}

/* Whether a tracer (gdb, strace) or valgrind watches the process. */
static bool
is_watched(char **environment)
{
	const char *preloaded = process_variable(environment, "LD_PRELOAD");
	char status[1024], *end;
	const char *tracer;

	if (preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL)
		return true;
	if (!shared_has_tracers())
		return false;
	read_file("/proc/self/status", status, sizeof status, &end);
	tracer = strstr(status, "\nTracerPid:\t");
	return tracer != NULL && tracer[12] >= '1' && tracer[12] <= '9';
}

/*
 * Whether the launcher has started this process, or nobody has.  (strtoul would
 * touch two pages of the C library.)
 */
static bool
is_launched(const char *launcher)
{
	unsigned long number = 0;

	if (launcher == NULL)
		return true;
	for (; *launcher >= '0' && *launcher <= '9'; launcher++)
		number = number * 10 + (unsigned long)(*launcher - '0');
	return number == process_own.parent_pid;
}

static bool
read_size(const char *text)
{
	char *end;

	process.max_size = PROCESS_MAX_SIZE;
	if (text == NULL)
		return true;
	process.max_size = strtoull(text, &end, 10);
	if (process.max_size > PROCESS_MAX_SIZE)
		process.max_size = PROCESS_MAX_SIZE;
	return *text >= '0' && *text <= '9' && *end == '\0';
}

/* Where to, the arguments, and the working directory, one after another. */
static char texts[PATH_MAX + MAX_ARGUMENTS_SIZE + PATH_MAX] BIG_TABLE;

static void
add_argument(const char *word, size_t size)
{
	char *const arguments = process.arguments;
	const size_t room = MAX_ARGUMENTS_SIZE - process.arguments_size;

	if (room == 0)
		return;
	if (size >= room)
		size = room - 1;
	memcpy(arguments + process.arguments_size, word, size);
	arguments[process.arguments_size + size] = '\0';
	process.arguments_size += size + 1;
	process.n_arguments++;
}

/*
 * The command line: the words before the program can change them, or else as
 * the kernel has it.
 */
static void
read_arguments(char **words)
{
	char text[4096], *at, *end;

	process.arguments_size = 0;
	process.n_arguments = 0;
	for (; words != NULL && *words != NULL; words++)
		add_argument(*words, strlen(*words));
	if (process.n_arguments > 0)
		return;
	read_file("/proc/self/cmdline", text, sizeof text, &end);
	for (at = text; at < end; at += strlen(at) + 1)
		add_argument(at, strlen(at));
}

void
process_read_executable(void)
{
	long n;

	/* Known by a variable that is there anyway. */
	if (process.has_executable)
		return;
	n = arch_system_call(SYS_readlink, (long)"/proc/self/exe",
	    (long)process_names.executable,
	    sizeof process_names.executable - 1, 0);
	process_names.executable[n > 0 ? n : 0] = '\0';
	process.has_executable = n > 0;
}

static void
find_own_mapping(void)
{
	struct dl_find_object object;

	if (_dl_find_object((void *)&process, &object) != 0)
		return;
	process.own_start = (uintptr_t)object.dlfo_map_start;
	process.own_end = (uintptr_t)object.dlfo_map_end;
}

/* What the environment asks for, but where to.  False with errno EINVAL. */
static bool
read_settings(char **environment, const char **problem)
{
	const bool is_random = process_variable(environment,
	    CPPROF_ENVIRONMENT_RANDOM) != NULL;
	const bool are_chosen = resources_choose(process_variable(environment,
	    CPPROF_ENVIRONMENT_RESOURCES), is_random, problem);

	errno = EINVAL;
	if (!are_chosen)
		return false;
	process.counts_returns = process_variable(environment,
	    CPPROF_ENVIRONMENT_RETURNS) != NULL;
	*problem = CPPROF_ENVIRONMENT_MAX_SIZE
	    " is not a usable number of bytes";
	return read_size(process_variable(environment,
	    CPPROF_ENVIRONMENT_MAX_SIZE));
}

/* Whether to sample at all, and what may be said of it. */
static bool
is_to_sample(char **environment)
{
	errno = EPERM;
	if (getauxval(AT_SECURE) != 0)
		return false;
	errno = EBUSY;
	if (is_watched(environment)) {
		shared_count(CPPROF_SHARED_TRACED, 0);
		return false;
	}
	errno = EINVAL;
	process.may_speak = is_launched(process_variable(environment,
	    CPPROF_ENVIRONMENT_LAUNCHER));
	process.is_alone = process_variable(environment,
	    CPPROF_ENVIRONMENT_ALONE) != NULL;
	return process.may_speak || !process.is_alone;
}

/* What will be other facts later. */
static void
read_facts(char **words, const char *output)
{
	const size_t size = strlen(output) + 1;
	char *directory;

	process.output = memcpy(texts, output, size);
	process.arguments = texts + size;
	read_arguments(words);
	directory = process.arguments + process.arguments_size;
	process.directory = directory;
	if (arch_system_call(SYS_getcwd, (long)directory, PATH_MAX, 0,
	    0) <= 0)
		process.directory = "";
}

void
process_read_names(void)
{
	struct utsname names;

	process_read_executable();
	if (process_names.host[0] == '\0' && uname(&names) == 0)
		strncpy(process_names.host, names.nodename,
		    sizeof process_names.host - 1);
}

bool
process_init(char **environment, char **words, const char *output,
    const char **problem)
{
	const bool is_from_environment = output == NULL;
	char *picked[MAX_VARIABLES];

	*problem = NULL;
	environment = pick_variables(environment, picked);
	/* Written before it is read, its page comes only once. */
	process.user = (uint32_t)getauxval(AT_EUID);
	if (output == NULL)
		output = process_variable(environment,
		    CPPROF_ENVIRONMENT_OUTPUT);
	if (output == NULL || *output == '\0')
		return false;
	process_begin();
	if (is_from_environment && getauxval(AT_SECURE) == 0)
		shared_begin(process_variable(environment,
		    CPPROF_ENVIRONMENT_SHARED));
	if (!is_to_sample(environment))
		return false;
	if (*output != '/' || strlen(output) >= PATH_MAX - 64) {
		*problem = CPPROF_ENVIRONMENT_OUTPUT
		    " is not a usable absolute path";
		return false;
	}
	find_own_mapping();
	if (!read_settings(environment, problem))
		return false;
	own_resources_add(is_from_environment && own_resources_are_likely());
	read_facts(words, output);
	errno = 0;
	return true;
}
