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
	LEAST_DF = 2,		/* degrees of freedom from which on points show
				 * what they differ by */
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
	double mean;			/* of all points, per unit of work */
	struct partial_sum *sums;		/* [n + 1] */
	struct best *best;		/* [most + 1][n + 1] */
	/* [most + 2] the division that is tried: segment i goes from bounds[i]
	 * to bounds[i + 1] - 1. */
	size_t *bounds;
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
	free(search->bounds);
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
	double all = 0, work = 0;

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
	search->mean = all / work;
	for (size_t i = 0; i < search->n; i++) {
		const struct partial_sum *before = &search->sums[i];
		const double off = search->totals[i] -
		    search->mean * search->work[i];

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

/* Some neighbouring segments of the division that is tried. */
struct neighbours {
	size_t first, end;		/* numbers of segments */
};

/*
 * The two segments about a change, and as many whole ones on each side as it
 * takes to have the points nearby.
 */
static struct neighbours
neighbours_of(const struct point_search *search, size_t m, size_t change)
{
	struct neighbours near = { change, change + 2 };

	while (search->bounds[near.end] - search->bounds[near.first] <
	       2 * NEARBY && (near.first > 0 || near.end < m + 1)) {
		near.first -= near.first > 0;
		near.end += near.end < m + 1;
	}
	return near;
}

static double
mean_of(const struct point_search *search, size_t begin, size_t end)
{
	const struct partial_sum *a = &search->sums[begin];
	const struct partial_sum *b = &search->sums[end];

	return search->mean + (b->value - a->value) / (b->work - a->work);
}

/*
 * What the points of the other neighbours differ by from the means of their
 * segments, each taken as one run.  Points differ in proportion to their size:
 * those of a higher level count as if they were as high as the two segments.
 */
static struct change_noise
noise_of_neighbours(const struct point_search *search,
                    const struct neighbours *near, size_t change)
{
	const size_t *bounds = search->bounds;
	const double level = mean_of(search, bounds[change],
	                             bounds[change + 2]);
	const double sample = search->series->sample;
	struct change_noise noise = {
		.ratio = 1, .inflation = 1, .common = 1, .most_df = INFINITY,
	};
	double residual = 0;

	for (size_t i = near->first; i < near->end; i++) {
		const size_t begin = bounds[i], end = bounds[i + 1];
		const double mean = mean_of(search, begin, end);

		if (i == change || i == change + 1 || !(mean > 0))
			continue;
		residual += squares_of(search, begin, end) / mean *
		    fmin(1, level / mean);
		noise.df += (double)(end - begin - 1);
	}
	if (noise.df > 0)
		noise.common = residual / noise.df / (sample > 0 ? sample : 1);
	return noise;
}

/* The p of the two segments about a change, each point a run. */
static int
search_test_points(const struct point_search *search,
                   const struct neighbours *near, size_t change, double *p,
                   struct error *error)
{
	const size_t *bounds = &search->bounds[change];
	const struct change_noise noise = noise_of_neighbours(search, near,
	                                                      change);
	const struct change_columns columns = {
		.n_rows = 1,
		.n_base = bounds[1] - bounds[0], .n_now = bounds[2] - bounds[1],
		.base = search->points + bounds[0],
		.now = search->points + bounds[1],
		.base_work = search->work + bounds[0],
		.now_work = search->work + bounds[1],
		.sample = search->series->sample > 0 ?
		    &search->series->sample : NULL,
	};
	struct change tested;

	if (change_test(&columns, &noise, FALSE_PART, &tested, error) != 0)
		return -1;
	*p = tested.p;
	return 0;
}

/*
 * Where too few points show what they differ by: a change is at most likely,
 * and none if points may differ by as much.  Counts that never vary do not.
 */
static void
search_doubt(struct change *change)
{
	if (change->phi == 0)
		return;
	if (change_is_between_runs(change, 1))
		change->p = 1;
	if (change->verdict == CHANGE_GREW)
		change->verdict = CHANGE_LIKELY_GREW;
	if (change->verdict == CHANGE_SHRANK)
		change->verdict = CHANGE_LIKELY_SHRANK;
}

/* Tests one of m changes; q is 1 where nothing is known of the noise. */
static int
search_test(struct point_search *search, size_t m, size_t number,
            struct change_point *point, struct error *error)
{
	const struct series *series = search->series;
	const double n_pairs = (double)search->n * (double)(search->n - 1) / 2;
	const size_t *bounds = &search->bounds[number];
	const struct neighbours near = neighbours_of(search, m, number);
	const size_t df = search->bounds[near.end] -
	    search->bounds[near.first] - (near.end - near.first);
	struct change_columns columns = columns_of(series, bounds[0],
	                                           bounds[1], bounds[2]);
	struct change *change = &point->change;
	const struct change_noise *noise;
	double of_points = 0;

	point->point = bounds[1];
	columns.n_rows = 1;
	columns.base = search->values + series->first[bounds[0]];
	columns.now = search->values + series->first[bounds[1]];
	columns.sample = series->sample > 0 ? &series->sample : NULL;
	if (search_noise_at(search, bounds[1], &noise, error) != 0 ||
	    change_test(&columns, noise, FALSE_PART, change, error) != 0)
		return -1;
	if (df < LEAST_DF)
		search_doubt(change);
	else if (search_test_points(search, &near, number, &of_points,
	                            error) != 0)
		return -1;
	change->p = fmax(change->p, of_points);
	change->q = fmin(change->p * n_pairs, 1);
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
	size_t *bounds = search->bounds;

	bounds[m + 1] = search->n;
	for (size_t i = m + 1; i-- > 0;)
		bounds[i] = i == 0 ? 0 :
		    best_of(search, i, bounds[i + 1])->last;
	*n = 0;
	for (size_t i = 0; i < m; i++) {
		if (search_test(search, m, i, &changes[i], error) != 0)
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
		search.bounds = memory_array(search.most + 2,
		                             sizeof *search.bounds, error);
	if (search.bounds != NULL)
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
