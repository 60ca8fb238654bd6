/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_hits.c -- a flow where arcs have hits, each hit counted once.
 *
 * The hits of an arc are the sum over its calls, each with everything below
 * it.  So a call below a call between the same two nodes counts twice.  Levels
 * show which calls are nested: an activation on level 1 is the outermost of
 * its function, with no other one above it.  Hence, for names f and g that
 * each stand for one function in one file,
 * - body+descendants of f are the own hits of f on level 1 plus those of all
 *   arcs out of it: these activations are never nested;
 * - a call from f to g where either is on level 1 has no call from f to g
 *   above it, so these add up; of calls where both are below themselves it is
 *   unknown which are nested, unless the callers that the input gives with the
 *   node tell.
 *
 * A function that only calls itself needs no levels: whatever else it calls
 * cannot lead back, so arcs out of it are never nested either.  A line has the
 * levels of its function.  If it is the only line of the function from which a
 * cycle of calls leads back, everything below the function on the cycle is
 * below that line, and the same holds for it.  With several such lines, only
 * what each used below outermost activations is known, which is less than all.
 * For a name that stands for several functions (a module), what is known is
 * the sum of what came in at each entry.
 */
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/call_flow.h"

/* How many only callers are followed upward. */
enum { FOLLOWED_MAX = 64 };

#define NO_CALLER UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)
#define NO_HOME UINT32_MAX

struct hits_making {
	struct flow_making *making;
	long double *out;	/* [n_nodes] own hits and arcs out */
	uint32_t *only_caller;	/* [n_nodes] a node; NO_CALLER or SEVERAL */
	uint32_t *home;		/* [n_names] a node of the function, or
				 * NO_HOME */
	bool *has_homes;	/* [n_names] the name stands for several
				 * functions */
	bool *has_siblings;	/* [n_names] a part; other parts of its
				 * function are in the cycle, too */
	long double *doubtful;	/* [flow->n_arcs] hits of calls that may be
				 * nested */
};

static const struct call_node *
flow_hits_node_of(const struct hits_making *hits, uint32_t node)
{
	return &hits->making->graph->nodes[node];
}

static struct flow_function *
function_of(const struct hits_making *hits, uint32_t node)
{
	const uint32_t name = flow_hits_node_of(hits, node)->name;

	return &hits->making->flow->functions[name];
}

static long double
arc_hits(const struct hits_making *hits, uint32_t arc)
{
	const struct flow_making *making = hits->making;

	return (long double)
	    call_graph_hits(making->graph, arc)[making->resource];
}

static void
sum_nodes(struct hits_making *hits)
{
	const struct call_graph *graph = hits->making->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		hits->only_caller[i] = NO_CALLER;
		hits->out[i] = (long double)
		    call_graph_self(graph, i)[hits->making->resource];
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		hits->out[graph->arcs[i].caller] += arc_hits(hits, i);
}

/*
 * A node that used more than the calls of it was not always called: a program
 * or a thread began there.
 */
static int
find_only_callers(struct hits_making *hits, struct error *error)
{
	const struct call_graph *graph = hits->making->graph;
	long double *in = memory_array(graph->n_nodes, sizeof *in, error);

	if (in == NULL)
		return -1;
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct call_arc *arc = &graph->arcs[i];
		uint32_t *only = &hits->only_caller[arc->callee];

		in[arc->callee] += arc_hits(hits, i);
		if (arc->caller != arc->callee)
			*only = *only == NO_CALLER || *only == arc->caller ?
			        arc->caller : SEVERAL;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (in[i] != hits->out[i])
			hits->only_caller[i] = SEVERAL;
	free(in);
	return 0;
}

