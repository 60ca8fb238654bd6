/* SPDX-License-Identifier: GPL-3.0-or-later */
/* totals.c -- body and body+descendants of every function. */
#include "src/views/hits/hits.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum { NODES_A_STEP = 1 << 20 };

/* The sums of one name, in half a cache line. */
struct totals_sum {
	uint64_t self, inclusive, returns;
	uint32_t until;		/* end of the last subtree added */
	uint32_t place;		/* in the list, from 1; 0: not met */
};

static uint32_t
totals_add_nodes(const struct sample_set *set, struct totals_sum *sums,
                 struct error *error)
{
	const struct sample_tree *tree = set->tree;
	/* What belongs to the node at hand, or to the next one that has it. */
	const uint64_t *before = set->sums;
	const uint32_t *end = tree->ends.number;
	uint32_t n = 0;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		struct totals_sum *sum = &sums[tree->label[node]];

		if (node % NODES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			break;
		if (sum->place == 0)
			sum->place = ++n;
		/* The end of a subtree inside of the last one is no greater. */
		if (node >= sum->until) {
			sum->inclusive += set->sums[node_numbers_before(
			    &tree->rows, *end)] - *before;
			sum->until = *end;
		}
		if (sample_tree_has_row(tree, node)) {
			sum->self += before[1] - before[0];
			before++;
		}
		end += node_numbers_has(&tree->ends, node);
	}
	for (uint32_t node = 0; tree->returns != NULL && node < tree->n_nodes;
	     node++)
		sums[tree->label[node]].returns += tree->returns[node];
	return n;
}

static struct function_total *
tree_totals(const struct sample_set *set, uint32_t *n, struct error *error)
{
	uint32_t n_names = names_count(set->names);
	struct totals_sum *sums = memory_array(n_names, sizeof *sums, error);
	struct function_total *totals;

	if (sums == NULL)
		return NULL;
	*n = totals_add_nodes(set, sums, error);
	totals = error->is_set ? NULL :
	         memory_array(*n, sizeof *totals, error);
	for (uint32_t name = 0; totals != NULL && name < n_names; name++)
		if (sums[name].place != 0)
			totals[sums[name].place - 1] = (struct function_total){
				.name = name,
				.self = sums[name].self,
				.inclusive = sums[name].inclusive,
				.returns = sums[name].returns,
			};
	free(sums);
	return totals;
}

static struct function_total *
flow_totals(const struct call_flow *flow, uint32_t *n, struct error *error)
{
	struct function_total *totals = memory_array(flow->n_names,
	                                             sizeof *totals, error);

	*n = 0;
	for (uint32_t i = 0; totals != NULL && i < flow->n_names; i++) {
		const struct flow_function *function = &flow->functions[i];

		if (!function->occurs)
			continue;
		totals[(*n)++] = (struct function_total){
			.name = i,
			.self = function->self,
			.inclusive = measure_hits(function->inclusive),
			.is_estimated = function->is_estimated,
			.calls = function->calls,
		};
	}
	return totals;
}

struct function_total *
function_totals(const struct sample_set *set, uint32_t *n,
                struct error *error)
{
	if (set->flow != NULL)
		return flow_totals(set->flow, n, error);
	return tree_totals(set, n, error);
}
