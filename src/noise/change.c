/* SPDX-License-Identifier: GPL-3.0-or-later */
/* change.c -- whether counts of two sets of runs differ by more than noise. */
#include "src/noise/noise.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* Of a chi-square with one degree of freedom. */
static const double MEDIAN_OF_CHANCE = 0.454936423119572;
/* 80 of 100 values of a normal distribution lie above this, below its mean. */
static const double POWER_Z = 0.841621233572914;
static const double NORMAL_95 = 1.959963984540054;
/* Rows grew alike if chance has so many of them grow less often than this. */
static const double ALIKE = 0.01;

enum {
	FEW_SAMPLES = 30,	/* a row with fewer is tested exactly */
	LEAST_SAMPLES = 5,	/* a run, for a row to say something of noise */
	LEAST_ROWS = 8,		/* for a median */
};

const char *const change_verdict_names[N_CHANGE_VERDICTS] = {
	[CHANGE_UNDECIDED] = "undecided",
	[CHANGE_NEEDS_RUNS] = "undecided",
	[CHANGE_NOISE] = "noise",
	[CHANGE_LIKELY_GREW] = "likely grew",
	[CHANGE_LIKELY_SHRANK] = "likely shrank",
	[CHANGE_GREW] = "grew",
	[CHANGE_SHRANK] = "shrank",
};

/* The runs of a side, of one row. */
struct side {
	double sum, work, mean;	/* mean: per unit of work */
	double residual;	/* Pearson's chi-square about the mean */
	double df;
};

/* One row of both sides. */
struct pair {
	struct side base, now;
	double sample;		/* see change_columns; 1 if unknown */
	double work_variance;	/* of now's work relative to the base's, if phi
				 * is 1 and a sample stands for one unit */
};

static struct side
side_of(const uint64_t *const *runs, const double *work, size_t n_runs,
        size_t row)
{
	struct side side = { 0 };

	for (size_t i = 0; i < n_runs; i++) {
		side.sum += (double)runs[i][row];
		side.work += work == NULL ? 1 : work[i];
	}
	if (!(side.sum > 0))
		return side;
	side.mean = side.sum / side.work;
	side.df = -1;
	for (size_t i = 0; i < n_runs; i++) {
		double expected = side.mean * (work == NULL ? 1 : work[i]);
		double off = (double)runs[i][row] - expected;

		if (!(expected > 0))	/* no work shows no share */
			continue;
		side.residual += off * off / expected;
		side.df++;
	}
	return side;
}

/* Of counts that are parts of their runs. */
static struct side
side_of_shares(const struct change_columns *columns, size_t row)
{
	struct side side = side_of(columns->now, columns->now_work,
	                           columns->n_now, row);

	if (side.mean < 1)
		side.residual /= 1 - side.mean;
	return side;
}

static double
work_variance(const struct change_columns *columns)
{
	if (columns->base_work_units == 0 || columns->now_work_units == 0)
		return 0;
	return 1 / columns->base_work_units + 1 / columns->now_work_units;
}

static struct pair
pair_of(const struct change_columns *columns, size_t row)
{
	return (struct pair){
		.base = side_of(columns->base, columns->base_work,
		                columns->n_base, row),
		.now = columns->are_shares ? side_of_shares(columns, row) :
		    side_of(columns->now, columns->now_work, columns->n_now,
		            row),
		.sample = columns->sample == NULL ? 1 : columns->sample[row],
		.work_variance = work_variance(columns),
	};
}

static bool
has_replicates(const struct change_columns *columns)
{
	return columns->n_base > 1 || columns->n_now > 1;
}

static double
mean_of_both(const struct pair *pair)
{
	return (pair->base.sum + pair->now.sum) /
	    (pair->base.work + pair->now.work);
}

/* z^2 of a difference if phi is 1: twice the gain in log likelihood. */
static double
deviance(const struct pair *pair)
{
	double mean = mean_of_both(pair);

	if (!(mean > 0))
		return 0;
	return 2 * (deviance_part(pair->base.sum, mean * pair->base.work) +
	            deviance_part(pair->now.sum, mean * pair->now.work));
}

