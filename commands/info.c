/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/info.c -- what was profiled, and how well. */
#include <string.h>
#include <time.h>

#include "src/profile/fleet.h"
#include "src/shell/command/command.h"

/* A time since 1970 as text; in UTC, so that it is the same everywhere. */
static const char *
info_time_text(struct table *table, uint64_t ns, struct error *error)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;
	char text[64];

	if (gmtime_r(&seconds, &parts) == NULL ||
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
		return "?";
	return table_text(table, error, "%s", text);
}

static int
info_add_text(struct table *table, const char *key, const char *title,
              const char *text, struct error *error)
{
	/* An unknown value is null in JSON and left out of text. */
	if (text == NULL)
		return table_add_field(table, key, NULL,
		                       (struct cell){ .kind = CELL_EMPTY },
		                       error);
	return table_add_field(table, key, title, cell_text(text), error);
}

static int
info_add_count(struct table *table, const char *key, const char *title,
               uint64_t count, struct error *error)
{
	return table_add_field(table, key, title, cell_count(count), error);
}

static int
info_add_times(const struct profile *profile, struct table *table,
               struct error *error)
{
	uint64_t start, end;
	const char *start_text = NULL, *end_text = NULL;

	/*
	 * The earliest start and the latest end of all processes; 0: unknown.
	 */
	start = end = 0;
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		const struct process *process = &profile->processes[i];

		if (process->start_ns != 0 &&
		    (start == 0 || process->start_ns < start))
			start = process->start_ns;
		if (process->end_ns > end)
			end = process->end_ns;
	}
	if (start != 0)
		start_text = info_time_text(table, start, error);
	if (end != 0)
		end_text = info_time_text(table, end, error);
	if (info_add_text(table, "start", "start", start_text, error) != 0 ||
	    info_add_text(table, "end", "end", end_text, error) != 0)
		return -1;
	if (start == 0 || end < start)
		return info_add_text(table, "duration", NULL, NULL, error);
	return table_add_field(table, "duration", "duration in seconds",
	                       cell_fraction((double)(end - start) / 1e9),
	                       error);
}

/* The first process, which started the others. */
static int
info_add_program(const struct session *session, struct table *table,
                 struct error *error)
{
	const struct process none = { 0 };
	const struct process *process = session_first_process(session);

	if (process == NULL)
		process = &none;
	if (info_add_text(table, "program", "program", process->program,
	                  error) != 0 ||
	    info_add_text(table, "command", "command", process->command,
	                  error) != 0 ||
	    info_add_text(table, "host", "host", process->host, error) != 0)
		return -1;
	return info_add_times(session->subject->profile, table, error);
}

/* The sum of all kinds of loss. */
static uint64_t
count_dropped(const struct profile *profile)
{
	uint64_t dropped = 0;

	for (uint32_t i = 0; i < profile->n_tallies; i++)
		if (profile->tallies[i].loss != N_LOSSES &&
		    __builtin_add_overflow(dropped, profile->tallies[i].count,
		                           &dropped))
			dropped = UINT64_MAX;
	return dropped;
}

/*
 * Processes that continue in a second file are listed twice, and so is one of
 * their threads.
 */
static uint64_t
count_continuing(const struct profile *profile)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < profile->n_processes; i++)
		n += profile->processes[i].continues;
	return n < profile->n_processes ? n : 0;
}

/*
 * The cost of sampling, if the collector recorded it: a share of the CPU time
 * of the processes whose CPU time is known.
 */
static int
info_add_cost(const struct profile *profile, struct table *table,
              struct error *error)
{
	double cpu_ns = 0, sampling_ns = 0;
	uint64_t n_least = 0;

	for (uint32_t i = 0; i < profile->n_processes; i++) {
		const struct process *process = &profile->processes[i];

		if (process->cpu_ns == 0)
			continue;
		cpu_ns += (double)process->cpu_ns;
		sampling_ns += (double)process->sampling_ns;
		n_least += process->cpu_is_least;
	}
	if (cpu_ns == 0)
		return 0;
	if (table_add_field(table, "cpu_seconds", n_least > 0 ?
	        "CPU time in seconds, at least" : "CPU time in seconds",
	        cell_fraction(cpu_ns / 1e9), error) != 0)
		return -1;
	if (n_least > 0 && info_add_count(table, "cpu_at_least", NULL, n_least,
	                                  error) != 0)
		return -1;
	return table_add_field(table, "sampling_share",
	                       "sampling overhead, as a fraction of that",
	                       cell_fraction(sampling_ns / cpu_ns), error);
}

