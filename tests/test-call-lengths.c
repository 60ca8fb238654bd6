/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-call-lengths.c -- estimates of calls against simulated ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "src/noise/noise.h"
#include "tests/random-numbers.h"

enum { N_CALLS = 20000, N_BINS = 2000, N_RUNS = 40, N_THREAD_RUNS = 20 };

static const double interval = 4e6;

struct simulation {
	double true_lengths[N_CALLS];	/* of those that count */
	int n_calls;
	struct length_count lengths[N_BINS], tails[N_BINS];
	struct call_lengths calls;
};

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int
compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The least number in a bin: 64 for each power of two, from 1 ns on. */
static double
bin_least(int bin)
{
	return exp2(bin / 64) * (1 + bin % 64 / 64.0);
}

/* Adds n calls to a bin, and to the mean of their spreads. */
static void
add(struct length_count *bins, double ns, double spread, double n)
{
	int exponent, bin;
	double mantissa = frexp(fmax(ns, 1), &exponent);

	bin = (exponent - 1) * 64 + (int)((2 * mantissa - 1) * 64);
	bins[bin].spread = (bins[bin].spread * bins[bin].n + spread * n) /
	    (bins[bin].n + n);
	bins[bin].n += n;
}

static double
short_calls(void)
{
	return 1e5 * (0.6 + uniform());
}

/* Most are too short to count. */
static double
tiny_calls(void)
{
	return uniform() < 0.9 ? 1e3 * (0.5 + uniform()) :
	    1e6 + 3e7 * uniform();
}

static double
long_calls(void)
{
	return 5e6 + 1e7 * uniform();
}

/* As long as one interval and a half, so half of them are seen twice. */
static double
equal_calls(void)
{
	return 6e6 * (0.9 + 0.2 * uniform());
}

static double
log_normal_calls(void)
{
	return 2e6 * exp(1.2 * normal());
}

static double
mixed_calls(void)
{
	return uniform() < 0.99 ? 1e5 * (1 + uniform()) :
	    2e7 * (1 + uniform());
}

static void
begin(struct simulation *to)
{
	memset(to, 0, sizeof *to);
	for (int i = 0; i < N_BINS; i++) {
		to->lengths[i].least = to->tails[i].least = bin_least(i);
		to->lengths[i].end = to->tails[i].end = bin_least(i + 1);
	}
	to->lengths[0].least = to->tails[0].least = 0;
}

static void
end(struct simulation *to)
{
	qsort(to->true_lengths, (size_t)to->n_calls, sizeof(double),
	      compare_doubles);
	to->calls = (struct call_lengths){ to->lengths, to->tails, N_BINS,
		N_BINS, interval };
}

/* Calls one after another, with pauses, and samples at equal distances. */
static void
simulate(struct simulation *to, double (*draw)(void))
{
	double time = 0, tick = interval * uniform();

	begin(to);
	for (int i = 0; i < N_CALLS; i++) {
		const double length = draw();
		double until;

		if (length >= interval / 80)
			to->true_lengths[to->n_calls++] = length;
		time += -1e6 * log(uniform());
		until = time + length;
		while (tick < time)
			tick += interval;
		if (tick < until) {
			add(to->tails, until - tick, 1, 1);
			add(to->lengths, until - tick + interval / 2, interval,
			    1);
		}
		while (tick < until)
			tick += interval;
		time = until;
	}
	end(to);
}

/*
 * A thread whose calls compute, wait, or both, one after the other, and so its
 * pauses.  As the collector does it, waits are sampled at equal distances of the
 * time waited, and what is computed at ticks: a tick of the clock that finds the
 * thread running is a sample if the thread has used an interval since.  So its
 * distances are from one interval to two, and it stands for the intervals that
 * have passed.
 */
enum work { WAITS, COMPUTES, DOES_BOTH };

struct thread {
	struct simulation *to;
	double now, cpu, tick, due;	/* the next tick; when a sample is due */
	double to_wait, to_compute;	/* to the next boundary */
	double cpu_counted;
	bool is_in_call, is_open, has_waited;
	double without, since, boundary, weight;
	int n_seen;
};

/* How many boundaries are in that time. */
static double
cross(double *left, double time)
{
	double n = time < *left ? 0 : 1 + floor((time - *left) / interval);

	*left += n * interval - time;
	return n;
}

