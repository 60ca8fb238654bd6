/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c -- gprof's call graph profile: callers, a function, its callees.
 *
 * There are two forms.  The exact one shows for each function, and for each
 * call, what it used with everything below it, every stack counted once.  No
 * cycle has to be collapsed, and a function that calls itself is one of its
 * own callees.  The classic form is gprof's: functions that can reach each
 * other form a cycle, calls among them carry nothing, and what the cycle used
 * as a whole is charged to the functions that call into it.  Where only calls
 * are counted, only the classic form is possible.
 *
 * Source: Graham, Kessler & McKusick 1982, section 5.2.
 *
 * Cost: O(functions + calls) and the sorting of what is shown.
 */
#include "src/views/lists/lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

static const struct view_kind graph_kind = {
	.schema = "cpprof.graph/1",
	.title = "Call Graph Profile",
};

static const struct view_kind classic_kind = {
	.schema = "cpprof.graph/1",
	.title = "Call Graph Profile (cycles collapsed)",
};

enum { CALLS_A_STEP = 4096 };

struct graph {
	const struct view_request *request;
	uint32_t only;			/* the function to show; NO_NAME: all */
	struct graph_entries of;
	struct measure measure;
	struct hidden hidden;
	struct table *table;
	struct call_paths *paths;
	uint32_t *order;		/* [of.n_calls] scratch */
	uint64_t *key;			/* [of.n_calls] scratch */
};

enum {
	COLUMN_ENTRY, COLUMN_ROLE, COLUMN_CALLS, COLUMN_SELF_CALLS,
	COLUMN_TOTAL_CALLS, COLUMN_CYCLE, COLUMN_NUMBER, COLUMN_PATH,
	COLUMN_PLACE, COLUMN_FRACTION, COLUMN_ESTIMATED, COLUMN_HITS,
	COLUMN_SELF, COLUMN_DESCENDANTS, COLUMN_CALLED, COLUMN_INDENT,
	COLUMN_SUFFIX, COLUMN_LABEL,
	N_COLUMNS
};

enum { INDENT = 4 };	/* of callers and callees */

static void
graph_add_columns(struct graph *graph)
{
	const bool has_stacks = graph->of.flow->has_stacks;
	const bool has_calls = graph->of.flow->has_calls;
	const struct column columns[N_COLUMNS] = {
		{ "entry", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "role", "", .kind = CELL_TEXT, .is_data_only = true },
		{ "calls", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "self_calls", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "total_calls", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "cycle", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "number", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "path", "", .kind = CELL_NAME, .is_data_only = true },
		{ "place", "index", .kind = CELL_TEXT, .is_text_only = true },
		{ "fraction", "%", .kind = CELL_PERCENT },
		{ "estimated", "~", .kind = CELL_FLAG,
		  .is_data_only = has_stacks,
		  .mark = '~' },
		{ "hits", "total", .kind = CELL_HITS },
		{ "self", "self", .kind = CELL_HITS },
		{ "descendants", "descendants", .kind = CELL_HITS,
		  .gives_way = true },
		{ "called", "called", .kind = CELL_TEXT, .is_text_only = true,
		  .is_data_only = !has_calls },
		{ "indent", "", .kind = CELL_COUNT, .is_data_only = true,
		  .is_text_only = true },
		{ "suffix", "", .kind = CELL_TEXT, .is_data_only = true,
		  .is_text_only = true },
		{ "label", "name", .kind = CELL_NAME, .is_text_only = true },
	};

	table_add_columns(graph->table, columns, N_COLUMNS);
	graph->table->group_key = "entry";
	graph->table->indent_key = "indent";
	graph->table->indents_last = true;
	graph->table->suffix_key = "suffix";
}

/* "main" and " [3]", "parse" and " <cycle 1> [4]", "<cycle 1 as a whole>" */
static int
set_label(struct graph *graph, struct cell *cells, uint32_t number,
          struct error *error)
{
	const struct graph_entry *entry = &graph->of.entries[number];
	uint32_t cycle = entry->cycle == NO_CYCLE ? 0 :
	                 graph->of.cycle_number[entry->cycle];
	const char *suffix = cycle == 0 || entry->name == NO_NAME ?
	    table_text(graph->table, error, " [%u]", number + 1) :
	    table_text(graph->table, error, " <cycle %u> [%u]", cycle,
	               number + 1);

