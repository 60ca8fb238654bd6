/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-change-points.c -- where a series is said to change.
 *
 * Short series are divided in every possible way, and squares are added up
 * about the mean of each segment, so the search is compared with the definition
 * in noise.h.  Whether two segments differ is asked of change_test, which
 * test-change.c tests.  Errors are compared with tables of Student's t, and the
 * rates of false and found changes with what was planted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/noise/noise.h"
#include "tests/failing-memory.h"
#include "tests/random-numbers.h"

enum { MOST_RUNS = 700, MOST_ROWS = 40, MOST_BRUTE = 12 };

static struct fixture {
	size_t first[MOST_RUNS + 1];
	uint64_t values[MOST_RUNS], rows[MOST_RUNS][MOST_ROWS];
	double work[MOST_RUNS], row_samples[MOST_ROWS];
	const uint64_t *columns[MOST_RUNS];
	struct series series;
} fixture;

static size_t
pick(size_t below)
{
	return (size_t)(uniform() * (double)below);
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* ---- series ---- */

static void
fixture_begin(double sample, size_t n_rows)
{
	memset(&fixture, 0, sizeof fixture);
	for (size_t run = 0; run < MOST_RUNS; run++)
		fixture.columns[run] = fixture.rows[run];
	for (size_t row = 0; row < n_rows; row++)
		fixture.row_samples[row] = sample > 0 ? sample : 1;
	fixture.series = (struct series){
		.first = fixture.first, .values = fixture.values,
		.work = fixture.work, .sample = sample,
		.n_rows = n_rows, .rows = fixture.columns,
		.row_samples = fixture.row_samples,
	};
}

/* Adds a run to the last point; its rows have a mean of `row` each. */
static void
add_run(uint64_t value, double work, double row, double phi)
{
	const size_t run = fixture.first[fixture.series.n_points]++;

	assert_true(run < MOST_RUNS);
	fixture.values[run] = value;
	fixture.work[run] = work;
	for (size_t i = 0; i < fixture.series.n_rows; i++)
		fixture.rows[run][i] = (uint64_t)(phi *
		    (double)poisson(row * (double)(1 + i) / phi));
}

/* Begins a point, whose runs follow. */
static void
add_point(void)
{
	const size_t n = ++fixture.series.n_points;

	fixture.first[n] = fixture.first[n - 1];
}

/* A series of one run a point, as the values say. */
static void
fixture_of_values(const uint64_t *values, size_t n, double sample)
{
	fixture_begin(sample, 0);
	for (size_t i = 0; i < n; i++) {
		add_point();
		add_run(values[i], 1, 0, 1);
	}
}

/* Levels that change now and then; runs, works and noise of all kinds. */
static void
random_fixture(void)
{
	static const double levels[] = { 100, 130, 200, 400, 900 };
	const double sample = (double)pick(4);
	const double step = fmax(sample, 1);
	const size_t n = 1 + pick(MOST_BRUTE);
	const bool has_works = pick(2) == 0;
	const double phi = 1 + 3 * (double)pick(2);
	double level = levels[pick(5)];

	fixture_begin(sample, pick(3) == 0 ? 0 : 12);
	for (size_t i = 0; i < n; i++) {
		const size_t n_runs = 1 + pick(3);
		const double drift = exp(0.02 * normal());

		if (pick(4) == 0)
			level = levels[pick(5)];
		add_point();
		for (size_t run = 0; run < n_runs; run++) {
			const double work = has_works ? 0.5 + uniform() : 1;

			add_run((uint64_t)step * poisson(level * work * drift),
			        work, 40 * step * work, phi * step);
		}
	}
}

/* ---- the definition ---- */

static double
squares_of_segment(size_t begin, size_t end)
{
	const size_t *first = fixture.first;
	double all = 0, work = 0, squares = 0;

	for (size_t run = first[begin]; run < first[end]; run++) {
		all += (double)fixture.values[run];
		work += fixture.work[run];
	}
	for (size_t i = begin; i < end; i++) {
		double own = 0, own_work = 0, off;

		for (size_t run = first[i]; run < first[i + 1]; run++) {
			own += (double)fixture.values[run];
			own_work += fixture.work[run];
		}
		off = own / own_work - all / work;
		squares += own_work * off * off;
	}
	return squares;
}

/* Of all sets of m changes the one with the least squares. */
static void
best_division(size_t m, size_t *points)
{
	const size_t n = fixture.series.n_points;
	double least = INFINITY;

	for (uint32_t set = 0; set < 1u << (n - 1); set++) {
		size_t ends[MOST_BRUTE], n_ends = 0, begin = 0;
		double squares = 0;

		if ((size_t)__builtin_popcount(set) != m)
			continue;
		for (size_t i = 1; i < n; i++)
			if ((set >> (i - 1) & 1) != 0)
				ends[n_ends++] = i;
		for (size_t i = 0; i < n_ends; i++) {
			squares += squares_of_segment(begin, ends[i]);
			begin = ends[i];
		}
		squares += squares_of_segment(begin, n);
		if (squares < least) {
			least = squares;
			memcpy(points, ends, m * sizeof *points);
		}
	}
}

/* What the runs of up to 8 points on each side show. */
static struct change_noise
noise_about(size_t point)
{
	const size_t n = fixture.series.n_points;
	const size_t begin = fixture.first[point > 8 ? point - 8 : 0];
	const size_t middle = fixture.first[point];
	const size_t end = fixture.first[point + 8 < n ? point + 8 : n];
	const struct change_columns columns = {
		.n_rows = fixture.series.n_rows,
		.n_base = middle - begin, .n_now = end - middle,
		.base = fixture.columns + begin,
		.now = fixture.columns + middle,
		.base_work = fixture.work + begin,
		.now_work = fixture.work + middle,
		.sample = fixture.series.sample > 0 ?
		    fixture.row_samples : NULL,
	};
	struct change_noise noise = { .ratio = 1, .inflation = 1, .common = 1 };
	struct error error = { 0 };

	if (fixture.series.n_rows > 0)
		assert_int_equal(change_noise_fit(&columns, &noise, &error),
		                 0);
	return noise;
}

/* Compares n numbers, of which the first `middle` are the base. */
static struct change
compare(const uint64_t *values, const double *work, size_t middle, size_t n,
        const struct change_noise *noise)
{
	const uint64_t *columns[MOST_RUNS];
	const struct change_columns both = {
		.n_rows = 1, .n_base = middle, .n_now = n - middle,
		.base = columns, .now = columns + middle,
		.base_work = work, .now_work = work + middle,
		.sample = fixture.series.sample > 0 ?
		    &fixture.series.sample : NULL,
	};
	struct error error = { 0 };
	struct change change;

	for (size_t i = 0; i < n; i++)
		columns[i] = &values[i];
	assert_int_equal(change_test(&both, noise, 0.05, &change, &error), 0);
	return change;
}

/* The totals of the points of a segment. */
static double
total_of(size_t begin, size_t end, uint64_t *values, double *work)
{
	double all = 0, all_work = 0;

	for (size_t i = begin; i < end; i++) {
		values[i - begin] = 0;
		work[i - begin] = 0;
		for (size_t run = fixture.first[i]; run < fixture.first[i + 1];
		     run++) {
			values[i - begin] += fixture.values[run];
			work[i - begin] += fixture.work[run];
		}
		all += (double)values[i - begin];
		all_work += work[i - begin];
	}
	return all / all_work;
}

/*
 * The p of the i-th of m changes, each point taken as one run.  All points are
 * nearby here, so the noise is that of all segments.
 */
static double
p_of_points(const size_t *points, size_t m, size_t i)
{
	struct change_noise noise = { .ratio = 1, .inflation = 1,
		.common = 1, .most_df = INFINITY };
	uint64_t values[MOST_BRUTE];
	double work[MOST_BRUTE], residual = 0;
	const double level = total_of(points[i], points[i + 2], values, work);

	for (size_t k = 0; k <= m; k++) {
		const size_t begin = points[k], end = points[k + 1];
		const double mean = total_of(begin, end, values, work);

		if (k == i || k == i + 1)
			continue;
		for (size_t at = 0; at < end - begin; at++) {
			const double off = (double)values[at] -
			    mean * work[at];

			residual += off * off / (mean * work[at]) *
			    fmin(1, level / mean);
		}
		noise.df += (double)(end - begin - 1);
	}
	if (noise.df > 0)
		noise.common = residual / noise.df /
		    fmax(fixture.series.sample, 1);
	total_of(points[i], points[i + 2], values, work);
	return compare(values, work, points[i + 1] - points[i],
	               points[i + 2] - points[i], &noise).p;
}

/* The points of a division begin with 0 and end with n. */
static struct change
change_of(const size_t *points, size_t m, size_t i)
{
	const size_t n = fixture.series.n_points;
	const size_t run = fixture.first[points[i]];
	const struct change_noise noise = noise_about(points[i + 1]);
	struct change change = compare(fixture.values + run,
	    fixture.work + run, fixture.first[points[i + 1]] - run,
	    fixture.first[points[i + 2]] - run, &noise);

	if (n - m - 1 >= 2) {
		change.p = fmax(change.p, p_of_points(points, m, i));
	} else {
		if (change.now < 1.15 * change.base &&
		    change.base < 1.15 * change.now)
			change.p = 1;
		if (change.verdict == CHANGE_GREW)
			change.verdict = CHANGE_LIKELY_GREW;
		if (change.verdict == CHANGE_SHRANK)
			change.verdict = CHANGE_LIKELY_SHRANK;
	}
	change.q = fmin(1, change.p * (double)(n * (n - 1) / 2));
	return change;
}

/* The largest number of changes that all hold. */
static size_t
expected_changes(struct change_point *changes)
{
	const size_t n = fixture.series.n_points;

	for (size_t m = n - 1; m > 0; m--) {
		size_t points[MOST_BRUTE + 1] = { 0 }, n_held = 0;

		best_division(m, points + 1);
		points[m + 1] = n;
		for (size_t i = 1; i <= m; i++) {
			struct change_point *it = &changes[i - 1];

			it->point = points[i];
			it->change = change_of(points, m, i - 1);
			n_held += it->change.q <= 0.05 &&
			    it->change.verdict >= CHANGE_LIKELY_GREW;
		}
		if (n_held == m)
			return m;
	}
	return 0;
}

/* ---- finding changes ---- */

static size_t
find(struct change_point *changes)
{
	struct error error = { 0 };
	size_t n = 99;

	if (change_points_find(&fixture.series, changes, &n, &error) != 0)
		fail_msg("%s", error.text);
	return n;
}

static void
assert_near(double a, double b)
{
	if (!(isnan(a) && isnan(b)) &&
	    !(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b))))
		fail_msg("%.17g is not %.17g", a, b);
}