static int
info_add_counts(const struct session *session, struct table *table,
                struct error *error)
{
	const struct subject *subject = session->subject;
	const struct profile *profile = subject->profile;
	const struct sample_tree *tree = subject->naming.tree;
	const struct call_graph *graph = profile->graph;
	const uint64_t n_again = count_continuing(profile);
	const struct field counts[] = {
		{ "files", "files", cell_count(profile->n_files) },
		{ "processes", "processes",
		  cell_count(profile->n_processes - n_again) },
		{ "threads", "threads",
		  cell_count(profile->n_threads - n_again) },
		{ "modules", "modules", cell_count(profile->n_modules) },
		{ "functions", "functions",
		  cell_count(subject->naming.functions->n) },
		{ "nodes", tree != NULL ? "nodes of the sample tree" :
		  "nodes of the call graph",
		  cell_count(tree != NULL ? tree->n_nodes :
		             graph->n_nodes) },
		{ "deepest_stack", tree != NULL ? "deepest stack" : NULL,
		  cell_count(tree != NULL ? tree->deepest : 0) },
		{ "samples", "samples", cell_count(subject->set.n_samples) },
		{ "dropped", "hits dropped",
		  cell_count(count_dropped(profile)) },
	};

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (table_add_field(table, counts[i].key, counts[i].title,
		                    counts[i].value, error) != 0)
			return -1;
	return 0;
}

static bool
has_sources(const struct profile *profile)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (profile->resources[r].source != NULL)
			return true;
	return false;
}

static int
info_add_resources(const struct session *session, struct table *table,
                   struct error *error)
{
	const struct profile *profile = session->subject->profile;

	table_add_column(table, "name", "resource", CELL_TEXT);
	table_add_column(table, "gtick", "gtick", CELL_TEXT);
	table_add_column(table, "interval", "interval", CELL_COUNT);
	table_add_column(table, "hits", "hits", CELL_COUNT);
	table_add_column(table, "samples", "samples", CELL_COUNT);
	if (has_sources(profile))
		table_add_column(table, "source", "source", CELL_TEXT);
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];
		uint64_t samples, hits = profile_hits(profile, r, &samples);
		struct cell cells[] = {
			cell_text(resource->name),
			cell_text(resource->gtick),
			cell_count(resource->interval),
			cell_count(hits),
			cell_count(samples),
			cell_text(resource->source != NULL ?
			          resource->source : ""),
		};

		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

static int
info_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct subject *subject = session->subject;
	uint64_t n;
	const struct fleet *fleet;

	(void)arguments;
	if (session_need_profile(session, error) != 0)
		return -1;
	table->schema = "cpprof.info/1";
	table->rows_key = "resources";
	if (info_add_program(session, table, error) != 0)
		return -1;
	/* Text shows the number only if it is not 0. */
	n = 0;
	for (uint32_t i = 0; i < subject->profile->n_processes; i++)
		n += subject->profile->processes[i].is_running;
	if (info_add_count(table, "running",
	                   n > 0 ? "processes still running" : NULL, n,
	                   error) != 0)
		return -1;
	if (info_add_cost(subject->profile, table, error) != 0 ||
	    info_add_counts(session, table, error) != 0)
		return -1;
	/* Of a merged profile. */
	fleet = subject->profile->fleet;
	if (fleet != NULL) {
		if (info_add_count(table, "members",
		                   "members of the merged profile",
		                   fleet->n_members, error) != 0 ||
		    info_add_count(table, "members_with_warnings",
		                   fleet->n_warned > 0 ?
		                   "of these, with warnings" : NULL,
		                   fleet->n_warned, error) != 0)
			return -1;
	}
	/* Each is a member of the object "tallies". */
	for (uint32_t i = 0; i < subject->profile->n_tallies; i++) {
		const struct tally *tally = &subject->profile->tallies[i];
		const char *key = table_text(table, error, "tallies.%s",
		                             tally->what);

		if (key == NULL ||
		    info_add_count(table, key, tally->what, tally->count,
		                   error) != 0)
			return -1;
	}
	return info_add_resources(session, table, error);
}

const struct command command_info = {
	.name = "info",
	.words = COMMAND_WORDS(SHORT("inf"), /* pprof */ MEANS("comments")),
	.group = GROUP_FILES,
	.summary = "what was profiled: program, host, time, resources, losses",
	.description =
	    "Shows the program and when it ran, the number of processes, "
	    "threads, modules and functions, the deepest stack, and what the "
	    "collector could not record. For each resource it shows the "
	    "gtick, the interval between samples in gticks, the hits and the "
	    "samples. For a recording it also shows the CPU time (\"at least\" "
	    "if processes were killed, because their time is known only up to "
	    "their last sample), the sampling overhead as a share of that "
	    "time, how many threads were waiting when the recording ended, "
	    "and how each resource was counted.",
	.example = "info",
	.run = info_run,
};
