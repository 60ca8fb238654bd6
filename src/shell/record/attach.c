/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attach.c -- samples processes that run already, from outside. */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/shell/terminal/terminal.h"

/*
 * Where a sample a millisecond of CPU time would cost too much.  This process is
 * one thread, and takes 0.4% of its time for each processor that is busy with
 * plain stacks; each sample of Python delays its thread by 15 to 40 us
 * (bench/outside.py).
 */
enum { FEW_PROCESSORS = 16, SPARING_INTERVAL_US = 4000 };

/* ---- which processes ---- */

/* The name of a process; false: there is none with that number. */
static bool
attach_read_name(const char *pid, char *name, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fgets(name, (int)size, file) == NULL)
		*name = '\0';
	name[strcspn(name, "\n")] = '\0';
	fclose(file);
	return true;
}

static int
attach_add(struct attach *attach, pid_t pid, struct error *error)
{
	if (memory_grow(&attach->pids, &attach->capacity, attach->n + 1,
	                sizeof *attach->pids, error) != 0)
		return -1;
	attach->pids[attach->n++] = pid;
	return 0;
}

/*
 * Adds all processes of a name that can be sampled, but not this one; a note says
 * what stands in the way of others.
 */
static int
attach_add_named(struct attach *attach, const char *name, size_t length,
                 struct error *error)
{
	const size_t n_before = attach->n;
	const struct dirent *entry;
	DIR *processes = opendir("/proc");
	struct error why = { 0 };	/* of the first that cannot */
	char other[64];
	int result = 0;

	while (result == 0 && processes != NULL &&
	       (entry = readdir(processes)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() &&
		    attach_read_name(entry->d_name, other, sizeof other) &&
		    strlen(other) == length &&
		    memcmp(other, name, length) == 0 &&
		    sample_target_check(pid, &why) == 0)
			result = attach_add(attach, pid, error);
	}
	if (processes != NULL)
		closedir(processes);
	if (result == 0 && why.is_set && attach->n == n_before)
		return error_pass(error, &why);
	if (result == 0 && why.is_set)
		message_note("not sampled: %s", why.text);
	if (result == 0 && attach->n == n_before)
		return error_set(error, "-p %.*s: no process has that name; "
		                 "see ps -e", (int)length, name);
	return result;
}

/* Adds the processes of a file cgroup.procs; *why: one that cannot be sampled. */
static int
attach_add_members(struct attach *attach, FILE *members, struct error *why,
                   struct error *error)
{
	int result = 0;
	long pid;

	while (result == 0 && fscanf(members, "%ld", &pid) == 1)
		if (pid > 0 && pid != getpid() &&
		    sample_target_check((pid_t)pid, why) == 0)
			result = attach_add(attach, (pid_t)pid, error);
	return result;
}

/*
 * Adds the processes of a cgroup and of those below it.  A directory without
 * cgroup.procs is none, and is not searched: it may be all of /usr.
 */
static int
attach_add_cgroup(struct attach *attach, const char *path,
                  struct error *error)
{
	char *const roots[] = { (char *)(uintptr_t)path, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	struct error why = { 0 };
	FTSENT *entry;
	int result = 0;

	while (result == 0 && walk != NULL && (entry = fts_read(walk)) != NULL) {
		char file[PATH_MAX];
		FILE *members;

		if (entry->fts_info != FTS_D)
			continue;
		snprintf(file, sizeof file, "%s/cgroup.procs",
		         entry->fts_accpath);
		members = fopen(file, "re");
		if (members == NULL) {
			fts_set(walk, entry, FTS_SKIP);
			continue;
		}
		result = attach_add_members(attach, members, &why, error);
		fclose(members);
	}
	if (walk != NULL)
		fts_close(walk);
	if (result != 0 || attach->n > 0) {
		if (result == 0 && why.is_set)
			message_note("not sampled: %s", why.text);
		return result;
	}
	if (why.is_set)
		return error_pass(error, &why);
	return error_set(error, "--cgroup %s: no process is in it: expected "
	                 "the directory of a cgroup, which has a file "
	                 "cgroup.procs, below /sys/fs/cgroup; "
	                 "/proc/PID/cgroup says where a process is", path);
}

/* Adds all processes but this one, and those that have ended. */
static int
attach_add_all(struct attach *attach, struct error *error)
{
	const struct dirent *entry;
	DIR *processes = opendir("/proc");
	int result = 0;

	while (result == 0 && processes != NULL &&
	       (entry = readdir(processes)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid())
			result = attach_add(attach, pid, error);
	}
	if (processes != NULL)
		closedir(processes);
	return result;
}

bool
attach_is_wanted(const struct record_options *options)
{
	return options->processes != NULL || options->cgroup != NULL ||
	    options->wants_all;
}

static int
attach_find_many(struct attach *attach, const struct record_options *options,
                 struct error *error)
{
	const char *name = options->wants_all ? "machine" :
	    last_component(options->cgroup);

