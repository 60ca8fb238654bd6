/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noise.h -- how far off sampled numbers may be, and what differs by more than
 * that.
 *
 * It knows numbers, no profiles. All functions are pure; arrays are borrowed
 * and the caller's.
 */
#ifndef CPPROF_NOISE_NOISE_H
#define CPPROF_NOISE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

/* ---- distributions.c ---- */

/*
 * Tails of the distributions that tests of counts need.
 *
 * All are pure functions that return a probability between 0 and 1, or the
 * value that belongs to one.  Relative error: below 1e-9, also far out in the
 * tails and for large counts.
 */

/* Of a standard normal Z: P(|Z| >= |z|); and the z >= 0 for which it is p. */
double normal_two_sided(double z);
double normal_two_sided_quantile(double p);

/*
 * P(X >= x) of F(1, df), df > 0; INFINITY allowed: chi-square with 1 degree of
 * freedom.  Student's t with df degrees has P(|T| >= |t|) = f_upper(t^2, df).
 */
double f_upper(double x, double df);

/* The t >= 0 with P(|T| >= t) = p, 0 < p < 1. */
double student_two_sided_quantile(double p, double df);

/*
 * Exact test whether k of n events fit a probability of 0 < p < 1: twice the
 * smaller of P(X <= k) and P(X >= k), at most 1.  O(sqrt(n)) steps; above 10^10
 * events by the normal approximation.  Source: continued fraction of the
 * incomplete beta function, its factor by Loader's (2000) saddle point
 * expansion.
 */
double binomial_test(uint64_t k, uint64_t n, double p);

/*
 * x log(x / mean) + mean - x, without cancellation; x >= 0, mean > 0.  The
 * deviance of counts is twice the sum of these.
 */
double deviance_part(double x, double mean);

/* Derivatives of log gamma, x > 0; the x > 0 with trigamma(x) = y > 0. */
double digamma(double x);
double trigamma(double x);
double trigamma_inverse(double y);

/* ---- estimate.c ---- */

/*
 * How far off a number from one sampled run may be.
 *
 * Hits come in samples, and chance decides how many samples a stack has.  A
 * sample that stands for several hits is a cluster, so hits have a variance of
 * phi * hits, phi = hits / samples, at least 1.  This is the noise of sampling
 * alone: that runs differ is not in it.
 */

/*
 * The hits of some stacks, and the samples that they came in.  If `most` is not
 * 0, some hits were measured, as waits are, and have no noise; samples that were
 * drawn have at most so many hits.
 */
struct sampled {
	uint64_t hits, samples, most;
};

/* From low to high lies the true value in 95 of 100 runs. */
struct estimate {
	double value, low, high;
};

/* Of 95 of 100 values of a normal distribution. */
#define ESTIMATE_95 1.959963984540054

/*
 * Variance of hits / their number; 1 without hits.  It is at least 1, but where
 * hits were measured: there it is that of as many samples with the most hits,
 * if that is less.  So it is too large where few samples were drawn.
 */
double sampled_phi(struct sampled sampled);

/*
 * What a sample stands for where runs are compared, which may differ in what
 * was measured, too: the same, but at least 1.
 */
double sampled_size(double hits, double samples, uint64_t most);

/*
 * phi of a part's hits, and of its share of a whole that contains it, as the
 * errors and intervals below have it.  Of a part without hits, part_phi is that
 * of any part of the whole, at most.
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

/* ---- jackknife.c ---- */

/*
 * How far off a share of a sum of many profiles may be.
 *
 * The profiles that were added up, its members, are a sample of all that could
 * have been, and they differ.  Each is in one of several random groups.  If the
 * share hardly changes when a group is left out, another fleet would have
 * nearly the same; so the changes show the standard error, whatever the members
 * differ in (delete-a-group jackknife: Kott 2001; for groups of unequal sizes
 * Busing, Meijer & van der Leeden 1999).
 */

/* What each group has of a part, such as a path, and of the whole. */
struct jackknife {
	size_t n;		/* groups, each with at least one member */
	const double *members;	/* [n] of each group */
	const uint64_t *part;		/* [n] hits */
	const uint64_t *whole;		/* [n] hits; NULL: the members, of which
					 * part has a number of hits each */
};

/*
 * The standard error of part / whole, with n - 1 degrees of freedom.  NAN if
 * the groups cannot show it: there are fewer than two, or the hits of the part
 * or of the whole are all in one; also if they have no hits of it.
 */
double jackknife_share_error(const struct jackknife *groups);

/* ---- change.c ---- */

