/* SPDX-License-Identifier: MIT */
/* tree.h -- a thread's sample tree, written straight into the file.
 *
 * Nodes are dense in the file, in chunks of the thread's own, and never move.
 * Beside them, in private memory, a hash table finds the child of a node for
 * an address; it can be thrown away with the process.
 *
 * All functions: async-signal-safe, on the tree's thread.
 */
#ifndef CPPROF_TREE_H
#define CPPROF_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"

/*
 * A node: its number, its record in the mapped file, and a hash of all the
 * path to it.  (So where a frame's node is looked for does not depend on what
 * was found for its caller: the processor waits for the memory of several at
 * once.)
 */
struct node {
	uint32_t number;
	uint32_t path;
	struct cpprofdata_node *record;
};

/* Above outermost frames: the parent that is none. */
#define TREE_ROOT ((struct node){ .number = CPPROFDATA_NO_NODE })

struct tree_slot {
	uint32_t number;
	uint32_t hash;
	struct cpprofdata_node *record;	/* NULL: empty */
};

struct tree {
	uint32_t owner;		/* number of the thread's record */
	struct cpprofdata_chunk *chunk;	/* being filled */
	size_t capacity;	/* of it, in nodes */
	unsigned char *populated;	/* memory is there up to here */
	struct tree_slot *slots;
	size_t n_slots;		/* power of two */
	size_t n_nodes;
};

enum tree_result {
	TREE_OK,
	TREE_BUSY,	/* the file's lock was taken; try at the next tick */
	TREE_FULL	/* no room in file or memory */
};

/* The child of `parent` for an address. */
enum tree_result tree_child(struct tree *tree, const struct node *parent,
    uint32_t module, uint64_t offset, struct node *child);

/* Adds to a node's counts of a resource: one raw sample, and its hits. */
void tree_count(const struct node *node, unsigned resource, uint64_t hits);

/* Frees what is beside the file, and forgets the file. */
void tree_free(struct tree *tree);

#endif
