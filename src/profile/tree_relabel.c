/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_relabel.c -- the same stacks with other labels.
 *
 * New nodes are entered in depth-first order.  When one is entered all the old
 * nodes that it stands for are known, and so are its children: the children of
 * all of these, grouped by label.  The groups wait on a stack, the next one on
 * top.  Most stand for a single node.  If that has a single child there is
 * nothing to group, so that most nodes are entered right after their parents.
 * Nothing is looked up in the tree, and nothing has to be moved at the end.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/tree_builder.h"

enum { NODES_A_STEP = 1 << 16 };	/* between checks for Ctrl-C */

/* A node of the old tree, at one label of its chain. */
struct relabel_origin {
	uint32_t node;
	uint32_t at;		/* index of the label */
	uint32_t next;		/* one more of the same group; NO_NODE: none */
};

/* The origins of what will be one node. */
struct relabel_group {
	uint32_t label;
	uint32_t parent;	/* in the new tree */
	struct relabel_origin origin;
	uint32_t last;		/* origin, of others; NO_NODE: no others */
};

struct relabelling {
	const struct sample_tree *tree;
	const uint32_t *first, *labels;
	struct tree_builder *builder;
	struct relabel_group *groups;	/* those waiting, the next one last */
	size_t n_groups, groups_capacity;
	size_t n_siblings;	/* those being collected, the last ones of
				 * groups */
	size_t *place;		/* [label] where its group may be */
	size_t n_places;
	struct relabel_origin *others;	/* of groups with several */
	size_t n_others, others_capacity;
	uint32_t free;		/* among others, a list; NO_NODE: none */
	size_t next_step;	/* nodes at the next check for Ctrl-C */
	uint32_t *to_row;	/* [tree's rows] of the new tree; NULL: the
				 * tree has no timeline */
};

static int
grow_places(struct relabelling *relabelling, uint32_t label,
            struct error *error)
{
	size_t n = relabelling->n_places, capacity = n;

	if (memory_grow(&relabelling->place, &capacity, (size_t)label + 1,
	                sizeof *relabelling->place, error) != 0)
		return -1;
	for (; n < capacity; n++)
		relabelling->place[n] = 0;
	relabelling->n_places = capacity;
	return 0;
}

/* The group of that label among the siblings, or NULL. */
static struct relabel_group *
find_sibling(const struct relabelling *relabelling, uint32_t label)
{
	size_t begin = relabelling->n_groups - relabelling->n_siblings;
	size_t place = relabelling->place[label];

	if (place < begin || place >= relabelling->n_groups ||
	    relabelling->groups[place].label != label)
		return NULL;
	return &relabelling->groups[place];
}

static int
tree_relabel_join(struct relabelling *relabelling, struct relabel_group *group,
                  const struct relabel_origin *origin, struct error *error)
{
	uint32_t number = relabelling->free;

	if (number != NO_NODE) {
		relabelling->free = relabelling->others[number].next;
	} else {
		if (memory_grow(&relabelling->others,
		                &relabelling->others_capacity,
		                relabelling->n_others + 1,
		                sizeof *relabelling->others, error) != 0)
			return -1;
		number = (uint32_t)relabelling->n_others++;
	}
	relabelling->others[number] = *origin;
	if (group->last == NO_NODE)
		group->origin.next = number;
	else
		relabelling->others[group->last].next = number;
	group->last = number;
	return 0;
}

/* Puts a node into its group among the siblings, the children of parent. */
static int
tree_relabel_add_origin(struct relabelling *relabelling, uint32_t parent,
                        uint32_t node, uint32_t at, struct error *error)
{
	struct relabel_origin origin = { node, at, NO_NODE };
	uint32_t label = relabelling->labels[at];
	struct relabel_group *group;

	if (label >= relabelling->n_places &&
	    grow_places(relabelling, label, error) != 0)
		return -1;
	group = find_sibling(relabelling, label);
	if (group != NULL)
		return tree_relabel_join(relabelling, group, &origin, error);
	if (memory_grow(&relabelling->groups, &relabelling->groups_capacity,
	                relabelling->n_groups + 1,
	                sizeof *relabelling->groups, error) != 0)
		return -1;
	relabelling->place[label] = relabelling->n_groups;
	relabelling->groups[relabelling->n_groups++] =
	    (struct relabel_group){ label, parent, origin, NO_NODE };
	relabelling->n_siblings++;
	return 0;
}

