/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runs.c -- several runs of a program, each read by itself. */
#include "src/shell/session/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/formats/format.h"
#include "src/shell/record/recording.h"

void
runs_free(struct runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		if (!runs->are_borrowed)
			profile_free(runs->profiles[i]);
		free(runs->paths[i]);
	}
	free(runs->profiles);
	free(runs->paths);
	*runs = (struct runs){ 0 };
}

/* Reads one run, with the program if there is one. */
static int
read_run(struct runs *runs, const char *path, const char *program,
         const struct read_options *options, struct error *error)
{
	const char *paths[] = { path, program };
	struct profile *profile;
	char *copy;

	if (keep_names_late(path, options->symfs, error) != 0)
		return -1;
	copy = memory_string(path, error);
	profile = copy == NULL ? NULL :
	    load_profiles(paths, program != NULL ? 2 : 1, options, error);
	if (profile == NULL) {
		free(copy);
		return -1;
	}
	runs->profiles[runs->n] = profile;
	runs->paths[runs->n++] = copy;
	return 0;
}

static int
runs_read_list(struct runs *runs, const struct run_list *list,
               const struct read_options *options, struct error *error)
{
	if (list->n == 0)
		return error_set(error, "%s is a program; name a profile",
		                 list->program);
	if (list->n > RESOURCES_MAX)
		return error_set(error, "at most %d runs can be compared, not "
		                 "%zu; add some up first: cpprof merge -o OUT "
		                 "FILE...", RESOURCES_MAX, list->n);
	/*
	 * A run that is taken twice looks like two that are equal to the last
	 * hit, as if runs did not vary.
	 */
	if (run_list_check_distinct(list, error) != 0)
		return -1;
	runs->profiles = memory_array(list->n, sizeof *runs->profiles, error);
	runs->paths = memory_array(list->n, sizeof *runs->paths, error);
	if (runs->profiles == NULL || runs->paths == NULL)
		return -1;
	for (size_t i = 0; i < list->n; i++)
		if (read_run(runs, list->paths[i], list->program, options,
		             error) != 0)
			return -1;
	return 0;
}

int
runs_read(struct runs *runs, const char *const *paths, size_t n,
          const struct read_options *options, struct error *error)
{
	struct run_list list = { 0 };
	int result = run_list_add_paths(&list, paths, n, error);

	*runs = (struct runs){ 0 };
	if (result == 0)
		result = runs_read_list(runs, &list, options, error);
	if (result != 0)
		runs_free(runs);
	run_list_free(&list);
	return result;
}

/*
 * If the profile was read from one run, borrows it instead of reading it again.
 */
static int
borrow_run(struct runs *runs, struct profile *profile, const char *path,
           struct error *error)
{
	*runs = (struct runs){ .are_borrowed = true };
	runs->profiles = memory_array(1, sizeof *runs->profiles, error);
	runs->paths = memory_array(1, sizeof *runs->paths, error);
	if (runs->profiles == NULL || runs->paths == NULL ||
	    (runs->paths[0] = memory_string(path, error)) == NULL) {
		runs_free(runs);
		return -1;
	}
	runs->profiles[0] = profile;
	runs->n = 1;
	return 0;
}

int
runs_find(struct runs *runs, struct profile *loaded, const char *const *paths,
          size_t n, const struct read_options *options, struct error *error)
{
	struct run_list list = { 0 };
	int result = run_list_add_paths(&list, paths, n, error);

	for (size_t i = 0; result == 0 && list.n > 1 && i < list.n; i++)
		if (strcmp(list.paths[i], "-") == 0)
			result = error_set(error, "cannot compare several "
			    "loaded runs: one was read from standard input; "
			    "save it to a file");
	if (result == 0)
		result = list.n == 1 ?
		    borrow_run(runs, loaded, list.paths[0], error) :
		    runs_read_list(runs, &list, options, error);
	if (result != 0)
		runs_free(runs);
	run_list_free(&list);
	return result;
}

