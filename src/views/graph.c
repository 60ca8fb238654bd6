/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c -- gprof's call graph profile: callers, a function, its callees.
 *
 * Two readings.  The exact one says of each function what it used with all
 * below it, and of each call what it used with all below it, every stack
 * counted once; that needs no cycle to be collapsed, and a function that calls
 * itself is one among its callees.  The classic one is gprof's: functions that
 * can reach each other are one, calls among them carry nothing, and what the
 * cycle used as a whole is charged to those who call into it.  Where only
 * calls are counted there is no other.
 *
 * Source: Graham, Kessler & McKusick 1982, section 5.2.
 *
 * Cost: O(functions + calls) and the sorting of what is shown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/views/order.h"
#include "src/views/rows.h"

#define NO_ENTRY UINT32_MAX

static const struct view_kind graph_kind = {
	.view = "graph",
	.schema = "cpprof.graph/1",
	.title = "Call Graph Profile",
};

static const struct view_kind classic_kind = {
	.view = "graph",
	.schema = "cpprof.graph/1",
	.title = "Call Graph Profile (cycles collapsed)",
};

/* All calls of one function by another. */
struct call {
	uint32_t caller, callee;	/* names */
	uint64_t calls;
	long double hits, self;
	bool is_estimated;
	bool is_inside;		/* a collapsed cycle: carries nothing */
};

/* A function, or a cycle as a whole. */
struct entry {
	uint32_t name;		/* NO_NAME: a cycle */
	uint32_t cycle;		/* the flow's number; of a function in no
				 * collapsed cycle NO_ENTRY */
	long double self, total;
	uint64_t calls, self_calls;
	bool is_estimated;
};

struct graph {
	const struct view_request *request;
	const struct call_flow *flow;
	bool is_classic;
	struct measure measure;
	struct hidden hidden;
	struct table *table;
	struct call_paths *paths;

	struct call *calls;		/* by caller's name */
	uint32_t n_calls;
	uint32_t *first_out;		/* [n_names + 1] in calls */
	uint32_t *in;			/* calls by callee's name */
	uint32_t *first_in;		/* [n_names + 1] in in */

	struct entry *entries;		/* in the order of their numbers */
	uint32_t n_entries;
	uint32_t *number;		/* [n_names] of the function's entry;
					 * who has a call has one */
	uint32_t *cycle_number;		/* [flow->n_cycles] from 1; 0: none */
	uint32_t *cycle_entry;		/* [flow->n_cycles] */
	uint32_t *order;		/* scratch */
	uint64_t *key;			/* scratch */
	uint32_t *rank;			/* [n_entries] scratch */
};

static void
graph_end(struct graph *graph)
{
	free(graph->calls);
	free(graph->first_out);
	free(graph->in);
	free(graph->first_in);
	free(graph->entries);
	free(graph->number);
	free(graph->cycle_number);
	free(graph->cycle_entry);
	free(graph->order);
	free(graph->key);
	free(graph->rank);
}

static int
graph_begin(struct graph *graph, struct error *error)
{
	const struct call_flow *flow = graph->flow;
	size_t names = (size_t)flow->n_names + 1;
	size_t entries = (size_t)flow->n_names + flow->n_cycles;
	size_t most = entries > flow->n_arcs ? entries : flow->n_arcs;

	graph->calls = memory_array(flow->n_arcs, sizeof *graph->calls,
	                            error);
	graph->in = memory_array(flow->n_arcs, sizeof *graph->in, error);
	graph->first_out = memory_array(names, sizeof *graph->first_out,
	                                error);
	graph->first_in = memory_array(names + 1, sizeof *graph->first_in,
	                               error);
	graph->entries = memory_array(entries, sizeof *graph->entries, error);
	graph->number = memory_array(names, sizeof *graph->number, error);
	graph->cycle_number = memory_array(flow->n_cycles,
	                                   sizeof *graph->cycle_number,
	                                   error);
	graph->cycle_entry = memory_array(flow->n_cycles,
	                                  sizeof *graph->cycle_entry, error);
	graph->order = memory_array(most, sizeof *graph->order, error);
	graph->key = memory_array(most, sizeof *graph->key, error);
	graph->rank = memory_array(most, sizeof *graph->rank, error);
	return error->is_set ? -1 : 0;
}