static double
n_samples(const struct pair *pair)
{
	return (pair->base.sum + pair->now.sum) / pair->sample;
}

static double
exact_p(const struct pair *pair)
{
	double now = round(pair->now.sum / pair->sample);
	double n = now + round(pair->base.sum / pair->sample);

	if (!(n > 0))
		return 1;
	return binomial_test((uint64_t)now, (uint64_t)n, pair->now.work /
	                     (pair->base.work + pair->now.work));
}

/* z^2 of a row with one run on each side, before the inflation. */
static double
z2_of(const struct pair *pair)
{
	double z;

	if (n_samples(pair) >= FEW_SAMPLES)
		return deviance(pair) / pair->sample;
	z = normal_two_sided_quantile(exact_p(pair));
	return z * z;
}

/*
 * How many times larger the noise of the work makes the variance of a
 * difference, if both sides have the same mean.
 */
static double
work_factor(const struct pair *pair, double phi, double work_phi)
{
	double mean = mean_of_both(pair);

	if (pair->work_variance == 0 || !(mean > 0))
		return 1;
	return 1 + mean * work_phi * pair->work_variance /
	    (phi * (1 / pair->base.work + 1 / pair->now.work));
}

/* ---- how noisy the runs are ---- */

static int
change_compare_doubles(const void *a, const void *b, void *context)
{
	double x = *(const double *)a, y = *(const double *)b;

	(void)context;
	return (x > y) - (x < y);
}

static int
median_of(double *values, size_t n, double *median, struct error *error)
{
	if (sort_items(values, n, sizeof *values, change_compare_doubles, NULL,
	               error) != 0)
		return -1;
	*median = (values[(n - 1) / 2] + values[n / 2]) / 2;
	return 0;
}

static bool
says_something(const struct change_columns *columns, const struct pair *pair)
{
	double n_runs = (double)(columns->n_base + columns->n_now);

	if (columns->sample == NULL)
		return n_samples(pair) > 0;
	return n_samples(pair) >= LEAST_SAMPLES * n_runs;
}

/* The probability that so many grew, and so many shrank, by chance. */
static double
sign_test(size_t n_up, size_t n_down)
{
	return n_up + n_down == 0 ? 1 :
	    binomial_test(n_up, n_up + n_down, 0.5);
}

/*
 * The ratio by which the rows grew alike: the median of theirs, if more of them
 * grew, or shrank, than by chance; else 1.
 */
static int
common_ratio(const struct change_columns *columns, double *values,
             double *ratio, struct error *error)
{
	size_t n = 0, n_up = 0, n_down = 0;

	*ratio = 1;
	for (size_t i = 0; i < columns->n_rows; i++) {
		const struct pair pair = pair_of(columns, i);

		if (!says_something(columns, &pair))
			continue;
		values[n++] = pair.now.mean / pair.base.mean;
		n_up += pair.now.mean > pair.base.mean;
		n_down += pair.now.mean < pair.base.mean;
	}
	if (n < LEAST_ROWS || sign_test(n_up, n_down) > ALIKE)
		return 0;
	if (median_of(values, n, ratio, error) != 0)
		return -1;
	if (!(*ratio > 0) || !isfinite(*ratio))
		*ratio = 1;
	return 0;
}

/* The median z^2 of the rows over that of chance, about that ratio. */
static int
fit_inflation(const struct change_columns *columns, double *values,
              struct change_noise *noise, struct error *error)
{
	size_t n = 0;
	double median, ratio;

	if (columns->sample == NULL)
		return 0;
	if (common_ratio(columns, values, &ratio, error) != 0)
		return -1;
	for (size_t i = 0; i < columns->n_rows; i++) {
		struct pair pair = pair_of(columns, i);

		if (!says_something(columns, &pair))
			continue;
		pair.now.work *= ratio;
		values[n++] = z2_of(&pair) /
		    work_factor(&pair, pair.sample, pair.sample);
	}
	noise->ratio = fmax(1 / CHANGE_OF_MACHINES,
	                    fmin(ratio, CHANGE_OF_MACHINES));
	if (n < LEAST_ROWS)
		return 0;
	if (median_of(values, n, &median, error) != 0)
		return -1;
	noise->inflation = fmax(1, median / MEDIAN_OF_CHANCE);
	/*
	 * The standard error of the median of n is 2.33 / sqrt(n) of it, and
	 * where chance is all, half of the time the inflation is 1.
	 */
	noise->inflation_df = 0.74 * (double)n;
	return 0;
}

