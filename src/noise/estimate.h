/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.h -- how far off a number from one sampled run may be.
 *
 * Hits come in samples, and chance decides how many samples a stack has.  A
 * sample that stands for several hits is a cluster, so hits have a variance of
 * phi * hits, phi = hits / samples, at least 1.  This is the noise of sampling
 * alone: that runs differ is not in it.
 */
#ifndef CPPROF_NOISE_ESTIMATE_H
#define CPPROF_NOISE_ESTIMATE_H

#include <stdint.h>

/* The hits of some stacks, and the samples that they came in. */
struct sampled {
	uint64_t hits, samples;
};

/* From low to high lies the true value in 95 of 100 runs. */
struct estimate {
	double value, low, high;
};

/* Of 95 of 100 values of a normal distribution. */
#define ESTIMATE_95 1.959963984540054

/* Variance of hits / their number, at least 1; 1 without hits. */
double sampled_phi(struct sampled sampled);

/*
 * phi of a part's hits, and of its share of a whole that contains it, as the
 * errors and intervals below have it.
 */
double part_phi(struct sampled part, struct sampled whole);
double share_phi(struct sampled part, struct sampled whole);

/*
 * The standard error of the share that a part has of a whole, which contains
 * it: sqrt((s (1 - s) / hits of the whole) * phi), phi weighted between that of
 * the part (1 - s) and that of the rest (s).  0 if the whole has no hits.  If
 * the part has more hits than the whole, it is not in it, and the error is that
 * of its hits.
 */
double share_error(struct sampled part, struct sampled whole);

/*
 * That share with its score interval (Wilson 1927) of z standard errors; of a
 * part without hits, phi is that of the whole.  If the part has more hits than
 * the whole, it is not in it, and the interval is that of its hits.
 */
struct estimate share_estimate(struct sampled part, struct sampled whole,
                               double z);

/* Hits with their score interval, likewise. */
struct estimate hits_estimate(struct sampled part, struct sampled whole,
                              double z);

/* The same of hits whose variance is phi * hits, or phi * hits * (1 - share),
 * where phi is known otherwise. */
struct estimate dispersed_share(uint64_t part, uint64_t whole, double phi,
                                double z);
struct estimate dispersed_hits(uint64_t hits, double phi, double z);

#endif
