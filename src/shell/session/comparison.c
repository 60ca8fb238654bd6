/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.c -- the runs of a base beside those that are loaded. */
#include "src/shell/session/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/profile/large_array.h"
#include "src/profile/profile_merge.h"
#include "src/profile/run_names.h"
#include "src/profile/sections.h"

/* ---- what depends on the loaded profile ---- */

void
comparison_forget_names(struct comparison *comparison)
{
	uint32_t n = comparison->n_base + comparison->n_now;

	naming_free(&comparison->subject.naming);
	for (uint32_t i = 0; comparison->flows != NULL && i < n; i++)
		naming_free(&comparison->flows[i]);
	free(comparison->flows);
	large_array_free_each(comparison->run_sums, n);
	free(comparison->runs);
	free(comparison->self);
	free(comparison->samples_self);
	large_array_free(comparison->samples_sums);
	free(comparison->work);
	comparison->flows = NULL;
	comparison->run_sums = NULL;
	comparison->runs = NULL;
	comparison->self = NULL;
	comparison->samples_self = NULL;
	comparison->samples_sums = NULL;
	comparison->subject.n_columns = comparison->subject.samples = 0;
	comparison->work = NULL;
	comparison->compared = (struct compared_runs){ 0 };
	comparison->has_names = false;
}

void
comparison_forget_profile(struct comparison *comparison)
{
	comparison_forget_names(comparison);
	runs_free(&comparison->now);
	division_free(&comparison->division);
	profile_free(comparison->subject.profile);
	free(comparison->columns);
	free(comparison->shares);
	free(comparison->known);
	free(comparison->resource);
	comparison->subject.profile = NULL;
	comparison->columns = NULL;
	comparison->shares = NULL;
	comparison->known = NULL;
	comparison->resource = NULL;
	comparison->n_base = comparison->n_now = 0;
	comparison->n_runs[0] = comparison->n_runs[1] = 0;
	comparison->values = (struct compared_values){ 0 };
}

void
comparison_free(struct comparison *comparison)
{
	comparison_forget_profile(comparison);
	runs_free(&comparison->base);
	sides_free(comparison->sides);
	text_free(&comparison->scale);
	memory_strings_free(comparison->files, comparison->n_files);
	*comparison = (struct comparison){ 0 };
}

bool
comparison_has_base(const struct comparison *comparison)
{
	return comparison->base.n > 0 || comparison->sides != NULL;
}

/* ---- one profile of all runs ---- */

/* "p.data has no resource cpu to compare; it has cycles, faults" */
static int
comparison_report_resource(const struct profile *run, const char *path,
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
comparison_find_resource(const struct runs *runs, const char *name,
                         uint32_t *wanted, struct error *error)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		wanted[i] = profile_find_resource(runs->profiles[i], name);
		if (wanted[i] == NO_RESOURCE)
			return comparison_report_resource(runs->profiles[i],
			                                  runs->paths[i], name,
			                                  error);
	}
	return 0;
}

/* Runs with stacks and runs without cannot be compared. */
static int
comparison_check_kinds(const struct runs *runs, const struct profile *loaded,
                       struct error *error)
{
	for (uint32_t i = 0; i < runs->n; i++)
		if ((runs->profiles[i]->tree == NULL) !=
		    (loaded->tree == NULL))
			return error_set(error, "cannot compare: %s has %s, "
			    "but the loaded profile has %s", runs->paths[i],
			    loaded->tree != NULL ? "calls without stacks" :
			    "stacks", loaded->tree != NULL ? "stacks" :
			    "calls without stacks");
	return 0;
}

/* Whether a side is one merged profile with several groups. */
static bool
has_groups(const struct runs *runs)
{
	const struct fleet *fleet = runs->n == 1 ? runs->profiles[0]->fleet :
	                            NULL;

	return fleet != NULL && fleet_count_groups(fleet) > 1;
}

