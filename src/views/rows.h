/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.h -- what views share: which hits are asked for, what a heading says,
 * and how rows and columns are put into a table.
 */
#ifndef CPPROF_VIEWS_ROWS_H
#define CPPROF_VIEWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/profile/call_flow.h"
#include "src/profile/profile.h"
#include "src/views/paths.h"
#include "src/views/view.h"

/* ---- measure.c ---- */

/* What fractions are relative to, and which rows are shown. */

struct measure {
	uint64_t denominator;	/* hits */
	uint64_t least;		/* rows with fewer hits are hidden */
};

/*
 * Why records are not shown; each record counts once, for the first reason
 * that applies.
 */
struct hidden {
	uint64_t below_threshold, too_long, beyond_limit;
	bool is_of_function;	/* the threshold is a share of the function
				 * that is shown */
	uint64_t folded;	/* see rows_fold */
	uint64_t empty;		/* of those below the threshold, the records
				 * without hits; for icicles */
	uint64_t least_searched;	/* paths of fewer hits were too many to
					 * search; 0: all were searched */
	/*
	 * Of those below the threshold, where hidden_add_small counted them:
	 * the one with the most hits, of equals the first.
	 */
	uint64_t largest;
	uint32_t largest_name;
};

/*
 * Counts a record below the threshold whose own name is `name`: the function,
 * or of a path the one that tells it from its neighbours.
 */
void hidden_add_small(struct hidden *hidden, uint32_t name, uint64_t hits);

/* All records that are not shown. */
uint64_t hidden_sum(const struct hidden *hidden);

/*
 * What fractions of a set's hits are relative to.  O(1); O(N) if percentages
 * are of the root.
 */
uint64_t measure_denominator(const struct view_request *request,
                             const struct sample_set *set);

/*
 * What the threshold is a share of: the hits that the refinement left, or of
 * the root if percentages are.  Likewise.
 */
uint64_t measure_threshold_base(const struct view_request *request,
                                const struct sample_set *set);

/*
 * The measure of a request.  If it compares runs, rows of at least that many
 * hits include all that have the threshold's share of a side.  Likewise; for
 * each run then.
 */
struct measure measure_of(const struct view_request *request);

/* hits as a share of the denominator; 0 if that is 0. */
double measure_fraction(const struct measure *measure, uint64_t hits);

/*
 * The smallest whole number of hits that is not below threshold * denominator.
 * The threshold stands for the decimal that the user typed.  So a product that
 * differs from a whole number only through the threshold's last bit is that
 * number: 0.07 of 100 hits is 7.
 */
uint64_t measure_least(double threshold, uint64_t denominator);

/* Hits of a flow, rounded to whole ones for display. */
uint64_t measure_hits(long double hits);

/*
 * Value of the path (function): hits of the stacks that contain it.  One scan
 * of the labels, O(N).
 */
uint64_t measure_function(const struct sample_set *set, uint32_t function);

/*
 * The first node with that label, starting at `node`; n_nodes if there is
 * none.
 */
uint32_t measure_next_node(const struct sample_tree *tree, uint32_t node,
                           uint32_t function);

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

/* O(nodes + entries). */
struct when when_of(const struct sample_set *set);

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
 * stand for, or that the input has no times.  *when: what when_of returns; if
 * its n is 0, there is no column.
 */
int when_add_column(const struct view_request *request, struct when *when,
                    struct table *table, struct error *error);

/*
 * The times of functions[n], which differ, to be freed: of their bodies, or of
 * the stacks that contain them.  The set has a timeline.  O(nodes + entries);
 * with descendants, a node counts for each function above it.  NULL with *error
 * set.
 */
struct when_times *when_of_functions(const struct sample_set *set,
                                     const uint32_t *functions, uint32_t n,
                                     bool are_bodies, struct error *error);

/*
 * 0 if a set says when its hits came; -1 with *error set, saying what has such
 * times.
 */
int when_need(const struct sample_set *set, struct error *error);

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
		sums[i] += columns[i].weight[node];
}

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
	size_t n_shown;			/* 0: the hits of one set, as ever */
	size_t own;			/* the place of the request's own set */
	struct measure measures[COLUMN_SETS_MAX + 1];	/* of each set */
	bool has_error;			/* beside the own set's share */
	bool shows_percent;		/* as hundredths, like that share */
	size_t samples;			/* see view_request */
	const struct fleet_groups *groups;	/* likewise */
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
 * Sorts items[n], numbers of rows, by the first column, the largest first and
 * those without a value last; equal ones stay in their order.  own and
 * others[set - 1]: the values by row.  Does nothing if the first column is the
 * request's own set.
 */
int columns_sort(const struct column_view *view, uint32_t *items, uint32_t n,
                 const uint64_t *own, uint64_t *const *others,
                 struct error *error);

/* ---- rows.c ---- */

/*
 * Records turned into the rows of a table, in order.
 *
 * A row stays what was counted, a name and its parent's number; the table asks
 * for one row at a time.
 */

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
 * what row_shape_cells needs.
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

/* ---- counted.c ---- */

/* Which stacks a row of explain counts, and in which groups. */

