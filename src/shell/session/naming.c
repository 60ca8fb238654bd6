/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naming.c -- the profile's stacks as names, with the weights of a resource. */
#include "src/shell/session/naming.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/call_flow.h"
#include "src/profile/frame_labels.h"
#include "src/profile/large_array.h"
#include "src/refine/refine.h"

static void
free_columns(struct naming_column *columns, size_t n)
{
	for (size_t i = 0; columns != NULL && i < n; i++) {
		large_array_free(columns[i].sums);
		call_flow_free(columns[i].flow);
	}
	free(columns);
}

void
naming_free(struct naming *naming)
{
	free_columns(naming->columns, naming->n_columns);
	if (naming->tree_is_own)
		sample_tree_free(naming->tree);
	call_flow_free(naming->flow);
	large_array_free(naming->sums);
	free(naming->skipped);
	free(naming->functions);
	free(naming->occurs);
	naming_forget_stacks(naming);
	fleet_groups_release(naming->groups);
	*naming = (struct naming){ 0 };
}

void
naming_forget_stacks(struct naming *naming)
{
	struct kept_stacks *kept = naming->stacks;

	refining_free(naming->refining);
	naming->refining = NULL;
	naming->stacks = NULL;
	if (kept == NULL || --kept->n_owners > 0)
		return;
	stacks_free(&kept->stacks);
	fleet_groups_release(kept->groups);
	free(kept);
}

/* Lists the names that occur in the tree or the flow. */
static int
naming_list_functions(struct naming *naming, struct error *error)
{
	const struct sample_tree *tree = naming->tree;
	struct function_list *list;
	uint32_t n = 0;

	naming->n_names = names_count(naming->names);
	naming->occurs = memory_array(naming->n_names, 1, error);
	if (naming->occurs == NULL)
		return -1;
	for (uint32_t name = 0; tree == NULL && name < naming->n_names; name++)
		n += naming->occurs[name] =
		    naming->flow->functions[name].occurs;
	for (uint32_t node = 0; tree != NULL && node < tree->n_nodes; node++) {
		n += !naming->occurs[tree->label[node]];
		naming->occurs[tree->label[node]] = 1;
	}
	list = memory_array(1, sizeof *list + n * sizeof *list->names, error);
	if (list == NULL)
		return -1;
	for (uint32_t name = 0; name < naming->n_names; name++)
		if (naming->occurs[name])
			list->names[list->n++] = name;
	naming->functions = list;
	return 0;
}

/* Sorts only when the names are needed, which keeps loading fast. */
const uint32_t *
naming_functions(const struct naming *naming, uint32_t *n)
{
	struct function_list *list = naming->functions;

	*n = list == NULL ? 0 : list->n;
	if (list == NULL)
		return NULL;
	if (!list->is_sorted)
		qsort_r(list->names, list->n, sizeof *list->names,
		        names_compare_items, (void *)naming->names);
	list->is_sorted = true;
	return list->names;
}

/*
 * The graph that the steps leave, with the names of the rule; sets
 * skipped[n_steps] and *why as refine_graph.  *is_own: whether the caller must
 * free it.  NULL with *error set.
 */
static struct call_graph *
naming_make_graph(const struct naming_request *request, bool *skipped,
                  bool *is_own, struct error *why, struct error *error)
{
	struct call_graph *refined, *named;
	bool is_refined;

	refined = refine_graph(request->profile, request->steps,
	                       request->n_steps, skipped, &is_refined, why,
	                       error);
	if (refined == NULL)
		return NULL;
	named = named_graph_new(request->profile, refined, &request->rule,
	                        is_own, error);
	if (is_refined && named != refined)
		call_graph_free(refined);
	*is_own = named != NULL && named != request->profile->graph;
	return named;
}

static int
naming_make_flow(struct naming *naming, const struct naming_request *request,
                 struct error *error)
{
	bool is_own;
	struct profile *profile = request->profile;
	struct call_graph *graph;

	naming->skipped = memory_array(request->n_steps,
	                               sizeof *naming->skipped, error);
	if (naming->skipped == NULL)
		return -1;
	graph = naming_make_graph(request, naming->skipped, &is_own,
	                          &naming->why_last, error);
	if (graph == NULL)
		return -1;
	naming->flow = call_flow_new(graph, names_count(profile->names),
	                             request->resource, request->has_static,
	                             error);
	if (is_own)
		call_graph_free(graph);
	return naming->flow == NULL ? -1 : naming_list_functions(naming, error);
}

/* The same for a tree that is the profile's or has no sections. */
static int
make_stacks(const struct naming_request *request,
            const struct sample_tree *tree, bool has_sections,
            struct stacks *stacks, struct error *error)
{
	struct profile *profile = request->profile;
	uint32_t *section = NULL;
	int result;