/* ---- calls between names ---- */

static bool
is_in_cycle(const struct graph *graph, uint32_t name)
{
	return graph->is_classic && graph->flow->functions[name].is_in_cycle;
}

static void
add_call(struct call *to, const struct flow_arc *arc)
{
	if (__builtin_add_overflow(to->calls, arc->calls, &to->calls))
		to->calls = UINT64_MAX;
	to->hits += arc->hits;
	to->self += arc->self;
	to->is_estimated |= arc->is_estimated;
}

/* Arcs stand by caller already; those to one callee are joined. */
static int
join_calls(struct graph *graph, struct error *error)
{
	const struct call_flow *flow = graph->flow;
	uint32_t *last = memory_array(flow->n_names, sizeof *last, error);

	if (last == NULL)
		return -1;
	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		const struct flow_arc *arc = &flow->arcs[i];
		uint32_t caller = flow->vertices[arc->caller].name;
		uint32_t callee = flow->vertices[arc->callee].name;
		uint32_t *known = &last[callee];

		if (*known == 0 ||
		    graph->calls[*known - 1].caller != caller) {
			graph->calls[graph->n_calls++] = (struct call){
				.caller = caller,
				.callee = callee,
				.is_inside = graph->is_classic &&
				    flow->functions[caller].cycle ==
				    flow->functions[callee].cycle,
			};
			*known = graph->n_calls;
			graph->first_out[caller + 1]++;
			graph->first_in[callee + 2]++;
		}
		add_call(&graph->calls[*known - 1], arc);
	}
	free(last);
	return 0;
}

