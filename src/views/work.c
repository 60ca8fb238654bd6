/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.c -- how much work each of several runs did. */
#include "src/views/work.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/sort.h"
#include "src/views/measure.h"

/* Fewer hits on average say nothing about a run as a whole. */
enum { FEWEST_HITS = 5 };

/* Makes the mean of the base 1; 0, or -1 with *error set. */
static int
normalise(double *work, size_t n, size_t n_base, struct error *error)
{
	double sum = 0;

	for (size_t i = 0; i < n_base; i++)
		sum += work[i] / (double)n_base;
	for (size_t i = 0; i < n; i++) {
		work[i] /= sum;
		if (!(work[i] > 0) || !isfinite(work[i]))
			return error_set(error, "the runs have too little in "
			                 "common for scale robust");
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
	return 1.96 * sqrt(fmax(1, all / samples) *
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
			return error_set(error, "scale by %s: a run %s has no "
			    "hits of it", names_text(runs[i].names, function),
			    i < n_base ? "of the base" : "now");
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
add_bodies(const struct sample_set *run, double *bodies)
{
	const struct sample_tree *tree = run->tree;

	if (run->flow != NULL) {
		for (uint32_t i = 0; i < run->flow->n_names; i++)
			bodies[i] += (double)run->flow->functions[i].self;
		return;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		bodies[tree->label[node]] +=
		    (double)run->self[tree->row[node]];
}

/*
 * The variance of a weighted median of n ratios r is sum w^2 / (2 sum w f)^2,
 * where f is the density of each r at 1 (Gauss-Markov theory; Koenker 2005,
 * chapter 3).  A ratio of m hits is normal with the variance phi / m, and
 * weights are hits: so it is that of a sum of 2/pi (sum m^1.5)^2 / sum m^2
 * hits.
 */
static double
hits_of_median(const double *mean, uint32_t n_names, size_t n_runs)
{
	double upper = 0, lower = 0;

	for (uint32_t f = 0; f < n_names; f++) {
		double hits = mean[f] / (double)n_runs;

		if (mean[f] < (double)(FEWEST_HITS * n_runs))
			continue;
		upper += pow(hits, 1.5);
		lower += hits * hits;
	}
	return M_2_PI * upper * upper / lower;
}

int
work_robust(const struct sample_set *runs, size_t n, size_t n_base,
            double *work, double hits[2], struct error *error)
{
	uint32_t n_names = names_count(runs->names);
	double *mean = memory_array(n_names, sizeof *mean, error);
	double *body = memory_array(n_names, sizeof *body, error);
	struct ratio *ratios = memory_array(n_names, sizeof *ratios, error);
	int result = error->is_set ? -1 : 0;

	for (size_t i = 0; result == 0 && i < n; i++)
		add_bodies(&runs[i], mean);
	for (size_t i = 0; result == 0 && i < n; i++) {
		size_t n_ratios = 0;

		for (uint32_t f = 0; f < n_names; f++)
			body[f] = 0;
		add_bodies(&runs[i], body);
		for (uint32_t f = 0; f < n_names; f++)
			if (mean[f] >= (double)(FEWEST_HITS * n))
				ratios[n_ratios++] = (struct ratio){
					body[f] / mean[f] * (double)n, mean[f],
				};
		result = weighted_median(ratios, n_ratios, &work[i], error);
	}
	if (result == 0) {
		double a_run = hits_of_median(mean, n_names, n);

		hits[0] = a_run * (double)n_base;
		hits[1] = a_run * (double)(n - n_base);
	}
	free(mean);
	free(body);
	free(ratios);
	return result != 0 ? -1 : normalise(work, n, n_base, error);
}