/* A sample that stands for so many intervals; 0: it is none of time. */
static void
see(struct thread *thread, double weight, double since, double boundary)
{
	if (!thread->is_in_call)
		thread->without = thread->now;
	else if (thread->is_open)
		thread->n_seen += weight > 0;
	else if (weight > 0) {
		thread->is_open = true;
		thread->n_seen = 1;
		thread->has_waited = since < thread->now;
		thread->since = fmax(since, thread->without);
		thread->boundary = fmax(boundary, thread->since);
		thread->weight = weight;
	}
}

static void
compute(struct thread *thread, double time)
{
	const double end = thread->now + time;

	for (; thread->tick < end; thread->tick += interval) {
		thread->cpu += thread->tick - thread->now;
		thread->now = thread->tick;
		if (thread->cpu < thread->due)
			continue;
		thread->due += interval * (1 + floor((thread->cpu -
		    thread->due) / interval));
		time = thread->cpu - thread->cpu_counted;
		thread->cpu_counted = thread->cpu;
		see(thread, cross(&thread->to_compute, time), thread->now,
		    thread->now);
	}
	thread->cpu += end - thread->now;
	thread->now = end;
}

static void
wait_for(struct thread *thread, double time)
{
	const double begin = thread->now;
	double n;

	thread->now += time;
	while (thread->tick < thread->now)
		thread->tick += interval;
	n = cross(&thread->to_wait, time);
	if (n > 0)
		see(thread, 1, begin, fmax(begin, thread->now +
		    thread->to_wait - n * interval));
}

static void
spend(struct thread *thread, enum work work, double time)
{
	const double computes = work == WAITS ? 0 : work == COMPUTES ? time :
	    time * uniform();

	compute(thread, computes);
	wait_for(thread, time - computes);
}

/* The call returns, and is counted if it was seen. */
static void
finish(struct thread *thread)
{
	const double most = thread->now - thread->without;
	const double least = thread->now - thread->since;
	const double tail = thread->now - thread->boundary;
	double before = (most - least) / 2;
	double weight = tail < interval ? thread->weight : 1;

	if (!thread->is_open)
		return;
	thread->is_open = false;
	thread->without = thread->now;
	if (thread->n_seen < 2 || thread->has_waited)
		before = fmin(before, interval / 2);
	add(thread->to->lengths, least + before, most - least, 1);
	add(thread->to->tails, tail, weight, weight);
}

static void
simulate_thread(struct simulation *to, double (*draw)(void), enum work calls,
                enum work pauses)
{
	struct thread thread = { .to = to, .tick = interval * uniform(),
		.due = 1, .to_wait = interval * uniform(),
		.to_compute = interval * uniform() };

	begin(to);
	for (int i = 0; i < N_CALLS; i++) {
		const double length = draw();

		spend(&thread, pauses, -1e6 * log(uniform()));
		thread.is_in_call = true;
		spend(&thread, calls, length);
		thread.is_in_call = false;
		finish(&thread);
		if (length >= interval / 80)
			to->true_lengths[to->n_calls++] = length;
	}
	end(to);
}

static struct simulation simulation;

static const struct {
	const char *name;
	double (*draw)(void);
	double bias;		/* of the number of calls, known: it is
				 * extrapolated */
} programs[] = {
	{ "short", short_calls, 0.12 }, { "long", long_calls, 0.02 },
	{ "log-normal", log_normal_calls, 0.10 },
	{ "mixed", mixed_calls, 0.12 }, { "tiny", tiny_calls, 0.05 },
	{ "equal", equal_calls, 0.06 },
};

enum { N_PROGRAMS = sizeof programs / sizeof *programs };

/* Its mean may be so far from the truth, and single ones 4 standard errors. */
static void
numbers_of_calls_are_right(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		double sum = 0, all = 0;
		int far = 0;

		seed = i;
		for (int run = 0; run < N_RUNS; run++) {
			struct call_totals totals;

			simulate(&simulation, programs[i].draw);
			totals = call_totals_estimate(&simulation.calls);
			sum += totals.all.value;
			all += simulation.n_calls;
			far += fabs(totals.all.value - simulation.n_calls) >
			    4 * totals.all.error +
			    programs[i].bias * simulation.n_calls;
		}
		if (far > 0 || fabs(sum - all) > programs[i].bias * all)
			fail_msg("%s: %.0f calls, estimated %.0f; %d far",
			         programs[i].name, all / N_RUNS, sum / N_RUNS,
			         far);
	}
}