/*
 * The columns of a run: of the resource, and if that is a level, of what it
 * gains and loses, which say how much there was at any time.  Returns how many.
 */
static uint32_t
comparison_columns_of(const struct profile *run, uint32_t wanted,
                      uint32_t part, struct counted_column *columns)
{
	const struct count_kind *kind = run->resources[wanted].kind;
	const bool is_level = count_kind_is_level(kind);
	const uint32_t numbers[] = { wanted,
		is_level ? profile_find_resource(run, kind->gain) : NO_RESOURCE,
		is_level ? profile_find_resource(run, kind->loss) :
		NO_RESOURCE };
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i] != NO_RESOURCE)
			columns[n++] = (struct counted_column){ numbers[i],
				numbers[i], part };
	return n;
}

enum { COLUMNS_OF_RUN = 3 };

/*
 * The runs of a side as addends, each with its columns, or with those of its
 * groups if these are wanted.  *columns: where the side's begin, and then where
 * they end; part: the first run's.  Returns how many parts there are: one for
 * each run or group.
 */
static uint32_t
comparison_count_side(const struct runs *runs, const uint32_t *wanted,
                      bool wants_groups, struct addend *addends,
                      struct counted_column **columns, uint32_t part,
                      struct fleet_groups **groups, struct error *error)
{
	struct counted_column *next = *columns;
	uint32_t n = 0;

	if (wants_groups && has_groups(runs))
		*groups = fleet_groups_new(runs->profiles[0]->fleet,
		                           wanted[0], error);
	for (uint32_t i = 0; i < runs->n; i++) {
		struct profile *run = runs->profiles[i];
		const bool is_grouped = *groups != NULL;

		addends[i] = (struct addend){ run, is_grouped ?
			(*groups)->tree : run->tree, next, 0, NULL };
		for (uint32_t c = 0; is_grouped && c < (*groups)->n; c++, n++)
			next[addends[i].n++] = (struct counted_column){
				(*groups)->first + c, wanted[i], part + n };
		if (!is_grouped)
			addends[i].n = comparison_columns_of(run, wanted[i],
			                                     part + n++, next);
		next += addends[i].n;
	}
	*columns = next;
	return n;
}

/*
 * What part of a run's work a column has: that of the group's members.  The
 * last is the rest, so that all are 1 in spite of rounding.
 */
static void
share_work(double *shares, uint32_t n, const struct fleet_groups *groups)
{
	double members = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		members += groups != NULL ? groups->members[i] : 0;
	for (uint32_t i = 0; i < n; i++) {
		shares[i] = groups == NULL ? 1 :
		    i + 1 < n ? groups->members[i] / members : 1 - sum;
		sum += shares[i];
	}
}

/* Adds up the addends, whose columns are the parts from 0 to n - 1. */
static int
comparison_add_up(struct comparison *comparison, const struct addend *addends,
                  uint32_t n_addends, uint32_t n, struct error *error)
{
	struct profile *sum;

	if (n > RESOURCES_MAX)
		return error_set(error, "at most %d runs can be compared; add "
		                 "some up first: cpprof merge -o OUT FILE...",
		                 RESOURCES_MAX);
	comparison->columns = memory_array(n, sizeof *comparison->columns,
	                                   error);
	if (comparison->columns == NULL)
		return -1;
	sum = profile_add_up(addends, n_addends, error);
	comparison->subject.profile = sum;
	for (uint32_t i = 0; sum != NULL && i < n; i++)
		comparison->columns[i] = profile_find_part(sum,
		    comparison->resource, i);
	return sum != NULL ? 0 : -1;
}

/*
 * What each run used by the kernel's account, in hits of its column.  Unknown
 * of one run, it is not used of any.
 */
