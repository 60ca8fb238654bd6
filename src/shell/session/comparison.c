/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.c -- the runs of a base beside those that are loaded. */
#include "src/shell/session/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/profile/large_array.h"
#include "src/profile/profile_runs.h"
#include "src/views/work.h"

/* ---- what depends on the loaded profile ---- */

void
comparison_forget_names(struct comparison *comparison)
{
	uint32_t n = comparison->base.n + comparison->now.n;

	naming_free(&comparison->naming);
	for (uint32_t i = 0; i < n; i++) {
		if (comparison->flows != NULL)
			naming_free(&comparison->flows[i]);
		if (comparison->weights != NULL)
			large_array_free(comparison->weights[i]);
	}
	free(comparison->flows);
	free(comparison->weights);
	free(comparison->runs);
	free(comparison->self);
	free(comparison->work);
	comparison->flows = NULL;
	comparison->weights = NULL;
	comparison->runs = NULL;
	comparison->self = NULL;
	comparison->work = NULL;
	comparison->compared = (struct compared_runs){ 0 };
	comparison->has_names = false;
}

void
comparison_forget_runs(struct comparison *comparison)
{
	comparison_forget_names(comparison);
	runs_free(&comparison->now);
	profile_free(comparison->profile);
	free(comparison->columns);
	free(comparison->resource);
	comparison->profile = NULL;
	comparison->columns = NULL;
	comparison->resource = NULL;
}

void
comparison_free(struct comparison *comparison)
{
	comparison_forget_runs(comparison);
	runs_free(&comparison->base);
	for (size_t i = 0; i < comparison->n_files; i++)
		free(comparison->files[i]);
	free(comparison->files);
	*comparison = (struct comparison){ 0 };
}

/* ---- one profile of all runs ---- */

/* "p.data has no resource cpu to compare; it has cycles, faults" */
static int
report_resource(const struct profile *run, const char *path,
                const char *name, struct error *error)
{
	struct text_buffer text = { 0 };

	for (uint32_t i = 0; i < run->n_resources; i++)
		text_add_format(&text, "%s%s", i == 0 ? "" : ", ",
		                run->resources[i].name);
	error_set(error, "%s has no resource %s to compare; it has %.200s",
	          path, name, text_string(&text));
	text_free(&text);
	return -1;
}

/* Finds the resource in each run. */
static int
find_resource(const struct runs *runs, const char *name, uint32_t *wanted,
              struct error *error)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		wanted[i] = profile_find_resource(runs->profiles[i], name);
		if (wanted[i] == NO_RESOURCE)
			return report_resource(runs->profiles[i],
			                       runs->paths[i], name, error);
	}
	return 0;
}

/* Runs with stacks and runs without cannot be compared. */
static int
check_kinds(const struct runs *runs, const struct profile *loaded,
            struct error *error)
{
	for (uint32_t i = 0; i < runs->n; i++)
		if ((runs->profiles[i]->tree == NULL) !=
		    (loaded->tree == NULL))
			return error_set(error, "cannot compare: %s has %s, "
			    "the loaded profile %s", runs->paths[i],
			    loaded->tree != NULL ? "calls without stacks" :
			    "stacks", loaded->tree != NULL ? "stacks" :
			    "calls without stacks");
	return 0;
}

static int
merge(struct comparison *comparison, const char *resource,
      struct error *error)
{
	const struct runs *base = &comparison->base, *now = &comparison->now;
	uint32_t n = base->n + now->n;
	struct profile **all = memory_array(n, sizeof *all, error);
	uint32_t *wanted = memory_array(n, sizeof *wanted, error);

	comparison->columns = memory_array(n, sizeof *comparison->columns,
	                                   error);
	comparison->resource = memory_string(resource, error);
	if (!error->is_set &&
	    find_resource(base, resource, wanted, error) == 0 &&
	    find_resource(now, resource, wanted + base->n, error) == 0) {
		memcpy(all, base->profiles, base->n * sizeof *all);
		memcpy(all + base->n, now->profiles, now->n * sizeof *all);
		comparison->profile = profile_merge_runs(all, wanted, n,
		    comparison->columns, error);
	}
	free(all);
	free(wanted);
	return comparison->profile != NULL ? 0 : -1;
}

