/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c -- which rows changed by more than noise, and where.
 *
 * The noise is fitted to the bodies of all functions, which do not overlap and
 * do not depend on the view.  So a path has the same change and interval in
 * every view; whether that counts as a change depends also on how many rows
 * are tested together.
 *
 * A change is in every path that leads to it.  So of the paths that changed in
 * one direction, each beginning with the one before, two say most: the
 * shortest, and the longest that still has most of the change.
 */
#include "src/views/comparison/comparison.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/base/progress.h"

static const double false_part = 0.05;	/* of the rows called changed */
static const double most = 0.8;		/* of a change */

void
compared_rows_free(struct compared_rows *compared)
{
	free(compared->changes);
	free(compared->verdicts);
	free(compared->roles);
	*compared = (struct compared_rows){ 0 };
}

/* ---- the threshold ---- */

/* What the threshold is a share of, as the mean over the runs [begin, end). */
static double
mean_base(const struct view_request *request, size_t begin, size_t end)
{
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += (double)measure_threshold_base(request,
		                                      &request->columns[i]);
	return sum / (double)(end - begin);
}

double
compare_whole(const struct view_request *request)
{
	const struct compared_runs *runs = request->compared;
	double hits = 0, work = 0;

	for (size_t i = 0; i < runs->n_base; i++) {
		hits += (double)measure_denominator(request,
		                                    &request->columns[i]);
		work += runs->work == NULL ? 1 : runs->work[i];
	}
	return hits / work;
}

void
compare_least(const struct view_request *request, double least[2])
{
	size_t n_base = request->compared->n_base;

	least[0] = request->threshold * mean_base(request, 0, n_base);
	least[1] = request->threshold * mean_base(request, n_base,
	                                          view_count_runs(request));
}

static double
mean_of(uint64_t *const *columns, size_t begin, size_t end, uint32_t row)
{
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += (double)columns[i][row];
	return sum / (double)(end - begin);
}

bool
compare_is_shown(const struct view_request *request,
                 uint64_t *const *columns, uint32_t row,
                 const double least[2])
{
	size_t n_base = request->compared->n_base;
	double base = mean_of(columns, 0, n_base, row);
	double now = mean_of(columns, n_base, view_count_runs(request), row);

	if (request->threshold > 0 && base == 0 && now == 0)
		return false;
	return base >= least[0] * (1 - 1e-12) || now >= least[1] * (1 - 1e-12);
}

/* ---- the test ---- */

/* Whether the hits are counts of samples in all runs. */
static bool
counts_samples(const struct view_request *request)
{
	for (size_t i = 0; i < request->n_columns; i++)
		if (request->columns[i].resource->counting !=
		    COUNTING_SAMPLED)
			return false;
	return true;
}

/*
 * Whether the counts are exact, of one run on each side: sampling adds no
 * noise, and how much runs differ is not known.
 */
static bool
compare_are_exact(const struct view_request *request)
{
	for (size_t i = 0; i < request->n_columns; i++)
		if (request->columns[i].resource->counting != COUNTING_EXACT)
			return false;
	return view_count_runs(request) == 2;
}

/*
 * What such counts say: each difference is one, but of values that are
 * estimates nothing is known.  rows[n]; NULL: none is an estimate.
 */
static void
take_as_exact(struct change *changes, const struct row *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct change *change = &changes[i];
		double rounding = 1e-9 * fmax(change->base, change->now);

		if (rows != NULL && rows[i].is_estimated)
			continue;
		change->low = change->high = change->change;
		change->verdict = fabs(change->change) <= rounding ?
		    CHANGE_NOISE : change->change > 0 ? CHANGE_LIKELY_GREW :
		    CHANGE_LIKELY_SHRANK;
	}
}

/*
 * How many hits one sample of each of n rows stands for; NULL with *error set.
 * values: those of all columns.  Hits that were measured count as samples: that
 * runs differ in them is not known to be less.
 */
static double *
sample_sizes(const struct view_request *request, uint64_t *const *values,
             uint32_t n, struct error *error)
{
	double *sizes = memory_array(n, sizeof *sizes, error);
	size_t n_runs = view_count_runs(request);
	const uint64_t drawn = sampled_most(request->columns, n_runs);

	for (uint32_t row = 0; sizes != NULL && row < n; row++) {
		double hits = 0, samples = 0;

		for (size_t i = 0; i < n_runs; i++)
			hits += (double)values[i][row];
		if (request->samples > 0)
			samples = (double)values[n_runs][row];
		sizes[row] = sampled_size(hits, samples, drawn);
	}
	return sizes;
}

