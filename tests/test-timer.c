/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-timer.c -- CPU time of threads, by ticks and by what ended ones left.
 *
 * Simulated threads share a processor, in turns that may be in step with the
 * ticks.  What they use is in hits, reported as lost, or left to the next
 * process.
 */
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

enum { MAIN = 1, OTHER = 2, MOST = 400 };

#define MS ((int64_t)1000000)
#define TICK (4 * MS)

static uint64_t now_ns;		/* the clock of the thread that runs */

/* What the collector links with. */
struct resources resources;
struct process_own process_own;
__thread struct thread *thread_self;

uint64_t
process_clock(clockid_t clock)
{
	(void)clock;
	return now_ns;
}

uint64_t
process_ask_clock(clockid_t clock)
{
	(void)clock;
	return 5;
}

uint64_t
process_kernel_tick(void)
{
	return (uint64_t)TICK;
}

int
signals_number(enum our_signal which)
{
	(void)which;
	return 1;
}

int64_t
shared_take_time(enum cpprof_shared_time which)
{
	(void)which;
	return 0;
}

struct one {
	struct thread thread;
	struct thread_meters meters;
	int64_t used_ns;
};

static struct carryover carryover;

static struct one
begin(uint32_t tid)
{
	resources = (struct resources){ .n = 1, .tick_ns = (uint64_t)TICK };
	process_own.pid = MAIN;
	return (struct one){ .thread.tid = tid,
	                     .meters.carryover = &carryover };
}

static void
forget(void)
{
	carryover.ended_ns = carryover.living_ns = 0;
}

static void
use(struct one *one, int64_t ns)
{
	one->used_ns += ns;
}

static int64_t
hits(struct one *one, uint64_t expiries)
{
	uint64_t n;

	one->thread.meters = &one->meters;
	now_ns = (uint64_t)one->used_ns;
	n = source_timer.hits(&one->thread, 0, expiries);
	one->meters.n_expiries += expiries;
	return (int64_t)n;
}

static int64_t
end(struct one *one)
{
	const int64_t n = hits(one, 0);

	timer_leave(&one->thread);
	return n;
}

struct sum {
	int64_t used, in_hits, lost, rest;
};

static void
end_process(struct sum *sum)
{
	sum->lost = (int64_t)timer_lose(&carryover) * TICK;
	sum->rest = timer_take_rest(&carryover);
	assert_int_equal(sum->in_hits + sum->lost + sum->rest, sum->used);
	assert_true(sum->rest < TICK);
}

/*
 * Threads that all begin at once and use that much each.  A tick ends the turn
 * of the thread that it finds, and so does its end.
 */
static struct sum
together(unsigned n, int64_t each_ns)
{
	static struct one threads[MOST];
	struct sum sum = { 0 };
	int64_t left, to_tick = TICK;
	unsigned i, running = n;

	forget();
	for (i = 0; i < n; i++)
		threads[i] = begin(OTHER);
	for (i = 0; running > 0; i = (i + 1) % n) {
		struct one *one = &threads[i];

		left = each_ns - one->used_ns;
		if (left == 0)
			continue;
		if (left < to_tick) {
			use(one, left);
			to_tick -= left;
		} else {
			use(one, to_tick);
			sum.in_hits += hits(one, 1) * TICK;
			to_tick = TICK;
		}
		if (one->used_ns < each_ns)
			continue;
		sum.in_hits += end(one) * TICK;
		sum.used += each_ns;
		running--;
	}
	end_process(&sum);
	return sum;
}

static void
threads_at_once_have_what_they_use(void **state)
{
	static const int64_t each_us[] = { 300, 1000, 3000, 5000, 12000, 50000 };
	unsigned i, n;

	(void)state;
	for (i = 0; i < sizeof each_us / sizeof *each_us; i++)
		for (n = 10; n <= MOST; n *= 2) {
			const struct sum sum = together(n, each_us[i] * 1000);

			assert_true(llabs(sum.in_hits - sum.used) <=
			    sum.used / 4 + 2 * TICK);
			assert_true(sum.lost <= sum.used / 4 + TICK);
		}
}

/* Each begins at a tick and ends before the next. */
static void
leave_unsampled(unsigned n, int64_t each_ns, struct sum *sum)
{
	while (n-- > 0) {
		struct one one = begin(OTHER);

		use(&one, each_ns);
		sum->in_hits += end(&one) * TICK;
		sum->used += each_ns;
	}
}

