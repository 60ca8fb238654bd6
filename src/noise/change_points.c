/* SPDX-License-Identifier: GPL-3.0-or-later */
/* change_points.c -- where a number changed in a series. */
#include "src/noise/noise.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

/* A series without a change has one found in fewer than this part of cases. */
static const double FALSE_PART = 0.05;

enum {
	NEARBY = 8,		/* points on each side that the noise is
				 * fitted to: farther ones may differ */
	LEAST_POINTS = 10,	/* from which on points show what they differ
				 * by */
};

/* ---- the best segments ---- */

/*
 * sums[i]: of the points before i, less the mean of all.  The squares about
 * the mean of the points from i to k - 1 are a difference of these.
 */
struct partial_sum {
	double work, value, square;
};

/* Of all ways to divide the first i points by m changes, that with the least
 * squares. */
struct best {
	double squares;
	uint32_t last;		/* change of these */
};

struct point_search {
	const struct series *series;
	size_t n;			/* points */
	size_t most;			/* changes */
	struct partial_sum *sums;		/* [n + 1] */
	struct best *best;		/* [most + 1][n + 1] */
	double *totals, *work;		/* [n] of each point */
	uint64_t *rounded;		/* [n] totals, as counts */
	const uint64_t **values;	/* [runs] each a column of one row */
	const uint64_t **points;	/* [n] likewise */
	struct change_noise *noise;	/* [n] at each point */
	bool *has_noise;		/* [n] */
};

static struct best *
best_of(const struct point_search *search, size_t m, size_t i)
{
	return &search->best[m * (search->n + 1) + i];
}

static double
squares_of(const struct point_search *search, size_t begin, size_t end)
{
	const struct partial_sum *a = &search->sums[begin];
	const struct partial_sum *b = &search->sums[end];
	const double value = b->value - a->value;

	return fmax(b->square - a->square -
	            value * value / (b->work - a->work), 0);
}

static void
search_free(struct point_search *search)
{
	free(search->sums);
	free(search->best);
	free(search->totals);
	free(search->work);
	free(search->rounded);
	free(search->values);
	free(search->points);
	free(search->noise);
	free(search->has_noise);
}

/* Adds up the runs of each point, and the points before each. */
static void
search_add_up(struct point_search *search)
{
	const struct series *series = search->series;
	double all = 0, work = 0, mean;

	for (size_t i = 0; i < search->n; i++) {
		for (size_t run = series->first[i]; run < series->first[i + 1];
		     run++) {
			search->values[run] = &series->values[run];
			search->rounded[i] += series->values[run];
			search->totals[i] += (double)series->values[run];
			search->work[i] += series->work[run];
		}
		search->points[i] = &search->rounded[i];
		all += search->totals[i];
		work += search->work[i];
	}
	mean = all / work;
	for (size_t i = 0; i < search->n; i++) {
		const struct partial_sum *before = &search->sums[i];
		const double off = search->totals[i] - mean * search->work[i];

		search->sums[i + 1] = (struct partial_sum){
			before->work + search->work[i],
			before->value + off,
			before->square + off * off / search->work[i],
		};
	}
}

static int
search_divide(struct point_search *search, struct error *error)
{
	for (size_t i = 1; i <= search->n; i++)
		best_of(search, 0, i)->squares = squares_of(search, 0, i);
	for (size_t m = 1; m <= search->most; m++) {
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
		for (size_t i = m + 1; i <= search->n; i++) {
			struct best best = { INFINITY, 0 };

			for (size_t k = m; k < i; k++) {
				const double squares =
				    best_of(search, m - 1, k)->squares +
				    squares_of(search, k, i);

				if (squares < best.squares)
					best = (struct best){ squares,
						              (uint32_t)k };
			}
			*best_of(search, m, i) = best;
		}
	}
	return 0;
}

/* Call search_free even if it fails. */
static int
search_begin(struct point_search *search, const struct series *series,
             struct error *error)
{
	const size_t n = series->n_points, n_runs = series->first[n];

	*search = (struct point_search){
		.series = series, .n = n,
		.most = n == 0 ? 0 : n - 1 < CHANGE_POINTS_MAX ? n - 1 :
		    CHANGE_POINTS_MAX,
		.sums = memory_array(n + 1, sizeof *search->sums, error),
		.totals = memory_array(n, sizeof *search->totals, error),
		.work = memory_array(n, sizeof *search->work, error),
		.rounded = memory_array(n, sizeof *search->rounded, error),
		.values = memory_array(n_runs, sizeof *search->values, error),
		.points = memory_array(n, sizeof *search->points, error),
		.noise = memory_array(n, sizeof *search->noise, error),
		.has_noise = memory_array(n, sizeof *search->has_noise, error),
	};
	if (error->is_set)
		return -1;
	search_add_up(search);
	return 0;
}

/* ---- the noise nearby ---- */

static struct change_columns
columns_of(const struct series *series, size_t begin, size_t middle,
           size_t end)
{
	const size_t first = series->first[begin];

	return (struct change_columns){
		.n_base = series->first[middle] - first,
		.n_now = series->first[end] - series->first[middle],
		.base_work = series->work + first,
		.now_work = series->work + series->first[middle],
	};
}

