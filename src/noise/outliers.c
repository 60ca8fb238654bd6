/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outliers.c -- which of many hosts have another share than all others.
 *
 * Counts here are samples over (1 - share), so that a binomial count of few or
 * many has the variance of its mean like one of Poisson.  Of a share above a
 * half the rest is tested, with the opposite sign.
 */
#include "src/noise/noise.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/memory.h"

enum {
	LEAST_EXPECTED = 3,	/* samples of a host that shows the spread */
	LEAST_SHOWING = 5,	/* hosts that do; else all do */
	MOST_OUTLIERS = 100,
	LEAST_TAIL = 4,		/* hosts that show how a tail falls */
};

static const double NAMED = 0.05;

/* One host that is not taken away. */
struct host {
	double count, whole;
	size_t number;		/* of the caller's */
};

/* What hosts have in common. */
struct common {
	double share, spread;	/* the spread is relative to the share */
	double information;	/* of the spread's square */
	double variance;	/* of the share, relative to its square */
};

/* The scale on which counts with the variance m + (spread m)^2 have that of 1. */
static double
scaled(double count, double spread)
{
	const double root = sqrt(count);

	return spread > 1e-6 ? 2 / spread * asinh(spread * root) : 2 * root;
}

/* The relative variance of a count with that mean. */
static double
variance_of(double mean, double spread)
{
	return 1 / mean + spread * spread;
}

/* ---- what hosts have in common ---- */

/* The hosts that show it. */
struct outliers_showing {
	const struct host *hosts;
	size_t n;
	double least;		/* the whole that they have at least */
	size_t n_showing;
};

static double
residual(const struct host *host, double share, double spread)
{
	/* Anscombe's constants, by which few counts have the mean 0. */
	return scaled(host->count + 0.375, spread) -
	    scaled(host->whole * share + 0.125, spread);
}

/*
 * The share for which the weighted residuals are 0, beginning with *share;
 * returns the sum of their squares.
 */
static double
sum_of_squares(const struct outliers_showing *showing, double *share,
               double spread)
{
	double squares = 0;

	for (size_t k = 0; k < 8; k++) {
		double slope = 0, sum = 0, step;

		squares = 0;
		for (size_t i = 0; i < showing->n; i++) {
			const struct host *host = &showing->hosts[i];
			double off, weight;

			if (host->whole < showing->least)
				continue;
			off = residual(host, *share, spread);
			weight = 1 / sqrt(variance_of(host->whole * *share,
			                              spread));
			squares += off * off;
			sum += off * weight;
			slope += weight * weight;
		}
		step = fmax(-1, fmin(1, sum / slope));
		if (fabs(step) < 1e-5)
			break;
		*share *= exp(step);
	}
	return squares;
}

/*
 * The spread for which the squares are as many as the degrees of freedom (Paule
 * & Mandel 1982), by the Illinois method; guess: about that, > 0.
 */
static double
find_spread(const struct outliers_showing *showing, double *share, double guess)
{
	const double wanted = (double)showing->n_showing - 1;
	double low = 0, high = guess;
	double above = sum_of_squares(showing, share, 0) - wanted, below;

	if (above <= 0)
		return 0;
	while ((below = sum_of_squares(showing, share, high) - wanted) > 0 &&
	       high < 1e6) {
		low = high;
		above = below;
		high *= 1.5;
	}
	if (below > 0)
		return high;
	for (size_t i = 0; i < 100 && high - low > 1e-4 * high; i++) {
		const double middle = (low * below - high * above) /
		    (below - above);
		const double more = sum_of_squares(showing, share, middle) -
		    wanted;

		if (fabs(more) < 1e-4 * wanted)
			return middle;
		if (more > 0) {
			low = middle;
			above = more;
			below /= 2;
		} else {
			high = middle;
			below = more;
			above /= 2;
		}
	}
	return high;
}