static void
change_points_are_those_of_all_divisions(void **state)
{
	size_t n_by_count[MOST_BRUTE] = { 0 };

	(void)state;
	for (size_t i = 0; i < 600; i++) {
		struct change_point changes[CHANGE_POINTS_MAX];
		struct change_point expected[CHANGE_POINTS_MAX];
		size_t n, n_expected;

		seed = i;
		random_fixture();
		n_expected = expected_changes(expected);
		n = find(changes);
		if (n != n_expected)
			fail_msg("seed %zu: %zu changes, not %zu", i, n,
			         n_expected);
		n_by_count[n]++;
		for (size_t k = 0; k < n; k++) {
			const struct change *a = &changes[k].change;
			const struct change *b = &expected[k].change;

			assert_int_equal(changes[k].point, expected[k].point);
			assert_near(a->base, b->base);
			assert_near(a->now, b->now);
			assert_near(a->low, b->low);
			assert_near(a->high, b->high);
			assert_near(a->p, b->p);
			assert_near(a->q, b->q);
			assert_int_equal(a->verdict, b->verdict);
		}
	}
	/* So there is something to compare. */
	for (size_t n = 0; n <= 3; n++)
		assert_true(n_by_count[n] >= 20);
}

/* Every number of a series can be the first of a new level. */
static void
change_points_are_where_levels_begin(void **state)
{
	(void)state;
	for (size_t n = 10; n <= 30; n += 10) {
		for (size_t point = 1; point < n; point++) {
			struct change_point changes[CHANGE_POINTS_MAX];
			uint64_t values[30];

			for (size_t i = 0; i < n; i++)
				values[i] = (i < point ? 10000 : 20000) +
				    (i * 37 + point) % 41;
			fixture_of_values(values, n, 1);
			assert_int_equal(find(changes), 1);
			assert_int_equal(changes[0].point, point);
			assert_true(fabs(changes[0].change.base - 10020) < 21);
			assert_true(fabs(changes[0].change.now - 20020) < 21);
			assert_int_equal(changes[0].change.verdict,
			                 CHANGE_GREW);
		}
	}
}