/* Adds the counts of one node, for all resources. */
static int
tree_relabel_add_counts(struct relabelling *relabelling, uint32_t to,
                        uint32_t from, struct error *error)
{
	const struct sample_tree *tree = relabelling->tree;
	const uint32_t row = sample_tree_row(tree, from);

	for (uint32_t r = 0; row != 0 && r < tree->n_resources; r++) {
		const uint64_t hits = tree->hits[r][row];
		const uint64_t samples = tree->samples[r] != NULL ?
		    tree->samples[r][row] : hits;

		if ((hits != 0 || samples != 0) &&
		    tree_builder_add(relabelling->builder, to, r, hits,
		                     samples, error) != 0)
			return -1;
	}
	if (row != 0 && relabelling->to_row != NULL)
		relabelling->to_row[row] =
		    tree_builder_row(relabelling->builder, to);
	return 0;
}

/*
 * Groups the roots of the nodes begin .. end - 1, which are whole subtrees, as
 * children of parent.  A node whose chain is empty is one with parent.
 */
static int
add_origins(struct relabelling *relabelling, uint32_t parent, uint32_t begin,
            uint32_t end, struct error *error)
{
	const struct sample_tree *tree = relabelling->tree;

	for (uint32_t n = begin; n < end;) {
		const uint32_t label = tree->label[n];
		const uint32_t *first;

		if (label == NO_LABEL) {
			n = sample_tree_end(tree, n);
			continue;
		}
		first = &relabelling->first[label];
		if (first[0] == first[1]) {
			if (tree_relabel_add_counts(relabelling, parent, n,
			                            error) != 0)
				return -1;
			n++;
		} else {
			if (tree_relabel_add_origin(relabelling, parent, n,
			                            first[0], error) != 0)
				return -1;
			n = sample_tree_end(tree, n);
		}
	}
	return 0;
}

/* The labels of a node's only child, or NULL: it has another number of them. */
static const uint32_t *
only_child(const struct relabelling *relabelling, uint32_t node)
{
	const struct sample_tree *tree = relabelling->tree;
	const uint32_t *first;

	if (node_numbers_has(&tree->ends, node) ||
	    tree->label[node + 1] == NO_LABEL)
		return NULL;
	first = &relabelling->first[tree->label[node + 1]];
	return first[0] < first[1] ? first : NULL;
}

/*
 * Gives a new node all that the one node has that it stands for.  Only children
 * are entered at once.
 */
static int
take_only_origin(struct relabelling *relabelling, uint32_t node,
                 struct relabel_origin origin, struct error *error)
{
	const struct sample_tree *tree = relabelling->tree;
	struct tree_builder *builder = relabelling->builder;
	uint32_t from = origin.node, at = origin.at;
	const uint32_t *first = &relabelling->first[tree->label[from]];

	for (;;) {
		if (tree->returns != NULL && at == first[0] &&
		    tree_builder_add_returns(builder, node,
		                             tree->returns[from], error) != 0)
			return -1;
		if (tree_builder_reserve_nodes(builder, first[1] - at,
		                               error) != 0)
			return -1;
		while (++at < first[1])
			node = place_below(builder, relabelling->labels[at]);
		if (sample_tree_has_row(tree, from) &&
		    tree_relabel_add_counts(relabelling, node, from,
		                            error) != 0)
			return -1;
		first = only_child(relabelling, from);
		if (first == NULL)
			return add_origins(relabelling, node, from + 1,
			                   sample_tree_end(tree, from), error);
		from++;
		at = first[0];
		node = place_below(builder, relabelling->labels[at]);
	}
}

/* Gives it all that several nodes have. */
static int
take_origins(struct relabelling *relabelling, uint32_t node,
             struct relabel_origin origin, struct error *error)
{
	const struct sample_tree *tree = relabelling->tree;

