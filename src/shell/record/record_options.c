/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_options.c -- the options of record. */
#include "src/shell/record/recording.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 200 };	/* that can be compared with as many */

/* Fails if the first resource counts the second, too. */
static int
check_part(const struct count_kind *whole, const struct count_kind *part,
           struct error *error)
{
	if (part->part_of == NULL || strcmp(part->part_of, whole->name) != 0)
		return 0;
	return error_set(error, "-r %s: leave it out, since -r %s counts it, "
	                 "too", part->name, whole->name);
}

static int
take_resource(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;
	struct chosen_resource *chosen =
	    &options->resources[options->n_resources];
	size_t length = strcspn(word, ":");

	if (options->n_resources == CPPROFDATA_MAX_RESOURCES)
		return error_set(error, "-r %s: at most %d resources "
		                 "can be recorded at once", word,
		                 CPPROFDATA_MAX_RESOURCES);
	chosen->kind = resource_kind_find(word, length, error);
	chosen->interval = 0;
	if (chosen->kind == NULL)
		return -1;
	for (size_t i = 0; i < options->n_resources; i++)
		if (check_part(options->resources[i].kind, chosen->kind,
		               error) != 0 ||
		    check_part(chosen->kind, options->resources[i].kind,
		               error) != 0)
			return -1;
	for (size_t i = 0; i < options->n_resources; i++)
		if (options->resources[i].kind == chosen->kind)
			return error_set(error, "-r %s: named twice",
			                 chosen->kind->name);
	options->n_resources++;
	if (word[length] == '\0')
		return 0;
	return resource_kind_interval(chosen->kind, word + length + 1,
	                              &chosen->interval, error);
}

static int
take_frequency(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;
	char *end;
	unsigned long frequency = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end != '\0' || frequency < 1 ||
	    frequency > 10000)
		return error_set(error, "-F %s: expected samples per second of "
		                 "CPU time, 1 to 10000", word);
	options->frequency = (unsigned)frequency;
	return 0;
}

static int
take_name(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;

	(void)error;
	options->name = word;
	return 0;
}

static int
take_max_size(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;

	return resource_kind_bytes(word, &options->max_size, error);
}

static int
take_repeat(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end != '\0' || n < 1 ||
	    n > MOST_RUNS)
		return error_set(error, "--repeat %s: expected a number of "
		                 "runs, 1 to %d", word, MOST_RUNS);
	options->n_runs = (unsigned)n;
	return 0;
}

/* Whether the first of these names comes again. */
static bool
first_call_is_twice(const char *names)
{
	const size_t length = strcspn(names, ",");

	for (const char *at = names + length; *at == ',';
	     at += strcspn(at, ",")) {
		at++;
		if (strcspn(at, ",") == length &&
		    strncmp(at, names, length) == 0)
			return true;
	}
	return false;
}

/* "handle_get,handle_set": functions whose calls are observed. */
static int
take_calls(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;
	size_t n = 1;

	if (options->calls != NULL)
		return error_set(error, "--calls %.60s: expected one list of "
		                 "functions, such as --calls %.60s,%.60s",
		                 word, options->calls, word);
	if (*word == '\0' || *word == ',' || strstr(word, ",,") != NULL ||
	    word[strlen(word) - 1] == ',')
		return error_set(error, "--calls %s: expected names of "
		                 "functions, separated by commas", word);
	for (const char *at = word; *at != '\0'; at++) {
		n += *at == ',';
		if ((at == word || at[-1] == ',') && first_call_is_twice(at))
			return error_set(error, "--calls %.60s: %.*s is named "
			                 "twice", word,
			                 (int)strcspn(at, ","), at);
	}
	if (n > CPPROFDATA_CALL_FUNCTIONS_MAX)
		return error_set(error, "--calls %.60s: at most %d functions",
		                 word, CPPROFDATA_CALL_FUNCTIONS_MAX);
	options->calls = word;
	return 0;
}

/* "1234,redis-server": numbers of processes, or names. */
static int
take_processes(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;

	if (*word == '\0')
		return error_set(error, "-p: expected processes, like -p 1234 "
		                 "or -p 1234,redis-server");
	if (options->processes != NULL)
		return error_set(error, "-p %.60s: expected one list of "
		                 "processes, such as -p %.60s,%.60s", word,
		                 options->processes, word);
	options->processes = word;
	return 0;
}

static int
take_cgroup(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;

	if (options->cgroup != NULL)
		return error_set(error, "--cgroup %.60s: expected one "
		                 "directory, but --cgroup %.60s is there",
		                 word, options->cgroup);
	options->cgroup = word;
	return 0;
}

