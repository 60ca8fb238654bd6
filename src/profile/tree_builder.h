/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_builder.h -- the inside of the tree builder, shared by its parts only.
 *
 * tree_builder.c keeps the arrays, tree_children.c finds and enters nodes,
 * tree_order.c puts them into depth-first order.
 */
#ifndef CPPROF_PROFILE_TREE_BUILDER_H
#define CPPROF_PROFILE_TREE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "src/base/error.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"

struct slot {
	uint32_t number;	/* of the node, + 1; 0: empty */
	uint32_t hash;
};

struct tree_builder {
	uint32_t n_nodes;
	uint32_t n_resources;
	size_t capacity;	/* of all arrays by node */
	struct node_numbers parents;	/* as in the tree, but in any order */
	uint32_t *label;
	/*
	 * As in the tree, of nodes up to the last that has a row, as long as
	 * rows come in the order of nodes.
	 */
	struct node_numbers rows;
	uint32_t *row;		/* [capacity], 0: no counts so far; NULL: see
				 * rows */
	uint32_t n_rows;	/* with row 0, once there are any */
	size_t rows_capacity;
	uint64_t **hits;	/* [n_resources][rows_capacity] */
	uint64_t **samples;	/* likewise; NULL while equal to the hits */
	uint64_t *total_hits, *total_samples;
	uint64_t *returns;	/* [capacity]; NULL until some are added */
	uint64_t total_returns;
	struct moment *moments;
	size_t n_moments, moments_capacity;
	uint64_t earliest_ns;	/* of these */
	uint64_t folded_ns;	/* slices into which moments were summed up;
				 * 0: none were */
	size_t fold_at;		/* moments; 0: MOMENTS_TO_FOLD */
	bool has_origin;
	uint64_t origin_ns;
	uint32_t section_begin;

	/*
	 * Nodes below `n_ordered` are known to be in depth-first order; the
	 * newest of them is open[depth - 1], and the others are those that it
	 * is below.  is_mixed: the next node is out of order.
	 */
	uint32_t *open;
	uint32_t n_ordered, depth;
	bool is_mixed;

	struct slot *slots;	/* at most half of them in use */
	unsigned slots_bits;
	uint32_t n_slots_used;
	uint32_t hashed_until;	/* later nodes may not be in them yet */
};

enum { FIRST_SLOTS_BITS = 10 };

/* When there are so many moments, they are summed up. */
enum { MOMENTS_TO_FOLD = 1 << 20 };

/* 1 << bits empty slots; NULL with *error set. */
struct slot *tree_builder_new_slots(unsigned bits, struct error *error);

/*
 * Makes room for `more` nodes where there is not enough.  A failure leaves
 * some arrays larger than `capacity`, which is harmless.
 */
int tree_builder_grow(struct tree_builder *builder, size_t more,
                      struct error *error);

/* Adds a row of counts, all 0. */
int tree_builder_add_row(struct tree_builder *builder, struct error *error);

/* The row of a node; 0: it has none so far. */
uint32_t tree_builder_row(const struct tree_builder *builder, uint32_t node);

/* Makes room for `more` nodes. */
static inline int
tree_builder_reserve_nodes(struct tree_builder *builder, size_t more,
                           struct error *error)
{
	if (more <= builder->capacity - builder->n_nodes)
		return 0;
	return tree_builder_grow(builder, more, error);
}

/* Enters a node for which there is room. */
static inline uint32_t
place_node(struct tree_builder *builder, uint32_t parent, uint32_t label)
{
	uint32_t node = builder->n_nodes++;

	tree_add_parent(&builder->parents, parent);
	builder->label[node] = label;
	if (builder->row != NULL)
		builder->row[node] = 0;
	if (builder->returns != NULL)
		builder->returns[node] = 0;
	return node;
}

/*
 * Leaves the subtrees that a node below parent is not in, if all nodes are in
 * depth-first order.
 */
static inline void
tree_builder_close_nodes(struct tree_builder *builder, uint32_t parent)
{
	const uint32_t *open = builder->open;
	uint32_t depth = builder->depth;

	while (depth > 0 && open[depth - 1] != parent)
		depth--;
	builder->is_mixed = depth == 0 && parent != NO_NODE;
	builder->depth = depth;
}

/* Enters a node in depth-first order, for which there is room. */
static inline uint32_t
place_next(struct tree_builder *builder, uint32_t parent, uint32_t label)
{
	uint32_t node = place_node(builder, parent, label);

	tree_builder_close_nodes(builder, parent);
	builder->open[builder->depth++] = node;
	builder->n_ordered = builder->n_nodes;
	return node;
}

/* Likewise below the newest one. */
static inline uint32_t
place_below(struct tree_builder *builder, uint32_t label)
{
	uint32_t node = place_node(builder, builder->n_nodes - 1, label);

	builder->open[builder->depth++] = node;
	builder->n_ordered = builder->n_nodes;
	return node;
}

/* ---- digest_index.c ---- */

/*
 * Finds the number of some bytes by their hash alone.
 *
 * Nothing is compared, so a search is one cache miss.  That two texts have one
 * hash of 96 bits does not happen by chance; each process has its own seed, so
 * that no input can be made for it either.
 */

struct digest_index;

/* NULL with *error set. */
struct digest_index *digest_index_new(struct error *error);
void digest_index_free(struct digest_index *index);

/* Forgets all numbers.  Takes no longer than entering those would have. */
void digest_index_clear(struct digest_index *index);

/* The hash of bytes[n], whose place is brought into the cache. */
XXH128_hash_t digest_index_hash(const struct digest_index *index,
                                const void *bytes, size_t n);

/* The number of the bytes with that hash, or UINT32_MAX. */
uint32_t digest_index_find(const struct digest_index *index,
                           const XXH128_hash_t *hash);

/* Sets it, below UINT32_MAX. */
int digest_index_enter(struct digest_index *index, const XXH128_hash_t *hash,
                       uint32_t number, struct error *error);

#endif
