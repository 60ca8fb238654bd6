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

#include "src/base/memory.h"
#include "src/profile/large_array.h"
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

	/*
	 * How far the nodes are known to be in depth-first order: up to
	 * settled, the newest of these `depth` deep; ends but of the subtrees
	 * that it is in.  is_mixed: the node behind is out of order.
	 */
	uint32_t *end;
	uint32_t settled, depth, deepest;
	bool is_mixed;

	struct slot *slots;	/* at most half of them in use */
	unsigned slots_bits;
	uint32_t n_slots_used;
	uint32_t hashed_until;	/* nodes behind may not be in them yet */
};

enum {
	FIRST_CAPACITY = 1024,
	FIRST_SLOTS_BITS = 10,
	PENDING_STEP = 64,
	N_WALKS = 16,		/* as many misses as a core has in flight */
};

static struct slot *
new_slots(unsigned bits, struct error *error)
{
	size_t n = (size_t)1 << bits;
	struct slot *slots = NULL;

	if (large_array_reserve(&slots, n, sizeof *slots, error) == 0)
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
		large_array_free(counts[r]);
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
	large_array_free(builder->slots);
	large_array_free(builder->parent);
	large_array_free(builder->label);
	large_array_free(builder->end);
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
	/* Nothing will be looked for among these any more. */
	builder->hashed_until = builder->n_nodes;
	builder->section_begin = builder->n_nodes;
	return builder->section_begin;
}

