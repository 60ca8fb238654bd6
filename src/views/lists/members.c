/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.c -- which values of a key use more or less than the others.
 *
 * A value's share is the hits of the chosen stacks of all its hits.  Whether it
 * deviates from those of the other values is a test of all of them together
 * (noise/noise.h), so one in 20 questions has a false answer.  Cost:
 * O(sections) after the totals of sections, and the test.
 */
#include "src/views/lists/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/noise/noise.h"

/* The part of the questions whose answer may name a value that is like others. */
static const double FALSE_ALARMS = 0.05;

struct members_value {
	const char *text;
	struct section_total part, whole;
	double z, q;		/* NAN: not tested */
};

struct values {
	const struct view_request *request;
	const struct members_request *wanted;
	struct names *names;
	struct members_value *items;	/* [n], by names */
	size_t n, capacity;
	struct section_total part, whole;	/* of all */
	double spread;		/* of shares, beyond chance; NAN: unknown */
};

static const struct view_kind members_kind = {
	.schema = "cpprof.members/1",
	.title = "Member Profile",
	.ignores_inlined = true,
};

/* ---- values ---- */

static struct members_value *
find_value(struct values *values, const char *text, struct error *error)
{
	uint32_t number = names_add(values->names, text, strlen(text), error);

	if (number == NO_NAME)
		return NULL;
	if (number == values->n) {
		if (memory_grow(&values->items, &values->capacity,
		                values->n + 1, sizeof *values->items,
		                error) != 0)
			return NULL;
		values->items[values->n++] = (struct members_value){
			.text = names_text(values->names, number),
			.z = NAN, .q = NAN,
		};
	}
	return &values->items[number];
}

static void
members_add_total(struct section_total *to, const struct section_total *more)
{
	to->hits += more->hits;
	to->samples += more->samples;
}

static int
members_collect(struct values *values, struct error *error)
{
	const struct members_request *wanted = values->wanted;
	const struct profile *profile = values->request->set->profile;

	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		const struct section section = section_of(profile, i);
		const struct label *label = section_label(profile, &section,
		                                          wanted->key);
		struct members_value *value;

		if (label == NULL || wanted->whole[i].hits == 0)
			continue;
		value = find_value(values, names_text(profile->names,
		                                      label->value), error);
		if (value == NULL)
			return -1;
		members_add_total(&value->part, &wanted->part[i]);
		members_add_total(&value->whole, &wanted->whole[i]);
		members_add_total(&values->part, &wanted->part[i]);
		members_add_total(&values->whole, &wanted->whole[i]);
	}
	return 0;
}

/* ---- the test ---- */

static int
test(struct values *values, struct error *error)
{
	struct outlier_count *counts = memory_array(values->n, sizeof *counts,
	                                            error);
	int status;

	if (counts == NULL)
		return -1;
	for (size_t i = 0; i < values->n; i++) {
		const struct members_value *value = &values->items[i];
		const double hits = (double)value->whole.hits;

		/* A sample is one event, however many hits it stands for. */
		counts[i] = (struct outlier_count){
			.part = fmin((double)value->part.hits, hits),
			.whole = hits,
			.sample = value->whole.samples == 0 ? 1 :
			    fmax(1, hits / (double)value->whole.samples),
		};
	}
	status = outliers_find(counts, values->n, &values->spread, error);
	for (size_t i = 0; i < values->n; i++) {
		values->items[i].z = counts[i].z;
		values->items[i].q = counts[i].q;
	}
	free(counts);
	return status;
}

/* ---- showing ---- */

/* What deviates most comes first. */
static int
members_compare_values(const void *left, const void *right)
{
	const struct members_value *a = left, *b = right;
	double x = isnan(a->z) ? -1 : fabs(a->z);
	double y = isnan(b->z) ? -1 : fabs(b->z);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->part.hits != b->part.hits)
		return a->part.hits > b->part.hits ? -1 : 1;
	return strcmp(a->text, b->text);
}

static const char *
verdict(const struct members_value *value)
{
	if (isnan(value->q))
		return "undecided";
	if (value->q > FALSE_ALARMS)
		return "noise";
	return value->z > 0 ? "more" : "less";
}

static struct cell
members_cell_known(double number)
{
	return isnan(number) ? (struct cell){ .kind = CELL_EMPTY } :
	       cell_number(number);
}

static int
add_heading(const struct values *values, struct table *table,
            struct error *error)
{
	const struct members_request *wanted = values->wanted;
	double share = values->whole.hits == 0 ? 0 :
	    (double)values->part.hits / (double)values->whole.hits;

	if (table_add_header(table, error, "stacks that are kept by: %s",
	                     wanted->step) != 0 ||
	    table_add_header(table, error, "key: %s; share of all %zu: %.4f",
	                     wanted->key, values->n, share) != 0 ||
	    table_add_field(table, "key", NULL, cell_text(wanted->key),
	                    error) != 0 ||
	    table_add_field(table, "share", NULL, cell_fraction(share),
	                    error) != 0 ||
	    table_add_field(table, "spread", NULL,
	                    members_cell_known(values->spread), error) != 0)
		return -1;
	if (isnan(values->spread) && values->n >= OUTLIER_LEAST)
		return table_add_header(table, error, "nothing to compare: all "
		                        "values have %s", share > 0 ?
		                        "only such stacks" : "no such stacks");
	if (isnan(values->spread))
		return table_add_header(table, error, "fewer than %d values: "
		                        "how much they differ by themselves is "
		                        "unknown", OUTLIER_LEAST);
	return table_add_header(table, error, "besides chance, shares differ by "
	                        "a standard deviation of %.4f, which z allows "
	                        "for", values->spread);
}

static int
members_show(struct values *values, struct table *table, struct error *error)
{
	static const struct column columns[] = {
		{ "share", "share", .kind = CELL_FRACTION },
		{ "hits", "hits", .kind = CELL_HITS },
		{ "of", "of", .kind = CELL_HITS },
		{ "z", "z", .kind = CELL_NUMBER },
		{ "q", "q", .kind = CELL_NUMBER },
		{ "verdict", "verdict", .kind = CELL_TEXT },
		{ "value", "value", .kind = CELL_TEXT },
	};
	const struct measure measure = measure_of(values->request);
	struct hidden hidden = { 0 };
	size_t n = values->n;

	if (n > 1)
		qsort(values->items, n, sizeof *values->items,
		      members_compare_values);
	if (n > values->request->limit) {
		hidden.beyond_limit = n - values->request->limit;
		n = values->request->limit;
	}
	if (view_describe(values->request, &members_kind, &measure, &hidden,
	                  table, error) != 0 ||
	    add_heading(values, table, error) != 0)
		return -1;
	table_add_columns(table, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < n; i++) {
		const struct members_value *value = &values->items[i];
		const char *text = table_text(table, error, "%s", value->text);
		const struct cell cells[] = {
			cell_fraction((double)value->part.hits /
			              (double)value->whole.hits),
			cell_hits(value->part.hits),
			cell_hits(value->whole.hits),
			members_cell_known(value->z),
			members_cell_known(value->q),
			cell_text(verdict(value)),
			cell_text(text),
		};

		if (text == NULL || table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

int
view_members(const struct view_request *request,
             const struct members_request *wanted, struct table *table,
             struct error *error)
{
	struct values values = {
		.request = request, .wanted = wanted,
		.names = names_new(error),
	};
	int result = -1;

	if (values.names != NULL && members_collect(&values, error) == 0 &&
	    test(&values, error) == 0)
		result = members_show(&values, table, error);
	free(values.items);
	names_free(values.names);
	return result;
}
