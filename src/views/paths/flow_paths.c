/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_paths.c -- call paths where the input has calls and no stacks.
 *
 * Records are searched breadth first.  Each keeps its amounts: how much of it
 * passes through which vertices of its newest name.  A search that would make
 * too many records starts again with a higher minimum of hits.
 *
 * Upward, the amounts are followed from the other end.  The value shown is
 * then computed from the outermost name, so that it equals that of the
 * downward profile to the last digit.
 */
#include "src/views/paths/paths.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum { ROWS_A_STEP = 1024 };

struct flow_record {
	uint32_t parent;	/* NO_RECORD for record 0, and for all roots */
	uint32_t name;
	uint32_t length;
	bool is_estimated;
	bool is_leaf;		/* its last name is on the path twice */
	uint64_t hits;
	size_t first_amount, n_amounts;
};

struct flow_search {
	struct flow_steps steps;
	struct flow_amounts amounts;
	struct flow_record *records;
	uint32_t n_records;
	size_t records_capacity;
	uint32_t *mark;		/* [n_names] the last record with it on its
				 * path, from 1 */
	uint32_t *path;		/* scratch: one path, outermost first */
	size_t path_capacity;
	bool is_full;		/* no room for more records or amounts */
};

static int
flow_paths_search_begin(struct flow_search *search,
                        const struct call_flow *flow, struct error *error)
{
	search->mark = memory_array(flow->n_names, sizeof *search->mark,
	                            error);
	return flow_steps_begin(&search->steps, flow, error) != 0 ||
	    search->mark == NULL ? -1 : 0;
}

static void
flow_paths_search_end(struct flow_search *search)
{
	flow_steps_end(&search->steps);
	free(search->amounts.items);
	free(search->records);
	free(search->mark);
	free(search->path);
}

static int
compare_amounts(const void *a, const void *b)
{
	const struct flow_amount *x = a, *y = b;

	return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

/* Adds a record whose amounts are items[n]; they are copied. */
static int
flow_paths_add_record(struct flow_search *search, struct flow_record record,
                      const struct flow_amount *items, size_t n,
                      struct error *error)
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
		if (flow_amounts_add(&search->amounts, items[i], error) != 0)
			return -1;
	search->records[search->n_records++] = record;
	return 0;
}

/*
 * Marks the names on a record's path that must not be added again: all of
 * them, except that a path may end in a name that it has already, as upward
 * paths do from the start.
 */
static void
mark_path(struct flow_search *search, uint32_t number)
{
	for (uint32_t r = number; r != NO_RECORD;
	     r = search->records[r].parent)
		if (!search->steps.is_up || r != 0)
			search->mark[search->records[r].name] = number + 1;
}

/*
 * Computes from the outermost name the value of a path one longer than
 * `number`.
 */
static int
value_upward(struct flow_search *search, uint32_t number, uint32_t name,
             uint64_t *hits, bool *is_estimated, struct error *error)
{
	uint32_t n = 1, length = search->records[number].length + 1;
	struct flow_amounts kept = search->steps.reached;
	int status;

	if (memory_grow(&search->path, &search->path_capacity, length,
	                sizeof *search->path, error) != 0)
		return -1;
	search->path[0] = name;
	for (uint32_t r = number; r != NO_RECORD;
	     r = search->records[r].parent)
		search->path[n++] = search->records[r].name;
	/* The caller still reads `reached`. */
	search->steps.reached = (struct flow_amounts){ 0 };
	status = flow_steps_value(&search->steps, search->path, n, hits,
	                          is_estimated, error);
	free(search->steps.reached.items);
	search->steps.reached = kept;
	return status;
}

struct limits {
	const struct view_request *request;
	uint64_t least;
	struct hidden *hidden;
};

/* Adds the record that extends `number` by one name, if it is to be shown. */
static int
flow_paths_extend(struct flow_search *search, const struct limits *limits,
                  uint32_t number, const struct flow_amount *items, size_t n,
                  struct error *error)
{
	uint32_t name = search->steps.flow->vertices[items[0].vertex].name;
	bool is_again = search->mark[name] == number + 1;
	struct flow_record record = {
		.parent = number,
		.name = name,
		.length = search->records[number].length + 1,
		.is_leaf = is_again,
	};
	uint64_t least = limits->least;