static int
take_duration(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;
	struct error why = { 0 };
	uint64_t us;

	if (resource_kind_time(word, &us, &why) != 0)
		return error_set(error, "--for %s", why.text);
	options->duration_ns = us * 1000;
	return 0;
}

static int
take_prompt(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;

	(void)word, (void)error;
	options->wants_prompt = true;
	options->wants_no_prompt = false;
	return 0;
}

static int
take_no_prompt(void *all, const char *word, struct error *error)
{
	struct record_options *options = all;

	(void)word, (void)error;
	options->wants_prompt = false;
	options->wants_no_prompt = true;
	return 0;
}

#define RECORD_FLAG(member) NULL, offsetof(struct record_options, member)

const struct option_row record_option_rows[] = {
	{ "-r", NULL, "RESOURCE[:INTERVAL]",
	  "what to sample; the default is cpu. With several, one tree has the "
	  "counts of each. The interval between samples is a number of gticks, "
	  "or has a unit: -r cpu:1ms -r alloc-bytes:512K -r page-faults:10",
	  take_resource, 0 },
	{ "-F", NULL, "HZ",
	  "the interval of time resources, as samples per second",
	  take_frequency, 0 },
	{ "-o", NULL, "NAME",
	  "the directory to write. The default is PROGRAM.cpprof: an earlier "
	  "recording of that name becomes PROGRAM.1.cpprof, the one before it "
	  "PROGRAM.2.cpprof, and so on. If NAME already holds a recording, "
	  "record stops; see --force",
	  take_name, 0 },
	{ NULL, "--force", NULL, "replaces the recording that -o NAME holds",
	  RECORD_FLAG(replaces) },
	{ NULL, "--prompt", NULL, "opens the recording at the prompt",
	  take_prompt, 0 },
	{ NULL, "--no-prompt", NULL, "does not open the recording",
	  take_no_prompt, 0 },
	{ NULL, "--no-children", NULL,
	  "samples only the program, not its child processes",
	  RECORD_FLAG(is_alone) },
	{ "-p", NULL, "PID[,PID...]",
	  "samples processes that run already, all their threads and what they "
	  "start, from outside: they are neither stopped nor changed. A name "
	  "stands for all processes of that name. Ends when they end, after "
	  "--for, or at Ctrl-C. The directory is NAME-PID.cpprof unless -o "
	  "names another",
	  take_processes, 0 },
	{ NULL, "--inside", NULL,
	  "with -p: loads the collector into the processes, instead of sampling "
	  "them from outside. That changes them, and works where the kernel "
	  "forbids perf events but allows ptrace", RECORD_FLAG(is_inside) },
	{ "-a", NULL, NULL,
	  "samples all processes of the machine, as -p does, until --for is "
	  "over or Ctrl-C; the prompt begins with processes. The directory is "
	  "machine.cpprof",
	  RECORD_FLAG(wants_all) },
	{ NULL, "--cgroup", "PATH",
	  "samples the processes of a cgroup and what they start, as -p does: "
	  "its directory, like /sys/fs/cgroup/system.slice/ssh.service",
	  take_cgroup, 0 },
	{ NULL, "--for", "TIME",
	  "with -p, -a and --cgroup: how long to sample, like 10s",
	  take_duration, 0 },
	{ NULL, "--returns", NULL,
	  "counts how often calls return, so that views show how often each "
	  "path was taken", RECORD_FLAG(counts_returns) },
	{ NULL, "--calls", "FUNCTION[,FUNCTION...]",
	  "observes the calls of up to 4 functions: how long each took, with "
	  "-r real, which it adds. See calls. A C++ or Rust name is given "
	  "without its parameters", take_calls, 0 },
	{ NULL, "--random", NULL,
	  "randomises the intervals, so that a program that repeats with the "
	  "period of the interval gets its true shares", RECORD_FLAG(is_random) },
	{ NULL, "--max-size", "BYTES",
	  "the largest size of a process's file; samples that do not fit are "
	  "counted as lost", take_max_size, 0 },
	{ NULL, "--repeat", "N",
	  "runs the program N times, one after the other, and keeps each run "
	  "as a recording of its own, run-1, run-2 and so on in the directory. "
	  "Reports how much they vary. diff takes such a directory as so many "
	  "runs; other views show their sum", take_repeat, 0 },
	{ NULL, "--no-symbols", NULL,
	  "keeps no names in the recording. Without this option, names, inlined "
	  "calls and lines are added when the program ends, so that the "
	  "recording shows the same after a rebuild and on another machine",
	  RECORD_FLAG(keeps_no_names) },
	{ NULL, "--node", NULL,
	  "names JavaScript functions: adds --perf-basic-prof and "
	  "--interpreted-frames-native-stack to NODE_OPTIONS, so that node and "
	  "what it starts write /tmp/perf-PID.map", RECORD_FLAG(names_node) },
	{ NULL, "--java", NULL,
	  "names Java methods, also those that were put into others, and their "
	  "lines: adds an agent of cpprof and -XX:+PreserveFramePointer to "
	  "JAVA_TOOL_OPTIONS, which JDK 8 and later take, and say on standard "
	  "error that they did. If cpprof was built without a JDK, adds "
	  "-XX:+DumpPerfMapAtExit instead, which JDK 17 and later take",
	  RECORD_FLAG(names_java) },
	{ NULL, "--list", NULL,
	  "lists every resource, its source on this machine, and why a better "
	  "source is not used; runs nothing. With -p: what can be sampled of "
	  "these processes", RECORD_FLAG(wants_list) },
	{ NULL, "--help", NULL, "prints this help", RECORD_FLAG(wants_help) },
	OPTIONS_END
};

