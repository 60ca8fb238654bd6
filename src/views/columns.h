/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h -- several resources side by side, and what they say together.
 *
 * A row is a set of stacks, so it has hits of every resource, and ratios and
 * differences of these.  With value 0 as its hits of the request's own set and
 * value i + 1 as those of columns[i], this makes its cells.
 *
 * A ratio of 0 / 0 is an empty cell; x / 0 is shown as that in text and is
 * empty in data formats.  Neither has a share.
 */
#ifndef CPPROF_VIEWS_COLUMNS_H
#define CPPROF_VIEWS_COLUMNS_H

#include "src/views/measure.h"
#include "src/views/view.h"

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
 * these are, or why there are none.  0, or -1 with *error set.
 */
int columns_describe(const struct view_request *request,
                     const struct measure *measure, struct table *table,
                     struct error *error);

/*
 * Adds the header line that says what errors of shares are, or why there are
 * none.  0, or -1 with *error set.
 */
int columns_describe_errors(const struct view_request *request,
                            struct table *table, struct error *error);

/*
 * Adds the columns shown before the request's own set, or those after it, to
 * the table: NAME.hits and NAME.fraction, or NAME.value.  Those after it begin
 * with the own set's error, if rows have one.  0, or -1 with *error set.
 */
int columns_add_before(const struct view_request *request,
                       struct table *table, struct error *error);
int columns_add_after(const struct view_request *request,
                      struct table *table, struct error *error);

/*
 * Adds all of them: those before, the own set's hits and fraction, and those
 * after.  0, or -1 with *error set.
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
 * request's own set.  0, or -1 with *error set.
 */
int columns_sort(const struct column_view *view, uint32_t *items, uint32_t n,
                 const uint64_t *own, uint64_t *const *others,
                 struct error *error);

#endif
