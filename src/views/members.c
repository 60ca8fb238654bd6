/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.c -- which values of a key use more or less than the others.
 *
 * A value's share is the hits of the chosen stacks of all its hits.  It is
 * compared with the share of all other values together: by an exact binomial
 * test of samples, as a z.  Hosts differ by more than chance: the spread is the
 * standard deviation of their own shares, such that the median z^2 is that of
 * chance.  Its square adds to the variance of each share, which is due to
 * chance alone and so is smaller the more samples there are ("random effects",
 * DerSimonian & Laird 1986; the median, since some do deviate).  Dividing all z
 * by one number would call every large host deviating.  The probabilities are
 * adjusted for the number of values (Benjamini & Hochberg 1995).  Cost:
 * O(sections) after the totals of sections, and the tests.
 */
#include "src/views/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/noise/change.h"
#include "src/noise/distributions.h"
#include "src/views/heading.h"

/* Median of the square of a standard normal. */
#define MEDIAN_CHI_SQUARE 0.4549364

/* With fewer values the spread is not known. */
enum { VALUES_LEAST = 8 };
/* The part of the values called deviating that may be wrong. */
#define FALSE_DISCOVERIES 0.05
/* As far out as a double tells probabilities apart. */
#define Z_MOST 38.0

struct value {
	const char *text;
	struct section_total part, whole;
	double z;		/* NAN: not tested */
	double variance;	/* of the share's difference, by chance */
	double q;
};

struct values {
	const struct view_request *request;
	const struct members_request *wanted;
	struct names *names;
	struct value *items;	/* [n], by names */
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

static struct value *
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
		values->items[values->n++] = (struct value){
			.text = names_text(values->names, number),
			.z = NAN, .q = NAN,
		};
	}
	return &values->items[number];
}

/* The value that a section has of the key; NULL: none. */
static const char *
value_of(const struct profile *profile, uint32_t section, const char *key)
{
	uint32_t number = section_of(profile, section).label_set;
	const struct label_set *set;

	if (number == NO_LABELS)
		return NULL;
	set = &profile->label_sets[number];
	for (uint32_t i = 0; i < set->n; i++) {
		const struct label *label = &profile->labels[set->first + i];

		if (strcmp(names_text(profile->names, label->key), key) == 0)
			return names_text(profile->names, label->value);
	}
	return NULL;
}

static void
add_total(struct section_total *to, const struct section_total *more)
{
	to->hits += more->hits;
	to->samples += more->samples;
}

static int
collect(struct values *values, struct error *error)
{
	const struct members_request *wanted = values->wanted;
	const struct profile *profile = values->request->set->profile;

	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		const char *text = value_of(profile, i, wanted->key);
		struct value *value;

		if (text == NULL || wanted->whole[i].hits == 0)
			continue;
		value = find_value(values, text, error);
		if (value == NULL)
			return -1;
		add_total(&value->part, &wanted->part[i]);
		add_total(&value->whole, &wanted->whole[i]);
		add_total(&values->part, &wanted->part[i]);
		add_total(&values->whole, &wanted->whole[i]);
	}
	return 0;
}

/* ---- the test ---- */

/*
 * The probability of k of a value's n samples by chance, if the others have
 * the share, and the value has the part `of_all` of all samples.  Where no other
 * value has any, or none but, it is that of all of them being in this value.
 */
static double
chance_of(uint64_t k, uint64_t n, double share, double of_all)
{
	if (share > 0 && share < 1)
		return binomial_test(k, n, share);
	k = share > 0 ? n - k : k;
	return binomial_test(k, k, of_all);
}

/*
 * How many standard errors a value's share is from that of the others, by chance
 * alone.  It stays NAN if there are no others, or all have no such stacks or
 * no other ones.
 */
static void
compare_share(const struct values *values, struct value *value)
{
	double all = (double)values->whole.hits;
	double mean = (double)values->part.hits / all;
	double others = (double)(values->whole.hits - value->whole.hits);
	double share = (double)(values->part.hits - value->part.hits) / others;
	double whole = (double)value->whole.hits;
	double phi = whole / (double)value->whole.samples;
	uint64_t n, k;
	double p, z;

	if (!(others > 0) || !(mean > 0) || !(mean < 1))
		return;
	/* A sample is one event, however many hits it stands for. */
	if (!(phi >= 1))
		phi = 1;
	n = (uint64_t)llround(fmin(whole / phi, 9e15));
	k = (uint64_t)llround(fmin((double)value->part.hits / phi, (double)n));
	p = chance_of(k, n, share, whole / all);
	z = p > 0 ? fmin(normal_two_sided_quantile(p), Z_MOST) : Z_MOST;
	/* The others' share is not known exactly either. */
	if (share > 0 && share < 1) {
		z /= sqrt(1 + whole / others);
		mean = share;
	}
	value->z = (double)value->part.hits < share * whole ? -z : z;
	value->variance = mean * (1 - mean) * phi / whole *
	    (1 + whole / others);
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Sets the spread; scratch[n].  A value has a z^2 of at most the median of
 * chance if the square of the spread is at least variance (z^2 / median - 1).
 * So it is the median of these.
 */
static void
find_spread(struct values *values, double *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < values->n; i++) {
		const struct value *value = &values->items[i];

		if (!isnan(value->z))
			scratch[n++] = value->variance * (value->z * value->z /
			                                  MEDIAN_CHI_SQUARE - 1);
	}
	values->spread = NAN;
	if (n < VALUES_LEAST)
		return;
	qsort(scratch, n, sizeof *scratch, compare_doubles);
	values->spread = sqrt(fmax(0, (scratch[(n - 1) / 2] +
	                               scratch[n / 2]) / 2));
}

