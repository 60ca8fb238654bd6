/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.h -- records turned into the rows of a table, in order.
 *
 * Rows stay what they were counted as, a name and its parent's number each;
 * a table asks for one row at a time.
 */
#ifndef CPPROF_VIEWS_ROWS_H
#define CPPROF_VIEWS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/views/heading.h"
#include "src/views/path_trie.h"

/*
 * The records to show; the arrays are the heap's, freed by rows_free (or by
 * the table, once rows_show has them).
 */
struct rows {
	uint32_t n;
	uint32_t *name;		/* [n] */
	uint32_t *parent;	/* [n], or NULL: rows are functions */
	uint64_t *hits;		/* [n] */
	uint64_t *returns;	/* [n], or NULL: nobody counted them */
	bool *is_estimated;	/* [n], or NULL: nothing is */
	uint32_t *order;	/* [n], as they are shown; NULL before */
	bool is_innermost_first;	/* as in call_paths */
};

void rows_free(struct rows *rows);

/*
 * Copies from the trie all records that are at least measure->least and no
 * longer than request->depth, and counts the others.  A path's value is at most
 * that of the same path without its first or its last name, so a record that
 * is kept has its parent kept.  O(records).
 */
int rows_from_trie(struct rows *rows, const struct path_trie *trie,
                   const struct view_request *request,
                   const struct measure *measure, struct hidden *hidden,
                   struct error *error);

/* Room for n functions of the set, to be filled in. */
int rows_of_functions(struct rows *rows, const struct sample_set *set,
                      uint32_t n, struct error *error);

/* Fills rows->order: hits descending, then names as bytes. */
int rows_sort(struct rows *rows, const struct names *names,
              struct error *error);

/* How many rows the limit leaves; counts the others. */
uint32_t rows_limit(const struct view_request *request, uint32_t n,
                    struct hidden *hidden);

/*
 * Columns hits, fraction, path, of a flow also estimated, where they were
 * counted also returns, and the pattern of paths or of functions.
 */
void rows_add_columns(struct table *table, const struct sample_set *set,
                      bool has_paths, bool has_returns);

/*
 * Sorts the rows, cuts them at the limit, and makes them the table's, with all
 * that view_describe says: columns hits, fraction, path.  Takes the arrays
 * over, also when it fails.
 */
int rows_show(struct rows *rows, const struct view_request *request,
              const struct view_kind *kind, const struct measure *measure,
              struct hidden *hidden, struct table *table,
              struct error *error);

#endif