	if (search->steps.is_up && is_again)
		return 0;
	if (record.length > 2 && least == 0)
		least = 1;
	flow_amounts_sum(items, n, &record.hits, &record.is_estimated);
	if (search->steps.is_up && record.hits + 1 >= least &&
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
	return flow_paths_add_record(search, record, items, n, error);
}

static int
extend_all(struct flow_search *search, const struct limits *limits,
           uint32_t number, struct error *error)
{
	const struct call_flow *flow = search->steps.flow;
	const struct flow_record *record = &search->records[number];
	size_t n, end;

	if (record->is_leaf)
		return 0;
	if (flow_step(&search->steps,
	              search->amounts.items + record->first_amount,
	              record->n_amounts, record->parent == NO_RECORD, NO_NAME,
	              error) != 0)
		return -1;
	n = search->steps.reached.n;
	mark_path(search, number);
	if (n > 1)
		qsort(search->steps.reached.items, n, sizeof(struct flow_amount),
		      compare_amounts);
	for (size_t i = 0; i < n; i = end) {
		const struct flow_amount *items = search->steps.reached.items;
		uint32_t name = flow->vertices[items[i].vertex].name;

		for (end = i + 1; end < n && name ==
		     flow->vertices[items[end].vertex].name; end++)
			;
		if (flow_paths_extend(search, limits, number, items + i,
		                      end - i, error) != 0)
			return -1;
	}
	return 0;
}

/* Adds the record of the path (root). */
static int
flow_paths_add_root(struct flow_search *search, uint32_t root,
                    struct error *error)
{
	const struct call_flow *flow = search->steps.flow;
	const struct flow_function *function = &flow->functions[root];
	struct flow_amounts all = { 0 };
	int status = flow_amounts_of(flow, root, &all, error);

	if (status == 0)
		status = flow_paths_add_record(search, (struct flow_record){
			.parent = NO_RECORD,
			.name = root,
			.length = 1,
			.is_estimated = function->is_estimated,
			.hits = measure_hits(function->inclusive),
		}, all.items, all.n, error);
	free(all.items);
	return status;
}

/* If there is no root, all outermost functions are, as the limits allow. */
static int
add_roots(struct flow_search *search, const struct limits *limits,
          struct error *error)
{
	const struct call_flow *flow = search->steps.flow;
	struct sample_set set = *limits->request->set;
	bool *are_outermost;
	int status = 0;

	set.flow = flow;
	are_outermost = outermost_functions(&set, error);
	if (are_outermost == NULL)
		return -1;
	for (uint32_t name = 0; status == 0 && name < flow->n_names; name++) {
		if (!are_outermost[name])
			continue;
		if (measure_hits(flow->functions[name].inclusive) <
		    limits->least)
			limits->hidden->below_threshold++;
		else if (limits->request->depth < 1)
			limits->hidden->too_long++;
		else
			status = flow_paths_add_root(search, name, error);
	}
	free(are_outermost);
	return status;
}

/*
 * Searches from the records of roots on, extending each record in turn, until
 * there is no room.
 */
static int
find_paths(struct flow_search *search, const struct limits *limits,
           struct error *error)
{
	uint32_t root = limits->request->root;
	int status = root == NO_NAME ? add_roots(search, limits, error) :
	             flow_paths_add_root(search, root, error);

	for (uint32_t i = 0; status == 0 && !search->is_full &&
	     i < search->n_records; i++) {
		status = extend_all(search, limits, i, error);
		if (status == 0 && (i & 0xfff) == 0xfff)
			status = progress_step(NULL, i, 0, error);
	}
	return status;
}

/* Forgets what was found, and searches with another minimum. */
static int
search_again(struct flow_search *search, struct limits *limits,
             const struct hidden *before, uint64_t least, struct error *error)
{
	search->is_full = false;
	search->n_records = 0;
	search->amounts.n = 0;
	memset(search->mark, 0,
	       search->steps.flow->n_names * sizeof *search->mark);
	limits->least = least;
	*limits->hidden = *before;
	limits->hidden->least_searched = least;
	return find_paths(search, limits, error);
}

/*
 * Searches with the lowest minimum of hits for which there is room: that of the
 * request, or it doubled as often as needed.  That number is bisected: a higher
 * minimum leaves a subset.
 */
static int
find_most_paths(struct flow_search *search, struct limits *limits,
                struct error *error)
{
	const struct hidden before = *limits->hidden;
	const uint64_t first = limits->least < 2 ? 2 : limits->least * 2;
	unsigned low = 0, high = 0, last = UINT_MAX;
	uint64_t most;