static int
comparison_find_known(struct comparison *comparison, const struct addend *runs,
                      const uint32_t *wanted, uint32_t n, struct error *error)
{
	const struct profile *sum = comparison->subject.profile;

	comparison->known = memory_array(n, sizeof *comparison->known, error);
	for (uint32_t i = 0; comparison->known != NULL && i < n; i++) {
		comparison->known[i] = (uint64_t)(
		    profile_known_total(runs[i].profile, wanted[i]) /
		    (double)sum->resources[comparison->columns[i]].interval);
		if (comparison->known[i] == 0) {
			free(comparison->known);
			comparison->known = NULL;
		}
	}
	return error->is_set ? -1 : 0;
}

static int
comparison_merge(struct comparison *comparison, const char *resource,
                 bool wants_groups, struct error *error)
{
	const struct runs *base = &comparison->base, *now = &comparison->now;
	uint32_t n = base->n + now->n, n_base, n_now;
	struct addend *addends = memory_array(n, sizeof *addends, error);
	struct counted_column *columns = memory_array(
	    (size_t)COLUMNS_OF_RUN * n + 2 * FLEET_GROUPS, sizeof *columns,
	    error), *next = columns;
	uint32_t *wanted = memory_array(n, sizeof *wanted, error);
	struct fleet_groups *groups[2] = { NULL };

	comparison->resource = memory_string(resource, error);
	if (!error->is_set &&
	    comparison_find_resource(base, resource, wanted, error) == 0 &&
	    comparison_find_resource(now, resource, wanted + base->n,
	                             error) == 0) {
		n_base = comparison_count_side(base, wanted, wants_groups,
		    addends, &next, 0, &groups[0], error);
		n_now = comparison_count_side(now, wanted + base->n,
		    wants_groups, addends + base->n, &next, n_base,
		    &groups[1], error);
		comparison->n_base = n_base;
		comparison->n_now = n_now;
		comparison->n_runs[0] = base->n;
		comparison->n_runs[1] = now->n;
		if (groups[0] != NULL || groups[1] != NULL)
			comparison->shares = memory_array(n_base + n_now,
			    sizeof *comparison->shares, error);
		if (comparison->shares != NULL) {
			share_work(comparison->shares, n_base, groups[0]);
			share_work(comparison->shares + n_base, n_now,
			           groups[1]);
		}
		if (!error->is_set)
			comparison_add_up(comparison, addends, n,
			                  n_base + n_now, error);
		if (!error->is_set && comparison->shares == NULL)
			comparison_find_known(comparison, addends, wanted, n,
			                      error);
	}
	fleet_groups_release(groups[0]);
	fleet_groups_release(groups[1]);
	free(addends);
	free(columns);
	free(wanted);
	return error->is_set ? -1 : 0;
}

bool
comparison_has_profile(const struct comparison *comparison,
                       const char *resource, bool wants_groups)
{
	return comparison->subject.profile != NULL &&
	    strcmp(comparison->resource, resource) == 0 &&
	    (comparison->wanted_groups == wants_groups ||
	     (!has_groups(&comparison->base) &&
	      !has_groups(&comparison->now)));
}

int
comparison_make_profile(struct comparison *comparison, struct profile *loaded,
                        const char *const *paths, size_t n, uint32_t resource,
                        bool wants_groups, const struct read_options *options,
                        struct error *error)
{
	comparison_forget_profile(comparison);
	comparison->wanted_groups = wants_groups;
	if (comparison_check_kinds(&comparison->base, loaded, error) == 0 &&
	    runs_find(&comparison->now, loaded, paths, n, options, error) ==
	        0 &&
	    comparison_merge(comparison, loaded->resources[resource].name,
	                     wants_groups, error) == 0)
		return 0;
	comparison_forget_profile(comparison);
	return -1;
}

/* ---- one profile of the values of a label ---- */

/* The hits of stacks without the label. */
static uint64_t
count_unlabelled(const struct profile *profile, uint32_t resource,
                 const struct division *division, const char *key,
                 struct error *error)
{
	struct section_total *totals = memory_array(profile->n_sections +
	    (size_t)1, sizeof *totals, error);
	struct text_buffer text = { 0 };
	uint64_t hits = 0;