static void
change_points_need_two_points(void **state)
{
	const uint64_t one[] = { 1000 };
	struct change_point changes[CHANGE_POINTS_MAX];

	(void)state;
	fixture_of_values(one, 0, 1);
	assert_int_equal(find(changes), 0);
	fixture_of_values(one, 1, 1);
	assert_int_equal(find(changes), 0);
}

/* 33 changes, one of them smaller than the others, which is not found. */
static void
change_points_are_at_most_32(void **state)
{
	struct change_point changes[CHANGE_POINTS_MAX];
	size_t n_found = 0;

	(void)state;
	seed = 3;
	fixture_begin(1, 0);
	for (size_t level = 0; level < 34; level++)
		for (size_t i = 0; i < 20; i++) {
			const bool is_low = level % 2 == (level < 11);

			add_point();
			add_run(poisson(level == 11 ? 1300 :
			                is_low ? 1000 : 4000), 1, 0, 1);
		}
	assert_int_equal(find(changes), CHANGE_POINTS_MAX);
	for (size_t level = 1; level < 34; level++)
		if (n_found < CHANGE_POINTS_MAX &&
		    changes[n_found].point == 20 * level)
			n_found++;
	assert_int_equal(n_found, CHANGE_POINTS_MAX);
	for (size_t i = 0; i < CHANGE_POINTS_MAX; i++)
		assert_int_not_equal(changes[i].point, 20 * 12);
}

