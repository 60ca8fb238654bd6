/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attach_inside.c -- samples processes that run already, by the collector, which
 * is loaded into them on request (src/inject/inject.h).
 */
#include "src/shell/record/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cpprof-environment.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/inject/inject.h"
#include "src/shell/terminal/terminal.h"

/*
 * Resources that need no functions in front of the C library's, and that a
 * thread need not run to stop counting.
 */
static const char *const resources_inside[] = {
	"cpu", "user", "system", "page-faults", "major-faults", "minor-faults",
	"context-switches", "cycles", "instructions", "cache-misses",
	"branch-misses",	/* the collector refuses these itself */
};

const char *
attach_inside_refusal(const struct resource_kind *kind)
{
	for (size_t i = 0;
	     i < sizeof resources_inside / sizeof *resources_inside; i++)
		if (strcmp(resources_inside[i], kind->name) == 0)
			return NULL;
	if (strcmp(kind->name, "syscalls") == 0 ||
	    strcmp(kind->name, "fp-exceptions") == 0)
		return "a thread that sleeps could not be made to stop "
		    "counting";
	return "calls of the C library are counted only in a program that "
	    "record starts";
}

int
attach_inside_check(const struct attach *attach,
                    const struct record_options *options, struct error *error)
{
	for (size_t i = 0; i < options->n_resources; i++) {
		const struct resource_kind *kind = options->resources[i].kind;
		const char *why = attach_inside_refusal(kind);

		if (why != NULL)
			return error_set(error, "-r %s cannot be sampled with "
			                 "--inside: %s; see record --list -p "
			                 "PID --inside", kind->name, why);
	}
	for (size_t i = 0; i < attach->n; i++) {
		const pid_t pid = attach->pids[i];

		if (sample_held_is_elsewhere((uint32_t)pid))
			return error_set(error, "process %ld is in another "
			                 "mount namespace or root directory, "
			                 "where it cannot see the collector: "
			                 "run cpprof there, or without "
			                 "--inside", (long)pid);
		if (inject_check(pid, error) != 0)
			return -1;
	}
	return 0;
}

/* Adds a variable of lib/cpprof-environment.h. */
static void
attach_add_setting(struct text_buffer *settings, const char *name,
                   const char *value)
{
	text_add_format(settings, "%s=%s", name, value);
	text_add(settings, "", 1);
}

static void
attach_add_settings(struct text_buffer *settings,
                    const struct record_options *options,
                    const struct recording *recording,
                    const struct sampled_time *time)
{
	const struct sample_recording files = attach_recording(options,
	                                                       recording);
	struct text_buffer resources = { 0 };
	char number[64];

	record_options_add_resources(options, &resources);
	attach_add_setting(settings, CPPROF_ENVIRONMENT_OUTPUT,
	                   recording->path);
	attach_add_setting(settings, CPPROF_ENVIRONMENT_RESOURCES,
	                   text_string(&resources));
	text_free(&resources);
	snprintf(number, sizeof number, "%" PRIu64 ":%" PRIu64,
	         files.origin_ns, files.origin_mono_ns);
	attach_add_setting(settings, CPPROF_ENVIRONMENT_ORIGIN, number);
	if (options->max_size != 0) {
		snprintf(number, sizeof number, "%" PRIu64, options->max_size);
		attach_add_setting(settings, CPPROF_ENVIRONMENT_MAX_SIZE,
		                   number);
	}
	if (options->is_alone)
		attach_add_setting(settings, CPPROF_ENVIRONMENT_ALONE, "1");
	if (options->is_random)
		attach_add_setting(settings, CPPROF_ENVIRONMENT_RANDOM, "1");
	if (options->counts_returns)
		attach_add_setting(settings, CPPROF_ENVIRONMENT_RETURNS, "1");
	if (*time->name != '\0')
		attach_add_setting(settings, CPPROF_ENVIRONMENT_SHARED,
		                   time->name);
	text_add(settings, "", 1);
}

static uint64_t
attach_inside_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Waits until all processes have ended, the time is over, or Ctrl-C. */
static void
attach_inside_wait(const struct inject_target *targets, size_t n,
                   uint64_t duration_ns)
{
	const uint64_t since_ns = attach_inside_now();
	const struct timespec pause = { .tv_nsec = 20000000 };
	bool some = true;

	while (some && !interrupt_requested && (duration_ns == 0 ||
	       attach_inside_now() - since_ns < duration_ns)) {
		nanosleep(&pause, NULL);
		some = false;
		for (size_t i = 0; !some && i < n; i++)
			some = inject_goes_on(&targets[i]);
	}
}

int
attach_inside_run(const struct attach *attach,
                  const struct record_options *options,
                  const struct recording *recording,
                  const struct sampled_time *time, const char *library,
                  struct error *error)
{
	struct inject_target *targets = memory_array(attach->n, sizeof *targets,
	                                             error);
	struct text_buffer settings = { 0 };
	struct attach_signals signals;
	int result = targets != NULL ? 0 : -1;
	size_t n = 0;

	attach_add_settings(&settings, options, recording, time);
	attach_catch_signals(&signals);
	while (result == 0 && n < attach->n && !interrupt_requested) {
		result = inject_begin(&targets[n], attach->pids[n], library,
		                      text_string(&settings),
		                      settings.length, error);
		n += result == 0;
	}
	if (result == 0)
		attach_inside_wait(targets, n, options->duration_ns);
	for (size_t i = 0; i < n; i++)
		inject_end(&targets[i]);
	attach_restore_signals(&signals);
	text_free(&settings);
	free(targets);
	return result;
}