	if (totals == NULL)
		return 0;
	section_totals(profile, profile->tree, resource, totals);
	for (uint32_t i = 0; i <= profile->n_sections; i++)
		if (division->column[i] == NO_RESOURCE &&
		    !section_add_value(profile, i, key, &text))
			hits += totals[i].hits;
	text_free(&text);
	free(totals);
	return hits;
}

static int
comparison_make_values_profile(struct comparison *comparison,
                               struct profile *loaded, uint32_t resource,
                               bool keeps_sections, struct error *error)
{
	const struct division *division = &comparison->division;
	const struct sides *sides = comparison->sides;
	uint32_t n = division->n[0] + division->n[1];
	const struct section_columns columns = { division->column, sides->key,
		keeps_sections };
	struct counted_column *counted = memory_array(n, sizeof *counted,
	                                              error);
	const struct addend addend = { loaded, loaded->tree, counted, n,
		&columns };

	comparison->keeps_sections = keeps_sections;
	comparison->resource = memory_string(loaded->resources[resource].name,
	                                     error);
	for (uint32_t i = 0; counted != NULL && i < n; i++)
		counted[i] = (struct counted_column){ resource, resource, i };
	if (division->sizes != NULL)
		comparison->shares = memory_copy(division->sizes, n,
		    sizeof *comparison->shares, error);
	comparison->values = (struct compared_values){
		.key = sides->key,
		.sides = { sides->texts[0], sides->texts[1] },
		.n = { names_count(division->values[0]),
		       names_count(division->values[1]) },
		.unlabelled = count_unlabelled(loaded, resource, division,
		                               sides->key, error),
	};
	for (int side = 0; side < 2; side++)
		comparison->n_runs[side] = division->n[side];
	comparison->n_base = division->n[0];
	comparison->n_now = division->n[1];
	if (!error->is_set)
		comparison_add_up(comparison, &addend, 1, n, error);
	free(counted);
	return error->is_set ? -1 : 0;
}

/* ---- one profile of two parts of the run ---- */

static int
comparison_make_times_profile(struct comparison *comparison,
                              struct profile *loaded, uint32_t resource,
                              const struct slice_set sets[2],
                              struct error *error)
{
	const struct sides *sides = comparison->sides;
	struct sample_tree *trees[2] = { NULL };
	struct counted_column counted[2];
	struct addend addends[2];

	comparison->resource = memory_string(loaded->resources[resource].name,
	                                     error);
	for (int side = 0; side < 2; side++) {
		counted[side] = (struct counted_column){ resource, resource,
			(uint32_t)side };
		trees[side] = tree_time_select(loaded->tree, &sets[side],
		                               error);
		addends[side] = (struct addend){ loaded, trees[side],
			&counted[side], 1, NULL };
		comparison->n_runs[side] = 1;
	}
	comparison->values = (struct compared_values){
		.are_times = true,
		.key = sides->key,
		.sides = { sides->texts[0], sides->texts[1] },
		.n = { 1, 1 },
	};
	comparison->n_base = comparison->n_now = 1;
	if (!error->is_set)
		comparison_add_up(comparison, addends, 2, 2, error);
	tree_time_free(trees[0]);
	tree_time_free(trees[1]);
	return error->is_set ? -1 : 0;
}

