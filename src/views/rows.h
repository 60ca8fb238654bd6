/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.h -- records turned into the rows of a table, in order.
 *
 * A row stays what was counted, a name and its parent's number; the table asks
 * for one row at a time.
 */
#ifndef CPPROF_VIEWS_ROWS_H
#define CPPROF_VIEWS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/views/columns.h"
#include "src/views/heading.h"
#include "src/views/path_trie.h"
#include "src/views/when.h"

/*
 * The records to show; the arrays are on the heap, freed by rows_free (or by
 * the table, once rows_show has taken them over).
 */
struct rows {
	uint32_t n;
	uint32_t *name;		/* [n] */
	uint32_t *parent;	/* [n], or NULL: rows are functions */
	uint64_t *hits;		/* [n] */
	uint64_t *returns;	/* [n], or NULL: not counted */
	uint64_t *own;		/* [n], likewise: hits of the stacks that end
				 * in the path, see rows_down */
	uint64_t *solid;	/* [n], likewise: own and that of all
				 * extensions, hidden ones too */
	uint64_t **columns;	/* [n_columns][n] hits of the request's columns;
				 * NULL before they are counted */
	size_t n_columns;
	bool *is_estimated;	/* [n], or NULL: nothing is */
	/*
	 * For rows_compare, of paths that are not made of other rows: row i is
	 * record[i] of paths, which are the table's.  NULL: they are.
	 */
	uint32_t *record;
	const struct call_paths *paths;
	uint32_t *order;	/* [n], the order shown; NULL before
				 * rows_sort */
	bool is_innermost_first;	/* as in call_paths */
	bool are_bodies;	/* of functions, the hits are their own alone */
};

void rows_free(struct rows *rows);

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
 * counts_own: also count rows->own and rows->solid, which give each hit of the
 * root to one path.  Downward that is the path of the stack's innermost frame:
 * where the stack is now, after all returns to an earlier name.  Upward it is
 * the path from the stack's outermost frame to the innermost activation of the
 * root.  So the solid hits of a path are its own and the solid hits of its
 * extensions, and those of the root are all its hits.  A path's other hits
 * passed through it and re-entered one of its functions, or the root, later.
 *
 * Downward hidden may be NULL: then neither the paths below the threshold are
 * counted nor rows->solid, which saves most of the time.
 */
int rows_down(struct rows *rows, const struct view_request *request,
              const struct measure *measure, bool counts_own,
              struct hidden *hidden, struct error *error);
int rows_up(struct rows *rows, const struct view_request *request,
            const struct measure *measure, bool counts_own,
            struct hidden *hidden, struct error *error);

/*
 * Makes room for the request's columns of n rows, all 0.  0, or -1 with *error
 * set.
 */
int rows_make_columns(struct rows *rows, const struct view_request *request,
                      uint32_t n, struct error *error);

/*
 * Counts the columns of rows that are functions: of their bodies, or with their
 * descendants.  O(N) for each column.  0, or -1 with *error set.
 */
int rows_count_functions(struct rows *rows,
                         const struct view_request *request, bool are_bodies,
                         struct error *error);

/* Makes room for n functions of the set, to be filled in. */
int rows_of_functions(struct rows *rows, const struct sample_set *set,
                      uint32_t n, struct error *error);

/*
 * Leaves out each path that exactly one other path here extends by one name, if
 * that has the same hits, in all columns (and both or neither are estimates):
 * the longer one shows them as well.  So of a chain of such paths only the
 * longest stays.  Afterwards rows->order holds the others, in the order it had;
 * returns their number, UINT32_MAX with *error set.  Counts those left out in
 * hidden->folded.  rows_sort comes first.  O(n).
 */
uint32_t rows_fold(const struct rows *rows, struct hidden *hidden,
                   struct error *error);

/* Fills rows->order: hits descending, then names as bytes. */
int rows_sort(struct rows *rows, const struct names *names,
              struct error *error);

/*
 * Sorts that order by the first of the columns shown, if the request wants
 * another than its own set: see columns_sort.  own: the hits by row.
 */
int rows_sort_by_column(struct rows *rows, const struct view_request *request,
                        const uint64_t *own, struct error *error);

/* The number of rows within the limit; counts the others as hidden. */
uint32_t rows_limit(const struct view_request *request, uint32_t n,
                    struct hidden *hidden);

/* The usual columns, depending on what the rows have. */
struct row_shape {
	struct column_view columns;
	bool has_paths;		/* else rows are functions */
	bool has_returns, has_estimates;
	struct when when;	/* n is 0: no such column */
};

/* What of a row goes into its cells. */
struct row_values {
	uint64_t hits[COLUMN_SETS_MAX + 1];	/* of the request's own set, and
						 * of each of its columns */
	struct cell path;
	uint64_t returns;
	bool is_estimated;
	const char *when;
};

/*
 * Adds the columns hits, fraction and path, for a flow also estimated, where
 * has_returns also returns, and the pattern of a row; or, if the request shows
 * columns, those as well, in aligned text.  Also does when_add_column.  *shape:
 * what row_shape_cells needs.  0, or -1 with *error set.
 */
int rows_add_columns(struct row_shape *shape,
                     const struct view_request *request,
                     const struct measure *measure, bool has_paths,
                     bool has_returns, struct table *table,
                     struct error *error);

/* Writes the cells of a row in the order of these columns. */
void row_shape_cells(const struct row_shape *shape,
                     const struct row_values *values, struct cell *cells);

/* The hits of a row, and those of its columns. */
void rows_get_hits(const struct rows *rows, uint32_t row,
                   uint64_t hits[COLUMN_SETS_MAX + 1]);

/*
 * When the hits of the first n_rows rows came, which are functions, in their
 * order: those of their bodies, or with their descendants.  Lives as long as
 * the table; NULL with *error set.
 */
struct when_text *rows_draw_functions(const struct rows *rows,
                                      uint32_t n_rows,
                                      const struct sample_set *set,
                                      bool are_bodies,
                                      const struct when *when,
                                      struct table *table,
                                      struct error *error);

/*
 * Hands rows and their columns to the table as a comparison (compare.h), with
 * its heading.  measure->least is 0: also those below the threshold.  is_tree:
 * in the order of the sample tree, indented.  Takes the arrays over, even if it
 * fails.
 */
int rows_compare(struct rows *rows, const struct view_request *request,
                 const struct view_kind *kind, const struct measure *measure,
                 bool is_tree, struct hidden *hidden, struct table *table,
                 struct error *error);

/*
 * Sorts the rows, applies the limit, and hands the rows to the table, with the
 * columns of rows_add_columns and everything that view_describe adds.  With
 * `when`, O(nodes) for each row that is a path.  Takes the arrays over, even if
 * it fails.
 */
int rows_show(struct rows *rows, const struct view_request *request,
              const struct view_kind *kind, const struct measure *measure,
              struct hidden *hidden, struct table *table,
              struct error *error);

#endif