/* What a run used of a resource, in gticks; 0 if it does not have it. */
static double
used(const struct profile *run, const char *name)
{
	uint32_t r = profile_find_resource(run, name);
	double known = r == NO_RESOURCE ? 0 : profile_known_total(run, r);
	uint64_t samples;

	return r == NO_RESOURCE || known > 0 ? known :
	    (double)profile_hits(run, r, &samples) *
	    (double)run->resources[r].interval;
}

static void
add_variation(const struct runs *runs, const struct resource *resource,
              struct text_buffer *text)
{
	double sum = 0, squares = 0, least = INFINITY, greatest = 0, mean;

	for (uint32_t i = 0; i < runs->n; i++) {
		double gticks = used(runs->profiles[i], resource->name);

		sum += gticks;
		least = fmin(least, gticks);
		greatest = fmax(greatest, gticks);
	}
	mean = sum / runs->n;
	for (uint32_t i = 0; i < runs->n; i++)
		squares += pow(used(runs->profiles[i], resource->name) - mean,
		               2);
	text_add_string(text, resource->name);
	text_add_char(text, ' ');
	text_add_amount(text, mean, 1, resource->gtick);
	text_add_string(text, " on average, ");
	text_add_amount(text, least, 1, resource->gtick);
	text_add_string(text, " to ");
	text_add_amount(text, greatest, 1, resource->gtick);
	if (runs->n > 1 && mean > 0) {
		text_add_string(text, ", standard deviation ");
		text_add_rough_percent(text, sqrt(squares / (runs->n - 1)) /
		                             mean);
	}
}

void
runs_add_variation(const struct runs *runs, struct text_buffer *text)
{
	const struct profile *first = runs->profiles[0];

	for (uint32_t r = 0; r < first->n_resources; r++) {
		if (r > 0)
			text_add_string(text, "; ");
		add_variation(runs, &first->resources[r], text);
	}
}

/* ---- of the first screen ---- */

/* The hits of a resource in a recording or one of its files; 0: it has none. */
static uint64_t
runs_count_hits(const char *path, const char *resource)
{
	struct cpprofdata_summary summary = { 0 };
	struct error ignored = { 0 };
	struct stat status;

	if (stat(path, &status) != 0)
		return 0;
	if (S_ISDIR(status.st_mode))
		recording_summarise(path, &summary, &ignored);
	else
		cpprofdata_summarise(path, &summary, &ignored);
	for (size_t i = 0; i < summary.n_resources; i++)
		if (strcmp(summary.resources[i].name, resource) == 0)
			return summary.resources[i].hits;
	return 0;
}

int
runs_add_values(const char *const *paths, size_t n, const struct profile *all,
                uint32_t resource, struct text_buffer *text,
                struct error *error)
{
	enum { MOST = 8 };	/* values that are shown one by one */
	const struct resource *of = &all->resources[resource];
	struct run_list list = { 0 };
	uint64_t sum = 0, least = UINT64_MAX, most = 0, samples;
	uint64_t *hits = NULL;

	if (run_list_add_paths(&list, paths, n, error) == 0 && list.n > 1)
		hits = memory_array(list.n, sizeof *hits, error);
	for (size_t i = 0; hits != NULL && i < list.n; i++) {
		hits[i] = runs_count_hits(list.paths[i], of->name);
		sum += hits[i];
		least = hits[i] < least ? hits[i] : least;
		most = hits[i] > most ? hits[i] : most;
	}
	if (hits != NULL)
		text_add_format(text, "; %zu runs", list.n);
	/* Not of other formats, nor where intervals differ. */
	if (hits != NULL && sum > 0 &&
	    sum == profile_hits(all, resource, &samples)) {
		for (size_t i = 0; i < list.n && list.n <= MOST; i++) {
			text_add_string(text, i == 0 ? ": " : ", ");
			text_add_total_gticks(text, hits[i], of->interval,
			                      of->gtick);
		}
		if (list.n > MOST) {
			text_add_string(text, " of ");
			text_add_total_gticks(text, least, of->interval,
			                      of->gtick);
			text_add_string(text, " to ");
			text_add_total_gticks(text, most, of->interval,
			                      of->gtick);
		}
	}
	free(hits);
	run_list_free(&list);
	return error->is_set ? -1 : 0;
}
