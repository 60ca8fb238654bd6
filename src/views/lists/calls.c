/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.c -- how long the observed calls of a function took. */
#include "src/views/lists/lists.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"

enum { CALLS_BAR_WIDTH = 40, CALLS_ROWS_MAX = 160 };

static const struct {
	const char *key, *name;
	double share;
} percentiles[] = {
	{ "p50", "p50", 0.5 }, { "p90", "p90", 0.9 }, { "p99", "p99", 0.99 },
	{ "p99_9", "p99.9", 0.999 },
};

enum { N_PERCENTILES = sizeof percentiles / sizeof *percentiles };

static const struct length_count *
known_calls_convert(const struct length_bin *bins, size_t n,
                    struct length_count *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct length_count){
			.least = (double)bins[i].least_ns,
			.end = (double)bins[i].end_ns,
			.n = (double)bins[i].n,
			.spread = bins[i].n == 0 ? 0 :
			    (double)bins[i].spread_ns / (double)bins[i].n,
			.tail = (double)bins[i].tail_ns,
			.without_wait = (double)bins[i].without_wait_ns,
			.without_wait_end = (double)bins[i].without_wait_end_ns,
		};
	return to;
}

int
known_calls_make(struct known_calls *known, const struct observed_calls *calls,
                 struct error *error)
{
	const size_t n = calls->n_lengths + calls->n_by_chance;
	struct length_count *all;

	*known = (struct known_calls){ 0 };
	known->counts = memory_array(2 * n + calls->n_by_chance +
	                             calls->n_tails,
	                             sizeof *known->counts, error);
	if (known->counts == NULL)
		return -1;
	all = known->counts + n + calls->n_tails;
	known->lengths = (struct call_lengths){
		.lengths = known_calls_convert(calls->lengths,
		    calls->n_lengths, known->counts),
		.tails = known_calls_convert(calls->tails, calls->n_tails,
		    known->counts + calls->n_lengths),
		.n_lengths = calls->n_lengths,
		.n_tails = calls->n_tails,
		.interval = (double)(calls->interval_ns > 0 ?
		                     calls->interval_ns : 1),
	};
	call_lengths_add_by_chance(&known->lengths, known_calls_convert(
	    calls->by_chance, calls->n_by_chance, known->counts +
	    calls->n_lengths + calls->n_tails), calls->n_by_chance, all);
	known->totals = call_totals_estimate(&known->lengths);
	return 0;
}

void
known_calls_free(struct known_calls *known)
{
	free(known->counts);
}

/* "6.1 ms (5.8 ms to 6.5 ms)", "below 4 ms" */
static const char *
calls_percentile(struct table *table, const struct call_estimate *length,
                 struct error *error)
{
	const char *low, *high, *value;

	if (length->value == 0) {
		value = hits_time_text((uint64_t)(isfinite(length->high) ?
		                       length->high : length->below), table,
		                       error);
		return value == NULL ? NULL :
		    table_text(table, error, "%s %s", isfinite(length->high) ?
		               "below" : "unknown, likely below", value);
	}
	value = hits_time_text((uint64_t)length->value, table, error);
	low = hits_time_text((uint64_t)length->low, table, error);
	if (value == NULL || low == NULL)
		return NULL;
	if (!isfinite(length->high))
		return table_text(table, error, "%s (%s or more)", value, low);
	high = hits_time_text((uint64_t)length->high, table, error);
	return high == NULL ? NULL :
	    table_text(table, error, "%s (%s to %s)", value, low, high);
}

/* The number of calls, rounded as far as it is known. */
static struct cell
calls_number(double n)
{
	return cell_count((uint64_t)(n + 0.5));
}

/* ---- one function ---- */

static int
calls_add_percentiles(const struct known_calls *known, struct table *table,
                      struct error *error)
{
	for (size_t i = 0; i < N_PERCENTILES; i++) {
		const struct call_estimate length = call_lengths_quantile(
		    &known->lengths, &known->totals, percentiles[i].share);
		const char *text = calls_percentile(table, &length, error);
		const struct {
			const char *name;
			double ns;
		} numbers[] = { { "ns", length.value }, { "low_ns", length.low },
			{ "high_ns", length.high } };

		if (text == NULL || table_add_header(table, error, "%s: %s",
		        percentiles[i].name, text) != 0)
			return -1;
		for (size_t k = 0; k < 3; k++) {
			const char *key = table_text(table, error, "%s.%s",
			    percentiles[i].key, numbers[k].name);

			if (key == NULL || table_add_field(table, key, NULL,
			        isfinite(numbers[k].ns) ?
			        calls_number(numbers[k].ns) : cell_unknown(),
			        error) != 0)
				return -1;
		}
	}
	return 0;
}

