/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.c -- how much work each of several runs did. */
#include "src/views/comparison/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* Fewer hits on average say nothing about a run as a whole. */
enum { FEWEST_HITS = 5 };

/* Makes the mean of the base 1. */
static int
normalise(double *work, size_t n, size_t n_base, struct error *error)
{
	double sum = 0;

	for (size_t i = 0; i < n_base; i++)
		sum += work[i] / (double)n_base;
	for (size_t i = 0; i < n; i++) {
		work[i] /= sum;
		if (!(work[i] > 0) || !isfinite(work[i]))
			return error_set(error, "scale robust: the runs have "
			                 "too few functions in common; use "
			                 "scale work N");
	}
	return 0;
}

double
work_uncertainty(const struct sample_set *runs, size_t n,
                 const double hits[2])
{
	double all = 0, samples = 0;

	for (size_t i = 0; i < n; i++) {
		if (runs[i].resource->counting != COUNTING_SAMPLED)
			return NAN;
		all += (double)runs[i].total;
		samples += (double)runs[i].n_samples;
	}
	return 1.96 * sqrt(sampled_size(all, samples, sampled_most(runs, n)) *
	                   (1 / hits[0] + 1 / hits[1]));
}

int
work_by_function(const struct sample_set *runs, size_t n, size_t n_base,
                 uint32_t function, double *work, double hits[2],
                 struct error *error)
{
	hits[0] = hits[1] = 0;
	for (size_t i = 0; i < n; i++) {
		work[i] = (double)measure_function(&runs[i], function);
		if (work[i] == 0)
			return error_set(error, "scale by %s: a %s run has no "
			    "hits of this function; choose another one",
			    names_text(runs[i].names, function),
			    i < n_base ? "base" : "loaded");
		hits[i >= n_base] += work[i];
	}
	return normalise(work, n, n_base, error);
}

/* What a function's body used in a run, as a part of its mean. */
struct ratio {
	double ratio, weight;
};