/* Whether the function is certainly on the stack above the node already. */
static bool
is_below_itself(const struct hits_making *hits, uint32_t node)
{
	const struct call_graph *graph = hits->making->graph;
	const struct call_node *below = flow_hits_node_of(hits, node);
	uint32_t above = node;

	for (uint32_t i = 0; i < below->n_callers; i++)
		if (graph->callers[below->first_caller + i] == below->name)
			return true;
	for (int i = 0; i < FOLLOWED_MAX; i++) {
		above = hits->only_caller[above];
		if (above == NO_CALLER || above == SEVERAL)
			return false;
		if (flow_hits_node_of(hits, above)->name == below->name)
			return true;
	}
	return false;
}

/* What each cycle used: own hits and arcs out of it, which are not nested. */
static void
flow_hits_sum_cycles(struct hits_making *hits)
{
	struct flow_making *making = hits->making;
	const struct call_graph *graph = making->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		making->cycle_total[function_of(hits, i)->cycle] +=
		    (long double)call_graph_self(graph, i)[making->resource];
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		uint32_t from = function_of(hits, graph->arcs[i].caller)->cycle;
		uint32_t to = function_of(hits, graph->arcs[i].callee)->cycle;

		if (from != to)
			making->cycle_total[from] += arc_hits(hits, i);
	}
}

/*
 * A function in no cycle has a cycle number of its own, whose total is its
 * own.
 */
static void
set_lone_functions(struct hits_making *hits)
{
	struct flow_making *making = hits->making;
	const struct call_graph *graph = making->graph;

	for (uint32_t i = 0; i < making->flow->n_names; i++) {
		struct flow_function *function = &making->flow->functions[i];

		if (!function->is_in_cycle)
			function->inclusive =
			    making->cycle_total[function->cycle];
		/* Without arcs this is only a lower bound. */
		function->is_estimated = graph->n_arcs == 0;
	}
}

static void
note_home(struct hits_making *hits, uint32_t node)
{
	uint32_t name = flow_hits_node_of(hits, node)->name;
	uint32_t *home = &hits->home[name];

	if (*home == NO_HOME)
		*home = node;
	else if (!call_node_is_same(flow_hits_node_of(hits, *home),
	                            flow_hits_node_of(hits, node)))
		hits->has_homes[name] = true;
}

/* Members of cycles: adds up level 1, if the graph has levels. */
static void
add_outermost(struct hits_making *hits)
{
	const struct call_graph *graph = hits->making->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		struct flow_function *function = function_of(hits, i);
		const struct call_node *node = &graph->nodes[i];
		bool counts;

		if (!function->is_in_cycle)
			continue;
		counts = (!hits->making->has_levels || node->level == 1) &&
		    !is_below_itself(hits, i);
		if (counts)
			function->inclusive += hits->out[i];
		hits->has_homes[node->name] |= node->is_group;
		/* A part may first occur on a higher level of its function. */
		if (counts || node->is_part)
			note_home(hits, i);
	}
}

/*
 * Members of cycles where names stand for several functions: adds up what
 * comes in from other names.
 */
static void
add_entered(struct hits_making *hits)
{
	const struct call_graph *graph = hits->making->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (function_of(hits, i)->is_in_cycle)
			function_of(hits, i)->inclusive += hits->out[i];
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		const struct call_arc *arc = &graph->arcs[i];
		struct flow_function *to = function_of(hits, arc->callee);

		if (to->is_in_cycle && to == function_of(hits, arc->caller))
			to->inclusive -= arc_hits(hits, i);
	}
}

/* Whether an arc leads to a part in a cycle. */
static bool
leads_to_part(const struct hits_making *hits, uint32_t arc)
{
	uint32_t callee = hits->making->graph->arcs[arc].callee;

	return flow_hits_node_of(hits, callee)->is_part &&
	    function_of(hits, callee)->is_in_cycle;
}

