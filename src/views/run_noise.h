/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_noise.h -- how far off numbers of several loaded runs may be.
 *
 * Views show the sum of the runs.  These vary by more than the chance of
 * sampling, and each of them by itself shows by how much, as in a comparison:
 * change.h fits that to the bodies of all functions.  An amount varies with the
 * length of a run; a share varies about that of the sum, however long a run is.
 */
#ifndef CPPROF_VIEWS_RUN_NOISE_H
#define CPPROF_VIEWS_RUN_NOISE_H

#include "src/noise/change.h"
#include "src/views/amount.h"

/* How a number of the sum varies as an amount, and as a share. */
struct run_spread {
	struct change_spread hits, share;
};

struct run_noise {
	/* The caller's. */
	const struct view_request *request;	/* for the sum */
	const struct sample_set *sets;	/* [n] the runs; their names have other
					 * numbers */
	size_t n;
	struct sampled sum;		/* what shares are of */

	double *whole;			/* [n] the hits of that in each run */
	struct change_noise of_hits, of_shares;
	/* Of the functions of the sum, by place; NULL: nothing is known. */
	struct run_spread *body, *inclusive;
};

/*
 * Counts all functions in each of n > 1 runs and fits the noise.
 * functions[n_functions]: those of the sum, by place.  0, or -1 with *error
 * set; call run_noise_free in either case.  O(nodes) for each run.
 */
int run_noise_make(struct run_noise *noise, const struct view_request *request,
                   const struct sample_set *sets, size_t n,
                   struct sampled sum, const struct function_amount *functions,
                   uint32_t n_functions, struct error *error);
void run_noise_free(struct run_noise *noise);

/*
 * The spread of a path of n >= 1 names of the sum, which has that part of it.
 * 0, or -1 with *error set.  O(nodes) for each run.
 */
int run_noise_path(const struct run_noise *noise, const uint32_t *path,
                   size_t n, struct sampled part, struct run_spread *spread,
                   struct error *error);

/*
 * The hits of a part of the sum, and its share of a whole, with intervals that
 * contain the true value as often as those of z standard errors that are known
 * exactly.  They are never narrower than those of sampling alone.  low and high
 * are NAN if nothing shows how the runs vary.
 */
struct estimate run_hits_estimate(const struct run_spread *spread,
                                  struct sampled part, double z);
struct estimate run_share_estimate(const struct run_spread *spread,
                                   struct sampled part, struct sampled whole,
                                   double z);

#endif