/* ---- how often ---- */

/* A history without a change, or with one. */
struct history {
	size_t n;		/* points */
	size_t n_runs;		/* of each */
	double samples;		/* of a run */
	double deviation;	/* of points, which their runs have in common */
	double of_runs;		/* of runs, besides chance */
	double factor;		/* by which values are larger from half on */
};

static void
simulate(const struct history *history)
{
	fixture_begin(1, 0);
	for (size_t point = 0; point < history->n; point++) {
		const double mean = history->samples *
		    exp(history->deviation * normal()) *
		    (point < history->n / 2 ? 1 : history->factor);

		add_point();
		for (size_t run = 0; run < history->n_runs; run++) {
			const double own = mean *
			    exp(history->of_runs * normal());

			add_run((uint64_t)fmax(own + sqrt(own) * normal(), 0),
			        1, 0, 1);
		}
	}
}

/* *n_right: how many of n have the planted change alone. */
static size_t
count_changed(const struct history *history, size_t n, size_t *n_right)
{
	size_t n_changed = 0;

	*n_right = 0;
	for (size_t i = 0; i < n; i++) {
		struct change_point changes[CHANGE_POINTS_MAX];
		size_t n_found;

		seed = 100000 * history->n + i;
		simulate(history);
		n_found = find(changes);
		n_changed += n_found > 0;
		*n_right += n_found == 1 && changes[0].point ==
		    history->n / 2;
	}
	return n_changed;
}

