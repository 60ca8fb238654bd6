/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.c -- the stacks that the steps of a refinement leave. */
#include "src/refine/refine.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"

static int
refine_begin(struct refining *refining, const struct stacks *stacks,
             struct error *error)
{
	const struct sample_tree *tree = stacks->tree;

	*refining = (struct refining){ .stacks = stacks, .tree = tree,
		.times = ALL_TIMES, .by = stacks->granularity };
	if (memory_grow(&refining->kinds, &refining->kinds_capacity,
	                (size_t)stacks->n_kinds + 1, sizeof *refining->kinds,
	                error) != 0 ||
	    large_array_reserve(&refining->kind, tree->n_nodes,
	                        sizeof *refining->kind, error) != 0 ||
	    large_array_zeroed(&refining->flags, tree->n_nodes, 1,
	                       error) != 0)
		return -1;
	for (uint32_t i = 0; i < stacks->n_kinds; i++)
		refining->kinds[i] = stacks->kinds[i];
	refining->n_kinds = stacks->n_kinds;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint32_t element = tree->label[node];

		refining->kind[node] = stacks->kind_of[element];
		refining->flags[node] = NODE_LEFT;
		if (stacks->is_joined != NULL && stacks->is_joined[element])
			refining->flags[node] |= NODE_JOINED;
		if (stacks->joined != NULL && stacks->joined[node]) {
			refining->flags[node] |= NODE_JOINED;
			refining->kind[node] =
			    refining->kind[sample_tree_parent(tree, node)];
		}
	}
	return 0;
}

static void
refine_finish(struct refining *refining)
{
	free(refining->kinds);
	free(refining->has_name);
	large_array_free(refining->kind);
	large_array_free(refining->flags);
	tree_time_free(refining->selection);
}

void
refining_free(struct refining *refining)
{
	if (refining == NULL)
		return;
	refine_finish(refining);
	free(refining);
}

/*
 * Copies the nodes that are left.  Their labels are names, and a frame that is
 * one with its caller has the label `joined`; or, if that is NO_NAME, those of
 * the stacks.  place: room for a number a node.  0, or -1 with *error set.
 */
static int
refine_copy_nodes(struct sample_tree *to, const struct refining *refining,
                  uint32_t joined, uint32_t *place, struct error *error)
{
	const struct sample_tree *from = refining->tree;
	const unsigned char *flags = refining->flags;

	for (uint32_t node = 0; node < from->n_nodes; node++) {
		const uint32_t parent = sample_tree_parent(from, node);
		const uint32_t n = to->n_nodes;

		if (!(flags[node] & NODE_LEFT))
			continue;
		place[node] = n;
		to->n_nodes++;
		tree_add_parent(&to->parents, parent == NO_NODE ? NO_NODE :
		                place[parent]);
		to->label[n] = joined == NO_NAME ? from->label[node] :
		    is_joined(refining, node) ? joined :
		    refining_name(refining, refining->kind[node]);
		tree_add_row(&to->rows, flags[node] & NODE_DROPPED ? 0 :
		    sample_tree_row(from, node));
		if (to->returns != NULL)
			to->returns[n] = from->returns[node];
	}
	return sample_tree_find_ends(to, error);
}

/* Gives a tree a timeline of its own, for rows that are to be renumbered. */
static int
own_timeline(struct sample_tree *tree, const struct timeline *timeline,
             struct error *error)
{
	const struct timeline_rows rows = sample_tree_rows(tree);
	uint32_t *to = memory_array(timeline->n_rows, sizeof *to, error);

	if (to == NULL)
		return -1;
	for (uint32_t i = 0; i < tree->rows.n; i++)
		to[tree->rows.number[i]] = i + 1;
	tree->timeline = timeline_move(timeline, &rows, to, error);
	free(to);
	return tree->timeline != NULL ? 0 : -1;
}

/* Those counts that a tree has, in the order of its nodes, after a row 0. */
static uint64_t *
own_counts(const struct sample_tree *tree, const uint64_t *counts,
           struct error *error)
{
	uint64_t *own = NULL;

	if (large_array_reserve(&own, tree->n_rows, sizeof *own, error) != 0)
		return NULL;
	own[0] = 0;
	for (uint32_t i = 0; i < tree->rows.n; i++)
		own[i + 1] = counts[tree->rows.number[i]];
	return own;
}