/*
 * Whether counts of two sets of runs differ by more than noise.
 *
 * A row is anything whose hits each run counted: a function's body, a call
 * path.  Each side has one or several runs; several are replicates, from which
 * the noise is estimated.  A count has the variance phi * mean.  phi is at
 * least what a sample stands for, since a sample of several hits is a cluster;
 * it is more where runs differ by more than chance.
 *
 * One run on each side: exact binomial test below 30 samples, else z^2.  It is
 * divided by the inflation, the median z^2 of all rows over that of chance
 * ("genomic control", Devlin & Roeder 1999), which is work that moves among the
 * rows; what a run took as a whole is known, so a row has less of it the more
 * of the run it is.  If most rows grew, or shrank, that is more likely the
 * machine: the inflation is about their median ratio, and a row must differ from
 * the base and from that times the ratio.  The verdict is at most "likely".  A
 * change that the samples show, but not all this, is undecided.
 *
 * Replicates: phi of each row, shrunken towards the common one (Smyth 2004;
 * quasi-likelihood as in Lund et al. 2012), and F(1, df).  On a busy machine a
 * whole run is slower than another, and all its rows with it; however many
 * rows there are, they show this only once.  So what the sums of the runs vary
 * by more than their rows is a part of each row's variance, in proportion to
 * the square of its mean, with the degrees of freedom of the runs alone
 * (Satterthwaite 1946).
 *
 * Several rows: Benjamini & Hochberg 1995.
 *
 * Counted work is a ratio's denominator: by the delta method, its relative
 * variance adds to that of each row.  What a row has in common with it is not
 * taken off, so the interval of such a row is rather too wide.
 *
 * 	change_noise_fit(&bodies, &noise);	the bodies of all functions
 * 	change_test(&rows, &noise, 0.05, changes, &error);	the rows shown
 */

/*
 * What runs counted, in any unit that is the same for all (hits if the
 * intervals agree, else gticks).  Borrowed.
 */
struct change_columns {
	size_t n_rows;
	size_t n_base, n_now;		/* runs, at least 1 each; for
					 * change_sum n_base is 0 */
	const uint64_t *const *base;	/* [n_base][n_rows] */
	const uint64_t *const *now;	/* [n_now][n_rows] */
	/*
	 * The work that each run did, > 0: counts are compared per unit of it.
	 * NULL: equal work, 1 each.
	 */
	const double *base_work, *now_work;	/* [n_base], [n_now] */
	/*
	 * Rows are parts of the work, which is hits, and their shares of it are
	 * what counts: a count has the variance phi * mean * (1 - share), and
	 * the length of a run is no part of it.
	 */
	bool are_shares;
	/*
	 * If the work was itself counted: how many units say what it was, of
	 * all runs of a side, > 0.  Its noise is part of that of every row.  0:
	 * the work is known.
	 */
	double base_work_units, now_work_units;
	/*
	 * [n_rows] what one sample of the row stands for, in units, > 0: hits /
	 * samples of both sides, at least 1, times gticks a hit if the unit is
	 * gticks.  NULL: the counts are no counts of samples (bytes, or of
	 * unknown origin), so nothing is known of their noise but what
	 * replicates show.
	 */
	const double *sample;
	/*
	 * One run on each side: all that each run counted, of which rows are
	 * parts.  0: unknown.
	 */
	double base_whole, now_whole;
};

/*
 * One run on each side cannot tell a change by less than this part from what
 * the runs of a program differ by on a machine that does other work, too.
 */
#define CHANGE_BETWEEN_RUNS 0.15

/* By how much more rows may grow alike because the machine is slower. */
#define CHANGE_OF_MACHINES 1.5

/* How much the counts of these runs vary, besides chance. */
struct change_noise {
	double inflation;	/* one run on each side: of z^2, at least 1 */
	double inflation_df;	/* how well it is known; 0: it is 1 */
	double ratio;		/* likewise: by which the rows grew alike, at
				 * most CHANGE_OF_MACHINES times, or its inverse;
				 * 1: they did not */
	/*
	 * Replicates: phi of a row is about common times what its sample
	 * stands for (1 if unknown).  df: how many degrees of freedom that
	 * knowledge is worth, 0: none; it and those of the row are together
	 * worth at most most_df.
	 */
	double common, df, most_df;
	/*
	 * Replicates: the variance of whole runs, of which rows are a share,
	 * relative to the square of the mean; 0: none is seen.  shared_df: that
	 * of the runs.  typical: the mean of a row and run for which this is a
	 * part of common.
	 */
	double shared, shared_df, typical;
};

/* GREW and SHRANK need replicates that show the row's noise. */
enum change_verdict {
	CHANGE_UNDECIDED,	/* nothing is known of the noise */
	CHANGE_NEEDS_RUNS,	/* one run on each side: more than chance, but
				 * runs may differ by as much */
	CHANGE_NOISE,		/* no more than noise does */
	CHANGE_LIKELY_GREW, CHANGE_LIKELY_SHRANK,
	CHANGE_GREW, CHANGE_SHRANK,
	N_CHANGE_VERDICTS
};

