/* SPDX-License-Identifier: MIT */
/* tree.c -- finds or adds a child; open addressing, doubled at half full. */
#include "lib/tree.h"

#include <sys/mman.h>

#include "lib/datafile.h"
#include "lib/disk.h"

#define FIRST_SLOTS ((size_t)1024)
#define FIRST_CHUNK ((size_t)16 << 10)
#define LAST_CHUNK ((size_t)1 << 20)
#define POPULATE_STEP ((size_t)128 << 10)

/* Twice as many slots, or the first. */
static bool
grow_slots(struct tree *tree)
{
	size_t n = tree->n_slots != 0 ? tree->n_slots * 2 : FIRST_SLOTS, i, at;
	struct tree_slot *slots, *old = tree->slots;

	slots = mmap(NULL, n * sizeof *slots, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		return false;
	madvise(slots, n * sizeof *slots, MADV_POPULATE_WRITE);
	for (i = 0; i < tree->n_slots; i++) {
		if (old[i].record == NULL)
			continue;
		at = old[i].hash & (n - 1);
		while (slots[at].record != NULL)
			at = (at + 1) & (n - 1);
		slots[at] = old[i];
	}
	/* A child that is forked between must not free the old ones again. */
	tree->slots = slots;
	if (old != NULL)
		munmap(old, tree->n_slots * sizeof *old);
	tree->n_slots = n;
	return true;
}

static enum tree_result
add_chunk(struct tree *tree, size_t node_size)
{
	struct cpprofdata_chunk *chunk;
	size_t size = FIRST_CHUNK;

	if (tree->chunk != NULL && tree->chunk->size < LAST_CHUNK)
		size = tree->chunk->size * 2;
	else if (tree->chunk != NULL)
		size = LAST_CHUNK;
	if (!datafile_lock())
		return TREE_BUSY;
	chunk = datafile_add_chunk(CPPROFDATA_NODES, size, node_size,
	    tree->owner);
	if (chunk == NULL && size > FIRST_CHUNK)
		chunk = datafile_add_chunk(CPPROFDATA_NODES, FIRST_CHUNK,
		    node_size, tree->owner);
	datafile_unlock();
	if (chunk == NULL)
		return TREE_FULL;
	tree->chunk = chunk;
	/* The last has none behind it, but may be asked what lies there. */
	tree->capacity = (chunk->size - sizeof *chunk) / node_size - 1;
	tree->populated = (unsigned char *)chunk;
	return TREE_OK;
}

/* Room for one more node: chunk, memory behind it, and a slot. */
static enum tree_result
make_room(struct tree *tree, size_t node_size)
{
	enum tree_result result;
	unsigned char *end, *limit;

	if (tree->n_used * 2 >= tree->n_slots && !grow_slots(tree))
		return TREE_FULL;
	if (tree->chunk == NULL || tree->chunk->count == tree->capacity) {
		result = add_chunk(tree, node_size);
		if (result != TREE_OK)
			return result;
	}
	end = (unsigned char *)(tree->chunk + 1) +
	    (tree->chunk->count + 1) * node_size;
	if (end <= tree->populated)
		return TREE_OK;
	limit = (unsigned char *)tree->chunk + tree->chunk->size;
	if ((size_t)(limit - tree->populated) > POPULATE_STEP)
		limit = tree->populated + POPULATE_STEP;
	if (!disk_populate(tree->populated,
	    (size_t)(limit - tree->populated)))
		return TREE_FULL;
	tree->populated = limit;
	return TREE_OK;
}

static inline bool
is_at(const struct cpprofdata_node *node, uint32_t parent,
    const struct place *place)
{
	return node->parent == parent && node->offset == place->offset &&
	    node->module == place->module;
}

/*
 * What lies behind a node that may have a child there for the place; NULL: none
 * can be there.  What has not been written yet must not be taken for a node.
 */
static inline struct cpprofdata_node *
behind(const struct node *node, const struct place *place, size_t node_size)
{
	if (node->record == NULL || (place->offset | place->module) == 0)
		return NULL;
	return (void *)((unsigned char *)node->record + node_size);
}

/* The slot of a key: the one that holds it, or the empty one for it. */
static struct tree_slot *
find_slot(const struct tree *tree, uint32_t hash, uint32_t parent,
    const struct place *place)
{
	size_t at = hash & (tree->n_slots - 1);

	for (;; at = (at + 1) & (tree->n_slots - 1)) {
		struct tree_slot *slot = &tree->slots[at];

		if (slot->record == NULL)
			return slot;
		if (slot->hash == hash && is_at(slot->record, parent, place))
			return slot;
	}
}

/* Finds a child of a node, whose path is known. */
static bool
find_child(const struct tree *tree, const struct node *parent,
    const struct place *place, size_t node_size, struct node *child)
{
	struct cpprofdata_node *node = behind(parent, place, node_size);
	const struct tree_slot *slot;

	if (node != NULL && is_at(node, parent->number, place)) {
		child->number = parent->number + 1;
		child->record = node;
		return true;
	}
	if (tree->slots == NULL)
		return false;
	slot = find_slot(tree, child->path, parent->number, place);
	child->number = slot->number;
	child->record = slot->record;
	return slot->record != NULL;
}

/* There must be room. */
static void
add_child(struct tree *tree, const struct node *parent,
    const struct place *place, size_t node_size, struct node *child)
{
	struct cpprofdata_chunk *chunk = tree->chunk;
	struct cpprofdata_node *node;
	struct tree_slot *slot;

	node = (void *)((unsigned char *)(chunk + 1) +
	    chunk->count * node_size);
	node->parent = parent->number;
	node->module = place->module;
	node->offset = place->offset;
	child->number = (uint32_t)(chunk->first + chunk->count);
	child->record = node;
	__atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE);
	if (node == behind(parent, place, node_size))
		return;
	slot = find_slot(tree, child->path, parent->number, place);
	*slot = (struct tree_slot){ child->number, child->path, node };
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
			__builtin_prefetch(slot->record);
	}
}

enum tree_result
tree_child(struct tree *tree, const struct node *parent,
    const struct place *place, struct node *child)
{
	const size_t node_size = datafile_header()->node_size;
	struct node found = { .path = tree_path(parent->path, place) };
	enum tree_result result;

	if (parent->is_new ||
	    !find_child(tree, parent, place, node_size, &found)) {
		result = make_room(tree, node_size);
		if (result != TREE_OK)
			return result;
		add_child(tree, parent, place, node_size, &found);
		found.is_new = true;
	}
	*child = found;
	return TREE_OK;
}

void
tree_count(const struct node *node, unsigned resource, uint64_t hits)
{
	struct cpprofdata_count *count = &node->record->counts[resource];

	__atomic_store_n(&count->hits, count->hits + hits, __ATOMIC_RELAXED);
	__atomic_store_n(&count->samples, count->samples + 1,
	    __ATOMIC_RELAXED);
}

void
tree_free(struct tree *tree)
{
	if (tree->slots != NULL)
		munmap(tree->slots, tree->n_slots * sizeof *tree->slots);
	*tree = (struct tree){ 0 };
}
