/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_spread.c -- the same stacks with chains of labels, where none are equal.
 *
 * The nodes keep their order, so each chain's place is a sum of lengths, and
 * nothing is looked up.
 */
#include <inttypes.h>

#include "src/base/progress.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"

enum { NODES_A_STEP = 1 << 16 };

struct spreading {
	const struct sample_tree *from;
	const uint32_t *first, *labels;
	struct sample_tree *to;
	uint32_t *place;	/* [n_nodes of from + 1] of a chain in `to` */
	const uint32_t *part;	/* [n_nodes of from], or NULL */
	uint32_t *new_part;	/* [n_nodes of to] */
};

/*
 * Inlined calls make two or three frames of one.  A tree of up to 4 million
 * nodes may become one of 12 million, and each further node 8.
 */
static const uint64_t spread_always = 12 << 20, spread_free = 4 << 20,
                      spread_ratio = 8;

int
sample_tree_check_spread(const struct sample_tree *tree, const uint32_t *first,
                         struct error *error)
{
	uint64_t n = 0, most = spread_always;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t label = tree->label[node];

		if (label != NO_LABEL)
			n += first[label + 1] - first[label];
	}
	if (tree->n_nodes > spread_free)
		most += (tree->n_nodes - spread_free) * spread_ratio;
	return n <= most ? 0 :
	    error_set(error, "inlined calls make %" PRIu64 " call paths of %"
	              PRIu32 "; say \"inlines off\"", n, tree->n_nodes);
}

/* Finds where the chains go. */
static int
tree_spread_find_places(struct spreading *spreading, struct error *error)
{
	const struct sample_tree *from = spreading->from;
	const uint32_t *first = spreading->first;
	uint64_t n = 0;

	if (large_array_reserve(&spreading->place, (size_t)from->n_nodes + 1,
	                        sizeof *spreading->place, error) != 0)
		return -1;
	for (uint32_t node = 0; node < from->n_nodes; node++) {
		const uint32_t label = from->label[node];

		spreading->place[node] = (uint32_t)n;
		n += first[label + 1] - first[label];
		if (n >= NO_NODE)
			return error_set(error,
			                 "more than 4,294,967,294 call paths");
	}
	spreading->place[from->n_nodes] = (uint32_t)n;
	return 0;
}

/* Hits go to the last node of a chain, returns to the first. */
static void
place_chain(const struct spreading *spreading, uint32_t node)
{
	const struct sample_tree *from = spreading->from;
	struct sample_tree *to = spreading->to;
	const uint32_t *place = spreading->place;
	const uint32_t *labels = spreading->labels +
	    spreading->first[from->label[node]];
	const uint32_t last = place[node + 1] - 1;
	uint32_t parent = sample_tree_parent(from, node);

	if (parent != NO_NODE)
		parent = place[parent + 1] - 1;
	for (uint32_t n = place[node]; n <= last; n++) {
		tree_add_parent(&to->parents, parent);
		to->label[n] = *labels++;
		tree_add_row(&to->rows, n < last ? 0 :
		    sample_tree_row(from, node));
		if (to->returns != NULL)
			to->returns[n] = n > place[node] ? 0 :
			    from->returns[node];
		if (spreading->part != NULL)
			spreading->new_part[n] = spreading->part[node];
		parent = n;
	}
}

static int
place_chains(struct spreading *spreading, struct error *error)
{
	const struct sample_tree *from = spreading->from;

	for (uint32_t node = 0; node < from->n_nodes; node++) {
		if (node % NODES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		place_chain(spreading, node);
	}
	spreading->to->n_nodes = spreading->place[from->n_nodes];
	return sample_tree_find_ends(spreading->to, error);
}

struct sample_tree *
sample_tree_spread(const struct sample_tree *tree, const uint32_t *first,
                   const uint32_t *labels, const uint32_t *part,
                   uint32_t **new_part, struct error *error)
{
	struct spreading spreading = { .from = tree, .first = first,
		.labels = labels, .part = part };
	int result = sample_tree_check_spread(tree, first, error) != 0 ? -1 :
	    tree_spread_find_places(&spreading, error);

	if (result == 0) {
		const uint32_t n = spreading.place[tree->n_nodes];

		spreading.to = sample_tree_borrow(tree, n, error);
		if (spreading.to == NULL || (part != NULL &&
		    large_array_reserve(&spreading.new_part, n,
		                        sizeof(uint32_t), error) != 0) ||
		    place_chains(&spreading, error) != 0)
			result = -1;
	}
	large_array_free(spreading.place);
	if (result == 0) {
		if (part != NULL)
			*new_part = spreading.new_part;
		return spreading.to;
	}
	sample_tree_free(spreading.to);
	large_array_free(spreading.new_part);
	return NULL;
}
