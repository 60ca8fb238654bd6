/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.h -- rows in order, and what is said and shown beside them: the heading,
 * the columns of other resources, when hits came.
 */
#ifndef CPPROF_VIEWS_ROWS_ROWS_H
#define CPPROF_VIEWS_ROWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/profile/profile.h"
#include "src/views/hits/hits.h"
#include "src/views/view.h"

/* ---- order.c ---- */

/*
 * The order of rows: by hits, then by names as bytes.
 *
 * The names that are shown are ranked once.  From then on everything is sorted
 * by numbers, in linear passes; no comparison walks a path.
 */

/*
 * Ranks the names of n items by their bytes: rank[i] is how many distinct
 * names among name[n] come before name[i].  rank[n] is the caller's and must
 * not be name.  Returns the number of distinct names, UINT32_MAX with *error
 * set.  O(n + F log F), F names in the set.
 */
uint32_t order_rank_names(const struct names *names, const uint32_t *name,
                          uint32_t n, uint32_t *rank, struct error *error);

/*
 * Stable sorts of items[n] by a key looked up with each item's number: keys
 * below n_keys ascending; 64-bit keys descending.  O(n + n_keys); O(n).
 */
int order_ascending(uint32_t *items, uint32_t n, const uint32_t *key,
                    uint32_t n_keys, struct error *error);
int order_descending(uint32_t *items, uint32_t n, const uint64_t *key,
                     struct error *error);

/*
 * Puts the nodes of a forest into preorder, siblings in the order that they
 * have in items[n], a permutation of 0 .. n-1; the result is written there.
 * parent[n]: UINT32_MAX for a root.  O(n).
 */
int order_preorder(uint32_t *items, uint32_t n, const uint32_t *parent,
                   struct error *error);

/*
 * Sorts items[n], a permutation of 0 .. n-1, by the names met on the walk from
 * each to its root, as ranks, a prefix before its extensions.  All walks are
 * different.  rank[n] below n_ranks.  Prefix doubling: O((n + n_ranks) log D)
 * for walks of at most D names.
 */
int order_by_walk(uint32_t *items, uint32_t n, const uint32_t *parent,
                  const uint32_t *rank, uint32_t n_ranks,
                  struct error *error);

/* ---- heading.c ---- */

/* The header and footer lines and the fields of every view. */

/* What the tables of a view have in common. */
struct view_kind {
	const char *schema;	/* "cpprof.paths/1" */
	const char *title;	/* "Downward Call Path Profile" */
	uint32_t title_name;	/* the function that the title's bytes from */
	size_t title_name_begin;	/* here on are; 0: none */
	bool has_root;		/* it is about the request's root, or says that
				 * there is none */
	bool has_columns;	/* it shows the request's columns */
	bool ignores_inlined;	/* it shows the same whether inlined calls
				 * have names or not */
};

/*
 * Describes the view in the table: the fields root, resource.name, .gtick and
 * .interval, total, denominator, hidden and, where there are any, lost and
 * lost_samples; the header lines of the paper, and one for losses of more than
 * one percent, and for each column shown, or saying that the view has none; and
 * a footer with the number of records that are not shown, and why.  Does not
 * touch columns and rows.
 */
int view_describe(const struct view_request *request,
                  const struct view_kind *kind, const struct measure *measure,
                  const struct hidden *hidden, struct table *table,
                  struct error *error);

/*
 * The header line that a view has which shows no columns although they are on.
 */
int view_add_lack_of_columns(const struct view_request *request,
                             struct table *table, struct error *error);

/*
 * What view_describe does for the root, for a view with a heading of its own:
 * the field, which is null without a root; the header line, which then says
 * that there is none.
 */
int view_add_root_field(const struct view_request *request, bool has_root,
                        struct table *table, struct error *error);
int view_add_root(const struct view_request *request, struct table *table,
                  struct error *error);

/* Likewise for the resource: the table's unit, and the fields. */
int view_add_resource(const struct sample_set *set, struct table *table,
                      struct error *error);

/* The header line of a function's code: what it used itself, and in all. */
int view_add_totals(const struct view_request *request,
                    const struct measure *measure, uint64_t self,
                    uint64_t inclusive, bool is_estimated,
                    struct table *table, struct error *error);