	*stacks = (struct stacks){ 0 };
	if (has_sections ||
	    steps_need_sections(request->steps, request->n_steps)) {
		section = sections_of_nodes(profile, error);
		if (section == NULL)
			return -1;
	}
	result = stacks_make(stacks, profile, tree, section, &request->rule,
	    steps_granularities(request->steps, request->n_steps),
	    request->hidden, error);
	large_array_free(section);
	return result;
}

int
naming_stacks(const struct naming_request *request, bool has_sections,
              struct stacks *stacks, struct error *error)
{
	return make_stacks(request, request->profile->tree, has_sections,
	                   stacks, error);
}

int
naming_stacks_of(const struct naming_request *request,
                 const struct sample_tree *tree, struct stacks *stacks,
                 struct error *error)
{
	return make_stacks(request, tree, false, stacks, error);
}

/* Whether the stacks of the naming before are those of the request, too. */
static bool
stacks_fit(const struct naming *naming, const struct naming_request *request)
{
	const struct kept_stacks *kept = request->before == NULL ? NULL :
	                                 request->before->stacks;

	return kept != NULL && kept->stacks.profile == request->profile &&
	    kept->groups == naming->groups &&
	    kept->rule.granularity == request->rule.granularity &&
	    kept->rule.inlines == request->rule.inlines &&
	    kept->hidden == request->hidden &&
	    (steps_granularities(request->steps, request->n_steps) &
	     ~kept->granularities) == 0 &&
	    (kept->has_sections ||
	     !steps_need_sections(request->steps, request->n_steps));
}

/* Shares the stacks of the naming before, if they fit. */
static bool
share_stacks(struct naming *naming, const struct naming_request *request)
{
	if (!stacks_fit(naming, request))
		return false;
	naming->stacks = request->before->stacks;
	naming->stacks->n_owners++;
	return true;
}

/* The stacks that names are made of. */
static struct sample_tree *
tree_of(const struct naming *naming, const struct naming_request *request)
{
	return naming->groups != NULL ? naming->groups->tree :
	       request->profile->tree;
}

/* Shares them, or makes new ones. */
static int
take_stacks(struct naming *naming, const struct naming_request *request,
            struct error *error)
{
	struct kept_stacks *kept;

	if (share_stacks(naming, request))
		return 0;
	kept = naming->stacks = memory_array(1, sizeof *kept, error);
	if (kept == NULL)
		return -1;
	*kept = (struct kept_stacks){
		.rule = request->rule,
		.granularities = steps_granularities(request->steps,
		                                     request->n_steps),
		.hidden = request->hidden,
		.has_sections = steps_need_sections(request->steps,
		                                    request->n_steps),
		.groups = fleet_groups_share(naming->groups),
		.n_owners = 1,
	};
	return make_stacks(request, tree_of(naming, request), false,
	                   &kept->stacks, error);
}

/*
 * The tree of what the steps leave.  Before the first step no stacks are kept:
 * they may take as much memory as the profile.
 */
static int
naming_refine(struct naming *naming, const struct naming_request *request,
              struct error *error)
{
	naming->skipped = memory_array(request->n_steps,
	                               sizeof *naming->skipped, error);
	if (naming->skipped == NULL)
		return -1;
	naming->tree_is_own = naming->is_refined = true;
	if (take_stacks(naming, request, error) == 0)
		naming->refining = refine_stacks(&naming->stacks->stacks,
		    request->steps, request->n_steps, naming->skipped,
		    &naming->why_last, error);
	if (naming->refining != NULL)
		naming->tree = refined_tree(naming->refining, error);
	if (request->n_steps == 0 && !stacks_fit(naming, request))
		naming_forget_stacks(naming);
	return naming->tree != NULL ? 0 : -1;
}

bool
naming_wants_groups(const struct naming_request *request)
{
	const struct fleet *fleet = request->profile->fleet;

	return request->wants_noise && fleet != NULL &&
	    fleet_count_groups(fleet) > 1 &&
	    !steps_need_sections(request->steps, request->n_steps);
}

/* Shares the groups of the naming before, or makes them. */
static int
naming_take_groups(struct naming *naming, const struct naming_request *request,
                   struct error *error)
{
	const struct naming *before = request->before;

	if (!naming_wants_groups(request))
		return 0;
	if (before != NULL && before->groups != NULL &&
	    before->profile == request->profile &&
	    before->groups->resource == request->resource)
		naming->groups = fleet_groups_share(before->groups);
	else
		naming->groups = fleet_groups_new(request->profile->fleet,
		                                  request->resource, error);
	return naming->groups != NULL ? 0 : -1;
}

static int
naming_make_tree(struct naming *naming, const struct naming_request *request,
                 struct error *error)
{
	const struct sample_tree *tree;
	int is_refined = request->n_steps > 0;