/*
 * What noise.h promises: one series in twenty.  Points differ by chance alone,
 * or in common because the machine does, more or less than their runs.
 */
static void
change_points_are_rarely_found_where_there_are_none(void **state)
{
	static const struct history histories[] = {
		{ .n_runs = 2, .samples = 400 },
		{ .n_runs = 5, .samples = 5000, .of_runs = 0.01 },
		{ .n_runs = 5, .samples = 5000, .deviation = 0.01 },
		{ .n_runs = 5, .samples = 5000, .deviation = 0.01,
		  .of_runs = 0.01 },
		{ .n_runs = 3, .samples = 5000, .deviation = 0.03 },
		{ .n_runs = 1, .samples = 5000, .deviation = 0.01 },
	};
	size_t n_right;

	(void)state;
	for (size_t i = 0; i < sizeof histories / sizeof *histories; i++)
		for (size_t n = 2; n <= 14; n += n < 4 ? 1 : 2) {
			struct history history = histories[i];
			size_t n_false;

			history.n = n;
			history.factor = 1;
			n_false = count_changed(&history, 400, &n_right);
			if (n_false > 400 / 20)
				fail_msg("%zu points of kind %zu: %zu of 400",
				         n, i, n_false);
		}
}

/* Machines change between points, which all runs of a point show. */
static void
change_points_allow_for_points_that_differ(void **state)
{
	size_t n_right;

	(void)state;
	for (size_t n = 4; n <= 24; n += 5) {
		const struct history history = { n, 2, 400, 0.1, 0, 1 };
		const size_t n_false = count_changed(&history, 400, &n_right);

		print_message("# %zu points that differ: %zu of 400\n", n,
		              n_false);
		assert_true(n_false <= 400 / 20);
	}
}

static void
change_points_are_found_where_they_were_planted(void **state)
{
	static const struct {
		struct history history;
		size_t least;		/* of 400, at their point */
	} planted[] = {
		{ { 2, 5, 5000, 0, 0.01, 1.3 }, 390 },
		{ { 3, 5, 5000, 0, 0.01, 1.3 }, 390 },
		{ { 4, 5, 5000, 0, 0.01, 1.3 }, 390 },
		{ { 6, 2, 400, 0, 0, 1.5 }, 360 },
		{ { 12, 2, 400, 0, 0, 1.5 }, 390 },
		{ { 18, 2, 400, 0, 0, 1.5 }, 390 },
		{ { 24, 2, 400, 0, 0, 1.5 }, 390 },
		{ { 12, 5, 5000, 0, 0.01, 1.03 }, 320 },
		{ { 100, 5, 5000, 0, 0.01, 1.03 }, 365 },
	};
	size_t n_changed = 0, n_right;

	(void)state;
	for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
		const struct history *history = &planted[i].history;

		n_changed = count_changed(history, 400, &n_right);
		print_message("# %zu points, %g: %zu of 400 found, %zu "
		              "elsewhere\n", history->n, history->factor,
		              n_right, n_changed - n_right);
		assert_true(n_right >= planted[i].least);
	}
	/* Noise moves a small step by a commit, but hides it in few cases. */
	assert_true(n_changed >= 396);
}

