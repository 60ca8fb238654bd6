/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compared_heading.c -- the heading of a comparison of two sets of runs. */
#include "src/views/comparison/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/base/units.h"

const char *const row_verdict_names[N_ROW_VERDICTS] = {
	[ROW_UNDECIDED] = "undecided", [ROW_NOISE] = "noise",
	[ROW_MOVED] = "moved", [ROW_LIKELY] = "likely",
	[ROW_SHRANK] = "shrank", [ROW_GREW] = "grew",
};

/* Totals that differ by more than this part are pointed out. */
static const double different = 0.05;

struct cell
amount_or_nothing(double amount)
{
	return isfinite(amount) ? cell_amount(amount) :
	       (struct cell){ .kind = CELL_EMPTY };
}

/*
 * "3 runs of 5.02 s", "a merged profile of 40 members, 5.02 s"; after steps "3
 * runs, 1.13 s left"
 */
static void
compared_heading_add_side(struct text_buffer *text, size_t n,
                          uint64_t n_members, double mean,
                          const struct sample_set *set)
{
	const struct resource *resource = set->resource;

	if (n_members > 0)
		text_add_format(text, "a merged profile of %" PRIu64
		                " members, ", n_members);
	else
		text_add_format(text, "%zu run%s%s ", n, n == 1 ? "" : "s",
		                set->n_steps > 0 ? "," : " of");
	text_add_amount(text, mean, resource->interval, resource->gtick);
	if (set->n_steps > 0)
		text_add_string(text, " left");
}

/* "host=old*, 4 values of 5.02 s", after steps "all others, 9 values, 1.13 s left" */
static void
compared_heading_add_values(struct text_buffer *text,
                            const struct compared_values *values, int side,
                            double mean, const struct sample_set *set)
{
	const struct resource *resource = set->resource;

	if (values->sides[side] == NULL)
		text_add_string(text, values->are_times ? "the rest of the run" :
		                "all others of ");
	if (values->sides[side] == NULL ? !values->are_times :
	    values->are_times)
		text_add_string(text, values->key);
	if (values->sides[side] != NULL)
		text_add_format(text, "%s%s", values->are_times ? " " : "",
		                values->sides[side]);
	if (values->are_times)
		text_add_string(text, ", ");
	else
		text_add_format(text, ", %" PRIu64 " value%s%s ",
		                values->n[side],
		                values->n[side] == 1 ? "" : "s",
		                set->n_steps > 0 ? "," : " of");
	text_add_amount(text, mean, resource->interval, resource->gtick);
	if (set->n_steps > 0)
		text_add_string(text, " left");
}

/* "+0.5 s (+10.0%) +- 0.1 s, grew" */
static void
add_whole(struct text_buffer *text, const struct change *whole,
          const struct compared_runs *runs, const struct resource *resource)
{
	text_add_string(text, whole->change > 0 ? "+" : "");
	text_add_amount(text, whole->change, resource->interval,
	                resource->gtick);
	if (whole->base != 0) {
		text_add_string(text, whole->change < 0 ? " (" : " (+");
		text_add_decimal(text, 100 * whole->change / whole->base, 1);
		text_add_string(text, "%)");
	}
	if (isfinite(whole->low)) {
		text_add_string(text, " +- ");
		text_add_amount(text, (whole->high - whole->low) / 2,
		                resource->interval, resource->gtick);
	}
	text_add_format(text, ", %s", row_verdict_names[compare_verdict(whole)]);
	if (whole->verdict == CHANGE_NEEDS_RUNS)
		text_add_string(text, runs->values != NULL ?
		                runs->values->are_times ? ": one run" :
		                ": one value on each side" :
		                ": one run on each side; record --repeat 3 for "
		                "each");
}

static int
compared_heading_add_line(struct text_buffer *text, struct table *table,
                          struct error *error)
{
	const char *line = text_string(text);
	int status = text->failed ? error_out_of_memory(error) :
	    table_add_header(table, error, "%s", line);