/* What rows show of phi, relative to their samples. */
struct dispersions {
	size_t n;
	double *phi, *df;	/* [n] */
	double sum_df;
};

static int
make_dispersions(struct dispersions *found,
                 const struct change_columns *columns, double *values,
                 struct error *error)
{
	double median;

	for (size_t i = 0; i < columns->n_rows; i++) {
		struct pair pair = pair_of(columns, i);
		double df = pair.base.df + pair.now.df;

		if (!says_something(columns, &pair) || !(df > 0))
			continue;
		found->phi[found->n] = (pair.base.residual +
		    pair.now.residual) / df / pair.sample;
		found->df[found->n++] = df;
		found->sum_df += df;
	}
	if (found->n == 0)
		return 0;
	memcpy(values, found->phi, found->n * sizeof *values);
	if (median_of(values, found->n, &median, error) != 0)
		return -1;
	/*
	 * Most rows are deterministic: what the others vary by says nothing of
	 * them.
	 */
	if (!(median > 0)) {
		found->n = 0;
		return 0;
	}
	/* Runs may be equal by chance; the logarithm of 0 says too much. */
	for (size_t i = 0; i < found->n; i++)
		found->phi[i] = fmax(found->phi[i], 0.01 * median);
	return 0;
}

/*
 * Moments of log phi, whose mean and variance are those of log F (Smyth 2004,
 * section 6.2).  The variance is taken for a standard error more: rows may
 * differ more than they seem to, and trusting the common phi too much calls
 * noise a change.
 */
static void
fit_prior(const struct dispersions *found, struct change_noise *noise)
{
	double n = (double)found->n, mean = 0, variance = 0, chance = 0;

	for (size_t i = 0; i < found->n; i++)
		mean += (log(found->phi[i]) - digamma(found->df[i] / 2) +
		         log(found->df[i] / 2)) / n;
	for (size_t i = 0; i < found->n; i++) {
		double off = log(found->phi[i]) - digamma(found->df[i] / 2) +
		    log(found->df[i] / 2) - mean;

		variance += off * off / (n - 1);
		chance += trigamma(found->df[i] / 2) / n;
	}
	variance += variance * sqrt(2 / (n - 1));
	noise->most_df = found->sum_df;
	if (variance <= chance) {
		noise->df = found->sum_df;
		noise->common = exp(mean);
		return;
	}
	noise->df = 2 * trigamma_inverse(variance - chance);
	noise->common = exp(mean + digamma(noise->df / 2) -
	                    log(noise->df / 2));
}

static int
fit_dispersion(const struct change_columns *columns, double *values,
               struct change_noise *noise, struct error *error)
{
	struct dispersions found = {
		.phi = memory_array(columns->n_rows, sizeof *found.phi, error),
		.df = memory_array(columns->n_rows, sizeof *found.df, error),
	};
	int status = -1;

	if (found.phi != NULL && found.df != NULL)
		status = make_dispersions(&found, columns, values, error);
	if (status == 0 && found.n >= 3)
		fit_prior(&found, noise);
	free(found.phi);
	free(found.df);
	return status;
}

static double
hits_a_run(const struct change_columns *columns, const struct pair *pair)
{
	return (pair->base.sum + pair->now.sum) /
	    (double)(columns->n_base + columns->n_now);
}

