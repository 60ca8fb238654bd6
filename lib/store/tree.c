/* SPDX-License-Identifier: MIT */
/* tree.c -- finds or adds a child in an open-addressing hash table.
 *
 * The table doubles when it is half full.  The twins of a chunk are in the
 * order of its nodes.
 */
#include "lib/store/tree.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/store/datafile.h"

#define FIRST_SLOTS ((size_t)1024)
#define FIRST_CHUNK ((size_t)4 << 10)
#define LAST_CHUNK ((size_t)1 << 20)
#define POPULATE_STEP ((size_t)128 << 10)

/* A chunk of nodes and their twins. */
struct tree_chunk {
	struct datafile_chunk file;
	size_t room;		/* nodes that fit */
	size_t populated;	/* nodes whose memory is populated */
	unsigned char twins[] __attribute__((aligned(16)));
};

static inline size_t
twin_size(void)
{
	return sizeof(struct tree_node) +
	    datafile_columns.n * sizeof(struct tree_count);
}

static inline size_t
tree_node_size(void)
{
	return sizeof(struct cpprofdata_node) +
	    datafile_columns.n * sizeof(struct cpprofdata_count);
}

static inline struct tree_node *
twin_at(struct tree_chunk *chunk, size_t i)
{
	return (void *)(chunk->twins + i * twin_size());
}

static inline struct cpprofdata_node *
tree_record_at(const struct tree_chunk *chunk, size_t i)
{
	return (void *)((unsigned char *)(chunk->file.mapped + 1) +
	    i * tree_node_size());
}

static void
tree_copy_nodes(const struct datafile_chunk *chunk, size_t i, size_t n,
                void *to)
{
	const struct tree_chunk *whole = (const struct tree_chunk *)chunk;
	struct cpprofdata_node *record = to;
	unsigned column;

	for (; n > 0; n--, i++) {
		const struct tree_node *twin = (const void *)(whole->twins +
		    i * twin_size());

		record->parent = twin->parent;
		record->module = twin->module;
		record->offset = twin->offset;
		record->returns = twin->returns.n;
		for (column = 0; column < datafile_columns.n; column++)
			record->counts[column] = twin->counts[column].count;
		record = (void *)((unsigned char *)record + tree_node_size());
	}
}

/* A chunk of the file and memory for the twins of its nodes. */
static enum store_result
tree_new_chunk(size_t size, uint32_t owner, struct tree_chunk **chunk)
{
	const size_t room = (size - sizeof(struct cpprofdata_chunk)) /
	    tree_node_size();
	struct datafile_chunk *added;
	const enum store_result result =
	    datafile_new_chunk(&(struct datafile_chunk){
	    .size = size, .type = CPPROFDATA_NODES, .owner = owner,
	    .record_size = (uint32_t)tree_node_size(),
	    .copy = tree_copy_nodes }, sizeof **chunk + room * twin_size(),
	    &added);

	if (result == STORE_OK) {
		*chunk = (struct tree_chunk *)added;
		(*chunk)->room = room;
	}
	return result;
}

static enum store_result
tree_add_chunk(struct tree *tree)
{
	enum store_result result;
	struct tree_chunk *chunk;
	size_t size = FIRST_CHUNK;

	if (tree->chunk != NULL && tree->chunk->file.size < LAST_CHUNK)
		size = tree->chunk->file.size * 4;
	else if (tree->chunk != NULL)
		size = LAST_CHUNK;
	result = tree_new_chunk(size, tree->owner, &chunk);
	if (result == STORE_FULL && size > FIRST_CHUNK)
		result = tree_new_chunk(FIRST_CHUNK, tree->owner, &chunk);
	if (result == STORE_OK)
		tree->chunk = chunk;
	return result;
}

/* Makes room for one more node: a chunk, populated memory, and a slot. */
static enum store_result
tree_make_room(struct tree *tree)
{
	struct tree_slot *slots, *const old = tree->slots;
	struct tree_chunk *chunk = tree->chunk;
	enum store_result result;
	size_t from, n, i, at;

	if (tree->n_used * 2 >= tree->n_slots) {
		/* Double the table, or create it. */
		n = tree->n_slots != 0 ? tree->n_slots * 2 : FIRST_SLOTS;
		slots = store_memory(n * sizeof *slots);
		if (slots == NULL)
			return STORE_FULL;
		disk_populate(slots, n * sizeof *slots);
		for (i = 0; i < tree->n_slots; i++) {
			if (old[i].twin == NULL)
				continue;
			at = old[i].hash & (n - 1);
			while (slots[at].twin != NULL)
				at = (at + 1) & (n - 1);
			slots[at] = old[i];
		}
		tree->slots = slots;
		if (old != NULL)
			store_free(old, tree->n_slots * sizeof *old);
		tree->n_slots = n;
	}
	/*
	 * Leave the last place empty: the place after each node is examined
	 * (next_twin).
	 */
	if (chunk == NULL || chunk->file.count == chunk->room - 1) {
		result = tree_add_chunk(tree);
		if (result != STORE_OK)
			return result;
		chunk = tree->chunk;
	}
	/* Populate the place of the next node and the one after it. */
	from = chunk->populated;
	if (chunk->file.count + 2 <= from)
		return STORE_OK;
	n = chunk->room - from;
	if (n > POPULATE_STEP / tree_node_size())
		n = POPULATE_STEP / tree_node_size();
	if (!disk_populate(tree_record_at(chunk, from), n * tree_node_size()) ||
	    !disk_populate(twin_at(chunk, from), n * twin_size()))
		return STORE_FULL;
	chunk->populated = from + n;
	return STORE_OK;
}