static bool
is_inside(const struct simulation *from, const struct call_totals *totals,
          double share)
{
	const struct call_estimate found = call_lengths_quantile(&from->calls,
	    totals, share);
	const double truth = from->true_lengths[(int)(share * from->n_calls)];

	return truth >= found.low && truth <= found.high;
}

/* In 95% of the runs, so in 40 runs 33 are 5 standard errors away. */
static void
percentiles_lie_in_their_intervals(void **state)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 0.999 };

	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++)
		for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
			int inside = 0;

			seed = i;
			for (int run = 0; run < N_RUNS; run++) {
				struct call_totals totals;

				simulate(&simulation, programs[i].draw);
				totals = call_totals_estimate(
				    &simulation.calls);
				inside += is_inside(&simulation, &totals,
				                    shares[k]);
			}
			if (inside < 33)
				fail_msg("%s: p%g inside in %d of %d",
				         programs[i].name, 100 * shares[k],
				         inside, N_RUNS);
		}
}

/*
 * So they do in threads that compute and wait.  What is known of a call's
 * beginning then differs from call to call.  In 20 runs 14 are 5 standard errors
 * away.
 */
static void
percentiles_lie_in_their_intervals_in_threads(void **state)
{
	static const double shares[] = { 0.5, 0.9, 0.99 };
	static const struct {
		const char *name;
		enum work calls, pauses;
	} threads[] = {
		{ "waits", WAITS, WAITS },
		{ "computes, then waits for more", COMPUTES, WAITS },
		{ "computes", COMPUTES, COMPUTES },
		{ "does both", DOES_BOTH, DOES_BOTH },
	};

	(void)state;
	for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
		for (size_t i = 0; i < N_PROGRAMS; i++) {
			int inside[3] = { 0 };

			seed = 100 * t + i;
			for (int run = 0; run < N_THREAD_RUNS; run++) {
				struct call_totals totals;

				simulate_thread(&simulation, programs[i].draw,
				    threads[t].calls, threads[t].pauses);
				totals = call_totals_estimate(
				    &simulation.calls);
				for (size_t k = 0; k < 3; k++)
					inside[k] += is_inside(&simulation,
					    &totals, shares[k]);
			}
			for (size_t k = 0; k < 3; k++)
				if (inside[k] < 14)
					fail_msg("%s, %s: p%g inside in %d of "
					    "%d", programs[i].name,
					    threads[t].name, 100 * shares[k],
					    inside[k], N_THREAD_RUNS);
		}
}

/* All calls above a bound have been seen; bounds are off by half an interval. */
static void
counts_above_a_bound_are_those_of_the_program(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		seed = i;
		simulate(&simulation, programs[i].draw);
		for (double bound = interval; bound < 1e8; bound *= 1.5) {
			int least = 0, most = 0;
			double n = call_lengths_above(&simulation.calls,
			                              bound).value;

			for (int c = 0; c < simulation.n_calls; c++) {
				const double length =
				    simulation.true_lengths[c];

				least += length >= 1.02 * (bound +
				    interval / 2);
				most += length >= 0.98 * (bound -
				    interval / 2);
			}
			if (n < least || n > most)
				fail_msg("%s above %g: %g, not %d to %d",
				         programs[i].name, bound, n, least,
				         most);
		}
	}
}

static void
no_calls_have_no_length(void **state)
{
	const struct call_lengths none = { NULL, NULL, 0, 0, interval };
	const struct call_totals totals = call_totals_estimate(&none);
	struct call_estimate found = call_lengths_quantile(&none, &totals,
	                                                   0.99);

	(void)state;
	assert_true(totals.all.value == 0);
	assert_true(found.value == 0 && isinf(found.high));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_calls_are_right),
		cmocka_unit_test(percentiles_lie_in_their_intervals),
		cmocka_unit_test(percentiles_lie_in_their_intervals_in_threads),
		cmocka_unit_test(counts_above_a_bound_are_those_of_the_program),
		cmocka_unit_test(no_calls_have_no_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