/* Gives a tree that borrows its counts rows of its own, for what it has. */
static int
own_rows(struct sample_tree *tree, struct error *error)
{
	uint64_t **hits = tree->hits, **samples = tree->samples;
	const struct timeline *timeline = tree->timeline;

	tree->borrows_counts = false;
	tree->timeline = NULL;
	tree->n_rows = tree->rows.n + 1;
	tree->hits = memory_array(tree->n_resources, sizeof *tree->hits,
	                          error);
	tree->samples = memory_array(tree->n_resources,
	                             sizeof *tree->samples, error);
	for (uint32_t r = 0; !error->is_set && r < tree->n_resources; r++) {
		tree->hits[r] = own_counts(tree, hits[r], error);
		if (samples[r] != NULL && !error->is_set)
			tree->samples[r] = own_counts(tree, samples[r], error);
	}
	if (error->is_set || (timeline != NULL &&
	    own_timeline(tree, timeline, error) != 0))
		return -1;
	for (uint32_t i = 0; i < tree->rows.n; i++)
		tree->rows.number[i] = i + 1;
	return 0;
}

/*
 * Whether siblings that are left have different names: then there is nothing to
 * merge.  They have if each label has a name of its own, all of one section;
 * but outermost nodes may have lost the start-up frames that set them apart.
 * -1 with *error set.
 */
static int
has_distinct_siblings(const struct refining *refining, struct error *error)
{
	const struct stacks *stacks = refining->stacks;
	const struct sample_tree *tree = refining->tree;
	unsigned char *seen;
	int is_distinct = true;

	if (refining->has_groups || stacks->spread != NULL ||
	    stacks->is_joined != NULL || stacks->joined != NULL ||
	    stacks->profile->n_sections > 1 ||
	    granularity_is_whole(refining->by))
		return false;
	seen = memory_array(names_count(stacks->profile->names), 1, error);
	if (seen == NULL)
		return -1;
	for (uint32_t e = 0; is_distinct && e < stacks->n_elements; e++)
		is_distinct = seen[refining_name(refining,
		                                 stacks->kind_of[e])]++ == 0;
	for (uint32_t node = 0; is_distinct && node < tree->n_nodes;
	     node = sample_tree_end(tree, node))
		is_distinct = seen[refining_name(refining,
		                                 refining->kind[node])]++ == 1;
	free(seen);
	return is_distinct;
}

/* The nodes that are left as they are, with rows of their own. */
static struct sample_tree *
copy_tree(const struct refining *refining, uint32_t n_names,
          struct error *error)
{
	struct sample_tree *copy = sample_tree_borrow(refining->tree,
	    refining->tree->n_nodes, error);
	uint32_t *place = NULL;
	int result = -1;

	if (copy != NULL &&
	    large_array_reserve(&place, refining->tree->n_nodes,
	                        sizeof *place, error) == 0 &&
	    refine_copy_nodes(copy, refining, n_names, place, error) == 0)
		result = own_rows(copy, error);
	large_array_free(place);
	if (result == 0)
		return copy;
	sample_tree_free(copy);
	return NULL;
}

/*
 * The nodes that are left, with equal siblings merged: the tree with names as
 * labels, where the one after the last stands for no frame.
 */
static struct sample_tree *
merge_tree(const struct refining *refining, uint32_t n_names,
           struct error *error)
{
	uint32_t *first = memory_array((size_t)n_names + 2, sizeof *first,
	                               error);
	uint32_t *names = refining_names(refining, error);
	const unsigned char *flags = refining->flags;
	struct sample_tree named = *refining->tree, *merged = NULL;

	named.label = NULL;
	named.rows = (struct node_numbers){ 0 };
	if (first != NULL && names != NULL &&
	    large_array_reserve(&named.label, named.n_nodes,
	                        sizeof *named.label, error) == 0 &&
	    node_numbers_reserve(&named.rows, named.n_nodes,
	                      refining->tree->rows.n, error) == 0) {
		for (uint32_t i = 0; i <= n_names; i++)
			first[i] = i;
		first[n_names + 1] = n_names;
		for (uint32_t node = 0; node < named.n_nodes; node++) {
			named.label[node] = !(flags[node] & NODE_LEFT) ?
			    NO_LABEL : is_joined(refining, node) ? n_names :
			    names[refining->kind[node]];
			tree_add_row(&named.rows,
			    flags[node] & NODE_DROPPED ? 0 :
			    sample_tree_row(refining->tree, node));
		}
		merged = sample_tree_relabel(&named, first, first, error);
	}
	large_array_free(named.label);
	node_numbers_free(&named.rows);
	free(names);
	free(first);
	return merged;
}

struct sample_tree *
refined_tree(const struct refining *refining, struct error *error)
{
	uint32_t n_names = names_count(refining->stacks->profile->names);
	int is_distinct = has_distinct_siblings(refining, error);

	return is_distinct < 0 ? NULL : is_distinct ?
	    copy_tree(refining, n_names, error) :
	    merge_tree(refining, n_names, error);
}