	text_clear(text);
	return status;
}

static int
add_sides(const struct view_request *request,
          const struct compared_rows *compared, struct table *table,
          struct error *error)
{
	const struct compared_runs *runs = request->compared;
	const struct resource *resource = request->set->resource;
	size_t n_now = view_count_runs(request) - runs->n_base;
	struct text_buffer text = { 0 };
	int status;

	text_add_string(&text, "base: ");
	if (runs->values != NULL)
		compared_heading_add_values(&text, runs->values, 0,
		                            compared->whole.base, request->set);
	else
		compared_heading_add_side(&text, runs->n_base,
		                          runs->base_members,
		                          compared->whole.base, request->set);
	text_add_string(&text, "; now: ");
	if (runs->values != NULL)
		compared_heading_add_values(&text, runs->values, 1,
		                            compared->whole.now, request->set);
	else
		compared_heading_add_side(&text, n_now, runs->now_members,
		                          compared->whole.now, request->set);
	status = compared_heading_add_line(&text, table, error);
	text_add_string(&text, request->set->n_steps > 0 ?
	                "all that the steps left: " : "whole run: ");
	add_whole(&text, &compared->whole, runs, resource);
	if (status == 0)
		status = compared_heading_add_line(&text, table, error);
	text_free(&text);
	return status;
}

/* That values of a label stand for runs, and what has no value. */
static int
add_what_runs_are(const struct view_request *request, struct table *table,
                  struct error *error)
{
	const struct compared_values *values = request->compared->values;
	const struct resource *resource = request->set->resource;
	struct text_buffer text = { 0 };
	int status;

	if (values->are_times)
		text_add_string(&text, "two parts of one run's time");
	else
		text_add_format(&text, "parts of one profile: each value of "
		                "%s stands for a run", values->key);
	if (values->sides[1] == NULL && values->unlabelled > 0) {
		text_add_string(&text, "; not compared: ");
		text_add_amount(&text, (double)values->unlabelled,
		                resource->interval, resource->gtick);
		text_add_string(&text, " without a value");
	}
	status = compared_heading_add_line(&text, table, error);
	text_free(&text);
	return status;
}

/* What the amounts are per, and whether that is likely what is wanted. */
static int
compared_heading_add_scale(const struct view_request *request,
                           const struct compared_rows *compared,
                           struct table *table, struct error *error)
{
	const struct compared_runs *runs = request->compared;
	const struct change *whole = &compared->whole;
	char run[80] = "run";

	if (runs->values != NULL &&
	    add_what_runs_are(request, table, error) != 0)
		return -1;
	if (runs->scale != NULL)
		return table_add_header(table, error, "compared: %s",
		                        runs->scale);
	if (runs->values != NULL)
		snprintf(run, sizeof run, "%s of %.60s",
		         runs->values->are_times ? "part" : "value",
		         runs->values->are_times ? "the run" :
		         runs->values->key);
	if (whole->base == 0 || fabs(whole->change) <= different * whole->base)
		return table_add_header(table, error, "compared: the use of a "
		    "%s, assuming equal work", run);
	if (runs->base_members != runs->now_members &&
	    runs->base_members > 0 && runs->now_members > 0)
		return table_add_header(table, error, "compared: the use of a "
		    "merged profile, assuming equal work; the totals differ, "
		    "and so do the members. To compare as many, type: scale "
		    "work %" PRIu64 "/%" PRIu64, runs->now_members,
		    runs->base_members);
	return table_add_header(table, error, "compared: the use of a %s, "
	    "assuming equal work; the totals differ. If the work did too, set "
	    "scale", run);
}

/* "3 names that differ by numbers of one run are 2; Lambda$12/3 is Lambda$*" */
static int
compared_heading_add_renamed(const struct view_request *request,
                             struct table *table, struct error *error)
{
	const struct compared_runs *runs = request->compared;
	const struct names *names = request->set->names;

