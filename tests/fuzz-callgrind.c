/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-callgrind.c -- no input breaks the reader of callgrind's files.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined ...
 *
 * What is read must be a sound graph, of which every flow can be worked out
 * and which can be added to itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/formats/format.h"
#include "src/profile/call_flow.h"

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

static void
check_flow(const struct profile *profile, uint32_t resource)
{
	struct error error = { 0 };
	struct call_flow *flow = call_flow_new(profile->graph,
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
		for (uint32_t r = 0; r < profile->n_resources && r < 3; r++)
			check_flow(profile, r);
		check_sum(profile);
		profile_free(profile);
	}
	return 0;
}
