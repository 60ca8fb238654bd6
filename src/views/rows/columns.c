/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c -- several resources side by side, and what they say together. */
#include "src/views/rows/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/noise/noise.h"

static const struct sample_set *
columns_set_of(const struct view_request *request, uint32_t set)
{
	return set == 0 ? request->set : &request->columns[set - 1];
}

static bool
columns_is_own(const struct shown_column *column)
{
	return column->kind == SHOWN_HITS && column->left == 0;
}

/* Whether shares are to have errors, and these are known. */
static bool
columns_has_errors(const struct view_request *request)
{
	return request->has_noise && noise_is_known(request);
}

struct column_view
columns_of(const struct view_request *request, const struct measure *measure)
{
	struct column_view view = {
		.shown = request->shown,
		.n_shown = request->n_shown,
		.measures = { *measure },
		.has_error = columns_has_errors(request),
		.shows_percent = request->n_shown > 0,
		.resource = request->set->resource,
		.samples = request->samples,
		.groups = group_noise_of(request),
	};
	struct view_request other = *request;

	if (request->groups != NULL)
		view.first_group = request->n_columns - request->groups->n + 1;
	for (size_t i = 0; (view.n_shown > 0 || view.samples > 0 ||
	     request->groups != NULL) && i < request->n_columns; i++) {
		other.set = &request->columns[i];
		view.measures[i + 1] = measure_of(&other);
	}
	while (view.own < view.n_shown &&
	       !columns_is_own(&view.shown[view.own]))
		view.own++;
	return view;
}

/* ---- headings ---- */

static void
add_operand(struct text_buffer *text, const struct view_request *request,
            uint32_t set, double factor)
{
	if (factor != 1)
		text_add_format(text, "%.15g x ", factor);
	text_add_string(text, columns_set_of(request, set)->resource->name);
}

/* "page-faults per ms of cpu", "4 x cycles - instructions", "real in ms - cpu" */
static void
add_formula(struct text_buffer *text, const struct view_request *request,
            const struct shown_column *column)
{
	const char *left = column->left_unit, *right = column->right_unit;

	add_operand(text, request, column->left, column->left_factor);
	if (column->kind == SHOWN_DIFFERENCE) {
		text_add_string(text, " - ");
		add_operand(text, request, column->right,
		            column->right_factor);
		if (*left != '\0')
			text_add_format(text, ", in %s", left);
		return;
	}
	if (*left != '\0')
		text_add_format(text, " in %s", left);
	if (*right != '\0')
		text_add_format(text, " per %s of ", right);
	else
		text_add_string(text, " / ");
	text_add_string(text,
	                columns_set_of(request, column->right)->resource->name);
}

/* "80 hits, one per 50 faults"; "80 samples, 4150 faults" */
static void
columns_add_amount(struct text_buffer *text, const struct sample_set *set)
{
	if (hits_have_unit(set)) {
		if (set->flow == NULL && set->n_samples != set->total)
			text_add_format(text, "%" PRIu64 " sample%s, ",
			                set->n_samples,
			                set->n_samples == 1 ? "" : "s");
		text_add_hits(text, set, set->total);
		return;
	}
	text_add_format(text, "%" PRIu64 " hit%s", set->total,
	                set->total == 1 ? "" : "s");
	if (set->n_samples != set->total)
		text_add_format(text, " in %" PRIu64 " sample%s",
		                set->n_samples, set->n_samples == 1 ? "" : "s");
	if (set->resource->interval == 1 && (*set->resource->gtick == '\0' ||
	    strcmp(set->resource->gtick, "sample") == 0))
		return;
	text_add_string(text, set->n_samples != set->total ?
	                ", one hit per " : ", one per ");
	text_add_interval(text, set->resource->interval,
	                  set->resource->gtick);
}

/* The key "before.NAME.after", which lives as long as the table. */
static const char *
make_key(const struct shown_column *column, const char *before,
         const char *after, struct table *table, struct error *error)
{
	return table_text(table, error, "%s%s.%s", before, column->name,
	                  after);
}

static int
columns_add_field(const struct shown_column *column, const char *what,
                  struct cell value, struct table *table, struct error *error)
{
	const char *key = make_key(column, "columns.", what, table, error);

	return key == NULL ? -1 :
	    table_add_field(table, key, NULL, value, error);
}

static int
columns_add_fields(const struct view_request *request,
                   const struct shown_column *column,
                   const struct measure *measure, const char *formula,
                   struct table *table, struct error *error)
{
	const struct sample_set *set = columns_set_of(request, column->left);
	const struct {
		const char *what;
		struct cell value;
	} fields[] = {
		{ "total", cell_count(set->total) },
		{ "denominator", cell_count(measure->denominator) },
		{ "gtick", cell_text(set->resource->gtick) },
		{ "interval", cell_count(set->resource->interval) },
	};

