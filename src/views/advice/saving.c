/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saving.c -- what a run would gain without some of its hits. */
#include "src/views/advice/advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/profile/fleet.h"
#include "src/profile/sections.h"
#include "src/views/hits/hits.h"

/* ---- whose time it is ---- */

/* How many had hits of the resource; 0: the input does not say. */
struct sharers {
	uint64_t members, processes, threads;
};

/* Threads by section; a thread stands for earlier ones, too. */
static int
count_threads(const struct sample_set *set, struct sharers *sharers,
              struct error *error)
{
	const struct profile *profile = set->profile;
	struct section_total *totals = memory_array(profile->n_sections + 1,
	                                            sizeof *totals, error);
	bool *has_hits = memory_array(profile->n_threads, sizeof *has_hits,
	                              error);
	bool *has_process = memory_array(profile->n_processes,
	                                 sizeof *has_process, error);

	if (totals != NULL && has_hits != NULL && has_process != NULL) {
		section_totals(profile, profile->tree, set->resource_number,
		               totals);
		for (uint32_t i = 0; i < profile->n_sections; i++)
			if (profile->sections[i].thread != NO_THREAD)
				has_hits[profile->sections[i].thread] |=
				    totals[i].hits > 0;
		sharers->processes = 0;
		for (uint32_t i = 0; i < profile->n_threads; i++) {
			const struct thread *thread = &profile->threads[i];
			bool *process = &has_process[thread->process];

			if (!has_hits[i])
				continue;
			sharers->threads += thread_count(profile, i);
			sharers->processes += !*process;
			*process = true;
		}
	}
	free(totals);
	free(has_hits);
	free(has_process);
	return error->is_set ? -1 : 0;
}

static int
count_sharers(const struct sample_set *set, struct sharers *sharers,
              struct error *error)
{
	const struct profile *profile = set->profile;
	uint64_t n_again = 0;

	*sharers = (struct sharers){ .processes = profile->n_processes };
	if (profile->fleet != NULL) {
		sharers->members = profile->fleet->n_members;
		return 0;
	}
	if (profile->tree != NULL && sections_know(profile, SECTION_THREAD) &&
	    count_threads(set, sharers, error) != 0)
		return -1;
	/* A process that continues in a second file is there twice. */
	for (uint32_t i = 0; i < profile->n_processes; i++)
		n_again += profile->processes[i].continues;
	if (n_again < sharers->processes)
		sharers->processes -= n_again;
	if (n_again < sharers->threads)
		sharers->threads -= n_again;
	return 0;
}

/* ---- what the resource is ---- */

enum time_kind { TIME_OF_CPU, TIME_THAT_PASSES, TIME_OTHER, NO_TIME };

/* Whether the name has the word, in letters of either case. */
static bool
has_word(const char *name, const char *word)
{
	return strcasestr(name, word) != NULL;
}

/* Inputs name resources as they like; these are the usual names. */
static enum time_kind
kind_of_time(const struct resource *resource)
{
	const char *gtick = resource->gtick, *name = resource->name;
	long double size;

	if (unit_find(gtick, strlen(gtick), &size, NULL) != UNIT_IS_TIME)
		return NO_TIME;
	if (!has_word(name, "off") &&
	    (has_word(name, "cpu") || has_word(name, "task-clock")))
		return TIME_OF_CPU;
	return has_word(name, "real") || has_word(name, "wall") ||
	    has_word(name, "elapsed") || strncasecmp(name, "time", 4) == 0 ?
	    TIME_THAT_PASSES : TIME_OTHER;
}

/* Whether all stacks pass through main, as those of one thread do. */
static bool
are_all_of_main(const struct sample_set *set)
{
	uint32_t name = names_find(set->names, "main", strlen("main"));

	return set->n_steps == 0 && name != NO_NAME &&
	    measure_function(set, name) == set->total;
}

/*
 * Whether this is more time than passed, which only several threads can use,
 * even if the input does not tell them apart.
 */
