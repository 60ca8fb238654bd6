/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_lengths.c -- from calls that were seen to all calls.
 *
 * Why no weights: a call that is seen with the probability P would count 1 / P,
 * but P is length / interval, and of a call shorter than the interval the length
 * is not known.  With a guess, such as the tail and half an interval, short
 * calls count far too little.  The density of tails needs no guess.  That at the
 * shortest length that counts is estimated from the counts n1 and n2 of two
 * neighbouring ranges of the width h from there on, extrapolated as a straight
 * line: (3 n1 - n2) / 2h.  The width follows the data, since short calls may take
 * a fiftieth of the interval.
 *
 * Why not from 0 on: of calls of a microsecond, 100,000 are found by 25 samples,
 * whose tails are not longer than what it takes to return from the sample.  So
 * their number is known less well than that of the others, and stays apart.
 *
 * Why lengths above the interval are estimated: nine calls of ten that take 20 ms
 * because others had the processor may compute for half a millisecond, and of
 * these one in eight is seen.
 */
#include "src/noise/noise.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_IN_RANGE = 8, LEAST_PART = 80 };

static const double TWO_SIDED_95 = 1.959964;

/* How many are in [0, end); within a bin, evenly. */
static double
count_below(const struct length_count *bins, size_t n, double end)
{
	double sum = 0;

	for (size_t i = 0; i < n && bins[i].least < end; i++)
		sum += bins[i].end <= end ? bins[i].n : bins[i].n *
		    (end - bins[i].least) / (bins[i].end - bins[i].least);
	return sum;
}

/* The mean weight of tails, each counted as often as its weight. */
static double
mean_weight(const struct length_count *bins, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += bins[i].n;
		squares += bins[i].n * bins[i].spread;
	}
	return sum > 0 ? fmax(1, squares / sum) : 1;
}

/*
 * The width of the range from `begin` on that has `wanted` of them, at most
 * `most`.
 */
static double
find_range(const struct length_count *bins, size_t n, double begin,
           double wanted, double most)
{
	double sum = -count_below(bins, n, begin);

	for (size_t i = 0; i < n && bins[i].least < begin + most; i++) {
		if (sum + bins[i].n >= wanted && bins[i].n > 0)
			return fmin(most, bins[i].least - begin +
			            (bins[i].end - bins[i].least) *
			            (wanted - sum) / bins[i].n);
		sum += bins[i].n;
	}
	return most;
}

double
call_lengths_least(const struct call_lengths *calls)
{
	return calls->interval / LEAST_PART;
}

static struct call_estimate
with_bounds(double value, double error)
{
	return (struct call_estimate){
		value, error, fmax(0, value - TWO_SIDED_95 * error),
		value + TWO_SIDED_95 * error, 0,
	};
}

/* The width of the two ranges from `least` on that tell how many are shorter. */
static double
shorter_width(const struct call_lengths *calls, double weight)
{
	const double least = call_lengths_least(calls);
	const double n = count_below(calls->tails, calls->n_tails,
	                             calls->interval) -
	    count_below(calls->tails, calls->n_tails, least);
	const double wanted = weight * fmax(LEAST_IN_RANGE,
	                                    pow(n / weight, 2.0 / 3));

	return find_range(calls->tails, calls->n_tails, least, wanted,
	                  calls->interval / 2);
}

/*
 * Those whose time that is sampled is shorter than the interval and the shortest
 * length that counts.
 */
static struct call_estimate
estimate_shorter(const struct call_lengths *calls)
{
	const double interval = calls->interval;
	const double least = call_lengths_least(calls);
	const double before = count_below(calls->tails, calls->n_tails, least);
	const double weight = mean_weight(calls->tails, calls->n_tails);
	const double width = shorter_width(calls, weight);
	double first, second, value, error;

	first = count_below(calls->tails, calls->n_tails, least + width) -
	    before;
	second = count_below(calls->tails, calls->n_tails, least + 2 * width) -
	    before - first;
	value = (3 * first - second) / 2 * interval / width;
	/* What was not seen at all may still have been there once. */
	error = sqrt(weight * fmax(1, 9 * first + second)) / 2 * interval /
	    width;
	return with_bounds(fmax(0, value), error);
}