enum counted {
	COUNTED_PATH,		/* with the path of the row */
	COUNTED_OWN,		/* that end in the path */
	COUNTED_BODY,		/* that end in its only function */
	COUNTED_STARTS,		/* that begin in that, without the root */
	COUNTED_CUT,		/* whose outer frames are unknown */
	COUNTED_MODULE,		/* that end in a module */
};

/* Whether readers put the name in place of outer frames that they lack. */
bool counted_is_cut_mark(const struct names *names, uint32_t name);

/*
 * The hits of the stacks through `top`, a node without a parent, on which the
 * root is not.  *node: the first node of the root; afterwards the first behind
 * top's subtree.
 */
uint64_t counted_without_root(const struct sample_set *set, uint32_t root,
                              uint32_t top, uint32_t *node);

/*
 * What the groups have of a row, COUNTED_MODULE excepted.  O(nodes);
 * COUNTED_STARTS for each group.
 */
int counted_in_groups(const struct group_noise *noise, enum counted counted,
                      const uint32_t *path, size_t n, uint32_t root,
                      struct group_hits *hits, struct error *error);

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

/* The value of path[n], n >= 1. */
int flow_path_value(const struct call_flow *flow, const uint32_t *path,
                    size_t n, uint64_t *hits, bool *is_estimated,
                    struct error *error);

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

/* ---- bodies.c ---- */

/*
 * Views with a row for each function, by its own body: top and flat.
 */

struct body_row {
	const struct function_total *total;
	uint64_t cumulative;	/* bodies of this row and of all before it */
};

/* What such a view has of its own. */
struct body_view {
	const struct view_kind *kind;
	bool compares_totals;	/* equal bodies are in the order of their
				 * functions' totals, then of names; else of
				 * names */
	/* The columns of the request's own set. */
	void (*add_columns)(struct table *table,
	                    const struct view_request *request);
	/* Fills in the cells of these; returns their number. */
	uint32_t (*fill)(struct cell *cells, const struct body_row *row,
	                 const struct sample_set *set,
	                 const struct measure *measure);
};

/* The whole view, see view_function. */
int view_bodies(const struct view_request *request,
                const struct body_view *view, struct table *table,
                struct error *error);

/* ---- graph_entries.c ---- */

/*
 * The entries of the call graph profile: functions, cycles and the calls among
 * them.
 *
 * In the exact form each function is an entry of its own.  In the classic
 * form, gprof's, functions that can reach each other belong to a cycle, which
 * is an entry, too: calls among its members carry nothing, and what the cycle
 * used as a whole is charged to those that call into it.
 *
 * Source: Graham, Kessler & McKusick 1982, section 5.2.
 */

#define NO_CYCLE UINT32_MAX

/* All calls of one function by another. */
struct graph_call {
	uint32_t caller, callee;	/* names */
	uint64_t calls;
	long double hits, self;
	bool is_estimated;
	bool is_inside;		/* inside a collapsed cycle: carries nothing */
};

/* A function, or a cycle as a whole. */
struct graph_entry {
	uint32_t name;		/* NO_NAME: a cycle */
	uint32_t cycle;		/* the flow's number; of a function in no
				 * collapsed cycle NO_CYCLE */
	long double self, total;
	uint64_t calls, self_calls;
	bool is_estimated;
};

struct graph_entries {
	const struct call_flow *flow;
	const struct names *names;
	bool is_classic;

	struct graph_call *calls;	/* by caller's number */
	uint32_t n_calls;
	uint32_t *first_out;		/* [n_names + 1] in calls and out */
	uint32_t *out;			/* calls by the caller's number, then
					 * by the callee's name in byte
					 * order */
	uint32_t *first_in;		/* [n_names + 1] in in */
	uint32_t *in;			/* the same by callee, then caller */

	struct graph_entry *entries;	/* in the order of their numbers, most
					 * expensive first */
	uint32_t n_entries;
	uint32_t *number;		/* [n_names] of the function's entry;
					 * every function in a call has one */
	uint32_t *cycle_number;		/* [flow->n_cycles] from 1; 0: none */
	uint32_t *cycle_entry;		/* [flow->n_cycles] */
};

/*
 * Makes the entries of a flow; the flow and the names must outlive them.  0,
 * or -1 with *error set and nothing to free.
 */
int graph_entries_make(struct graph_entries *graph,
                       const struct call_flow *flow,
                       const struct names *names, bool is_classic,
                       struct error *error);
void graph_entries_free(struct graph_entries *graph);

/* ---- jit_runtimes.c ---- */

/* How to get the names of code that was made at run time. */

/*
 * Adds what to do for each runtime among the programs and modules of the
 * profile, "run node --perf-basic-prof", joined by "; "; for others, what the
 * process must write.
 */
void jit_runtimes_add_remedies(const struct profile *profile,
                               struct text_buffer *text);

/* ---- times_chart.c ---- */

/* The timeline as a chart. */

/*
 * Gives the table a chart of `all` hits of the request's set.  Layers: if the
 * request has a path, whose hits are `times`, the path and the other hits; else
 * the functions with the largest bodies, and the others.
 */
int times_add_chart(const struct view_request *request,
                    const struct measure *measure,
                    const struct when_times *times,
                    const struct when_times *all, struct table *table,
                    struct error *error);

#endif