	if (column->kind != SHOWN_HITS)
		return columns_add_field(column, "formula", cell_text(formula),
		                         table, error);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (columns_add_field(column, fields[i].what, fields[i].value,
		                      table, error) != 0)
			return -1;
	return 0;
}

static int
describe_column(const struct view_request *request,
                const struct shown_column *column,
                const struct measure *measure, struct table *table,
                struct error *error)
{
	struct text_buffer text = { 0 };
	const char *line;

	if (column->kind == SHOWN_HITS)
		columns_add_amount(&text,
		                   columns_set_of(request, column->left));
	else
		add_formula(&text, request, column);
	line = text_move(&text, &table->arena, error);
	if (line == NULL || table_add_header(table, error, "%s: %s",
	                                     column->name, line) != 0)
		return -1;
	return columns_add_fields(request, column, measure, line, table, error);
}

/* Where the errors come from, if that is random groups. */
static int
describe_groups(const struct fleet_groups *groups, struct table *table,
                struct error *error)
{
	double members = 0, t = student_two_sided_quantile(0.05, groups->n - 1);

	for (uint32_t g = 0; g < groups->n; g++)
		members += groups->members[g];
	return table_add_header(table, error, "+-: the share's standard error, "
	    "by leaving out each of %" PRIu32 " random groups of the %.0f "
	    "members (jackknife); %.1f times that is a 95%% interval",
	    groups->n, members, t) != 0 ? -1 :
	    table_add_header(table, error, "+-?: unknown, since fewer than two "
	                     "groups have hits of it");
}

int
columns_describe_errors(const struct view_request *request,
                        struct table *table, struct error *error)
{
	if (request->no_groups != NULL)
		return table_add_header(table, error, "no errors are shown: %s",
		                        request->no_groups);
	if (request->groups != NULL)
		return describe_groups(request->groups, table, error);
	if (columns_has_errors(request))
		return table_add_header(table, error, "+-: the share's "
		    "standard error by sampling; twice that is a 95%% "
		    "interval");
	return table_add_header(table, error,
	    request->set->resource->counting == COUNTING_EXACT ?
	    "no errors are shown: the counts are exact" :
	    "no errors are shown: the file does not say how its numbers were "
	    "sampled");
}

int
columns_describe(const struct view_request *request,
                 const struct measure *measure, struct table *table,
                 struct error *error)
{
	const struct column_view view = columns_of(request, measure);

	if (request->has_noise &&
	    columns_describe_errors(request, table, error) != 0)
		return -1;

	for (size_t i = 0; i < view.n_shown; i++)
		if (i != view.own &&
		    describe_column(request, &view.shown[i],
		                    &view.measures[view.shown[i].left], table,
		                    error) != 0)
			return -1;
	return 0;
}

static int
columns_add_column(const struct view_request *request,
                   const struct shown_column *shown, struct table *table,
                   struct error *error)
{
	const struct resource *resource =
	    columns_set_of(request, shown->left)->resource;
	const char *key = make_key(shown, "", shown->kind == SHOWN_HITS ?
	                           "hits" : "value", table, error);
	struct column *column;

	if (key == NULL)
		return -1;
	if (shown->kind != SHOWN_HITS) {
		table_add_column(table, key, shown->name, CELL_NUMBER);
		return 0;
	}
	column = table_add_column(table, key, shown->name, CELL_HITS);
	column->gtick = resource->gtick;
	column->interval = resource->interval;
	column->has_unit = hits_have_unit(columns_set_of(request, shown->left));
	key = make_key(shown, "", "fraction", table, error);
	if (key == NULL)
		return -1;
	table_add_column(table, key, "%", CELL_PERCENT)->gives_way = true;
	return 0;
}

/* The place of the request's own set. */
static size_t
place_of_own(const struct view_request *request)
{
	size_t i = 0;

	while (i < request->n_shown && !columns_is_own(&request->shown[i]))
		i++;
	return i;
}

int
columns_add_before(const struct view_request *request, struct table *table,
                   struct error *error)
{
	size_t own = place_of_own(request);

	for (size_t i = 0; i < own; i++)
		if (columns_add_column(request, &request->shown[i], table,
		                       error) != 0)
			return -1;
	return 0;
}

/* The error is of the column `fraction`, and shown like that. */
static void
add_error_column(struct table *table)
{
	enum cell_kind kind = CELL_FRACTION;
	bool has_totals = false;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (strcmp(table->columns[i].key, "fraction") == 0)
			kind = table->columns[i].kind;
		has_totals |= strcmp(table->columns[i].key, "inclusive") == 0;
	}
	/* A fraction is in the pattern of a row, after "+-". */
	table_add_column(table, "error", kind == CELL_FRACTION ? "error" :
	                 has_totals ? "self+-" : "+-", kind);
}

int
columns_add_after(const struct view_request *request, struct table *table,
                  struct error *error)
{
	if (columns_has_errors(request))
		add_error_column(table);
	for (size_t i = place_of_own(request) + 1; i < request->n_shown; i++)
		if (columns_add_column(request, &request->shown[i], table,
		                       error) != 0)
			return -1;
	return 0;
}