static int
length_count_compare(const void *a, const void *b)
{
	const double x = ((const struct length_count *)a)->least;
	const double y = ((const struct length_count *)b)->least;

	return x < y ? -1 : x > y;
}

/*
 * Each stands for as many as its sample does, with the wait at that; those with
 * tails in the two ranges for all others, without it.
 */
void
call_lengths_add_by_chance(struct call_lengths *calls,
                           const struct length_count *by_chance,
                           size_t n_by_chance, struct length_count *all)
{
	const double least = call_lengths_least(calls);
	const double weight = mean_weight(calls->tails, calls->n_tails);
	const double end = least + 2 * shorter_width(calls, weight);
	const double in_range =
	    count_below(calls->tails, calls->n_tails, end) -
	    count_below(calls->tails, calls->n_tails, least);
	double n_others = estimate_shorter(calls).value, each;
	size_t n = 0;

	for (size_t i = 0; i < calls->n_lengths; i++)
		all[n++] = calls->lengths[i];
	for (size_t i = 0; i < n_by_chance; i++) {
		if (by_chance[i].without_wait >= by_chance[i].least)
			continue;
		all[n] = by_chance[i];
		all[n].is_estimate = true;
		all[n].variance = by_chance[i].n * (weight - 1);
		n_others -= all[n++].n;
	}
	each = in_range > 0 ? fmax(0, n_others) / in_range : 0;
	for (size_t i = 0; i < n_by_chance; i++) {
		if (by_chance[i].tail < least || by_chance[i].tail >= end)
			continue;
		all[n] = by_chance[i];
		all[n].least = by_chance[i].without_wait;
		all[n].end = by_chance[i].without_wait_end;
		all[n].is_estimate = true;
		all[n].variance = by_chance[i].n * weight * each * each;
		all[n++].n *= each;
	}
	qsort(all, n, sizeof *all, length_count_compare);
	calls->lengths = all;
	calls->n_lengths = n;
}

struct call_estimate
call_lengths_above(const struct call_lengths *calls, double length)
{
	double sum = 0, variance = 0;

	for (size_t i = 0; i < calls->n_lengths; i++) {
		const struct length_count *bin = &calls->lengths[i];
		const double part = bin->least >= length ? 1 :
		    bin->end <= length ? 0 :
		    (bin->end - length) / (bin->end - bin->least);

		sum += part * bin->n;
		variance += part * bin->variance;
	}
	/*
	 * Unless they are estimated, all have been seen: only which side of the
	 * bound is not certain.
	 */
	return with_bounds(sum, sqrt(variance));
}

/* The sum of tails that are shorter than `end`. */
static double
sum_below(const struct length_count *bins, size_t n, double end)
{
	double sum = 0;

	for (size_t i = 0; i < n && bins[i].end <= end; i++)
		sum += bins[i].n * (bins[i].least + bins[i].end) / 2;
	return sum;
}

/*
 * The calls that are left out: short tails that are too many for the others, of
 * which the same part ends in any time.  Too few to be told from chance: none.
 */
static void
estimate_left_out(const struct call_lengths *calls, struct call_totals *totals,
                  double n_certain, double time_certain)
{
	const double least = call_lengths_least(calls);
	const double weight = mean_weight(calls->tails, calls->n_tails);
	const struct call_estimate short_ones = estimate_shorter(calls);
	const double of_others = short_ones.value * least / calls->interval;
	const double found = count_below(calls->tails, calls->n_tails, least);
	const double n = found - of_others;
	const double variance = weight * fmax(found, 1) +
	    pow(short_ones.error * least / calls->interval, 2);
	const double by_chance = count_below(calls->tails, calls->n_tails,
	                                     INFINITY) - n_certain;
	double tail, number;

	if (n <= 0 || n < 3 * sqrt(variance))
		return;
	tail = (sum_below(calls->tails, calls->n_tails, least) -
	        of_others * least / 2) / n;
	tail = fmin(fmax(tail, 1), least / 2);
	number = n * calls->interval / (2 * tail);
	totals->left_out = with_bounds(number, number *
	    sqrt(variance / (n * n) + weight / (3 * n)));
	totals->left_out_time = n * calls->interval /
	    (time_certain + fmax(by_chance, n) * calls->interval);
}

