/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.h -- comparisons of two sets of runs. */
#ifndef CPPROF_VIEWS_COMPARISON_COMPARISON_H
#define CPPROF_VIEWS_COMPARISON_COMPARISON_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/noise/noise.h"
#include "src/views/rows/rows.h"
#include "src/views/view.h"

/* ---- work.c ---- */

/*
 * How much work each of several runs did, to compare per unit of it.
 *
 * The work of a run of the base is 1 on average.
 */

/*
 * The hits of a function stand for the work: sets work[n], of which the first
 * n_base are the base.  hits: how many there are, of the base and of the other
 * runs.  0, or -1 with *error set: a run has no hits of it.  O(nodes) for each
 * run.
 */
int work_by_function(const struct sample_set *runs, size_t n, size_t n_base,
                     uint32_t function, double *work, double hits[2],
                     struct error *error);

/*
 * Takes most functions for unchanged: the work of a run is the weighted median
 * of what their bodies used there as a part of their mean, over all functions
 * but those which by that median did change; these are found in turns.
 * hits: a sum of so many would have the noise of that median.  O(nodes + names
 * log names) for each run.
 */
int work_robust(const struct sample_set *runs, size_t n, size_t n_base,
                double *work, double hits[2], struct error *error);

/*
 * Half of the 95% interval of the work now, as a part of it, by the noise of
 * sampling alone; NAN if the hits are no counts of samples.
 */
double work_uncertainty(const struct sample_set *runs, size_t n,
                        const double hits[2]);

/* ---- compare.c ---- */

/*
 * The rows of a view as a comparison of two sets of runs.
 *
 * The request's columns are the runs, first those of the base, and then, if a
 * sample may stand for several hits, the samples of all runs; its own set is
 * the sum of the runs.  A row is the same stacks in each run, so what it used
 * in each is known, also where that is nothing: what appeared or vanished has
 * rows.
 */

/* How a row's change is called. */
enum row_verdict {
	ROW_UNDECIDED,		/* nothing is known of the noise, or not
				 * enough from one run on each side */
	ROW_NOISE,		/* no more than noise does */
	ROW_MOVED,		/* what it calls grew and shrank, but it did
				 * neither */
	ROW_LIKELY,		/* it grew or shrank; one run on each side
				 * cannot say more, not even of exact counts */
	ROW_SHRANK,
	ROW_GREW,
	N_ROW_VERDICTS
};

/*
 * Where a path stands among those that changed in the same direction and begin
 * with each other.
 */
enum row_role {
	ROLE_NONE,
	ROLE_FIRST,		/* the shortest */
	ROLE_LAST,		/* the longest that has 80% of its change */
	ROLE_BOTH,
	N_ROW_ROLES
};

/* Compared rows, of the same order as the view's. */
struct compared_rows {
	uint32_t n;
	struct change *changes;		/* [n] in hits */
	enum row_verdict *verdicts;	/* [n] */
	enum row_role *roles;		/* [n] */
	struct change whole;		/* of all that the steps left */
	struct change_noise noise;
	bool are_exact;			/* one run on each side whose counts
					 * depend on the program alone */
};

/*
 * Compares rows with their columns, which are hits in each run.  Call
 * compared_rows_free even if it fails.  O(nodes + rows) for each run.
 */
int compare_rows(const struct view_request *request, const struct rows *rows,
                 struct compared_rows *compared, struct error *error);
void compared_rows_free(struct compared_rows *compared);

/* What a change is called where nothing is known of paths. */
enum row_verdict compare_verdict(const struct change *change);

/* Whether a row has the threshold's share of either side. */
bool compare_is_shown(const struct view_request *request,
                      uint64_t *const *columns, uint32_t row,
                      const double least[2]);

/*
 * What shares of the base are of (the request's percent), in hits of one of its
 * runs, or of one per unit of work.
 */
double compare_whole(const struct view_request *request);

/* The least mean hits of a row of the base, and of one now. */
void compare_least(const struct view_request *request, double least[2]);

/* ---- compared_heading.c ---- */

/* The heading of a comparison of two sets of runs. */

/* "grew", "shrank", "likely", "moved", "noise", "undecided". */
extern const char *const row_verdict_names[N_ROW_VERDICTS];

/* Hits, or an empty cell where nothing is known. */
struct cell amount_or_nothing(double amount);

/* Where header lines are of a view without root. */
enum {
	COMPARED_SIDES = 1,	/* "base: 1 run of 5.02 s; now: ..." */
	COMPARED_WHOLE,		/* "whole run: +0.5 s (+10.0%) +- 0.1 s, grew" */
};

/*
 * What view_describe does for other views: the schema cpprof.diff/1 with its
 * fields, header lines for both sides, the scale and the noise, and the footer.
 */
int compared_describe(const struct view_request *request,
                      const struct view_kind *kind,
                      const struct compared_rows *compared,
                      const struct hidden *hidden, struct table *table,
                      struct error *error);

/* ---- inlining.c ---- */

/*
 * Adds a footer for each of the first rows of functions that changed and have
 * hits on one side alone, if their callers' own hits changed by as much the
 * other way: they were probably inlined.  rows->order is that of the table.
 * O(nodes) for each such row.
 */
int compared_add_inlining(const struct view_request *request,
                          const struct rows *rows,
                          const struct compared_rows *compared,
                          struct table *table, struct error *error);

/* ---- compared_table.c ---- */

/*
 * Hands rows and their columns to the table as a comparison, with
 * its heading.  If measure->least is 0, rows below the threshold stay.  is_tree:
 * in the order of the sample tree, indented.  Takes the arrays over, even if it
 * fails.
 */
int compared_table_fill(struct rows *rows, const struct view_request *request,
                        const struct view_kind *kind,
                        const struct measure *measure, bool is_tree,
                        struct hidden *hidden, struct table *table,
                        struct error *error);

#endif
