/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_graph.c -- the calls that the steps of a refinement leave.
 *
 * At first each node has a kind of its own; steps give nodes the kinds of
 * groups.  When all steps are done, nodes in groups of one name become one.
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/frame_labels.h"

/* An arc that is within a group. */
#define WITHIN (NO_ARC - 1)

int
refine_graph_check(const struct step *step, struct error *error)
{
	switch (step->kind) {
	case STEP_GROUP:
		return 0;
	case STEP_ENTRIES:
		return error_set(error, "this profile has calls and no stacks, "
		                 "so it does not say by which function a "
		                 "stack enters the group; write = instead of "
		                 "=>");
	default:
		return error_set(error, "this profile has calls and no stacks, "
		                 "so stacks cannot be selected; group NAME = "
		                 "PATTERN... works");
	}
}

/* ---- which node belongs to which group ---- */

struct graph_refining {
	struct profile *profile;
	const struct call_graph *from;
	struct stacks stacks;		/* none, but of the profile */
	struct refining refining;	/* the kinds, and kind[n_nodes] */
	bool *is_used;			/* [n_nodes] it has hits or calls */
};

static int
name_kinds(struct graph_refining *graph, unsigned granularities,
           struct error *error)
{
	uint32_t n = graph->from->n_nodes;
	uint32_t *names = memory_array(n, sizeof *names, error);
	int result = names != NULL ? 0 : -1;

	for (int g = 0; result == 0 && g < N_GRANULARITIES; g++) {
		if (!(granularities & 1u << g))
			continue;
		result = named_graph_node_names(graph->profile, graph->from,
		    (enum granularity)g, names, error);
		for (uint32_t i = 0; result == 0 && i < n; i++)
			graph->refining.kinds[i].names[g] = names[i];
	}
	free(names);
	return result;
}

/* The last component of a path, as a name. */
static uint32_t
name_of_object(struct names *names, uint32_t object, struct error *error)
{
	const char *name;

	if (object == NO_NAME)
		return NO_NAME;
	name = last_component(names_text(names, object));
	return names_add(names, name, strlen(name), error);
}

static int
make_kinds(struct graph_refining *graph, unsigned granularities,
           struct error *error)
{
	struct refining *refining = &graph->refining;
	const struct call_graph *from = graph->from;

	refining->kind = memory_array(from->n_nodes, sizeof *refining->kind,
	                              error);
	graph->is_used = memory_array(from->n_nodes, sizeof *graph->is_used,
	                              error);
	if (refining->kind == NULL || graph->is_used == NULL ||
	    memory_grow(&refining->kinds, &refining->kinds_capacity,
	                (size_t)from->n_nodes + 1, sizeof *refining->kinds,
	                error) != 0)
		return -1;
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct call_node *node = &from->nodes[i];

		refining->kind[i] = i;
		refining->kinds[i] = (struct frame_kind){
			.module = name_of_object(graph->profile->names,
			                         node->object, error),
			.file = node->file,
			.group = NO_NAME,
		};
		for (uint32_t r = 0; r < from->n_resources; r++)
			graph->is_used[i] |= call_graph_self(from, i)[r] != 0;
	}
	refining->n_kinds = from->n_nodes;
	for (uint32_t i = 0; i < from->n_arcs; i++)
		graph->is_used[from->arcs[i].caller] =
		    graph->is_used[from->arcs[i].callee] = true;
	return error->is_set ? -1 : name_kinds(graph, granularities, error);
}

/* Finds which kinds are used, and the names that they have. */
static int
refine_graph_look(struct graph_refining *graph, struct error *error)
{
	struct refining *refining = &graph->refining;

	free(refining->has_name);
	refining->n_names = names_count(graph->profile->names);
	refining->has_name = memory_array(refining->n_names, 1, error);
	if (refining->has_name == NULL)
		return -1;
	for (uint32_t i = 0; i < refining->n_kinds; i++)
		refining->kinds[i].is_used = false;
	for (uint32_t i = 0; i < graph->from->n_nodes; i++)
		refining->kinds[refining->kind[i]].is_used |=
		    graph->is_used[i];
	for (uint32_t i = 0; i < refining->n_kinds; i++)
		refining->has_name[refining_name(refining, i)] |=
		    refining->kinds[i].is_used;
	return 0;
}

/* As step_apply. */
static int
refine_graph_apply(struct graph_refining *graph, const struct step *step,
                   struct error *error)
{
	struct refining *refining = &graph->refining;
	uint32_t *to;
	int result;

