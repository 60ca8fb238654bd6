/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attach_inside.c -- samples processes that run already, by the collector, which
 * is loaded into them on request (src/inject/inject.h).
 */
#include "src/shell/record/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/cpprof-environment.h"
#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/inject/inject.h"
#include "src/shell/terminal/terminal.h"

int
attach_inside_check(const struct attach *attach,
                    const struct record_options *options, struct error *error)
{
	for (size_t i = 0; i < options->n_resources; i++) {
		const struct count_kind *kind = options->resources[i].kind;
		const char *why = kind->not_inside;

		if (why != NULL)
			return error_set(error, "-r %s cannot be sampled with "
			                 "--inside: %s; see record --list -p "
			                 "PID --inside", kind->name, why);
	}
	for (size_t i = 0; i < attach->n; i++)
		if (inject_check(attach->pids[i], error) != 0)
			return -1;
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
                    const struct recording *recording, const char *output,
                    const struct sampled_time *time)
{
	const struct sample_recording files = attach_recording(options,
	                                                       recording);
	struct text_buffer resources = { 0 };
	char number[64];

	record_options_add_resources(options, &resources);
	attach_add_setting(settings, CPPROF_ENVIRONMENT_OUTPUT, output);
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

/* A process that is sampled. */
struct attach_inside_one {
	struct inject_target target;
	struct inject_place place;	/* without a directory: it sees the
					 * recording itself */
};

/* Waits until all processes have ended, the time is over, or Ctrl-C. */
static void
attach_inside_wait(const struct attach_inside_one *all, size_t n,
                   uint64_t duration_ns)
{
	const uint64_t since_ns = clock_ns(CLOCK_MONOTONIC);
	const struct timespec pause = { .tv_nsec = 20000000 };
	bool some = true;

	while (some && !interrupt_requested && (duration_ns == 0 ||
	       clock_ns(CLOCK_MONOTONIC) - since_ns < duration_ns)) {
		nanosleep(&pause, NULL);
		some = false;
		for (size_t i = 0; !some && i < n; i++)
			some = inject_goes_on(&all[i].target);
	}
}

/*
 * Keeps files open that only the process can reach, or that were replaced, so
 * that its functions can be named.
 */
static int
attach_inside_hold(struct sample_held *held, pid_t pid, struct error *error)
{
	const bool is_elsewhere = sample_held_is_elsewhere((uint32_t)pid);
	struct inject_process process = { .pid = pid };
	struct error gone = { 0 };
	int result = 0;

	/* A process that has ended has nothing to be held. */
	if (inject_process_read(&process, &gone) != 0)
		process.n = 0;
	for (size_t i = 0; result == 0 && i < process.n; i++) {
		const struct inject_mapping *found = &process.mappings[i];
		const struct memory_mapping mapping = {
			.start = found->start, .limit = found->end,
			.offset = found->offset, .inode = found->inode,
			.path = found->path, .build_id = "",
		};
		char path[SAMPLE_HELD_PATH];
		struct stat status;

		if (found->is_code && *found->path == '/' &&
		    (is_elsewhere || sample_held_has_moved(&mapping)))
			sample_held_add(held, (uint32_t)pid, &mapping,
			                is_elsewhere, &status, path, error);
		result = error->is_set ? -1 : 0;
	}
	inject_process_free(&process);
	return result;
}

static int
attach_inside_begin(struct attach_inside_one *one, pid_t pid,
                    const struct record_options *options,
                    const struct recording *recording,
                    const struct sampled_time *time, const char *library,
                    struct error *error)
{
	const bool has_place = sample_held_is_elsewhere((uint32_t)pid) ||
	    inject_place_is_needed(pid);
	struct text_buffer settings = { 0 };
	int result = 0;

	one->place = (struct inject_place){ .parent = -1, .directory = -1 };
	if (has_place)
		result = inject_place_make(&one->place, pid, library, error);
	attach_add_settings(&settings, options, recording, has_place ?
	                    one->place.path : recording->path, time);
	if (result == 0)
		result = inject_begin(&one->target, pid, library,
		                      has_place ? &one->place : NULL,
		                      text_string(&settings), settings.length,
		                      error);
	if (result != 0)
		inject_place_remove(&one->place);
	else if (one->target.n_unreached > 0)
		message_note("process %ld: %zu of its threads block all "
		             "signals and are not sampled: record it from "
		             "outside, without --inside, to see them",
		             (long)pid, one->target.n_unreached);
	text_free(&settings);
	return result;
}

static void
attach_inside_end(struct attach_inside_one *one,
                  const struct recording *recording)
{
	inject_end(&one->target);
	if (one->place.directory >= 0 &&
	    !inject_place_collect(&one->place, recording->directory))
		message_note("%s: not all files could be copied from there",
		             one->place.path);
	inject_place_remove(&one->place);
}

int
attach_inside_run(const struct attach *attach,
                  const struct record_options *options,
                  const struct recording *recording,
                  const struct sampled_time *time, const char *library,
                  struct sample_held **held, struct error *error)
{
	struct attach_inside_one *all = memory_array(attach->n, sizeof *all,
	                                             error);
	struct attach_signals signals;
	int result = all != NULL ? 0 : -1;
	size_t n = 0;

	*held = sample_held_new(error);
	if (*held == NULL)
		result = -1;
	attach_catch_signals(&signals);
	while (result == 0 && n < attach->n && !interrupt_requested) {
		result = attach_inside_begin(&all[n], attach->pids[n], options,
		                             recording, time, library, error);
		n += result == 0;
		if (result == 0)
			result = attach_inside_hold(*held, attach->pids[n - 1],
			                            error);
	}
	if (result == 0)
		attach_inside_wait(all, n, options->duration_ns);
	for (size_t i = 0; i < n; i++)
		attach_inside_end(&all[i], recording);
	attach_restore_signals(&signals);
	free(all);
	return result;
}