/* Rows of all runs as the test wants them. */
static struct change_columns
make_columns(const struct view_request *request, uint64_t *const *values,
             uint32_t n, const double *sample)
{
	const struct compared_runs *runs = request->compared;
	double whole[2] = { 0 };

	for (size_t i = 0; i < view_count_runs(request); i++)
		whole[i >= runs->n_base] += (double)request->columns[i].total;
	return (struct change_columns){
		.n_rows = n,
		.n_base = runs->n_base,
		.n_now = view_count_runs(request) - runs->n_base,
		.base = (const uint64_t *const *)values,
		.now = (const uint64_t *const *)values + runs->n_base,
		.base_work = runs->work,
		.now_work = runs->work == NULL ? NULL :
		    runs->work + runs->n_base,
		.base_work_units = runs->work_hits[0],
		.now_work_units = runs->work_hits[1],
		.sample = counts_samples(request) ? sample : NULL,
		.base_whole = whole[0], .now_whole = whole[1],
	};
}

static void
free_values(uint64_t **values, size_t n)
{
	for (size_t i = 0; values != NULL && i < n; i++)
		free(values[i]);
	free(values);
}

/* [n_columns][n] zeros; NULL with *error set. */
static uint64_t **
new_values(size_t n_columns, uint32_t n, struct error *error)
{
	uint64_t **values = memory_array(n_columns, sizeof *values, error);

	for (size_t i = 0; values != NULL && i < n_columns; i++)
		if ((values[i] = memory_array(n, sizeof **values,
		                              error)) == NULL) {
			free_values(values, n_columns);
			return NULL;
		}
	return values;
}

