/* SPDX-License-Identifier: GPL-3.0-or-later */
/* group_noise.c -- how far off numbers of a merged profile may be. */
#include "src/views/hits/hits.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/noise/noise.h"

struct group_noise
group_noise_of(const struct view_request *request)
{
	struct group_noise noise = { .groups = request->groups };

	if (noise.groups == NULL)
		return noise;
	noise.sets = &request->columns[request->n_columns - noise.groups->n];
	for (uint32_t g = 0; g < noise.groups->n; g++)
		noise.whole.hits[g] = measure_denominator(request,
		                                          &noise.sets[g]);
	return noise;
}

int
group_noise_path(const struct group_noise *noise, const uint32_t *path,
                 size_t n, struct group_hits *hits, struct error *error)
{
	return path_hits_of_sets(noise->sets, noise->groups->n, path, n, false,
	                         hits->hits, error);
}

struct group_function *
group_noise_functions(const struct group_noise *noise, struct error *error)
{
	struct group_function *functions = NULL;

	for (uint32_t g = 0; g < noise->groups->n; g++) {
		uint32_t n;
		struct function_total *totals = function_totals(&noise->sets[g],
		                                                &n, error);

		/* The groups have one tree, so their functions one order. */
		if (totals != NULL && functions == NULL)
			functions = memory_array(n, sizeof *functions, error);
		if (totals == NULL || functions == NULL) {
			free(totals);
			free(functions);
			return NULL;
		}
		for (uint32_t i = 0; i < n; i++) {
			functions[i].body.hits[g] = totals[i].self;
			functions[i].inclusive.hits[g] = totals[i].inclusive;
		}
		free(totals);
	}
	return functions;
}

double
group_share_error(const struct group_noise *noise, const uint64_t *part)
{
	return jackknife_share_error(&(struct jackknife){
		.n = noise->groups->n,
		.members = noise->groups->members,
		.part = part,
		.whole = noise->whole.hits,
	});
}

/* The standard error of the sum of the groups. */
static double
sum_error(const struct group_noise *noise, const struct group_hits *part)
{
	double members = 0;

	for (uint32_t g = 0; g < noise->groups->n; g++)
		members += noise->groups->members[g];
	return members * jackknife_share_error(&(struct jackknife){
		.n = noise->groups->n,
		.members = noise->groups->members,
		.part = part->hits,
	});
}

/*
 * The quantile of Student's t that replaces z, for an error estimated from n
 * groups.
 */
static double
group_noise_student_of(uint32_t n, double z)
{
	return z * student_two_sided_quantile(0.05, n - 1) / ESTIMATE_95;
}

/*
 * The union of two intervals: value +- t errors; and the values from which this
 * one is t errors away, where the square of the error is in proportion to them
 * (score, as of samples).  With few members the first is too short above and
 * the second too short below.
 */
static struct estimate
estimate_hits(double value, double error, double t)
{
	double half = error > 0 ? t * error * t * error / value / 2 : 0;
	double width = sqrt(half * (2 * value + half));

	return (struct estimate){
		value,
		fmax(fmin(value - t * error, value + half - width), 0),
		fmax(value + t * error, value + half + width),
	};
}

/* The same where that square is in proportion to s (1 - s), 0 < s < 1. */
static struct estimate
group_noise_estimate_share(double share, double error, double t)
{
	double z2 = t * error * t * error / (share * (1 - share));
	double middle = (share + z2 / 2) / (1 + z2);
	double width = sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2);

	return (struct estimate){
		share,
		fmax(fmin(share - t * error, middle - width), 0),
		fmin(fmax(share + t * error, middle + width), 1),
	};
}

static struct estimate
estimate_unknown(double value)
{
	return (struct estimate){ value, NAN, NAN };
}

struct estimate
group_share_estimate(const struct group_noise *noise,
                     const struct group_hits *part, struct sampled of_part,
                     struct sampled of_whole, double z)
{
	double share = of_whole.hits == 0 ? 0 :
	    (double)of_part.hits / (double)of_whole.hits;
	double error = group_share_error(noise, part->hits);
	double t = group_noise_student_of(noise->groups->n, z);

	if (isnan(error))
		return estimate_unknown(share);
	return share > 0 && share < 1 ?
	    group_noise_estimate_share(share, error, t) :
	    estimate_hits(share, error, t);
}

struct estimate
group_hits_estimate(const struct group_noise *noise,
                    const struct group_hits *part, struct sampled of_part,
                    double z)
{
	double hits = (double)of_part.hits, error = sum_error(noise, part);

	return isnan(error) ?
	    estimate_unknown(hits) :
	    estimate_hits(hits, error,
	                  group_noise_student_of(noise->groups->n, z));
}