	if (suffix == NULL)
		return -1;
	cells[COLUMN_SUFFIX] = cell_text(suffix);
	cells[COLUMN_LABEL] = entry->name == NO_NAME ?
	    (struct cell){ .kind = CELL_EMPTY } :
	    cell_name(graph->paths, entry->name);
	if (entry->name == NO_NAME)
		cells[COLUMN_LABEL].text = table_text(graph->table, error,
		    "<cycle %u as a whole>", cycle);
	return error->is_set ? -1 : 0;
}

/*
 * The cells that every row has: its entry, and the function or cycle it
 * describes.
 */
static int
graph_begin_row(struct graph *graph, struct cell *cells, uint32_t entry,
                uint32_t number, const char *role, struct error *error)
{
	const struct graph_entry *about = &graph->of.entries[number];
	bool is_main = entry == number && strcmp(role, "parent") != 0 &&
	               strcmp(role, "child") != 0;

	memset(cells, 0, N_COLUMNS * sizeof *cells);
	cells[COLUMN_ENTRY] = cell_count((uint64_t)entry + 1);
	cells[COLUMN_ROLE] = cell_text(role);
	cells[COLUMN_NUMBER] = cell_count((uint64_t)number + 1);
	if (about->cycle != NO_CYCLE)
		cells[COLUMN_CYCLE] = cell_count(
		    graph->of.cycle_number[about->cycle]);
	if (about->name != NO_NAME)
		cells[COLUMN_PATH] = cell_name(graph->paths, about->name);
	cells[COLUMN_PLACE] = cell_text("");
	cells[COLUMN_CALLED] = cell_text("");
	cells[COLUMN_ESTIMATED] = cell_flag(false);
	cells[COLUMN_INDENT] = cell_count(is_main ? 0 : INDENT);
	return set_label(graph, cells, number, error);
}

static void
graph_set_hits(struct cell *cells, long double total, long double self)
{
	uint64_t hits = measure_hits(total), own = measure_hits(self);

	cells[COLUMN_HITS] = cell_hits(hits);
	cells[COLUMN_SELF] = cell_hits(own);
	cells[COLUMN_DESCENDANTS] = cell_hits(hits > own ? hits - own : 0);
}

static int
add_main_row(struct graph *graph, uint32_t number, struct error *error)
{
	const struct graph_entry *entry = &graph->of.entries[number];
	struct cell cells[N_COLUMNS];
	const char *place = table_text(graph->table, error, "[%u]",
	                               number + 1);
	const char *called = "";

	if (place == NULL ||
	    graph_begin_row(graph, cells, number, number,
	                    entry->name == NO_NAME ? "cycle" : "function",
	                    error) != 0)
		return -1;
	cells[COLUMN_PLACE] = cell_text(place);
	graph_set_hits(cells, entry->total, entry->self);
	cells[COLUMN_FRACTION] = cell_percent(measure_fraction(
	    &graph->measure, cells[COLUMN_HITS].count));
	cells[COLUMN_ESTIMATED] = cell_flag(entry->is_estimated);
	if (graph->of.flow->has_calls) {
		cells[COLUMN_CALLS] = cell_count(entry->calls);
		cells[COLUMN_SELF_CALLS] = cell_count(entry->self_calls);
		called = table_text(graph->table, error,
		    entry->self_calls > 0 ? "%" PRIu64 "+%" PRIu64 :
		    "%" PRIu64, entry->calls, entry->self_calls);
		if (called == NULL)
			return -1;
		cells[COLUMN_CALLED] = cell_text(called);
	}
	return table_add_row(graph->table, cells, error);
}

