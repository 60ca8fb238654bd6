/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path.c -- one call path, and what the run would take if it were free.
 *
 * Cost: one pass over the nodes, O(N) for any D and k (path_hits.c).
 */
#include "src/views/advice/advice.h"

#include "src/views/lists/lists.h"

/* The path's value in a set. */
static int
path_value_of(const struct view_request *request, const struct sample_set *set,
              struct path_hits *value, bool *is_estimated, struct error *error)
{
	*is_estimated = false;
	if (set->flow == NULL)
		return path_hits_find(set, request->path, request->n_path,
		                      value, NULL, error);
	*value = (struct path_hits){ 0 };
	if (path_is_canonical(set, request->path, request->n_path,
	                      &value->is_canonical, error) != 0)
		return -1;
	value->is_seen = value->is_canonical;	/* where there are no stacks */
	return !value->is_canonical ? 0 :
	    flow_path_value(set->flow, request->path, request->n_path,
	                    &value->hits, is_estimated, error);
}

/* One row, whatever the threshold: this is the path that was asked for. */
static int
collect_path(struct list *list, struct table *table, struct error *error)
{
	const struct view_request *request = list->request;
	struct rows *rows = &list->rows;
	struct path_hits value;
	bool is_estimated;

	if (request->n_path == 0)
		return error_set(error, "path needs a call path");
	if (request->n_path > INT32_MAX)
		return error_set(error, "call path of more than %d functions",
		                 INT32_MAX);
	if (request->compared != NULL)
		list->measure = (struct measure){ 0 };
	if (path_value_of(request, request->set, &value, &is_estimated,
	                  error) != 0 ||
	    rows_make(rows, request->set, 1, error) != 0 ||
	    rows_make_columns(rows, request, 1, error) != 0)
		return -1;
	rows->n = 1;
	rows->has_returns = false;
	rows->items[0] = (struct row){
		.hits = value.hits,
		.is_estimated = is_estimated,
		.name = request->path[request->n_path - 1],
		.parent = NO_RECORD,
	};
	rows->path = table_path(table, request->set->names, request->path,
	                        request->n_path, error);
	if (error->is_set)
		return -1;
	list->lack = !value.is_canonical ? "this path cannot have hits: only "
	    "its last function may occur twice" :
	    value.is_seen ? NULL : "no stack has this path";
	for (size_t i = 0; i < request->n_columns; i++) {
		if (path_value_of(request, &request->columns[i], &value,
		                  &is_estimated, error) != 0)
			return -1;
		rows->columns[i][0] = value.hits;
		rows->items[0].is_estimated |= is_estimated;
	}
	return 0;
}

/*
 * Adds hits in gticks, in the unit of the run's total; null if that exceeds 64
 * bits.
 */
static int
describe_gticks(const struct sample_set *set, uint64_t hits, const char *key,
                const char *title, struct table *table, struct error *error)
{
	uint64_t interval = set->resource->interval, gticks, whole;

	if (__builtin_mul_overflow(hits, interval, &gticks))
		return table_add_field(table, key, NULL,
		                       (struct cell){ .kind = CELL_EMPTY },
		                       error);
	if (__builtin_mul_overflow(set->total, interval, &whole))
		whole = 0;
	return table_add_field(table, key, title,
	                       cell_gticks_of(gticks, whole), error);
}

/* What of a saving is not known has no value. */
static struct cell
if_saved(const struct saving *saving, struct cell value)
{
	return saving->kind != SAVING_NONE ? value :
	    (struct cell){ .kind = CELL_EMPTY };
}

/*
 * Savings are always of the whole run, whatever percentages are relative to.
 * A sentence compares the run's use with its use without the path; data formats
 * have these as fields.
 */
static int
path_describe_saving(const struct sample_set *set, const struct row *value,
                     struct table *table, struct error *error)
{
	struct measure run = { .denominator = set->total };
	uint64_t hits = value->hits, before, after;
	double share = measure_fraction(&run, hits);
	uint64_t left = hits < set->total ? set->total - hits : 0;
	struct saving saving;

	if (saving_of(set, &saving, table, error) != 0 ||
	    describe_gticks(set, hits, "gticks", "used", table, error) != 0 ||
	    describe_gticks(set, set->total, "total_gticks", NULL, table,
	                    error) != 0 ||
	    table_add_field(table, "share", value->is_estimated ?
	                    "estimated share of the run" : "share of the run",
	                    cell_fraction(share), error) != 0 ||
	    table_add_field(table, "saved", NULL,
	                    if_saved(&saving, cell_fraction(share)),
	                    error) != 0 ||
	    table_add_field(table, "new_total", NULL,
	                    if_saved(&saving, cell_hits(left)), error) != 0 ||
	    (saving.kind == SAVING_NONE ?
	     table_add_field(table, "new_total_gticks", NULL,
	                     (struct cell){ .kind = CELL_EMPTY }, error) :
	     describe_gticks(set, left, "new_total_gticks", NULL, table,
	                     error)) != 0)
		return -1;
	if (hits == 0 ||
	    __builtin_mul_overflow(set->total, set->resource->interval,
	                           &before) ||
	    __builtin_mul_overflow(left, set->resource->interval, &after))
		return 0;
	return saving_add_line(&saving, set, "without this path",
	                       value->is_estimated, after, before, table,
	                       error) != 0 ? -1 :
	    saving_add_lack(&saving, set, hits, table, error);
}

static int
describe_called_path(const struct list *list, struct table *table,
              struct error *error)
{
	if (list->request->compared == NULL &&
	    path_describe_saving(list->set, &list->rows.items[0], table,
	                         error) != 0)
		return -1;
	return list->lack == NULL ? 0 :
	    table_add_footer(table, error, "%s", list->lack);
}

static const struct list_view path_list = {
	.kind = { .schema = "cpprof.paths/1", .title = "Call Path",
	          .has_columns = true },
	.collect = collect_path,
	.describe = describe_called_path,
};

int
view_path(const struct view_request *request, struct table *table,
          struct error *error)
{
	return list_show(&path_list, request, NULL, table, error);
}
