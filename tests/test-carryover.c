/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-carryover.c -- hits that had no sample when their thread ended.
 *
 * Those of ticks pass to a new thread with the same start routine, those of real
 * time to any that waits; others are lost.  The file shows at every moment how
 * many wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/unwind/traits.h"

enum { OF_TICKS, OF_CALLS, N_COLUMNS };

static struct {
	int64_t pending[N_COLUMNS];	/* in the file */
	uint64_t lost[N_COLUMNS];
	uint64_t dropped;
} file;

static uint64_t next_hits;	/* of the source, at the next tick */
static uint64_t left_to_waits;	/* by threads that have ended */

/* What the collector links with. */
__thread struct thread *thread_self;
struct datafile_columns datafile_columns;
struct process_facts process;

uint64_t
process_ask_clock(clockid_t clock)
{
	(void)clock;
	return 5;
}

void
datafile_count_pending(unsigned column, int64_t hits)
{
	file.pending[column] += hits;
}

void
datafile_count_lost(enum cpprofdata_drop reason, unsigned column, uint64_t hits)
{
	assert_int_equal(reason, CPPROFDATA_LOST_AT_EXIT);
	file.lost[column] += hits;
}

void
datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits)
{
	(void)samples;
	assert_int_equal(reason, CPPROFDATA_LOST_AT_EXIT);
	file.dropped += hits;
}

bool
tick_mode_is_known(void)
{
	return false;
}

void
tick_mode_start(struct tick_clocks *clocks)
{
	(void)clocks;
}

enum tick_mode
tick_mode_read(struct tick_clocks *clocks)
{
	(void)clocks;
	return TICK_NO_MODE;
}

bool
traits_program_is_go(void)
{
	return false;
}

static uint64_t
count(struct thread *thread, unsigned column, uint64_t expiries)
{
	const uint64_t n = next_hits;

	(void)thread;
	(void)column;
	(void)expiries;
	next_hits = 0;
	return n;
}

static void
leave_to_waits(struct thread *thread, uint64_t hits)
{
	(void)thread;
	left_to_waits += hits;
}

static const struct resource_source of_ticks = {
	.hits = count, .leave_off_cpu = leave_to_waits, .needs_ticks = true,
};
static const struct resource_source of_calls = { .name = "calls" };

struct one {
	struct thread thread;
	struct thread_meters meters;
};

static struct carryover carryover;

static void
begin(struct one *one)
{
	*one = (struct one){ .meters.carryover = &carryover };
	one->thread.meters = &one->meters;
	one->meters.accounts[OF_TICKS].needs_ticks = true;
	resources = (struct resources){
		.n = N_COLUMNS,
		.columns = { [OF_TICKS].source = &of_ticks,
		             [OF_CALLS].source = &of_calls },
	};
}

static int
set_up(void **state)
{
	(void)state;
	carryover = (struct carryover){ 0 };
	file.pending[OF_TICKS] = file.pending[OF_CALLS] = 0;
	file.lost[OF_TICKS] = file.lost[OF_CALLS] = file.dropped = 0;
	next_hits = left_to_waits = 0;
	return 0;
}

/* A thread that had these hits, and no sample of them. */
static void
leave(uint64_t of_ticks_n, uint64_t of_calls_n, bool is_noted)
{
	struct one one;

	begin(&one);
	one.meters.accounts[OF_TICKS].pending = of_ticks_n;
	one.meters.accounts[OF_CALLS].pending = of_calls_n;
	if (is_noted)
		resources_note_pending(&one.thread);
	resources_leave(&one.thread);
	assert_int_equal(one.meters.accounts[OF_TICKS].pending, 0);
	assert_int_equal(one.meters.accounts[OF_CALLS].pending, 0);
}

/* Of a thread's next tick, which finds n hits of its own. */
static uint32_t
tick(struct one *one, uint64_t n, uint64_t *hits)
{
	uint64_t overrun;

	next_hits = n;
	return resources_tick(&one->thread, 1, hits, &overrun);
}

static void
hits_of_ticks_pass_to_a_new_thread(void **state)
{
	struct one one;
	uint64_t hits;

	(void)state;
	leave(7, 0, true);
	leave(3, 0, false);
	assert_int_equal(file.pending[OF_TICKS], 10);
	begin(&one);
	assert_int_equal(tick(&one, 1, &hits), 1u << OF_TICKS);
	assert_int_equal(hits, 1);
	assert_int_equal(one.meters.accounts[OF_TICKS].pending, 11);
	one.meters.accounts[OF_TICKS].pending = 0;	/* a sample */
	resources_note_pending(&one.thread);
	assert_int_equal(file.pending[OF_TICKS], 0);
	assert_int_equal(file.dropped, 0);
}