	return runs->n_renamed == 0 ? 0 : table_add_header(table, error,
	    "%" PRIu32 " name%s compared without what differs from run to "
	    "run: %.60s is %.60s", runs->n_renamed, runs->n_renamed == 1 ?
	    " is" : "s are", names_text(names, runs->renamed[0]),
	    names_text(names, runs->renamed[1]));
}

/* "6 runs", "64 random groups of members", "1 run and 32 random ..." */
static const char *
sources_of_noise(const struct view_request *request, char *text, size_t size)
{
	const struct compared_runs *runs = request->compared;
	size_t n_base = runs->n_base;
	size_t n_now = view_count_runs(request) - n_base;
	size_t n_groups = (runs->base_members > 0 ? n_base : 0) +
	                  (runs->now_members > 0 ? n_now : 0);
	size_t n_runs = view_count_runs(request) - n_groups;
	const struct compared_values *values = runs->values;
	char of_runs[40] = "";

	if (values != NULL) {
		size_t n = snprintf(text, size, "%" PRIu64 " values of %.60s",
		                    values->n[0] + values->n[1], values->key);

		if (n_runs < values->n[0] + values->n[1] && n < size)
			snprintf(text + n, size - n, ", in %zu random groups",
			         n_runs);
		return text;
	}
	if (n_runs > 0)
		snprintf(of_runs, sizeof of_runs, "%zu run%s%s", n_runs,
		         n_runs == 1 ? "" : "s", n_groups > 0 ? " and " : "");
	if (n_groups > 0)
		snprintf(text, size, "%s%zu random groups of members", of_runs,
		         n_groups);
	else
		snprintf(text, size, "%s", of_runs);
	return text;
}

/* Whether more runs would decide what one on each side cannot. */
static bool
needs_runs(const struct compared_rows *compared)
{
	for (uint32_t i = 0; i < compared->n; i++)
		if (compared->changes[i].verdict == CHANGE_NEEDS_RUNS)
			return true;
	return compared->whole.verdict == CHANGE_NEEDS_RUNS;
}

static int
add_noise(const struct view_request *request,
          const struct compared_rows *compared, struct table *table,
          struct error *error)
{
	char text[160];
	bool has_replicates = view_count_runs(request) > 2;
	const struct compared_values *values = request->compared->values;
	const char *run = values == NULL ? "run" :
	                  values->are_times ? "part" : "value";
	const char *how = request->compared->values != NULL ? "" :
	                  ": record --repeat 3";

	if (compared->are_exact)
		return table_add_header(table, error, "the counts are exact; "
		    "one %s on each side: what differs is likely, since equal "
		    "runs may differ a little", run);
	if (isnan(compared->whole.phi) && !has_replicates)
		return table_add_header(table, error, "undecided: the hits do "
		    "not count samples; record more %ss of each side%s", run,
		    how);
	if (values != NULL && values->are_times)
		return table_add_header(table, error, "parts of one run: no "
		    "verdict can be stronger than likely");
	if (!has_replicates && table_add_header(table, error, "one %s on each "
	    "side: no verdict can be stronger than likely%s", run,
	    values != NULL ? "" : "; record more runs: record --repeat 3") != 0)
		return -1;
	if (!has_replicates && compared->noise.ratio != 1 &&
	    table_add_header(table, error, "most functions changed by a factor "
	    "of about %.2f, as on a %s machine; that alone is not a change",
	    compared->noise.ratio, compared->noise.ratio > 1 ? "slower" :
	    "faster") != 0)
		return -1;
	if (!has_replicates)
		return !needs_runs(compared) ? 0 : table_add_header(table,
		    error, "undecided: more than chance, but equal %ss may "
		    "differ as much; three %ss on each side can decide%s", run,
		    run,
		    request->compared->values != NULL ? "" :
		    " (record --repeat 3)");
	return table_add_header(table, error, "noise is estimated from %s; of "
	    "the rows that grew or shrank, at most 5%% are expected to be "
	    "noise", sources_of_noise(request, text, sizeof text));
}

