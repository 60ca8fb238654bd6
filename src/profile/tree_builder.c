/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_builder.c -- stacks in any order in, a sample tree out.
 *
 * Nodes are numbered as they are entered.  A stack's new frames come one after
 * the other, so that most nodes follow their parent at once and are found
 * there; only the others go through a hash table.  The newest node has no
 * child at all and is not even looked at.  The table's slots lie in the order
 * of their hashes' upper bits, so that it grows by one pass over the old one.
 *
 * Sorted input enters its nodes in depth-first order; then the builder's
 * arrays become the tree's.  Else two passes find each node's place.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/memory.h"
#include "src/profile/sample_tree.h"

struct slot {
	uint32_t node;		/* NO_NODE: empty */
	uint32_t hash;
};

struct tree_builder {
	uint32_t n_nodes;
	uint32_t n_resources;
	size_t capacity;	/* of all arrays by node */
	uint32_t *parent;
	uint32_t *label;
	uint64_t **hits;	/* [n_resources][capacity] */
	uint64_t **samples;	/* likewise; NULL while equal to the hits */
	uint64_t *total_hits, *total_samples;
	uint32_t section_begin;

	struct slot *slots;	/* at most half of them in use */
	unsigned slots_bits;
	uint32_t n_slots_used;
};

enum {
	FIRST_CAPACITY = 1024,
	FIRST_SLOTS_BITS = 10,
	HUGE_PAGE = 2 << 20,
};

/*
 * Uninitialised memory.  Large arrays ask for large pages: touching a page
 * for the first time costs as much as parsing a few stacks.
 */