static void
compare_add_bodies(const struct sample_set *run, uint64_t *bodies)
{
	const struct sample_tree *tree = run->tree;

	if (run->flow != NULL) {
		for (uint32_t i = 0; i < run->flow->n_names; i++)
			bodies[i] = run->flow->functions[i].self;
		return;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		bodies[tree->label[node]] +=
		    run->self[sample_tree_row(tree, node)];
}

/* Fits the noise to the bodies of all functions. */
static int
fit_noise(const struct view_request *request, struct change_noise *noise,
          struct error *error)
{
	uint32_t n = names_count(request->set->names);
	uint64_t **bodies = new_values(request->n_columns, n, error);
	double *sample = NULL;
	struct change_columns columns;
	int result = -1;

	for (size_t i = 0; bodies != NULL && i < request->n_columns; i++) {
		if (progress_step(NULL, 0, 0, error) != 0)
			break;
		compare_add_bodies(&request->columns[i], bodies[i]);
	}
	if (!error->is_set &&
	    (sample = sample_sizes(request, bodies, n, error)) != NULL) {
		columns = make_columns(request, bodies, n, sample);
		result = change_noise_fit(&columns, noise, error);
	}
	free_values(bodies, request->n_columns);
	free(sample);
	return result;
}

static int
compare_test_rows(const struct view_request *request, uint64_t *const *values,
                  uint32_t n, const struct change_noise *noise,
                  struct change *changes, struct error *error)
{
	double *sample = sample_sizes(request, values, n, error);
	struct change_columns columns;
	int result = -1;

	if (sample != NULL) {
		columns = make_columns(request, values, n, sample);
		result = change_test(&columns, noise, false_part, changes,
		                     error);
	}
	free(sample);
	return result;
}

/*
 * Tests totals without noise of sampling.  What they vary by, only replicates
 * show; where there are none, chance in the samples is all that is known.
 */
static int
test_known(const struct view_request *request, uint64_t *const *values,
           struct compared_rows *compared, struct error *error)
{
	struct change_noise noise = { 0 };
	struct change_columns columns = make_columns(request, values, 1, NULL);

	return change_noise_fit(&columns, &noise, error) != 0 ? -1 :
	    change_test(&columns, &noise, false_part, &compared->whole, error);
}

/* The runs as a whole, tested by themselves. */
static int
test_whole(const struct view_request *request, struct compared_rows *compared,
           struct error *error)
{
	const uint64_t *known = request->set->n_steps == 0 ?
	    request->compared->known : NULL;
	uint64_t **values = new_values(request->n_columns, 1, error);
	const bool is_replicated = view_count_runs(request) > 2;
	int result = -1;

	for (size_t i = 0; values != NULL && i < request->n_columns; i++)
		values[i][0] = known != NULL && i < view_count_runs(request) ?
		    known[i] : request->columns[i].left;
	if (values != NULL)
		result = known != NULL && is_replicated ?
		    test_known(request, values, compared, error) :
		    compare_test_rows(request, values, 1, &compared->noise,
		                      &compared->whole, error);
	if (result == 0 && compared->are_exact)
		take_as_exact(&compared->whole, NULL, 1);
	free_values(values, request->n_columns);
	return result;
}

enum row_verdict
compare_verdict(const struct change *change)
{
	static const enum row_verdict verdicts[N_CHANGE_VERDICTS] = {
		[CHANGE_UNDECIDED] = ROW_UNDECIDED,
		[CHANGE_NEEDS_RUNS] = ROW_UNDECIDED,
		[CHANGE_NOISE] = ROW_NOISE,
		[CHANGE_LIKELY_GREW] = ROW_LIKELY,
		[CHANGE_LIKELY_SHRANK] = ROW_LIKELY,
		[CHANGE_GREW] = ROW_GREW,
		[CHANGE_SHRANK] = ROW_SHRANK,
	};

	return verdicts[change->verdict];
}

/* ---- paths ---- */

/* 1: it grew, or likely did; -1: it shrank; 0: neither. */
static int
direction(const struct compared_rows *compared, uint32_t row)
{
	if (compared->verdicts[row] < ROW_LIKELY)
		return 0;
	return compared->changes[row].change > 0 ? 1 : -1;
}

/*
 * Finds rows that did not change although some extensions grew and others
 * shrank.
 */
static int
find_moved(struct compared_rows *compared, const struct row *rows,
           struct error *error)
{
	enum { UP = 1, DOWN = 2 };
	unsigned char *seen = memory_array(compared->n, 1, error);

	if (seen == NULL)
		return -1;
	for (uint32_t i = 0; i < compared->n; i++) {
		int way = direction(compared, i);

		if (rows[i].parent != NO_RECORD && way != 0)
			seen[rows[i].parent] |= way > 0 ? UP : DOWN;
	}
	for (uint32_t i = 0; i < compared->n; i++)
		if (compared->verdicts[i] == ROW_NOISE && seen[i] == (UP | DOWN))
			compared->verdicts[i] = ROW_MOVED;
	free(seen);
	return 0;
}

/* A row's place in the paths that changed like it. */
struct chain {
	uint32_t first;		/* the shortest path of the chain */
	uint32_t length;	/* names after it */
	bool has_most;		/* this path and all before it keep 80% of the
				 * change */
	uint32_t last;		/* of the first path: the longest that does */
};

/* Rows come after their parents. */
static void
compare_follow(const struct compared_rows *compared, const struct row *rows,
               struct chain *chains, uint32_t row)
{
	struct chain *chain = &chains[row];
	double change = fabs(compared->changes[row].change), last;
	uint32_t before = rows[row].parent;
	struct chain *first;

	*chain = (struct chain){ .first = row, .has_most = true, .last = row };
	if (before == NO_RECORD ||
	    direction(compared, before) != direction(compared, row))
		return;
	chain->first = chains[before].first;
	chain->length = chains[before].length + 1;
	first = &chains[chain->first];
	chain->has_most = chains[before].has_most && change >=
	    most * fabs(compared->changes[chain->first].change);
	last = fabs(compared->changes[first->last].change);
	if (chain->has_most &&
	    (chain->length > chains[first->last].length ||
	     (chain->length == chains[first->last].length && change > last)))
		first->last = row;
}

static int
find_roles(struct compared_rows *compared, const struct row *rows,
           struct error *error)
{
	struct chain *chains = memory_array(compared->n, sizeof *chains,
	                                    error);

	if (chains == NULL)
		return -1;
	for (uint32_t i = 0; i < compared->n; i++)
		if (direction(compared, i) != 0)
			compare_follow(compared, rows, chains, i);
	for (uint32_t i = 0; i < compared->n; i++) {
		if (direction(compared, i) == 0 || chains[i].first != i)
			continue;
		if (chains[i].last == i) {
			compared->roles[i] = ROLE_BOTH;
			continue;
		}
		compared->roles[i] = ROLE_FIRST;
		compared->roles[chains[i].last] = ROLE_LAST;
	}
	free(chains);
	return 0;
}

int
compare_rows(const struct view_request *request, const struct rows *rows,
             struct compared_rows *compared, struct error *error)
{
	const uint32_t n = rows->n;

	*compared = (struct compared_rows){
		.n = n,
		.are_exact = compare_are_exact(request),
	};
	compared->changes = memory_array(n, sizeof *compared->changes, error);
	compared->verdicts = memory_array(n, sizeof *compared->verdicts,
	                                  error);
	compared->roles = memory_array(n, sizeof *compared->roles, error);
	if (error->is_set || fit_noise(request, &compared->noise, error) != 0 ||
	    test_whole(request, compared, error) != 0 ||
	    compare_test_rows(request, rows->columns, n, &compared->noise,
	                      compared->changes, error) != 0)
		return -1;
	if (compared->are_exact)
		take_as_exact(compared->changes, rows->items, n);
	for (uint32_t i = 0; i < n; i++)
		compared->verdicts[i] = compare_verdict(&compared->changes[i]);
	if (!rows->are_paths)
		return 0;
	return find_moved(compared, rows->items, error) != 0 ? -1 :
	    find_roles(compared, rows->items, error);
}