int
comparison_make_profile(struct comparison *comparison, struct profile *loaded,
                        const char *const *paths, size_t n, uint32_t resource,
                        const struct read_options *options,
                        struct error *error)
{
	comparison_forget_runs(comparison);
	if (check_kinds(&comparison->base, loaded, error) == 0 &&
	    runs_find(&comparison->now, loaded, paths, n, options,
	              error) == 0 &&
	    merge(comparison, loaded->resources[resource].name, error) == 0)
		return 0;
	comparison_forget_runs(comparison);
	return -1;
}

/* ---- names ---- */

/* All hits and samples of a column in the run, whatever the steps leave. */
static uint64_t
column_total(const struct profile *profile, uint32_t column,
             uint64_t *n_samples)
{
	const struct sample_tree *tree = profile->tree;
	uint64_t hits;

	if (tree == NULL)
		return *n_samples = call_graph_total(profile->graph, column);
	hits = sample_tree_total(tree, tree->hits[column]);
	*n_samples = tree->samples == NULL || tree->samples[column] == NULL ?
	    hits : sample_tree_total(tree, tree->samples[column]);
	return hits;
}

/* Adds up the own hits of all runs. */
static int
add_up(struct comparison *comparison, uint32_t n, struct error *error)
{
	const struct sample_tree *tree = comparison->naming.tree;
	struct sample_set *set = &comparison->set;

	comparison->self = memory_array(tree->n_rows,
	                                sizeof *comparison->self, error);
	if (comparison->self == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *self = comparison->runs[i].self;

		for (uint32_t row = 0; row < tree->n_rows; row++)
			comparison->self[row] += self[row];
	}
	set->self = comparison->self;
	set->weight = comparison->naming.weight;
	set->left = sample_tree_total(tree, comparison->self);
	sample_tree_weights(tree, comparison->self,
	                    comparison->naming.weight);
	return 0;
}

/* The set of one run, without its stacks. */
static struct sample_set
describe_run(const struct comparison *comparison, uint32_t i, size_t n_steps)
{
	struct profile *profile = comparison->profile;
	uint32_t column = comparison->columns[i];
	struct sample_set set = {
		.names = profile->names,
		.resource = &profile->resources[column],
		.n_steps = n_steps,
		.profile = profile,
		.resource_number = column,
		.rule = &comparison->naming.rule,
	};

	set.total = set.left = column_total(profile, column, &set.n_samples);
	return set;
}

/* Sums the runs' totals; 0, or -1 with *error set. */
static int
sum_totals(struct comparison *comparison, uint32_t n, struct error *error)
{
	struct sample_set *set = &comparison->set;

	*set = comparison->runs[0];
	for (uint32_t i = 1; i < n; i++)
		if (__builtin_add_overflow(set->total,
		                           comparison->runs[i].total,
		                           &set->total) ||
		    __builtin_add_overflow(set->n_samples,
		                           comparison->runs[i].n_samples,
		                           &set->n_samples))
			return error_set(error, "cannot compare: the sum of "
			                 "all runs exceeds 64 bits");
	set->left = set->total;
	return 0;
}

static int
use_tree(struct comparison *comparison, uint32_t n, struct error *error)
{
	const struct sample_tree *tree = comparison->naming.tree;

	comparison->weights = memory_array(n, sizeof *comparison->weights,
	                                   error);
	if (comparison->weights == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct sample_set *run = &comparison->runs[i];

		run->tree = tree;
		run->self = tree->hits[run->resource_number];
		run->weight = comparison->weights[i] =
		    sample_tree_new_weights(tree, run->self, error);
		if (run->weight == NULL)
			return -1;
		if (run->n_steps > 0)
			run->left = sample_tree_total(tree, run->self);
	}
	comparison->set.tree = tree;
	return add_up(comparison, n, error);
}

/* A flow for each run; the first has the functions of all. */
static int
use_flows(struct comparison *comparison, const struct naming_request *request,
          uint32_t n, struct error *error)
{
	struct naming_request one = *request;
	struct call_flow *first = comparison->naming.flow;

	comparison->flows = memory_array(n, sizeof *comparison->flows, error);
	if (comparison->flows == NULL)
		return -1;
	comparison->set.flow = comparison->runs[0].flow = first;
	for (uint32_t i = 1; i < n; i++) {
		const struct call_flow *flow;

		one.resource = comparison->columns[i];
		if (naming_make(&comparison->flows[i], &one, error) != 0)
			return -1;
		flow = comparison->flows[i].flow;
		comparison->runs[i].flow = flow;
		for (uint32_t f = 0; f < first->n_names; f++) {
			first->functions[f].occurs |=
			    flow->functions[f].occurs;
			first->functions[f].is_estimated |=
			    flow->functions[f].is_estimated;
		}
	}
	return 0;
}

