/* SPDX-License-Identifier: MIT */
/* tree.h -- a thread's sample tree, in private memory and in the file.
 *
 * Nodes are dense in the file, in chunks of the thread's own, and never move.
 * Somebody else may write to the file, so it is never read: each node has a
 * twin in private memory, which has what it is found by and its counts.  The
 * file gets each change right after the twin.
 *
 * A path is mostly new from some frame on, and so most nodes lie right behind
 * their parents: there a child is looked for first.  The others are found by a
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
#include "lib/unwind/unwinder.h"

/* A node's twin; no more of the record is needed. */
struct tree_node {
	struct frame_returns returns;	/* the copy is in the node's record */
	uint64_t offset;
	uint32_t parent;
	uint32_t module;
	struct cpprofdata_count counts[];	/* one for each resource */
};

/* A node's record in the file: only written to. */
static inline struct cpprofdata_node *
tree_record(const struct tree_node *node)
{
	return (struct cpprofdata_node *)((char *)node->returns.copy -
	    offsetof(struct cpprofdata_node, returns));
}

/*
 * A node: its number, its twin, and a hash of all the path to it.  So where a
 * frame's node is looked for does not depend on what was found for its caller,
 * and the memory of many can be waited for at once.
 */
struct node {
	uint32_t number;
	uint32_t path;
	struct tree_node *twin;	/* NULL: of TREE_ROOT */
	bool is_new;		/* and has no children, so none are looked for */
};

/* Above outermost frames: the parent that is none. */
#define TREE_ROOT ((struct node){ .number = CPPROFDATA_NO_NODE })

struct tree_slot {
	uint32_t number;
	uint32_t hash;
	struct tree_node *twin;	/* NULL: empty */
};

struct tree {
	uint32_t owner;		/* number of the thread's record */
	struct tree_chunk *chunk;	/* being filled */
	struct tree_slot *slots;
	size_t n_slots;		/* power of two */
	size_t n_used;		/* of them */
};

enum tree_result {
	TREE_OK,
	TREE_BUSY,	/* the file's lock was taken; try at the next tick */
	TREE_FULL	/* no room in file or memory */
};

/* What tells a node from its siblings. */
struct place {
	uint64_t offset;
	uint32_t module;
};

/* The hash of the path that goes on from one to a place. */
static inline uint32_t
tree_path(uint32_t path, const struct place *place)
{
	uint64_t h = place->offset + ((uint64_t)path << 32 | place->module);

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	h = (h ^ place->offset) * 0xff51afd7ed558ccdu;
	return (uint32_t)(h >> 32);
}

/*
 * Has the processor fetch the slots of n paths, then their nodes.  It may be
 * asked for any paths.
 */
void tree_prefetch(const struct tree *tree, const uint32_t *paths, size_t n);

/* The child of `parent` at a place. */
enum tree_result tree_child(struct tree *tree, const struct node *parent,
    const struct place *place, struct node *child);

/* Adds to a node's counts of a resource: one raw sample, and its hits. */
void tree_count(const struct node *node, unsigned resource, uint64_t hits);

/* How much memory it has got so far: a number that changes when it gets more. */
size_t tree_memory(const struct tree *tree);

/*
 * In a forked child: begins an empty one, in another file.  (Of the old one
 * there is no memory here: datafile_private_memory.)
 */
static inline void
tree_forked(struct tree *tree)
{
	*tree = (struct tree){ 0 };
}

#endif
