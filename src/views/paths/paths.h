/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h -- call paths from a root down, up to it, and the sample tree. */
#ifndef CPPROF_VIEWS_PATHS_PATHS_H
#define CPPROF_VIEWS_PATHS_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/call_flow.h"
#include "src/profile/profile.h"
#include "src/views/rows/rows.h"
#include "src/views/view.h"

/* ---- path_trie.c ---- */

/*
 * The records of one call path profile, while they are counted.
 *
 * A record is a call path: its parent record and one more name, after the
 * parent's path (down) or before it (up).  Record 0 is the root function
 * alone.  Records are numbered in the order in which they are met, so parents
 * come first.
 *
 * If the root is NO_NAME, record 0 stands for a function above all stacks; it
 * is no path, and has the most hits that there can be.
 */

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

/* Counts returns as well; to be called before any record except 0 is made. */
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
		sums[i] += sample_set_weight(&columns[i], node);
}

/* ---- down.c ---- */

/*
 * Copies from the trie all records with at least measure->least hits and no
 * longer than request->depth, and counts the others, unless hidden is NULL.  A
 * path's value is at most that of the same path without its first or its last
 * name, so the parent of a record that is kept is kept, too.  O(records).
 */
int rows_from_trie(struct rows *rows, struct path_trie *trie,
                   const struct view_request *request,
                   const struct measure *measure, struct hidden *hidden,
                   struct error *error);

/*
 * The paths of the request's tree that begin with its root (down.c), or end in
 * it (up.c), as rows_from_trie keeps them.
 *
 * counts_own: also count rows->disjoint, which gives each hit of the root to one
 * path.  Downward that is the path of the stack's innermost frame: where the
 * stack is now, after all returns to an earlier name.  Upward it is the path
 * from the stack's outermost frame to the innermost activation of the root.  So
 * those of the root are all its hits.  A path's other hits passed through it and
 * re-entered one of its functions, or the root, later.
 *
 * Downward hidden may be NULL: then neither the paths below the threshold are
 * counted nor rows->disjoint, which saves most of the time.
 */
int rows_down(struct rows *rows, const struct view_request *request,
              const struct measure *measure, bool counts_own,
              struct hidden *hidden, struct error *error);
int rows_up(struct rows *rows, const struct view_request *request,
            const struct measure *measure, bool counts_own,
            struct hidden *hidden, struct error *error);

/* ---- flow_paths.c ---- */

/*
 * Call paths where the input has calls but no stacks.
 *
 * The value of a path (x1 .. xk) is what the call x1 -> x2 used, apportioned
 * by gprof's rule from there on: the share of x2 that the call x2 -> x3 used
 * is the share of the path that goes on to x3, and so on.  A function can have
 * several vertices in the flow; then each way through them gives a term.  In
 * symbols, the sum over all ways v1 .. vk of
 *
 * 	hits(v1 v2) * hits(v2 v3)/total(v2) * .. * hits(vk-1 vk)/total(vk-1)
 *
 * It is the same from either end, and never grows as a path gets longer.  The
 * shares of a recursive function's calls can sum to more than one, because a
 * stack can pass through several of its calls, and so belongs to several
 * paths.  Paths of one and two functions are those of the flow; longer ones
 * are estimates, except where every inner vertex can only be reached along the
 * path: such terms are exact.  That is how callers that callgrind separates
 * become paths again.
 */

/*
 * The limits of a search.  Functions that all call each other have more paths
 * than can be counted; then only the largest are searched for.
 */
enum { MAX_FLOW_RECORDS = 1 << 17, MAX_FLOW_AMOUNTS = 1 << 22 };

/*
 * All canonical paths that begin with the request's root, or end in it, down
 * to the threshold.  If there is no room for all of them, only those of at
 * least hidden->least_searched hits.  Estimates below half a hit are left out
 * in any case.  0, or -1 with *error set: interrupted, or out of memory.
 */
int flow_paths_down(struct rows *rows, const struct view_request *request,
                    const struct measure *measure, struct hidden *hidden,
                    struct error *error);
int flow_paths_up(struct rows *rows, const struct view_request *request,
                  const struct measure *measure, struct hidden *hidden,
                  struct error *error);

#endif
