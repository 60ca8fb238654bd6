/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_list.h -- the stacks of one input, one after the other.
 *
 * A sum of many inputs (fleet.h) finds whole stacks in its own tree, so a tree
 * of each input would be built for nothing.  A reader that is given a list
 * fills it instead, and memory stays for the next input.
 *
 * Stacks are found by the bytes that the input has for them, their key, so that
 * those of one that comes again need not be read.
 */
#ifndef CPPROF_PROFILE_STACK_LIST_H
#define CPPROF_PROFILE_STACK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"
#include "src/base/memory.h"
#include "src/profile/sample_tree.h"
#include "src/profile/tree_builder.h"

/* So many labels make a list longer than its tree would be. */
enum { STACK_LIST_MAX = 1 << 24 };

/* Start with `{ 0 }`; free with stack_list_free. */
struct stack_list {
	uint32_t n;		/* stacks */
	uint32_t *first;	/* [n + 1], of the labels */
	uint32_t *labels;	/* innermost first */
	uint32_t *row;		/* [n] the first row of each, or NO_INDEX */
	uint32_t n_rows;	/* each of a kind and a stack, once */
	uint32_t n_columns;	/* of hits */
	struct stack_row {
		uint32_t kind;	/* what tells equal stacks apart */
		uint32_t stack;
	} *rows;
	uint64_t *hits;		/* [n_rows][n_columns] */
	uint64_t *total;	/* [n_columns] */
	uint32_t n_frames;
	uint32_t *frames;	/* [n_frames], of the profile, by label */
	size_t first_capacity, labels_capacity, row_capacity, rows_capacity,
	    hits_capacity, total_capacity, frames_capacity;
	struct digest_index *stacks;	/* by their keys */
	struct index row_index;		/* of other rows */
};

void stack_list_free(struct stack_list *list);

/* Empties the list. */
int stack_list_begin(struct stack_list *list, uint32_t n_columns,
                     struct error *error);

/* Whether a stack of n labels fits, and a row. */
static inline bool
stack_list_has_room(const struct stack_list *list, size_t n)
{
	return n <= STACK_LIST_MAX && list->n_rows < STACK_LIST_MAX &&
	    list->first[list->n] + n <= STACK_LIST_MAX;
}

/* The stack whose key has that digest, or NO_INDEX. */
static inline uint32_t
stack_list_find(const struct stack_list *list, const XXH128_hash_t *digest)
{
	return digest_index_find(list->stacks, digest);
}

/*
 * The number of a new stack, for which there is room: its key's digest, and
 * labels[n], innermost first.  NO_INDEX with *error set.
 */
uint32_t stack_list_add(struct stack_list *list, const XXH128_hash_t *digest,
                        const uint32_t *labels, uint32_t n,
                        struct error *error);

/*
 * Adds hits[n_columns] to the row of a kind and a stack, entered if new.  0, or
 * -1 with *error set where a sum passes 64 bits or memory runs out.
 */
int stack_list_count(struct stack_list *list, uint32_t kind, uint32_t stack,
                     const uint64_t *hits, struct error *error);

/* Sets the profile's frame of each label below n, copied. */
int stack_list_set_frames(struct stack_list *list, const uint32_t *frames,
                          uint32_t n, struct error *error);

/*
 * A tree with the hits of the rows: node i is row i, without callers.  Freed
 * with sample_tree_free; NULL with *error set.
 */
struct sample_tree *stack_list_tree(const struct stack_list *list,
                                    struct error *error);

/*
 * The same whose node i is stack i, which has the sum of its rows in `rows`,
 * what stack_list_tree made.
 */
struct sample_tree *stack_list_sum(const struct stack_list *list,
                                   const struct sample_tree *rows,
                                   struct error *error);

/* ---- stack_walk ---- */

/*
 * The stack of each node, one after the other.
 *
 * Nodes come in depth-first order, so a stack is usually that of the node
 * before and one more frame; no stack is built from scratch.
 */

/* Start with { .tree = tree }. */
struct stack_walk {
	const struct sample_tree *tree;
	uint32_t *nodes;	/* [depth], outermost first; freed with free */
	uint32_t depth;
};

/* Makes room for the deepest stack. */
static inline int
stack_walk_begin(struct stack_walk *walk, struct error *error)
{
	walk->nodes = memory_array(walk->tree->deepest, sizeof *walk->nodes,
	                           error);
	return walk->nodes != NULL ? 0 : -1;
}

/* Moves on to a node; nodes must come in order.  O(1) per node, amortised. */
static inline void
stack_walk_to(struct stack_walk *walk, uint32_t node)
{
	uint32_t parent = sample_tree_parent(walk->tree, node);

	while (walk->depth > 0 && walk->nodes[walk->depth - 1] != parent)
		walk->depth--;
	walk->nodes[walk->depth++] = node;
}

#endif