/* "undecided", "undecided", "noise", "likely grew", "likely shrank", "grew",
 * "shrank". */
extern const char *const change_verdict_names[N_CHANGE_VERDICTS];

/*
 * One row.  Amounts are in units per unit of work (the mean of a run if all
 * did the same work).  What depends on the noise is NAN if that is unknown.
 */
struct change {
	double base, now;	/* means */
	double change;		/* now - base */
	double low, high;	/* 95% interval of the change */
	double phi;		/* variance / mean, with the inflation, without
				 * the noise of the work */
	double visible;		/* the smallest growth from the base that would
				 * be called one in 80 of 100 cases, if the other
				 * rows are as they are; NAN also if none
				 * would */
	double p;		/* of a difference like this by noise alone */
	double sampling_p;	/* the same of sampling alone; for one run a
				 * side, else p */
	double q;		/* p, adjusted for the number of rows */
	bool is_replicated;	/* replicates show the row's noise */
	enum change_verdict verdict;
};

/*
 * Fits the noise to rows whose hits do not overlap: the bodies of all
 * functions, however small.  Rows of fewer than 5 samples a run do not count.
 * With fewer than 8 that do, the inflation is 1.  O(rows * runs + rows log
 * rows).
 */
int change_noise_fit(const struct change_columns *columns,
                     struct change_noise *noise, struct error *error);

/*
 * Compares each row; changes[n_rows] is the caller's.  A row has changed if its
 * q is at most fdr: of the rows so called, that part is expected to be wrong.
 * noise: by change_noise_fit for the same runs.  O(rows * runs + rows log
 * rows); exact tests of few samples only.
 */
int change_test(const struct change_columns *columns,
                const struct change_noise *noise, double fdr,
                struct change *changes, struct error *error);

/*
 * Whether runs that did the same may differ by as much, each as a whole: by
 * CHANGE_BETWEEN_RUNS, besides the ratio by which all rows grew (1: none).
 */
bool change_is_between_runs(const struct change *change, double ratio);

/*
 * How the sum of a row's runs varies, of one side.  phi: the sum has the
 * variance phi * sum, or of shares phi * sum * (1 - share); NAN if nothing is
 * known of it; it is never less than that of sampling alone.  df: the degrees
 * of freedom of that knowledge; INFINITY: it is sampling alone.
 */
struct change_spread {
	double phi, df;
};

/* noise: by change_noise_fit for the same runs.  O(runs). */
struct change_spread change_sum(const struct change_columns *columns,
                                const struct change_noise *noise, size_t row);

/*
 * Benjamini & Hochberg: p[n] adjusted so that rows with q <= x hold at most x
 * of false ones.  NAN stays and does not count.  q may be p.  Likewise.
 */
int change_adjust(const double *p, size_t n, double *q, struct error *error);

/* ---- change_points.c ---- */

/*
 * Where a number changed by more than noise in a series, as from commit to
 * commit.
 *
 * Each point of the series has one or several runs.  Of all ways to divide the
 * series into m + 1 segments, the one with the least squares about the means
 * of the segments is taken (by dynamic programming: Auger & Lawrence 1989).  m
 * is the largest number for which the test above tells each segment from the
 * next one: the runs of both are its replicates, and its noise is that of the
 * runs nearby.
 *
 * What is done to a machine between two points changes all runs of a point
 * together.  So a change must also be more than points of the same segment
 * differ by, each taken as one run; short segments take this from those nearby,
 * too.  Where points have fewer than two degrees of freedom for that, as two or
 * three points have, a change is at most "likely", and none if it is smaller
 * than CHANGE_BETWEEN_RUNS.
 *
 * The place of a change was chosen among all, so its probability is multiplied
 * by the number of pairs of points (Bonferroni).
 */

/* Changes that are looked for at most. */
enum { CHANGE_POINTS_MAX = 32 };

struct series {
	size_t n_points;
	const size_t *first;	/* [n_points + 1] a point's runs are those from
				 * first[point] to first[point + 1] - 1; there
				 * is at least one */
	const uint64_t *values;	/* [runs] */
	const double *work;	/* [runs] that values are compared per unit of,
				 * > 0 */
	double sample;		/* what a sample of the values stands for; 0:
				 * they are no counts of samples */
	/* The bodies of functions, by which the noise is fitted. */
	size_t n_rows;
	const uint64_t *const *rows;	/* [runs][n_rows] */
	const double *row_samples;	/* [n_rows] */
};

struct change_point {
	size_t point;		/* the first with the new value */
	struct change change;	/* of the segment that begins there from the
				 * one before; q is Bonferroni's */
};

