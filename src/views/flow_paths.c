/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_paths.c -- call paths where the input has calls and no stacks.
 *
 * Records are searched breadth first.  Each keeps its amounts: how much of it
 * passes through which vertices of its newest name.  A search that would make
 * too many starts again with a higher least number of hits.
 *
 * Upward, amounts say the same from the other end; the value shown is then
 * worked out from the outermost name on, so that it is that of the downward
 * profile to the last digit.
 */
#include "src/views/flow_paths.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

struct amount {
	uint32_t vertex;
	bool is_exact;		/* hits are */
	bool is_whole;		/* and all that the vertex has */
	bool is_entry;		/* it came from outside of its cycle */
	long double hits;
};

struct amounts {
	struct amount *items;
	size_t n, capacity;
};

struct flow_record {
	uint32_t parent;	/* NO_RECORD for record 0 */
	uint32_t name;
	uint32_t length;
	bool is_estimated;
	bool is_leaf;		/* its last name stands on the path twice */
	uint64_t hits;
	size_t first_amount, n_amounts;
};

struct search {
	const struct call_flow *flow;
	bool is_up;
	struct amounts amounts;
	struct flow_record *records;
	uint32_t n_records;
	size_t records_capacity;
	uint32_t *mark;		/* [n_names] the last record on whose path it
				 * was seen, from 1 */
	uint32_t *slot;		/* [n_vertices] place in reached, from 1 */
	struct amounts reached;	/* by one more call */
	uint32_t *path;		/* scratch: one path, outermost first */
	size_t path_capacity;
	bool is_full;		/* there is no room for what comes */
};

static int
search_begin(struct search *search, const struct call_flow *flow,
             struct error *error)
{
	search->flow = flow;
	search->mark = memory_array(flow->n_names, sizeof *search->mark,
	                            error);
	search->slot = memory_array(flow->n_vertices, sizeof *search->slot,
	                            error);
	return search->mark == NULL || search->slot == NULL ? -1 : 0;
}

static void
search_end(struct search *search)
{
	free(search->amounts.items);
	free(search->records);
	free(search->mark);
	free(search->slot);
	free(search->reached.items);
	free(search->path);
}

static int
add_amount(struct amounts *amounts, struct amount amount, struct error *error)
{
	if (memory_grow(&amounts->items, &amounts->capacity, amounts->n + 1,
	                sizeof amount, error) != 0)
		return -1;
	amounts->items[amounts->n++] = amount;
	return 0;
}

/* All of a function, at each of its vertices. */
static int
add_function(const struct call_flow *flow, uint32_t name,
             struct amounts *amounts, struct error *error)
{
	for (uint32_t v = flow->first_vertex[name];
	     v < flow->first_vertex[name + 1]; v++)
		if (add_amount(amounts, (struct amount){
		        .vertex = v, .is_exact = true, .is_whole = true,
		        .hits = flow->vertices[v].total }, error) != 0)
			return -1;
	return 0;
}

static uint32_t
cycle_of(const struct call_flow *flow, uint32_t vertex)
{
	return flow->functions[flow->vertices[vertex].name].cycle;
}

/* What goes along one call of what is at a vertex, to `to`. */
static int
follow(struct search *search, const struct amount *from, bool is_first,
       const struct flow_arc *arc, uint32_t to, struct error *error)
{
	long double total = search->flow->vertices[from->vertex].total;
	uint32_t *slot = &search->slot[to];
	struct amount more = {
		.vertex = to,
		.hits = arc->hits,
		.is_exact = !arc->is_estimated && (is_first || from->is_whole),
		.is_entry = cycle_of(search->flow, from->vertex) !=
		            cycle_of(search->flow, to),
	};

	if (!is_first)
		more.hits = total > 0 ? arc->hits * (from->hits / total) : 0;
	if (*slot == 0) {
		*slot = (uint32_t)search->reached.n + 1;
		return add_amount(&search->reached, more, error);
	}
	search->reached.items[*slot - 1].hits += more.hits;
	search->reached.items[*slot - 1].is_exact &= more.is_exact;
	search->reached.items[*slot - 1].is_entry &= more.is_entry;
	return 0;
}

