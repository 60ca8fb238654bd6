/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times.c -- a run, or one call path in it, from its start to its end.
 *
 * One row for each slice of the timeline.  Cost: one pass over the nodes and
 * the entries of the timeline.
 */
#include "src/views/pictures/pictures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/units.h"
#include "src/profile/sample_tree.h"

static const struct view_kind times_kind = {
	.schema = "cpprof.times/1",
	.title = "Timeline",
};

enum { BAR_WIDTH = 30 };

/* Right-aligned in `width` columns. */
static const char *
times_time_text(struct table *table, uint64_t ns, int decimals, int width,
                struct error *error)
{
	struct text_buffer text = { 0 };
	const char *seconds, *aligned = NULL;

	text_add_seconds(&text, ns, decimals);
	seconds = text_string(&text);
	if (text.failed)
		error_out_of_memory(error);
	else
		aligned = table_text(table, error, "%*s s", width, seconds);
	text_free(&text);
	return aligned;
}

static const char *
bar_text(struct table *table, uint64_t hits, uint64_t most,
         struct error *error)
{
	static const char bar[BAR_WIDTH + 1] =
	    "##############################";
	int n = most == 0 ? 0 :
	    (int)(((unsigned __int128)hits * BAR_WIDTH + most / 2) / most);

	return table_text(table, error, "%.*s", n, bar);
}

static int
times_describe(const struct view_request *request,
               const struct timeline *timeline, uint64_t hits, uint64_t timed,
               struct table *table, struct error *error)
{
	int decimals = seconds_decimals(timeline->width_ns);

	if (table_add_header(table, error,
	                     "slices of %s, from the start of "
	                     "the recording",
	                     times_time_text(table, timeline->width_ns,
	                                     decimals, 0, error)) != 0 ||
	    table_add_field(table, "width_ns", NULL,
	                    cell_count(timeline->width_ns), error) != 0 ||
	    table_add_field(table, "origin_ns", NULL,
	                    timeline->origin_ns != 0 ?
	                        cell_count(timeline->origin_ns) :
	                        (struct cell){ .kind = CELL_EMPTY },
	                    error) != 0 ||
	    table_add_field(table, "hits", NULL, cell_count(hits), error) !=
	        0 ||
	    table_add_field(table, "without_time", NULL,
	                    cell_count(hits - timed), error) != 0)
		return -1;
	if (hits > timed) {
		const char *text = hits_text_of(request->set, hits - timed,
		                                hits, table, error);

		if (text == NULL ||
		    table_add_footer(table, error, "%s have no time",
		                     text) != 0)
			return -1;
	}
	return request->n_path > 0 && hits == 0 ?
	    table_add_footer(table, error, "no stack has this path") : 0;
}