/* ---- arrays ---- */

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
	if (large_array_reserve(&builder->parent, capacity, sizeof(uint32_t),
	                        error) != 0 ||
	    large_array_reserve(&builder->label, capacity, sizeof(uint32_t),
	                        error) != 0 ||
	    large_array_reserve(&builder->end, capacity, sizeof(uint32_t),
	                        error) != 0)
		return -1;
	for (uint32_t r = 0; r < builder->n_resources; r++)
		if (large_array_reserve(&builder->hits[r], capacity,
		                        sizeof(uint64_t), error) != 0 ||
		    (builder->samples[r] != NULL &&
		     large_array_reserve(&builder->samples[r], capacity,
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

/* Where the child that was entered right after its parent stands. */
static uint32_t
behind(const struct tree_builder *builder, uint32_t parent)
{
	return parent != NO_NODE ? parent + 1 : builder->section_begin;
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

static size_t
first_slot(const struct tree_builder *builder, uint32_t hash)
{
	return (size_t)((uint64_t)hash << builder->slots_bits >> 32);
}

/* Enters a node that is surely not in the table; there is room for it. */
static void
fill_slot(struct tree_builder *builder, uint32_t node, uint32_t hash)
{
	size_t mask = ((size_t)1 << builder->slots_bits) - 1;
	size_t i = first_slot(builder, hash);

	while (builder->slots[i].node != NO_NODE)
		i = (i + 1) & mask;
	builder->slots[i] = (struct slot){ .node = node, .hash = hash };
	builder->n_slots_used++;
}

/* Room in the table for n more, n at most as many as it has at first. */
static int
reserve_slots(struct tree_builder *builder, size_t n, struct error *error)
{
	struct slot *old = builder->slots, *slots;
	size_t n_old = (size_t)1 << builder->slots_bits;

	if (builder->n_slots_used + n <= n_old / 2)
		return 0;
	slots = new_slots(builder->slots_bits + 1, error);
	if (slots == NULL)
		return -1;
	builder->slots = slots;
	builder->slots_bits++;
	builder->n_slots_used = 0;
	for (size_t i = 0; i < n_old; i++)
		if (old[i].node != NO_NODE)
			fill_slot(builder, old[i].node, old[i].hash);
	large_array_free(old);
	return 0;
}

/* Hashes up to PENDING_STEP of the nodes that were appended since. */
static int
hash_some_pending(struct tree_builder *builder, struct error *error)
{
	struct slot pending[PENDING_STEP];
	uint32_t node = builder->hashed_until;
	size_t n = 0;

	if (reserve_slots(builder, PENDING_STEP, error) != 0)
		return -1;
	for (; n < PENDING_STEP && node < builder->n_nodes; node++) {
		uint32_t parent = builder->parent[node], hash;

		if (node == behind(builder, parent))
			continue;
		hash = hash_child(builder, parent, builder->label[node]);
		__builtin_prefetch(&builder->slots[first_slot(builder, hash)],
		                   1);
		pending[n++] = (struct slot){ .node = node, .hash = hash };
	}
	for (size_t i = 0; i < n; i++)
		fill_slot(builder, pending[i].node, pending[i].hash);
	builder->hashed_until = node;
	return 0;
}

/* A child that does not stand behind its parent; there is room for it. */
static uint32_t
hashed_child(struct tree_builder *builder, uint32_t parent, uint32_t label,
             uint32_t hash, struct error *error)
{
	struct slot *slot;

	while (builder->hashed_until < builder->n_nodes)
		if (hash_some_pending(builder, error) != 0)
			return NO_NODE;
	if (reserve_slots(builder, 1, error) != 0)
		return NO_NODE;
	slot = find_slot(builder, parent, label, hash);
	if (slot->node != NO_NODE)
		return slot->node;
	slot->node = place_node(builder, parent, label);
	slot->hash = hash;
	builder->n_slots_used++;
	builder->hashed_until = builder->n_nodes;
	return slot->node;
}

/* Enters labels below a node that has no such child; there is room. */
static uint32_t
append_labels(struct tree_builder *builder, uint32_t parent,
              const uint32_t *labels, size_t n, uint32_t *nodes)
{
	for (size_t i = 0; i < n; i++) {
		parent = place_node(builder, parent, labels[i]);
		if (nodes != NULL)
			nodes[i] = parent;
	}
	return parent;
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
		uint32_t next = behind(builder, parent);

		if (next == builder->n_nodes)
			break;
		if (!is_child(builder, next, parent, labels[i]))
			next = hashed_child(builder, parent, labels[i],
			                    hash_child(builder, parent,
			                               labels[i]), error);
		if (next == NO_NODE)
			return -1;
		nodes[i] = parent = next;
	}
	append_labels(builder, parent, labels + i, n - i, nodes + i);
	return 0;
}

int
tree_builder_append(struct tree_builder *builder, uint32_t parent,
                    const uint32_t *labels, size_t n, uint32_t *nodes,
                    struct error *error)
{
	if (reserve_nodes(builder, n, error) != 0)
		return -1;
	append_labels(builder, parent, labels, n, nodes);
	return 0;
}

/* ---- several stacks at a time ---- */

/* A stack on its way into the tree, in front of a look into the table. */
struct walk {
	const uint32_t *labels, *end;
	uint32_t parent;
	uint32_t hash;		/* of labels[0] below parent */
	uint32_t *node;		/* where the innermost node goes */
};

/* Goes on as far as children stand behind their parents; whether to the end. */
static bool
walk_on(struct tree_builder *builder, struct walk *walk)
{
	for (; walk->labels < walk->end; walk->labels++) {
		uint32_t parent = walk->parent, label = *walk->labels;
		uint32_t next = behind(builder, parent);

		if (next == builder->n_nodes) {
			size_t n = (size_t)(walk->end - walk->labels);

			walk->parent = append_labels(builder, parent,
			                             walk->labels, n, NULL);
			break;
		}
		if (!is_child(builder, next, parent, label)) {
			walk->hash = hash_child(builder, parent, label);
			__builtin_prefetch(&builder->slots[first_slot(
			    builder, walk->hash)]);
			return false;
		}
		walk->parent = next;
	}
	*walk->node = walk->parent;
	return true;
}

/* What the slot most likely names is asked for ahead of time. */
static void
prefetch_node(const struct tree_builder *builder, const struct walk *walk)
{
	uint32_t node = builder->slots[first_slot(builder, walk->hash)].node;

	if (node != NO_NODE) {
		__builtin_prefetch(&builder->parent[node]);
		__builtin_prefetch(&builder->label[node]);
	}
}

static int
walk_step(struct tree_builder *builder, struct walk *walk,
          struct error *error)
{
	uint32_t node = hashed_child(builder, walk->parent, *walk->labels,
	                             walk->hash, error);

	if (node == NO_NODE)
		return -1;
	walk->parent = node;
	walk->labels++;
	return 0;
}

int
tree_builder_stacks(struct tree_builder *builder, const uint32_t *labels,
                    const uint32_t *lengths, size_t n, uint32_t *nodes,
                    struct error *error)
{
	struct walk walks[N_WALKS];
	size_t n_walks = 0, n_labels = 0, next = 0;

	for (size_t i = 0; i < n; i++)
		n_labels += lengths[i];
	if (reserve_nodes(builder, n_labels, error) != 0)
		return -1;
	while (n_walks > 0 || next < n) {
		while (n_walks < N_WALKS && next < n) {
			struct walk *walk = &walks[n_walks];

			*walk = (struct walk){
				.labels = labels,
				.end = labels + lengths[next],
				.parent = NO_NODE,
				.node = &nodes[next],
			};
			labels += lengths[next++];
			if (!walk_on(builder, walk))
				n_walks++;
		}
		for (size_t i = 0; i < n_walks; i++)
			prefetch_node(builder, &walks[i]);
		for (size_t i = n_walks; i-- > 0;) {
			if (walk_step(builder, &walks[i], error) != 0)
				return -1;
			if (walk_on(builder, &walks[i]))
				walks[i] = walks[--n_walks];
		}
	}
	return 0;
}

/* ---- counts ---- */

/* From here on samples are not hits. */
static int
split_samples(struct tree_builder *builder, uint32_t resource,
              struct error *error)
{
	uint64_t *samples = NULL;

	if (large_array_reserve(&samples, builder->capacity, sizeof *samples,
	                        error) != 0)
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
 * Depth-first order needs no depths: step down by one, or climb, out of
 * subtrees that end here.
 */
void
tree_builder_settle(struct tree_builder *builder)
{
	const uint32_t *parent = builder->parent;
	uint32_t n = builder->settled, depth = builder->depth;

	for (; n < builder->n_nodes && !builder->is_mixed; n++) {
		uint32_t above = n - 1;		/* NO_NODE for n = 0 */

		for (; above != parent[n] && above != NO_NODE; depth--) {
			builder->end[above] = n;
			above = parent[above];
		}
		if (above != parent[n]) {
			builder->is_mixed = true;
			break;
		}
		if (++depth > builder->deepest)
			builder->deepest = depth;
	}
	builder->settled = n;
	builder->depth = depth;
}

/* All nodes are settled and no more will come. */
static void
end_open_subtrees(struct tree_builder *builder)
{
	uint32_t node = builder->n_nodes - 1;	/* NO_NODE if there is none */

	for (; node != NO_NODE; node = builder->parent[node])
		builder->end[node] = builder->n_nodes;
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

/*
 * Runs of nodes that change places among themselves.  In input that is nearly
 * sorted they are few and short, and all other nodes stay where they are.
 */
struct runs {
	struct run {
		uint32_t begin, end;
	} *runs;
	size_t n, capacity;
	size_t longest;
};

static int
find_runs(const uint32_t *place, uint32_t n_nodes, struct runs *runs,
          struct error *error)
{
	for (uint32_t n = 0; n < n_nodes; n++) {
		uint32_t begin = n, last = place[n];

		if (last == n)
			continue;
		while (++n <= last)
			if (place[n] > last)
				last = place[n];
		if (memory_grow(&runs->runs, &runs->capacity, runs->n + 1,
		                sizeof *runs->runs, error) != 0)
			return -1;
		runs->runs[runs->n++] = (struct run){ begin, n };
		if (n - begin > runs->longest)
			runs->longest = n - begin;
		n--;
	}
	return 0;
}

/* Each moves the items of all runs to their places; spare: room for one. */
static void
permute_labels(uint32_t *labels, const uint32_t *place,
               const struct runs *runs, uint32_t *spare)
{
	for (size_t r = 0; r < runs->n; r++) {
		const struct run *run = &runs->runs[r];
		uint32_t n = run->end - run->begin;

		memcpy(spare, labels + run->begin, n * sizeof *spare);
		for (uint32_t i = 0; i < n; i++)
			labels[place[run->begin + i]] = spare[i];
	}
}

static void
permute_counts(uint64_t *counts, const uint32_t *place,
               const struct runs *runs, uint64_t *spare)
{
	for (size_t r = 0; r < runs->n; r++) {
		const struct run *run = &runs->runs[r];
		uint32_t n = run->end - run->begin;

		memcpy(spare, counts + run->begin, n * sizeof *spare);
		for (uint32_t i = 0; i < n; i++)
			counts[place[run->begin + i]] = spare[i];
	}
}

/* spare: room for the longest run of counts. */
static void
permute_nodes(struct tree_builder *builder, const uint32_t *place,
              const struct runs *runs, uint64_t *spare)
{
	uint32_t *parent = builder->parent;

	for (uint32_t n = 0; n < builder->n_nodes; n++)
		if (parent[n] != NO_NODE)
			parent[n] = place[parent[n]];
	permute_labels(parent, place, runs, (uint32_t *)spare);
	permute_labels(builder->label, place, runs, (uint32_t *)spare);
	for (uint32_t r = 0; r < builder->n_resources; r++) {
		permute_counts(builder->hits[r], place, runs, spare);
		if (builder->samples[r] != NULL)
			permute_counts(builder->samples[r], place, runs,
			               spare);
	}
}

/* Puts the nodes into depth-first order; scratch[n_nodes]. */
static int
order_nodes(struct tree_builder *builder, uint32_t *scratch,
            struct error *error)
{
	uint32_t n_nodes = builder->n_nodes, *place = NULL;
	struct runs runs = { 0 };
	uint64_t *spare = NULL;
	int result = -1;

	if (large_array_reserve(&place, n_nodes, sizeof *place, error) != 0)
		return -1;
	count_subtrees(builder->parent, n_nodes, scratch);
	find_places(builder->parent, n_nodes, scratch, place);
	if (find_runs(place, n_nodes, &runs, error) == 0 &&
	    large_array_reserve(&spare, runs.longest, sizeof *spare,
	                        error) == 0) {
		permute_nodes(builder, place, &runs, spare);
		result = 0;
	}
	free(runs.runs);
	large_array_free(spare);
	large_array_free(place);
	return result;
}

struct sample_tree *
tree_builder_finish(struct tree_builder *builder, struct error *error)
{
	struct sample_tree *tree;

	large_array_free(builder->slots);
	builder->slots = NULL;
	if (builder->capacity == 0 && reserve_nodes(builder, 1, error) != 0)
		return NULL;
	tree_builder_settle(builder);
	if (builder->is_mixed) {
		if (order_nodes(builder, builder->end, error) != 0)
			return NULL;
		builder->settled = builder->depth = builder->deepest = 0;
		builder->is_mixed = false;
		tree_builder_settle(builder);
	}
	end_open_subtrees(builder);
	tree = memory_array(1, sizeof *tree, error);
	if (tree == NULL)
		return NULL;
	*tree = (struct sample_tree){
		.n_nodes = builder->n_nodes,
		.n_resources = builder->n_resources,
		.deepest = builder->deepest,
		.parent = builder->parent,
		.end = builder->end,
		.label = builder->label,
		.hits = builder->hits,
		.samples = builder->samples,
	};
	builder->parent = builder->end = builder->label = NULL;
	builder->hits = builder->samples = NULL;
	return tree;
}
