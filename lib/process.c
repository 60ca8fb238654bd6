/* SPDX-License-Identifier: MIT */
/* process.c -- reads environment and /proc once, before the program runs. */
#include "lib/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"
#include "lib/files.h"
#include "lib/own-resource.h"
#include "lib/resource.h"

#define MAX_ARGUMENTS_SIZE 32768	/* a longer command line is cut */

struct process process;

uint64_t
process_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
process_now(void)
{
	return process_clock(CLOCK_REALTIME);
}

uint64_t
process_cpu_time(void)
{
	return process_clock(CLOCK_PROCESS_CPUTIME_ID) - process.start_cpu_ns;
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
process_forked(void)
{
	process.pid = (uint32_t)getpid();
	process.parent_pid = (uint32_t)getppid();
	process.start_ns = process_now();
	process.start_mono_ns = process_clock(CLOCK_MONOTONIC);
	process.start_cpu_ns = 0;
	process.start_cpu_ns = process_cpu_time();
}

const char *
process_variable(char **environment, const char *name)
{
	const size_t size = strlen(name);

	for (; *environment != NULL; environment++)
		if (strncmp(*environment, name, size) == 0 &&
		    (*environment)[size] == '=')
			return *environment + size + 1;
	return NULL;
}

/* The text of a file in /proc, as far as it fits; "" if there is none. */
static void
read_file(const char *path, char *text, size_t size)
{
	int fd = files_open(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = 0;

	if (fd >= 0) {
		n = files_read(fd, text, size - 1);
		files_close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

/* Whether a tracer (gdb, strace) or valgrind watches the process. */
static bool
is_watched(char **environment)
{
	const char *preloaded = process_variable(environment, "LD_PRELOAD");
	char status[1024];
	const char *tracer;

	if (preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL)
		return true;
	read_file("/proc/self/status", status, sizeof status);
	tracer = strstr(status, "\nTracerPid:\t");
	return tracer != NULL && tracer[12] >= '1' && tracer[12] <= '9';
}

/* Whether the launcher has started this process, or nobody has. */
static bool
is_launched(const char *launcher)
{
	return launcher == NULL ||
	    strtoul(launcher, NULL, 10) == (unsigned long)getppid();
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

/*
 * The command line, as the kernel has it, into memory of its own; once more
 * where a first attempt to begin has failed.
 */
static void
read_arguments(void)
{
	int fd = files_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	size_t size = 0, i;
	ssize_t n;

	if (fd < 0)
		return;
	if (process.arguments == NULL) {
		void *memory = mmap(NULL, MAX_ARGUMENTS_SIZE, PROT_READ |
		    PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		process.arguments = memory != MAP_FAILED ? memory : NULL;
	}
	while (process.arguments != NULL && (n = files_read(fd,
	    process.arguments + size, MAX_ARGUMENTS_SIZE - 1 - size)) > 0)
		size += (size_t)n;
	files_close(fd);
	if (size > 0 && process.arguments[size - 1] != '\0')
		process.arguments[size++] = '\0';
	process.arguments_size = size;
	process.n_arguments = 0;
	for (i = 0; i < size; i++)
		process.n_arguments += process.arguments[i] == '\0';
}

static void
read_executable(void)
{
	ssize_t n = readlink("/proc/self/exe", process.executable,
	    sizeof process.executable - 1);

	process.executable[n > 0 ? n : 0] = '\0';
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
	if (is_watched(environment))
		return false;
	errno = EINVAL;
	process.may_speak = is_launched(process_variable(environment,
	    CPPROF_ENVIRONMENT_LAUNCHER));
	process.is_alone = process_variable(environment,
	    CPPROF_ENVIRONMENT_ALONE) != NULL;
	return process.may_speak || !process.is_alone;
}

static void
read_facts(void)
{
	process_forked();
	read_arguments();
	read_executable();
	if (gethostname(process.host, sizeof process.host - 1) != 0)
		process.host[0] = '\0';
	if (getcwd(process.directory, sizeof process.directory) == NULL)
		process.directory[0] = '\0';
}

bool
process_init(char **environment, const char *output, const char **problem)
{
	const bool is_from_environment = output == NULL;

	*problem = NULL;
	if (output == NULL)
		output = process_variable(environment,
		    CPPROF_ENVIRONMENT_OUTPUT);
	if (output == NULL || *output == '\0' || !is_to_sample(environment))
		return false;
	if (*output != '/' || strlen(output) >= sizeof process.output - 64) {
		*problem = CPPROF_ENVIRONMENT_OUTPUT
		    " is not a usable absolute path";
		return false;
	}
	find_own_mapping();
	if (!read_settings(environment, problem))
		return false;
	own_resources_add(is_from_environment && own_resources_are_likely());
	strcpy(process.output, output);
	read_facts();
	errno = 0;
	return true;
}