/* Fewer than four points cannot show what they differ by. */
static void
change_points_of_few_are_likely_at_most(void **state)
{
	static const uint64_t small[] = { 100000, 100300, 99900, 114000,
		113900, 114300 };
	static const uint64_t large[] = { 100000, 100300, 99900, 117000,
		116900, 117300 };
	struct change_point changes[CHANGE_POINTS_MAX];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const uint64_t *values = i == 0 ? small : large;

		fixture_begin(1, 0);
		for (size_t run = 0; run < 6; run++) {
			if (run % 3 == 0)
				add_point();
			add_run(values[run], 1, 0, 1);
		}
		assert_int_equal(find(changes), i);
	}
	assert_int_equal(changes[0].change.verdict, CHANGE_LIKELY_GREW);
	/* Bytes that each run allocates alike are known. */
	fixture_begin(0, 0);
	for (size_t run = 0; run < 6; run++) {
		if (run % 3 == 0)
			add_point();
		add_run(run < 3 ? 1000 : 1001, 1, 0, 1);
	}
	assert_int_equal(find(changes), 1);
	assert_int_equal(changes[0].change.verdict, CHANGE_GREW);
}

/*
 * 40 points that differ by 5%; then 44 of ten times their size, which differ by
 * 0.3%: four of these that are larger by 2% are found.
 */
static void
change_points_have_the_noise_nearby(void **state)
{
	size_t n_found = 0;

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		struct change_point changes[CHANGE_POINTS_MAX];

		seed = i;
		fixture_begin(1, 0);
		for (size_t point = 0; point < 84; point++) {
			const double mean = point < 40 ?
			    1e5 * exp(0.05 * normal()) :
			    1e6 * exp(0.003 * normal()) *
			    (point >= 60 && point < 64 ? 1.02 : 1);

			add_point();
			for (size_t run = 0; run < 3; run++)
				add_run((uint64_t)(mean + sqrt(mean) *
				                   normal()), 1, 0, 1);
		}
		n_found += find(changes) == 3 && changes[0].point == 40 &&
		    changes[1].point == 60 && changes[2].point == 64;
	}
	print_message("# %zu of 100 found\n", n_found);
	assert_true(n_found >= 95);
}

/* ---- errors ---- */

static void
errors_of(double *halves)
{
	struct error error = { 0 };

	assert_int_equal(change_points_errors(&fixture.series, halves, &error),
	                 0);
}

/* Values of Student's t for 95%: Fisher & Yates, Statistical Tables, III. */
static void
change_points_errors_are_students_of_replicates(void **state)
{
	static const double t[] = { 0, 12.7062047362, 4.3026527297,
		3.1824463053, 2.7764451052 };
	double halves[4];

	(void)state;
	seed = 5;
	fixture_begin(0, 0);
	for (size_t point = 0; point < 4; point++) {
		add_point();
		for (size_t run = 0; run < point + 2; run++)
			add_run(1000 * (point + 1) + pick(500), 1, 0, 1);
	}
	errors_of(halves);
	for (size_t point = 0; point < 4; point++) {
		const size_t n = point + 2;
		const uint64_t *runs = fixture.values + fixture.first[point];
		double mean = 0, squares = 0;

		for (size_t i = 0; i < n; i++)
			mean += (double)runs[i] / (double)n;
		for (size_t i = 0; i < n; i++)
			squares += ((double)runs[i] - mean) *
			    ((double)runs[i] - mean);
		assert_true(fabs(halves[point] / (t[n - 1] *
		    sqrt(squares / (double)(n - 1) / (double)n)) - 1) < 1e-8);
	}
}

/* One run a point: those of a Poisson count of samples, per unit of work. */
static void
change_points_errors_are_of_sampling_at_least(void **state)
{
	double halves[20];

	(void)state;
	fixture_begin(3, 0);
	for (size_t point = 0; point < 20; point++) {
		add_point();
		add_run(300 + 30 * point, 1 + (double)point, 0, 1);
	}
	errors_of(halves);
	for (size_t point = 0; point < 20; point++)
		assert_near(halves[point], 1.959963984540054 *
		    sqrt(3 * (300 + 30 * (double)point)) /
		    (1 + (double)point));
}

static void
change_points_errors_are_unknown_without_noise(void **state)
{
	const uint64_t values[] = { 5, 6, 7 };
	double halves[3] = { 0 };

	(void)state;
	fixture_of_values(values, 3, 0);
	errors_of(halves);
	for (size_t i = 0; i < 3; i++)
		assert_true(isnan(halves[i]));
}