static int
set_called(struct graph *graph, struct cell *cells,
           const struct graph_call *call, struct error *error)
{
	bool is_among = call->is_inside || call->caller == call->callee;
	const struct graph_entry *entry =
	    &graph->of.entries[graph->of.number[call->callee]];
	const char *called;
	uint64_t total;

	if (!graph->of.flow->has_calls)
		return 0;
	/* The calls of an entry by all others, or of the cycle it is in. */
	if (entry->cycle != NO_CYCLE)
		entry = &graph->of.entries[graph->of.cycle_entry[entry->cycle]];
	total = entry->calls;
	called = table_text(graph->table, error, is_among ? "%" PRIu64 :
	                    "%" PRIu64 "/%" PRIu64, call->calls, total);
	if (called == NULL)
		return -1;
	cells[COLUMN_CALLS] = cell_count(call->calls);
	if (!is_among)
		cells[COLUMN_TOTAL_CALLS] = cell_count(total);
	cells[COLUMN_CALLED] = cell_text(called);
	return 0;
}

/* The part of what a call into a cycle used that is the members' own. */
static long double
own_part(const struct graph *graph, const struct graph_call *call)
{
	const struct graph_entry *entry =
	    &graph->of.entries[graph->of.number[call->callee]];

	if (entry->cycle == NO_CYCLE || !graph->of.flow->has_hits)
		return call->self;
	entry = &graph->of.entries[graph->of.cycle_entry[entry->cycle]];
	return entry->total > 0 ? call->hits * (entry->self / entry->total) :
	       0;
}

/*
 * Adds a parent or a child; calls inside a cycle have only the number of
 * calls.
 */
static int
add_call_row(struct graph *graph, uint32_t entry,
             const struct graph_call *call, bool is_parent,
             struct error *error)
{
	uint32_t number = graph->of.number[is_parent ? call->caller :
	                                call->callee];
	bool has_split = graph->of.is_classic || graph->of.flow->has_stacks;
	struct cell cells[N_COLUMNS];

	if (graph_begin_row(graph, cells, entry, number, is_parent ? "parent" :
	                    "child", error) != 0)
		return -1;
	if (!call->is_inside) {
		graph_set_hits(cells, call->hits, own_part(graph, call));
		cells[COLUMN_ESTIMATED] = cell_flag(call->is_estimated);
		if (!has_split)
			cells[COLUMN_SELF] = cells[COLUMN_DESCENDANTS] =
			    (struct cell){ .kind = CELL_EMPTY };
	}
	if (set_called(graph, cells, call, error) != 0)
		return -1;
	return table_add_row(graph->table, cells, error);
}

/*
 * Sorts n calls by hits, most expensive first, then by the number of calls,
 * then by names, which is their order before.
 */