static void
times_add_columns(struct table *table, bool has_path)
{
	const struct column columns[] = {
		{ "begin_ns", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "end_ns", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "begin", "from", .kind = CELL_TEXT, .is_text_only = true },
		{ "end", "to", .kind = CELL_TEXT, .is_text_only = true },
		{ "hits", "#hits", .kind = CELL_HITS },
		{ "fraction", "usage_fraction", .kind = CELL_FRACTION,
		  .short_title = "fraction" },
		{ has_path ? "of_slice" : NULL, "of_slice",
		  .kind = CELL_PERCENT },
		{ "bar", "", .kind = CELL_TEXT, .is_text_only = true,
		  .room = BAR_WIDTH },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
}

static int
times_add_rows(const struct view_request *request,
               const struct measure *measure, const uint64_t *times,
               const uint64_t *all, struct table *table, struct error *error)
{
	const struct timeline *timeline = request->set->tree->timeline;
	const uint64_t width = timeline->width_ns;
	const int decimals = seconds_decimals(width);
	const int columns = snprintf(NULL, 0, "%" PRIu64,
	    timeline->n_slices * width / 1000000000) +
	    (decimals > 0 ? 1 + decimals : 0);
	uint64_t most = 0;

	for (uint32_t i = 0; i < timeline->n_slices; i++)
		if (times[i] > most)
			most = times[i];
	for (uint32_t i = 0; i < timeline->n_slices; i++) {
		const struct measure of_slice = { .denominator = all[i] };
		struct cell cells[8];
		size_t n = 0;

		cells[n++] = cell_count(i * width);
		cells[n++] = cell_count((i + 1) * width);
		cells[n++] = cell_text(times_time_text(table, i * width,
		                                       decimals, columns,
		                                       error));
		cells[n++] = cell_text(times_time_text(table, (i + 1) * width,
		                                       decimals, columns,
		                                       error));
		cells[n++] = cell_hits(times[i]);
		cells[n++] = cell_fraction(measure_fraction(measure,
		                                            times[i]));
		if (request->n_path > 0)
			cells[n++] = cell_percent(measure_fraction(&of_slice,
			                                           times[i]));
		cells[n++] = cell_text(bar_text(table, times[i], most, error));
		if (error->is_set || table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

/* The path as a line of the heading. */
static int
describe_path(const struct view_request *request, struct table *table,
              struct error *error)
{
	const struct names *names = request->set->names;
	struct text_buffer text = { 0 };
	const char *line;

	if (request->n_path == 0)
		return 0;
	text_add_string(&text, "path: (");
	for (size_t i = 0; i < request->n_path; i++) {
		if (i > 0)
			text_add_char(&text, ' ');
		text_add(&text, names_text(names, request->path[i]),
		         names_length(names, request->path[i]));
	}
	text_add_char(&text, ')');
	line = text_move(&text, &table->arena, error);
	return line == NULL ? -1 : table_add_header(table, error, "%s", line);
}

/* The slice of the most hits. */
static uint32_t
times_peak(const struct timeline *timeline, const uint64_t *times)
{
	uint32_t peak = 0;

	for (uint32_t i = 1; i < timeline->n_slices; i++)
		if (times[i] > times[peak])
			peak = i;
	return peak;
}

/* When there was most of a level, and how to see what it was then. */
static int
times_add_peak(const struct view_request *request, uint32_t peak,
               uint64_t hits, struct table *table, struct error *error)
{
	const struct timeline *timeline = request->set->tree->timeline;
	const uint64_t end_ns = (peak + 1) * timeline->width_ns;
	const char *text = hits_text(request->set, hits, table, error);
	const char *end = times_time_text(table, end_ns,
	    seconds_decimals(timeline->width_ns), 0, error);

	if (text == NULL || end == NULL ||
	    table_add_field(table, "peak_end_ns", NULL, cell_count(end_ns),
	                    error) != 0)
		return -1;
	return table_add_footer(table, error, "values at the end of each "
	    "slice; most at %s: %s; to see what that was: narrow time ..%.*ss",
	    end, text, (int)strcspn(end, " "), end);
}

int
view_timeline(const struct view_request *plain, struct table *table,
              struct error *error)
{
	struct sample_set of_level = *plain->set;
	struct view_request request_of_level = *plain;
	const struct view_request *request = plain;
	const struct sample_set *set = plain->set;
	struct measure measure = measure_of(plain);
	uint32_t peak = 0;
	bool is_level;
	struct when_times times = { 0 }, all = { 0 };
	struct path_hits found = { .hits = set->left };
	struct hidden hidden = { 0 };
	uint64_t timed = 0;

	if (when_need(set, error) != 0)
		return -1;
	tree_time_add(set->tree, set->resource_number, 0, set->tree->n_nodes,
	              all.hits);
	is_level = timeline_find_level(set->tree->timeline,
	                               set->resource_number) != NULL;
	if (is_level) {
		/* Shares are those of the peak, not of the end. */
		peak = times_peak(set->tree->timeline, all.hits);
		of_level.total = measure.denominator = all.hits[peak];
		of_level.whole = "the peak";
		profile_level_at(set->profile, set->resource_number,
		                 (uint64_t)1 << peak, &of_level.total,
		                 &of_level.n_samples);
		of_level.total = all.hits[peak];
		request_of_level.set = &of_level;
		request_of_level.percent = PERCENT_TOTAL;
		request = &request_of_level;
		set = &of_level;
	}
	if (request->n_path == 0)
		times = all;
	else if (path_hits_find(set, request->path, request->n_path, &found,
	                        times.hits, error) != 0)
		return -1;
	for (uint32_t i = 0; i < TIMELINE_SLICES; i++)
		timed += times.hits[i];
	if (is_level)	/* these are no parts of a sum */
		timed = found.hits;
	if (view_describe(request, &times_kind, &measure, &hidden, table,
	                  error) != 0 ||
	    describe_path(request, table, error) != 0 ||
	    times_describe(request, set->tree->timeline, found.hits, timed,
	                   table, error) != 0)
		return -1;
	times_add_columns(table, request->n_path > 0);
	if (times_add_rows(request, &measure, times.hits, all.hits, table,
	                   error) != 0 ||
	    (is_level && times_add_peak(request, peak, all.hits[peak], table,
	                                error) != 0))
		return -1;
	return request->resolution > 0 ?
	    times_add_chart(request, &measure, &times, &all, table, error) : 0;
}