	if (naming_take_groups(naming, request, error) != 0)
		return -1;
	if (!is_refined && request->hidden != 0)
		is_refined = hidden_is_present(request->profile,
		                               request->hidden, error);
	if (is_refined < 0 ||
	    (is_refined && naming_refine(naming, request, error) != 0))
		return -1;
	if (!is_refined) {
		share_stacks(naming, request);	/* for the next step */
		naming->tree = profile_named_tree_of(request->profile,
		    tree_of(naming, request), &request->rule,
		    &naming->tree_is_own, error);
	}
	tree = naming->tree;
	if (tree == NULL)
		return -1;
	naming->sums = sample_tree_new_sums(tree,
	    tree->hits[request->resource], error);
	return naming->sums == NULL ? -1 :
					naming_list_functions(naming, error);
}

/* Makes a column of counts by row of the tree. */
static int
naming_weigh(const struct naming *naming, uint32_t resource,
             const uint64_t *counts, struct naming_column *column,
             struct error *error)
{
	column->resource = resource;
	column->sums = sample_tree_new_sums(naming->tree, counts, error);
	return column->sums == NULL ? -1 : 0;
}

int
naming_make_columns(struct naming *naming,
                    const struct naming_request *request, struct error *error)
{
	const struct fleet_groups *groups = naming->groups;
	const struct sample_tree *tree = naming->tree;
	const bool has_samples = request->wants_noise && tree != NULL &&
	    request->profile->fleet == NULL &&
	    tree->samples[request->resource] != NULL;
	const size_t n = request->n_columns + has_samples +
	                 (groups != NULL ? groups->n : 0);
	struct naming_column *columns, *last;
	struct call_graph *graph = NULL;
	bool is_own = false;
	int status = 0;

	columns = memory_array(n, sizeof *columns, error);
	if (columns == NULL)
		return -1;
	last = columns + request->n_columns;
	if (tree == NULL && request->n_columns > 0) {
		graph = naming_make_graph(request, NULL, &is_own, NULL, error);
		status = graph == NULL ? -1 : 0;
	}
	for (size_t i = 0; status == 0 && i < request->n_columns; i++) {
		const uint32_t resource = request->columns[i];

		if (tree != NULL) {
			status = naming_weigh(naming, resource,
			                      tree->hits[resource], &columns[i],
			                      error);
			continue;
		}
		columns[i].resource = resource;
		columns[i].flow = call_flow_new(graph, naming->n_names,
		                                resource, request->has_static,
		                                error);
		status = columns[i].flow == NULL ? -1 : 0;
	}
	if (status == 0 && has_samples) {
		last->counts_samples = true;
		status = naming_weigh(naming, request->resource,
		                      tree->samples[request->resource], last,
		                      error);
	}
	for (uint32_t g = 0; status == 0 && groups != NULL && g < groups->n;
	     g++)
		status = naming_weigh(naming, groups->first + g,
		                      tree->hits[groups->first + g], last + g,
		                      error);
	if (is_own)
		call_graph_free(graph);
	if (status != 0) {
		free_columns(columns, n);
		return -1;
	}
	free_columns(naming->columns, naming->n_columns);
	naming->columns = columns;
	naming->n_columns = n;
	return 0;
}

int
naming_make(struct naming *naming, const struct naming_request *request,
            struct error *error)
{
	int status;

	*naming = (struct naming){
		.rule = request->rule,
		.profile = request->profile,
		.names = request->profile->names,
	};
	status = request->profile->graph != NULL ?
	         naming_make_flow(naming, request, error) :
	         naming_make_tree(naming, request, error);
	if (status == 0)
		status = naming_make_columns(naming, request, error);
	if (status != 0)
		naming_free(naming);
	return status;
}

int
naming_rename(struct naming *naming, const struct naming_request *request,
              const uint32_t *renamed, uint32_t n, struct error *error)
{
	uint32_t *first = memory_array((size_t)n + 1, sizeof *first, error);
	struct sample_tree *tree = NULL;
	int status = -1;

	for (uint32_t i = 0; first != NULL && i <= n; i++)
		first[i] = i;
	if (first != NULL)
		tree = sample_tree_relabel(naming->tree, first, renamed,
		                           error);
	free(first);
	if (tree != NULL) {
		if (naming->tree_is_own)
			sample_tree_free(naming->tree);
		naming->tree = tree;
		naming->tree_is_own = true;
		large_array_free(naming->sums);
		free(naming->functions);
		free(naming->occurs);
		naming->functions = NULL;
		naming->occurs = NULL;
		naming->sums = sample_tree_new_sums(tree,
		    tree->hits[request->resource], error);
	}
	if (tree != NULL && naming->sums != NULL &&
	    naming_list_functions(naming, error) == 0)
		status = naming_make_columns(naming, request, error);
	if (status != 0)
		naming_free(naming);
	return status;
}

uint32_t
naming_find(const struct naming *naming, const char *text, size_t length)
{
	uint32_t name = names_find(naming->names, text, length);

	return name < naming->n_names && naming->occurs[name] ? name : NO_NAME;
}
