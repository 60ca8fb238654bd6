/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_builder.c -- stacks in any order in, a sample tree out.
 *
 * Most nodes of a deep tree are only children, so a node names its first child
 * itself; only the children after the first are found through a hash table.
 * Its slots lie in the order of their hashes' upper bits, so that it grows by
 * one pass over the old one.  Nodes are numbered as they are entered, parents
 * before children; two passes over them give the depth-first order.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/sample_tree.h"

struct node {
	uint32_t parent;
	uint32_t label;
	uint32_t first_child;	/* finish: the node's number in the tree */
	uint32_t cursor;	/* finish: nodes in the subtree, then where
				 * the next child goes */
};

struct slot {
	uint32_t node;		/* NO_NODE: empty */
	uint32_t hash;
};

struct tree_builder {
	struct node *nodes;
	uint32_t n_nodes;
	size_t nodes_capacity;
	uint32_t section_begin;
	uint32_t first_root;	/* of this section */

	struct slot *slots;	/* at most half of them in use */
	unsigned slots_bits;
	uint32_t n_hashed;

	uint32_t n_resources;
	uint64_t **hits;	/* [n_resources][counts_capacity] */
	uint64_t **samples;	/* likewise; NULL while equal to the hits */
	uint64_t *total_hits, *total_samples;
	size_t counts_capacity;	/* below this, counts are set */
};

enum { FIRST_SLOTS_BITS = 10 };

static struct slot *
new_slots(unsigned bits, struct error *error)
{
	struct slot *slots = NULL;

	if (bits < 40)
		slots = malloc(sizeof *slots << bits);
	if (slots == NULL)
		error_out_of_memory(error);
	else
		memset(slots, 0xff, sizeof *slots << bits);
	return slots;
}

struct tree_builder *
tree_builder_new(uint32_t n_resources, struct error *error)
{
	struct tree_builder *builder = memory_array(1, sizeof *builder, error);

	if (builder == NULL)
		return NULL;
	builder->n_resources = n_resources;
	builder->first_root = NO_NODE;
	builder->slots_bits = FIRST_SLOTS_BITS;
	builder->slots = new_slots(FIRST_SLOTS_BITS, error);
	builder->hits = memory_array(n_resources, sizeof *builder->hits,
	                             error);
	builder->samples = memory_array(n_resources, sizeof *builder->samples,
	                                error);
	builder->total_hits = memory_array(n_resources, sizeof(uint64_t),
	                                   error);
	builder->total_samples = memory_array(n_resources, sizeof(uint64_t),
	                                      error);
	if (error->is_set) {
		tree_builder_free(builder);
		return NULL;
	}
	return builder;
}

void
tree_builder_free(struct tree_builder *builder)
{
	if (builder == NULL)
		return;
	for (uint32_t r = 0; r < builder->n_resources; r++) {
		if (builder->hits != NULL)
			free(builder->hits[r]);
		if (builder->samples != NULL)
			free(builder->samples[r]);
	}
	free(builder->hits);
	free(builder->samples);
	free(builder->total_hits);
	free(builder->total_samples);
	free(builder->slots);
	free(builder->nodes);
	free(builder);
}

uint32_t
tree_builder_count(const struct tree_builder *builder)
{
	return builder->n_nodes;
}

uint32_t
tree_builder_begin_section(struct tree_builder *builder)
{
	builder->section_begin = builder->n_nodes;
	builder->first_root = NO_NODE;
	return builder->section_begin;
}

static uint32_t
hash_child(const struct tree_builder *builder, uint32_t parent,
           uint32_t label)
{
	uint64_t hash;

	/* Roots of many sections are alike: spread them. */
	if (parent == NO_NODE)
		parent = ~builder->section_begin;
	hash = ((uint64_t)parent << 32 | label) * 0x9e3779b97f4a7c15;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
	return (uint32_t)(hash >> 32);
}

/* The slot of the child, or the empty one where it belongs. */
static struct slot *
find_slot(const struct tree_builder *builder, uint32_t parent, uint32_t label,
          uint32_t hash)
{
	size_t mask = ((size_t)1 << builder->slots_bits) - 1;
	size_t i = (size_t)((uint64_t)hash << builder->slots_bits >> 32);

	for (;; i = (i + 1) & mask) {
		struct slot *slot = &builder->slots[i];
		const struct node *node;

		if (slot->node == NO_NODE)
			return slot;
		if (slot->hash != hash)
			continue;
		node = &builder->nodes[slot->node];
		if (node->label == label && node->parent == parent &&
		    (parent != NO_NODE ||
		     slot->node >= builder->section_begin))
			return slot;
	}
}

