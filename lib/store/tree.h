/* SPDX-License-Identifier: MIT */
/* tree.h -- a thread's sample tree, in private memory and in the file.
 *
 * Nodes lie contiguously in the file, in chunks that belong to the thread, and
 * never move.  Others may be able to write to the file, so it is never read:
 * each node has a twin in private memory, which holds its key and its counts.
 * Each change is made to the twin and then written to the file.
 *
 * In a new path, all nodes from some frame on are new, so most nodes directly
 * follow their parents.  A child is looked for there first, and otherwise in a
 * hash table.
 *
 * All functions: async-signal-safe, on the tree's thread.
 */
#ifndef CPPROF_TREE_H
#define CPPROF_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"
#include "lib/store/result.h"
#include "lib/store/slices.h"
#include "lib/unwind/unwinder.h"

/* A node's twin: what the collector needs of the record. */
struct tree_node {
	struct frame_returns returns;	/* its copy is in the node's record */
	uint64_t offset;
	uint32_t parent;
	uint32_t module;
	struct tree_count {
		struct cpprofdata_count count;
		struct slice_list slices;	/* when */
	} counts[];		/* one for each resource */
};

/* A node's record in the file, which must only be written. */
static inline struct cpprofdata_node *
tree_record(const struct tree_node *node)
{
	return (struct cpprofdata_node *)((char *)node->returns.copy -
	    offsetof(struct cpprofdata_node, returns));
}

/*
 * A node's number, its twin, and a hash of its whole path.  Because the hash
 * covers the path, a frame's node can be looked up before its caller's node is
 * found, so the memory of many nodes can be fetched at once.
 */
struct node {
	uint32_t number;
	uint32_t path;
	struct tree_node *twin;	/* NULL: of TREE_ROOT */
	bool is_new;		/* just added, so it has no children yet */
};

/* The parent of outermost frames. */
#define TREE_ROOT ((struct node){ .number = CPPROFDATA_NO_NODE })

struct tree_slot {
	uint32_t number;
	uint32_t hash;
	struct tree_node *twin;	/* NULL: empty */
};

struct tree {
	uint32_t owner;		/* number of the thread's record */
	struct tree_chunk *chunk;	/* the one being filled */
	struct tree_slot *slots;
	size_t n_slots;		/* a power of two */
	size_t n_used;		/* slots in use */
	struct slices slices;
};

/* What distinguishes a node from its siblings. */
struct tree_place {
	uint64_t offset;
	uint32_t module;
};

/* The hash of a path extended by a place. */
static inline uint32_t
tree_path(uint32_t path, const struct tree_place *place)
{
	uint64_t h = place->offset + ((uint64_t)path << 32 | place->module);

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	h = (h ^ place->offset) * 0xff51afd7ed558ccdu;
	return (uint32_t)(h >> 32);
}

/*
 * Prefetches the slots of n paths and then their nodes.  Any paths are valid.
 */
void tree_prefetch(const struct tree *tree, const uint32_t *paths, size_t n);

/* Finds or adds the child of `parent` at a place, and stores it in *child. */
enum store_result tree_child(struct tree *tree, const struct node *parent,
    const struct tree_place *place, struct node *child);

/*
 * Adds one raw sample with `hits` hits to a node's counts of a resource, and to
 * the slices up to now_ns (CLOCK_MONOTONIC).
 */
void tree_count(struct tree *tree, const struct node *node, unsigned resource,
    uint64_t hits, uint64_t now_ns);

/* A measure of the tree's memory that changes whenever the tree grows. */
size_t tree_memory(const struct tree *tree);

/*
 * Begins an empty tree in a forked child, which has another file.  The old
 * tree's memory is not inherited (datafile_private_memory).
 */
static inline void
tree_forked(struct tree *tree)
{
	*tree = (struct tree){ 0 };
}

#endif
