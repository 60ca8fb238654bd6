/* SPDX-License-Identifier: GPL-3.0-or-later */
/* named_graph.c -- a call graph whose names are modules, files or lines.
 *
 * All nodes are copied with their new names.  Then each place that has a name
 * of its own becomes a part of its node: a node below it, to which the hits of
 * the place move.
 */
#include "src/profile/frame_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct naming_graph {
	struct profile *profile;
	const struct naming_rule *rule;
	const struct call_graph *from;
	struct call_graph *to;
	const char **paths;	/* short paths, by file */
	struct names *parts;	/* struct part_key: the node's number, less
				 * the nodes that are no parts */
};

struct part_key {
	uint32_t node, name;
};

bool
named_graph_is_possible(const struct call_graph *graph,
                        enum granularity granularity)
{
	return granularity == GRANULARITY_FUNCTION ||
	    (granularity != GRANULARITY_ADDRESS && graph->places != NULL);
}

/* ---- names ---- */

static uint32_t
enter_string(const struct naming_graph *naming, const char *text,
             struct error *error)
{
	return names_add(naming->profile->names, text, strlen(text), error);
}

static uint32_t
named_graph_name_of_module(const struct naming_graph *naming,
                           const struct call_node *node, struct error *error)
{
	const char *path;

	if (node->object == NO_NAME)
		return node->name;
	path = names_text(naming->profile->names, node->object);
	return enter_string(naming, last_component(path), error);
}

static uint32_t
name_of_node(const struct naming_graph *naming, const struct call_node *node,
             struct error *error)
{
	switch (naming->rule->granularity) {
	case GRANULARITY_MODULE:
		return named_graph_name_of_module(naming, node, error);
	case GRANULARITY_FILE:
		return node->file == NO_NAME ?
		    named_graph_name_of_module(naming, node, error) :
		    enter_string(naming, naming->paths[node->file], error);
	default:
		return node->name;
	}
}

/*
 * The name of a function's own line, or of a line of another file that was
 * inlined there.
 */
static uint32_t
named_graph_name_of_site(const struct naming_graph *naming,
                         const struct call_node *node,
                         const struct call_place *place, struct error *error)
{
	struct names *names = naming->profile->names;
	const char *function = names_text(names, node->name);

	if (place->file == node->file)
		return names_add_format(names, error, "%s:%" PRIu32, function,
		                        place->line);
	return names_add_format(names, error, "%s:%s:%" PRIu32, function,
	                        naming->paths[place->file], place->line);
}

/* A place's name, or NO_NAME if it has none of its own. */
static uint32_t
name_of_place(const struct naming_graph *naming,
              const struct call_place *place, struct error *error)
{
	const struct call_node *node = &naming->from->nodes[place->node];
	bool is_inlined = place->file != node->file;

	if (place->file == NO_NAME ||
	    (is_inlined && naming->rule->inlines == INLINES_OFF))
		return NO_NAME;
	switch (naming->rule->granularity) {
	case GRANULARITY_FILE:
		return !is_inlined ? NO_NAME :
		    enter_string(naming, naming->paths[place->file], error);
	case GRANULARITY_LINE:
		return place->line == 0 ? NO_NAME :
		    names_add_format(naming->profile->names, error,
		                     "%s:%" PRIu32,
		                     naming->paths[place->file], place->line);
	case GRANULARITY_CALLSITE:
		return place->line == 0 || place->arc == NO_ARC ? NO_NAME :
		    named_graph_name_of_site(naming, node, place, error);
	default:
		return NO_NAME;
	}
}

/* ---- nodes ---- */

/*
 * Whether a name can stand for several functions, each with its own recursion.
 */
static bool
are_groups(const struct naming_graph *naming)
{
	return naming->rule->granularity == GRANULARITY_MODULE ||
	    naming->rule->granularity == GRANULARITY_FILE;
}

static int
named_graph_copy_nodes(struct naming_graph *naming, struct error *error)
{
	const struct call_graph *from = naming->from;

	for (uint32_t i = 0; i < from->n_nodes; i++) {
		struct call_node node = from->nodes[i];
		const uint32_t *callers = node.n_callers == 0 ? NULL :
		    &from->callers[node.first_caller];

		node.name = name_of_node(naming, &node, error);
		if (are_groups(naming)) {
			node.level = 1;
			node.n_callers = 0;
		}
		if (node.name == NO_NAME ||
		    call_graph_add_node(naming->to, node, callers,
		                        error) == UINT32_MAX)
			return -1;
		memcpy(call_graph_self(naming->to, i),
		       call_graph_self(from, i),
		       from->n_resources * sizeof *from->self);
	}
	return 0;
}

/* The part of a node with this name, made if new. */
static uint32_t
find_part(struct naming_graph *naming, uint32_t node, uint32_t name,
          struct error *error)
{
	struct part_key key = { node, name };
	uint32_t n_nodes = naming->from->n_nodes;
	uint32_t n = names_add(naming->parts, (const char *)&key, sizeof key,
	                       error);
	struct call_node part = naming->to->nodes[node];