/* Likewise the footer with the records that are not shown. */
int view_add_hidden(const struct view_request *request,
                    const struct hidden *hidden, struct table *table,
                    struct error *error);

/*
 * Says in a footer which inlined functions are not among the names of the set,
 * and what would show them; adds the field modules_without_inlined if their
 * debug information is too large.
 */
int view_add_inlined(const struct sample_set *set, struct table *table,
                     struct error *error);

/*
 * If no row is shown because the root itself is below the threshold, adds a
 * footer that says so, and which threshold would show it.  One scan of the
 * labels.
 */
int view_explain_hidden_root(const struct view_request *request,
                             const struct measure *measure,
                             struct table *table, struct error *error);

/* What a record is. */
enum hidden_path {
	HIDDEN_NAME,	/* a function */
	HIDDEN_CALLER,	/* a path from a function to the root */
	HIDDEN_CALLEE,	/* a path from the root to a function */
};

/*
 * If no row is shown, adds a footer that says why: no function matches the
 * pattern, or all records are below the threshold; then it names the largest
 * and a threshold that would show it.  n_kept: the rows that are not below.
 */
int view_explain_hidden_rows(const struct view_request *request,
                             const struct measure *measure,
                             const struct hidden *hidden, uint32_t n_kept,
                             enum hidden_path path, struct table *table,
                             struct error *error);

/* Whether the request's pattern, if it has one, matches the name. */
bool view_wants(const struct view_request *request, uint32_t name);

/*
 * A function's name as a string, complete even if it holds NULs; it lives as
 * long as table and names.  NULL with *error set.
 */
const char *view_name_text(const struct names *names, uint32_t name,
                           struct table *table, struct error *error);

/* 0 if the request has a root function, else -1 with *error set. */
int view_need_root(const struct view_request *request,
                   const struct table *table, struct error *error);

/* ---- hits_text.c ---- */

/*
 * Hits in sentences: as a number, or in the resource's unit.
 *
 * Where each hit is a sample, people count samples.  Where hits are weights, such
 * as nanoseconds, or a sample can stand for several, only the amount that they
 * make means something.
 */

/* Whether text shows hits of the set in the resource's unit. */
bool hits_have_unit(const struct sample_set *set);

/* Adds "12 hits", or the amount: "48.21 ms".  bare: "12". */
void text_add_hits(struct text_buffer *text, const struct sample_set *set,
                   uint64_t hits);
void text_add_bare_hits(struct text_buffer *text, const struct sample_set *set,
                        uint64_t hits);

/* Adds "12 of 614 hits", or "48.21 ms of 2.456 s". */
void text_add_hits_of(struct text_buffer *text, const struct sample_set *set,
                      uint64_t hits, uint64_t whole);

/* The same as strings that live as long as the table; NULL with *error set. */
const char *hits_text(const struct sample_set *set, uint64_t hits,
                      struct table *table, struct error *error);
const char *hits_text_of(const struct sample_set *set, uint64_t hits,
                         uint64_t whole, struct table *table,
                         struct error *error);

/* "4.2 ms", which lives as long; NULL with *error set. */
const char *hits_time_text(uint64_t ns, struct table *table,
                           struct error *error);

/* ---- when.c ---- */

/*
 * When hits came, as a line of characters.
 *
 * The run is divided into at most 32 buckets of one or two slices.  Each is a
 * character, the share of the bucket's hits:
 *
 * 	-	there are no hits in that part of the run
 * 	_	others have hits, this one has none
 * 	0-9	less than 10 %, from 10 % to less than 20 %, ..., 90 % and more
 */

enum { WHEN_BUCKETS = 32 };

struct when {
	uint32_t n;			/* buckets in use; 0: the set does not
					 * say when its hits came */
	uint32_t n_slices;		/* of each bucket */
	uint64_t width_ns;		/* of each bucket */
	uint64_t totals[WHEN_BUCKETS];	/* hits of all stacks left */
};

/* The hits of a row by slice, and what is drawn of them. */
struct when_times {
	uint64_t hits[TIMELINE_SLICES];
};

struct when_text {
	char text[WHEN_BUCKETS + 1];
};

/* when->n characters and a NUL. */
void when_draw(const struct when *when, const struct when_times *times,
               struct when_text *text);