/* Finds parts in cycles whose function has another part there. */
static int
find_siblings(struct hits_making *hits, struct error *error)
{
	const struct call_graph *graph = hits->making->graph;
	uint32_t *part = memory_array(hits->making->flow->n_names,
	                              sizeof *part, error);

	if (part == NULL)
		return -1;
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		uint32_t *first = &part[flow_hits_node_of(hits,
		    graph->arcs[i].caller)->name];
		uint32_t callee = graph->arcs[i].callee;
		uint32_t name = flow_hits_node_of(hits, callee)->name;

		if (leads_to_part(hits, i))
			*first = *first == 0 || *first == name + 1 ? name + 1 :
			         SEVERAL;
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		if (leads_to_part(hits, i) && SEVERAL ==
		    part[flow_hits_node_of(hits, graph->arcs[i].caller)->name])
			hits->has_siblings[flow_hits_node_of(hits,
			    graph->arcs[i].callee)->name] = true;
	free(part);
	return 0;
}

/* Finds the only entry of each cycle, which has all of the cycle below it. */
static void
find_entries(const struct hits_making *hits, uint32_t *entry)
{
	const struct call_graph *graph = hits->making->graph;

	for (uint32_t i = 0; i < hits->making->flow->n_cycles; i++)
		entry[i] = NO_CALLER;
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		uint32_t to = graph->arcs[i].callee;
		uint32_t cycle = function_of(hits, to)->cycle;
		uint32_t name = flow_hits_node_of(hits, to)->name;

		if (function_of(hits, graph->arcs[i].caller)->cycle == cycle)
			continue;
		entry[cycle] = entry[cycle] == NO_CALLER ||
		               entry[cycle] == name ? name : SEVERAL;
	}
}

static int
finish_cycles(struct hits_making *hits, struct error *error)
{
	struct flow_making *making = hits->making;
	struct call_flow *flow = making->flow;
	uint32_t *entry = memory_array(flow->n_cycles, sizeof *entry, error);

	if (entry == NULL)
		return -1;
	find_entries(hits, entry);
	for (uint32_t i = 0; i < flow->n_names; i++) {
		struct flow_function *function = &flow->functions[i];
		long double most = making->cycle_total[function->cycle];

		if (!function->is_in_cycle)
			continue;
		function->is_estimated = !making->has_levels ||
		                         hits->has_homes[i] ||
		                         hits->has_siblings[i];
		if (function->inclusive < most)
			continue;
		/*
		 * The upper limit is reached, so the value is exact if this is
		 * the only entry.
		 */
		function->is_estimated &= entry[function->cycle] != i;
		function->inclusive = most;
	}
	free(entry);
	return 0;
}

static void
set_vertices(struct hits_making *hits)
{
	struct flow_making *making = hits->making;
	struct call_flow *flow = making->flow;

	for (uint32_t i = 0; i < making->graph->n_nodes; i++) {
		const struct flow_function *function = function_of(hits, i);
		struct flow_vertex *vertex =
		    &flow->vertices[making->vertex[i]];

		vertex->inclusive = function->is_recursive ?
		                    function->inclusive : hits->out[i];
		vertex->total = vertex->inclusive;
	}
}

/*
 * Whether there is certainly no other activation of the function above the
 * node.
 */
static bool
is_outermost(const struct hits_making *hits, uint32_t node)
{
	const struct flow_function *function = function_of(hits, node);

	if (!function->is_recursive)
		return true;
	return hits->making->has_levels &&
	    flow_hits_node_of(hits, node)->level == 1 &&
	    !hits->has_homes[flow_hits_node_of(hits, node)->name];
}

/* Whether the known callers of a node show that the same call is above. */
static bool
is_nested(const struct hits_making *hits, uint32_t caller, uint32_t callee)
{
	const struct call_graph *graph = hits->making->graph;
	const struct call_node *node = flow_hits_node_of(hits, callee);
	uint32_t name = flow_hits_node_of(hits, caller)->name;

	for (uint32_t i = 0; i + 1 < node->n_callers; i++) {
		const uint32_t *callers =
		    &graph->callers[node->first_caller + i];

		if (callers[0] == node->name && callers[1] == name)
			return true;
	}
	return false;
}