/* The sums of the rows of each run, as columns of one row. */
static struct pair
pair_of_sums(const struct change_columns *columns, uint64_t *sums,
             const uint64_t **runs)
{
	const size_t n_base = columns->n_base;
	struct change_columns whole = *columns;

	whole.n_rows = 1;
	whole.base = runs;
	whole.now = runs + n_base;
	whole.sample = NULL;
	for (size_t i = 0; i < n_base + columns->n_now; i++) {
		const uint64_t *run = i < n_base ? columns->base[i] :
		    columns->now[i - n_base];

		runs[i] = &sums[i];
		for (size_t row = 0; row < columns->n_rows; row++)
			sums[i] += run[row];
	}
	return pair_of(&whole, 0);
}

/* The rows that show common, as one: how large they are, and their phi. */
struct typical {
	double hits;		/* a run and row */
	double phi;		/* of their sum, if they are independent */
};

static struct typical
find_typical(const struct change_columns *columns,
             const struct change_noise *noise)
{
	struct typical typical = { 0 };
	double hits = 0, n = 0;

	if (columns->sample == NULL && noise->df == 0)
		return typical;
	for (size_t i = 0; i < columns->n_rows; i++) {
		const struct pair pair = pair_of(columns, i);
		const double own = hits_a_run(columns, &pair);

		if (!says_something(columns, &pair))
			continue;
		n++;
		hits += own;
		typical.phi += own * pair.sample * noise->common;
	}
	if (n > 0)
		typical.hits = hits / n;
	if (hits > 0)
		typical.phi /= hits;
	return typical;
}

static int
fit_shared(const struct change_columns *columns, struct change_noise *noise,
           struct error *error)
{
	const size_t n_runs = columns->n_base + columns->n_now;
	uint64_t *sums = memory_array(n_runs, sizeof *sums, error);
	const uint64_t **runs = memory_array(n_runs, sizeof *runs, error);
	const struct typical typical = find_typical(columns, noise);
	struct pair pair;
	double phi;

	if (sums != NULL && runs != NULL) {
		pair = pair_of_sums(columns, sums, runs);
		noise->shared_df = pair.base.df + pair.now.df;
		noise->typical = typical.hits;
		phi = (pair.base.residual + pair.now.residual) /
		    noise->shared_df - typical.phi;
		if (phi > 0)
			noise->shared = phi / hits_a_run(columns, &pair);
	}
	free(sums);
	free(runs);
	return error->is_set ? -1 : 0;
}

int
change_noise_fit(const struct change_columns *columns,
                 struct change_noise *noise, struct error *error)
{
	double *values = memory_array(columns->n_rows, sizeof *values, error);
	int status;

	*noise = (struct change_noise){
		.ratio = 1, .inflation = 1, .common = 1,
	};
	if (values == NULL)
		return -1;
	status = has_replicates(columns) ?
	    fit_dispersion(columns, values, noise, error) :
	    fit_inflation(columns, values, noise, error);
	free(values);
	if (status == 0 && has_replicates(columns) && !columns->are_shares)
		status = fit_shared(columns, noise, error);
	return status;
}

/* ---- the test ---- */

/* The t of a 95% interval; that of the last call is kept. */
struct student {
	double df, t;
};

static double
student_95(struct student *last, double df)
{
	if (isinf(df))
		return NORMAL_95;
	if (last->df != df)
		*last = (struct student){ df,
			student_two_sided_quantile(0.05, df) };
	return last->t;
}

/*
 * The score interval of a mean, per unit of work, of a count whose variance is
 * phi * mean; unlike mean +- t * deviation it is right for small counts.
 */
static void
change_interval_of(const struct side *side, double phi, double t, double *low,
                   double *high)
{
	double half = t * t * phi / 2;
	double width = sqrt(half * (2 * side->sum + half));

	*low = fmax(side->sum + half - width, 0) / side->work;
	*high = (side->sum + half + width) / side->work;
}

/* Of a difference, from the intervals of its sides (Zou & Donner 2008). */
static void
change_add_interval(struct change *change, const struct pair *pair,
                    double work_phi, double t)
{
	double base_low, base_high, now_low, now_high;
	double work = sqrt(work_phi * pair->work_variance);

	change_interval_of(&pair->base, change->phi, t, &base_low, &base_high);
	change_interval_of(&pair->now, change->phi, t, &now_low, &now_high);
	work *= change->now;
	change->low = change->change - hypot(t * work,
	    hypot(change->now - now_low, base_high - change->base));
	change->high = change->change + hypot(t * work,
	    hypot(now_high - change->now, change->base - base_low));
}