	if (refine_graph_check(step, error) != 0)
		return 1;
	refining->by = step->granularity;
	if (progress_step(NULL, 0, 0, error) != 0 ||
	    refine_graph_look(graph, error) != 0)
		return -1;
	result = step_regroup(step, refining, &to, error);
	for (uint32_t i = 0; result == 0 && i < graph->from->n_nodes; i++)
		refining->kind[i] = to[refining->kind[i]];
	free(to);
	return result;
}

/* The group of a node, a name; NO_NAME: none. */
static uint32_t
refine_graph_group_of(const struct graph_refining *graph, uint32_t node)
{
	const struct frame_kind *kind =
	    &graph->refining.kinds[graph->refining.kind[node]];

	return kind->is_group ? kind->names[0] : NO_NAME;
}

/* ---- the graph of groups ---- */

struct grouping_graph {
	const struct graph_refining *groups;
	const struct call_graph *from;
	struct call_graph *to;
	uint32_t n_names;
	uint32_t *group;	/* [n_names] its node + 1; 0: none yet */
	uint32_t *renamed;	/* [n_names] what functions of a name are called
				 * now; NO_NAME: not all the same */
	uint32_t *node;		/* [n_nodes] the new one */
	uint32_t *arc;		/* [n_arcs] the new one, or WITHIN */
};

/* Names of callers tell functions only if all of the name are renamed alike. */
static void
rename_callers(struct grouping_graph *making)
{
	const struct call_graph *from = making->from;

	for (uint32_t name = 0; name < making->n_names; name++)
		making->renamed[name] = name;
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		uint32_t group = refine_graph_group_of(making->groups, i);

		if (group != NO_NAME)
			making->renamed[from->nodes[i].name] = group;
	}
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		uint32_t name = from->nodes[i].name;
		uint32_t group = refine_graph_group_of(making->groups, i);

		if (making->renamed[name] != (group != NO_NAME ? group : name))
			making->renamed[name] = NO_NAME;
	}
}

/* Copies a node that is in no group.  Its callers are cut at an unclear one. */
static uint32_t
refine_graph_copy_node(struct grouping_graph *making, uint32_t number,
                       struct error *error)
{
	struct call_node node = making->from->nodes[number];
	uint32_t *callers = memory_array(node.n_callers, sizeof *callers,
	                                 error);
	uint32_t n = 0, copy;

	if (callers == NULL)
		return UINT32_MAX;
	for (; n < node.n_callers; n++) {
		callers[n] = making->renamed[making->from->callers[
		    node.first_caller + n]];
		if (callers[n] == NO_NAME)
			break;
	}
	node.n_callers = n;
	copy = call_graph_add_node(making->to, node, callers, error);
	free(callers);
	return copy;
}

static int
refine_graph_group_nodes(struct grouping_graph *making, struct error *error)
{
	const struct call_graph *from = making->from;

	for (uint32_t i = 0; i < from->n_nodes; i++) {
		uint32_t group = refine_graph_group_of(making->groups, i);
		const uint64_t *self = call_graph_self(from, i);
		uint64_t *sum;

		if (group == NO_NAME) {
			making->node[i] = refine_graph_copy_node(making, i,
			                                         error);
		} else if (making->group[group] != 0) {
			making->node[i] = making->group[group] - 1;
		} else {
			making->node[i] = call_graph_add_node(making->to,
			    (struct call_node){ .name = group,
			        .object = NO_NAME, .file = NO_NAME,
			        .level = 1, .is_group = true }, NULL, error);
			making->group[group] = making->node[i] + 1;
		}
		if (making->node[i] == UINT32_MAX)
			return -1;
		/* The sum over all nodes fits (call_graph_check). */
		sum = call_graph_self(making->to, making->node[i]);
		for (uint32_t r = 0; r < from->n_resources; r++)
			sum[r] += self[r];
	}
	return 0;
}

static int
refine_graph_add_up(uint64_t *sum, uint64_t more, struct error *error)
{
	return __builtin_add_overflow(*sum, more, sum) ?
	    error_set(error, "the calls of a group exceed 64 bits") : 0;
}