	for (;;) {
		const uint32_t from = origin.node, other = origin.next;
		const uint32_t *first = &relabelling->first[tree->label[from]];

		if (tree->returns != NULL && origin.at == first[0] &&
		    tree_builder_add_returns(relabelling->builder, node,
		                             tree->returns[from], error) != 0)
			return -1;
		/* After the last of its labels come its children. */
		if (origin.at + 1 < first[1]) {
			if (tree_relabel_add_origin(relabelling, node, from,
			                            origin.at + 1, error) != 0)
				return -1;
		} else if (tree_relabel_add_counts(relabelling, node, from,
		                                   error) != 0 ||
		           add_origins(relabelling, node, from + 1,
		                       sample_tree_end(tree, from), error) !=
		                       0) {
			return -1;
		}
		if (other == NO_NODE)
			return 0;
		origin = relabelling->others[other];
		relabelling->others[other].next = relabelling->free;
		relabelling->free = other;
	}
}

/* Puts the first of the siblings on top. */
static void
reverse_siblings(struct relabelling *relabelling)
{
	struct relabel_group *groups = relabelling->groups;
	size_t end = relabelling->n_groups;
	size_t begin = end - relabelling->n_siblings;

	for (; begin + 1 < end; begin++) {
		struct relabel_group group = groups[begin];

		groups[begin] = groups[--end];
		groups[end] = group;
	}
	relabelling->n_siblings = 0;
}

/* Enters the next node, and puts its children on the stack. */
static int
enter_next(struct relabelling *relabelling, struct error *error)
{
	struct tree_builder *builder = relabelling->builder;
	struct relabel_group group = relabelling
					 ->groups[--relabelling->n_groups];
	uint32_t node;
	int result;

	if (tree_builder_reserve_nodes(builder, 1, error) != 0)
		return -1;
	node = place_next(builder, group.parent, group.label);
	result = group.origin.next == NO_NODE ?
	    take_only_origin(relabelling, node, group.origin, error) :
	    take_origins(relabelling, node, group.origin, error);
	if (result != 0)
		return -1;
	reverse_siblings(relabelling);
	if (builder->n_nodes < relabelling->next_step)
		return 0;
	relabelling->next_step = builder->n_nodes + (size_t)NODES_A_STEP;
	return progress_step(NULL, 0, 0, error);
}

struct sample_tree *
sample_tree_relabel(const struct sample_tree *tree, const uint32_t *first,
                    const uint32_t *labels, struct error *error)
{
	struct relabelling relabelling = { .tree = tree, .first = first,
		.labels = labels, .free = NO_NODE };
	struct sample_tree *relabelled = NULL;
	int result = -1;

	relabelling.builder = tree_builder_new(tree->n_resources, error);
	/* Growing step by step would copy what is there. */
	if (sample_tree_check_spread(tree, first, error) == 0 &&
	    relabelling.builder != NULL)
		tree_builder_reserve_nodes(relabelling.builder, tree->n_nodes,
		                           error);
	if (tree->timeline != NULL)
		relabelling.to_row = memory_array(tree->n_rows,
		    sizeof *relabelling.to_row, error);
	if (!error->is_set)
		result = add_origins(&relabelling, NO_NODE, 0, tree->n_nodes,
		                     error);
	if (result == 0)
		reverse_siblings(&relabelling);
	while (result == 0 && relabelling.n_groups > 0)
		result = enter_next(&relabelling, error);
	if (result == 0)
		relabelled = tree_builder_finish(relabelling.builder, error);
	if (relabelled != NULL && tree->timeline != NULL) {
		const struct timeline_rows rows = sample_tree_rows(relabelled);

		relabelled->timeline = timeline_move(tree->timeline, &rows,
		                                     relabelling.to_row, error);
		if (relabelled->timeline == NULL) {
			sample_tree_free(relabelled);
			relabelled = NULL;
		}
	}
	free(relabelling.to_row);
	tree_builder_free(relabelling.builder);
	free(relabelling.groups);
	free(relabelling.place);
	free(relabelling.others);
	return relabelled;
}