/* What depends on the noise, where nothing is known of that. */
static void
set_unknown(struct change *change)
{
	change->low = change->high = change->phi = change->visible =
	    change->p = change->sampling_p = NAN;
}

/* One run on each side: the variance of a row / its mean. */
static double
phi_of_samples(const struct change_columns *columns, const struct pair *pair,
               const struct change_noise *noise)
{
	const double whole = columns->base_whole + columns->now_whole;
	const double share = whole > 0 ?
	    fmin((pair->base.sum + pair->now.sum) / whole, 1) : 0;

	return pair->sample * (noise->inflation * (1 - share) + share);
}

/* The row if the runs had been as fast as each other. */
static struct pair
at_equal_speed(const struct pair *pair, const struct change_noise *noise)
{
	struct pair equal = *pair;

	equal.now.work *= noise->ratio;
	equal.now.mean = equal.now.sum / equal.now.work;
	return equal;
}

/* The z^2 by which a row differs from both the base and that times the ratio. */
static double
z2_of_both(const struct pair *pair, const struct change_noise *noise)
{
	const struct pair equal = at_equal_speed(pair, noise);

	if (noise->ratio == 1)
		return z2_of(pair);
	if ((pair->now.mean > pair->base.mean) !=
	    (equal.now.mean > equal.base.mean))
		return 0;
	return fmin(z2_of(pair), z2_of(&equal));
}

/* Counts of samples, of which nothing is known but that. */
static void
test_samples(struct change *change, const struct change_columns *columns,
             const struct pair *pair, const struct change_noise *noise)
{
	const double phi = phi_of_samples(columns, pair, noise);

	change->phi = phi;
	change->p = normal_two_sided(sqrt(z2_of_both(pair, noise) *
	    pair->sample / phi / work_factor(pair, phi, phi)));
	change->sampling_p = normal_two_sided(sqrt(z2_of(pair) /
	    work_factor(pair, pair->sample, pair->sample)));
	change_add_interval(change, pair, phi, NORMAL_95);
}

/* Of a variance that is the sum of two, of which one is that part. */
static double
df_of_sum(double part, double part_df, double rest_df)
{
	const double rest = 1 - part;

	return 1 / (part * part / part_df + rest * rest / rest_df);
}

/* Runs without hits do not show how those of the row vary. */
static bool
is_replicated(const struct pair *pair, const struct change_noise *noise)
{
	return noise->df + pair->base.df + pair->now.df > 0;
}

/* Of a row that is replicated. */
static struct change_spread
spread_of(const struct change_columns *columns, const struct pair *pair,
          const struct change_noise *noise)
{
	const double hits = hits_a_run(columns, pair);
	const double shared = noise->shared * hits;
	const double df = noise->df + pair->base.df + pair->now.df;
	struct change_spread spread = { .df = df };

	spread.phi = (noise->df * (noise->common * pair->sample +
	              noise->shared * fmax(hits - noise->typical, 0)) +
	              pair->base.residual + pair->now.residual) / df;
	if (noise->df > 0)
		spread.df = fmin(df, noise->most_df);
	if (shared > 0 && spread.df > noise->shared_df)
		spread.df = fmin(spread.df, df_of_sum(
		    fmin(shared / spread.phi, 1), noise->shared_df, spread.df));
	if (columns->sample != NULL)
		spread.phi = fmax(spread.phi, pair->sample);
	return spread;
}

struct change_spread
change_sum(const struct change_columns *columns,
           const struct change_noise *noise, size_t row)
{
	const struct pair pair = pair_of(columns, row);

	if (is_replicated(&pair, noise))
		return spread_of(columns, &pair, noise);
	return (struct change_spread){
		columns->sample != NULL ? pair.sample : NAN, INFINITY
	};
}

