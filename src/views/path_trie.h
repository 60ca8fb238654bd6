/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_trie.h -- the records of one call path profile, while they are counted.
 *
 * A record is a call path: its parent record and one more name, after the
 * parent's path (down) or before it (up).  Record 0 is the root function
 * alone.  Records are numbered in the order in which they are met, so parents
 * come first.
 *
 * If the root is NO_NAME, record 0 stands for a function above all stacks; it
 * is no path, and has the most hits that there can be.
 */
#ifndef CPPROF_VIEWS_PATH_TRIE_H
#define CPPROF_VIEWS_PATH_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/call_paths.h"
#include "src/base/error.h"
#include "src/views/view.h"

/*
 * What is accessed together lies together, so a record is usually one cache
 * miss.
 */
struct path_record {
	uint64_t hits;
	uint32_t until;		/* see path_trie_count; then the view's */
	uint32_t parent;	/* NO_RECORD for record 0 */
	uint32_t name;
};

struct path_line;
struct path_slot;

struct path_trie {
	uint32_t n_records, capacity;
	struct path_record *records;	/* [n_records] */
	uint64_t *returns;		/* likewise; NULL: not counted */
	uint64_t *own;			/* hits of the stacks that end in the
					 * record; likewise */
	uint64_t *columns;		/* [n_records][n_columns] hits of other
					 * resources */
	size_t n_columns;
	struct path_line *lines;	/* children, near their parent */
	struct path_slot *overflow;	/* children that found no room in a
					 * line */
	size_t n_overflow, overflow_size;
};

/*
 * The most records that a view makes, at 28 bytes each.  Downward a tree with
 * more nodes, and upward a tree that repeats the root below very many names,
 * can need more.
 */
enum { MAX_RECORDS = 1 << 26 };

/*
 * Makes a trie of the one path (root), with room for about n_expected records.
 * 0, or -1 with *error set and nothing to free.
 */
int path_trie_begin(struct path_trie *trie, uint32_t root,
                    uint32_t n_expected, struct error *error);
void path_trie_free(struct path_trie *trie);

/*
 * The record that extends `parent` by `name`, entered if new: one probe,
 * usually of a cache line that was just accessed.  NO_RECORD with *error set
 * when MAX_RECORDS are in use or memory runs out.
 */
uint32_t path_trie_child(struct path_trie *trie, uint32_t parent,
                         uint32_t name, struct error *error);

/*
 * Counts returns as well; to be called before any record except 0 is made.  0,
 * or -1 with *error set.
 */
int path_trie_count_returns(struct path_trie *trie, struct error *error);

/* Likewise for the hits of stacks that end in a record. */
int path_trie_count_own(struct path_trie *trie, struct error *error);

/* Likewise for the hits of n other resources, which may be 0. */
int path_trie_count_columns(struct path_trie *trie, size_t n,
                            struct error *error);

/*
 * Adds the weight of a node whose subtree ends before `end` to a record,
 * unless an ancestor has added its own: this is the lock of the 1993 paper.
 * Nodes must come in preorder.  Then the lock is one number, the end of the
 * last subtree that was added, and needs no unlocking.  Returns whether it
 * added the weight.
 */
static inline bool
path_trie_count(struct path_trie *trie, uint32_t record, uint32_t node,
                uint32_t end, uint64_t weight)
{
	struct path_record *counted = &trie->records[record];

	if (node < counted->until)
		return false;
	counted->until = end;
	counted->hits += weight;
	return true;
}

/* After that: adds the node's weight in each of the columns' sets. */
static inline void
path_trie_add_columns(struct path_trie *trie, uint32_t record,
                      const struct sample_set *columns, uint32_t node)
{
	uint64_t *sums = &trie->columns[record * trie->n_columns];

	for (size_t i = 0; i < trie->n_columns; i++)
		sums[i] += columns[i].weight[node];
}

#endif