/* Those of n rows, which live as long as the table; NULL with *error set. */
struct when_text *when_draw_rows(const struct when *when,
                                 const struct when_times *times, uint32_t n,
                                 struct table *table, struct error *error);

/*
 * If the request wants it, adds the column `when`, and if the table has a
 * pattern, puts it first there.  A line of the heading says what its characters
 * stand for, or that the input has no times.  *when: how they are drawn; if
 * its n is 0, there is no column.
 */
int when_add_column(const struct view_request *request, struct when *when,
                    struct table *table, struct error *error);

/*
 * The times of names[n], which differ, to be freed: of the bodies of the nodes
 * that have them, or of the stacks that contain these.  name_at: the name that
 * a node counts for, or NO_NAME; NULL: its own.  The set has a timeline.
 * O(nodes + entries); with descendants, a node counts for each name above it.
 * NULL with *error set.
 */
struct when_times *when_of_names(const struct sample_set *set,
                                 const uint32_t *names, uint32_t n,
                                 bool are_bodies,
                                 uint32_t (*name_at)(const void *context,
                                                     uint32_t node),
                                 const void *context, struct error *error);

/*
 * 0 if a set says when its hits came; -1 with *error set, saying what has such
 * times.
 */
int when_need(const struct sample_set *set, struct error *error);

/* ---- columns.c ---- */

/*
 * Several resources side by side, and what they say together.
 *
 * A row is a set of stacks, so it has hits of every resource, and ratios and
 * differences of these.  With value 0 as its hits of the request's own set and
 * value i + 1 as those of columns[i], this makes its cells.
 *
 * A ratio of 0 / 0 is an empty cell; x / 0 is shown as that in text and is
 * empty in data formats.  Neither has a share.
 */

/* What rows need of a request; it may outlive the request. */
struct column_view {
	const struct shown_column *shown;	/* [n_shown] */
	size_t n_shown;			/* 0: only the hits of the request's
					 * set */
	size_t own;			/* the place of the request's own set */
	struct measure measures[COLUMN_SETS_MAX + 1];	/* of each set */
	bool has_error;			/* beside the own set's share */
	bool shows_percent;		/* as hundredths, like that share */
	const struct resource *resource;	/* of the request's own set */
	size_t samples;			/* see view_request */
	struct group_noise groups;	/* groups is NULL: there are none */
	size_t first_group;		/* the set of the first of them */
};

/*
 * measure: that of the request's own set.  O(1); for each column O(N) if
 * percentages are of the root.
 */
struct column_view columns_of(const struct view_request *request,
                              const struct measure *measure);

/*
 * Adds a header line for each column but that of the request's own set, and
 * the fields columns.NAME.total, .denominator, .gtick and .interval, or
 * columns.NAME.formula; and if rows are to have errors, a line that says what
 * these are, or why there are none.
 */
int columns_describe(const struct view_request *request,
                     const struct measure *measure, struct table *table,
                     struct error *error);

/*
 * Adds the header line that says what errors of shares are, or why there are
 * none.
 */
int columns_describe_errors(const struct view_request *request,
                            struct table *table, struct error *error);

/*
 * Adds the columns shown before the request's own set, or those after it, to
 * the table: NAME.hits and NAME.fraction, or NAME.value.  Those after it begin
 * with the own set's error, if rows have one.
 */
int columns_add_before(const struct view_request *request,
                       struct table *table, struct error *error);
int columns_add_after(const struct view_request *request,
                      struct table *table, struct error *error);

/*
 * Adds all of them: those before, the own set's hits and fraction, and those
 * after.
 */
int columns_add(const struct view_request *request, struct table *table,
                struct error *error);

/* Writes their cells for a row's values; returns how many there are. */
size_t columns_cells_before(const struct column_view *view,
                            const uint64_t *values, struct cell *cells);
size_t columns_cells_after(const struct column_view *view,
                           const uint64_t *values, struct cell *cells);
size_t columns_cells(const struct column_view *view, const uint64_t *values,
                     struct cell *cells);

/*
 * Sorts the order of the rows by the first column, the largest first and those
 * without a value last; equal ones stay in their order.  Does nothing if the
 * first column is the request's own set.
 */