/* phi of counted work, of which the row is like others. */
static double
phi_of_work(const struct change_columns *columns, const struct pair *pair,
            const struct change_noise *noise, double phi)
{
	if (noise->df > 0)
		phi = noise->common * pair->sample;
	return columns->sample != NULL ? fmax(phi, pair->sample) : phi;
}

static void
test_replicates(struct change *change, const struct change_columns *columns,
                const struct pair *pair, const struct change_noise *noise,
                struct student *student)
{
	const struct change_spread spread = spread_of(columns, pair, noise);
	double work_phi;

	change->is_replicated = true;
	change->phi = spread.phi;
	if (!(change->phi > 0)) {
		/* Counts that never vary: any difference is a change. */
		change->p = change->change == 0 ? 1 : 0;
		change->low = change->high = change->change;
		return;
	}
	work_phi = phi_of_work(columns, pair, noise, change->phi);
	change->p = f_upper(deviance(pair) / change->phi /
	                    work_factor(pair, change->phi, work_phi),
	                    spread.df);
	if (columns->sample != NULL && n_samples(pair) < FEW_SAMPLES)
		change->p = fmax(change->p, exact_p(pair));
	change_add_interval(change, pair, work_phi,
	                    student_95(student, spread.df));
}

static void
test_row(struct change *change, const struct change_columns *columns,
         const struct pair *pair, const struct change_noise *noise,
         struct student *student)
{
	*change = (struct change){
		.base = pair->base.mean,
		.now = pair->now.mean,
		.change = pair->now.mean - pair->base.mean,
	};
	if (is_replicated(pair, noise)) {
		test_replicates(change, columns, pair, noise, student);
		change->sampling_p = change->p;
	} else if (columns->sample != NULL) {
		test_samples(change, columns, pair, noise);
	} else {
		set_unknown(change);
	}
}

bool
change_is_between_runs(const struct change *change, double ratio)
{
	const double allowed = 1 + CHANGE_BETWEEN_RUNS;

	return change->now <= change->base * allowed * fmax(1, ratio) &&
	    change->now * allowed >= change->base * fmin(1, ratio);
}

/* sampling_q: sampling_p, adjusted. */
static enum change_verdict
change_verdict_of(const struct change *change, const struct change_noise *noise,
                  double sampling_q, double fdr)
{
	if (isnan(change->q))
		return CHANGE_UNDECIDED;
	if (sampling_q > fdr || change->change == 0)
		return CHANGE_NOISE;
	if (change->is_replicated)
		return change->change > 0 ? CHANGE_GREW : CHANGE_SHRANK;
	if (change->q > fdr || change_is_between_runs(change, noise->ratio))
		return CHANGE_NEEDS_RUNS;
	return change->change > 0 ? CHANGE_LIKELY_GREW : CHANGE_LIKELY_SHRANK;
}

static int
change_decide(struct change *changes, size_t n,
              const struct change_noise *noise, double fdr, struct error *error)
{
	double *p = memory_array(n, sizeof *p, error);
	double *sampling = memory_array(n, sizeof *sampling, error);
	int status = -1;

	for (size_t i = 0; !error->is_set && i < n; i++) {
		p[i] = changes[i].p;
		sampling[i] = changes[i].sampling_p;
	}
	if (!error->is_set && change_adjust(p, n, p, error) == 0 &&
	    change_adjust(sampling, n, sampling, error) == 0) {
		status = 0;
		for (size_t i = 0; i < n; i++) {
			changes[i].q = p[i];
			changes[i].verdict = change_verdict_of(&changes[i],
			                                       noise,
			                                       sampling[i],
			                                       fdr);
		}
	}
	free(p);
	free(sampling);
	return status;
}

/* ---- several rows ---- */

struct ranked {
	double p;
	size_t row;
};

static int
compare_ranked(const void *a, const void *b, void *context)
{
	const struct ranked *x = a, *y = b;

	(void)context;
	return (x->p > y->p) - (x->p < y->p);
}