static void *
allocate(size_t n, size_t size, struct error *error)
{
	void *items = NULL;
	size_t n_bytes;

	if (__builtin_mul_overflow(n, size, &n_bytes) ||
	    n_bytes > SIZE_MAX / 2) {
		error_out_of_memory(error);
		return NULL;
	}
	if (n_bytes < 2 * HUGE_PAGE) {
		items = malloc(n_bytes > 0 ? n_bytes : 1);
	} else {
		n_bytes = (n_bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
		items = aligned_alloc(HUGE_PAGE, n_bytes);
		if (items != NULL)
			madvise(items, n_bytes, MADV_HUGEPAGE);
	}
	if (items == NULL)
		error_out_of_memory(error);
	return items;
}

static struct slot *
new_slots(unsigned bits, struct error *error)
{
	size_t n = (size_t)1 << bits;
	struct slot *slots = allocate(n, sizeof *slots, error);

	if (slots != NULL)
		memset(slots, 0xff, n * sizeof *slots);
	return slots;
}

struct tree_builder *
tree_builder_new(uint32_t n_resources, struct error *error)
{
	struct tree_builder *builder = memory_array(1, sizeof *builder, error);

	if (builder == NULL)
		return NULL;
	builder->n_resources = n_resources;
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

static void
free_counts(uint64_t **counts, uint32_t n_resources)
{
	for (uint32_t r = 0; counts != NULL && r < n_resources; r++)
		free(counts[r]);
	free(counts);
}

void
tree_builder_free(struct tree_builder *builder)
{
	if (builder == NULL)
		return;
	free_counts(builder->hits, builder->n_resources);
	free_counts(builder->samples, builder->n_resources);
	free(builder->total_hits);
	free(builder->total_samples);
	free(builder->slots);
	free(builder->parent);
	free(builder->label);
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
	return builder->section_begin;
}

/* ---- arrays ---- */

/* Moves an array, a pointer variable's address, to a larger place. */
static int
grow_array(void *items, size_t n, size_t capacity, size_t size,
           struct error *error)
{
	void *old, *grown = allocate(capacity, size, error);

	if (grown == NULL)
		return -1;
	memcpy(&old, items, sizeof old);
	if (n > 0)
		memcpy(grown, old, n * size);
	memcpy(items, &grown, sizeof grown);
	free(old);
	return 0;
}

/*
 * Room for `more` nodes.  A failure leaves some arrays larger than capacity
 * says, which does no harm.
 */
static int
reserve_nodes(struct tree_builder *builder, size_t more, struct error *error)
{
	size_t n = builder->n_nodes, capacity = builder->capacity;

	if (more <= capacity - n)
		return 0;
	if (more >= NO_NODE - n)
		return error_set(error, "more than 4,294,967,294 call paths");
	if (capacity == 0)
		capacity = FIRST_CAPACITY;
	while (capacity - n < more)
		capacity *= 2;
	if (grow_array(&builder->parent, n, capacity, sizeof(uint32_t),
	               error) != 0 ||
	    grow_array(&builder->label, n, capacity, sizeof(uint32_t),
	               error) != 0)
		return -1;
	for (uint32_t r = 0; r < builder->n_resources; r++)
		if (grow_array(&builder->hits[r], n, capacity,
		               sizeof(uint64_t), error) != 0 ||
		    (builder->samples[r] != NULL &&
		     grow_array(&builder->samples[r], n, capacity,
		                sizeof(uint64_t), error) != 0))
			return -1;
	builder->capacity = capacity;
	return 0;
}

/* A node for which there is room. */
static uint32_t
place_node(struct tree_builder *builder, uint32_t parent, uint32_t label)
{
	uint32_t node = builder->n_nodes++;

	builder->parent[node] = parent;
	builder->label[node] = label;
	for (uint32_t r = 0; r < builder->n_resources; r++) {
		builder->hits[r][node] = 0;
		if (builder->samples[r] != NULL)
			builder->samples[r][node] = 0;
	}
	return node;
}

/* ---- finding children ---- */

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

static bool
is_child(const struct tree_builder *builder, uint32_t node, uint32_t parent,
         uint32_t label)
{
	return builder->label[node] == label &&
	       builder->parent[node] == parent &&
	       (parent != NO_NODE || node >= builder->section_begin);
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

		if (slot->node == NO_NODE ||
		    (slot->hash == hash &&
		     is_child(builder, slot->node, parent, label)))
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

/* A child that does not stand behind its parent; there is room for it. */
static uint32_t
hashed_child(struct tree_builder *builder, uint32_t parent, uint32_t label,
             struct error *error)
{
	uint32_t hash = hash_child(builder, parent, label);
	struct slot *slot = find_slot(builder, parent, label, hash);

	if (slot->node != NO_NODE)
		return slot->node;
	if (builder->n_slots_used >= (size_t)1 << (builder->slots_bits - 1)) {
		if (grow_slots(builder, error) != 0)
			return NO_NODE;
		slot = find_slot(builder, parent, label, hash);
	}
	slot->node = place_node(builder, parent, label);
	slot->hash = hash;
	builder->n_slots_used++;
	return slot->node;
}

uint32_t
tree_builder_child(struct tree_builder *builder, uint32_t parent,
                   uint32_t label, struct error *error)
{
	uint32_t node;

	return tree_builder_chain(builder, parent, &label, 1, &node, error) ==
	       0 ? node : NO_NODE;
}

int
tree_builder_chain(struct tree_builder *builder, uint32_t parent,
                   const uint32_t *labels, size_t n, uint32_t *nodes,
                   struct error *error)
{
	size_t i = 0;

	if (reserve_nodes(builder, n, error) != 0)
		return -1;
	for (; i < n; i++) {
		uint32_t next = parent != NO_NODE ? parent + 1 :
		                builder->section_begin;

		if (next == builder->n_nodes)
			break;
		if (!is_child(builder, next, parent, labels[i]))
			next = hashed_child(builder, parent, labels[i], error);
		if (next == NO_NODE)
			return -1;
		nodes[i] = parent = next;
	}
	for (; i < n; i++)
		nodes[i] = parent = place_node(builder, parent, labels[i]);
	return 0;
}

/* ---- counts ---- */

/* From here on samples are not hits. */
static int
split_samples(struct tree_builder *builder, uint32_t resource,
              struct error *error)
{
	uint64_t *samples = allocate(builder->capacity, sizeof *samples,
	                             error);

	if (samples == NULL)
		return -1;
	memcpy(samples, builder->hits[resource],
	       builder->n_nodes * sizeof *samples);
	builder->samples[resource] = samples;
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
	if (hits != samples && builder->samples[resource] == NULL &&
	    split_samples(builder, resource, error) != 0)
		return -1;
	*total_hits += hits;
	*total_samples += samples;
	builder->hits[resource][node] += hits;
	if (builder->samples[resource] != NULL)
		builder->samples[resource][node] += samples;
	return 0;
}

/* ---- finishing ---- */

/*
 * Frames of the deepest stack, or 0 when the nodes are not in depth-first
 * order.  That order needs no depths: step down by one, or climb.
 */
static uint32_t
find_deepest(const uint32_t *parent, uint32_t n_nodes)
{
	uint32_t depth = 0, deepest = 0;

	for (uint32_t n = 0; n < n_nodes; n++) {
		uint32_t above = n - 1;		/* NO_NODE for n = 0 */

		for (; above != parent[n]; depth--) {
			if (above == NO_NODE)
				return 0;
			above = parent[above];
		}
		if (++depth > deepest)
			deepest = depth;
	}
	return deepest;
}

/* Nodes of each subtree. */
static void
count_subtrees(const uint32_t *parent, uint32_t n_nodes, uint32_t *size)
{
	for (uint32_t n = 0; n < n_nodes; n++)
		size[n] = 1;
	for (uint32_t n = n_nodes; n-- > 0;)
		if (parent[n] != NO_NODE)
			size[parent[n]] += size[n];
}

/*
 * Where each node goes.  room[n]: nodes of n's subtree; afterwards nothing.
 */
static void
find_places(const uint32_t *parent, uint32_t n_nodes, uint32_t *room,
            uint32_t *place)
{
	uint32_t next_root = 0;

	for (uint32_t n = 0; n < n_nodes; n++) {
		uint32_t *next = parent[n] != NO_NODE ? &room[parent[n]] :
		                 &next_root;

		place[n] = *next;
		*next += room[n];
		room[n] = place[n] + 1;		/* its first child's place */
	}
}

/* Moves each item of an array, a pointer variable's address, to its place. */
static int
permute_labels(uint32_t **items, const uint32_t *place, uint32_t n,
               struct error *error)
{
	uint32_t *moved = allocate(n, sizeof *moved, error);

	if (moved == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		moved[place[i]] = (*items)[i];
	free(*items);
	*items = moved;
	return 0;
}

static int
permute_counts(uint64_t **items, const uint32_t *place, uint32_t n,
               struct error *error)
{
	uint64_t *moved = allocate(n, sizeof *moved, error);

	if (moved == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		moved[place[i]] = (*items)[i];
	free(*items);
	*items = moved;
	return 0;
}

static int
permute_nodes(struct tree_builder *builder, const uint32_t *place,
              struct error *error)
{
	uint32_t n_nodes = builder->n_nodes;

	for (uint32_t n = 0; n < n_nodes; n++)
		if (builder->parent[n] != NO_NODE)
			builder->parent[n] = place[builder->parent[n]];
	if (permute_labels(&builder->parent, place, n_nodes, error) != 0 ||
	    permute_labels(&builder->label, place, n_nodes, error) != 0)
		return -1;
	for (uint32_t r = 0; r < builder->n_resources; r++) {
		if (permute_counts(&builder->hits[r], place, n_nodes,
		                   error) != 0)
			return -1;
		if (builder->samples[r] != NULL &&
		    permute_counts(&builder->samples[r], place, n_nodes,
		                   error) != 0)
			return -1;
	}
	return 0;
}

/* Puts the nodes into depth-first order; place[n_nodes] is filled. */
static int
order_nodes(struct tree_builder *builder, uint32_t *place,
            struct error *error)
{
	uint32_t *room = allocate(builder->n_nodes, sizeof *room, error);

	if (room == NULL)
		return -1;
	count_subtrees(builder->parent, builder->n_nodes, room);
	find_places(builder->parent, builder->n_nodes, room, place);
	free(room);
	return permute_nodes(builder, place, error);
}

/* Takes over the builder's arrays, which are in depth-first order. */
static struct sample_tree *
take_tree(struct tree_builder *builder, struct error *error)
{
	uint32_t n_nodes = builder->n_nodes;
	struct sample_tree *tree = memory_array(1, sizeof *tree, error);
	uint32_t *end = allocate(n_nodes, sizeof *end, error);

	if (tree == NULL || end == NULL) {
		free(tree);
		free(end);
		return NULL;
	}
	count_subtrees(builder->parent, n_nodes, end);
	for (uint32_t n = 0; n < n_nodes; n++)
		end[n] += n;
	*tree = (struct sample_tree){
		.n_nodes = n_nodes,
		.n_resources = builder->n_resources,
		.deepest = find_deepest(builder->parent, n_nodes),
		.parent = builder->parent,
		.end = end,
		.label = builder->label,
		.hits = builder->hits,
		.samples = builder->samples,
	};
	builder->parent = builder->label = NULL;
	builder->hits = builder->samples = NULL;
	return tree;
}

struct sample_tree *
tree_builder_finish(struct tree_builder *builder, uint32_t **new_number,
                    struct error *error)
{
	uint32_t n_nodes = builder->n_nodes;
	bool is_ordered = find_deepest(builder->parent, n_nodes) > 0;
	struct sample_tree *tree = NULL;
	uint32_t *place = NULL;

	free(builder->slots);
	builder->slots = NULL;
	if (builder->capacity == 0 && reserve_nodes(builder, 1, error) != 0)
		return NULL;
	if (new_number != NULL || !is_ordered) {
		place = allocate(n_nodes, sizeof *place, error);
		if (place == NULL)
			return NULL;
		for (uint32_t n = 0; n < n_nodes; n++)
			place[n] = n;
	}
	if (is_ordered || order_nodes(builder, place, error) == 0)
		tree = take_tree(builder, error);
	if (tree == NULL || new_number == NULL) {
		free(place);
		place = NULL;
	}
	if (new_number != NULL)
		*new_number = place;
	return tree;
}