/* Those that are too short to be counted. */
static int
calls_describe_left_out(const struct known_calls *known, struct table *table,
                        struct error *error)
{
	const struct call_totals *totals = &known->totals;
	const char *least = hits_time_text(
	    (uint64_t)call_lengths_least(&known->lengths), table, error);

	if (least == NULL)
		return -1;
	if (totals->left_out.value == 0)
		return table_add_footer(table, error, "not counted: calls "
		    "shorter than %s, which samples hardly see", least);
	return table_add_header(table, error, "left out: about %.0f calls +- "
	    "%.0f below %s, with %.0f%% of the time in calls",
	    totals->left_out.value, totals->left_out.error * 1.96, least,
	    100 * totals->left_out_time);
}

static int
calls_describe(const struct observed_calls *calls,
               const struct known_calls *known, struct table *table,
               struct error *error)
{
	static const char *const reasons[] = {
		[UNFINISHED_LEFT] = "left by a jump or an exception, or not "
		    "left",
		[UNFINISHED_BEGAN_BEFORE] = "begun before their thread was "
		    "sampled",
		[UNFINISHED_NOT_MARKED] = "whose return could not be marked",
	};
	const struct call_totals *totals = &known->totals;
	const char *interval = hits_time_text(
	    (uint64_t)known->lengths.interval, table, error);

	if (interval == NULL || table_add_header(table, error, "Lengths of calls of %s",
	        calls->function) != 0 ||
	    table_add_header(table, error, "about %.0f calls +- %.0f: %.0f "
	        "seen of %s or longer, about %.0f shorter",
	        totals->all.value, totals->all.error * 1.96,
	        totals->longer.value, interval, totals->shorter.value) != 0 ||
	    calls_describe_left_out(known, table, error) != 0)
		return -1;
	for (int i = 0; i < N_UNFINISHED; i++)
		if (calls->unfinished[i] > 0 && table_add_footer(table, error,
		    "%" PRIu64 " more without a length: %s",
		    calls->unfinished[i], reasons[i]) != 0)
			return -1;
	return calls_add_percentiles(known, table, error);
}

/* The bounds of the histogram's rows: two for each power of two. */
static uint64_t
calls_next_bound(uint64_t bound)
{
	const uint64_t power = (uint64_t)1 << (63 - __builtin_clzll(bound));

	return bound == power ? power + power / 2 : 2 * power;
}

static int
calls_add_row(struct table *table, double least, double end, double n,
              double fraction, double largest, struct error *error)
{
	static const char bar[CALLS_BAR_WIDTH + 1] =
	    "########################################";
	const char *from = hits_time_text((uint64_t)least, table, error);
	const char *to = hits_time_text((uint64_t)end, table, error);
	int width = largest > 0 ? (int)ceil(CALLS_BAR_WIDTH * n / largest) : 0;
	const char *drawn = table_text(table, error, "%.*s", width, bar);

	return from == NULL || to == NULL || drawn == NULL ? -1 :
	    table_add_row(table, (struct cell[]){
		calls_number(least), calls_number(end), cell_text(from),
		cell_text(to), calls_number(n), cell_fraction(fraction),
		cell_text(drawn),
	    }, error);
}

static int
calls_add_histogram(const struct observed_calls *calls,
                    const struct known_calls *known, struct table *table,
                    struct error *error)
{
	const double all = known->totals.all.value;
	const double interval = known->lengths.interval;
	double n[CALLS_ROWS_MAX], largest = known->totals.shorter.value;
	uint64_t bounds[CALLS_ROWS_MAX + 1] = { 2 };
	size_t rows = 0;

	while ((double)calls_next_bound(bounds[0]) <= interval)
		bounds[0] = calls_next_bound(bounds[0]);
	while (rows < CALLS_ROWS_MAX &&
	       bounds[rows] < observed_calls_longest(calls)) {
		bounds[rows + 1] = calls_next_bound(bounds[rows]);
		n[rows] = call_lengths_above(&known->lengths, rows == 0 ?
		    interval : (double)bounds[rows]).value -
		    call_lengths_above(&known->lengths,
		    (double)bounds[rows + 1]).value;
		largest = fmax(largest, n[rows]);
		rows++;
	}
	if (calls_add_row(table, call_lengths_least(&known->lengths), interval,
	        known->totals.shorter.value,
	        all > 0 ? known->totals.shorter.value / all : 0, largest,
	        error) != 0)
		return -1;
	for (size_t i = 0; i < rows; i++)
		if (calls_add_row(table, i == 0 ? interval : (double)bounds[i],
		        (double)bounds[i + 1], n[i],
		        all > 0 ? n[i] / all : 0, largest, error) != 0)
			return -1;
	return 0;
}