struct rows;
int columns_sort(const struct column_view *view, struct rows *rows,
                 struct error *error);

/* ---- rows.c ---- */

/*
 * The records to show, in order.
 *
 * A row stays what was counted, a name and its parent's number; the table asks
 * for one row at a time.
 */

struct row {
	uint64_t hits;
	uint64_t returns : 63;	/* 0: none were seen, or not counted */
	bool is_estimated : 1;	/* the hits are */
	uint32_t name;
	uint32_t parent;	/* the row of the path without this name;
				 * NO_RECORD: there is none */
};

/*
 * Hits of the root by path, each of which is counted for one path only; see
 * rows_down.
 */
struct disjoint_hits {
	uint64_t own;		/* of the stacks that end in the path */
	uint64_t all;		/* own, and that of all extensions, hidden ones
				 * too */
};

/* On the heap, freed by rows_free. */
struct rows {
	uint32_t n;
	struct row *items;		/* [n] */
	struct disjoint_hits *disjoint;	/* [n]; NULL: not counted */
	uint64_t **columns;		/* [n_columns][n] hits of the request's
					 * columns, as tests of change want
					 * them */
	size_t n_columns;
	uint32_t *order;		/* [n] the order shown; NULL before
					 * rows_sort */
	bool are_paths;			/* else functions, without parents */
	bool has_returns, has_estimates;
	bool is_innermost_first;	/* as in call_paths */
	bool are_bodies;		/* of functions, the hits are their own
					 * alone */
	bool are_calls;			/* each row is a call between `function`
					 * and the row's name */
	bool are_outer;			/* the row's name is the caller */
	uint32_t function;
	struct cell path;		/* of the only row; else empty */
	struct call_paths paths;	/* see rows_make_paths */
	uint32_t *path_parent, *path_name;	/* of these */
};

void rows_free(struct rows *rows);

/* Makes room for the request's columns of n rows, all 0. */
int rows_make_columns(struct rows *rows, const struct view_request *request,
                      uint32_t n, struct error *error);

/*
 * Counts the columns of rows that are functions: of their bodies, or with their
 * descendants.  O(N) for each column.
 */
int rows_count_functions(struct rows *rows,
                         const struct view_request *request, bool are_bodies,
                         struct error *error);

/* Makes room for n rows of the set, all 0, to be filled in; rows->n is 0. */
int rows_make(struct rows *rows, const struct sample_set *set, uint32_t n,
              struct error *error);

/*
 * The parents and the names of the rows as arrays of their own, [n], to be
 * freed; NULL with *error set.
 */
uint32_t *rows_parents(const struct rows *rows, struct error *error);
uint32_t *rows_names(const struct rows *rows, struct error *error);

/* What rows_path returns, once there are all rows. */
int rows_make_paths(struct rows *rows, const struct names *names,
                    struct error *error);

/* Whether rows are shown as paths: CELL_PATH, not CELL_NAME. */
static inline bool
rows_show_paths(const struct rows *rows)
{
	return rows->are_paths || rows->are_calls ||
	       rows->path.kind != CELL_EMPTY;
}

/* The cell of a row's path or function; it borrows the rows. */
struct cell rows_path(const struct rows *rows, uint32_t row);

/* A stable sort of the order by hits, the most first.  O(n). */
int rows_order_by_hits(struct rows *rows, struct error *error);

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
 * another than its own set: see columns_sort.
 */
int rows_sort_by_column(struct rows *rows, const struct view_request *request,
                        struct error *error);

/* The number of rows within the limit; counts the others as hidden. */
uint32_t rows_limit(const struct view_request *request, uint32_t n,
                    struct hidden *hidden);

/* The hits of a row, and those of its columns. */
void rows_get_hits(const struct rows *rows, uint32_t row,
                   uint64_t hits[COLUMN_SETS_MAX + 1]);

/* ---- jit_runtimes.c ---- */

/* How to get the names of code that was made at run time. */

/*
 * Adds what to do for each runtime among the programs and modules of the
 * profile, "run node --perf-basic-prof", joined by "; "; for others, what the
 * process must write.
 */
void jit_runtimes_add_remedies(const struct profile *profile,
                               struct text_buffer *text);

#endif
