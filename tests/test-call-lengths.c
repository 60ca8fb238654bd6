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
	struct length_count by_chance[N_CALLS], all[N_BINS + 2 * N_CALLS];
	size_t n_by_chance;
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

static int
bin_of(double ns)
{
	int exponent;
	const double mantissa = frexp(fmax(ns, 1), &exponent);

	return (exponent - 1) * 64 + (int)((2 * mantissa - 1) * 64);
}

/* Adds n calls to a bin, and to the mean of their spreads. */
static void
add(struct length_count *bins, double ns, double spread, double n)
{
	const int bin = bin_of(ns);

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
	call_lengths_add_by_chance(&to->calls, to->by_chance,
	    to->n_by_chance, to->all);
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
 *
 * The thread may lose its processor, at each tick that finds it running and at
 * random.  Of what passes then nothing is sampled; the tick's sample is taken
 * afterwards.
 */
enum work { WAITS, COMPUTES, DOES_BOTH };

struct moment {
	double ns, sampled;
};

struct thread {
	struct simulation *to;
	bool is_preempted;
	struct moment now;
	double cpu, tick, due;	/* the next tick; when a sample is due */
	double to_wait, to_compute;	/* to the next boundary */
	double to_lose;			/* until it loses its processor */
	double cpu_counted, cpu_sampled;
	bool is_in_call, is_open, has_waited;
	struct moment without, since, boundary;
	double weight, gap, waited;
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

/*
 * A sample that stands for so many intervals; 0: it is none of time.  The thread
 * has waited for a processor for so long right before it.
 */
static void
see(struct thread *thread, double weight, double gap, struct moment since,
    struct moment boundary, double waited)
{
	if (!thread->is_in_call)
		thread->without = thread->now;
	else if (thread->is_open)
		thread->n_seen += weight > 0;
	else if (weight > 0) {
		thread->is_open = true;
		thread->n_seen = 1;
		thread->has_waited = since.ns < thread->now.ns;
		thread->since = since.ns > thread->without.ns ? since :
		    thread->without;
		thread->boundary = boundary.ns > thread->since.ns ? boundary :
		    thread->since;
		thread->weight = weight;
		thread->gap = gap;
		thread->waited = waited;
	}
}

static void
run_for(struct thread *thread, double time)
{
	thread->now.ns += time;
	thread->now.sampled += time;
	thread->cpu += time;
	thread->to_lose -= time;
}

/* Others have the processor; returns for how long. */
static double
lose_processor(struct thread *thread)
{
	const double time = thread->is_preempted ?
	    -3 * interval * log(uniform()) : 0;

	thread->now.ns += time;
	while (thread->tick <= thread->now.ns)
		thread->tick += interval;
	thread->to_lose = thread->is_preempted ?
	    -2 * interval * log(uniform()) : INFINITY;
	return time;
}

static void
take_tick(struct thread *thread)
{
	const bool is_due = thread->cpu >= thread->due;
	const double waited = lose_processor(thread);
	const struct moment since = { thread->now.ns - waited,
		thread->now.sampled };
	const double gap = thread->cpu - thread->cpu_sampled;
	double weight;

	if (!is_due)
		return;
	thread->due += interval *
	    (1 + floor((thread->cpu - thread->due) / interval));
	weight = cross(&thread->to_compute, thread->cpu - thread->cpu_counted);
	thread->cpu_counted = thread->cpu;
	if (weight > 0)
		thread->cpu_sampled = thread->cpu;
	see(thread, weight, gap, since, thread->now, waited);
}

static void
compute(struct thread *thread, double time)
{
	while (time > 0) {
		const double to_tick = thread->tick - thread->now.ns;
		const double part = fmin(time, fmin(to_tick, thread->to_lose));

		run_for(thread, part);
		time -= part;
		if (part == to_tick)
			take_tick(thread);
		else if (part < time + part)
			lose_processor(thread);
	}
}

static void
wait_for(struct thread *thread, double time)
{
	const struct moment begin = thread->now;
	struct moment boundary;
	double n, before;

	thread->now.ns += time;
	thread->now.sampled += time;
	while (thread->tick <= thread->now.ns)
		thread->tick += interval;
	n = cross(&thread->to_wait, time);
	if (n == 0)
		return;
	before = fmax(0, time + thread->to_wait - n * interval);
	boundary = (struct moment){ begin.ns + before,
		begin.sampled + before };
	see(thread, 1, interval, begin, boundary, 0);
}

static void
spend(struct thread *thread, enum work work, double time)
{
	const double computes = work == WAITS ? 0 : work == COMPUTES ? time :
	    time * uniform();

	compute(thread, computes);
	wait_for(thread, time - computes);
}

/* Counts the call as lib/run/open-calls.c does. */
static void
finish(struct thread *thread)
{
	const double tail = thread->now.sampled - thread->boundary.sampled;
	const double weight = tail < interval ? thread->weight : 1;
	const double spread = thread->since.ns - thread->without.ns;
	const double sampled = thread->since.sampled - thread->without.sampled;
	double before = sampled / 2, length, without_wait;

	if (!thread->is_open)
		return;
	thread->is_open = false;
	if (thread->n_seen < 2 || thread->has_waited)
		before = fmin(before, fmax(tail, interval / 2));
	length = thread->now.ns - thread->since.ns + before + (sampled > 0 ?
	    (spread - sampled) * before / sampled : (spread - sampled) / 2);
	without_wait = length - thread->waited;
	if (thread->now.sampled - thread->since.sampled + before >=
	    thread->gap)
		add(thread->to->lengths, length, spread, 1);
	else
		thread->to->by_chance[thread->to->n_by_chance++] =
		    (struct length_count){
			.least = bin_least(bin_of(length)),
			.end = bin_least(bin_of(length) + 1),
			.n = weight, .spread = spread, .tail = tail,
			.without_wait = bin_least(bin_of(without_wait)),
			.without_wait_end = bin_least(bin_of(without_wait) + 1),
		    };
	add(thread->to->tails, tail, weight, weight);
	thread->without = thread->now;
}

static void
simulate_thread(struct simulation *to, double (*draw)(void), enum work calls,
                enum work pauses, bool is_preempted)
{
	struct thread thread = { .to = to, .tick = interval * uniform(),
		.due = 1, .to_wait = interval * uniform(),
		.to_compute = interval * uniform(), .to_lose = INFINITY,
		.is_preempted = is_preempted };

	begin(to);
	for (int i = 0; i < N_CALLS; i++) {
		const double length = draw();
		double began;

		spend(&thread, pauses, -1e6 * log(uniform()));
		thread.is_in_call = true;
		began = thread.now.ns;
		spend(&thread, calls, length);
		thread.is_in_call = false;
		finish(&thread);
		if (length >= interval / 80)
			to->true_lengths[to->n_calls++] =
			    thread.now.ns - began;
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

/* Its bounds may be off by such a part. */
static bool
is_inside(const struct simulation *from, const struct call_totals *totals,
          double share, double bias)
{
	const struct call_estimate found = call_lengths_quantile(&from->calls,
	    totals, share);
	const double truth = from->true_lengths[(int)(share * from->n_calls)];

	return truth >= found.low * (1 - bias) &&
	    truth <= found.high * (1 + bias);
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
				                    shares[k], 0);
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
 *
 * Of waits for a processor before a call's first sample, the call gets the part
 * that calls have on average.  So long ones are up to a tenth too short.
 */
static void
percentiles_lie_in_their_intervals_in_threads(void **state)
{
	static const double shares[] = { 0.5, 0.9, 0.99 };
	static const struct {
		const char *name;
		enum work calls, pauses;
		bool is_preempted;
	} threads[] = {
		{ "waits", WAITS, WAITS, false },
		{ "computes, then waits for more", COMPUTES, WAITS, false },
		{ "computes", COMPUTES, COMPUTES, false },
		{ "does both", DOES_BOTH, DOES_BOTH, false },
		{ "is preempted", COMPUTES, COMPUTES, true },
		{ "is preempted and waits", DOES_BOTH, WAITS, true },
	};

	(void)state;
	for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
		for (size_t i = 0; i < N_PROGRAMS; i++) {
			int inside[3] = { 0 };

			seed = 100 * t + i;
			for (int run = 0; run < N_THREAD_RUNS; run++) {
				struct call_totals totals;

				simulate_thread(&simulation, programs[i].draw,
				    threads[t].calls, threads[t].pauses,
				    threads[t].is_preempted);
				totals = call_totals_estimate(
				    &simulation.calls);
				for (size_t k = 0; k < 3; k++)
					inside[k] += is_inside(&simulation,
					    &totals, shares[k],
					    threads[t].is_preempted ? 0.1 : 0);
			}
			for (size_t k = 0; k < 3; k++)
				if (inside[k] < 14)
					fail_msg("%s, %s: p%g inside in %d of "
					    "%d", programs[i].name,
					    threads[t].name, 100 * shares[k],
					    inside[k], N_THREAD_RUNS);
		}
}

/* Whoever has the processor when the thread does not. */
static void
numbers_of_calls_are_right_in_preempted_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		double sum = 0, all = 0;

		seed = i;
		for (int run = 0; run < N_THREAD_RUNS; run++) {
			simulate_thread(&simulation, programs[i].draw,
			    COMPUTES, COMPUTES, true);
			sum += call_totals_estimate(
			    &simulation.calls).all.value;
			all += simulation.n_calls;
		}
		if (fabs(sum - all) > 0.15 * all)
			fail_msg("%s: %.0f calls, estimated %.0f",
			         programs[i].name, all / N_THREAD_RUNS,
			         sum / N_THREAD_RUNS);
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

/* Nine of ten take 20 to 45 us. */
static double
very_short_calls(void)
{
	return uniform() < 0.9 ? 1e3 * (20 + 25 * uniform()) :
	    1e6 + 3e7 * uniform();
}

/* How many they are, what part of the time they have, and where medians lie. */
static void
calls_that_are_left_out_are_told(void **state)
{
	double sum = 0, truth = 0, time = 0;

	(void)state;
	seed = 1;
	for (int run = 0; run < N_RUNS; run++) {
		struct call_totals totals;
		struct call_estimate median;
		double left_out;

		simulate(&simulation, very_short_calls);
		totals = call_totals_estimate(&simulation.calls);
		median = call_lengths_quantile(&simulation.calls, &totals,
		                               0.5);
		left_out = N_CALLS - simulation.n_calls;
		assert_true(fabs(totals.left_out.value - left_out) <
		            4 * totals.left_out.error + 0.1 * left_out);
		assert_true(median.value == 0 && median.low == 0 &&
		            median.high == interval / 80);
		sum += totals.left_out.value;
		truth += left_out;
		time += totals.left_out_time;
	}
	assert_true(fabs(sum - truth) < 0.1 * truth);
	/* 0.9 of 32.5 us, beside 0.1 of 16 ms */
	assert_true(fabs(time / N_RUNS - 0.018) < 0.004);
}

/* Without them, nothing is told that chance has made. */
static void
no_calls_are_left_out_where_there_are_none(void **state)
{
	int n = 0;

	(void)state;
	seed = 1;
	for (int run = 0; run < N_RUNS; run++) {
		simulate(&simulation, log_normal_calls);
		n += call_totals_estimate(
		    &simulation.calls).left_out.value > 0;
	}
	assert_in_range(n, 0, 1);
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
		cmocka_unit_test(
		    numbers_of_calls_are_right_in_preempted_threads),
		cmocka_unit_test(counts_above_a_bound_are_those_of_the_program),
		cmocka_unit_test(calls_that_are_left_out_are_told),
		cmocka_unit_test(no_calls_are_left_out_where_there_are_none),
		cmocka_unit_test(no_calls_have_no_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