/* From here on, the tree has the hits of the times that are left. */
static int
select_times(struct refining *refining, struct error *error)
{
	if (slice_set_is_whole(&refining->times))
		return 0;
	refining->selection = tree_time_select(refining->tree,
	                                       &refining->times, error);
	if (refining->selection == NULL)
		return -1;
	refining->tree = refining->selection;
	return 0;
}

/* 0; 1 with *why set: the step was skipped; -1 with *error set. */
static int
apply_step(struct refining *refining, const struct step *step,
           struct error *why, struct error *error)
{
	struct error reason = { 0 };
	int result;

	refining->by = step->granularity;
	result = step_apply(step, refining, &reason);
	refining->by = refining->stacks->granularity;
	*why = reason;
	if (result == -1)
		*error = reason;
	return result;
}

/*
 * Applies the steps; *why: why the last one was skipped, if it was.  skipped
 * may be NULL.
 */
static int
refine_apply(struct refining *refining, struct step *const *steps, size_t n,
             bool *skipped, struct error *why, struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		int result = apply_step(refining, steps[i], why, error);

		if (skipped != NULL)
			skipped[i] = result == 1;
		if (result == -1)
			return -1;
	}
	return select_times(refining, error);
}

struct refining *
refine_stacks(const struct stacks *stacks, struct step *const *steps, size_t n,
              bool *skipped, struct error *why, struct error *error)
{
	struct refining *refining = memory_array(1, sizeof *refining, error);

	if (refining == NULL)
		return NULL;
	if (refine_begin(refining, stacks, error) == 0 &&
	    refine_apply(refining, steps, n, skipped, why, error) == 0)
		return refining;
	refining_free(refining);
	return NULL;
}

/* The hits of a resource that are left, at the times that are left. */
static int
add_left(const struct refining *refining, uint32_t resource, uint64_t *hits,
         struct error *error)
{
	const struct sample_tree *tree = refining->tree;
	struct sample_tree *selection = NULL;

	if (!slice_set_is_whole(&refining->times)) {
		selection = tree_time_select(tree, &refining->times, error);
		if (selection == NULL)
			return -1;
		tree = selection;
	}
	*hits = 0;
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		if (!(refining->flags[node] & NODE_DROPPED))
			*hits += sample_tree_hits(tree, resource, node);
	tree_time_free(selection);
	return 0;
}

int
refine_hits(const struct stacks *stacks, struct step *const *steps, size_t n,
            uint32_t resource, uint64_t *hits, struct error *error)
{
	struct refining refining;
	struct error why;
	int result = refine_begin(&refining, stacks, error);

	for (size_t i = 0; result >= 0 && i < n; i++) {
		result = apply_step(&refining, steps[i], &why, error);
		if (result >= 0)
			result = add_left(&refining, resource, &hits[i], error);
	}
	refine_finish(&refining);
	return result;
}

void
refined_rows(const struct refining *refining, bool *dropped,
             struct slice_set *times)
{
	const struct sample_tree *tree = refining->stacks->tree;

	for (uint32_t row = 0; row < tree->n_rows; row++)
		dropped[row] = false;
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		if ((refining->flags[node] & NODE_DROPPED) &&
		    sample_tree_has_row(tree, node))
			dropped[sample_tree_row(tree, node)] = true;
	*times = refining->times;
}

void
refined_section_totals(const struct refining *refining, uint32_t resource,
                       struct section_total *totals)
{
	const struct sample_tree *tree = refining->tree;
	const struct stacks *stacks = refining->stacks;

	for (uint32_t i = 0; i <= stacks->profile->n_sections; i++)
		totals[i] = (struct section_total){ 0 };
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		struct section_total *total = &totals[stacks->section[node]];

		if (refining->flags[node] & NODE_DROPPED)
			continue;
		total->hits += sample_tree_hits(tree, resource, node);
		total->samples += sample_tree_samples(tree, resource, node);
	}
}

uint64_t *
refined_module_hits(const struct refining *refining, uint32_t resource,
                    struct error *error)
{
	const struct sample_tree *tree = refining->tree;
	/* Groups may have new names, too. */
	uint64_t *hits = memory_array(
	    names_count(refining->stacks->profile->names), sizeof *hits,
	    error);

	for (uint32_t node = 0; hits != NULL && node < tree->n_nodes; node++) {
		const struct frame_kind *kind;

		if (!sample_tree_has_row(tree, node) ||
		    refining->flags[node] & NODE_DROPPED)
			continue;
		kind = &refining->kinds[refining->kind[node]];
		hits[kind->module != NO_NAME ? kind->module :
		     kind->names[GRANULARITY_FUNCTION]] +=
		    sample_tree_hits(tree, resource, node);
	}
	return hits;
}

/* The sections of the nodes that were copied. */
static int
copy_sections(struct refined_profile *refined, const struct refining *refining,
              struct error *error)
{
	const struct profile *profile = refining->stacks->profile;
	const unsigned char *flags = refining->flags;
	uint32_t node = 0, n = 0;