/*
 * What is whole can be followed exactly: whoever is at the vertex came there
 * along the path.  That holds for a recursive function where the path enters
 * its cycle: whenever it is entered again, the canonical path goes back to it.
 * Of other members of the cycle it is not known which way led to them.
 */
static void
find_whole(struct search *search)
{
	const struct call_flow *flow = search->flow;

	for (size_t i = 0; i < search->reached.n; i++) {
		struct amount *amount = &search->reached.items[i];
		const struct flow_vertex *vertex =
		    &flow->vertices[amount->vertex];

		search->slot[amount->vertex] = 0;
		amount->is_whole = amount->is_exact &&
		    amount->hits == vertex->total &&
		    (amount->is_entry ||
		     !flow->functions[vertex->name].is_recursive);
	}
}

/* Fills reached with what n amounts become by one call more. */
static int
step(struct search *search, const struct amount *from, size_t n,
     bool is_first, struct error *error)
{
	const struct call_flow *flow = search->flow;
	int status = 0;

	search->reached.n = 0;
	for (size_t i = 0; i < n && status == 0; i++) {
		uint32_t v = from[i].vertex;
		const uint32_t *first = search->is_up ? flow->first_in :
		                        flow->first_out;

		for (uint32_t k = first[v]; k < first[v + 1] && status == 0;
		     k++) {
			const struct flow_arc *arc =
			    &flow->arcs[search->is_up ? flow->in[k] : k];

			status = follow(search, &from[i], is_first, arc,
			                search->is_up ? arc->caller :
			                arc->callee, error);
		}
	}
	find_whole(search);
	return status;
}

/* ---- the value of one path ---- */

/* Leaves of what was reached only the vertices of one name. */
static void
keep_name(struct search *search, uint32_t name)
{
	size_t n = 0;

	for (size_t i = 0; i < search->reached.n; i++) {
		struct amount amount = search->reached.items[i];

		if (search->flow->vertices[amount.vertex].name == name)
			search->reached.items[n++] = amount;
	}
	search->reached.n = n;
}

/* Sums n amounts. */
static void
sum_amounts(const struct amount *amounts, size_t n, uint64_t *hits,
            bool *is_estimated)
{
	long double sum = 0;

	*is_estimated = false;
	for (size_t i = 0; i < n; i++) {
		sum += amounts[i].hits;
		*is_estimated |= !amounts[i].is_exact;
	}
	*hits = measure_hits(sum);
}

/* The search's amounts are used and left empty. */
static int
find_value(struct search *search, const uint32_t *path, size_t n,
           uint64_t *hits, bool *is_estimated, struct error *error)
{
	const struct flow_function *first = &search->flow->functions[path[0]];
	struct amounts from = { 0 };
	bool is_up = search->is_up;
	int status;

	*hits = measure_hits(first->inclusive);
	*is_estimated = first->is_estimated;
	if (n == 1)
		return 0;
	search->is_up = false;
	status = add_function(search->flow, path[0], &from, error);
	for (size_t i = 1; i < n && status == 0; i++) {
		struct amounts reached;

		status = step(search, from.items, from.n, i == 1, error);
		keep_name(search, path[i]);
		reached = search->reached;
		search->reached = from;
		from = reached;
	}
	search->is_up = is_up;
	if (status == 0)
		sum_amounts(from.items, from.n, hits, is_estimated);
	free(from.items);
	return status;
}

int
flow_path_value(const struct call_flow *flow, const uint32_t *path, size_t n,
                uint64_t *hits, bool *is_estimated, struct error *error)
{
	struct search search = { 0 };
	int status = search_begin(&search, flow, error);

	if (status == 0)
		status = find_value(&search, path, n, hits, is_estimated,
		                    error);
	search_end(&search);
	return status;
}

