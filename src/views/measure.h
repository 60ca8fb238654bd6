/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.h -- what fractions are relative to, and which rows are shown. */
#ifndef CPPROF_VIEWS_MEASURE_H
#define CPPROF_VIEWS_MEASURE_H

#include <stdint.h>

#include "src/views/view.h"

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

#endif