int
comparison_make_sides(struct comparison *comparison, struct profile *loaded,
                      uint32_t resource, struct step *const *steps, size_t n,
                      bool keeps_sections, struct error *error)
{
	const struct sides *sides = comparison->sides;
	const bool has_resource = comparison->subject.profile != NULL &&
	    strcmp(comparison->resource, loaded->resources[resource].name) == 0;
	struct division division;
	struct slice_set sets[2];
	int result;

	if (sides->are_times) {
		if (sides_slices(sides, loaded, sets, error) != 0)
			return -1;
		if (has_resource)
			return 0;
		comparison_forget_profile(comparison);
		result = comparison_make_times_profile(comparison, loaded,
		                                       resource, sets, error);
	} else {
		if (sides_divide(sides, loaded, steps, n, &division,
		                 error) != 0)
			return -1;
		if (has_resource &&
		    comparison->keeps_sections == keeps_sections &&
		    division_equals(&comparison->division, &division)) {
			division_free(&division);
			return 0;
		}
		comparison_forget_profile(comparison);
		comparison->division = division;
		result = comparison_make_values_profile(comparison, loaded,
		    resource, keeps_sections, error);
	}
	if (result != 0)
		comparison_forget_profile(comparison);
	return result;
}

/* ---- names ---- */

/* Adds up the own hits of all runs. */
static int
comparison_add_hits(struct comparison *comparison, uint32_t n,
                    struct error *error)
{
	const struct sample_tree *tree = comparison->subject.naming.tree;
	struct sample_set *set = &comparison->subject.set;

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
	set->sums = comparison->subject.naming.sums;
	set->left = sample_tree_total(tree, comparison->self);
	sample_tree_sum(tree, comparison->self,
	                comparison->subject.naming.sums);
	return 0;
}

/* The set of one run, without its stacks. */
static struct sample_set
comparison_run_set(const struct comparison *comparison, uint32_t i,
                   size_t n_steps)
{
	struct profile *profile = comparison->subject.profile;
	uint32_t column = comparison->columns[i];
	struct sample_set set = {
		.names = profile->names,
		.resource = &profile->resources[column],
		.n_steps = n_steps,
		.profile = profile,
		.resource_number = column,
		.rule = &comparison->subject.naming.rule,
	};

	set.total = set.left = profile_hits(profile, column, &set.n_samples);
	return set;
}

