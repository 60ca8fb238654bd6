/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-perf-clock.c -- CPU time by traps of user mode and the kernel's ticks.
 *
 * A simulated thread spends stretches in both modes, drawn from one seed.  The
 * periods of its event end anywhere, and it traps in user mode; ticks come at
 * their own pace.  Each mode must be charged what it used.  So must each
 * millisecond of short threads.  Traps must not read the thread's clock, since
 * the kernel may then suspend the thread there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/base/thread.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"

enum { TICK_US = 4000, STRETCH_US = 500, LONG_US = 400 * 1000 * 1000 };

/* Before the event was opened. */
#define BEFORE_US 123

static uint64_t now_us;
static unsigned n_readings;	/* of the thread's clock */

/* What the collector links with. */
struct resources resources;
__thread struct thread *thread_self;

uint64_t
process_clock(clockid_t clock)
{
	n_readings += clock == CLOCK_THREAD_CPUTIME_ID;
	return now_us * 1000;
}

bool
perf_event_time(struct thread *thread, unsigned column, uint64_t *us)
{
	(void)thread, (void)column;
	*us = now_us - BEFORE_US;
	return true;
}

uint64_t
process_kernel_tick(void)
{
	return TICK_US * 1000;
}

bool
process_thread_usage(struct rusage *usage)
{
	return getrusage(RUSAGE_THREAD, usage) == 0;
}

static uint64_t at_ticks;

void
datafile_count_at_tick(uint64_t hits)
{
	at_ticks += hits;
}

struct process_facts process;
struct process_own process_own;

uint64_t
process_ask_clock(clockid_t clock)
{
	return process_clock(clock);
}

uint64_t
process_cpu_time_of(uint32_t pid)
{
	(void)pid;
	return 0;
}

uint32_t
process_pid_namespace(void)
{
	return 0;
}

uint32_t
process_id(void)
{
	return 1;
}

void
process_pause(void)
{
}

int
signals_number(enum our_signal which)
{
	(void)which;
	return 1;
}

struct machine {
	struct thread thread;
	struct thread_meters meters;
	uint64_t trap_us, tick_us, stretch_us;	/* when the next one is due */
	bool is_in_kernel;
	uint64_t used[2], hits[2];	/* in user mode, in the kernel */
};

static const struct resource_source clock_source = { .usage = USAGE_CPU };

static void
start(struct machine *machine, uint64_t interval, bool is_random)
{
	struct account *account = &machine->meters.accounts[0];

	*machine = (struct machine){ .tick_us = TICK_US,
		.stretch_us = BEFORE_US };
	machine->thread.meters = &machine->meters;
	now_us = BEFORE_US;
	resources = (struct resources){
		.n = 1, .is_random = is_random,
		.columns = { { .source = &clock_source,
		               .interval = interval } },
	};
	meter_start(&account->meter, interval, is_random, 5);
	account->period = account->meter.left;
	perf_clock_start(&machine->thread, 0);
	perf_clock_compare(&machine->thread, 0);
	account->seen = now_us;
	machine->meters.clock.is_of_user_mode = true;
	machine->trap_us = now_us + account->period;
}

/* As in lib/sources/perf.c. */
static void
end_period(struct machine *machine)
{
	struct account *account = &machine->meters.accounts[0];
	const unsigned before = n_readings;

	if (!machine->is_in_kernel) {
		machine->hits[0] += perf_clock_trap(&machine->thread, 0,
		                                    true);
		account->period = perf_clock_steady(&machine->thread, 0,
		    true) || account->meter.random != 0 ? account->meter.left :
		    account->meter.interval;
	}
	assert_int_equal(n_readings, before);
	machine->trap_us = now_us + account->period;
}