	if (find_paths(search, limits, error) != 0)
		return -1;
	if (!search->is_full)
		return 0;
	/* There is always room for the root alone, or for none of several. */
	most = limits->request->root != NO_NAME ? search->records[0].hits :
	       search->steps.flow->total;
	while (most >> high >= first)
		high++;
	while (low < high || last != high) {
		last = (low + high) / 2;
		if (search_again(search, limits, &before, first << last,
		                 error) != 0)
			return -1;
		if (search->is_full)
			low = last + 1;
		else
			high = last;
	}
	return 0;
}

/* Writes a record's names to search->path, outermost first. */
static int
get_path(struct flow_search *search, uint32_t number, struct error *error)
{
	uint32_t n = search->records[number].length, i = 0;

	if (memory_grow(&search->path, &search->path_capacity, n,
	                sizeof *search->path, error) != 0)
		return -1;
	for (uint32_t r = number; r != NO_RECORD;
	     r = search->records[r].parent, i++)
		search->path[search->steps.is_up ? i : n - 1 - i] =
		    search->records[r].name;
	return 0;
}

/* The values of the same paths in the flow of another resource. */
static int
count_column(struct flow_search *search, const struct call_flow *flow,
             struct rows *rows, uint64_t *column, struct error *error)
{
	struct flow_steps steps = { 0 };
	int status = flow_steps_begin(&steps, flow, error);

	for (uint32_t row = 0; status == 0 && row < rows->n; row++) {
		bool is_estimated = false;

		status = get_path(search, row, error);
		if (status == 0)
			status = flow_steps_value(&steps, search->path,
			    search->records[row].length, &column[row],
			    &is_estimated, error);
		rows->items[row].is_estimated |= is_estimated;
		if (status == 0 && row % ROWS_A_STEP == 0)
			status = progress_step(NULL, 0, 0, error);
	}
	flow_steps_end(&steps);
	return status;
}

static int
count_columns(struct flow_search *search, const struct view_request *request,
              struct rows *rows, struct error *error)
{
	int status = rows_make_columns(rows, request, rows->n, error);

	for (size_t i = 0; status == 0 && i < request->n_columns; i++)
		status = count_column(search, request->columns[i].flow, rows,
		                      rows->columns[i], error);
	return status;
}

/* Only a root may be below the threshold, or too long. */
static int
flow_paths_make_rows(const struct flow_search *search,
                     const struct limits *limits, struct rows *rows,
                     struct error *error)
{
	uint32_t n = search->n_records;
	bool has_root = limits->request->root != NO_NAME;
	bool is_hidden = has_root && search->records[0].hits < limits->least;

	if (has_root && (is_hidden || limits->request->depth < 1)) {
		limits->hidden->below_threshold += is_hidden;
		limits->hidden->too_long += !is_hidden;
		n = 0;
	}
	rows->are_paths = true;
	if (rows_make(rows, limits->request->set, n, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct flow_record *record = &search->records[i];

		rows->items[rows->n++] = (struct row){
			.hits = record->hits,
			.is_estimated = record->is_estimated,
			.name = record->name,
			.parent = record->parent,
		};
	}
	return 0;
}

static int
search_paths(bool is_up, struct rows *rows, const struct view_request *request,
             const struct measure *measure, struct hidden *hidden,
             struct error *error)
{
	struct flow_search search = { .steps = { .is_up = is_up } };
	struct limits limits = { request, measure->least, hidden };
	int status = flow_paths_search_begin(&search, request->set->flow,
	                                     error);