	attach->may_miss = true;
	attach->is_system = options->wants_all;
	snprintf(attach->name, sizeof attach->name, "%s",
	         *name == '.' || *name == '/' || *name == '\0' ? "cgroup" :
	         name);
	return options->wants_all ? attach_add_all(attach, error) :
	    attach_add_cgroup(attach, options->cgroup, error);
}

int
attach_find(struct attach *attach, const struct record_options *options,
            struct error *error)
{
	const char *processes = options->processes;
	char number[24], name[64];

	if (processes == NULL)
		return attach_find_many(attach, options, error);
	for (const char *at = processes; *at != '\0';) {
		const size_t length = strcspn(at, ",");
		const size_t n_digits = strspn(at, "0123456789");
		int result = 0;

		if (length > 0 && n_digits == length && length < 10)
			result = attach_add(attach, (pid_t)strtol(at, NULL,
			                                          10), error);
		else if (length > 0)
			result = attach_add_named(attach, at, length, error);
		if (result != 0)
			return -1;
		at += length;
		at += *at == ',';
	}
	if (attach->n == 0)
		return error_set(error, "-p %s: expected processes, like "
		                 "-p 1234 or -p 1234,redis-server", processes);
	for (size_t i = 0; i < attach->n; i++)
		if (sample_target_check(attach->pids[i], error) != 0)
			return -1;
	snprintf(number, sizeof number, "%ld", (long)attach->pids[0]);
	if (!attach_read_name(number, name, sizeof name))
		strcpy(name, "process");
	for (char *c = name; *c != '\0'; c++)
		if (*c == '/' || *c == '.' || (unsigned char)*c <= ' ')
			*c = '_';
	snprintf(attach->name, sizeof attach->name, "%s-%s", name, number);
	return 0;
}

void
attach_free(struct attach *attach)
{
	free(attach->pids);
}

void
attach_complete(struct completion *completion)
{
	const struct dirent *entry;
	DIR *processes = opendir("/proc");
	char name[64];

	while (processes != NULL && (entry = readdir(processes)) != NULL) {
		if (*entry->d_name < '1' || *entry->d_name > '9' ||
		    !attach_read_name(entry->d_name, name, sizeof name))
			continue;
		completion_offer(completion, entry->d_name,
		                 strlen(entry->d_name));
		completion_offer(completion, name, strlen(name));
	}
	if (processes != NULL)
		closedir(processes);
}

/* ---- resources ---- */

#define LATENCY_SOURCE "perf events of switches, from outside"

/* Of `real`, for users who may not sample the kernel. */
#define LOOKS_SOURCE "perf events cpu-clock and of switches, and looks at " \
	"threads that wait, from outside"

/* Whether waits are sampled where they begin; else they are looked at. */
static bool
attach_samples_waits(void)
{
	bool sees_kernel;

	return sample_kind_try(&sample_kind_wait, &sees_kernel) == 0;
}

/* The resource at whose samples one is counted: mostly itself. */
static const struct count_kind *
attach_sampled(const struct count_kind *kind)
{
	return kind->follows != NULL ? count_kind_find(kind->follows) : kind;
}

/* The event that samples a resource from outside; NULL: there is none. */
static const struct sample_kind *
attach_event(const struct count_kind *kind)
{
	return sample_kind_find(attach_sampled(kind)->name);
}

/* Whether samples are to be few: see FEW_PROCESSORS. */
static bool
attach_is_sparing(const struct attach *attach)
{
	bool is_sparing = sysconf(_SC_NPROCESSORS_ONLN) > FEW_PROCESSORS;

	if (attach == NULL)
		return is_sparing;
	is_sparing |= attach->is_system;
	for (size_t i = 0; !is_sparing && i < attach->n; i++)
		is_sparing = sample_interpreters_expect(attach->pids[i]);
	return is_sparing;
}

uint64_t
attach_interval(const struct attach *attach, const struct count_kind *kind)
{
	return attach_sampled(kind)->is_cpu_time && attach_is_sparing(attach) ?
	    SPARING_INTERVAL_US : kind->interval;
}

const char *
attach_offer(const struct count_kind *kind, struct text_buffer *why)
{
	const struct sample_kind *event = attach_event(kind);
	bool sees_kernel;
	int number;

	if (event == NULL) {
		text_add_string(why, "only the collector inside counts it: "
		                "--inside, or a program that record starts");
		return "";
	}
	number = sample_kind_try(event, &sees_kernel);
	if (number == 0)
		return kind->is_divided ? LATENCY_SOURCE :
		    kind->measures_waits && !attach_samples_waits() ?
		    LOOKS_SOURCE : event->source;
	sample_events_explain(number, why);
	return "";
}

/* Resource i of those that were asked for, or cpu. */
static struct chosen_resource
attach_resource(const struct record_options *options, size_t i)
{
	return options->n_resources > 0 ? options->resources[i] :
	    (struct chosen_resource){ &count_kinds[0], 0 };
}

/* Adds a resource to those of the recording; false: not from outside. */
static bool
attach_choose_one(const struct attach *attach,
                  const struct chosen_resource *chosen,
                  struct sample_events_options *events,
                  struct sample_recording *recording)
{
	const struct sample_kind *kind = sample_kind_find(chosen->kind->name);
	const uint64_t interval = chosen->interval != 0 ? chosen->interval :
	    attach_interval(attach, chosen->kind);
	const char *source;