/*
 * Finds *n changes in the order of the series; changes[CHANGE_POINTS_MAX] is
 * the caller's.  0, or -1 with *error set.  O(points^2 + rows * runs).
 */
int change_points_find(const struct series *series,
                       struct change_point *changes, size_t *n,
                       struct error *error);

/*
 * Half of the 95% intervals of the mean of each point, by what its runs and
 * those nearby show of the noise: halves[n_points]; NAN: unknown.
 */
int change_points_errors(const struct series *series, double *halves,
                         struct error *error);

/* ---- outliers.c ---- */

/*
 * Which of many hosts have another share than all others.
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
 * chance; NAN: unknown.  O(n log n) times at most 100.
 */
int outliers_find(struct outlier_count *counts, size_t n, double *spread,
                  struct error *error);

/* ---- call_lengths.c ---- */

/*
 * How long the calls of a function took, from those that samples have seen.
 *
 * A thread is sampled at equal distances of its time, `interval`, wherever it
 * is.  So a call longer than that is seen, and a shorter one with a probability
 * of length / interval.  A call that is seen began at an unknown moment between
 * two samples: its length is known to within the distance of these.
 *
 * The shorter ones are not known one by one, but how many there are is.  Of a
 * call, the part after its first sample, its tail, is distributed evenly between
 * 0 and its length, with a density of 1 / interval for each call.  So the
 * density of tails at a length, times the interval, is the number of calls that
 * are longer than that, but shorter than the interval.
 *
 * A sample that comes late stands for several intervals.  The tail that follows
 * it counts as often: that is its weight.
 *
 * Samples fall into the time that a thread computes or waits in a call, and not
 * into its waits for a processor.  So a call that is longer than the interval
 * only by such waits is seen by chance, as a shorter one is, and so is one that
 * is shorter than the distance of two samples, of which one came late.  Tails
 * leave these waits out.  Of the calls that are seen by chance, those with the
 * shortest tails that count stand for all: their lengths are those of all.
 *
 * But a thread often loses its processor at the tick that is the sample, so the
 * wait that follows is in the calls that were seen, as often as they were, and
 * not in the others.
 *
 * Samples hardly see calls of microseconds, however many there are.  So calls
 * that are shorter than call_lengths_least are left out of these numbers.  But
 * each sample in one stands for an interval of time, and its tail is half as long
 * as the call, on average; so how much time they take is known, and about how
 * many they are.
 */

/* Calls of about one length, [least, end). */
struct length_count {
	double least, end;
	double n;
	double spread;		/* mean of the distances in which they began;
				 * of tails, the sum of the squares of their
				 * weights, divided by n */
	/* Of those that were seen by chance: their tail, and their length
	 * without the wait at their first sample. */
	double tail, without_wait, without_wait_end;
	bool is_estimate;	/* of call_lengths_add_by_chance */
	double variance;	/* of n, then */
};

/* Shortest first, [n] each. */
struct call_lengths {
	const struct length_count *lengths, *tails;
	size_t n_lengths, n_tails;
	double interval;
};

/*
 * Adds to the lengths what the calls that were seen by chance stand for.  Sets
 * calls->lengths to the caller's all[n_lengths + 2 * n_by_chance].
 */
void call_lengths_add_by_chance(struct call_lengths *calls,
                                const struct length_count *by_chance,
                                size_t n_by_chance, struct length_count *all);

/* A number, its standard error, and what it may be with a probability of 95%. */
struct call_estimate {
	double value, error;
	double low, high;
	double below;	/* of a length with the value 0: it is probably shorter
			 * than this */
};

/* The shortest length that counts: an 80th of the interval. */
double call_lengths_least(const struct call_lengths *calls);

/*
 * The calls that are at least as long as the interval; the shorter ones; all but
 * those that are left out; these, with their part of the time that was sampled
 * in calls.  The value is never negative.
 */
struct call_totals {
	struct call_estimate longer, shorter, all, left_out;
	double left_out_time;
};

struct call_totals call_totals_estimate(const struct call_lengths *calls);

/* The number of calls that take at least `length`, which is not less than the
 * interval. */
struct call_estimate call_lengths_above(const struct call_lengths *calls,
                                        double length);

/*
 * The length that a share p of all calls, 0 < p < 1, do not exceed, those that
 * are left out included.  Its bounds contain both the chance of the sample and
 * the unknown beginnings.  A value of 0: it is shorter than `below`, the interval
 * or the shortest length that counts.  A `high` of INFINITY: it is not known.
 */
struct call_estimate call_lengths_quantile(const struct call_lengths *calls,
                                           const struct call_totals *totals,
                                           double p);

#endif