static void
flow_hits_add_arcs(struct hits_making *hits)
{
	const struct flow_making *making = hits->making;

	for (uint32_t i = 0; i < making->graph->n_arcs; i++) {
		const struct call_arc *arc = &making->graph->arcs[i];
		uint32_t to = making->flow->graph_arcs[i];
		/* A call out of a cycle never comes back: no stack repeats it. */
		bool leaves_cycle = function_of(hits, arc->caller)->cycle !=
		                    function_of(hits, arc->callee)->cycle;

		if (arc->caller != arc->callee &&
		    (leaves_cycle ||
		     is_outermost(hits, arc->caller) ||
		     is_outermost(hits, arc->callee)))
			making->flow->arcs[to].hits += arc_hits(hits, i);
		else if (!is_nested(hits, arc->caller, arc->callee))
			hits->doubtful[to] += arc_hits(hits, i);
	}
}

/* Whether a vertex is a part that may have used more than is known. */
static bool
is_least(const struct hits_making *hits, uint32_t vertex)
{
	return hits->has_siblings[hits->making->flow->vertices[vertex].name];
}

/* Hits that may be nested count up to the limit of what both ends used. */
static void
add_doubtful(struct hits_making *hits)
{
	struct call_flow *flow = hits->making->flow;

	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		struct flow_arc *arc = &flow->arcs[i];
		const struct flow_vertex *caller, *callee;
		long double most;

		if (hits->doubtful[i] == 0)
			continue;
		caller = &flow->vertices[arc->caller];
		callee = &flow->vertices[arc->callee];
		most = caller->inclusive < callee->inclusive ?
		       caller->inclusive : callee->inclusive;
		arc->is_estimated = arc->hits < most ||
		    is_least(hits, arc->caller) || is_least(hits, arc->callee);
		if (arc->hits >= most)
			continue;
		arc->hits += hits->doubtful[i];
		if (arc->hits > most)
			arc->hits = most;
	}
}

/*
 * The callee's own part of an arc is in proportion to its own part of its
 * total.
 */
static void
split_arcs(struct call_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		struct flow_arc *arc = &flow->arcs[i];
		const struct flow_vertex *callee =
		    &flow->vertices[arc->callee];

		if (callee->inclusive > 0)
			arc->self = arc->hits *
			            (callee->self / callee->inclusive);
		if (arc->self > arc->hits)
			arc->self = arc->hits;
	}
}

int
flow_from_hits(struct flow_making *making, const void *context,
               struct error *error)
{
	const struct call_flow *flow = making->flow;
	const uint32_t n_nodes = making->graph->n_nodes;
	struct hits_making hits = {
		.making = making,
		.out = memory_array(n_nodes, sizeof *hits.out, error),
		.only_caller = memory_array(n_nodes, sizeof *hits.only_caller,
		                            error),
		.home = memory_array(flow->n_names, sizeof *hits.home, error),
		.has_homes = memory_array(flow->n_names,
		                          sizeof *hits.has_homes, error),
		.has_siblings = memory_array(flow->n_names,
		                             sizeof *hits.has_siblings, error),
		.doubtful = memory_array(flow->n_arcs, sizeof *hits.doubtful,
		                         error),
	};
	int status = error->is_set ? -1 : 0;

	(void)context;
	for (uint32_t i = 0; status == 0 && i < flow->n_names; i++)
		hits.home[i] = NO_HOME;
	if (status == 0) {
		sum_nodes(&hits);
		status = find_only_callers(&hits, error);
	}
	if (status == 0) {
		flow_hits_sum_cycles(&hits);
		set_lone_functions(&hits);
		if (making->graph->has_groups)
			add_entered(&hits);
		else
			add_outermost(&hits);
		status = find_siblings(&hits, error);
	}
	if (status == 0)
		status = finish_cycles(&hits, error);
	if (status == 0) {
		set_vertices(&hits);
		flow_hits_add_arcs(&hits);
		add_doubtful(&hits);
		split_arcs(making->flow);
	}
	free(hits.out);
	free(hits.only_caller);
	free(hits.home);
	free(hits.has_homes);
	free(hits.has_siblings);
	free(hits.doubtful);
	return status;
}