	if (kind == NULL)
		return false;
	source = kind->source;
	events->kinds[events->n_kinds].kind = kind;
	events->kinds[events->n_kinds].resource = recording->n_resources;
	events->kinds[events->n_kinds++].interval = interval;
	if (chosen->kind->measures_waits && attach_samples_waits()) {
		events->kinds[events->n_kinds].kind = &sample_kind_wait;
		events->kinds[events->n_kinds].resource =
		    recording->n_resources;
		events->kinds[events->n_kinds++].interval = 1;
	} else if (chosen->kind->measures_waits) {
		events->looks_at_waits = true;
		source = LOOKS_SOURCE;
	}
	recording->resources[recording->n_resources++] =
	    (struct sample_resource){ kind->name, chosen->kind->gtick, source,
		interval };
	return true;
}

/*
 * Adds a resource that has no event: it is counted at the samples of another,
 * which must be there, and has its interval.
 */
static void
attach_add_latency(const struct count_kind *kind,
                   struct sample_events_options *events,
                   struct sample_recording *recording)
{
	const struct sample_resource *other = recording->resources;

	while (strcmp(other->name, kind->follows) != 0)
		other++;
	recording->resources[recording->n_resources++] =
	    (struct sample_resource){ kind->name, kind->gtick, LATENCY_SOURCE,
		other->interval };
	recording->has_latency = events->counts_running = true;
}

static int
attach_choose(const struct attach *attach,
              const struct record_options *options,
              struct sample_events_options *events,
              struct sample_recording *recording, struct error *error)
{
	const size_t n = options->n_resources > 0 ? options->n_resources : 1;
	const struct count_kind *latency = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct chosen_resource chosen = attach_resource(options,
		                                                      i);

		if (chosen.kind->is_divided)
			latency = chosen.kind;
		else if (chosen.kind->measures_waits && options->wants_all)
			return error_set(error, "-r real cannot be sampled of "
			                 "the whole machine, where most threads "
			                 "only wait for work: name processes "
			                 "with -p, or a --cgroup");
		else if (!attach_choose_one(attach, &chosen, events,
		                            recording))
			return error_set(error, "-r %s cannot be sampled from "
			                 "outside: only the collector inside "
			                 "counts it%s", chosen.kind->name,
			                 options->program != NULL ? "" :
			                 ": --inside, or a program that record "
			                 "starts; see record --list -p PID");
	}
	events->is_alone = options->is_alone;
	if (latency != NULL)
		attach_add_latency(latency, events, recording);
	return 0;
}

void
attach_choose_possible(const struct record_options *options,
                       struct sample_events_options *events,
                       struct sample_recording *recording)
{
	const size_t n = options->n_resources > 0 ? options->n_resources : 1;

	for (size_t i = 0; i < n; i++) {
		const struct chosen_resource chosen = attach_resource(options,
		                                                      i);
		const struct sample_kind *kind =
		    sample_kind_find(chosen.kind->name);
		bool sees_kernel;

		if (kind != NULL && sample_kind_try(kind, &sees_kernel) == 0)
			attach_choose_one(NULL, &chosen, events, recording);
	}
}