static struct chosen_resource *
find_chosen(struct record_options *options, const char *name)
{
	for (size_t i = 0; i < options->n_resources; i++)
		if (strcmp(options->resources[i].kind->name, name) == 0)
			return &options->resources[i];
	return NULL;
}

/* One that is counted at another's samples has the other's interval. */
static int
tie_followers(struct record_options *options, struct error *error)
{
	for (size_t i = 0; i < options->n_resources; i++) {
		struct chosen_resource *chosen = &options->resources[i];
		const char *name = chosen->kind->name;
		const char *follows = chosen->kind->follows;
		struct chosen_resource *other;

		if (follows == NULL)
			continue;
		other = find_chosen(options, follows);
		if (other == NULL) {
			if (take_resource(options, follows, error) != 0)
				return -1;
			other = find_chosen(options, follows);
			other->interval = chosen->interval;
		}
		if (chosen->interval != 0 &&
		    chosen->interval != other->interval)
			return error_set(error, "-r %s:%" PRIu64 ": %s has the "
			                 "interval of %s; leave it out", name,
			                 chosen->interval, name, follows);
		chosen->interval = other->interval;
	}
	return 0;
}

/* -F is the interval of resources in time that were given none. */
static int
apply_frequency(struct record_options *options, struct error *error)
{
	size_t n = 0;

	if (options->frequency == 0)
		return 0;
	if (options->n_resources == 0 &&
	    take_resource(options, count_kinds[0].name, error) != 0)
		return -1;
	for (size_t i = 0; i < options->n_resources; i++) {
		struct chosen_resource *chosen = &options->resources[i];

		if (strcmp(chosen->kind->gtick, "microsecond") != 0 ||
		    chosen->interval != 0)
			continue;
		chosen->interval = (1000000 + options->frequency / 2) /
		    options->frequency;
		n++;
	}
	if (n == 0)
		return error_set(error, "-F %u: expected a resource "
		                 "in time without an interval, like -r cpu",
		                 options->frequency);
	return 0;
}

/* Calls are observed by samples of real time. */
static int
apply_calls(struct record_options *options, struct error *error)
{
	if (options->calls == NULL)
		return 0;
	if (options->counts_returns)
		return error_set(error, "--calls and --returns both mark the "
		                 "stack; leave one out");
	return find_chosen(options, "real") != NULL ? 0 :
	    take_resource(options, "real", error);
}

/*
 * Observed calls are weighted by the intervals between samples, and these come
 * no faster than the kernel's ticks.
 */
static int
check_calls(const struct record_options *options, struct error *error)
{
	struct timespec tick = { 0 };
	uint64_t least;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	least = (uint64_t)tick.tv_nsec / 1000;
	for (size_t i = 0; options->calls != NULL &&
	     i < options->n_resources; i++) {
		const struct chosen_resource *chosen = &options->resources[i];

		if (chosen->kind->measures_waits && chosen->interval != 0 &&
		    chosen->interval < least)
			return error_set(error, "--calls: expected an interval "
			                 "of real of at least %" PRIu64 " us, "
			                 "the kernel's tick, but it is %" PRIu64,
			                 least, chosen->interval);
	}
	return 0;
}

