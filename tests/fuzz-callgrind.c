/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-callgrind.c -- the reader of callgrind's files, on any bytes.
 *
 * 	clang -g -O1 -fsanitize=fuzzer,address,undefined ...
 *
 * The result must be a valid graph whose flows can all be computed, and which
 * can be added to itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/formats/format.h"
#include "src/profile/call_flow.h"
#include "src/profile/frame_labels.h"

extern const struct format format_callgrind;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void
check_graph(const struct profile *profile)
{
	const struct call_graph *graph = profile->graph;
	uint32_t n_names = names_count(profile->names);

	require(graph != NULL && profile->tree == NULL, "no graph");
	require(graph->n_resources == profile->n_resources, "resources");
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct call_node *node = &graph->nodes[i];

		require(node->name < n_names && node->level > 0, "node");
		require(node->first_caller <= graph->n_callers &&
		        node->n_callers <= graph->n_callers -
		        node->first_caller, "callers");
		for (uint32_t k = 0; k < node->n_callers; k++)
			require(graph->callers[node->first_caller + k] <
			        n_names, "caller");
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		require(graph->arcs[i].caller < graph->n_nodes &&
		        graph->arcs[i].callee < graph->n_nodes, "arc");
}

/* Places must sum to their nodes and arcs. */
static void
check_places(const struct profile *profile)
{
	const struct call_graph *graph = profile->graph;
	uint64_t sum = 0, total = 0;

	for (uint32_t i = 0; graph->places != NULL && i < graph->places->n;
	     i++) {
		const struct call_place *place = &graph->places->items[i];

		require(place->node < graph->n_nodes && (place->arc == NO_ARC ||
		        (place->arc < graph->n_arcs &&
		         graph->arcs[place->arc].caller == place->node)),
		        "place");
		require(place->file == NO_NAME ||
		        place->file < names_count(profile->names), "file");
		sum += call_places_hits(graph->places, i)[0];
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		total += call_graph_self(graph, i)[0];
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		total += call_graph_hits(graph, i)[0];
	require(graph->places == NULL || sum == total, "places");
}

static void
check_flow(const struct profile *profile, const struct call_graph *graph,
           uint32_t resource)
{
	struct error error = { 0 };
	struct call_flow *flow = call_flow_new(graph,
	                                       names_count(profile->names),
	                                       resource, true, &error);

	require(flow != NULL, error.text);
	for (uint32_t i = 0; i < flow->n_arcs; i++)
		require(flow->arcs[i].hits <=
		        flow->vertices[flow->arcs[i].caller].total &&
		        flow->arcs[i].hits <=
		        flow->vertices[flow->arcs[i].callee].total, "share");
	call_flow_free(flow);
}

/* Naming must not change totals. */
static void
check_named(struct profile *profile, enum granularity granularity)
{
	struct naming_rule rule = { granularity, INLINES_AUTO };
	struct error error = { 0 };
	bool is_own;
	struct call_graph *named = named_graph_new(profile,
	    profile->graph, &rule, &is_own,
	                                           &error);

	require((named == NULL) == error.is_set, "an error and a graph");
	for (uint32_t r = 0; named != NULL && r < named->n_resources && r < 3;
	     r++) {
		require(call_graph_total(named, r) ==
		        call_graph_total(profile->graph, r), "total");
		check_flow(profile, named, r);
	}
	if (named != NULL && is_own)
		call_graph_free(named);
}

static void
check_sum(struct profile *profile)
{
	struct profile *twice[2] = { profile, profile };
	struct error error = { 0 };
	struct profile *sum = profile_merge(twice, 2, &error);

	require((sum == NULL) == error.is_set, "an error and a sum");
	if (sum != NULL)
		require(sum->graph->n_nodes <= profile->graph->n_nodes &&
		        sum->graph->n_arcs <= profile->graph->n_arcs, "sum");
	profile_free(sum);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	format_callgrind.probe(data, size);
	for (int lenient = 0; lenient < 2; lenient++) {
		struct read_options options = { .lenient = lenient };
		struct error error = { 0 };
		struct source *source = source_of_memory("input", data, size,
		                                         &error);
		struct profile *profile;

		if (source == NULL)
			return 0;
		profile = format_callgrind.read(source, &options, &error);
		source_close(source);
		require((profile == NULL) == error.is_set, "an error and a "
		        "profile");
		if (profile == NULL)
			continue;
		check_graph(profile);
		check_places(profile);
		for (enum granularity by = GRANULARITY_FUNCTION;
		     by <= GRANULARITY_CALLSITE; by++)
			check_named(profile, by);
		check_sum(profile);
		profile_free(profile);
	}
	return 0;
}