static bool
exceeds_run(const struct sample_set *set)
{
	enum { SLACK = 20 };	/* of the run: sampling is not exact */
	const struct resource *resource = set->resource;
	const struct process *process = set->profile->processes;
	long double ns, passed;

	if (set->profile->n_processes != 1 || process->start_ns == 0 ||
	    process->end_ns <= process->start_ns ||
	    unit_find(resource->gtick, strlen(resource->gtick), &ns, NULL) !=
	        UNIT_IS_TIME)
		return false;
	passed = (long double)(process->end_ns - process->start_ns);
	return (long double)set->total * (long double)resource->interval * ns >
	       passed + passed / SLACK;
}

/* ---- the saving ---- */

static const char *
name_sharers(const struct sharers *sharers, struct table *table,
             struct error *error)
{
	const char *what = sharers->members > 1 ? "members" :
	    sharers->processes > 1 ? "processes" :
	    sharers->threads > 1 ? "threads" : NULL;

	return what == NULL ? "the run" : table_text(table, error, "the %"
	    PRIu64 " %s", sharers->members > 1 ? sharers->members :
	    sharers->processes > 1 ? sharers->processes : sharers->threads,
	    what);
}

int
saving_of(const struct sample_set *set, struct saving *saving,
          struct table *table, struct error *error)
{
	const enum time_kind time = kind_of_time(set->resource);
	struct sharers sharers;
	bool are_several, is_one;

	*saving = (struct saving){ .kind = SAVING_USE, .of = "", .unless = "" };
	if (count_sharers(set, &sharers, error) != 0)
		return -1;
	saving->who = name_sharers(&sharers, table, error);
	if (saving->who == NULL)
		return -1;
	are_several = sharers.members > 1 || sharers.processes > 1 ||
	              sharers.threads > 1;
	is_one = sharers.threads == 1 ||
	         (sharers.members == 0 && are_all_of_main(set));
	if (!are_several && time != TIME_OF_CPU && exceeds_run(set)) {
		are_several = true;
		saving->who = "several threads";
	}
	if (time == TIME_OF_CPU) {
		saving->of = " of CPU time";
	} else if (time == TIME_THAT_PASSES) {
		saving->kind = are_several ? SAVING_NONE : SAVING_TIME;
		saving->unless = is_one ? "" : ", if it has one thread";
	} else if (time == TIME_OTHER) {
		/* Perhaps of waiting for other threads. */
		saving->kind = are_several || !is_one ? SAVING_NONE :
		               SAVING_USE;
		saving->of = table_text(table, error, " of %s",
		                        set->resource->name);
		if (saving->of == NULL)
			return -1;
	}
	/* Of how many threads the time is, it is divided by that. */
	saving->are_several = are_several && (set->resource->kind == NULL ||
	    !set->resource->kind->is_divided);
	return 0;
}

int
saving_add_line(const struct saving *saving, const struct sample_set *set,
                const char *if_what, bool is_estimated, uint64_t after,
                uint64_t before, struct table *table, struct error *error)
{
	struct text_buffer text = { 0 };
	const char *line;

	if (saving->kind == SAVING_NONE)
		return 0;
	text_add_saving(&text, after, before, saving->of,
	                set->resource->gtick);
	line = text_move(&text, &table->arena, error);
	return line == NULL ? -1 :
	    table_add_header(table, error, "%s, %s would %s%s %s%s", if_what,
	                     saving->who, is_estimated ? "probably " : "",
	                     saving->kind == SAVING_TIME ? "take" : "use",
	                     line, saving->unless);
}

int
saving_add_lack(const struct saving *saving, const struct sample_set *set,
                uint64_t hits, struct table *table, struct error *error)
{
	struct text_buffer text = { 0 };
	const char *line;

	if (saving->kind != SAVING_NONE || hits == 0)
		return 0;
	text_add_total_gticks(&text, hits, set->resource->interval,
	                      set->resource->gtick);
	text_add_string(&text, " of ");
	text_add_total_gticks(&text, set->total, set->resource->interval,
	                      set->resource->gtick);
	line = text_move(&text, &table->arena, error);
	return line == NULL ? -1 :
	    table_add_header(table, error, "%s%s%s%s: how much shorter the run "
	                     "would be is not known", line, saving->of,
	                     saving->are_several ? ", summed over " : "",
	                     saving->are_several ? saving->who : "");
}