/* What the runs about a point show, those before it as a side of their own. */
static int
search_noise_at(struct point_search *search, size_t point,
                const struct change_noise **noise, struct error *error)
{
	const struct series *series = search->series;
	const size_t begin = point < NEARBY ? 0 : point - NEARBY;
	const size_t end = search->n - point < NEARBY ? search->n :
	    point + NEARBY;
	struct change_columns columns = columns_of(series, begin, point, end);

	*noise = &search->noise[point];
	if (search->has_noise[point])
		return 0;
	search->has_noise[point] = true;
	search->noise[point] = (struct change_noise){
		.ratio = 1, .inflation = 1, .common = 1,
	};
	columns.n_rows = series->n_rows;
	columns.base = series->rows + series->first[begin];
	columns.now = series->rows + series->first[point];
	columns.sample = series->sample > 0 ? series->row_samples : NULL;
	return columns.n_base + columns.n_now < 2 || columns.n_rows == 0 ? 0 :
	    change_noise_fit(&columns, &search->noise[point], error);
}

/* ---- the test ---- */

/* The segments from begin to middle - 1, and to end - 1, each point a run. */
static int
search_test_points(const struct point_search *search, size_t begin,
                   size_t middle, size_t end, double *p, struct error *error)
{
	static const struct change_noise none = {
		.ratio = 1, .inflation = 1, .common = 1,
	};
	const struct change_columns columns = {
		.n_rows = 1,
		.n_base = middle - begin, .n_now = end - middle,
		.base = search->points + begin, .now = search->points + middle,
		.base_work = search->work + begin,
		.now_work = search->work + middle,
		.sample = search->series->sample > 0 ?
		    &search->series->sample : NULL,
	};
	struct change change;

	if (change_test(&columns, &none, FALSE_PART, &change, error) != 0)
		return -1;
	*p = change.p;
	return 0;
}

/* Tests one change; q is 1 where nothing is known of the noise. */
static int
search_test(struct point_search *search, size_t begin, size_t end,
            struct change_point *point, struct error *error)
{
	const struct series *series = search->series;
	const double n_pairs = (double)search->n * (double)(search->n - 1) / 2;
	struct change_columns columns = columns_of(series, begin,
	                                           point->point, end);
	const struct change_noise *noise;
	double of_points = 0;

	columns.n_rows = 1;
	columns.base = search->values + series->first[begin];
	columns.now = search->values + series->first[point->point];
	columns.sample = series->sample > 0 ? &series->sample : NULL;
	if (search_noise_at(search, point->point, &noise, error) != 0 ||
	    change_test(&columns, noise, FALSE_PART, &point->change, error) !=
	        0)
		return -1;
	if (end - begin >= LEAST_POINTS &&
	    search_test_points(search, begin, point->point, end, &of_points,
	                       error) != 0)
		return -1;
	point->change.p = fmax(point->change.p, of_points);
	point->change.q = fmin(point->change.p * n_pairs, 1);
	return 0;
}

static bool
is_change(const struct change *change)
{
	return change->q <= FALSE_PART &&
	    change->verdict >= CHANGE_LIKELY_GREW;
}

/* Tests the best m changes; *n: how many these are if all hold, else 0. */
static int
search_try(struct point_search *search, size_t m, struct change_point *changes,
           size_t *n, struct error *error)
{
	size_t end = search->n;

	for (size_t i = m; i-- > 0;) {
		changes[i].point = best_of(search, i + 1, end)->last;
		end = changes[i].point;
	}
	*n = 0;
	for (size_t i = 0; i < m; i++) {
		const size_t begin = i == 0 ? 0 : changes[i - 1].point;

		end = i + 1 == m ? search->n : changes[i + 1].point;
		if (search_test(search, begin, end, &changes[i], error) != 0)
			return -1;
		if (!is_change(&changes[i].change))
			return 0;
	}
	*n = m;
	return 0;
}

int
change_points_find(const struct series *series, struct change_point *changes,
                   size_t *n, struct error *error)
{
	struct point_search search;
	int status = -1;

	*n = 0;
	if (search_begin(&search, series, error) == 0)
		search.best = memory_array((search.most + 1) * (search.n + 1),
		                           sizeof *search.best, error);
	if (search.best != NULL)
		status = search_divide(&search, error);
	for (size_t m = search.most; status == 0 && m > 0 && *n == 0; m--)
		status = search_try(&search, m, changes, n, error);
	search_free(&search);
	return status;
}

/* ---- errors ---- */

int
change_points_errors(const struct series *series, double *halves,
                     struct error *error)
{
	struct point_search search;
	int status = search_begin(&search, series, error);

	for (size_t i = 0; status == 0 && i < search.n; i++) {
		struct change_columns columns = columns_of(series, i, i, i + 1);
		const struct change_noise *noise;
		struct change_spread spread;

		columns.n_rows = 1;
		columns.now = search.values + series->first[i];
		columns.sample = series->sample > 0 ? &series->sample : NULL;
		/* Neighbours share what is known of the noise. */
		status = search_noise_at(&search, i - i % NEARBY, &noise,
		                         error);
		if (status != 0)
			break;
		spread = change_sum(&columns, noise, 0);
		halves[i] = sqrt(spread.phi * search.totals[i]) /
		    search.work[i] * (isinf(spread.df) ? ESTIMATE_95 :
		                      student_two_sided_quantile(0.05,
		                                                 spread.df));
	}
	search_free(&search);
	return status;
}