static void
they_pass_once(void **state)
{
	struct one first, second;
	uint64_t hits;

	(void)state;
	leave(7, 0, true);
	begin(&first);
	begin(&second);
	assert_int_equal(tick(&first, 0, &hits), 1u << OF_TICKS);
	assert_int_equal(tick(&second, 0, &hits), 0);
	resources_leave(&first.thread);
	assert_int_equal(tick(&second, 0, &hits), 1u << OF_TICKS);
	assert_int_equal(second.meters.accounts[OF_TICKS].pending, 7);
	assert_int_equal(file.pending[OF_TICKS], 7);
}

static void
hits_of_calls_wait_for_the_end(void **state)
{
	struct one one;
	uint64_t hits;

	(void)state;
	leave(0, 5, true);
	assert_int_equal(file.pending[OF_CALLS], 5);
	begin(&one);
	assert_int_equal(tick(&one, 0, &hits), 0);
	assert_int_equal(resources_take_apart(&carryover, OF_CALLS), 5);
	assert_int_equal(resources_take_apart(&carryover, OF_CALLS), 0);
	assert_int_equal(file.pending[OF_CALLS], 0);
	assert_int_equal(file.lost[OF_CALLS], 0);
	assert_int_equal(file.dropped, 0);
}

static void
hits_of_ticks_that_nobody_took_are_taken_at_the_end(void **state)
{
	(void)state;
	leave(7, 0, true);
	assert_int_equal(resources_take_apart(&carryover, OF_TICKS), 7);
	assert_int_equal(file.pending[OF_TICKS], 0);
}

static void
a_thread_that_has_lived_takes_none(void **state)
{
	struct one one;
	uint64_t hits;

	(void)state;
	leave(7, 0, true);
	begin(&one);
	one.meters.n_expiries = CARRYOVER_TICKS;
	assert_int_equal(tick(&one, 0, &hits), 0);
	assert_int_equal(file.pending[OF_TICKS], 7);
}

/* No sample could be taken of 7; 2 more are found when the thread ends. */
static uint64_t
end_late(struct one *one, bool is_real)
{
	uint64_t hits;

	begin(one);
	resources.place[RESOURCE_REAL] = is_real ? OF_TICKS + 1 : 0;
	one->meters.accounts[OF_TICKS].pending = 7;
	one->meters.accounts[OF_CALLS].pending = 5;
	resources_note_pending(&one->thread);
	resources_leave_late(&one->thread);
	next_hits = 2;
	assert_int_equal(resources_end(&one->thread, &hits),
	    1u << OF_TICKS | 1u << OF_CALLS);
	return hits;
}

static void
late_hits_of_real_time_are_not_of_a_thread_s_end(void **state)
{
	struct one one;

	(void)state;
	assert_int_equal(end_late(&one, true), 2 + 5);
	assert_int_equal(left_to_waits, 7);
	assert_int_equal(one.meters.accounts[OF_TICKS].pending, 2);
	assert_int_equal(file.pending[OF_TICKS], 0);
	assert_int_equal(file.pending[OF_CALLS], 5);
}

static void
late_hits_of_other_ticks_are(void **state)
{
	struct one one;

	(void)state;
	assert_int_equal(end_late(&one, false), 7 + 2 + 5);
	assert_int_equal(left_to_waits, 0);
	assert_int_equal(file.pending[OF_TICKS], 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hits_of_ticks_pass_to_a_new_thread,
		    set_up),
		cmocka_unit_test_setup(they_pass_once, set_up),
		cmocka_unit_test_setup(hits_of_calls_wait_for_the_end, set_up),
		cmocka_unit_test_setup(
		    hits_of_ticks_that_nobody_took_are_taken_at_the_end,
		    set_up),
		cmocka_unit_test_setup(a_thread_that_has_lived_takes_none,
		    set_up),
		cmocka_unit_test_setup(
		    late_hits_of_real_time_are_not_of_a_thread_s_end, set_up),
		cmocka_unit_test_setup(late_hits_of_other_ticks_are, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