static int
compared_heading_add_header(const struct view_request *request,
                            const struct view_kind *kind,
                            const struct compared_rows *compared,
                            struct table *table, struct error *error)
{
	if (table_add_header(table, error, "Changes of the %s for resource: "
	                     "%s", kind->title,
	                     request->set->resource->name) != 0 ||
	    (kind->has_root && view_add_root(request, table, error) != 0) ||
	    add_sides(request, compared, table, error) != 0 ||
	    compared_heading_add_scale(request, compared, table, error) != 0 ||
	    compared_heading_add_renamed(request, table, error) != 0 ||
	    add_noise(request, compared, table, error) != 0)
		return -1;
	return request->lacks_columns ?
	    view_add_lack_of_columns(request, table, error) : 0;
}

/* Fields of a side; a merged profile is one run of many members. */
static int
add_side_fields(const char *const keys[3], size_t n_runs, uint64_t n_members,
                double mean, struct table *table, struct error *error)
{
	if (table_add_field(table, keys[0], NULL, cell_count(n_members > 0 ? 1 :
	                    n_runs), error) != 0 ||
	    (n_members > 0 &&
	     table_add_field(table, keys[1], NULL, cell_count(n_members),
	                     error) != 0))
		return -1;
	return table_add_field(table, keys[2], NULL, cell_amount(mean), error);
}

/* The runs of a side: files, or values of a label. */
static size_t
compared_heading_count_runs(const struct view_request *request, int side)
{
	const struct compared_runs *runs = request->compared;

	if (runs->values != NULL)
		return runs->values->n[side];
	return side == 0 ? runs->n_base :
	    view_count_runs(request) - runs->n_base;
}

static int
compared_heading_add_fields(const struct view_request *request,
                            const struct compared_rows *compared,
                            const struct hidden *hidden, struct table *table,
                            struct error *error)
{
	static const char *const base_keys[] = { "base.runs", "base.members",
		"base.mean" };
	static const char *const now_keys[] = { "now.runs", "now.members",
		"now.mean" };
	const struct compared_runs *runs = request->compared;
	const struct change *whole = &compared->whole;
	const struct field fields[] = {
		{ "whole.change", NULL, cell_amount(whole->change) },
		{ "whole.low", NULL, amount_or_nothing(whole->low) },
		{ "whole.high", NULL, amount_or_nothing(whole->high) },
		{ "whole.visible", NULL, amount_or_nothing(whole->visible) },
		{ "whole.verdict", NULL,
		  cell_text(row_verdict_names[compare_verdict(whole)]) },
		{ "scale", NULL, cell_text(runs->scale != NULL ?
		                           runs->scale : "absolute") },
		{ "hidden", NULL, cell_count(hidden_sum(hidden)) },
	};

	if ((runs->values != NULL &&
	     table_add_field(table, "key", NULL, cell_text(runs->values->key),
	                     error) != 0) ||
	    add_side_fields(base_keys, compared_heading_count_runs(request, 0),
	                    runs->base_members, whole->base, table,
	                    error) != 0 ||
	    add_side_fields(now_keys, compared_heading_count_runs(request, 1),
	                    runs->now_members, whole->now, table,
	                    error) != 0 ||
	    view_add_resource(request->set, table, error) != 0)
		return -1;
	return table_add_fields(table, fields, sizeof fields / sizeof *fields,
	                        error);
}

int
compared_describe(const struct view_request *request,
                  const struct view_kind *kind,
                  const struct compared_rows *compared,
                  const struct hidden *hidden, struct table *table,
                  struct error *error)
{
	table->schema = "cpprof.diff/1";
	if (view_add_root_field(request, kind->has_root, table, error) != 0 ||
	    compared_heading_add_fields(request, compared, hidden, table,
	                                error) != 0 ||
	    compared_heading_add_header(request, kind, compared, table,
	                                error) != 0)
		return -1;
	if (view_add_hidden(request, hidden, table, error) != 0)
		return -1;
	return kind->ignores_inlined ? 0 :
	    view_add_inlined(request->set, table, error);
}