size_t
tree_memory(const struct tree *tree)
{
	return tree->n_slots + slices_memory(&tree->slices) +
	    (tree->chunk == NULL ? 0 :
	    (size_t)tree->chunk->file.first + tree->chunk->populated);
}

static inline bool
tree_is_at(const struct tree_node *node, uint32_t parent,
    const struct tree_place *place)
{
	return node->parent == parent && node->offset == place->offset &&
	    node->module == place->module;
}

/*
 * The twin after a node's own, which may be its child at `place`; NULL: it
 * cannot be.  A place of zeros cannot be found there, because memory not yet
 * written looks the same.
 */
static inline struct tree_node *
next_twin(const struct node *node, const struct tree_place *place)
{
	if (node->twin == NULL || (place->offset | place->module) == 0)
		return NULL;
	return (void *)((unsigned char *)node->twin + twin_size());
}

/* The slot that holds a key, or the empty slot where it belongs. */
static struct tree_slot *
tree_find_slot(const struct tree *tree, uint32_t hash, uint32_t parent,
    const struct tree_place *place)
{
	size_t at = hash & (tree->n_slots - 1);

	for (;; at = (at + 1) & (tree->n_slots - 1)) {
		struct tree_slot *slot = &tree->slots[at];

		if (slot->twin == NULL)
			return slot;
		if (slot->hash == hash && tree_is_at(slot->twin, parent, place))
			return slot;
	}
}

/* Finds a child of a node.  child->path is given. */
static bool
find_child(const struct tree *tree, const struct node *parent,
    const struct tree_place *place, struct node *child)
{
	struct tree_node *twin = next_twin(parent, place);
	const struct tree_slot *slot;

	if (twin != NULL && tree_is_at(twin, parent->number, place)) {
		child->number = parent->number + 1;
		child->twin = twin;
		return true;
	}
	if (tree->slots == NULL)
		return false;
	slot = tree_find_slot(tree, child->path, parent->number, place);
	child->number = slot->number;
	child->twin = slot->twin;
	return slot->twin != NULL;
}

/* Adds a child; tree_make_room has succeeded. */
static void
tree_add_child(struct tree *tree, const struct node *parent,
    const struct tree_place *place, struct node *child)
{
	struct tree_chunk *chunk = tree->chunk;
	struct cpprofdata_node *record = tree_record_at(chunk,
	                                                chunk->file.count);
	struct tree_node *twin = twin_at(chunk, chunk->file.count);
	struct tree_slot *slot;

	*twin = (struct tree_node){ .offset = place->offset,
	    .parent = parent->number, .module = place->module,
	    .returns.copy = &record->returns };
	record->parent = parent->number;
	record->module = place->module;
	record->offset = place->offset;
	child->number = (uint32_t)(chunk->file.first + chunk->file.count);
	child->twin = twin;
	datafile_publish_in(&chunk->file, 1);
	if (twin == next_twin(parent, place))
		return;
	slot = tree_find_slot(tree, child->path, parent->number, place);
	*slot = (struct tree_slot){ child->number, child->path, twin };
	tree->n_used++;
}

void
tree_prefetch(const struct tree *tree, const uint32_t *paths, size_t n)
{
	const size_t mask = tree->n_slots - 1;
	size_t i;

	if (tree->slots == NULL)
		return;
	for (i = 0; i < n; i++)
		__builtin_prefetch(&tree->slots[paths[i] & mask], 1);
	for (i = 0; i < n; i++) {
		const struct tree_slot *slot = &tree->slots[paths[i] & mask];

		if (slot->hash == paths[i])
			__builtin_prefetch(slot->twin);
	}
}

enum store_result
tree_child(struct tree *tree, const struct node *parent,
    const struct tree_place *place, struct node *child)
{
	struct node found = { .path = tree_path_hash(parent->path, place) };
	enum store_result result;

	if (parent->is_new ||
	    !find_child(tree, parent, place, &found)) {
		result = tree_make_room(tree);
		if (result != STORE_OK)
			return result;
		tree_add_child(tree, parent, place, &found);
		found.is_new = true;
	}
	*child = found;
	return STORE_OK;
}

static void
count_in(struct slices *slices, uint32_t owner, struct tree_node *node,
    uint32_t number, unsigned resource, uint64_t hits, uint64_t now_ns)
{
	struct tree_count *twin = &node->counts[resource];
	struct cpprofdata_count *record = &tree_record(node)->counts[resource];

	twin->count.hits += hits;
	twin->count.samples++;
	__atomic_store_n(&record->hits, twin->count.hits, __ATOMIC_RELAXED);
	__atomic_store_n(&record->samples, twin->count.samples,
	    __ATOMIC_RELEASE);
	slices_count(slices, &twin->slices, owner, number, resource, hits,
	    datafile_columns.step_ns[resource], now_ns);
}

void
tree_count(struct tree *tree, const struct node *node, unsigned resource,
    uint64_t hits, uint64_t now_ns)
{
	count_in(&tree->slices, tree->owner, node->twin, node->number,
	    resource, hits, now_ns);
}

void
tree_count_any(struct slices *slices, struct tree_node *twin, uint32_t number,
    unsigned resource, uint64_t hits, uint64_t now_ns)
{
	count_in(slices, CPPROFDATA_ANY_THREAD, twin, number, resource, hits,
	    now_ns);
}