	if (status == 0)
		status = find_most_paths(&search, &limits, error);
	if (status == 0)
		status = flow_paths_make_rows(&search, &limits, rows, error);
	if (status == 0)
		status = count_columns(&search, request, rows, error);
	flow_paths_search_end(&search);
	return status;
}

/* ---- compared runs ---- */

/* Keeps the largest count of either search. */
static void
merge_hidden(struct hidden *all, const struct hidden *one)
{
	if (one->below_threshold > all->below_threshold)
		all->below_threshold = one->below_threshold;
	if (one->too_long > all->too_long)
		all->too_long = one->too_long;
	if (one->least_searched > all->least_searched)
		all->least_searched = one->least_searched;
}

/* Adds the paths of one run to those of all. */
static int
search_run(bool is_up, struct path_trie *all,
           const struct view_request *request, const struct sample_set *run,
           uint64_t least, struct hidden *hidden, struct error *error)
{
	struct flow_search search = { .steps = { .is_up = is_up } };
	struct hidden own = { 0 };
	struct limits limits = { request, least, &own };
	uint32_t *record = NULL;
	int status = flow_paths_search_begin(&search, run->flow, error);

	if (status == 0)
		status = find_most_paths(&search, &limits, error);
	if (status == 0)
		record = memory_array(search.n_records, sizeof *record, error);
	if (record == NULL)
		status = -1;
	for (uint32_t i = request->root != NO_NAME;
	     status == 0 && i < search.n_records; i++) {
		uint32_t parent = search.records[i].parent;

		record[i] = path_trie_child(all,
		    parent == NO_RECORD ? 0 : record[parent],
		    search.records[i].name, error);
		if (record[i] == NO_RECORD)
			status = -1;
	}
	merge_hidden(hidden, &own);
	free(record);
	flow_paths_search_end(&search);
	return status;
}

/* The paths of a trie as records without hits; has_root: record 0 is one. */
static int
take_records(struct flow_search *search, const struct path_trie *trie,
             bool has_root, struct error *error)
{
	const uint32_t first = has_root ? 0 : 1;

	search->records = memory_array(trie->n_records,
	                               sizeof *search->records, error);
	if (search->records == NULL)
		return -1;
	search->n_records = trie->n_records - first;
	for (uint32_t i = 0; i < search->n_records; i++) {
		uint32_t parent = trie->records[i + first].parent;

		if (!has_root)
			parent = parent == 0 ? NO_RECORD : parent - 1;
		search->records[i] = (struct flow_record){
			.parent = parent,
			.name = trie->records[i + first].name,
			.length = parent == NO_RECORD ? 1 :
			    search->records[parent].length + 1,
		};
	}
	return 0;
}

/* Makes the hits of each row the sum of its columns. */
static void
sum_columns(struct rows *rows)
{
	for (uint32_t row = 0; row < rows->n; row++) {
		rows->items[row].hits = 0;
		for (size_t i = 0; i < rows->n_columns; i++)
			rows->items[row].hits += rows->columns[i][row];
	}
}

/*
 * Each run is searched by itself: a path can be in one of them alone.  If the
 * runs of a side have the least hits of a path together, one has its part.
 */
static int
search_runs(bool is_up, struct rows *rows, const struct view_request *request,
            const struct measure *measure, struct hidden *hidden,
            struct error *error)
{
	struct flow_search all = { .steps = { .is_up = is_up } };
	struct limits limits = { request, 0, hidden };
	size_t n_base = request->compared->n_base;
	size_t n_now = view_count_runs(request) - n_base;
	uint64_t least = measure->least / (n_base > n_now ? n_base : n_now);
	struct path_trie trie;
	int status;

	if (path_trie_begin(&trie, request->root, 0, error) != 0)
		return -1;
	status = flow_paths_search_begin(&all, request->set->flow, error);
	for (size_t i = 0; status == 0 && i < request->n_columns; i++)
		status = search_run(is_up, &trie, request,
		                    &request->columns[i], least, hidden,
		                    error);
	if (status == 0)
		status = take_records(&all, &trie, request->root != NO_NAME,
		                      error);
	if (status == 0)
		status = flow_paths_make_rows(&all, &limits, rows, error);
	if (status == 0)
		status = count_columns(&all, request, rows, error);
	if (status == 0)
		sum_columns(rows);
	flow_paths_search_end(&all);
	path_trie_free(&trie);
	return status;
}

/* ---- views ---- */

int
flow_paths_down(struct rows *rows, const struct view_request *request,
                const struct measure *measure, struct hidden *hidden,
                struct error *error)
{
	return (request->compared != NULL ? search_runs : search_paths)(false,
	    rows, request, measure, hidden, error);
}

int
flow_paths_up(struct rows *rows, const struct view_request *request,
              const struct measure *measure, struct hidden *hidden,
              struct error *error)
{
	return (request->compared != NULL ? search_runs : search_paths)(true,
	    rows, request, measure, hidden, error);
}