static int
group_arcs(struct grouping_graph *making, struct error *error)
{
	const struct call_graph *from = making->from;

	for (uint32_t i = 0; i < from->n_arcs; i++) {
		const struct call_arc *arc = &from->arcs[i];
		uint32_t caller = making->node[arc->caller];
		uint32_t callee = making->node[arc->callee], to;

		making->arc[i] = WITHIN;
		if (caller == callee && making->to->nodes[caller].is_group)
			continue;
		making->arc[i] = to = call_graph_arc(making->to, caller,
		                                     callee, error);
		if (to == UINT32_MAX ||
		    refine_graph_add_up(&making->to->arcs[to].calls, arc->calls,
		                        error) != 0)
			return -1;
		for (uint32_t r = 0; r < from->n_resources; r++)
			if (refine_graph_add_up(&call_graph_hits(making->to,
			                                         to)[r],
			                        call_graph_hits(from, i)[r],
			                        error) != 0)
				return -1;
	}
	return 0;
}

/* Lines of a group are in no file. */
static int
group_places(struct grouping_graph *making, struct error *error)
{
	const struct call_places *from = making->from->places;
	struct call_places *to;

	if (from == NULL)
		return 0;
	to = making->to->places = call_places_new(from->n_resources, error);
	if (to == NULL)
		return -1;
	for (uint32_t i = 0; i < from->n; i++) {
		struct call_place place = from->items[i];
		uint64_t calls = place.calls;
		uint32_t at;

		if (place.arc != NO_ARC)
			place.arc = making->arc[place.arc];
		if (place.arc == WITHIN)
			continue;
		place.node = making->node[place.node];
		if (making->to->nodes[place.node].is_group) {
			place.file = NO_NAME;
			place.line = 0;
		}
		at = call_places_at(to, place, error);
		if (at == UINT32_MAX ||
		    refine_graph_add_up(&to->items[at].calls, calls,
		                        error) != 0)
			return -1;
		for (uint32_t r = 0; r < from->n_resources; r++)
			if (refine_graph_add_up(&call_places_hits(to, at)[r],
			                        call_places_hits(from, i)[r],
			                        error) != 0)
				return -1;
	}
	call_places_close(to);
	return 0;
}

static struct call_graph *
refine_graph_make_graph(const struct graph_refining *groups,
                        struct error *error)
{
	const struct call_graph *from = groups->from;
	uint32_t n_names = names_count(groups->profile->names);
	struct grouping_graph making = {
		.groups = groups,
		.from = from,
		.to = call_graph_new(from->n_resources, error),
		.n_names = n_names,
		.group = memory_array(n_names, sizeof *making.group, error),
		.renamed = memory_array(n_names, sizeof *making.renamed,
		                        error),
		.node = memory_array(from->n_nodes, sizeof *making.node,
		                     error),
		.arc = memory_array(from->n_arcs, sizeof *making.arc, error),
	};

	if (!error->is_set) {
		making.to->has_hits = from->has_hits;
		rename_callers(&making);
		if (refine_graph_group_nodes(&making, error) == 0 &&
		    group_arcs(&making, error) == 0)
			group_places(&making, error);
	}
	free(making.group);
	free(making.renamed);
	free(making.node);
	free(making.arc);
	if (!error->is_set)
		return making.to;
	call_graph_free(making.to);
	return NULL;
}

struct call_graph *
refine_graph(struct profile *profile, struct step *const *steps, size_t n,
             bool *skipped, bool *is_own, struct error *why,
             struct error *error)
{
	struct graph_refining graph = {
		.profile = profile,
		.from = profile->graph,
		.stacks = { .profile = profile },
	};
	struct call_graph *refined = profile->graph;
	int result = 0;

	*is_own = false;
	if (n == 0)
		return refined;
	graph.refining.stacks = &graph.stacks;
	result = make_kinds(&graph, steps_granularities(steps, n), error);
	for (size_t i = 0; result == 0 && i < n; i++) {
		struct error reason = { 0 };
		int applied = refine_graph_apply(&graph, steps[i], &reason);

		if (skipped != NULL) {
			skipped[i] = applied == 1;
			*why = reason;
		}
		*is_own |= applied == 0;
		if (applied == -1) {
			*error = reason;
			result = -1;
		}
	}
	if (result != 0)
		*is_own = false;
	if (result != 0 || *is_own)
		refined = result == 0 ? refine_graph_make_graph(&graph, error) :
		    NULL;
	if (refined == NULL)
		*is_own = false;
	free(graph.refining.kinds);
	free(graph.refining.has_name);
	free(graph.refining.kind);
	free(graph.is_used);
	return refined;
}
