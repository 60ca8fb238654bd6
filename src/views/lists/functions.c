/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions.c -- views with a row per function: body, functions, find, and the
 * outermost functions.
 *
 * Cost: one pass over the nodes, O(N) for any D; M <= F rows.
 */
#include "src/views/lists/lists.h"

#include <stdlib.h>

static const struct view_kind body_kind = {
	.schema = "cpprof.functions/1",
	.has_columns = true,
	.title = "Body Function Profile",
};

static const struct view_kind functions_kind = {
	.schema = "cpprof.functions/1",
	.has_columns = true,
	.title = "Body+Descendants Function Profile",
};

static const struct view_kind find_kind = {
	.schema = "cpprof.functions/1",
	.has_columns = true,
	.title = "Functions Found (Body+Descendants)",
};

static const struct view_kind outermost_kind = {
	.schema = "cpprof.functions/1",
	.has_root = true,
	.has_columns = true,
	.title = "Outermost Functions (Body+Descendants)",
};

static uint64_t
functions_body_of(const struct function_total *total)
{
	return total->self;
}

static uint64_t
inclusive_of(const struct function_total *total)
{
	return total->inclusive;
}

/* wanted: [names] which functions may be rows; NULL: all. */
static void
keep_functions(struct rows *rows, const struct function_total *totals,
               const struct view_request *request,
               uint64_t (*hits_of)(const struct function_total *total),
               const bool *wanted, uint64_t least, struct hidden *hidden)
{
	uint32_t n = rows->n;

	rows->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t hits = hits_of(&totals[i]);

		if (!view_wants(request, totals[i].name) ||
		    (wanted != NULL && !wanted[totals[i].name]))
			continue;
		if (hits < least) {
			hidden_add_small(hidden, totals[i].name, hits);
			continue;
		}
		rows->name[rows->n] = totals[i].name;
		if (rows->is_estimated != NULL)
			rows->is_estimated[rows->n] = totals[i].is_estimated &&
			    hits_of != functions_body_of;
		if (rows->returns != NULL)
			rows->returns[rows->n] = totals[i].returns;
		rows->hits[rows->n++] = hits;
	}
}

static int
show_functions(const struct view_request *request,
               const struct view_kind *kind,
               uint64_t (*hits_of)(const struct function_total *total),
               const bool *wanted, struct measure measure,
               struct table *table, struct error *error)
{
	struct hidden hidden = { 0 };
	struct rows rows = { 0 };
	uint32_t n;
	struct function_total *totals = function_totals(request->set, &n,
	                                                error);

	if (totals == NULL)
		return -1;
	if (rows_of_functions(&rows, request->set, n, error) != 0) {
		rows_free(&rows);
		free(totals);
		return -1;
	}
	rows.are_bodies = kind == &body_kind;
	keep_functions(&rows, totals, request, hits_of, wanted, measure.least,
	               &hidden);
	free(totals);
	if (rows_count_functions(&rows, request, rows.are_bodies,
	                         error) != 0) {
		rows_free(&rows);
		return -1;
	}
	return rows_show(&rows, request, kind, &measure, &hidden, table,
	                 error);
}

int
view_body(const struct view_request *request, struct table *table,
          struct error *error)
{
	return show_functions(request, &body_kind, functions_body_of, NULL,
	                      measure_of(request), table, error);
}

int
view_functions(const struct view_request *request, struct table *table,
               struct error *error)
{
	return show_functions(request, &functions_kind, inclusive_of, NULL,
	                      measure_of(request), table, error);
}

/* Shows all functions that match, however small. */
int
view_find(const struct view_request *request, struct table *table,
          struct error *error)
{
	struct measure measure = measure_of(request);

	measure.least = 0;
	return show_functions(request, &find_kind, inclusive_of, NULL,
	                      measure, table, error);
}

int
view_outermost(const struct view_request *request, struct table *table,
               struct error *error)
{
	bool *are_outermost = outermost_functions(request->set, error);
	int status;

	if (are_outermost == NULL)
		return -1;
	status = show_functions(request, &outermost_kind, inclusive_of,
	                        are_outermost, measure_of(request), table,
	                        error);
	free(are_outermost);
	return status != 0 ? -1 :
	    table_add_footer(table, error, "\"down FUNCTION\" lists the paths "
	                     "below a function, \"root FUNCTION\" makes it the "
	                     "root");
}
