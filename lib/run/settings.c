/* SPDX-License-Identifier: MIT */
/* settings.c -- reads environment and arguments once, before the program runs.
 */
#include "lib/run/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/cpprof-environment.h"
#include "lib/cpprofdata.h"
#include "lib/sources/resource.h"

#define MAX_ARGUMENTS_SIZE 32768	/* longer command lines are truncated */
#define MAX_VARIABLES 32
#define MAX_CALLS_SIZE 4096
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
 * The output directory, the shared file, the arguments and the working
 * directory, one after another.
 */
static char texts[2 * PATH_MAX + MAX_ARGUMENTS_SIZE + PATH_MAX]
    BIG_FROM_START;

/* The functions whose calls are observed. */
static char call_functions[MAX_CALLS_SIZE] BIG_TABLE;

/* Their names, separated by commas. */
static void
settings_read_calls(const char *names)
{
	size_t size = 0;

	process.call_functions = call_functions;
	while (*names != '\0' && size + 1 < MAX_CALLS_SIZE &&
	    process.n_call_functions < CPPROFDATA_CALL_FUNCTIONS_MAX) {
		while (*names != '\0' && *names != ',' &&
		    size + 1 < MAX_CALLS_SIZE)
			call_functions[size++] = *names++;
		call_functions[size++] = '\0';
		process.n_call_functions++;
		if (*names == ',')
			names++;
	}
}

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
	char text[4096], *at = text, *end;

	process.arguments_size = 0;
	process.n_arguments = 0;
	process.first_argument = words != NULL ? words[0] : NULL;
	for (; words != NULL && *words != NULL; words++)
		add_argument(*words, strlen(*words));
	if (process.n_arguments > 0)
		return;
	end = text + files_read_start("/proc/self/cmdline", text, sizeof text);
	for (; at < end; at += strlen(at) + 1)
		add_argument(at, strlen(at));
}

/* The start of the recording, and of this process if there is no recorder. */
static void
settings_read_times(const char *origin, const char *slice)
{
	uint64_t utc, mono;

	process.origin_ns = process_own.start_ns;
	process.origin_mono_ns = process_own.start_mono_ns;
	process.slice_ns = SLICE_NS;
	if (origin != NULL) {
		utc = files_take_number(&origin);
		mono = *origin++ == ':' ? files_take_number(&origin) : 0;
		if (utc != 0 && mono != 0 && *origin == '\0' &&
		    mono <= process_own.start_mono_ns) {
			process.origin_ns = utc;
			process.origin_mono_ns = mono;
		}
	}
	if (slice != NULL) {
		process.slice_ns = files_take_number(&slice);
		if (*slice != '\0')
			process.slice_ns = 0;
	}
}

bool
settings_have_tracer(void)
{
	char status[1024];
	const char *tracer;

	files_read_start("/proc/self/status", status, sizeof status);
	tracer = strstr(status, "\nTracerPid:\t");
	return tracer != NULL && tracer[12] >= '1' && tracer[12] <= '9';
}

/* Whether a tracer (gdb, strace) or valgrind watches the process. */
static bool
is_watched(char **environment)
{
	const char *preloaded = settings_variable(environment, "LD_PRELOAD");

	if (preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL)
		return true;
	return shared_has_tracers() && settings_have_tracer();
}