static void
what_no_tick_found_is_of_a_new_thread(void **state)
{
	struct one one = begin(OTHER);
	struct sum sum = { 0 };

	(void)state;
	forget();
	leave_unsampled(100, 2 * MS, &sum);
	assert_int_equal(sum.in_hits, 0);
	use(&one, 1 * MS);
	assert_int_equal(hits(&one, 1), 1 + (200 - 3) / 4);
}

static void
what_nobody_takes_is_lost(void **state)
{
	struct sum sum = { 0 };

	(void)state;
	forget();
	leave_unsampled(11, 3 * MS, &sum);
	end_process(&sum);
	assert_int_equal(sum.lost, 32 * MS);
	assert_int_equal(sum.rest, 1 * MS);
	leave_unsampled(1, 3 * MS, &(struct sum){ 0 });
	resources.tick_ns = (uint64_t)MS;	/* less than the kernel's */
	assert_int_equal(timer_lose(&carryover), 0);
}

static void
a_thread_that_lives_on_takes_nothing(void **state)
{
	struct one one = begin(OTHER);
	int i;

	(void)state;
	forget();
	for (i = 0; i < 20; i++) {
		if (i == CARRYOVER_TICKS)
			leave_unsampled(100, 1 * MS, &(struct sum){ 0 });
		use(&one, TICK);
		assert_int_equal(hits(&one, 1), 1);
	}
}

static void
a_thread_that_lives_on_owes_nothing(void **state)
{
	struct one old = begin(OTHER), new = begin(OTHER);
	int i;

	(void)state;
	forget();
	use(&old, 1 * MS);
	for (i = 0; i < 20; i++) {
		assert_int_equal(hits(&old, 1), 1);
		use(&old, TICK);
	}
	leave_unsampled(2, 3 * MS, &(struct sum){ 0 });
	use(&new, TICK);
	assert_int_equal(hits(&new, 1), 2);
}

/* A new thread would take what those that live make up for soon. */
static void
what_the_living_were_counted_too_much_is_not_taken(void **state)
{
	struct one first[10], one = begin(OTHER);
	struct sum sum = { 0 };
	int i;

	(void)state;
	forget();
	for (i = 0; i < 10; i++) {
		first[i] = begin(OTHER);
		use(&first[i], 1 * MS);
		sum.in_hits += hits(&first[i], 1) * TICK;
	}
	leave_unsampled(10, 3 * MS, &sum);
	use(&one, TICK);
	assert_int_equal(hits(&one, 1), 1);
	for (i = 0; i < 10; i++)
		use(&first[i], 3 * MS);
	for (i = 0; i < 10; i++)
		assert_int_equal(end(&first[i]), 0);
	assert_int_equal(timer_take_rest(&carryover), 30 * MS);
}

static void
threads_that_ticks_find_too_often_are_not_counted(void **state)
{
	int64_t n = 0;
	int i;

	(void)state;
	forget();
	for (i = 0; i < 100; i++) {
		struct one one = begin(OTHER);

		use(&one, 1 * MS);
		n += hits(&one, 1) + end(&one);
	}
	assert_in_range(n, 25, 25 + TIMER_MOST_AHEAD);
}

static void
the_main_thread_shares_with_no_other(void **state)
{
	struct one main_thread = begin(MAIN);

	(void)state;
	forget();
	leave_unsampled(10, 3 * MS, &(struct sum){ 0 });
	use(&main_thread, 1 * MS);
	assert_int_equal(hits(&main_thread, 1), 1);
	use(&main_thread, 1 * MS);
	end(&main_thread);
	assert_int_equal(main_thread.meters.uncounted_ns, -2 * MS);
	assert_int_equal(timer_take_rest(&carryover), 30 * MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_at_once_have_what_they_use),
		cmocka_unit_test(what_no_tick_found_is_of_a_new_thread),
		cmocka_unit_test(what_nobody_takes_is_lost),
		cmocka_unit_test(a_thread_that_lives_on_takes_nothing),
		cmocka_unit_test(a_thread_that_lives_on_owes_nothing),
		cmocka_unit_test(
		    what_the_living_were_counted_too_much_is_not_taken),
		cmocka_unit_test(
		    threads_that_ticks_find_too_often_are_not_counted),
		cmocka_unit_test(the_main_thread_shares_with_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
