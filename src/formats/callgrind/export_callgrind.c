/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_callgrind.c -- the format of callgrind, as KCachegrind reads it.
 *
 * Functions with the hits of their own lines, and calls between them with the
 * hits spent in these.  Samples do not show how often a call happened, and the
 * header says so.  callgrind_graph.h writes profiles that were read from
 * functions and calls.  Functions are distinguished by object, file and name;
 * as in callgrind's own files, the name is followed by the level of recursion,
 * f'2.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/callgrind/callgrind_costs.h"
#include "src/formats/callgrind/callgrind_graph.h"
#include "src/formats/callgrind/callgrind_output.h"
#include "src/formats/exporter.h"

static struct callgrind_text
text_of_module(const struct profile *profile, uint32_t module)
{
	if (module == NO_MODULE)
		return (struct callgrind_text){ NULL, 0 };
	return (struct callgrind_text){ profile->modules[module].path,
		strlen(profile->modules[module].path) };
}

/* ---- stacks ---- */

struct cost_writing {
	const struct profile *profile;
	struct callgrind_costs *costs;
	struct callgrind_output *output;
	uint32_t function, file;	/* of the line before */
	struct text_buffer name;	/* scratch */
};

static struct callgrind_function
describe_function(struct cost_writing *writing, uint32_t number,
                  struct error *error)
{
	const struct profile *profile = writing->profile;
	uint32_t file;
	struct cost_function key = callgrind_costs_function(writing->costs,
	                                                    number, &file);
	struct callgrind_text name = callgrind_text_of(profile->names, key.name);

	if (key.level > 1) {
		text_clear(&writing->name);
		text_add(&writing->name, name.bytes, name.length);
		text_add_format(&writing->name, "'%" PRIu32, key.level);
		name = callgrind_text_made(&writing->name, error);
	}
	return (struct callgrind_function){
		text_of_module(profile, key.module),
		callgrind_text_of(profile->names, file), name
	};
}

/* Writes the function and the file of a line, if they have changed. */
static void
go_to(struct cost_writing *writing, const struct cost *cost,
      struct error *error)
{
	struct callgrind_output *output = writing->output;
	struct callgrind_function function;

	if (cost->function != writing->function) {
		function = describe_function(writing, cost->function, error);
		callgrind_output_function(output, &function, error);
		writing->function = cost->function;
		callgrind_costs_function(writing->costs, cost->function,
		                         &writing->file);
	}
	if (cost->file != writing->file)
		callgrind_output_file(output,
		    callgrind_text_of(writing->profile->names, cost->file), error);
	writing->file = cost->file;
}

static int
write_cost(struct cost_writing *writing, size_t i, struct error *error)
{
	struct callgrind_output *output = writing->output;
	const uint64_t *hits;
	struct cost cost = callgrind_costs_get(writing->costs, i, &hits);

	go_to(writing, &cost, error);
	if (cost.callee == NO_FUNCTION) {
		callgrind_output_hits(output, cost.line, hits);
	} else {
		struct callgrind_function callee = describe_function(writing,
		    cost.callee, error);

		callgrind_output_call(output, &callee, 0, cost.line, hits,
		                      error);
	}
	return callgrind_output_flush(output, error);
}

static int
write_costs(struct cost_writing *writing, struct error *error)
{
	size_t n = callgrind_costs_count(writing->costs);

	for (size_t i = 0; i < n; i++)
		if (write_cost(writing, i, error) != 0 ||
		    export_may_go_on((uint32_t)i, writing->output->writer,
		                     error) != 0)
			return -1;
	return 0;
}

static int
write_stacks(const struct export_source *source,
             struct callgrind_output *output, struct error *error)
{
	struct cost_writing writing = { .profile = source->profile,
		.output = output, .function = NO_FUNCTION };
	int result = -1;

	writing.costs = callgrind_costs_new(source, output->writer, error);
	if (writing.costs != NULL)
		result = write_costs(&writing, error);
	callgrind_costs_free(writing.costs);
	text_free(&writing.name);
	return result;
}

/* ---- the whole ---- */

static uint64_t *
find_totals(const struct profile *profile, struct error *error)
{
	uint64_t *totals = memory_array(profile->n_resources, sizeof *totals,
	                                error);

	for (uint32_t r = 0; totals != NULL && r < profile->n_resources; r++)
		totals[r] = profile->tree == NULL ?
		    call_graph_total(profile->graph, r) :
		    sample_tree_total(profile->tree, profile->tree->hits[r]);
	return totals;
}

static int
write_file(const struct export_source *source,
           struct callgrind_output *output, const uint64_t *totals,
           struct error *error)
{
	int result;

	callgrind_output_header(output, totals);
	if (callgrind_output_flush(output, error) != 0)
		return -1;
	result = source->profile->tree == NULL ?
	         callgrind_graph_write(source, output, error) :
	         write_stacks(source, output, error);
	if (result != 0)
		return -1;
	text_add_char(&output->text, '\n');
	callgrind_output_totals(output, "totals", totals);
	return callgrind_output_flush(output, error);
}

static int
callgrind_write(const struct export_source *source, struct writer *writer,
                uint64_t *n_changed, struct error *error)
{
	struct callgrind_output output;
	uint64_t *totals = find_totals(source->profile, error);
	int result = -1;

	if (callgrind_output_start(&output, source->profile, writer,
	                           error) == 0 && totals != NULL)
		result = write_file(source, &output, totals, error);
	*n_changed = output.n_changed;
	callgrind_output_free(&output);
	free(totals);
	return result;
}

const struct exporter exporter_callgrind = {
	.summary = "functions and calls, for KCachegrind",
	.holds_graphs = true,
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_LINES,
	.write = callgrind_write,
};