/* Sums the runs' totals. */
static int
sum_totals(struct comparison *comparison, uint32_t n, struct error *error)
{
	struct sample_set *set = &comparison->subject.set;

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

/*
 * If samples may stand for several hits, those of all runs are a column, too.
 */
static int
use_samples(struct comparison *comparison, uint32_t n, struct error *error)
{
	const struct sample_tree *tree = comparison->subject.naming.tree;
	struct sample_set *samples = &comparison->runs[n];
	bool is_needed = false;

	for (uint32_t i = 0; i < n; i++)
		is_needed |= tree->samples[comparison->columns[i]] != NULL;
	if (!is_needed)
		return 0;
	comparison->samples_self = memory_array(tree->n_rows,
	    sizeof *comparison->samples_self, error);
	if (comparison->samples_self == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t column = comparison->columns[i];
		const uint64_t *own = tree->samples[column] != NULL ?
		    tree->samples[column] : tree->hits[column];

		for (uint32_t row = 0; row < tree->n_rows; row++)
			comparison->samples_self[row] += own[row];
	}
	comparison->samples_sums = sample_tree_new_sums(tree,
	    comparison->samples_self, error);
	if (comparison->samples_sums == NULL)
		return -1;
	*samples = comparison->subject.set;
	samples->self = comparison->samples_self;
	samples->sums = comparison->samples_sums;
	samples->total = comparison->subject.set.n_samples;
	samples->left = sample_tree_total(tree, comparison->samples_self);
	comparison->subject.samples = comparison->subject.n_columns = n + 1;
	return 0;
}

static int
use_tree(struct comparison *comparison, uint32_t n, struct error *error)
{
	const struct sample_tree *tree = comparison->subject.naming.tree;

	comparison->run_sums = memory_array(n, sizeof *comparison->run_sums,
	                                   error);
	if (comparison->run_sums == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct sample_set *run = &comparison->runs[i];

		run->tree = tree;
		run->self = tree->hits[run->resource_number];
		run->sums = comparison->run_sums[i] =
		    sample_tree_new_sums(tree, run->self, error);
		if (run->sums == NULL)
			return -1;
		if (run->n_steps > 0)
			run->left = sample_tree_total(tree, run->self);
	}
	comparison->subject.set.tree = tree;
	return comparison_add_hits(comparison, n, error) != 0 ? -1 :
	    use_samples(comparison, n, error);
}

/*
 * Adds the functions of a run's flow to the flow that stands for all runs.  Its
 * calls are those of the first run; what needs calls asks each run.
 */
static void
add_flow(struct call_flow *all, const struct call_flow *run)
{
	for (uint32_t f = 0; f < all->n_names; f++) {
		struct flow_function *to = &all->functions[f];
		const struct flow_function *from = &run->functions[f];

		to->self += from->self;
		to->inclusive += from->inclusive;
		to->is_known |= from->is_known;
		to->is_called |= from->is_called;
		to->is_used |= from->is_used;
		to->occurs |= from->occurs;
		to->is_estimated |= from->is_estimated;
	}
}

/* A flow for each run, and one of all. */
static int
use_flows(struct comparison *comparison, const struct naming_request *request,
          uint32_t n, struct error *error)
{
	struct naming_request one = *request;

	comparison->flows = memory_array(n, sizeof *comparison->flows, error);
	if (comparison->flows == NULL)
		return -1;
	comparison->subject.set.flow = comparison->subject.naming.flow;
	for (uint32_t i = 0; i < n; i++) {
		one.resource = comparison->columns[i];
		if (naming_make(&comparison->flows[i], &one, error) != 0)
			return -1;
		comparison->runs[i].flow = comparison->flows[i].flow;
		if (i > 0)
			add_flow(comparison->subject.naming.flow,
			         comparison->flows[i].flow);
	}
	return 0;
}

/* ---- names that differ by numbers of one run ---- */

/* By name: what it is without such numbers, and on which sides that is. */
struct run_names {
	uint32_t n;			/* names before any was added */
	unsigned char *sides;		/* [n] 1 << side of each */
	uint32_t *renamed;		/* [n] */
	unsigned char *all, *both;	/* [names] of renamed: sides that any has,
					 * and that all have */
};

static int
run_names_find_sides(struct run_names *found,
                     const struct comparison *comparison, struct error *error)
{
	const struct sample_tree *tree = comparison->subject.naming.tree;
	unsigned char *below = memory_array(tree->n_nodes, 1, error);
	const uint32_t n = comparison->n_base + comparison->n_now;

	for (uint32_t node = tree->n_nodes; below != NULL && node-- > 0;) {
		for (uint32_t i = 0; i < n; i++)
			if (sample_tree_hits(tree, comparison->columns[i],
			                     node) > 0)
				below[node] |= 1 << (i >= comparison->n_base);
		found->sides[tree->label[node]] |= below[node];
		if (sample_tree_parent(tree, node) != NO_NODE)
			below[sample_tree_parent(tree, node)] |= below[node];
	}
	free(below);
	return error->is_set ? -1 : 0;
}

/* Sets renamed, also for names that keep theirs in the end. */
static int
run_names_find_renamed(struct run_names *found, struct names *names,
                       struct error *error)
{
	struct text_buffer text = { 0 };

	for (uint32_t i = 0; i < found->n && !error->is_set; i++) {
		found->renamed[i] = i;
		if (found->sides[i] != 0 && run_name_add(&text,
		        names_text(names, i), names_length(names, i)))
			found->renamed[i] = names_add(names, text.bytes,
			                              text.length, error);
		if (text.failed)
			error_out_of_memory(error);
		text_clear(&text);
	}
	text_free(&text);
	return error->is_set ? -1 : 0;
}

/*
 * Keeps the names of those that are on both sides as they are, or that have no
 * counterpart on the other side.
 */
static int
run_names_keep_others(struct run_names *found, const struct names *names,
                      struct compared_runs *compared, struct error *error)
{
	const uint32_t n = names_count(names);

	found->all = memory_array(n, 1, error);
	found->both = memory_array(n, 1, error);
	if (error->is_set)
		return -1;
	memset(found->both, 3, n);
	for (uint32_t i = 0; i < found->n; i++)
		if (found->sides[i] != 0) {
			found->all[found->renamed[i]] |= found->sides[i];
			found->both[found->renamed[i]] &= found->sides[i];
		}
	for (uint32_t i = 0; i < found->n; i++) {
		const uint32_t to = found->renamed[i];

		if (to == i)
			continue;
		if (found->all[to] != 3 || found->both[to] == 3) {
			found->renamed[i] = i;
			continue;
		}
		if (compared->n_renamed++ == 0) {
			compared->renamed[0] = i;
			compared->renamed[1] = to;
		}
	}
	return 0;
}

/*
 * Makes one name of those that differ between the files of both sides by
 * numbers of one run only (run_names.h).  Steps know their own names.
 */
static int
comparison_join_names(struct comparison *comparison,
                      const struct naming_request *request,
                      struct error *error)
{
	struct names *names = comparison->subject.profile->names;
	struct run_names found = { .n = names_count(names) };
	int status = -1;

	if (comparison->n_base == 0 || comparison->n_now == 0 ||
	    comparison->sides != NULL ||
	    comparison->subject.naming.tree == NULL)
		return 0;
	found.sides = memory_array(found.n, 1, error);
	found.renamed = memory_array(found.n, sizeof *found.renamed, error);
	if (!error->is_set &&
	    run_names_find_sides(&found, comparison, error) == 0 &&
	    run_names_find_renamed(&found, names, error) == 0)
		status = run_names_keep_others(&found, names,
		                               &comparison->compared, error);
	if (status == 0 && comparison->compared.n_renamed > 0)
		status = naming_rename(&comparison->subject.naming, request,
		                       found.renamed, found.n, error);
	free(found.sides);
	free(found.renamed);
	free(found.all);
	free(found.both);
	return status;
}

int
comparison_make_names(struct comparison *comparison,
                      const struct naming_request *request,
                      struct error *error)
{
	uint32_t n = comparison->n_base + comparison->n_now;
	struct naming_request own = *request;
	int result;

	comparison_forget_names(comparison);
	own.profile = comparison->subject.profile;
	own.resource = comparison->columns[0];
	own.before = NULL;
	comparison->runs = memory_array(n + 1, sizeof *comparison->runs, error);
	comparison->subject.columns = comparison->runs;
	comparison->subject.n_columns = n;
	comparison->subject.compared = &comparison->compared;
	comparison->subject.resource = comparison->columns[0];
	if (comparison->runs == NULL ||
	    naming_make(&comparison->subject.naming, &own, error) != 0 ||
	    comparison_join_names(comparison, &own, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		comparison->runs[i] = comparison_run_set(comparison, i,
		                                         request->n_steps);
	comparison->compared.n_base = comparison->n_base;
	comparison->compared.known = comparison->known;
	if (comparison->sides != NULL)
		comparison->compared.values = &comparison->values;
	if (comparison->n_base > comparison->n_runs[0])
		comparison->compared.base_members =
		    comparison->base.profiles[0]->fleet->n_members;
	if (comparison->n_now > comparison->n_runs[1])
		comparison->compared.now_members =
		    comparison->now.profiles[0]->fleet->n_members;
	comparison_scale_none(comparison);
	result = sum_totals(comparison, n, error);
	if (result == 0)
		result = comparison->subject.naming.tree != NULL ?
		    use_tree(comparison, n, error) :
		    use_flows(comparison, &own, n, error);
	if (result != 0)
		comparison_forget_names(comparison);
	else
		comparison->has_names = true;
	return result;
}
