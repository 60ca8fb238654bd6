/* SPDX-License-Identifier: MIT */
/* settings.c -- reads environment and arguments once, before the program runs.
 */
#include "lib/run/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/big.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/cpprof-environment.h"
#include "lib/sources/resource.h"

#define MAX_ARGUMENTS_SIZE 32768	/* longer command lines are truncated */
#define MAX_VARIABLES 32
#define SLICE_NS 15625000		/* 1/64 s */

static bool
settings_begins(const char *text, const char *start)
{
	while (*start != '\0' && *text == *start)
		text++, start++;
	return *start == '\0';
}

const char *
settings_variable(char **environment, const char *name)
{
	const size_t size = strlen(name);

	for (; *environment != NULL; environment++)
		if (settings_begins(*environment, name) &&
		    (*environment)[size] == '=')
			return *environment + size + 1;
	return NULL;
}

/*
 * Picks the variables that concern the collector, so that a long environment is
 * searched only once.  If there are too many, returns the whole environment.
 */
static char **
pick_variables(char **environment, char *picked[MAX_VARIABLES])
{
	size_t n = 0;
	char **at;

	for (at = environment; *at != NULL; at++) {
		if (!settings_begins(*at, CPPROF_ENVIRONMENT_PREFIX) &&
		    !settings_begins(*at, "LD_PRELOAD="))
			continue;
		if (n == MAX_VARIABLES - 1)
			return environment;
		picked[n++] = *at;
	}
	picked[n] = NULL;
	return picked;
}

/*
 * Reads a file in /proc as far as it fits, "" if that fails; *end is its end.
 */
static void
settings_read_file(const char *path, char *text, size_t size, char **end)
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
	const char *preloaded = settings_variable(environment, "LD_PRELOAD");
	char status[1024], *end;
	const char *tracer;

	if (preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL)
		return true;
	if (!shared_has_tracers())
		return false;
	settings_read_file("/proc/self/status", status, sizeof status, &end);
	tracer = strstr(status, "\nTracerPid:\t");
	return tracer != NULL && tracer[12] >= '1' && tracer[12] <= '9';
}

/*
 * Whether the launcher has started this process, or there is no launcher.  Not
 * with strtoul, which would touch two pages of the C library.
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

/* Reads a decimal number up to `end`; 0: there is none. */
static uint64_t
settings_read_time(const char *text, char end, const char **rest)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	*rest = text + 1;
	return *text == end ? number : 0;
}

/* The start of the recording, and of this process if there is no recorder. */
static void
settings_read_times(const char *origin, const char *slice)
{
	const char *rest;

	process.origin_ns = process_own.start_ns;
	process.origin_mono_ns = process_own.start_mono_ns;
	process.slice_ns = SLICE_NS;
	if (origin != NULL) {
		const uint64_t utc = settings_read_time(origin, ':', &rest);
		const uint64_t mono = utc != 0 ?
		    settings_read_time(rest, '\0', &rest) :
		    0;

		if (mono != 0 && mono <= process_own.start_mono_ns) {
			process.origin_ns = utc;
			process.origin_mono_ns = mono;
		}
	}
	if (slice != NULL)
		process.slice_ns = settings_read_time(slice, '\0', &rest);
}

/*
 * The output directory, the shared file, the arguments and the working
 * directory, one after another.
 */
static char texts[2 * PATH_MAX + MAX_ARGUMENTS_SIZE + PATH_MAX]
    BIG_FROM_START;

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
 * The command line: the words of main, before the program can change them, or
 * else from the kernel.
 */
static void
settings_read_arguments(char **words)
{
	char text[4096], *at, *end;

	process.arguments_size = 0;
	process.n_arguments = 0;
	process.first_argument = words != NULL ? words[0] : NULL;
	for (; words != NULL && *words != NULL; words++)
		add_argument(*words, strlen(*words));
	if (process.n_arguments > 0)
		return;
	settings_read_file("/proc/self/cmdline", text, sizeof text, &end);
	for (at = text; at < end; at += strlen(at) + 1)
		add_argument(at, strlen(at));
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

/* Reads all settings except the output directory.  False with errno EINVAL. */
static bool
read_settings(char **environment, const char **problem)
{
	const bool is_random = settings_variable(environment,
	    CPPROF_ENVIRONMENT_RANDOM) != NULL;
	const bool are_chosen = resources_choose(settings_variable(environment,
	    CPPROF_ENVIRONMENT_RESOURCES), is_random, problem);

	errno = EINVAL;
	if (!are_chosen)
		return false;
	process.counts_returns = settings_variable(environment,
	    CPPROF_ENVIRONMENT_RETURNS) != NULL;
	settings_read_times(settings_variable(environment,
	                                      CPPROF_ENVIRONMENT_ORIGIN),
	                    settings_variable(environment,
	                                      CPPROF_ENVIRONMENT_SLICE));
	*problem = CPPROF_ENVIRONMENT_MAX_SIZE
	    " is not a usable number of bytes";
	return read_size(settings_variable(environment,
	    CPPROF_ENVIRONMENT_MAX_SIZE));
}

/* Whether to sample, and whether messages may be written. */
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
	process.may_speak = is_launched(settings_variable(environment,
	    CPPROF_ENVIRONMENT_LAUNCHER));
	process.is_alone = settings_variable(environment,
	    CPPROF_ENVIRONMENT_ALONE) != NULL;
	return process.may_speak || !process.is_alone;
}

/* Reads what will change later. */
static void
read_facts(char **words, const char *output)
{
	static const char file[] = "/" CPPROF_SHARED_FILE;
	const size_t size = strlen(output) + 1;
	char *shared_file = texts + size, *directory;

	process.output = memcpy(texts, output, size);
	process.shared_file = memcpy(shared_file, output, size);
	memcpy(shared_file + size - 1, file, sizeof file);
	process.arguments = shared_file + size - 1 + sizeof file;
	settings_read_arguments(words);
	directory = process.arguments + process.arguments_size;
	process.directory = directory;
	if (arch_system_call(SYS_getcwd, (long)directory, PATH_MAX, 0,
	    0) <= 0)
		process.directory = "";
}

bool
settings_read(char **environment, char **words, const char *output,
    const char **problem)
{
	const bool is_from_environment = output == NULL;
	char *picked[MAX_VARIABLES];

	*problem = NULL;
	environment = pick_variables(environment, picked);
	/*
	 * The first access to this page is a write, which costs only one page
	 * fault.
	 */
	process.user = (uint32_t)getauxval(AT_EUID);
	if (output == NULL)
		output = settings_variable(environment,
		    CPPROF_ENVIRONMENT_OUTPUT);
	if (output == NULL || *output == '\0')
		return false;
	process_begin();
	if (is_from_environment && getauxval(AT_SECURE) == 0)
		shared_begin(settings_variable(environment,
		    CPPROF_ENVIRONMENT_SHARED), output);
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
	resources_describe();
	read_facts(words, output);
	errno = 0;
	return true;
}