int
change_adjust(const double *p, size_t n, double *q, struct error *error)
{
	struct ranked *ranked = memory_array(n, sizeof *ranked, error);
	size_t n_ranked = 0;
	double least = 1;

	if (ranked == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		q[i] = p[i];
		if (!isnan(p[i]))
			ranked[n_ranked++] = (struct ranked){ p[i], i };
	}
	if (sort_items(ranked, n_ranked, sizeof *ranked, compare_ranked, NULL,
	               error) != 0) {
		free(ranked);
		return -1;
	}
	for (size_t i = n_ranked; i-- > 0;) {
		least = fmin(least, ranked[i].p * (double)n_ranked /
		             (double)(i + 1));
		q[ranked[i].row] = least;
	}
	free(ranked);
	return 0;
}

/* ---- what would have been seen ---- */

/*
 * The p that a row may have at most to be called changed, if the others have
 * the p that they have.  If its own p were 0, Benjamini and Hochberg would call
 * r rows changed, itself among them; it is one of these as long as its p is at
 * most fdr * r / n.  Sets bounds[n].
 */
static int
find_bounds(const struct change *changes, size_t n, double fdr, double *bounds,
            struct error *error)
{
	struct ranked *ranked = memory_array(n, sizeof *ranked, error);
	size_t n_ranked = 0, n_named = 0, would_be = 1;

	if (ranked == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!isnan(changes[i].p))
			ranked[n_ranked++] = (struct ranked){ changes[i].p, i };
	if (sort_items(ranked, n_ranked, sizeof *ranked, compare_ranked, NULL,
	               error) != 0) {
		free(ranked);
		return -1;
	}
	fdr /= (double)n_ranked;
	for (size_t i = 0; i < n_ranked; i++)
		if (ranked[i].p <= fdr * (double)(i + 1))
			n_named = i + 1;
	for (size_t i = 0; i < n_ranked; i++) {
		/* Those with less p come after it, one place later. */
		if (i > 0 && ranked[i - 1].p <= fdr * (double)(i + 1))
			would_be = i + 1;
		bounds[ranked[i].row] = fdr * (double)(i < n_named ? n_named :
		                                       would_be);
	}
	free(ranked);
	return 0;
}

/* What makes a row's change visible. */
struct visibility {
	const struct change_columns *columns;
	const struct change_noise *noise;
	const struct pair *pair;
	bool is_replicated;
	double bound, df, needed;	/* errors_needed for these */
};

/* The row as it would be if it had grown so much a unit of work. */
static struct pair
grown(const struct pair *pair, double growth)
{
	struct pair more = *pair;

	more.base.mean = pair->base.sum / pair->base.work;
	more.now.mean = more.base.mean + growth;
	more.now.sum = more.now.mean * pair->now.work;
	return more;
}

/*
 * What the test would make of that: how many standard errors, and phi.  An
 * exact test takes whole samples, so it is about one sample stricter.
 */
static double
errors_of(const struct visibility *seen, struct pair *pair, double *phi)
{
	double work_phi;

	*phi = pair->sample;
	if (!isfinite(pair->now.sum))
		return INFINITY;
	if (seen->columns->sample != NULL && n_samples(pair) < FEW_SAMPLES)
		pair->now.sum -= fmin(pair->sample, pair->now.sum);
	*phi = seen->is_replicated ?
	    spread_of(seen->columns, pair, seen->noise).phi :
	    phi_of_samples(seen->columns, pair, seen->noise);
	work_phi = seen->is_replicated ?
	    phi_of_work(seen->columns, pair, seen->noise, *phi) : *phi;
	if (!seen->is_replicated)
		pair->now.work *= fmax(1, seen->noise->ratio);
	return pair->now.sum / pair->now.work <= pair->base.sum /
	    pair->base.work ? 0 :
	    sqrt(deviance(pair) / *phi / work_factor(pair, *phi, work_phi));
}

/*
 * The growth of so many standard errors; NAN if none has, since few replicates
 * that differ much allow for any growth.  Of equal work and a constant phi, a
 * change has (sqrt(now) - sqrt(base)) / sqrt(phi / 2) of them.
 */
