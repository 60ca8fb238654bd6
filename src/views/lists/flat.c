/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flat.c -- gprof's flat profile: bodies, most expensive first, and running
 * sums.
 *
 * Source: Graham, Kessler & McKusick 1982, with the true body+descendants
 * beside each body.
 */
#include "src/views/lists/lists.h"

static const struct view_kind flat_kind = {
	.schema = "cpprof.flat/1",
	.title = "Flat Profile",
	.has_columns = true,
};

/* Whether the input counts calls. */
static bool
has_calls(const struct sample_set *set)
{
	return set->flow != NULL && set->flow->has_calls;
}

/* Whether some returns were seen. */
static bool
has_returns(const struct sample_set *set)
{
	return set->flow == NULL && set->tree->returns != NULL;
}

/* Beside other resources there is less room. */
static void
flat_add_columns(struct table *table, const struct view_request *request)
{
	const struct sample_set *set = request->set;
	bool is_alone = request->n_shown == 0;

	table_add_column(table, "fraction", "%",
	                 CELL_PERCENT)->gives_way = true;
	table_add_column(table, "cumulative", "cumulative",
	                 CELL_HITS)->is_data_only = !is_alone;
	table_add_column(table, "hits", "self", CELL_HITS);
	table_add_column(table, "inclusive", is_alone ? "self+descendants" :
	                 "self+desc", CELL_HITS)->short_title = "self+desc";
	if (set->flow != NULL)
		table_add_column(table, "estimated", "~", CELL_FLAG)->mark =
		    '~';
	if (has_calls(set)) {
		table_add_column(table, "calls", "calls", CELL_COUNT);
		table_add_column(table, "self_per_call", "self/call",
		                 CELL_FRACTION);
		table_add_column(table, "inclusive_per_call", "total/call",
		                 CELL_FRACTION);
	}
	if (has_returns(set))
		table_add_column(table, "returns", "returns", CELL_COUNT);
}

/* Gticks per call; empty where no calls are known. */
static struct cell
per_call(uint64_t hits, uint64_t calls, uint64_t interval)
{
	if (calls == 0)
		return (struct cell){ .kind = CELL_EMPTY };
	return cell_fraction((double)hits * (double)interval / (double)calls);
}

/*
 * Averages are right with recursion, too: inclusive counts nothing twice.
 */
static uint32_t
flat_fill(struct cell *cells, const struct body_row *row,
          const struct sample_set *set, const struct measure *measure)
{
	const struct function_total *total = row->total;
	const uint64_t interval = set->resource->interval;
	uint32_t n = 0;

	cells[n++] = cell_percent(measure_fraction(measure, total->self));
	cells[n++] = cell_hits(row->cumulative);
	cells[n++] = cell_hits(total->self);
	cells[n++] = cell_hits(total->inclusive);
	if (set->flow != NULL)
		cells[n++] = cell_flag(total->is_estimated);
	if (has_calls(set)) {
		cells[n++] = total->calls > 0 ? cell_count(total->calls) :
		             (struct cell){ .kind = CELL_EMPTY };
		cells[n++] = per_call(total->self, total->calls, interval);
		cells[n++] = per_call(total->inclusive, total->calls,
		                      interval);
	}
	if (has_returns(set))
		cells[n++] = cell_count(total->returns);
	return n;
}

int
view_flat(const struct view_request *request, struct table *table,
          struct error *error)
{
	static const struct body_view view = {
		.kind = &flat_kind,
		.add_columns = flat_add_columns,
		.fill = flat_fill,
	};

	return view_bodies(request, &view, table, error);
}
