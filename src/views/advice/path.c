/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path.c -- one call path, and what the run would take if it were free.
 *
 * Cost: one pass over the nodes, O(N) for any D and k (path_hits.c).
 */
#include "src/views/advice/advice.h"

#include "src/base/memory.h"
#include "src/views/comparison/comparison.h"
#include "src/views/lists/lists.h"
#include "src/views/rows/rows.h"

static const struct view_kind path_kind = {
	.schema = "cpprof.paths/1",
	.title = "Call Path",
	.has_columns = true,
};

struct path_value {
	uint64_t hits;
	struct when_times times;	/* if the request wants them and the
					 * set has them */
	bool is_estimated;
	bool is_canonical;	/* otherwise no stack can have this path */
	bool is_seen;		/* it is in a stack; always true where there
				 * are no stacks */
};

static int
path_value_of(const struct view_request *request, struct path_value *value,
              struct error *error)
{
	const struct sample_set *set = request->set;
	struct path_hits found;

	*value = (struct path_value){ 0 };
	if (set->flow == NULL) {
		if (path_hits_find(set, request->path, request->n_path, &found,
		                   request->has_when &&
		                   set->tree->timeline != NULL ?
		                   value->times.hits : NULL,
		                   error) != 0)
			return -1;
		value->hits = found.hits;
		value->is_seen = found.is_seen;
		value->is_canonical = found.is_canonical;
		return 0;
	}
	if (path_is_canonical(set, request->path, request->n_path,
	                      &value->is_canonical, error) != 0)
		return -1;
	value->is_seen = value->is_canonical;
	return !value->is_canonical ? 0 :
	    flow_path_value(set->flow, request->path, request->n_path,
	                    &value->hits, &value->is_estimated, error);
}

/* The path's hits of the request's own set and of its columns. */
static int
get_values(const struct view_request *request, const struct path_value *value,
           struct row_values *values, struct error *error)
{
	struct view_request other = *request;

	values->hits[0] = value->hits;
	values->is_estimated = value->is_estimated;
	other.has_when = false;
	for (size_t i = 0; i < request->n_columns; i++) {
		struct path_value its;

		other.set = &request->columns[i];
		if (path_value_of(&other, &its, error) != 0)
			return -1;
		values->hits[i + 1] = its.hits;
		values->is_estimated |= its.is_estimated;
	}
	return 0;
}

/* Adds the one row. */
static int
path_add_row(const struct view_request *request, const struct measure *measure,
             const struct path_value *value, struct table *table,
             struct error *error)
{
	struct row_shape shape;
	struct row_values values = { 0 };
	struct when_text text;
	struct cell cells[TABLE_MAX_COLUMNS];

	values.path = table_path(table, request->set->names, request->path,
	                         request->n_path, error);
	if (error->is_set)
		return -1;
	if (rows_add_columns(&shape, request, measure, true, false, table,
	                     error) != 0 ||
	    get_values(request, value, &values, error) != 0)
		return -1;
	when_draw(&shape.when, &value->times, &text);
	values.when = table_text(table, error, "%s", text.text);
	if (values.when == NULL)
		return -1;
	row_shape_cells(&shape, &values, cells);
	return table_add_row(table, cells, error);
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
path_describe_saving(const struct sample_set *set,
                     const struct path_value *value, struct table *table,
                     struct error *error)
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

/* If the path cannot have hits, or is in no stack, says so. */
static int
path_explain(const struct path_value *value, struct table *table,
             struct error *error)
{
	if (!value->is_canonical)
		return table_add_footer(table, error, "this path cannot "
		    "have hits: only its last function may occur twice");
	return value->is_seen ? 0 :
	    table_add_footer(table, error, "no stack has this path");
}

/* The path's hits in each of the runs that the request compares. */
static int
fill_row(const struct view_request *request, const struct path_value *value,
         struct rows *rows, struct table *table, struct error *error)
{
	const struct cell path = table_path(table, request->set->names,
	                                    request->path, request->n_path,
	                                    error);
	struct row_values values = { 0 };

	rows->record = memory_array(1, sizeof *rows->record, error);
	if (error->is_set ||
	    rows_of_functions(rows, request->set, 1, error) != 0 ||
	    rows_make_columns(rows, request, 1, error) != 0 ||
	    get_values(request, value, &values, error) != 0)
		return -1;
	rows->paths = path.path.paths;
	rows->record[0] = path.path.record;
	rows->name[0] = request->path[request->n_path - 1];
	rows->hits[0] = values.hits[0];
	for (size_t i = 0; i < request->n_columns; i++)
		rows->columns[i][0] = values.hits[i + 1];
	if (rows->is_estimated != NULL)
		rows->is_estimated[0] = values.is_estimated;
	return 0;
}

/* Whatever the threshold: this is the path that was asked for. */
static int
path_compare(const struct view_request *request, const struct path_value *value,
             struct table *table, struct error *error)
{
	const struct measure measure = { 0 };
	struct hidden hidden = { 0 };
	struct rows rows = { 0 };

	if (fill_row(request, value, &rows, table, error) != 0) {
		rows_free(&rows);
		return -1;
	}
	return rows_compare(&rows, request, &path_kind, &measure, false,
	                    &hidden, table, error) != 0 ? -1 :
	    path_explain(value, table, error);
}

int
view_path(const struct view_request *request, struct table *table,
          struct error *error)
{
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	struct path_value value;

	if (request->n_path == 0)
		return error_set(error, "path needs a call path");
	if (request->n_path > INT32_MAX)
		return error_set(error, "call path of more than %d functions",
		                 INT32_MAX);
	if (path_value_of(request, &value, error) != 0)
		return -1;
	if (request->compared != NULL)
		return path_compare(request, &value, table, error);
	if (view_describe(request, &path_kind, &measure, &hidden, table,
	                  error) != 0 ||
	    path_describe_saving(request->set, &value, table, error) != 0 ||
	    path_explain(&value, table, error) != 0)
		return -1;
	return path_add_row(request, &measure, &value, table, error);
}