static double
growth_of(const struct visibility *seen, double phi)
{
	const struct pair *pair = seen->pair;
	const double root = sqrt(pair->base.sum) + seen->needed * sqrt(phi / 2);
	double growth = (root * root - pair->base.sum) / pair->now.work;
	double factor = 2;

	for (size_t i = 0; i < 50 && fabs(factor - 1) >= 1e-4; i++) {
		struct pair more = grown(pair, growth);
		const double errors = errors_of(seen, &more, &phi);

		factor = errors > 0 ? seen->needed / errors : 2;
		growth *= factor;
	}
	return fabs(factor - 1) < 0.01 ? growth : NAN;
}

/*
 * One run on each side: the growth that exceeds what runs differ by in 80 of 100
 * cases.
 */
static double
growth_between_runs(const struct visibility *seen)
{
	const double base = seen->pair->base.sum / seen->pair->base.work;
	const double allowed = (1 + CHANGE_BETWEEN_RUNS) *
	    fmax(1, seen->noise->ratio);
	double growth = (allowed - 1) * base;

	for (size_t i = 0; i < 5; i++) {
		struct pair more = grown(seen->pair, growth);
		const double now = base + growth;
		double phi;

		errors_of(seen, &more, &phi);
		growth = (allowed - 1) * base + POWER_Z * sqrt(phi *
		    (now / seen->pair->now.work + allowed * allowed * base /
		     more.base.work + now * now * more.work_variance));
	}
	return growth;
}

/*
 * How many standard errors a change must have to be beyond t in 80 of 100
 * cases, if the standard error is known with some degrees of freedom, then as
 * now: c (1 - 1 / 4 df) is that of a normal variable less t, whose variance is
 * 1 + (c^2 + t^2) / 2 df.
 */
static double
errors_needed(double t, double df)
{
	double errors = t + POWER_Z;

	for (size_t i = 0; !isinf(df) && i < 20; i++)
		errors = t + POWER_Z * sqrt(1 + (errors * errors + t * t) /
		                            (2 * df)) / (1 - 1 / (4 * df));
	return errors;
}

static double
visible_growth(struct visibility *seen, const struct change *change,
               double bound)
{
	double df, growth;

	if (isnan(change->phi))
		return NAN;
	if (!(change->phi > 0))
		return 0;
	seen->is_replicated = change->is_replicated;
	df = seen->is_replicated ?
	    spread_of(seen->columns, seen->pair, seen->noise).df :
	    seen->noise->inflation_df > 0 ? seen->noise->inflation_df :
	    INFINITY;
	if (bound != seen->bound || df != seen->df) {
		seen->bound = bound;
		seen->df = df;
		seen->needed = errors_needed(!seen->is_replicated || isinf(df) ?
		    normal_two_sided_quantile(bound) :
		    student_two_sided_quantile(bound, df), df);
	}
	growth = growth_of(seen, change->phi);
	return seen->is_replicated || isnan(growth) ? growth :
	    fmax(growth, growth_between_runs(seen));
}

static int
find_visible(const struct change_columns *columns,
             const struct change_noise *noise, double fdr,
             struct change *changes, struct error *error)
{
	struct visibility seen = { .columns = columns, .noise = noise };
	double *bounds = memory_array(columns->n_rows, sizeof *bounds, error);
	int status = bounds == NULL ? -1 : find_bounds(changes,
	    columns->n_rows, fdr, bounds, error);

	for (size_t i = 0; status == 0 && i < columns->n_rows; i++) {
		const struct pair pair = pair_of(columns, i);

		seen.pair = &pair;
		changes[i].visible = visible_growth(&seen, &changes[i],
		                                    bounds[i]);
	}
	free(bounds);
	return status;
}

int
change_test(const struct change_columns *columns,
            const struct change_noise *noise, double fdr,
            struct change *changes, struct error *error)
{
	struct student student = { 0 };

	for (size_t i = 0; i < columns->n_rows; i++) {
		struct pair pair = pair_of(columns, i);

		test_row(&changes[i], columns, &pair, noise, &student);
	}
	return change_decide(changes, columns->n_rows, noise, fdr, error) != 0 ?
	    -1 :
	    find_visible(columns, noise, fdr, changes, error);
}