/* Sets the spread, and each z and q; p[n] is scratch. */
static int
test(struct values *values, double *p, struct error *error)
{
	double more;

	for (size_t i = 0; i < values->n; i++)
		compare_share(values, &values->items[i]);
	find_spread(values, p);
	more = isnan(values->spread) ? 0 : values->spread * values->spread;
	for (size_t i = 0; i < values->n; i++) {
		struct value *value = &values->items[i];

		p[i] = NAN;
		if (isnan(value->z))
			continue;
		value->z *= sqrt(value->variance / (value->variance + more));
		p[i] = normal_two_sided(value->z);
	}
	if (change_adjust(p, values->n, p, error) != 0)
		return -1;
	for (size_t i = 0; i < values->n; i++)
		values->items[i].q = p[i];
	return 0;
}

/* ---- showing ---- */

/* What deviates most comes first. */
static int
compare_values(const void *left, const void *right)
{
	const struct value *a = left, *b = right;
	double x = isnan(a->z) ? -1 : fabs(a->z);
	double y = isnan(b->z) ? -1 : fabs(b->z);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->part.hits != b->part.hits)
		return a->part.hits > b->part.hits ? -1 : 1;
	return strcmp(a->text, b->text);
}

static const char *
verdict(const struct values *values, const struct value *value)
{
	if (isnan(value->q) || isnan(values->spread))
		return "undecided";
	if (value->q > FALSE_DISCOVERIES)
		return "noise";
	return value->z > 0 ? "more" : "less";
}

static struct cell
cell_known(double number)
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
	    table_add_field(table, "key", NULL,
	                    cell_text(wanted->key), error) != 0 ||
	    table_add_field(table, "share", NULL, cell_fraction(share),
	                    error) != 0 ||
	    table_add_field(table, "spread", NULL, cell_known(values->spread),
	                    error) != 0)
		return -1;
	if (isnan(values->spread) && values->n >= VALUES_LEAST)
		return table_add_header(table, error, "nothing to compare: all "
		                        "values have %s", share > 0 ?
		                        "only such stacks" : "no such stacks");
	if (isnan(values->spread))
		return table_add_header(table, error, "fewer than %d values: "
		                        "how much they differ by themselves is "
		                        "unknown", VALUES_LEAST);
	if (values->spread == 0)
		return table_add_header(table, error, "most values differ by "
		                        "chance alone");
	return table_add_header(table, error, "beyond chance, shares of most "
	                        "values differ by a standard deviation of "
	                        "%.4f, which z allows for", values->spread);
}

static int
show(struct values *values, struct table *table, struct error *error)
{
	const struct measure measure = measure_of(values->request);
	struct hidden hidden = { 0 };
	size_t n = values->n;

	if (n > 1)
		qsort(values->items, n, sizeof *values->items, compare_values);
	if (n > values->request->limit) {
		hidden.beyond_limit = n - values->request->limit;
		n = values->request->limit;
	}
	if (view_describe(values->request, &members_kind, &measure, &hidden,
	                  table, error) != 0 ||
	    add_heading(values, table, error) != 0)
		return -1;
	table_add_column(table, "share", "share", CELL_FRACTION);
	table_add_column(table, "hits", "hits", CELL_HITS);
	table_add_column(table, "of", "of", CELL_HITS);
	table_add_column(table, "z", "z", CELL_NUMBER);
	table_add_column(table, "q", "q", CELL_NUMBER);
	table_add_column(table, "verdict", "verdict", CELL_TEXT);
	table_add_column(table, "value", "value", CELL_TEXT);
	for (size_t i = 0; i < n; i++) {
		const struct value *value = &values->items[i];
		const char *text = table_text(table, error, "%s", value->text);
		const struct cell cells[] = {
			cell_fraction((double)value->part.hits /
			              (double)value->whole.hits),
			cell_hits(value->part.hits),
			cell_hits(value->whole.hits),
			cell_known(value->z), cell_known(value->q),
			cell_text(verdict(values, value)), cell_text(text),
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
	double *p = NULL;
	int result = -1;

	if (values.names != NULL && collect(&values, error) == 0)
		p = memory_array(values.n, sizeof *p, error);
	if (p != NULL && test(&values, p, error) == 0)
		result = show(&values, table, error);
	free(p);
	free(values.items);
	names_free(values.names);
	return result;
}
