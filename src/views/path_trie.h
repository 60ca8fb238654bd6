/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_trie.h -- the records of one call path profile while it is counted.
 *
 * A record is a call path: its parent record and one more name, after the
 * parent's path (down) or before it (up).  Record 0 is the root function
 * alone.  Records are numbered as they are met, so parents come first.
 */
#ifndef CPPROF_VIEWS_PATH_TRIE_H
#define CPPROF_VIEWS_PATH_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/call_paths.h"
#include "src/base/error.h"

/* What is touched together lies together: a record is most often one miss. */
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
	struct path_line *lines;	/* children near their parent */
	struct path_slot *overflow;	/* and those that found no room */
	size_t n_overflow, overflow_size;
};

/*
 * What a view makes at most, at 40 bytes each.  Downward a tree of more nodes,
 * upward one that repeats the root below very many names can ask for more.
 */
enum { MAX_RECORDS = 1 << 26 };

/*
 * A trie of the one path (root), with room for about n_expected records.  0,
 * or -1 with *error set, when there is nothing to free.
 */
int path_trie_begin(struct path_trie *trie, uint32_t root,
                    uint32_t n_expected, struct error *error);
void path_trie_free(struct path_trie *trie);

/*
 * The record that extends `parent` by `name`, entered if new: one probe, most
 * often of a cache line that was touched just before.  NO_RECORD with *error
 * set when MAX_RECORDS are in use or memory is short.
 */
uint32_t path_trie_child(struct path_trie *trie, uint32_t parent,
                         uint32_t name, struct error *error);

/*
 * Returns are to be counted too; before the first record but 0's is made.  0,
 * or -1 with *error set.
 */
int path_trie_count_returns(struct path_trie *trie, struct error *error);

/*
 * Adds to a record the weight of a node whose subtree ends before `end`,
 * unless an ancestor has added its own: this is the lock of the 1993 paper.
 * Nodes must come in preorder; then the lock is one number, the end of the
 * last subtree that was added, and needs no unlocking.
 */
static inline void
path_trie_count(struct path_trie *trie, uint32_t record, uint32_t node,
                uint32_t end, uint64_t weight)
{
	struct path_record *counted = &trie->records[record];

	if (node < counted->until)
		return;
	counted->until = end;
	counted->hits += weight;
}

#endif