/* ---- rows ---- */

/* What a ratio or difference is: empty, a number, or a number / 0. */
static struct cell
columns_derive(const struct shown_column *column, const uint64_t *values)
{
	long double left = (long double)values[column->left] *
	                   column->left_scale;
	long double right = (long double)values[column->right] *
	                    column->right_scale;

	if (column->kind == SHOWN_DIFFERENCE)
		return cell_number((double)(left - right));
	if (right != 0)
		return cell_number((double)(left / right));
	return left == 0 ? (struct cell){ .kind = CELL_EMPTY } :
	    cell_by_zero((double)left);
}

static size_t
make_cells(const struct column_view *view, size_t from, size_t to,
           const uint64_t *values, struct cell *cells)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct shown_column *column = &view->shown[i];
		uint64_t hits = values[column->left];

		if (column->kind != SHOWN_HITS) {
			cells[n++] = columns_derive(column, values);
			continue;
		}
		cells[n++] = cell_hits(hits);
		cells[n++] = cell_percent(measure_fraction(
		    &view->measures[column->left], hits));
	}
	return n;
}

size_t
columns_cells_before(const struct column_view *view, const uint64_t *values,
                     struct cell *cells)
{
	return make_cells(view, 0, view->own, values, cells);
}

/* The error by the samples that the hits came in. */
static double
columns_sampling_error(const struct column_view *view, const uint64_t *values)
{
	const struct sampled part = sampled_of(view->resource, values[0],
	                                       values[view->samples]);
	const struct sampled whole = sampled_of(view->resource,
	    view->measures[0].denominator,
	    view->measures[view->samples].denominator);

	return share_error(part, whole);
}

static struct cell
error_cell(const struct column_view *view, const uint64_t *values)
{
	double error = view->groups.groups == NULL ?
	    columns_sampling_error(view, values) :
	    group_share_error(&view->groups, &values[view->first_group]);

	if (isnan(error))
		return cell_unknown();
	return view->shows_percent ? cell_percent(error) :
	       cell_fraction(error);
}

size_t
columns_cells_after(const struct column_view *view, const uint64_t *values,
                    struct cell *cells)
{
	size_t n = 0;

	if (view->has_error)
		cells[n++] = error_cell(view, values);
	return n + make_cells(view, view->own + 1, view->n_shown, values,
	                      &cells[n]);
}

int
columns_add(const struct view_request *request, struct table *table,
            struct error *error)
{
	bool is_aligned = request->n_shown > 0;

	if (columns_add_before(request, table, error) != 0)
		return -1;
	table_add_column(table, "hits", is_aligned ?
	                 request->set->resource->name : "#hits", CELL_HITS);
	if (is_aligned)
		table_add_column(table, "fraction", "%", CELL_PERCENT);
	else
		table_add_column(table, "fraction", "usage_fraction",
		                 CELL_FRACTION);
	return columns_add_after(request, table, error);
}

size_t
columns_cells(const struct column_view *view, const uint64_t *values,
              struct cell *cells)
{
	double fraction = measure_fraction(&view->measures[0], values[0]);
	size_t n = columns_cells_before(view, values, cells);

	cells[n++] = cell_hits(values[0]);
	cells[n++] = view->n_shown > 0 ? cell_percent(fraction) :
	             cell_fraction(fraction);
	return n + columns_cells_after(view, values, &cells[n]);
}

/* A number with the same order as the cells: nothing, -x, 0, x, x / 0. */
static uint64_t
sort_key(const struct cell *cell)
{
	const uint64_t sign = UINT64_C(1) << 63;
	double number;
	uint64_t bits;

	if (cell->kind == CELL_HITS)
		return cell->count;
	if (cell->kind == CELL_EMPTY)
		return 0;
	number = cell->is_by_zero ? INFINITY : cell->number + 0.0;
	memcpy(&bits, &number, sizeof bits);
	return bits & sign ? ~bits : bits | sign;
}

int
columns_sort(const struct column_view *view, struct rows *rows,
             struct error *error)
{
	const struct shown_column *first = view->shown;
	const uint32_t n = rows->n;
	uint64_t values[COLUMN_SETS_MAX + 1] = { 0 }, *keys;
	struct cell cells[2];
	int status;

	if (view->n_shown == 0 || view->own == 0)
		return 0;
	keys = memory_array(n, sizeof *keys, error);
	if (keys == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t sets[] = { first->left, first->right };

		for (int k = 0; k < 2; k++)
			values[sets[k]] = sets[k] == 0 ?
			    rows->items[i].hits :
			    rows->columns[sets[k] - 1][i];
		make_cells(view, 0, 1, values, cells);
		keys[i] = sort_key(&cells[0]);
	}
	status = order_descending(rows->order, n, keys, error);
	free(keys);
	return status;
}