/* ---- the run ---- */

/* SIGTERM ends the sampling as Ctrl-C does, so that names are kept. */
static void
attach_end(int number)
{
	(void)number;
	interrupt_requested = 1;
}

void
attach_catch_signals(struct attach_signals *signals)
{
	struct sigaction end = { .sa_handler = attach_end };

	interrupt_requested = 0;	/* before a signal can come */
	sigemptyset(&end.sa_mask);
	sigaction(SIGINT, &end, &signals->interrupt);
	sigaction(SIGTERM, &end, &signals->terminate);
}

void
attach_restore_signals(const struct attach_signals *signals)
{
	if (interrupt_requested && isatty(STDERR_FILENO))
		fputc('\n', stderr);	/* after the ^C that is shown */
	interrupt_requested = 0;
	sigaction(SIGINT, &signals->interrupt, NULL);
	sigaction(SIGTERM, &signals->terminate, NULL);
}

/* A program that is sampled from outside while it runs. */
struct attach_follower {
	struct sampler *sampler;
	struct sampler_result *result;
	struct error error;	/* of sampling, while the program runs on */
};

static int
attach_prepare(void *context, pid_t child, struct error *error)
{
	struct attach_follower *follower = context;

	return sampler_add(follower->sampler, child, SAMPLE_AT_EXEC, error);
}

static void
attach_follow(void *context)
{
	struct attach_follower *follower = context;

	sampler_run(follower->sampler, follower->result, &follower->error);
}

struct sample_recording
attach_recording(const struct record_options *options,
                 const struct recording *recording)
{
	return (struct sample_recording){
		.directory = recording->directory,
		.max_size = options->max_size,
		.origin_ns = clock_ns(CLOCK_REALTIME),
		.origin_mono_ns = clock_ns(CLOCK_MONOTONIC),
	};
}

int
attach_launch(struct launch *launch, const struct record_options *options,
              const struct recording *recording, const char *symfs,
              int *status, struct sampler_result *result, struct error *error)
{
	struct sample_recording files = attach_recording(options, recording);
	struct sampler_options sampling = {
		.recording = &files,
		.symfs = symfs,
		.ends_with_first = true,
	};
	struct attach_follower follower = { .result = result };
	int answer;

	if (attach_choose(NULL, options, &sampling.events, &files,
	                  error) != 0)
		return -1;
	follower.sampler = sampler_new(&sampling, error);
	if (follower.sampler == NULL)
		return -1;
	launch->prepare = attach_prepare;
	launch->follow = attach_follow;
	launch->follower = &follower;
	interrupt_requested = 0;
	answer = launch_program(launch, status, error);
	sampler_free(follower.sampler);
	if (follower.error.is_set)
		message_note("sampling ended early: %s", follower.error.text);
	return answer;
}

static int
attach_sample(const struct attach *attach,
              const struct sampler_options *options,
              struct sampler_result *result, struct error *error)
{
	struct sampler *sampler = sampler_new(options, error);
	int status = sampler != NULL ? 0 : -1;

	if (status == 0 && attach->is_system)
		status = sampler_add_system(sampler, error);
	for (size_t i = 0; status == 0 && i < attach->n; i++) {
		status = sampler_add(sampler, attach->pids[i], SAMPLE_NOW,
		                     error);
		if (status != 0 && attach->may_miss &&
		    kill(attach->pids[i], 0) != 0 && errno == ESRCH) {
			*error = (struct error){ 0 };
			status = 0;
		}
	}
	if (status == 0)
		status = sampler_run(sampler, result, error);
	sampler_free(sampler);
	return status;
}

int
attach_run(const struct attach *attach, const struct record_options *options,
           const struct recording *recording, const char *symfs,
           struct sampler_result *result, struct error *error)
{
	struct sample_recording files = attach_recording(options, recording);
	struct sampler_options sampling = {
		.recording = &files,
		.duration_ns = options->duration_ns,
		.symfs = symfs,
	};
	struct attach_signals signals;
	int status;

	if (attach_choose(attach, options, &sampling.events, &files,
	                  error) != 0)
		return -1;
	sampling.events.is_system = attach->is_system;
	attach_catch_signals(&signals);
	status = attach_sample(attach, &sampling, result, error);
	attach_restore_signals(&signals);
	return status;
}
