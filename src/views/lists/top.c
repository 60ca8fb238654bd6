/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top.c -- the functions whose own bodies used most, each with its total.
 *
 * The two numbers say together what to do: a function that is expensive by
 * itself can be made faster, one that is expensive with its descendants can be
 * called less.
 */
#include "src/views/lists/lists.h"

static const struct view_kind top_kind = {
	.schema = "cpprof.top/1",
	.title = "Top Functions",
	.has_columns = true,
};

/* Beside other resources there is less room. */
static void
top_add_columns(struct table *table, const struct view_request *request)
{
	bool is_alone = request->n_shown == 0;
	struct column *fraction;

	table_add_column(table, "hits", "self", CELL_HITS);
	table_add_column(table, "fraction", "%",
	                 CELL_PERCENT)->gives_way = true;
	table_add_column(table, "inclusive", is_alone ? "self+descendants" :
	                 "self+desc", CELL_HITS)->short_title = "self+desc";
	fraction = table_add_column(table, "inclusive_fraction", "%",
	                            CELL_PERCENT);
	fraction->is_data_only = !is_alone;
	fraction->gives_way = true;
	if (request->set->flow != NULL)
		table_add_column(table, "estimated", "~", CELL_FLAG)->mark =
		    '~';
}

static uint32_t
top_fill(struct cell *cells, const struct body_row *row,
         const struct sample_set *set, const struct measure *measure)
{
	const uint64_t self = row->total->self;
	const uint64_t inclusive = row->total->inclusive;
	uint32_t n = 0;

	cells[n++] = cell_hits(self);
	cells[n++] = cell_percent(measure_fraction(measure, self));
	cells[n++] = cell_hits(inclusive);
	cells[n++] = cell_percent(measure_fraction(measure, inclusive));
	if (set->flow != NULL)
		cells[n++] = cell_flag(row->total->is_estimated);
	return n;
}

int
view_top(const struct view_request *request, struct table *table,
         struct error *error)
{
	static const struct body_view view = {
		.kind = &top_kind,
		.compares_totals = true,
		.add_columns = top_add_columns,
		.fill = top_fill,
	};

	return view_bodies(request, &view, table, error);
}