/* With -p, some options have no meaning. */
static int
check_attach(const struct record_options *options, struct error *error)
{
	const char *what = options->processes != NULL ? options->processes :
	    options->cgroup != NULL ? options->cgroup : "";
	const char *option = options->wants_all ? "-a" :
	    options->cgroup != NULL ? "--cgroup " : "-p ";

	if ((options->processes != NULL) + (options->cgroup != NULL) +
	    options->wants_all > 1)
		return error_set(error, "expected one of -p, -a and --cgroup");
	if (options->program != NULL)
		return error_set(error, "%s%s: expected no program to run, "
		                 "but there is %s", option, what,
		                 *options->program);
	if (options->wants_all && options->is_alone)
		return error_set(error, "--no-children: -a samples all "
		                 "processes, also those that are started");
	if (options->is_inside && options->processes == NULL)
		return error_set(error, "--inside: only with -p, which names "
		                 "the processes to change");
	if (options->calls != NULL)
		return error_set(error, "--calls: calls can only be observed "
		                 "in a program that record starts");
	if (options->counts_returns && !options->is_inside)
		return error_set(error, "--returns: returns can only be "
		                 "counted inside a program that record starts");
	if (options->is_random && !options->is_inside)
		return error_set(error, "--random: intervals can only be "
		                 "randomised inside a program that record "
		                 "starts");
	if (options->names_node || options->names_java)
		return error_set(error, "%s: a runtime takes its options when "
		                 "it starts; record a program",
		                 options->names_node ? "--node" : "--java");
	if (options->n_runs > 0)
		return error_set(error, "--repeat: nothing is run; "
		                 "record several times, each with its own -o");
	return 0;
}

int
record_options_parse(struct record_options *options, char *const *words,
                     struct error *error)
{
	*options = (struct record_options){ 0 };
	if (options_take(record_option_rows, "record", options, &words,
	                 error) != 0)
		return -1;
	if (*words != NULL && strcmp(*words, "--") == 0)
		words++;
	if (apply_calls(options, error) != 0 ||
	    tie_followers(options, error) != 0 ||
	    apply_frequency(options, error) != 0 ||
	    check_calls(options, error) != 0)
		return -1;
	if (*words != NULL)
		options->program = words;
	if (attach_is_wanted(options))
		return check_attach(options, error);
	if (options->is_inside)
		return error_set(error, "--inside: only with -p; a program "
		                 "that record runs has the collector inside "
		                 "anyway");
	if (options->duration_ns != 0)
		return error_set(error, "--for: only with -p, which samples "
		                 "processes that run already");
	if (*words == NULL && !options->wants_list && !options->wants_help)
		return error_set(error, "expected a program to run, or -p PID "
		                 "for one that runs already");
	return 0;
}

/*
 * The option whose value the word after n others is, or NULL; then
 * *takes_options says whether it may be an option.
 */
static const struct option_row *
record_options_find_place(const struct word *words, size_t n,
                          bool *takes_options)
{
	const struct option_row *row;
	const char *rest;

	*takes_options = false;
	for (size_t i = 0; i < n; i++) {
		row = words[i].text[0] == '-' &&
		    strcmp(words[i].text, "--") != 0 ?
		    option_match(record_option_rows, words[i].text, &rest) :
		    NULL;
		if (row == NULL)
			return NULL;
		if (row->value != NULL && *rest == '\0' && ++i == n)
			return row;
	}
	*takes_options = true;
	return NULL;
}

void
record_options_complete(struct completion *completion,
                        const struct word *words, size_t n)
{
	bool takes_options;
	const struct option_row *row =
	    record_options_find_place(words, n, &takes_options);

	if (row != NULL && row->take == take_resource) {
		for (size_t i = 0; count_kinds[i].name != NULL; i++)
			completion_offer(completion, count_kinds[i].name,
			                 strlen(count_kinds[i].name));
	} else if (row != NULL && row->take == take_processes) {
		attach_complete(completion);
	} else if (takes_options && completion->prefix[0] == '-') {
		completion_offer_options(completion, record_option_rows);
	} else {
		completion_offer_files(completion);
	}
}

void
record_options_add_resources(const struct record_options *options,
                             struct text_buffer *text)
{
	for (size_t i = 0; i < options->n_resources; i++) {
		const struct chosen_resource *chosen = &options->resources[i];

		text_add_format(text, "%s%s", i > 0 ? "," : "",
		                chosen->kind->name);
		if (chosen->interval != 0)
			text_add_format(text, ":%" PRIu64, chosen->interval);
	}
	if (options->n_resources == 0)
		text_add_string(text, count_kinds[0].name);
}
