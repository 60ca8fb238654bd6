/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c -- what fractions are relative to, and which rows are shown. */
#include "src/views/hits/hits.h"

#include <float.h>

uint32_t
measure_next_node(const struct sample_tree *tree, uint32_t node,
                  uint32_t function)
{
	while (node < tree->n_nodes && tree->label[node] != function)
		node++;
	return node;
}

void
hidden_add_small(struct hidden *hidden, uint32_t name, uint64_t hits)
{
	if (hidden->below_threshold++ > 0 && hits <= hidden->largest)
		return;
	hidden->largest = hits;
	hidden->largest_name = name;
}

uint64_t
hidden_sum(const struct hidden *hidden)
{
	return hidden->below_threshold + hidden->folded + hidden->too_long +
	    hidden->beyond_limit;
}

uint64_t
measure_hits(long double hits)
{
	if (hits >= 0x1p64L)
		return UINT64_MAX;
	return (uint64_t)(hits + 0.5L);
}

uint64_t
measure_function(const struct sample_set *set, uint32_t function)
{
	const struct sample_tree *tree = set->tree;
	uint64_t hits = 0;
	uint32_t node;

	if (set->flow != NULL)
		return function < set->flow->n_names ? measure_hits(
		    set->flow->functions[function].inclusive) : 0;
	node = measure_next_node(tree, 0, function);
	while (node < tree->n_nodes) {
		hits += sample_set_weight(set, node);
		node = measure_next_node(tree, sample_tree_end(tree, node),
		    function);
	}
	return hits;
}

uint64_t
measure_body(const struct sample_set *set, uint32_t function)
{
	const struct sample_tree *tree = set->tree;
	uint64_t hits = 0;

	if (set->flow != NULL)
		return set->flow->functions[function].self;
	for (uint32_t node = measure_next_node(tree, 0, function);
	     node < tree->n_nodes;
	     node = measure_next_node(tree, node + 1, function))
		hits += set->self[sample_tree_row(tree, node)];
	return hits;
}

uint64_t
measure_least(double threshold, uint64_t denominator)
{
	long double exact = (long double)threshold * (long double)denominator;
	uint64_t whole;

	if (!(threshold > 0))
		return 0;
	if (exact >= 0x1p64L)
		return UINT64_MAX;
	whole = (uint64_t)exact;
	if (exact - (long double)whole <= exact * DBL_EPSILON ||
	    whole == UINT64_MAX)
		return whole;
	return whole + 1;
}

uint64_t
measure_denominator(const struct view_request *request,
                    const struct sample_set *set)
{
	if (request->percent == PERCENT_ROOT && request->root != NO_NAME)
		return measure_function(set, request->root);
	return request->percent == PERCENT_REFINED ? set->left : set->total;
}

uint64_t
measure_threshold_base(const struct view_request *request,
                       const struct sample_set *set)
{
	return request->percent == PERCENT_ROOT && request->root != NO_NAME ?
	    measure_function(set, request->root) : set->left;
}

/*
 * The smaller of the two sides' sums.  A row below the threshold's share of it
 * is below the threshold on both sides.
 */
static uint64_t
smaller_side(const struct view_request *request)
{
	uint64_t sums[2] = { 0 };

	for (size_t i = 0; i < view_count_runs(request); i++)
		sums[i >= request->compared->n_base] +=
		    measure_threshold_base(request, &request->columns[i]);
	return sums[0] < sums[1] ? sums[0] : sums[1];
}

struct measure
measure_of(const struct view_request *request)
{
	struct measure measure = {
		.denominator = measure_denominator(request, request->set),
	};

	measure.least = measure_least(request->threshold,
	                              request->compared == NULL ?
	                              measure_threshold_base(request,
	                                                     request->set) :
	                              smaller_side(request));
	/* Shares of nothing are 0, which is below any threshold. */
	if (measure.denominator == 0 && request->threshold > 0)
		measure.least = UINT64_MAX;
	return measure;
}

double
measure_fraction(const struct measure *measure, uint64_t hits)
{
	if (measure->denominator == 0)
		return 0;
	return (double)hits / (double)measure->denominator;
}