/* ---- all paths ---- */

static int
compare_amounts(const void *a, const void *b)
{
	const struct amount *x = a, *y = b;

	return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Adds a record whose amounts are items[n]; they are copied. */
static int
add_record(struct search *search, struct flow_record record,
           const struct amount *items, size_t n, struct error *error)
{
	record.first_amount = search->amounts.n;
	record.n_amounts = n;
	search->is_full = search->n_records >= MAX_FLOW_RECORDS ||
	                  search->amounts.n > MAX_FLOW_AMOUNTS;
	if (search->is_full)
		return 0;
	if (memory_grow(&search->records, &search->records_capacity,
	                (size_t)search->n_records + 1, sizeof record,
	                error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (add_amount(&search->amounts, items[i], error) != 0)
			return -1;
	search->records[search->n_records++] = record;
	return 0;
}

/*
 * Marks the names that stand on a record's path and may not do so again: all,
 * save that a path may end in a name that it has already, as upward ones do
 * from the start.
 */
static void
mark_path(struct search *search, uint32_t number)
{
	for (uint32_t r = number; r != NO_RECORD;
	     r = search->records[r].parent)
		if (!search->is_up || r != 0)
			search->mark[search->records[r].name] = number + 1;
}

/* The value from the outermost name on, of a path one longer than `number`. */
static int
value_upward(struct search *search, uint32_t number, uint32_t name,
             uint64_t *hits, bool *is_estimated, struct error *error)
{
	uint32_t n = 1, length = search->records[number].length + 1;
	struct amounts kept = search->reached;
	int status;

	if (memory_grow(&search->path, &search->path_capacity, length,
	                sizeof *search->path, error) != 0)
		return -1;
	search->path[0] = name;
	for (uint32_t r = number; r != NO_RECORD;
	     r = search->records[r].parent)
		search->path[n++] = search->records[r].name;
	/* What was reached is still being looked at. */
	search->reached = (struct amounts){ 0 };
	status = find_value(search, search->path, n, hits, is_estimated,
	                    error);
	free(search->reached.items);
	search->reached = kept;
	return status;
}

struct limits {
	const struct view_request *request;
	uint64_t least;
	struct hidden *hidden;
};

/* The record that extends `number` by one name, if it is to be shown. */
static int
extend(struct search *search, const struct limits *limits, uint32_t number,
       const struct amount *items, size_t n, struct error *error)
{
	uint32_t name = search->flow->vertices[items[0].vertex].name;
	bool is_again = search->mark[name] == number + 1;
	struct flow_record record = {
		.parent = number,
		.name = name,
		.length = search->records[number].length + 1,
		.is_leaf = is_again,
	};
	uint64_t least = limits->least;

	if (search->is_up && is_again)
		return 0;
	if (record.length > 2 && least == 0)
		least = 1;
	sum_amounts(items, n, &record.hits, &record.is_estimated);
	if (search->is_up && record.hits + 1 >= least &&
	    value_upward(search, number, name, &record.hits,
	                 &record.is_estimated, error) != 0)
		return -1;
	if (record.hits < least) {
		limits->hidden->below_threshold++;
		return 0;
	}
	if (record.length > limits->request->depth) {
		limits->hidden->too_long++;
		return 0;
	}
	return add_record(search, record, items, n, error);
}

static int
extend_all(struct search *search, const struct limits *limits,
           uint32_t number, struct error *error)
{
	const struct call_flow *flow = search->flow;
	const struct flow_record *record = &search->records[number];
	size_t n, end;

	if (record->is_leaf)
		return 0;
	if (step(search, search->amounts.items + record->first_amount,
	         record->n_amounts, number == 0, error) != 0)
		return -1;
	n = search->reached.n;
	mark_path(search, number);
	if (n > 1)
		qsort(search->reached.items, n, sizeof(struct amount),
		      compare_amounts);
	for (size_t i = 0; i < n; i = end) {
		const struct amount *items = search->reached.items;
		uint32_t name = flow->vertices[items[i].vertex].name;

		for (end = i + 1; end < n && name ==
		     flow->vertices[items[end].vertex].name; end++)
			;
		if (extend(search, limits, number, items + i, end - i,
		           error) != 0)
			return -1;
	}
	return 0;
}

/* Record 0, and from each the longer ones, until there is no room. */
static int
find_paths(struct search *search, const struct limits *limits,
           struct error *error)
{
	uint32_t root = limits->request->root;
	const struct flow_function *function = &search->flow->functions[root];
	struct amounts all = { 0 };
	int status;

	status = add_function(search->flow, root, &all, error);
	if (status == 0)
		status = add_record(search, (struct flow_record){
			.parent = NO_RECORD,
			.name = root,
			.length = 1,
			.is_estimated = function->is_estimated,
			.hits = measure_hits(function->inclusive),
		}, all.items, all.n, error);
	free(all.items);
	for (uint32_t i = 0; status == 0 && !search->is_full &&
	     i < search->n_records; i++) {
		status = extend_all(search, limits, i, error);
		if (status == 0 && (i & 0xfff) == 0xfff)
			status = progress_step(NULL, i, 0, error);
	}
	return status;
}

/* The same with as few hits as there is room for. */
static int
find_most_paths(struct search *search, struct limits *limits,
                struct error *error)
{
	struct hidden before = *limits->hidden;

	while (find_paths(search, limits, error) == 0) {
		if (!search->is_full)
			return 0;
		search->is_full = false;
		search->n_records = 0;
		search->amounts.n = 0;
		memset(search->mark, 0,
		       search->flow->n_names * sizeof *search->mark);
		limits->least = limits->least < 2 ? 2 : limits->least * 2;
		*limits->hidden = before;
		limits->hidden->least_searched = limits->least;
	}
	return -1;
}

/* The first record alone may be below the threshold, or too long. */
static int
make_rows(const struct search *search, const struct limits *limits,
          struct rows *rows, struct error *error)
{
	uint32_t n = search->n_records;
	bool is_hidden = search->records[0].hits < limits->least;

	if (is_hidden || limits->request->depth < 1) {
		limits->hidden->below_threshold += is_hidden;
		limits->hidden->too_long += !is_hidden;
		n = 0;
	}
	if (rows_of_functions(rows, limits->request->set, n, error) != 0)
		return -1;
	rows->parent = memory_array(n, sizeof *rows->parent, error);
	if (rows->parent == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_record *record = &search->records[i];

		rows->parent[i] = record->parent;
		rows->name[i] = record->name;
		rows->hits[i] = record->hits;
		rows->is_estimated[i] = record->is_estimated;
	}
	return 0;
}

static int
search_paths(bool is_up, struct rows *rows, const struct view_request *request,
             const struct measure *measure, struct hidden *hidden,
             struct error *error)
{
	struct search search = { .is_up = is_up };
	struct limits limits = { request, measure->least, hidden };
	int status = search_begin(&search, request->set->flow, error);

	if (status == 0)
		status = find_most_paths(&search, &limits, error);
	if (status == 0)
		status = make_rows(&search, &limits, rows, error);
	search_end(&search);
	return status;
}

int
flow_paths_down(struct rows *rows, const struct view_request *request,
                const struct measure *measure, struct hidden *hidden,
                struct error *error)
{
	return search_paths(false, rows, request, measure, hidden, error);
}

int
flow_paths_up(struct rows *rows, const struct view_request *request,
              const struct measure *measure, struct hidden *hidden,
              struct error *error)
{
	return search_paths(true, rows, request, measure, hidden, error);
}
