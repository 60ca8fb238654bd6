/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outliers.h -- which of many hosts have another share than all others.
 *
 * Each host counted samples, and a part of them is asked for.  Hosts differ by
 * themselves, more than by chance: a share has the variance of chance and that
 * among hosts, spread^2 * share^2, which the hosts show together.  A host is an
 * outlier if it is farther out than this allows:
 *
 * - Upwards it is measured on the scale on which such counts have a constant
 *   variance (asinh: the root of few counts, the logarithm of many), downwards
 *   by the difference itself.  Shares of hosts are skewed upwards, so both are
 *   rather too careful for what is less skewed than a lognormal distribution.
 * - The other hosts show how much they differ, so it is Student's t, with the
 *   degrees of freedom that they have; the probability is multiplied by the
 *   number of hosts.  Several outliers hide each other, so the farthest is
 *   taken away, and the next tested without it (Rosner 1983), until a fifth of
 *   the hosts is gone.
 * - Tails of other distributions are heavier: the gap between the host and the
 *   next one must be too large for a tail that falls exponentially like that of
 *   the other hosts.
 */
#ifndef CPPROF_NOISE_OUTLIERS_H
#define CPPROF_NOISE_OUTLIERS_H

#include <stddef.h>

#include "src/base/error.h"

/* Of one host.  The first three are the caller's. */
struct outlier_count {
	double part, whole;	/* hits, part <= whole, whole > 0 */
	double sample;		/* hits a sample, at least 1 */
	double z;		/* how far out, in standard errors; > 0: more.
				 * NAN: there is nothing to compare */
	double q;		/* probability that among so many hosts without
				 * an outlier one is as far out, if they are
				 * enough; else NAN */
};

/* With fewer, it is not known how much hosts differ. */
#define OUTLIER_LEAST 8

/*
 * Sets z and q of n hosts, and the standard deviation of their shares besides
 * chance; NAN: unknown.  0, or -1 with *error
 * set if memory runs out.  O(n log n) times at most 100.
 */
int outliers_find(struct outlier_count *counts, size_t n, double *spread,
                  struct error *error);

#endif