static int
grow_slots(struct tree_builder *builder, struct error *error)
{
	unsigned bits = builder->slots_bits + 1;
	size_t n_old = (size_t)1 << builder->slots_bits;
	size_t mask = ((size_t)1 << bits) - 1;
	struct slot *slots = new_slots(bits, error);

	if (slots == NULL)
		return -1;
	for (size_t old = 0; old < n_old; old++) {
		const struct slot *slot = &builder->slots[old];
		size_t i = (size_t)((uint64_t)slot->hash << bits >> 32);

		if (slot->node == NO_NODE)
			continue;
		while (slots[i].node != NO_NODE)
			i = (i + 1) & mask;
		slots[i] = *slot;
	}
	free(builder->slots);
	builder->slots = slots;
	builder->slots_bits = bits;
	return 0;
}

/* A node that nothing points to yet. */
static uint32_t
new_node(struct tree_builder *builder, uint32_t parent, uint32_t label,
         struct error *error)
{
	uint32_t number = builder->n_nodes;

	if (number >= NO_NODE - 1) {
		error_set(error, "more than 4,294,967,294 call paths");
		return NO_NODE;
	}
	if (number >= builder->nodes_capacity &&
	    memory_grow(&builder->nodes, &builder->nodes_capacity,
	                (size_t)number + 1, sizeof *builder->nodes,
	                error) != 0)
		return NO_NODE;
	builder->nodes[number] = (struct node){
		.parent = parent, .label = label, .first_child = NO_NODE,
	};
	builder->n_nodes++;
	return number;
}

static uint32_t
later_child(struct tree_builder *builder, uint32_t parent, uint32_t label,
            struct error *error)
{
	uint32_t hash = hash_child(builder, parent, label);
	struct slot *slot = find_slot(builder, parent, label, hash);
	uint32_t number;

	if (slot->node != NO_NODE)
		return slot->node;
	if (builder->n_hashed >= (size_t)1 << (builder->slots_bits - 1)) {
		if (grow_slots(builder, error) != 0)
			return NO_NODE;
		slot = find_slot(builder, parent, label, hash);
	}
	number = new_node(builder, parent, label, error);
	if (number == NO_NODE)
		return NO_NODE;
	*slot = (struct slot){ .node = number, .hash = hash };
	builder->n_hashed++;
	return number;
}

uint32_t
tree_builder_child(struct tree_builder *builder, uint32_t parent,
                   uint32_t label, struct error *error)
{
	uint32_t first = builder->first_root;

	if (parent != NO_NODE)
		first = builder->nodes[parent].first_child;
	if (first == NO_NODE) {
		first = new_node(builder, parent, label, error);
		if (parent == NO_NODE)
			builder->first_root = first;
		else
			builder->nodes[parent].first_child = first;
		return first;
	}
	if (builder->nodes[first].label == label)
		return first;
	return later_child(builder, parent, label, error);
}

/* Zeroes the counts of the nodes that came since; counts_capacity is set. */
static int
grow_counts(struct tree_builder *builder, uint64_t **counts, size_t from,
            struct error *error)
{
	size_t to = builder->nodes_capacity;
	uint64_t *grown = reallocarray(*counts, to, sizeof *grown);

	if (grown == NULL)
		return error_out_of_memory(error);
	memset(grown + from, 0, (to - from) * sizeof *grown);
	*counts = grown;
	return 0;
}

static int
cover_all_nodes(struct tree_builder *builder, struct error *error)
{
	size_t from = builder->counts_capacity;

	for (uint32_t r = 0; r < builder->n_resources; r++) {
		if (grow_counts(builder, &builder->hits[r], from, error) != 0)
			return -1;
		if (builder->samples[r] != NULL &&
		    grow_counts(builder, &builder->samples[r], from,
		                error) != 0)
			return -1;
	}
	builder->counts_capacity = builder->nodes_capacity;
	return 0;
}

int
tree_builder_add(struct tree_builder *builder, uint32_t node,
                 uint32_t resource, uint64_t hits, uint64_t samples,
                 struct error *error)
{
	uint64_t *total_hits = &builder->total_hits[resource];
	uint64_t *total_samples = &builder->total_samples[resource];

	if (hits > UINT64_MAX - *total_hits)
		return error_set(error, "the sum of hits passes 64 bits");
	if (samples > UINT64_MAX - *total_samples)
		return error_set(error, "the sum of samples passes 64 bits");
	if (node >= builder->counts_capacity &&
	    cover_all_nodes(builder, error) != 0)
		return -1;
	if (hits != samples && builder->samples[resource] == NULL) {
		builder->samples[resource] =
		    memory_copy(builder->hits[resource],
		                builder->counts_capacity, sizeof(uint64_t),
		                error);
		if (builder->samples[resource] == NULL)
			return -1;
	}
	*total_hits += hits;
	*total_samples += samples;
	builder->hits[resource][node] += hits;
	if (builder->samples[resource] != NULL)
		builder->samples[resource][node] += samples;
	return 0;
}

