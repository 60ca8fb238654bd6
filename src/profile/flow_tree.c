/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_tree.c -- a flow where there are stacks.
 *
 * A node of the tree adds its weight to its function and to its caller's call
 * of it, unless a node above it did: in preorder, unless it lies before the
 * end of the last subtree that was added.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/call_flow.h"

enum { NODES_A_STEP = 1 << 16 };

/* A sum over nodes none of which is below another. */
struct measured {
	uint64_t hits;
	uint64_t self;
	uint32_t until;		/* end of the last subtree added */
};

struct measuring {
	const struct sample_tree *tree;
	const uint64_t *self, *sums;
	struct call_graph *graph;	/* a node for each function */
	uint32_t *node;			/* [n_names] number of its node, from
					 * 1 */
	struct measured *functions;	/* [n_names] */
	struct measured *calls;		/* [graph->n_arcs] */
	size_t calls_capacity;
};

static void
measure(struct measured *sum, const struct measuring *measuring, uint32_t node)
{
	sum->self += measuring->self[sample_tree_row(measuring->tree, node)];
	if (node < sum->until)
		return;
	sum->until = sample_tree_end(measuring->tree, node);
	sum->hits += sample_tree_weight(measuring->tree, measuring->sums,
	                                node);
}

static int
flow_tree_add_function(struct measuring *measuring, uint32_t node,
                       struct error *error)
{
	uint32_t name = measuring->tree->label[node];
	uint32_t *number = &measuring->node[name];

	if (*number == 0) {
		struct call_node function = { .name = name,
			.object = NO_NAME, .file = NO_NAME, .level = 1 };
		uint32_t made = call_graph_add_node(measuring->graph,
		                                    function, NULL, error);

		if (made == UINT32_MAX)
			return -1;
		*number = made + 1;
	}
	*call_graph_self(measuring->graph, *number - 1) +=
	    measuring->self[sample_tree_row(measuring->tree, node)];
	measure(&measuring->functions[name], measuring, node);
	return 0;
}

static int
flow_tree_add_call(struct measuring *measuring, uint32_t node,
                   struct error *error)
{
	const struct sample_tree *tree = measuring->tree;
	uint32_t caller = tree->label[sample_tree_parent(tree, node)];
	uint32_t n = measuring->graph->n_arcs;
	uint32_t arc = call_graph_arc(measuring->graph,
	    measuring->node[caller] - 1,
	    measuring->node[tree->label[node]] - 1, error);

	if (arc == UINT32_MAX)
		return -1;
	if (arc == n) {
		if (memory_grow(&measuring->calls, &measuring->calls_capacity,
		                (size_t)n + 1, sizeof *measuring->calls,
		                error) != 0)
			return -1;
		measuring->calls[n] = (struct measured){ 0 };
	}
	measure(&measuring->calls[arc], measuring, node);
	return 0;
}

/* Copies the sums: each function has become a vertex, and each call an arc. */
static int
flow_tree_fill(struct flow_making *making, const void *context,
               struct error *error)
{
	const struct measuring *measuring = context;
	struct call_flow *flow = making->flow;

	(void)error;
	flow->has_stacks = true;
	for (uint32_t i = 0; i < making->graph->n_nodes; i++) {
		struct flow_vertex *vertex =
		    &flow->vertices[making->vertex[i]];
		struct flow_function *function =
		    &flow->functions[vertex->name];

		function->occurs = true;
		function->inclusive = (long double)
		    measuring->functions[vertex->name].hits;
		vertex->inclusive = vertex->total = function->inclusive;
	}
	for (uint32_t i = 0; i < making->graph->n_arcs; i++) {
		struct flow_arc *arc = &flow->arcs[making->flow->graph_arcs[i]];

		arc->hits = (long double)measuring->calls[i].hits;
		arc->self = (long double)measuring->calls[i].self;
	}
	return 0;
}

struct call_flow *
call_flow_of_tree(const struct sample_tree *tree, const uint64_t *self,
                  const uint64_t *sums, uint32_t n_names,
                  struct error *error)
{
	struct measuring measuring = { .tree = tree, .self = self,
		                       .sums = sums };
	struct call_flow *flow = NULL;

	measuring.graph = call_graph_new(1, error);
	measuring.node = memory_array(n_names, sizeof *measuring.node, error);
	measuring.functions = memory_array(n_names,
	                                   sizeof *measuring.functions, error);
	for (uint32_t node = 0; !error->is_set && node < tree->n_nodes; node++)
		if (flow_tree_add_function(&measuring, node, error) != 0 ||
		    (sample_tree_parent(tree, node) != NO_NODE &&
		     flow_tree_add_call(&measuring, node, error) != 0) ||
		    (node % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			break;
	if (!error->is_set) {
		measuring.graph->has_hits = true;
		flow = flow_make(measuring.graph, n_names, 0, false,
		                 flow_tree_fill, &measuring, error);
	}
	call_graph_free(measuring.graph);
	free(measuring.node);
	free(measuring.functions);
	free(measuring.calls);
	return flow;
}