/* 24 points with the noise of chance, then 24 with three times that. */
static void
change_points_errors_are_of_the_noise_nearby(void **state)
{
	double near_sum = 0, far_sum = 0;
	size_t n_covered = 0;

	(void)state;
	for (size_t i = 0; i < 50; i++) {
		double halves[48];

		seed = i;
		fixture_begin(1, MOST_ROWS);
		for (size_t point = 0; point < 48; point++) {
			const uint64_t phi = point < 24 ? 1 : 9;

			add_point();
			add_run(phi * poisson(3600.0 / (double)phi), 1, 90,
			        (double)phi);
		}
		errors_of(halves);
		for (size_t point = 0; point < 48; point++) {
			near_sum += point < 16 ? halves[point] : 0;
			far_sum += point >= 32 ? halves[point] : 0;
			n_covered += fabs((double)fixture.values[point] -
			                  3600) <= halves[point];
		}
	}
	near_sum /= 50 * 16 * 1.96 * 60;
	far_sum /= 50 * 16 * 1.96 * 60;
	print_message("# errors are %.3f and %.3f of those of chance; %zu of "
	              "2400 cover\n", near_sum, far_sum, n_covered);
	assert_true(near_sum > 0.97 && near_sum < 1.1);
	assert_true(far_sum > 2.9 && far_sum < 3.2);
	assert_true(n_covered >= 2400 * 93 / 100 && n_covered <= 2400 * 98 / 100);
}

/* ---- memory ---- */

static uint64_t
attempt(void *data, struct error *error)
{
	struct change_point changes[CHANGE_POINTS_MAX];
	double halves[MOST_BRUTE];
	uint64_t digest;
	size_t n;

	(void)data;
	if (change_points_find(&fixture.series, changes, &n, error) != 0 ||
	    change_points_errors(&fixture.series, halves, error) != 0)
		return 0;
	digest = n;
	for (size_t i = 0; i < n; i++)
		digest = digest * 31 + changes[i].point;
	return digest;
}

static void
change_points_report_failures(void **state)
{
	(void)state;
	for (size_t i = 0; i < 10; i++) {
		seed = i;
		random_fixture();
		sweep_memory("change points", attempt, NULL, 1000);
	}
}

/* Ctrl-C ends the search, which takes long for many points. */
static void
change_points_can_be_interrupted(void **state)
{
	const uint64_t values[] = { 1000, 2000, 1000 };
	struct change_point changes[CHANGE_POINTS_MAX];
	struct error error = { 0 };
	size_t n;

	(void)state;
	fixture_of_values(values, 3, 1);
	interrupt_requested = 1;
	assert_int_equal(change_points_find(&fixture.series, changes, &n,
	                                    &error), -1);
	interrupt_requested = 0;
	assert_non_null(strstr(error.text, "interrupted"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(change_points_are_those_of_all_divisions),
		cmocka_unit_test(change_points_are_where_levels_begin),
		cmocka_unit_test(change_points_need_two_points),
		cmocka_unit_test(change_points_are_at_most_32),
		cmocka_unit_test(
		    change_points_are_rarely_found_where_there_are_none),
		cmocka_unit_test(change_points_allow_for_points_that_differ),
		cmocka_unit_test(
		    change_points_are_found_where_they_were_planted),
		cmocka_unit_test(change_points_of_few_are_likely_at_most),
		cmocka_unit_test(change_points_have_the_noise_nearby),
		cmocka_unit_test(
		    change_points_errors_are_students_of_replicates),
		cmocka_unit_test(change_points_errors_are_of_sampling_at_least),
		cmocka_unit_test(
		    change_points_errors_are_unknown_without_noise),
		cmocka_unit_test(change_points_errors_are_of_the_noise_nearby),
		cmocka_unit_test(change_points_report_failures),
		cmocka_unit_test(change_points_can_be_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