int
comparison_make_names(struct comparison *comparison,
                      const struct naming_request *request,
                      struct error *error)
{
	uint32_t n = comparison->base.n + comparison->now.n;
	struct naming_request own = *request;
	int result;

	comparison_forget_names(comparison);
	own.profile = comparison->profile;
	own.resource = comparison->columns[0];
	own.before = NULL;
	comparison->runs = memory_array(n, sizeof *comparison->runs, error);
	if (comparison->runs == NULL ||
	    naming_make(&comparison->naming, &own, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		comparison->runs[i] = describe_run(comparison, i,
		                                   request->n_steps);
	comparison->compared.n_base = comparison->base.n;
	result = sum_totals(comparison, n, error);
	if (result == 0)
		result = comparison->naming.tree != NULL ?
		    use_tree(comparison, n, error) :
		    use_flows(comparison, &own, n, error);
	if (result != 0)
		comparison_forget_names(comparison);
	else
		comparison->has_names = true;
	return result;
}

/* ---- the scale ---- */

void
comparison_scale_none(struct comparison *comparison)
{
	comparison->compared.work = NULL;
	comparison->compared.scale = NULL;
	comparison->compared.work_hits[0] = 0;
	comparison->compared.work_hits[1] = 0;
}

/* Room for the work of each run; 0, or -1 with *error set. */
static int
begin_scale(struct comparison *comparison, struct error *error)
{
	comparison_scale_none(comparison);
	free(comparison->work);
	comparison->work = memory_array(comparison->base.n + comparison->now.n,
	                                sizeof *comparison->work, error);
	return comparison->work != NULL ? 0 : -1;
}

static void
use_scale(struct comparison *comparison)
{
	comparison->compared.work = comparison->work;
	comparison->compared.scale = comparison->scale;
}

/* The mean work of a run now. */
static double
work_now(const struct comparison *comparison)
{
	double sum = 0;

	for (uint32_t i = 0; i < comparison->now.n; i++)
		sum += comparison->work[comparison->base.n + i];
	return sum / comparison->now.n;
}

int
comparison_scale_work(struct comparison *comparison, double work,
                      struct error *error)
{
	uint32_t n_base = comparison->base.n;

	if (begin_scale(comparison, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n_base + comparison->now.n; i++)
		comparison->work[i] = i < n_base ? 1 : work;
	snprintf(comparison->scale, sizeof comparison->scale,
	         "per unit of work, of which a run now does %.6g times that "
	         "of the base", work);
	use_scale(comparison);
	return 0;
}

/* " (+-2.1%)", if that is known. */
static void
add_uncertainty(struct comparison *comparison, int length)
{
	double uncertain = work_uncertainty(comparison->runs,
	    comparison->base.n + comparison->now.n,
	    comparison->compared.work_hits);

	if (isfinite(uncertain))
		snprintf(comparison->scale + length,
		         sizeof comparison->scale - (size_t)length,
		         " (+-%.2g%%)", 100 * uncertain);
}

int
comparison_scale_by(struct comparison *comparison, uint32_t function,
                    struct error *error)
{
	uint32_t n = comparison->base.n + comparison->now.n;
	double *hits = comparison->compared.work_hits;

	if (begin_scale(comparison, error) != 0 ||
	    work_by_function(comparison->runs, n, comparison->base.n,
	                     function, comparison->work, hits, error) != 0)
		return -1;
	add_uncertainty(comparison, snprintf(comparison->scale,
	    sizeof comparison->scale, "per use of %.150s, of which a run now "
	    "has %.4g times that of the base",
	    names_text(comparison->profile->names, function),
	    work_now(comparison)));
	use_scale(comparison);
	return 0;
}

int
comparison_scale_robust(struct comparison *comparison, struct error *error)
{
	uint32_t n = comparison->base.n + comparison->now.n;
	double *hits = comparison->compared.work_hits;

	if (begin_scale(comparison, error) != 0 ||
	    work_robust(comparison->runs, n, comparison->base.n,
	                comparison->work, hits, error) != 0)
		return -1;
	add_uncertainty(comparison, snprintf(comparison->scale,
	    sizeof comparison->scale, "robust: by most functions, a run now "
	    "does %.4g times the work of one of the base",
	    work_now(comparison)));
	use_scale(comparison);
	return 0;
}