	if (n == NO_NAME)
		return UINT32_MAX;
	if (n_nodes + (uint64_t)n < naming->to->n_nodes)
		return n_nodes + n;
	/*
	 * Lines of two functions are distinct, even if they have the same
	 * name.
	 */
	part.identity = (uint64_t)naming->from->nodes[node].name + 1;
	part.name = name;
	part.n_callers = 0;
	part.is_part = true;
	return call_graph_add_node(naming->to, part, NULL, error);
}

/* ---- places ---- */

/*
 * Adds hits of a place to an arc, entered if new; UINT32_MAX with *error set.
 */
static uint32_t
add_to_arc(struct naming_graph *naming, uint32_t caller, uint32_t callee,
           const uint64_t *hits, struct error *error)
{
	struct call_graph *to = naming->to;
	uint32_t arc = call_graph_arc(to, caller, callee, error);
	uint64_t *sum;

	if (arc == UINT32_MAX)
		return UINT32_MAX;
	sum = call_graph_hits(to, arc);
	for (uint32_t r = 0; r < to->n_resources; r++)
		if (__builtin_add_overflow(sum[r], hits[r], &sum[r])) {
			error_set(error, "the calls from a line exceed 64 bits");
			return UINT32_MAX;
		}
	return arc;
}

static int
move_own(struct naming_graph *naming, const struct call_place *place,
         uint32_t part, const uint64_t *hits, struct error *error)
{
	struct call_graph *to = naming->to;
	uint64_t *rest = call_graph_self(to, place->node);
	uint64_t *sum = call_graph_self(to, part);

	for (uint32_t r = 0; r < to->n_resources; r++) {
		rest[r] -= hits[r];
		sum[r] += hits[r];
	}
	return add_to_arc(naming, place->node, part, hits, error) !=
	    UINT32_MAX ? 0 : -1;
}

/*
 * Moves a place's call to an arc from `caller`: the node itself, or its part.
 */
static int
move_calls(struct naming_graph *naming, const struct call_place *place,
           uint32_t caller, const uint64_t *hits, struct error *error)
{
	uint32_t callee = naming->from->arcs[place->arc].callee;
	uint32_t arc = add_to_arc(naming, caller, callee, hits, error);

	if (arc == UINT32_MAX)
		return -1;
	/* Cannot overflow: the sum over the places of an arc did not. */
	naming->to->arcs[arc].calls += place->calls;
	if (caller != place->node)
		arc = add_to_arc(naming, place->node, caller, hits, error);
	return arc != UINT32_MAX ? 0 : -1;
}

static int
move_place(struct naming_graph *naming, uint32_t number, struct error *error)
{
	const struct call_places *places = naming->from->places;
	const struct call_place *place = &places->items[number];
	const uint64_t *hits = call_places_hits(places, number);
	uint32_t name = name_of_place(naming, place, error);
	uint32_t part = place->node;

	if (name != NO_NAME)
		part = find_part(naming, place->node, name, error);
	if (error->is_set)
		return -1;
	if (place->arc != NO_ARC)
		return move_calls(naming, place, part, hits, error);
	return part == place->node ? 0 :
	    move_own(naming, place, part, hits, error);
}

static int
named_graph_fill(struct naming_graph *naming, struct error *error)
{
	naming->paths = short_paths_new(naming->profile, error);
	naming->parts = names_new(error);
	naming->to = call_graph_new(naming->from->n_resources, error);
	if (error->is_set)
		return -1;
	naming->to->has_hits = naming->from->has_hits;
	naming->to->has_groups = are_groups(naming);
	if (named_graph_copy_nodes(naming, error) != 0)
		return -1;
	for (uint32_t i = 0; i < naming->from->places->n; i++)
		if (move_place(naming, i, error) != 0)
			return -1;
	return 0;
}

int
named_graph_node_names(struct profile *profile, const struct call_graph *graph,
                       enum granularity granularity, uint32_t *names,
                       struct error *error)
{
	const struct naming_rule rule = { .granularity = granularity };
	struct naming_graph naming = { .profile = profile, .rule = &rule,
		                       .from = graph };
	int result = 0;

	if (granularity == GRANULARITY_FILE) {
		naming.paths = short_paths_new(profile, error);
		if (naming.paths == NULL)
			return -1;
	}
	for (uint32_t i = 0; result == 0 && i < graph->n_nodes; i++) {
		names[i] = name_of_node(&naming, &graph->nodes[i], error);
		result = names[i] != NO_NAME ? 0 : -1;
	}
	free(naming.paths);
	return result;
}

struct call_graph *
named_graph_new(struct profile *profile, struct call_graph *graph,
                const struct naming_rule *rule, bool *is_own,
                struct error *error)
{
	struct naming_graph naming = { .profile = profile, .rule = rule,
		                       .from = graph };
	int result;

	*is_own = rule->granularity != GRANULARITY_FUNCTION &&
	    named_graph_is_possible(graph, rule->granularity);
	if (!*is_own)
		return graph;
	result = named_graph_fill(&naming, error);
	free(naming.paths);
	names_free(naming.parts);
	if (result == 0)
		return naming.to;
	call_graph_free(naming.to);
	return NULL;
}