static int
sort_calls(struct graph *graph, const uint32_t *calls, uint32_t n,
           struct error *error)
{
	for (uint32_t i = 0; i < n; i++) {
		graph->order[i] = calls[i];
		graph->key[calls[i]] = graph->of.calls[calls[i]].calls;
	}
	if (order_descending(graph->order, n, graph->key, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		graph->key[calls[i]] =
		    measure_hits(graph->of.calls[calls[i]].hits);
	return order_descending(graph->order, n, graph->key, error);
}

/*
 * Parents come with the most expensive last, next to the function they call.
 */
static int
add_call_rows(struct graph *graph, uint32_t number, bool is_parent,
              struct error *error)
{
	uint32_t name = graph->of.entries[number].name;
	const uint32_t *first = is_parent ? graph->of.first_in :
	                        graph->of.first_out;
	const uint32_t *calls = (is_parent ? graph->of.in : graph->of.out) +
	                        first[name];
	uint32_t n = first[name + 1] - first[name];
	int status = sort_calls(graph, calls, n, error);

	for (uint32_t i = 0; i < n && status == 0; i++) {
		const struct graph_call *call = &graph->of.calls[
		    graph->order[is_parent ? n - 1 - i : i]];

		if (!call->is_inside &&
		    measure_hits(call->hits) < graph->measure.least)
			graph->hidden.below_threshold++;
		else
			status = add_call_row(graph, number, call, is_parent,
			                      error);
		if (status == 0 && i % CALLS_A_STEP == 0)
			status = progress_step(NULL, 0, 0, error);
	}
	return status;
}

/* For a cycle, the members take the place of the callees. */
static int
graph_add_members(struct graph *graph, uint32_t number, struct error *error)
{
	uint32_t cycle = graph->of.entries[number].cycle;

	for (uint32_t i = 0; i < graph->of.n_entries; i++) {
		const struct graph_entry *entry = &graph->of.entries[i];
		struct cell cells[N_COLUMNS];
		const char *called;

		if (entry->cycle != cycle || entry->name == NO_NAME)
			continue;
		called = table_text(graph->table, error, "%" PRIu64,
		                    entry->calls);
		if (called == NULL || graph_begin_row(graph, cells, number, i,
		                                      "member", error) != 0)
			return -1;
		graph_set_hits(cells, entry->total, entry->self);
		if (graph->of.flow->has_calls) {
			cells[COLUMN_CALLS] = cell_count(entry->calls);
			cells[COLUMN_CALLED] = cell_text(called);
		}
		if (table_add_row(graph->table, cells, error) != 0)
			return -1;
	}
	return 0;
}

static int
graph_add_entry(struct graph *graph, uint32_t number, struct error *error)
{
	bool is_cycle = graph->of.entries[number].name == NO_NAME;

	if (progress_step(NULL, 0, 0, error) != 0)
		return -1;
	if (is_cycle)
		return add_main_row(graph, number, error) == 0 ?
		       graph_add_members(graph, number, error) : -1;
	if (add_call_rows(graph, number, true, error) != 0 ||
	    add_main_row(graph, number, error) != 0)
		return -1;
	return add_call_rows(graph, number, false, error);
}

/* Shows all entries, or those of one function and its cycle. */
static int
graph_add_entries(struct graph *graph, struct error *error)
{
	size_t n_shown = 0;

	if (graph->only != NO_NAME)
		return graph_add_entry(graph, graph->of.number[graph->only],
		                       error);
	for (uint32_t i = 0; i < graph->of.n_entries; i++) {
		uint64_t hits = measure_hits(graph->of.entries[i].total);

		if (hits < graph->measure.least)
			graph->hidden.below_threshold++;
		else if (n_shown == graph->request->limit)
			graph->hidden.beyond_limit++;
		else if (n_shown++, graph_add_entry(graph, i, error) != 0)
			return -1;
	}
	return 0;
}

static int
show_flow(const struct view_request *request, const struct call_flow *flow,
          uint32_t function, bool is_classic, struct table *table,
          struct error *error)
{
	struct graph graph = {
		.request = request,
		.only = function,
		.measure = measure_of(request),
		.table = table,
	};
	int status = -1;

	if (graph_entries_make(&graph.of, flow, request->set->names,
	                       is_classic || !flow->has_hits, error) != 0)
		return -1;
	graph.paths = arena_alloc(&table->arena, sizeof *graph.paths, error);
	graph.order = memory_array(graph.of.n_calls, sizeof *graph.order,
	                           error);
	graph.key = memory_array(graph.of.n_calls, sizeof *graph.key, error);
	if (!error->is_set) {
		graph.paths->names = request->set->names;
		graph_add_columns(&graph);
		status = graph_add_entries(&graph, error);
	}
	if (status == 0)
		status = view_describe(request, graph.of.is_classic ?
		                       &classic_kind : &graph_kind,
		                       &graph.measure, &graph.hidden, table,
		                       error);
	graph_entries_free(&graph.of);
	free(graph.order);
	free(graph.key);
	return status;
}

int
view_graph(const struct view_request *request, uint32_t function,
           bool is_classic, struct table *table, struct error *error)
{
	const struct sample_set *set = request->set;
	struct call_flow *flow;
	int status;

	if (set->flow != NULL)
		return show_flow(request, set->flow, function, is_classic,
		                 table, error);
	flow = call_flow_of_tree(set->tree, set->self, set->sums,
	                         names_count(set->names), error);
	if (flow == NULL)
		return -1;
	status = show_flow(request, flow, function, is_classic, table, error);
	call_flow_free(flow);
	return status;
}