static void
tick(struct machine *machine)
{
	const bool is_in_kernel = machine->is_in_kernel;

	machine->meters.tick_mode = is_in_kernel ? TICK_OF_KERNEL :
	    TICK_OF_USER;
	machine->hits[is_in_kernel] += perf_clock_tick(&machine->thread, 0, 1);
	perf_clock_end_tick(&machine->thread, 0);
	machine->tick_us = now_us + TICK_US;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Simulates a thread that spends `share` of its time in the kernel. */
static void
run(struct machine *machine, double share)
{
	uint64_t seed = 9;

	while (now_us < LONG_US) {
		const uint64_t then = least(least(machine->trap_us,
		    machine->tick_us), machine->stretch_us);

		machine->used[machine->is_in_kernel] += then - now_us;
		now_us = then;
		if (now_us == machine->trap_us)
			end_period(machine);
		if (now_us == machine->tick_us)
			tick(machine);
		if (now_us == machine->stretch_us) {
			seed = meter_random(seed);
			machine->stretch_us += 1 + seed % (2 * STRETCH_US);
			machine->is_in_kernel = (double)(seed >> 32) <
			    share * 0x100000000;
		}
	}
}

/* The share of the run that these hits stand for. */
static double
part(uint64_t hits, uint64_t interval)
{
	return (double)(hits * interval) / (double)LONG_US;
}

/* Five standard deviations of random hits, or what fixed intervals allow. */
static double
allowed(double used, uint64_t interval, bool is_random)
{
	return is_random ? 5 * sqrt(used * (double)interval / LONG_US) : 0.01;
}

static void
check(double share, uint64_t interval, bool is_random)
{
	struct machine *machine = calloc(1, sizeof *machine);
	const uint64_t before = at_ticks;
	double used, in_kernel, in_user;

	assert_non_null(machine);
	start(machine, interval, is_random);
	run(machine, share);
	assert_int_equal(at_ticks - before, machine->hits[1]);
	used = (double)machine->used[1] / (double)LONG_US;
	in_kernel = part(machine->hits[1], interval);
	in_user = part(machine->hits[0], interval);
	if (fabs(in_kernel - used) > allowed(used, interval, is_random) ||
	    fabs(in_user + used - 1) > allowed(1 - used, interval, is_random))
		fail_msg("interval %u%s: kernel %.4f, user %.4f, not %.4f, "
		         "%.4f", (unsigned)interval, is_random ? " random" : "",
		         in_kernel, in_user, used, 1 - used);
	free(machine);
}

static void
both_modes_are_charged_what_they_use(void **state)
{
	static const uint64_t intervals[] = { 1000, 3000, 4000, 10000 };
	static const double shares[] = { 0.1, 0.3, 0.6 };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < 4; k++) {
			check(shares[i], intervals[k], false);
			check(shares[i], intervals[k], true);
		}
	}
}

/*
 * Short threads.
 */

enum { THREADS = 20000, THREAD_MS = 3, LEAST_US = 50, WAY_US = 100 };

static uint64_t
set_alarm(struct machine *machine)
{
	struct account *account = &machine->meters.accounts[0];

	account->period = account->meter.left > LEAST_US ?
	    account->meter.left : LEAST_US;
	return perf_clock_set(&machine->thread, 0, account->period, LEAST_US);
}

/* Adds the hits of each millisecond of a thread that starts. */
static void
run_short(struct machine *machine, uint64_t seed, double share,
    uint64_t *hits)
{
	const uint64_t start_us = now_us;
	uint64_t alarm, trap_us;
	unsigned before;

	machine->thread.tid = (int)seed;
	machine->meters.accounts[0].seen = now_us;
	perf_clock_start(&machine->thread, 0);
	perf_clock_compare(&machine->thread, 0);
	before = n_readings;
	machine->meters.clock.is_of_user_mode = true;
	machine->meters.accounts[0].is_by_hand = true;
	alarm = set_alarm(machine);
	trap_us = now_us + alarm;
	while (trap_us < start_us + 1000 * THREAD_MS) {
		const uint64_t mode = meter_random(trap_us / 10 + (seed << 32));
		uint64_t *found = &hits[(trap_us - start_us) / 1000];

		if ((double)(mode >> 32) >= share * 0x100000000) {
			now_us = trap_us + WAY_US;
			*found += perf_clock_trap(&machine->thread, 0,
			    true);
			*found += perf_clock_own(&machine->thread, 0).hits;
			alarm = set_alarm(machine);
			trap_us = now_us;
		}
		trap_us += alarm;
	}
	now_us = start_us + 1000 * THREAD_MS;
	assert_int_equal(n_readings, before);
}

/*
 * Within 0.06: time in which a period was repeated is counted at its end, a
 * little late.
 */
static void
each_millisecond_of_short_threads_has_its_share(void **state)
{
	static const double shares[] = { 0, 0.3, 0.6 };
	struct machine machine;

	(void)state;
	for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++) {
		uint64_t hits[THREAD_MS] = { 0 };

		start(&machine, 1000, false);
		for (uint64_t k = 0; k < THREADS; k++)
			run_short(&machine, k, shares[i], hits);
		for (unsigned k = 0; k < THREAD_MS; k++) {
			const double found = (double)hits[k] / THREADS;

			if (fabs(found - (1 - shares[i])) > 0.06)
				fail_msg("millisecond %u: %.3f, not %.3f", k,
				         found, 1 - shares[i]);
		}
	}
}

/* Hits of a thread whose periods are drawn; traps come 20 to 39 us late. */
static uint64_t
run_drawn(struct machine *machine, uint64_t end_us, double share)
{
	uint64_t hits = 0, alarm, trap_us;

	perf_clock_steady(&machine->thread, 0, false);
	machine->meters.accounts[0].is_by_hand = true;
	alarm = set_alarm(machine);
	trap_us = now_us + alarm;
	while (trap_us < end_us) {
		const uint64_t mode = meter_random(trap_us);

		if ((double)(mode >> 32) >= share * 0x100000000) {
			now_us = trap_us + 20 + mode % 20;
			hits += perf_clock_trap(&machine->thread, 0, true);
			hits += perf_clock_own(&machine->thread, 0).hits;
			alarm = set_alarm(machine);
			trap_us = now_us;
		}
		trap_us += alarm;
	}
	return hits;
}

