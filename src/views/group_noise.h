/* SPDX-License-Identifier: GPL-3.0-or-later */
/* group_noise.h -- how far off numbers of a merged profile may be.
 *
 * Its members differ by more than the chance of sampling, and its random groups
 * show by how much (noise/jackknife.h).  Views compute that for all of their
 * rows (columns.h); this is for single functions and paths.
 */
#ifndef CPPROF_VIEWS_GROUP_NOISE_H
#define CPPROF_VIEWS_GROUP_NOISE_H

#include <stdint.h>

#include "src/noise/estimate.h"
#include "src/views/view.h"

/* What each group has of something. */
struct group_hits {
	uint64_t hits[FLEET_GROUPS];
};

/* The groups of a request that has some; borrowed. */
struct group_noise {
	const struct fleet_groups *groups;
	const struct sample_set *sets;	/* [groups->n] */
	struct group_hits whole;	/* what shares are of */
};

struct group_noise group_noise_of(const struct view_request *request);

/* What the groups have of a path of n >= 1 names.  O(nodes). */
int group_noise_path(const struct group_noise *noise, const uint32_t *path,
                     size_t n, struct group_hits *hits, struct error *error);

/* What they have of a function. */
struct group_function {
	struct group_hits body, inclusive;
};

/*
 * All functions in the order of amounts_of_functions, to be freed by the
 * caller.  NULL with *error set.  O(nodes) for each group.
 */
struct group_function *group_noise_functions(const struct group_noise *noise,
                                             struct error *error);

/*
 * The standard error of the share of the whole; NAN if fewer than two groups
 * have hits of the part, so that it is unknown.
 */
double group_share_error(const struct group_noise *noise,
                         const struct group_hits *part);

/*
 * That share, and the sum of the part's hits, with intervals that contain the
 * true value as often as those of z standard errors that are known exactly.
 * low and high are NAN as above.
 */
struct estimate group_share_estimate(const struct group_noise *noise,
                                     const struct group_hits *part,
                                     struct sampled of_part,
                                     struct sampled of_whole, double z);
struct estimate group_hits_estimate(const struct group_noise *noise,
                                    const struct group_hits *part,
                                    struct sampled of_part, double z);

#endif