static struct outliers_showing
hosts_that_show(const struct host *hosts, size_t n, double share)
{
	struct outliers_showing showing = {
		.hosts = hosts, .n = n, .least = LEAST_EXPECTED / share,
	};

	for (size_t i = 0; i < n; i++)
		showing.n_showing += hosts[i].whole >= showing.least;
	if (showing.n_showing < LEAST_SHOWING) {
		showing.least = 0;
		showing.n_showing = n;
	}
	return showing;
}

static void
add_information(const struct outliers_showing *showing, struct common *common)
{
	double sum = 0;

	common->information = 0;
	for (size_t i = 0; i < showing->n; i++) {
		const struct host *host = &showing->hosts[i];
		double weight;

		if (host->whole < showing->least)
			continue;
		weight = 1 / variance_of(host->whole * common->share,
		                         common->spread);
		common->information += weight * weight;
		sum += weight;
	}
	common->variance = 1 / sum;
}

/* guess: the spread, about. */
static struct common
find_common(const struct host *hosts, size_t n, double guess)
{
	struct common common = { 0 };
	struct outliers_showing showing;
	double count = 0, whole = 0;

	for (size_t i = 0; i < n; i++) {
		count += hosts[i].count;
		whole += hosts[i].whole;
	}
	common.share = fmax(count, 0.5) / whole;
	showing = hosts_that_show(hosts, n, common.share);
	common.spread = find_spread(&showing, &common.share, guess);
	add_information(&showing, &common);
	/* By chance less may be seen than there is: half a standard error. */
	common.spread = fmax(common.spread,
	                     sqrt(0.5 * sqrt(2 / common.information)));
	add_information(&showing, &common);
	return common;
}

/* ---- tests ---- */

/* How far out a host is that is not one of those. */
static double
z_of(const struct host *host, const struct common *common)
{
	const double mean = host->whole * common->share;
	const double variance = variance_of(mean, common->spread);
	const double others = sqrt(1 + common->variance / variance);
	const double up = scaled(fmax(host->count - 0.25, 0), common->spread) -
	    scaled(mean, common->spread);
	const double down = (host->count + 0.25 - mean) /
	    (mean * sqrt(variance));

	return (up > 0 ? up : fmin(down, 0)) / others;
}

static double
df_of(const struct host *host, const struct common *common)
{
	const double variance = variance_of(host->whole * common->share,
	                                    common->spread);

	return fmax(variance * variance * common->information - 1, 1);
}

/* As many as are as far out, to either side, among n hosts; at most 1. */
static double
adjusted_p(const struct host *host, const struct common *common, double z,
           size_t n)
{
	return fmin(1, (double)n * f_upper(z * z, df_of(host, common)));
}

static int
outliers_compare_doubles(const void *a, const void *b, void *context)
{
	const double x = *(const double *)a, y = *(const double *)b;

	(void)context;
	return (x > y) - (x < y);
}

/*
 * The probability of a gap between z and the next of n hosts, if the tail falls
 * like that of the half of the hosts on that side.  rest[n] is scratch.
 */
static int
gap_p(const struct host *hosts, size_t n, const struct common *common,
      double z, double *rest, double *p, struct error *error)
{
	const size_t n_tail = n / 2 > LEAST_TAIL ? n / 2 : LEAST_TAIL;
	const double sign = z > 0 ? -1 : 1;
	double mean = 0, gap;

	*p = 1;
	if (n <= n_tail)
		return 0;
	/* The farthest first. */
	for (size_t i = 0; i < n; i++)
		rest[i] = sign * z_of(&hosts[i], common);
	if (sort_items(rest, n, sizeof *rest, outliers_compare_doubles, NULL,
	               error) != 0)
		return -1;
	for (size_t i = 0; i < n_tail; i++)
		mean += (rest[n_tail] - rest[i]) / (double)n_tail;
	gap = rest[0] + fabs(z);
	if (gap > 0)
		*p = mean > 0 ? pow(1 + gap / mean / (double)n_tail,
		                    -(double)n_tail) : 0;
	return 0;
}

/* What is taken away. */
struct taken {
	double z, q;
};