static int
compare_ratios(const void *a, const void *b, void *context)
{
	const struct ratio *x = a, *y = b;

	(void)context;
	return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

static int
weighted_median(struct ratio *ratios, size_t n, double *median,
                struct error *error)
{
	double half = 0, sum = 0;

	*median = 0;
	if (sort_items(ratios, n, sizeof *ratios, compare_ratios, NULL,
	               error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		half += ratios[i].weight / 2;
	for (size_t i = 0; i < n && sum < half; i++) {
		sum += ratios[i].weight;
		*median = ratios[i].ratio;
	}
	return 0;
}

static void
work_add_bodies(const struct sample_set *run, double *bodies)
{
	const struct sample_tree *tree = run->tree;

	if (run->flow != NULL) {
		for (uint32_t i = 0; i < run->flow->n_names; i++)
			bodies[i] += (double)run->flow->functions[i].self;
		return;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		bodies[tree->label[node]] +=
		    (double)run->self[sample_tree_row(tree, node)];
}

/* What the bodies of functions used: [n_names] each. */
struct bodies {
	uint32_t n_names;
	double *sides[2];	/* of all runs of the base, and now */
	double *run;		/* of one run */
	double *weight;		/* in the median; 0: does not count */
};

static void
bodies_free(struct bodies *bodies)
{
	free(bodies->sides[0]);
	free(bodies->sides[1]);
	free(bodies->run);
	free(bodies->weight);
}

/*
 * A function's weight is its use on the side where it used less.  So growth
 * gives it no more weight.
 */
static void
weigh_functions(const struct bodies *bodies, size_t n_base, size_t n_now)
{
	for (uint32_t f = 0; f < bodies->n_names; f++) {
		double base = bodies->sides[0][f], now = bodies->sides[1][f];

		bodies->weight[f] =
		    base + now < (double)(FEWEST_HITS * (n_base + n_now)) ? 0 :
		    fmin(base / (double)n_base, now / (double)n_now);
	}
}

static double
work_sum_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

/* How far a function is from the work found so far, in units of chance. */
static double
deviation(const struct bodies *bodies, uint32_t f, const double sums[2])
{
	double base = bodies->sides[0][f], now = bodies->sides[1][f];

	return fabs(log(now / sums[1]) - log(base / sums[0])) /
	    sqrt(1 / base + 1 / now);
}

/*
 * Removes functions that changed, which would shift the median to one side:
 * those more than 4 times as far from the work found so far as half of the use
 * is.  1 if any counted in the median, 0, or -1 with *error set.
 */
static int
drop_changed(const struct bodies *bodies, const double *work, size_t n,
             size_t n_base, struct ratio *ratios, struct error *error)
{
	const double far = 4;	/* 2.7 standard deviations of a normal one */
	const double sums[2] = { work_sum_of(work, n_base),
		work_sum_of(work + n_base, n - n_base) };
	double middle;
	size_t n_ratios = 0;
	int is_any = 0;

	for (uint32_t f = 0; f < bodies->n_names; f++)
		if (bodies->weight[f] > 0)
			ratios[n_ratios++] = (struct ratio){
				deviation(bodies, f, sums),
				bodies->weight[f],
			};
	if (weighted_median(ratios, n_ratios, &middle, error) != 0)
		return -1;
	for (uint32_t f = 0; f < bodies->n_names; f++)
		if (bodies->weight[f] > 0 &&
		    deviation(bodies, f, sums) > far * middle) {
			bodies->weight[f] = 0;
			is_any = 1;
		}
	return is_any;
}

/*
 * The variance of a weighted median of n ratios r is sum w^2 / (2 sum w f)^2,
 * where f is the density of each r at 1 (Gauss-Markov theory; Koenker 2005,
 * chapter 3).  A ratio of m hits is normal with the variance phi / m, and
 * weights are hits: so it is that of a sum of 2/pi (sum m^1.5)^2 / sum m^2
 * hits.
 */
static double
hits_of_median(const struct bodies *bodies, size_t n_runs)
{
	double upper = 0, lower = 0;

	for (uint32_t f = 0; f < bodies->n_names; f++) {
		double hits = (bodies->sides[0][f] + bodies->sides[1][f]) /
		    (double)n_runs;

		if (bodies->weight[f] == 0)
			continue;
		upper += pow(hits, 1.5);
		lower += hits * hits;
	}
	return M_2_PI * upper * upper / lower;
}

/* The work of each run, by the functions that have a say. */
static int
find_work(const struct sample_set *runs, size_t n, size_t n_base,
          const struct bodies *bodies, struct ratio *ratios, double *work,
          struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		size_t n_ratios = 0;

		memset(bodies->run, 0, bodies->n_names * sizeof(double));
		work_add_bodies(&runs[i], bodies->run);
		for (uint32_t f = 0; f < bodies->n_names; f++)
			if (bodies->weight[f] > 0)
				ratios[n_ratios++] = (struct ratio){
					bodies->run[f] * (double)n /
					    (bodies->sides[0][f] +
					     bodies->sides[1][f]),
					bodies->weight[f],
				};
		if (weighted_median(ratios, n_ratios, &work[i], error) != 0)
			return -1;
	}
	return normalise(work, n, n_base, error);
}

int
work_robust(const struct sample_set *runs, size_t n, size_t n_base,
            double *work, double hits[2], struct error *error)
{
	enum { ROUNDS = 10 };
	uint32_t n_names = names_count(runs->names);
	struct bodies bodies = { .n_names = n_names };
	struct ratio *ratios = memory_array(n_names, sizeof *ratios, error);
	int result = -1, is_any = 1;

	bodies.sides[0] = memory_array(n_names, sizeof(double), error);
	bodies.sides[1] = memory_array(n_names, sizeof(double), error);
	bodies.run = memory_array(n_names, sizeof(double), error);
	bodies.weight = memory_array(n_names, sizeof(double), error);
	if (!error->is_set) {
		for (size_t i = 0; i < n; i++)
			work_add_bodies(&runs[i], bodies.sides[i >= n_base]);
		weigh_functions(&bodies, n_base, n - n_base);
		result = find_work(runs, n, n_base, &bodies, ratios, work,
		                   error);
	}
	for (int i = 0; result == 0 && is_any && i < ROUNDS; i++) {
		is_any = drop_changed(&bodies, work, n, n_base, ratios, error);
		result = is_any <= 0 ? is_any :
		    find_work(runs, n, n_base, &bodies, ratios, work, error);
	}
	if (result == 0) {
		double a_run = hits_of_median(&bodies, n);

		hits[0] = a_run * (double)n_base;
		hits[1] = a_run * (double)(n - n_base);
	}
	bodies_free(&bodies);
	free(ratios);
	return result;
}