/* Also where a trap is earlier than usual and its period ended in the kernel. */
static void
drawn_periods_are_charged_what_they_last(void **state)
{
	static const double shares[] = { 0, 0.3, 0.6 };
	const uint64_t interval = 1000;
	struct machine machine;

	(void)state;
	for (unsigned i = 0; i < sizeof shares / sizeof *shares; i++) {
		double found;

		start(&machine, interval, true);
		found = part(run_drawn(&machine, LONG_US, shares[i]), interval);
		if (fabs(found - (1 - shares[i])) > 0.01)
			fail_msg("%.3f, not %.3f", found, 1 - shares[i]);
	}
}

enum { SAMPLES = 20000 };

/* A thread whose samples each take that long. */
static void
check_own_work(uint64_t us, bool is_of_user_mode, bool is_long)
{
	struct machine machine;
	struct account *account = &machine.meters.accounts[0];
	uint64_t own_hits = 0, left;
	double expected, found;

	start(&machine, 1000, true);
	machine.meters.clock.is_of_user_mode = is_of_user_mode;
	account->is_by_hand = true;
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct own_work work;

		now_us += set_alarm(&machine);
		assert_in_range(perf_clock_trap(&machine.thread, 0, true), 1,
		                8);
		left = account->meter.left;
		now_us += us;
		work = perf_clock_own(&machine.thread, 0);
		assert_true(work.us == us);
		assert_true(work.is_long == is_long);
		if (is_long)
			assert_true(account->meter.left == left);
		own_hits += work.hits;
	}
	if (!is_long)
		return;
	expected = (double)us / 1000 * SAMPLES;
	found = (double)own_hits;
	if (fabs(found - expected) > 5 * sqrt(expected))
		fail_msg("%.0f hits, not %.0f", found, expected);
}

static void
long_work_is_no_functions(void **state)
{
	(void)state;
	check_own_work(400, false, true);
	check_own_work(400, true, true);
	check_own_work(30, false, true);
	check_own_work(30, true, true);
	check_own_work(15, false, false);
}

/* Of all recordings: a delay of 0 is one that the clocks do not show. */
static void
the_usual_delay_of_traps_is_not_the_least(void **state)
{
	uint32_t usual = shared_trap_delay(TRAP_DELAY_UNKNOWN);

	(void)state;
	assert_in_range(usual, 1, TRAP_DELAY_MAX_US);
	for (int i = 0; i < 1000; i++)
		usual = shared_trap_delay(i % 30 == 0 ? 0 : 50 + i % 10);
	assert_in_range(usual, 40, 59);
	usual = shared_trap_delay(0);
	assert_in_range(usual, 30, 59);
	for (int i = 0; i < 100; i++)
		usual = shared_trap_delay(i % 10 == 0 ? 60 : 3 + i % 3);
	assert_in_range(usual, 3, 6);
	assert_int_equal(shared_trap_delay(TRAP_DELAY_UNKNOWN), usual);
}

/* Sets a period and lets so much time pass, some times. */
static void
set_and_wait(struct machine *machine, int64_t late_us)
{
	for (int i = 0; i < 100; i++)
		now_us += perf_clock_set(&machine->thread, 0, 1000, 50) +
		    (uint64_t)late_us;
}

/* By how late it is set again; not if it was still to end, or by user mode. */
static void
a_period_that_is_over_tells_the_delay(void **state)
{
	struct machine machine;
	uint32_t usual;

	(void)state;
	start(&machine, 1000, false);
	machine.meters.clock.is_of_user_mode = false;
	set_and_wait(&machine, 30);
	usual = shared_trap_delay(TRAP_DELAY_UNKNOWN);
	assert_in_range(usual, 28, 31);
	set_and_wait(&machine, -500);
	machine.meters.clock.is_of_user_mode = true;
	set_and_wait(&machine, 3);
	assert_int_equal(shared_trap_delay(TRAP_DELAY_UNKNOWN), usual);
	/* Some come after a long system call. */
	machine.meters.clock.is_of_user_mode = false;
	for (int i = 0; i < 10; i++) {
		now_us += 7000;
		set_and_wait(&machine, 30);
	}
	assert_in_range(shared_trap_delay(TRAP_DELAY_UNKNOWN), 28, 33);
}

static void
traps_have_room_but_no_more_than_a_part_of_the_interval(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		shared_trap_delay(50);
	assert_in_range(perf_clock_room(4000), 147, 153);
	assert_in_range(perf_clock_room(1000), 147, 153);
	assert_int_equal(perf_clock_room(400), 100);
	assert_int_equal(perf_clock_room(100), 25);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_modes_are_charged_what_they_use),
		cmocka_unit_test(
		    each_millisecond_of_short_threads_has_its_share),
		cmocka_unit_test(drawn_periods_are_charged_what_they_last),
		cmocka_unit_test(long_work_is_no_functions),
		cmocka_unit_test(the_usual_delay_of_traps_is_not_the_least),
		cmocka_unit_test(a_period_that_is_over_tells_the_delay),
		cmocka_unit_test(
		    traps_have_room_but_no_more_than_a_part_of_the_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