/* Puts the farthest of *n hosts behind them, and tests it with the others. */
static int
take_farthest(struct host *hosts, size_t *n, struct common *common,
              double *scratch, struct taken *taken, struct error *error)
{
	size_t farthest = 0;
	double most = -1, p;
	struct host host;

	for (size_t i = 0; i < *n; i++) {
		const double z = fabs(z_of(&hosts[i], common));

		if (z > most) {
			most = z;
			farthest = i;
		}
	}
	host = hosts[farthest];
	hosts[farthest] = hosts[--*n];
	hosts[*n] = host;
	*common = find_common(hosts, *n, common->spread);
	taken->z = z_of(&host, common);
	if (gap_p(hosts, *n, common, taken->z, scratch, &p, error) != 0)
		return -1;
	taken->q = fmax(p, adjusted_p(&host, common, taken->z, *n + 1));
	return 0;
}

/* Sets hosts[n]; returns the sign of what is tested, 0 if nothing is there. */
static double
make_hosts(const struct outlier_count *counts, size_t n, struct host *hosts)
{
	double part = 0, whole = 0, share;

	for (size_t i = 0; i < n; i++) {
		part += counts[i].part;
		whole += counts[i].whole;
	}
	share = part / whole;
	if (!(share > 0) || !(share < 1))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const double scale = counts[i].sample *
		    fmax(share, 1 - share);

		hosts[i] = (struct host){
			.count = (share > 0.5 ? counts[i].whole -
			          counts[i].part : counts[i].part) / scale,
			.whole = counts[i].whole / scale,
			.number = i,
		};
	}
	return share > 0.5 ? -1 : 1;
}

/* Outliers are all up to the last one that is one; how many these are. */
static size_t
count_outliers(struct taken *taken, size_t n)
{
	double least = 1;
	size_t n_outliers = 0;

	for (size_t i = n; i-- > 0;) {
		least = taken[i].q = fmin(least, taken[i].q);
		if (least <= NAMED && n_outliers == 0)
			n_outliers = i + 1;
	}
	return n_outliers;
}

static int
find_outliers(struct outlier_count *counts, struct host *hosts, size_t n,
              double sign, double *scratch, struct taken *taken,
              double *spread, struct error *error)
{
	const size_t most = n / 5 > MOST_OUTLIERS ? MOST_OUTLIERS : n / 5;
	struct common common = find_common(hosts, n, 0.1);
	size_t n_left = n, n_outliers;
	double least_q = 0;

	for (size_t i = 0; i < most; i++)
		if (take_farthest(hosts, &n_left, &common, scratch, &taken[i],
		                  error) != 0)
			return -1;
	n_outliers = count_outliers(taken, most);
	for (size_t i = 0; i < n_outliers; i++) {
		counts[hosts[n - 1 - i].number].z = sign * taken[i].z;
		counts[hosts[n - 1 - i].number].q = taken[i].q;
	}
	if (n_outliers < most)
		least_q = taken[n_outliers].q;
	common = find_common(hosts, n - n_outliers, common.spread);
	for (size_t i = 0; i < n - n_outliers; i++) {
		struct outlier_count *count = &counts[hosts[i].number];

		count->z = z_of(&hosts[i], &common);
		count->q = fmax(least_q, adjusted_p(&hosts[i], &common,
		                                    count->z, n));
		count->z *= sign;
	}
	*spread = common.spread * common.share;
	return 0;
}

int
outliers_find(struct outlier_count *counts, size_t n, double *spread,
              struct error *error)
{
	struct host *hosts = memory_array(n, sizeof *hosts, error);
	struct taken *taken = memory_array(n, sizeof *taken, error);
	double *scratch = memory_array(n, sizeof *scratch, error);
	double sign;
	int status = error->is_set ? -1 : 0;

	*spread = NAN;
	for (size_t i = 0; i < n; i++)
		counts[i].z = counts[i].q = NAN;
	if (status == 0 && n >= OUTLIER_LEAST &&
	    (sign = make_hosts(counts, n, hosts)) != 0)
		status = find_outliers(counts, hosts, n, sign, scratch, taken,
		                       spread, error);
	free(hosts);
	free(taken);
	free(scratch);
	return status;
}