static struct sample_tree *
new_tree(const struct tree_builder *builder, struct error *error)
{
	struct sample_tree *tree = memory_array(1, sizeof *tree, error);
	uint32_t n = builder->n_nodes;

	if (tree == NULL)
		return NULL;
	tree->n_nodes = n;
	tree->n_resources = builder->n_resources;
	tree->parent = memory_array(n, sizeof *tree->parent, error);
	tree->end = memory_array(n, sizeof *tree->end, error);
	tree->label = memory_array(n, sizeof *tree->label, error);
	tree->hits = memory_array(tree->n_resources, sizeof *tree->hits,
	                          error);
	tree->samples = memory_array(tree->n_resources, sizeof *tree->samples,
	                             error);
	if (error->is_set) {
		sample_tree_free(tree);
		return NULL;
	}
	return tree;
}

/* Afterwards first_child is the number of each node in the tree. */
static void
place_nodes(struct tree_builder *builder, struct sample_tree *tree)
{
	struct node *nodes = builder->nodes;
	uint32_t next_root = 0;

	for (uint32_t n = builder->n_nodes; n-- > 0;) {
		nodes[n].cursor++;
		if (nodes[n].parent != NO_NODE)
			nodes[nodes[n].parent].cursor += nodes[n].cursor;
	}
	for (uint32_t n = 0; n < builder->n_nodes; n++) {
		struct node *node = &nodes[n];
		uint32_t size = node->cursor, at;

		if (node->parent == NO_NODE) {
			at = next_root;
			next_root += size;
			tree->parent[at] = NO_NODE;
		} else {
			struct node *parent = &nodes[node->parent];

			at = parent->cursor;
			parent->cursor += size;
			tree->parent[at] = parent->first_child;
		}
		tree->label[at] = node->label;
		tree->end[at] = at + size;
		node->cursor = at + 1;
		node->first_child = at;
	}
}

/* Depth-first order needs no depths: step down by one, or climb. */
static uint32_t
find_deepest(const struct sample_tree *tree)
{
	uint32_t depth = 0, deepest = 0;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t above = n - 1;		/* NO_NODE for n = 0 */

		while (above != tree->parent[n]) {
			above = tree->parent[above];
			depth--;
		}
		if (++depth > deepest)
			deepest = depth;
	}
	return deepest;
}

static uint64_t *
place_counts(const struct tree_builder *builder, const uint64_t *counts,
             struct error *error)
{
	uint32_t n_nodes = builder->n_nodes;
	uint64_t *placed = memory_array(n_nodes, sizeof *placed, error);
	size_t n_counts = builder->counts_capacity;

	if (placed == NULL)
		return NULL;
	for (uint32_t n = 0; n < n_nodes && n < n_counts; n++)
		placed[builder->nodes[n].first_child] = counts[n];
	return placed;
}

static int
place_all_counts(struct tree_builder *builder, struct sample_tree *tree,
                 struct error *error)
{
	for (uint32_t r = 0; r < tree->n_resources; r++) {
		tree->hits[r] = place_counts(builder, builder->hits[r], error);
		if (tree->hits[r] == NULL)
			return -1;
		free(builder->hits[r]);
		builder->hits[r] = NULL;
		if (builder->samples[r] == NULL)
			continue;
		tree->samples[r] = place_counts(builder, builder->samples[r],
		                                error);
		if (tree->samples[r] == NULL)
			return -1;
		free(builder->samples[r]);
		builder->samples[r] = NULL;
	}
	return 0;
}

static uint32_t *
new_numbers(const struct tree_builder *builder, struct error *error)
{
	uint32_t *numbers = memory_array(builder->n_nodes, sizeof *numbers,
	                                 error);

	for (uint32_t n = 0; numbers != NULL && n < builder->n_nodes; n++)
		numbers[n] = builder->nodes[n].first_child;
	return numbers;
}

struct sample_tree *
tree_builder_finish(struct tree_builder *builder, uint32_t **new_number,
                    struct error *error)
{
	struct sample_tree *tree;

	free(builder->slots);
	builder->slots = NULL;
	tree = new_tree(builder, error);
	if (tree == NULL)
		return NULL;
	place_nodes(builder, tree);
	tree->deepest = find_deepest(tree);
	if (place_all_counts(builder, tree, error) != 0) {
		sample_tree_free(tree);
		return NULL;
	}
	if (new_number != NULL) {
		*new_number = new_numbers(builder, error);
		if (*new_number == NULL) {
			sample_tree_free(tree);
			return NULL;
		}
	}
	return tree;
}
