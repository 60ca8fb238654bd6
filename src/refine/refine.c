/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.c -- the stacks that the steps of a refinement leave. */
#include "src/refine/refine.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"
#include "src/refine/refining.h"

static int
begin(struct refining *refining, const struct stacks *stacks,
      struct error *error)
{
	const struct sample_tree *tree = stacks->tree;

	*refining = (struct refining){ .stacks = stacks, .tree = tree };
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
	}
	return 0;
}

static void
finish(struct refining *refining)
{
	free(refining->kinds);
	free(refining->has_name);
	large_array_free(refining->kind);
	large_array_free(refining->flags);
}

/*
 * Copies the nodes that are left, with names as labels; a frame that is one
 * with its caller has the label `joined`.  place[n_nodes] is overwritten.
 */
static void
copy_nodes(struct sample_tree *to, const struct refining *refining,
           uint32_t joined, uint32_t *place)
{
	const struct sample_tree *from = refining->tree;
	const unsigned char *flags = refining->flags;

	for (uint32_t node = 0; node < from->n_nodes; node++) {
		uint32_t parent = from->parent[node], n = to->n_nodes;

		if (!(flags[node] & NODE_LEFT))
			continue;
		place[node] = n;
		to->n_nodes++;
		to->parent[n] = parent == NO_NODE ? NO_NODE : place[parent];
		to->label[n] = flags[node] & NODE_JOINED ? joined :
		    refining->kinds[refining->kind[node]].name;
		to->row[n] = flags[node] & NODE_DROPPED ? 0 : from->row[node];
		to->end[n] = n + 1;
		if (to->returns != NULL)
			to->returns[n] = from->returns[node];
	}
	for (uint32_t n = to->n_nodes; n-- > 0;)
		if (to->parent[n] != NO_NODE &&
		    to->end[to->parent[n]] < to->end[n])
			to->end[to->parent[n]] = to->end[n];
}

/* Merges equal siblings; the label after the last name stands for no frame. */
static struct sample_tree *
merge_siblings(const struct sample_tree *tree, uint32_t n_names,
               struct error *error)
{
	uint32_t *first = memory_array((size_t)n_names + 2, sizeof *first,
	                               error);
	struct sample_tree *merged = NULL;

	if (first == NULL)
		return NULL;
	for (uint32_t i = 0; i <= n_names; i++)
		first[i] = i;
	first[n_names + 1] = n_names;
	merged = sample_tree_relabel(tree, first, first, error);
	free(first);
	return merged;
}

static struct sample_tree *
make_tree(const struct refining *refining, struct error *error)
{
	uint32_t n_names = names_count(refining->stacks->profile->names);
	struct sample_tree *copy = sample_tree_borrow(refining->tree, error);
	struct sample_tree *tree = NULL;
	uint32_t *place = NULL;

	if (copy != NULL &&
	    large_array_reserve(&place, refining->tree->n_nodes,
	                        sizeof *place, error) == 0) {
		copy_nodes(copy, refining, n_names, place);
		tree = merge_siblings(copy, n_names, error);
	}
	large_array_free(place);
	sample_tree_free(copy);
	return tree;
}

/*
 * Applies the steps; *why: why the last one was skipped, if it was.  skipped may
 * be NULL.
 */
static int
apply(struct refining *refining, struct step *const *steps, size_t n,
      bool *skipped, struct error *why, struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		struct error reason = { 0 };
		int result = step_apply(steps[i], refining, &reason);

		if (skipped != NULL)
			skipped[i] = result == 1;
		*why = reason;
		if (result == -1) {
			*error = reason;
			return -1;
		}
	}
	return 0;
}

struct sample_tree *
refine_tree(const struct stacks *stacks, struct step *const *steps, size_t n,
            bool *skipped, struct error *why, struct error *error)
{
	struct refining refining;
	struct sample_tree *tree = NULL;

	if (begin(&refining, stacks, error) == 0 &&
	    apply(&refining, steps, n, skipped, why, error) == 0)
		tree = make_tree(&refining, error);
	finish(&refining);
	return tree;
}

int
refine_rows(const struct stacks *stacks, struct step *const *steps, size_t n,
            bool *dropped, struct error *error)
{
	const struct sample_tree *tree = stacks->tree;
	struct refining refining;
	struct error why;
	int result = begin(&refining, stacks, error);

	if (result == 0)
		result = apply(&refining, steps, n, NULL, &why, error);
	for (uint32_t row = 0; row < tree->n_rows; row++)
		dropped[row] = false;
	for (uint32_t node = 0; result == 0 && node < tree->n_nodes; node++)
		if ((refining.flags[node] & NODE_DROPPED) &&
		    tree->row[node] != 0)
			dropped[tree->row[node]] = true;
	finish(&refining);
	return result;
}

int
refine_section_totals(const struct stacks *stacks, struct step *const *steps,
                      size_t n, uint32_t resource,
                      struct section_total *totals, struct error *error)
{
	const struct sample_tree *tree = stacks->tree;
	struct refining refining;
	struct error why;
	int result = begin(&refining, stacks, error);

	if (result == 0)
		result = apply(&refining, steps, n, NULL, &why, error);
	for (uint32_t i = 0; i <= stacks->profile->n_sections; i++)
		totals[i] = (struct section_total){ 0 };
	for (uint32_t node = 0; result == 0 && node < tree->n_nodes; node++) {
		struct section_total *total = &totals[stacks->section[node]];

		if (refining.flags[node] & NODE_DROPPED)
			continue;
		total->hits += sample_tree_hits(tree, resource, node);
		total->samples += sample_tree_samples(tree, resource, node);
	}
	finish(&refining);
	return result;
}