static int
view_calls_of(const struct observed_calls *calls, struct table *table,
              struct error *error)
{
	struct known_calls known;
	int status = -1;

	table_add_column(table, "least_ns", "", CELL_COUNT)->is_data_only =
	    true;
	table_add_column(table, "end_ns", "", CELL_COUNT)->is_data_only = true;
	table_add_column(table, "from", "from", CELL_TEXT)->is_text_only = true;
	table_add_column(table, "to", "to", CELL_TEXT)->is_text_only = true;
	table_add_column(table, "calls", "calls", CELL_COUNT);
	table_add_column(table, "fraction", "fraction", CELL_FRACTION);
	table_add_column(table, "bar", "", CELL_TEXT)->is_text_only = true;
	table->columns[table->n_columns - 1].room = CALLS_BAR_WIDTH;
	if (known_calls_make(&known, calls, error) == 0 &&
	    table_add_field(table, "function", NULL,
	        cell_text(calls->function), error) == 0 &&
	    table_add_field(table, "calls.value", NULL,
	        calls_number(known.totals.all.value), error) == 0 &&
	    table_add_field(table, "calls.error", NULL,
	        calls_number(known.totals.all.error), error) == 0 &&
	    table_add_field(table, "left_out.value", NULL,
	        calls_number(known.totals.left_out.value), error) == 0 &&
	    table_add_field(table, "left_out.error", NULL,
	        calls_number(known.totals.left_out.error), error) == 0 &&
	    table_add_field(table, "left_out.time", NULL,
	        cell_fraction(known.totals.left_out_time), error) == 0 &&
	    table_add_field(table, "unfinished", NULL,
	        cell_count(observed_calls_unfinished(calls)), error) == 0 &&
	    calls_describe(calls, &known, table, error) == 0)
		status = calls_add_histogram(calls, &known, table, error);
	known_calls_free(&known);
	return status;
}

/* ---- all functions ---- */

static int
calls_add_summary(const struct observed_calls *calls, struct table *table,
                  struct error *error)
{
	struct cell cells[3 + N_PERCENTILES];
	struct known_calls known;
	size_t n = 0;
	int status = -1;

	if (known_calls_make(&known, calls, error) == 0) {
		cells[n++] = calls_number(known.totals.all.value);
		cells[n++] = cell_count(observed_calls_unfinished(calls));
		for (size_t i = 0; i < N_PERCENTILES; i++) {
			const struct call_estimate length =
			    call_lengths_quantile(&known.lengths,
			        &known.totals, percentiles[i].share);

			cells[n++] = length.value == 0 ? cell_unknown() :
			    cell_text(hits_time_text((uint64_t)length.value,
			                             table, error));
		}
		cells[n++] = cell_text(calls->function);
		status = error->is_set ? -1 :
		    table_add_row(table, cells, error);
	}
	known_calls_free(&known);
	return status;
}

int
view_calls(const struct profile *profile, const struct observed_calls *calls,
           struct table *table, struct error *error)
{
	table->schema = calls != NULL ? "cpprof.lengths/1" : "cpprof.calls/1";
	if (calls != NULL)
		return view_calls_of(calls, table, error);
	table_add_column(table, "calls", "calls", CELL_COUNT);
	table_add_column(table, "unfinished", "unfinished", CELL_COUNT);
	for (size_t i = 0; i < N_PERCENTILES; i++)
		table_add_column(table, percentiles[i].key,
		                 percentiles[i].name, CELL_TEXT);
	table_add_column(table, "function", "function", CELL_TEXT);
	table->handle_key = "function";
	for (uint32_t i = 0; i < profile->n_calls; i++)
		if (calls_add_summary(&profile->calls[i], table, error) != 0 ||
		    (profile->calls[i].n_places == 0 && table_add_footer(table,
		    error, "no function %.60s was found in the files that were "
		    "sampled", profile->calls[i].function) != 0))
			return -1;
	return 0;
}