	refined->sections = memory_copy(profile->sections,
	                                profile->n_sections,
	                                sizeof *profile->sections, error);
	if (refined->sections == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_sections; i++) {
		struct section *section = &refined->sections[i];

		for (; node < profile->sections[i].begin; node++)
			n += (flags[node] & NODE_LEFT) != 0;
		section->begin = n;
		for (; node < profile->sections[i].end; node++)
			n += (flags[node] & NODE_LEFT) != 0;
		section->end = n;
	}
	return 0;
}

/* Each frame's first element is the frame; the others are one with it. */
static struct sample_tree *
join_chains(const struct sample_tree *tree, const struct stacks *stacks,
            struct error *error)
{
	uint32_t n = stacks->n_elements;
	uint32_t *first = memory_array((size_t)n + 1, sizeof *first, error);
	uint32_t *labels = memory_array(n, sizeof *labels, error);
	struct sample_tree *joined = NULL;
	uint32_t n_labels = 0;

	for (uint32_t e = 0; first != NULL && labels != NULL && e < n; e++) {
		first[e] = n_labels;
		if (e == 0 || stacks->frame_of[e] != stacks->frame_of[e - 1])
			labels[n_labels++] = stacks->frame_of[e];
		first[e + 1] = n_labels;
	}
	if (first != NULL && labels != NULL)
		joined = sample_tree_relabel(tree, first, labels, error);
	free(first);
	free(labels);
	return joined;
}

/* The stacks that are left, with the profile's frames. */
static int
refine_take_frames(struct refined_profile *refined,
                   const struct refining *refining, struct error *error)
{
	const struct stacks *stacks = refining->stacks;
	struct sample_tree *copy = sample_tree_borrow(refining->tree,
	    refining->tree->n_nodes, error);
	uint32_t *place = NULL;
	int result = -1;

	if (copy != NULL &&
	    large_array_reserve(&place, refining->tree->n_nodes,
	                        sizeof *place, error) == 0)
		result = refine_copy_nodes(copy, refining, NO_NAME, place,
		                           error);
	large_array_free(place);
	if (result != 0) {
		sample_tree_free(copy);
		return -1;
	}
	if (stacks->spread != NULL) {
		refined->tree = join_chains(copy, stacks, error);
		sample_tree_free(copy);
		return refined->tree != NULL ? 0 : -1;
	}
	refined->tree = copy;
	if (own_rows(copy, error) != 0 ||
	    copy_sections(refined, refining, error) != 0)
		return -1;
	refined->profile.sections = refined->sections;
	refined->profile.n_sections = stacks->profile->n_sections;
	return 0;
}

/* The stacks that are left, with a frame for each name. */
static int
refine_take_names(struct refined_profile *refined,
                  const struct refining *refining, struct error *error)
{
	uint32_t n = names_count(refining->stacks->profile->names);

	refined->frames = memory_array(n, sizeof *refined->frames, error);
	refined->locations = memory_array(n, sizeof *refined->locations,
	                                  error);
	refined->tree = refined_tree(refining, error);
	if (refined->frames == NULL || refined->locations == NULL ||
	    refined->tree == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		refined->frames[i] = (struct frame){
			.module = NO_MODULE,
			.first_location = i,
			.n_locations = 1,
			.function_offset = NO_OFFSET,
		};
		refined->locations[i] = (struct location){
			.function = i,
			.file = NO_NAME,
			.linkage = NO_NAME,
		};
	}
	refined->profile.frames = refined->frames;
	refined->profile.locations = refined->locations;
	refined->profile.n_frames = refined->profile.n_locations = n;
	return 0;
}

int
refine_profile(const struct stacks *stacks, struct step *const *steps,
               size_t n, struct refined_profile *refined, struct error *error)
{
	struct refining refining;
	struct error why;
	bool *skipped = memory_array(n, sizeof *skipped, error);
	int result = refine_begin(&refining, stacks, error);

	*refined = (struct refined_profile){ .profile = *stacks->profile };
	refined->profile.n_sections = 0;
	if (skipped == NULL)
		result = -1;
	if (result == 0)
		result = refine_apply(&refining, steps, n, skipped, &why,
		                      error);
	if (result == 0)
		result = refining.has_groups ?
		    refine_take_names(refined, &refining, error) :
		    refine_take_frames(refined, &refining, error);
	refined->profile.tree = refined->tree;
	refine_finish(&refining);
	free(skipped);
	return result;
}

void
refined_profile_free(struct refined_profile *refined)
{
	sample_tree_free(refined->tree);
	free(refined->sections);
	free(refined->frames);
	free(refined->locations);
	*refined = (struct refined_profile){ 0 };
}