static int
make_calls(struct graph *graph, struct error *error)
{
	uint32_t n = graph->flow->n_names;

	if (join_calls(graph, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		graph->first_out[i + 1] += graph->first_out[i];
		graph->first_in[i + 2] += graph->first_in[i + 1];
	}
	for (uint32_t i = 0; i < graph->n_calls; i++)
		graph->in[graph->first_in[graph->calls[i].callee + 1]++] = i;
	return 0;
}

/* ---- entries ---- */

/* What goes out of a function to others, of a cycle's member to outside. */
static long double
sum_out(const struct graph *graph, uint32_t name)
{
	long double sum = 0;

	for (uint32_t i = graph->first_out[name];
	     i < graph->first_out[name + 1]; i++)
		if (!graph->calls[i].is_inside)
			sum += graph->calls[i].hits;
	return sum;
}

static void
add_function(struct graph *graph, uint32_t name)
{
	const struct flow_function *function = &graph->flow->functions[name];
	bool is_member = is_in_cycle(graph, name);
	long double self = (long double)function->self;

	graph->entries[graph->n_entries++] = (struct entry){
		.name = name,
		.cycle = is_member ? function->cycle : NO_ENTRY,
		.self = self,
		.total = is_member ? self + sum_out(graph, name) :
		         function->inclusive,
		.calls = function->calls,
		.self_calls = function->self_calls,
		.is_estimated = function->is_estimated || is_member,
	};
}

/* A cycle's calls are those from outside, its own those among members. */
static void
add_to_cycle(struct graph *graph, uint32_t name)
{
	const struct flow_function *function = &graph->flow->functions[name];
	uint32_t number = graph->cycle_number[function->cycle];
	struct entry *cycle;

	if (number == 0) {
		number = ++graph->n_entries;
		graph->cycle_number[function->cycle] = number;
		graph->entries[number - 1] = (struct entry){
			.name = NO_NAME, .cycle = function->cycle,
			.is_estimated = !graph->flow->has_hits,
		};
	}
	cycle = &graph->entries[number - 1];
	cycle->self += (long double)function->self;
	cycle->total += (long double)function->self + sum_out(graph, name);
	for (uint32_t i = graph->first_in[name];
	     i < graph->first_in[name + 1]; i++) {
		const struct call *call = &graph->calls[graph->in[i]];

		*(call->is_inside ? &cycle->self_calls : &cycle->calls) +=
		    call->calls;
	}
}

/* Dearest first, then cycles, then by bytes of names. */
static int
sort_entries(struct graph *graph, struct error *error)
{
	uint32_t n = graph->n_entries, n_ranks, *name;
	struct entry *sorted = memory_copy(graph->entries, n,
	                                   sizeof *sorted, error);
	int status = -1;

	name = memory_array(n, sizeof *name, error);
	if (sorted != NULL && name != NULL) {
		for (uint32_t i = 0; i < n; i++) {
			bool is_cycle = sorted[i].name == NO_NAME;

			/* Any name will do for cycles: they come first. */
			name[i] = is_cycle ? 0 : sorted[i].name;
			graph->key[i] = measure_hits(sorted[i].total);
			graph->order[i] = i;
		}
		n_ranks = order_rank_names(graph->request->set->names, name,
		                           n, graph->rank, error);
		for (uint32_t i = 0; i < n; i++)
			graph->rank[i] = sorted[i].name == NO_NAME ? 0 :
			                 graph->rank[i] + 1;
		if (n_ranks != UINT32_MAX &&
		    order_ascending(graph->order, n, graph->rank, n_ranks + 1,
		                    error) == 0)
			status = order_descending(graph->order, n, graph->key,
			                          error);
		for (uint32_t i = 0; status == 0 && i < n; i++)
			graph->entries[i] = sorted[graph->order[i]];
	}
	free(sorted);
	free(name);
	return status;
}

static int
make_entries(struct graph *graph, struct error *error)
{
	const struct call_flow *flow = graph->flow;
	uint32_t n_cycles = 0;

	for (uint32_t name = 0; name < flow->n_names; name++) {
		if (!flow->functions[name].occurs)
			continue;
		add_function(graph, name);
		if (is_in_cycle(graph, name))
			add_to_cycle(graph, name);
	}
	if (sort_entries(graph, error) != 0)
		return -1;
	for (uint32_t i = 0; i < graph->n_entries; i++) {
		const struct entry *entry = &graph->entries[i];

		if (entry->name != NO_NAME) {
			graph->number[entry->name] = i;
			continue;
		}
		graph->cycle_number[entry->cycle] = ++n_cycles;
		graph->cycle_entry[entry->cycle] = i;
	}
	return 0;
}

/* ---- rows ---- */

enum {
	COLUMN_ENTRY, COLUMN_ROLE, COLUMN_CALLS, COLUMN_SELF_CALLS,
	COLUMN_TOTAL_CALLS, COLUMN_CYCLE, COLUMN_NUMBER, COLUMN_PATH,
	COLUMN_PLACE, COLUMN_FRACTION, COLUMN_ESTIMATED, COLUMN_HITS,
	COLUMN_SELF, COLUMN_DESCENDANTS, COLUMN_CALLED, COLUMN_LABEL,
	N_COLUMNS
};

static void
add_columns(struct graph *graph)
{
	static const struct {
		const char *key, *title;
		enum cell_kind kind;
		bool is_data_only, is_text_only;
	} columns[N_COLUMNS] = {
		{ "entry", "", CELL_COUNT, true, false },
		{ "role", "", CELL_TEXT, true, false },
		{ "calls", "", CELL_COUNT, true, false },
		{ "self_calls", "", CELL_COUNT, true, false },
		{ "total_calls", "", CELL_COUNT, true, false },
		{ "cycle", "", CELL_COUNT, true, false },
		{ "number", "", CELL_COUNT, true, false },
		{ "path", "", CELL_NAME, true, false },
		{ "place", "index", CELL_TEXT, false, true },
		{ "fraction", "%", CELL_PERCENT, false, false },
		{ "estimated", "~", CELL_FLAG, false, false },
		{ "hits", "total", CELL_HITS, false, false },
		{ "self", "self", CELL_HITS, false, false },
		{ "descendants", "descendants", CELL_HITS, false, false },
		{ "called", "called", CELL_TEXT, false, true },
		{ "label", "name", CELL_TEXT, false, true },
	};

	for (size_t i = 0; i < N_COLUMNS; i++) {
		struct column *column = table_add_column(graph->table,
		    columns[i].key, columns[i].title, columns[i].kind);

		column->is_data_only = columns[i].is_data_only;
		column->is_text_only = columns[i].is_text_only;
		column->mark = '~';
	}
	graph->table->columns[COLUMN_ESTIMATED].is_data_only =
	    graph->flow->has_stacks;
	graph->table->columns[COLUMN_CALLED].is_data_only =
	    !graph->flow->has_calls;
	graph->table->group_key = "entry";
}

/* "main [3]", "  parse <cycle 1> [4]" */
static const char *
label_of(struct graph *graph, uint32_t number, bool is_indented,
         struct error *error)
{
	const struct entry *entry = &graph->entries[number];
	const char *indent = is_indented ? "    " : "";
	uint32_t cycle = entry->cycle == NO_ENTRY ? 0 :
	                 graph->cycle_number[entry->cycle];

	if (entry->name == NO_NAME)
		return table_text(graph->table, error, "%s<cycle %u as a "
		                  "whole> [%u]", indent, cycle, number + 1);
	if (cycle == 0)
		return table_text(graph->table, error, "%s%s [%u]", indent,
		                  names_text(graph->request->set->names,
		                             entry->name), number + 1);
	return table_text(graph->table, error, "%s%s <cycle %u> [%u]",
	                  indent, names_text(graph->request->set->names,
	                                     entry->name), cycle, number + 1);
}

/* The cells that every row has: what it belongs to, and whom it is about. */
static int
begin_row(struct graph *graph, struct cell *cells, uint32_t entry,
          uint32_t number, const char *role, struct error *error)
{
	const struct entry *about = &graph->entries[number];
	bool is_main = entry == number && strcmp(role, "parent") != 0 &&
	               strcmp(role, "child") != 0;
	const char *label = label_of(graph, number, !is_main, error);

	if (label == NULL)
		return -1;
	memset(cells, 0, N_COLUMNS * sizeof *cells);
	cells[COLUMN_ENTRY] = cell_count((uint64_t)entry + 1);
	cells[COLUMN_ROLE] = cell_text(role);
	cells[COLUMN_NUMBER] = cell_count((uint64_t)number + 1);
	if (about->cycle != NO_ENTRY)
		cells[COLUMN_CYCLE] = cell_count(
		    graph->cycle_number[about->cycle]);
	if (about->name != NO_NAME)
		cells[COLUMN_PATH] = cell_name(graph->paths, about->name);
	cells[COLUMN_PLACE] = cell_text("");
	cells[COLUMN_CALLED] = cell_text("");
	cells[COLUMN_ESTIMATED] = cell_flag(false);
	cells[COLUMN_LABEL] = cell_text(label);
	return 0;
}

static void
set_hits(struct cell *cells, long double total, long double self)
{
	uint64_t hits = measure_hits(total), own = measure_hits(self);

	cells[COLUMN_HITS] = cell_hits(hits);
	cells[COLUMN_SELF] = cell_hits(own);
	cells[COLUMN_DESCENDANTS] = cell_hits(hits > own ? hits - own : 0);
}

static int
add_main_row(struct graph *graph, uint32_t number, struct error *error)
{
	const struct entry *entry = &graph->entries[number];
	struct cell cells[N_COLUMNS];
	const char *place = table_text(graph->table, error, "[%u]",
	                               number + 1);
	const char *called = "";

	if (place == NULL ||
	    begin_row(graph, cells, number, number, entry->name == NO_NAME ?
	              "cycle" : "function", error) != 0)
		return -1;
	cells[COLUMN_PLACE] = cell_text(place);
	set_hits(cells, entry->total, entry->self);
	cells[COLUMN_FRACTION] = cell_percent(measure_fraction(
	    &graph->measure, cells[COLUMN_HITS].count));
	cells[COLUMN_ESTIMATED] = cell_flag(entry->is_estimated);
	if (graph->flow->has_calls) {
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

/* Calls of an entry by all others, of a member those of its cycle. */
static uint64_t
total_calls(const struct graph *graph, const struct call *call)
{
	uint32_t number = graph->number[call->callee];
	const struct entry *entry = &graph->entries[number];

	if (entry->cycle != NO_ENTRY)
		entry = &graph->entries[graph->cycle_entry[entry->cycle]];
	return entry->calls;
}

static int
set_called(struct graph *graph, struct cell *cells, const struct call *call,
           struct error *error)
{
	bool is_among = call->is_inside || call->caller == call->callee;
	uint64_t total = total_calls(graph, call);
	const char *called;

	if (!graph->flow->has_calls)
		return 0;
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

/* Of what a call into a cycle used, that is the members' own. */
static long double
own_part(const struct graph *graph, const struct call *call)
{
	const struct entry *entry =
	    &graph->entries[graph->number[call->callee]];

	if (entry->cycle == NO_ENTRY || !graph->flow->has_hits)
		return call->self;
	entry = &graph->entries[graph->cycle_entry[entry->cycle]];
	return entry->total > 0 ? call->hits * (entry->self / entry->total) :
	       0;
}

/* A parent or a child; calls inside a cycle have numbers of calls alone. */
static int
add_call_row(struct graph *graph, uint32_t entry, const struct call *call,
             bool is_parent, struct error *error)
{
	uint32_t number = graph->number[is_parent ? call->caller :
	                                call->callee];
	bool has_split = graph->is_classic || graph->flow->has_stacks;
	struct cell cells[N_COLUMNS];

	if (begin_row(graph, cells, entry, number, is_parent ? "parent" :
	              "child", error) != 0)
		return -1;
	if (!call->is_inside) {
		set_hits(cells, call->hits, own_part(graph, call));
		cells[COLUMN_ESTIMATED] = cell_flag(call->is_estimated);
		if (!has_split)
			cells[COLUMN_SELF] = cells[COLUMN_DESCENDANTS] =
			    (struct cell){ .kind = CELL_EMPTY };
	}
	if (set_called(graph, cells, call, error) != 0)
		return -1;
	return table_add_row(graph->table, cells, error);
}

/* Puts n calls in order, dearest first; those of the same hits by calls. */
static int
sort_calls(struct graph *graph, const uint32_t *calls, uint32_t n,
           struct error *error)
{
	for (uint32_t i = 0; i < n; i++) {
		graph->order[i] = calls[i];
		graph->key[calls[i]] = graph->calls[calls[i]].calls;
	}
	if (order_descending(graph->order, n, graph->key, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		graph->key[calls[i]] =
		    measure_hits(graph->calls[calls[i]].hits);
	return order_descending(graph->order, n, graph->key, error);
}

/* Parents come with the dearest last, next to the function they call. */
static int
add_call_rows(struct graph *graph, uint32_t number, bool is_parent,
              struct error *error)
{
	uint32_t name = graph->entries[number].name;
	const uint32_t *first = is_parent ? graph->first_in :
	                        graph->first_out;
	uint32_t n = first[name + 1] - first[name];
	uint32_t *calls = memory_array(n, sizeof *calls, error);
	int status = -1;

	if (calls == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		calls[i] = is_parent ? graph->in[first[name] + i] :
		           first[name] + i;
	if (sort_calls(graph, calls, n, error) == 0)
		status = 0;
	for (uint32_t i = 0; i < n && status == 0; i++) {
		const struct call *call = &graph->calls[
		    graph->order[is_parent ? n - 1 - i : i]];

		if (!call->is_inside &&
		    measure_hits(call->hits) < graph->measure.least)
			graph->hidden.below_threshold++;
		else
			status = add_call_row(graph, number, call, is_parent,
			                      error);
	}
	free(calls);
	return status;
}

/* The members of a cycle stand where a function's callees would. */
static int
add_members(struct graph *graph, uint32_t number, struct error *error)
{
	uint32_t cycle = graph->entries[number].cycle;

	for (uint32_t i = 0; i < graph->n_entries; i++) {
		const struct entry *entry = &graph->entries[i];
		struct cell cells[N_COLUMNS];
		const char *called;

		if (entry->cycle != cycle || entry->name == NO_NAME)
			continue;
		called = table_text(graph->table, error, "%" PRIu64,
		                    entry->calls);
		if (called == NULL || begin_row(graph, cells, number, i,
		                                "member", error) != 0)
			return -1;
		set_hits(cells, entry->total, entry->self);
		if (graph->flow->has_calls) {
			cells[COLUMN_CALLS] = cell_count(entry->calls);
			cells[COLUMN_CALLED] = cell_text(called);
		}
		if (table_add_row(graph->table, cells, error) != 0)
			return -1;
	}
	return 0;
}

static int
add_entry(struct graph *graph, uint32_t number, struct error *error)
{
	bool is_cycle = graph->entries[number].name == NO_NAME;

	if (is_cycle)
		return add_main_row(graph, number, error) == 0 ?
		       add_members(graph, number, error) : -1;
	if (add_call_rows(graph, number, true, error) != 0 ||
	    add_main_row(graph, number, error) != 0)
		return -1;
	return add_call_rows(graph, number, false, error);
}

/* All entries, or those of one function and its cycle. */
static int
add_entries(struct graph *graph, struct error *error)
{
	uint32_t only = graph->request->function;
	size_t n_shown = 0;

	if (only != NO_NAME)
		return add_entry(graph, graph->number[only], error);
	for (uint32_t i = 0; i < graph->n_entries; i++) {
		uint64_t hits = measure_hits(graph->entries[i].total);

		if (hits < graph->measure.least)
			graph->hidden.below_threshold++;
		else if (n_shown == graph->request->limit)
			graph->hidden.beyond_limit++;
		else if (n_shown++, add_entry(graph, i, error) != 0)
			return -1;
	}
	return 0;
}

static int
show(struct graph *graph, struct error *error)
{
	graph->paths = arena_alloc(&graph->table->arena,
	                           sizeof *graph->paths, error);
	if (graph->paths == NULL || graph_begin(graph, error) != 0 ||
	    make_calls(graph, error) != 0 || make_entries(graph, error) != 0)
		return -1;
	graph->paths->names = graph->request->set->names;
	add_columns(graph);
	if (add_entries(graph, error) != 0)
		return -1;
	return view_describe(graph->request, graph->is_classic ?
	                     &classic_kind : &graph_kind, &graph->measure,
	                     &graph->hidden, graph->table, error);
}

static int
show_flow(const struct view_request *request, const struct call_flow *flow,
          struct table *table, struct error *error)
{
	struct graph graph = {
		.request = request,
		.flow = flow,
		.is_classic = request->is_classic || !flow->has_hits,
		.measure = measure_of(request),
		.table = table,
	};
	int status = show(&graph, error);

	graph_end(&graph);
	return status;
}

int
view_graph(const struct view_request *request, struct table *table,
           struct error *error)
{
	const struct sample_set *set = request->set;
	struct call_flow *flow;
	int status;

	if (set->flow != NULL)
		return show_flow(request, set->flow, table, error);
	flow = call_flow_of_tree(set->tree, set->self, set->weight,
	                         names_count(set->names), error);
	if (flow == NULL)
		return -1;
	status = show_flow(request, flow, table, error);
	call_flow_free(flow);
	return status;
}
