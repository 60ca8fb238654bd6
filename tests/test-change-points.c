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

/* The p of a change of points, each taken as one run. */
static double
p_of_points(size_t begin, size_t middle, size_t end)
{
	const struct change_noise none = { .ratio = 1, .inflation = 1,
		.common = 1 };
	uint64_t values[MOST_BRUTE] = { 0 };
	double work[MOST_BRUTE] = { 0 };

	for (size_t i = begin; i < end; i++)
		for (size_t run = fixture.first[i]; run < fixture.first[i + 1];
		     run++) {
			values[i - begin] += fixture.values[run];
			work[i - begin] += fixture.work[run];
		}
	return compare(values, work, middle - begin, end - begin, &none).p;
}

static struct change
change_of(size_t begin, size_t middle, size_t end)
{
	const size_t n = fixture.series.n_points, run = fixture.first[begin];
	const struct change_noise noise = noise_about(middle);
	struct change change = compare(fixture.values + run,
	    fixture.work + run, fixture.first[middle] - run,
	    fixture.first[end] - run, &noise);

	if (end - begin >= 10)
		change.p = fmax(change.p, p_of_points(begin, middle, end));
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
		for (size_t i = 1; i <= m; i++) {
			struct change_point *it = &changes[i - 1];

			it->point = points[i];
			it->change = change_of(points[i - 1], points[i],
			                       i < m ? points[i + 1] : n);
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

/*
 * Simulates series of n points of two runs.  From half of it on, the values
 * are `factor` times as large; those of a point have a deviation in common.
 * *n_right: how many have that change alone.
 */
static size_t
count_changed(size_t n, double factor, double deviation, size_t *n_right)
{
	size_t n_changed = 0;

	*n_right = 0;
	for (size_t i = 0; i < 400; i++) {
		struct change_point changes[CHANGE_POINTS_MAX];
		size_t n_found;

		seed = 1000 * n + i;
		fixture_begin(1, 0);
		for (size_t point = 0; point < n; point++) {
			const double mean = 400 * exp(deviation * normal()) *
			    (point < n / 2 ? 1 : factor);

			add_point();
			add_run(poisson(mean), 1, 0, 1);
			add_run(poisson(mean), 1, 0, 1);
		}
		n_found = find(changes);
		n_changed += n_found > 0;
		*n_right += n_found == 1 && changes[0].point == n / 2;
	}
	return n_changed;
}

/* What noise.h promises: one series in twenty. */
static void
change_points_are_rarely_found_where_there_are_none(void **state)
{
	size_t n_right;

	(void)state;
	for (size_t n = 3; n <= 24; n += 7) {
		const size_t n_false = count_changed(n, 1, 0, &n_right);

		print_message("# %zu points: %zu of 400\n", n, n_false);
		assert_true(n_false <= 400 / 20);
	}
}

/* Machines change between points, which all runs of a point show. */
static void
change_points_allow_for_points_that_differ(void **state)
{
	size_t n_right;

	(void)state;
	for (size_t n = 14; n <= 24; n += 5) {
		const size_t n_false = count_changed(n, 1, 0.1, &n_right);

		print_message("# %zu points that differ: %zu of 400\n", n,
		              n_false);
		assert_true(n_false <= 400 / 20);
	}
}

static void
change_points_are_found_where_they_were_planted(void **state)
{
	size_t n_right;

	(void)state;
	for (size_t n = 6; n <= 24; n += 6) {
		count_changed(n, 1.5, 0, &n_right);
		print_message("# %zu points: %zu of 400 found\n", n, n_right);
		assert_true(n_right >= 400 * 9 / 10);
	}
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