struct call_totals
call_totals_estimate(const struct call_lengths *calls)
{
	struct call_estimate short_ones = estimate_shorter(calls);
	struct call_totals totals = { .left_out_time = 0 };
	double n_certain = 0, time_certain = 0, all;

	for (size_t i = 0; i < calls->n_lengths; i++) {
		const struct length_count *bin = &calls->lengths[i];

		if (bin->is_estimate || bin->end <= calls->interval)
			continue;
		n_certain += bin->n;
		time_certain += bin->n * (bin->least + bin->end) / 2;
	}
	all = short_ones.value + n_certain;
	totals.longer = call_lengths_above(calls, calls->interval);
	totals.all = with_bounds(fmax(all, totals.longer.value),
	                         short_ones.error);
	totals.all.low = fmax(totals.all.low, totals.longer.value);
	totals.shorter = with_bounds(totals.all.value - totals.longer.value,
	                             short_ones.error);
	estimate_left_out(calls, &totals, n_certain, time_certain);
	return totals;
}

/*
 * The length that `rank` calls exceed, and its bounds: those of its bin, and as
 * much as is not known of when its calls began.  Half of that would do if all
 * began after equal times, but if the others mostly began at once, those that
 * did not come to the same bin, whose mean is too small.  0: there are no such
 * calls.
 */
static struct call_estimate
length_at(const struct call_lengths *calls, double rank)
{
	double sum = 0;

	for (size_t i = calls->n_lengths; i-- > 0;) {
		const struct length_count *bin = &calls->lengths[i];

		if (sum + bin->n > rank)
			return (struct call_estimate){
				.value = bin->end - (bin->end - bin->least) *
				    (rank - sum) / bin->n,
				.low = fmax(0, bin->least - bin->spread),
				.high = bin->end + bin->spread,
			};
		sum += bin->n;
	}
	return (struct call_estimate){ 0 };
}

struct call_estimate
call_lengths_quantile(const struct call_lengths *calls,
                      const struct call_totals *totals, double p)
{
	const double all = totals->all.value;
	const double rank = (1 - p) * (all + totals->left_out.value);
	const double below = rank < all || all <= 0 ? calls->interval :
	    call_lengths_least(calls);
	double value, low, high, high_rank, error;

	if (all + totals->left_out.value <= 0)
		return (struct call_estimate){ 0, 0, 0, INFINITY, below };
	value = length_at(calls, rank).value;
	/*
	 * By chance as many as in a sample; the total is an estimate, and so
	 * may be the number of longer ones.
	 */
	error = sqrt(rank * p + pow((1 - p) * totals->all.error, 2) +
	             pow((1 - p) * totals->left_out.error, 2) +
	             pow(call_lengths_above(calls, fmax(value,
	                                    calls->interval)).error, 2));
	high_rank = rank - TWO_SIDED_95 * error;
	low = length_at(calls, rank + TWO_SIDED_95 * error).low;
	high = high_rank <= 0 ? INFINITY : high_rank >= all ? below :
	    fmax(length_at(calls, high_rank).high, calls->interval);
	if (value < calls->interval)
		return (struct call_estimate){ 0, 0, 0, high, below };
	return (struct call_estimate){
		value, isfinite(high) ? (high - low) / 2 / TWO_SIDED_95 :
		INFINITY, low, high, 0,
	};
}