/* The arguments of settings_read, with the environment's variables picked. */
static bool
settings_read_all(char **environment, char **words, const char *output,
    const char **problem)
{
	const bool is_from_environment = output == NULL;
	const char *text;
	struct dl_find_object object;
	char *directory, *end;
	size_t size;

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
	errno = EPERM;
	if (getauxval(AT_SECURE) != 0)
		return false;
	if (is_from_environment)
		shared_begin(settings_variable(environment,
		    CPPROF_ENVIRONMENT_SHARED), output);
	errno = EBUSY;
	if (is_watched(environment)) {
		shared_count(CPPROF_SHARED_TRACED, 0);
		return false;
	}
	errno = EINVAL;
	/* The launcher has started this process, or there is no launcher. */
	text = settings_variable(environment, CPPROF_ENVIRONMENT_LAUNCHER);
	process.may_speak = text == NULL ||
	    files_take_number(&text) == process_own.parent_pid;
	process.is_alone = settings_variable(environment,
	    CPPROF_ENVIRONMENT_ALONE) != NULL;
	if (process.is_inside)
		process.may_speak = false;
	else if (!process.may_speak && process.is_alone)
		return false;
	*problem = CPPROF_ENVIRONMENT_OUTPUT " is not a usable absolute path";
	size = strlen(output) + 1;
	if (*output != '/' || size > PATH_MAX - 64)
		return false;
	if (process_is_static()) {
		process.own_start = (uintptr_t)__start_cpprof_text;
		process.own_end = (uintptr_t)__stop_cpprof_text;
	} else if (_dl_find_object((void *)&process, &object) == 0) {
		process.own_start = (uintptr_t)object.dlfo_map_start;
		process.own_end = (uintptr_t)object.dlfo_map_end;
	}
	if (!resources_choose(settings_variable(environment,
	    CPPROF_ENVIRONMENT_RESOURCES), settings_variable(environment,
	    CPPROF_ENVIRONMENT_RANDOM) != NULL, problem)) {
		errno = EINVAL;
		return false;
	}
	process.counts_returns = settings_variable(environment,
	    CPPROF_ENVIRONMENT_RETURNS) != NULL;
	text = settings_variable(environment, CPPROF_ENVIRONMENT_CALLS);
	if (text != NULL)
		settings_read_calls(text);
	process.wants_kernel = settings_variable(environment,
	    CPPROF_ENVIRONMENT_KERNEL) != NULL;
	settings_read_times(settings_variable(environment,
	    CPPROF_ENVIRONMENT_ORIGIN), settings_variable(environment,
	    CPPROF_ENVIRONMENT_SLICE));
	process.max_size = PROCESS_MAX_SIZE;
	text = settings_variable(environment, CPPROF_ENVIRONMENT_MAX_SIZE);
	if (text != NULL) {
		const uint64_t given = strtoull(text, &end, 10);

		if (given < PROCESS_MAX_SIZE)
			process.max_size = given;
		*problem = CPPROF_ENVIRONMENT_MAX_SIZE
		    " is not a usable number of bytes";
		errno = EINVAL;
		if (*text < '0' || *text > '9' || *end != '\0')
			return false;
	}
	own_resources_add(is_from_environment && own_resources_are_likely());
	resources_describe();
	/* Copies of what will change later. */
	process.output = memcpy(texts, output, size);
	process.shared_file = texts + size;
	process.arguments = stpcpy(stpcpy(texts + size, output),
	    "/" CPPROF_SHARED_FILE) + 1;
	settings_read_arguments(words);
	directory = process.arguments + process.arguments_size;
	process.directory = directory;
	if (arch_system_call(SYS_getcwd, (long)directory, PATH_MAX, 0, 0) <= 0)
		process.directory = "";
	*problem = NULL;
	errno = 0;
	return true;
}

bool
settings_read(char **environment, char **words, const char *output,
    const char **problem)
{
	char *picked[MAX_VARIABLES], **at;
	size_t n = 0;

	/*
	 * Pick the variables that concern the collector, so that a long
	 * environment is searched only once.  If there are too many, search it
	 * all.
	 */
	for (at = environment; *at != NULL && n < MAX_VARIABLES; at++)
		if (settings_begins(*at, CPPROF_ENVIRONMENT_PREFIX) ||
		    settings_begins(*at, "LD_PRELOAD="))
			picked[n++] = *at;
	if (n < MAX_VARIABLES) {
		picked[n] = NULL;
		environment = picked;
	}
	*problem = NULL;
	return settings_read_all(environment, words, output, problem);
}
