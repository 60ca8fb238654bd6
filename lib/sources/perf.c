/* SPDX-License-Identifier: MIT */
/* perf.c -- the perf events of a thread: opened, counted, closed. */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"
#include "lib/store/datafile.h"

#define TRACEPOINT_MIN 16	/* system calls between its traps */
#define TRAPS_IN_DANGER 4	/* while the program may close the descriptor */
#define TRAPS_AT_FIRST 4	/* a clock's, whose distances have no memory */
#define TRAPS_BY_HAND 32	/* then the kernel repeats a clock's period, if
				   the user has not chosen it */
#define DRAWN_US 4000		/* of the clock: rare enough to be set each */
#define TRAPS_ALIKE 8		/* before the kernel repeats another period */
#define HOLDING_CALLS 2		/* counted before the event is disabled */
#define LEAST_CALLS 4		/* between traps, so that our own calls cause
				   none */

#define OPEN_PART 4		/* of all descriptors: so many for clocks */

static bool can_trap_once;
static uint64_t most_open;	/* descriptors of clocks that are kept */
static atomic_uint n_open;	/* descriptors of clocks */
static bool is_forked;

/* A row has only one source with this function. */
static bool
perf_probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	const struct resource_source *const *sources = resource_sources(row);

	(void)interval;
	while ((*sources)->probe != perf_probe)
		sources++;
	return perf_event_is_available(*sources, false, why);
}

/*
 * The calls that disable the tracepoint's event are counted themselves.  If it
 * trapped at each call, there would be no end.  Dispatch needs no such calls,
 * and costs no more if there are many samples.
 */
static bool
probe_calls(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row;
	if (!perf_event_is_available(&source_perf_syscalls, false, why))
		return false;
	*why = "samples make system calls, too";
	return interval >= TRACEPOINT_MIN;
}

/* 0 if the limit is not known. */
static void
find_most_open(void)
{
	uint64_t limit = 0;

	process_limit(RLIMIT_NOFILE, &limit);
	most_open = limit / OPEN_PART;
}

static bool
probe_clock(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	if (!perf_event_is_available(&source_perf_clock, true, why))
		return false;
	can_trap_once = perf_event_can_trap_once();
	find_most_open();
	return true;
}

static bool
probe_user_clock(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	if (!perf_event_is_available(&source_perf_user_clock, false, why))
		return false;
	find_most_open();
	if (tick_mode_is_known())
		return true;
	*why = "this kernel's processors have no ticks (nohz_full)";
	return false;
}

/*
 * A thread's event.
 */

static void
perf_close_descriptor(struct account *account)
{
	if (perf_event_is_ours(account))
		files_close(account->fd);
	account->fd = -1;
	if (account->is_in_n_open)
		atomic_fetch_sub(&n_open, 1);
	account->is_in_n_open = false;
}

static bool
perf_counts_calls(const struct resource_source *source)
{
	return source->event_type == PERF_TYPE_TRACEPOINT;
}

/* Counts of the event per gtick. */
static uint64_t
perf_scale(const struct resource_source *source)
{
	return source->usage == USAGE_CPU || source->is_user_time ? 1000 : 1;
}

static bool
is_clock(unsigned column)
{
	return resources.columns[column].source->is_clock;
}

uint64_t
perf_clock_ns(const struct thread *thread, unsigned column)
{
	return is_clock(column) ? 1000 *
	    thread->meters->accounts[column].meter.interval : 0;
}

/*
 * The shortest period.  The kernel repeats a period until the handler sets
 * another, which it cannot as long as a system call lasts.  If one were as
 * short as the kernel takes to end it, the thread would hardly advance.  The
 * least interval of a resource leaves room for a whole sample, and half of it
 * for the kernel; but where traps are as slow as on some virtual machines, a
 * clock needs more.  Not at first: many threads have only that time, and what
 * they begin with must not be left out.
 */
static uint64_t
least_period(const struct account *account, unsigned column)
{
	const uint64_t least = resources.columns[column].row->least / 2;
	const uint64_t room = is_clock(column) &&
	    account->n_traps >= TRAPS_AT_FIRST ?
	    perf_clock_room(account->meter.interval) : 0;

	return room > least ? room : least;
}

/*
 * The period that ends at the meter's next boundary.  A boundary that is closer
 * than the shortest period is counted at its end.
 */
static uint64_t
period_to_boundary(const struct account *account, unsigned column)
{
	const uint64_t least = least_period(account, column);

	return account->meter.left > least ? account->meter.left : least;
}

/*
 * Opens the event.  Returns whether it is open and counts everything that it
 * should.  If a clock cannot be opened, ticks are used.
 */
static bool
arm(struct thread *thread, unsigned column)
{
	const struct resource_source *source = resources.columns[column].source;
	struct account *account = &thread->meters->accounts[column];
	enum perf_view view = process.wants_kernel ? PERF_SEES_STACKS :
	    PERF_SEES_ALL;
	bool had_to;
	int fd;

	account->period = period_to_boundary(account, column);
	if (source->is_user_time)
		account->seen = 0;
	if (perf_counts_calls(source)) {
		account->seen = 0;
		thread->n_own_calls = 0;
	}
	fd = perf_event_open(source, account->period * perf_scale(source),
	                     column, &view);
	had_to = view == PERF_SEES_USER;
	account->fd = -1;
	account->page = NULL;
	account->stacks_size = 0;
	account->view = fd < 0 ? PERF_SEES_USER : view;
	if (is_clock(column)) {
		thread->meters->clock.is_of_user_mode = had_to;
		thread->meters->clock.is_given_up = fd < 0;
	}
	if (fd < 0)
		return false;
	account->fd = process_move_up(fd);
	account->is_in_n_open = is_clock(column);
	if (account->is_in_n_open)
		atomic_fetch_add(&n_open, 1);
	account->n_traps = 0;
	files_request(account->fd, PERF_EVENT_IOC_ID, &account->event_id);
	/*
	 * A mapped page keeps the event even if the program closes all
	 * descriptors, as its first thread may soon do.  It costs more than the
	 * event of a short thread, so the clock of another than the first has
	 * none until it has trapped a few times.  Until then, its stacks in the
	 * kernel are not known.
	 */
	if (!is_clock(column) ||
	    (thread->tid == process_own.pid && !is_forked))
		perf_stack_map(account);
	account->is_by_hand = true;
	thread->meters->clock.armed_us = thread->meters->clock.alarm_us =
	    thread->meters->clock.counted_us = 0;
	if (is_clock(column))
		perf_clock_compare(thread, column);
	if (is_clock(column) && had_to)
		perf_clock_set(thread, column, account->period,
		    account->period);
	/*
	 * Where the first boundary is close, a clock can trap there once and
	 * then be disabled, and so need not wait for the least period.  In user
	 * mode the kernel would repeat the period as long as the thread is in
	 * the kernel.
	 */
	account->traps_once = is_clock(column) && can_trap_once && !had_to &&
	    account->meter.left < resources.columns[column].row->least;
	if (account->traps_once) {
		uint64_t number = account->meter.left * perf_scale(source);

		account->period = account->meter.left;
		files_request(account->fd, PERF_EVENT_IOC_PERIOD, &number);
		files_request(account->fd, PERF_EVENT_IOC_REFRESH, (void *)1);
	} else if (!perf_counts_calls(source)) {
		/* That of a tracepoint is enabled by perf_release. */
		files_request(account->fd, PERF_EVENT_IOC_ENABLE, NULL);
	}
	return !had_to || source->event_type == PERF_TYPE_HARDWARE ||
	    source->is_user_time;
}

/* Counts that the kernel keeps anyway can also be read at ticks. */
static bool
perf_start(struct thread *thread, unsigned column)
{
	const bool is_counted = resources.columns[column].source->usage != 0;
	bool ok;

	if (is_counted)
		usage_start(thread, column);
	if (is_clock(column))	/* before a trap uses the parent's */
		perf_clock_start(thread, column);
	thread->meters->accounts[column].is_armed = true;
	ok = arm(thread, column);
	if (is_clock(column)) {	/* what arming took is not the program's */
		usage_start(thread, column);
		perf_clock_compare(thread, column);
		thread->meters->began_ns =
		    thread->meters->accounts[column].seen * 1000;
	}
	thread->meters->accounts[column].needs_ticks = is_counted &&
	    (!ok || is_clock(column));
	return is_counted || ok;
}

/*
 * Disables the event first: a child of a raw fork, or one that is not set up
 * yet, also holds the event, which would live on.
 */
static void
close_event(struct account *account)
{
	if (perf_event_is_ours(account))
		files_request(account->fd, PERF_EVENT_IOC_DISABLE, NULL);
	perf_stack_unmap(account);
	perf_close_descriptor(account);
}

static void
perf_stop(struct thread *thread, unsigned column)
{
	thread->meters->accounts[column].is_armed = false;
	close_event(&thread->meters->accounts[column]);
}

/* A program that closes all descriptors closes ours, too. */
static bool
perf_open_again(struct thread *thread, unsigned column)
{
	struct account *account = &thread->meters->accounts[column];

	perf_stop(thread, column);
	arm(thread, column);
	account->is_armed = account->fd >= 0;
	return account->is_armed;
}

static uint64_t
repeated_period(const struct account *account)
{
	return cpprofdata_period(account->meter.interval);
}

/*
 * One that the kernel repeats a few times: a 48th to a seventh longer than the
 * interval, so that each trap crosses a boundary.
 */
static uint64_t
varied_period(const struct account *account)
{
	const uint64_t least = repeated_period(account);
	const uint64_t range = account->meter.interval / 8;

	return least + (range == 0 ? 0 :
	    meter_random(account->seen + account->n_traps) % range);
}

/*
 * The same for a clock.  A program that closes descriptors may count them, so
 * the new one is closed before the program goes on, if the kernel can repeat
 * the period.
 */
static void
open_clock_again(struct thread *thread, unsigned column)
{
	struct account *account = &thread->meters->accounts[column];

	if (!resources.is_random) {
		account->meter.random = 0;
		account->meter.left = repeated_period(account);
	}
	if (!perf_open_again(thread, column) || resources.is_random)
		return;
	perf_clock_set(thread, column, account->period, account->period);
	if (account->page == NULL)
		perf_stack_map(account);
	account->is_by_hand = false;
	if (account->page != NULL)
		perf_close_descriptor(account);
}

/*
 * For a clock, which starts a whole period.  A period that the kernel repeats by
 * itself costs no calls; setting one takes 1 us, and 10 on virtual machines.  But
 * repeated ones can be in step with what the program does, or with its turns on a
 * shared processor.  So long ones are drawn and set each time, unless there are
 * too many descriptors to be kept, and short ones at first, as those of short
 * threads are.  Later, another period is repeated now and then.
 */
static void
set_clock(struct thread *thread, unsigned column)
{
	struct account *account = &thread->meters->accounts[column];
	const unsigned by_hand = resources.columns[column].is_paced ?
	    TRAPS_BY_HAND : TRAPS_AT_FIRST;
	const bool is_drawn = resources.is_random ||
	    (account->meter.interval >= DRAWN_US && n_open <= most_open);
	const bool is_repeated = !is_drawn && account->n_traps >= by_hand &&
	    !thread->meters->clock.must_set;
	const bool is_new = account->n_traps >= TRAPS_AT_FIRST &&
	    perf_clock_steady(thread, column, !is_drawn &&
	    account->n_traps >= by_hand);
	const bool is_by_hand = !is_repeated || is_new;
	uint64_t period, number;

	if (!is_by_hand && account->n_traps % TRAPS_ALIKE != 0 &&
	    !account->traps_once && !account->is_by_hand)
		return;
	/* It is closed, or is the program's now. */
	if (!perf_event_is_ours(account)) {
		open_clock_again(thread, column);
		return;
	}
	period = is_by_hand ? period_to_boundary(account, column) :
	    varied_period(account);
	number = 1000 * (is_by_hand ? perf_clock_set(thread, column, period,
	    least_period(account, column)) : period);
	if (!is_by_hand)
		thread->meters->clock.alarm_us = 0;
	files_request(account->fd, PERF_EVENT_IOC_PERIOD, &number);
	if (account->traps_once) {
		files_request(account->fd, PERF_EVENT_IOC_ENABLE, NULL);
		perf_clock_compare(thread, column);	/* it was disabled */
	}
	account->traps_once = false;
	account->is_by_hand = is_by_hand;
	account->period = period;
}

/*
 * Disables the event first: a period set while it runs would end at the very
 * next fault or call.
 */
static void
perf_change_period(struct account *account, uint64_t period, uint64_t scale)
{
	uint64_t number = period * scale;

	files_request(account->fd, PERF_EVENT_IOC_DISABLE, NULL);
	if (files_request(account->fd, PERF_EVENT_IOC_PERIOD, &number) == 0)
		account->period = period;
	files_request(account->fd, PERF_EVENT_IOC_ENABLE, NULL);
}

/*
 * Makes the next trap come at the meter's next boundary.  If the period will
 * never change again, the descriptor is not needed any more.  That of a clock is
 * kept for its time, unless a program with many threads could miss it.
 */
static void
set_period(struct thread *thread, unsigned column)
{
	struct account *account = &thread->meters->accounts[column];
	const struct resource_source *source = resources.columns[column].source;
	const bool is_random = account->meter.random != 0;
	const uint64_t period = is_random ?
	    period_to_boundary(account, column) : repeated_period(account);

	account->n_traps++;
	if (source->is_clock) {
		if (account->fd >= 0 && !thread->meters->clock.must_set)
			set_clock(thread, column);
	} else if (account->fd >= 0 &&
	    (is_random || period != account->period) &&
	    perf_event_is_ours(account))
		perf_change_period(account, period, perf_scale(source));
	if (account->fd < 0)
		return;
	if (account->page == NULL && account->n_traps *
	    (source->is_clock ? thread->meters->clock.stride : 1) >=
	    (thread->tid == process_own.pid ? 1 : TRAPS_IN_DANGER))
		perf_stack_map(account);
	if (account->page != NULL && (source->is_clock ?
	    !account->is_by_hand && n_open > most_open :
	    !is_random && account->period == repeated_period(account)))
		perf_close_descriptor(account);
}

/*
 * System calls.
 *
 * Each sample makes system calls, which pass the tracepoint.  If a sample has
 * to probe one more page of a stack with each call, the next trap would be due
 * before the sample has ended.  So the event is disabled while the collector
 * works.  Its count, read then, gives the exact number of the program's calls.
 */

/*
 * The account of a thread whose calls are counted by the tracepoint, or NULL.
 */
static struct account *
calls_account(struct thread *thread)
{
	const unsigned place = resources.place[RESOURCE_SYSCALLS];

	return place != 0 && thread->meters->accounts[place - 1].is_armed &&
	    perf_counts_calls(resources.columns[place - 1].source) ?
	    &thread->meters->accounts[place - 1] : NULL;
}

void
perf_hold(struct thread *thread)
{
	struct account *account = calls_account(thread);
	uint64_t count;
	int64_t calls;

	if (account == NULL ||
	    (!perf_event_is_ours(account) && !perf_open_again(thread,
	    (unsigned)(account - thread->meters->accounts))))
		return;
	account->seen += thread->n_own_calls;
	thread->n_own_calls = 0;
	files_request(account->fd, PERF_EVENT_IOC_DISABLE, NULL);
	if (files_read(account->fd, &count, sizeof count) != sizeof count)
		return;
	thread->own_bytes_read += sizeof count;
	calls = (int64_t)(count - account->seen) - HOLDING_CALLS;
	account->seen = count;
	if (calls > 0)
		account->unsampled += meter_spend(&account->meter,
		    (uint64_t)calls);
}

/* Starts a new period, whatever the event has counted of the last. */
void
perf_release(struct thread *thread)
{
	struct account *account = calls_account(thread);
	uint64_t period;

	if (account == NULL)
		return;
	period = account->meter.left;
	if (period < LEAST_CALLS)
		period = LEAST_CALLS;
	files_request(account->fd, PERF_EVENT_IOC_PERIOD, &period);
	files_request(account->fd, PERF_EVENT_IOC_ENABLE, NULL);
}

/* The column of the clock, or -1. */
static int
clock_column(const struct thread *thread)
{
	const unsigned place = resources.place[RESOURCE_CPU];

	return place != 0 && thread->meters->accounts[place - 1].is_armed &&
	    resources.columns[place - 1].source->start == perf_start ?
	    (int)place - 1 : -1;
}

struct own_work
perf_own_work(struct thread *thread, uint32_t *columns)
{
	const int column = clock_column(thread);
	struct own_work work = { 0 };

	*columns = 0;
	if (column >= 0)
		work = perf_clock_own(thread, (unsigned)column);
	if (work.hits > 0) {
		thread->meters->accounts[column].pending += work.hits;
		*columns = 1u << column;
	}
	return work;
}

uint64_t
perf_before_us(struct thread *thread, unsigned *column)
{
	const int found = clock_column(thread);
	const struct perf_clock *clock = &thread->meters->clock;

	if (found < 0 || clock->is_given_up || clock->offset_us <= 0)
		return 0;
	*column = (unsigned)found;
	return (uint64_t)clock->offset_us;
}

/*
 * The trap of time in user mode.  If the period has ended in the kernel, that
 * boundary is no hit, and the kernel has repeated the period until it ended in
 * user mode.  A period that is not the interval must not do so: the next
 * boundary is an interval after the first end.
 */
static uint64_t
perf_user_trap(struct thread *thread, unsigned column)
{
	struct account *account = &thread->meters->accounts[column];
	const bool is_repeated = account->meter.random == 0 &&
	    account->period == repeated_period(account);
	uint64_t now = 0, passed, next;

	if (is_repeated || !perf_event_time(thread, column, &now))
		return meter_spend(&account->meter, account->period);
	passed = now - account->seen;
	account->seen = now;
	if (passed < 2 * account->period)
		return meter_spend(&account->meter, account->period);
	passed -= account->period;
	for (next = meter_draw(&account->meter); next <= passed;
	    next = meter_draw(&account->meter))
		passed -= next;
	account->meter.left = next - passed;
	perf_change_period(account, period_to_boundary(account, column), 1000);
	return 0;
}

uint32_t
perf_trap(struct thread *thread, unsigned column, uint64_t *hits)
{
	const struct perf_clock *clock = &thread->meters->clock;
	uint32_t columns = 0;
	unsigned i;

	*hits = 0;
	for (i = 0; i < resources.n; i++) {
		const struct resource_source *source =
		    resources.columns[i].source;
		struct account *account = &thread->meters->accounts[i];
		const bool is_own = i == column;
		uint64_t n;

		if (source->start != perf_start || !account->is_armed)
			continue;
		/*
		 * Another column's trap may have been lost to this one.  A
		 * source that counts events has lost one if a boundary was
		 * crossed.  A clock crosses boundaries anywhere: if any trap
		 * were used, its time would go to where other traps are.  So it
		 * has lost one only if more than its period has passed.  For a
		 * clock of user mode this is not known.
		 */
		if (!is_own && source->is_clock && (clock->is_of_user_mode ||
		    clock->is_given_up ||
		    perf_clock_unseen(thread, i) <= account->period))
			continue;
		/*
		 * What the kernel's usage does not include is only known from
		 * the event's own traps: each is one period.
		 */
		if (perf_counts_calls(source)) {
			n = account->unsampled;
			account->unsampled = 0;
		} else {
			if (source->is_clock)
				n = perf_clock_trap(thread, i, is_own);
			else if (source->usage != 0)
				n = usage_hits(thread, i, 1);
			else if (source->is_user_time)
				n = is_own ? perf_user_trap(thread, i) : 0;
			else
				n = meter_spend(&account->meter,
				    is_own ? account->period : 0);
			if (n > 0 || (is_own && !source->is_user_time &&
			    !(source->is_clock && clock->is_stray)))
				set_period(thread, i);
		}
		account->pending += n;
		*hits += n;
		if (account->pending > 0)
			columns |= 1u << i;
	}
	return columns;
}

bool
perf_measures_work(unsigned column)
{
	const struct resource_source *source = resources.columns[column].source;

	return source->usage == USAGE_CPU || source->is_user_time ||
	    source->event_type == PERF_TYPE_HARDWARE;
}

/* At ticks, and when the thread ends. */
static uint64_t
perf_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	const struct resource_source *source = resources.columns[column].source;
	struct account *account = &thread->meters->accounts[column];
	const uint64_t found = account->unsampled;

	account->unsampled = 0;
	if (is_clock(column))
		return perf_clock_tick(thread, column, expiries);
	return source->usage != 0 ? usage_hits(thread, column, expiries) :
	    found;
}

static void
check_clock(struct thread *thread, unsigned column)
{
	switch (perf_clock_check(thread, column)) {
	case PERF_CLOCK_UNCHANGED:
		break;
	case PERF_CLOCK_CLOSE:
		close_event(&thread->meters->accounts[column]);
		timer_change(thread, EACH_TICK_NS);
		datafile_flag(CPPROFDATA_CLOCK_GIVEN_UP);
		break;
	case PERF_CLOCK_OPEN:
		if (arm(thread, column))
			timer_change(thread, resources.tick_ns);
	}
}

void
perf_end_trap(struct thread *thread, unsigned column)
{
	if ((int)column != clock_column(thread))
		return;
	check_clock(thread, column);
	if (thread->meters->clock.must_set &&
	    !thread->meters->clock.is_given_up)
		set_clock(thread, column);
	perf_clock_end_trap(thread);
}

void
perf_end_tick(struct thread *thread)
{
	const int column = clock_column(thread);

	if (column < 0)
		return;
	if (perf_clock_end_tick(thread, (unsigned)column))
		open_clock_again(thread, (unsigned)column);
	check_clock(thread, (unsigned)column);
}

void
perf_pause(struct thread *thread)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->start == perf_start)
			perf_stop(thread, i);
}

void
perf_go_on(struct thread *thread)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->start == perf_start) {
			thread->meters->accounts[i].is_armed = true;
			if (!is_clock(i) || !thread->meters->clock.is_given_up)
				arm(thread, i);
		}
	perf_release(thread);
}

/* Without its event, a thread needs every tick. */
static void
release_clock(struct thread *thread)
{
	if (thread->meters->clock.is_given_up)
		timer_change(thread, EACH_TICK_NS);
}

/*
 * A thread's first period begins now: one that ended during the start would be
 * counted where the program goes on.  As its length has no memory, it may as
 * well begin here.  For the same reason a close boundary is not put off as others
 * are, if traps are known to be fast: the kernel repeats such a period only until
 * the thread is back in the program.
 */
static void
release_user_clock(struct thread *thread)
{
	const int column = clock_column(thread);
	uint64_t soonest = shared_trap_delay(TRAP_DELAY_UNKNOWN), number;
	struct account *account;

	if (column < 0 || thread->meters->clock.is_given_up)
		return;
	account = &thread->meters->accounts[column];
	if (soonest < account->meter.left)
		soonest = account->meter.left;
	account->period = period_to_boundary(account, (unsigned)column);
	if (soonest < account->period)
		account->period = soonest;
	thread->meters->clock.counted_us = 0;
	number = 1000 * perf_clock_set(thread, (unsigned)column,
	    account->period, account->period);
	files_request(account->fd, PERF_EVENT_IOC_PERIOD, &number);
}

bool
perf_is_used(void)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->start == perf_start)
			return true;
	return false;
}

void
perf_forked(struct thread *thread)
{
	unsigned i;

	is_forked = true;
	n_open = 0;
	/* The pages are not mapped in a child. */
	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->meters->accounts[i];

		if (resources.columns[i].source->start != perf_start)
			continue;
		account->is_in_n_open = false;
		perf_close_descriptor(account);
		account->page = NULL;
		account->stacks_size = 0;
		account->is_armed = false;
	}
}

#define PERF_EVENT(name_, probe_) \
	.name = name_, \
	.probe = probe_, \
	.start = perf_start, \
	.stop = perf_stop, \
	.hits = perf_hits, \
	.traps = true, \
	.can_be_random = true
#define SOFTWARE(number) \
	.event_type = PERF_TYPE_SOFTWARE, .event = PERF_COUNT_SW_##number
#define HARDWARE(number) \
	.event_type = PERF_TYPE_HARDWARE, .event = PERF_COUNT_HW_##number

const struct resource_source source_perf_clock = {
	PERF_EVENT("perf event", probe_clock), SOFTWARE(TASK_CLOCK),
	.release = release_clock, .usage = USAGE_CPU, .is_clock = true
};
const struct resource_source source_perf_user_clock = {
	PERF_EVENT("perf event for user mode, ticks for the kernel",
	    probe_user_clock), SOFTWARE(TASK_CLOCK),
	.release = release_user_clock, .usage = USAGE_CPU, .is_clock = true,
	.needs_mode = true
};
/*
 * A period that ends in the kernel causes no trap and is repeated.  So each trap
 * is one period of user mode, although the event's clock runs in both.
 */
const struct resource_source source_perf_user = {
	PERF_EVENT("perf event", perf_probe), SOFTWARE(TASK_CLOCK),
	.is_user_time = true
};
#define PERF_COUNT(name, which, usage_)					\
const struct resource_source name = {					\
	PERF_EVENT("perf event", perf_probe), which, .usage = usage_	\
};
PERF_COUNT(source_perf_faults, SOFTWARE(PAGE_FAULTS), USAGE_PAGE_FAULTS)
PERF_COUNT(source_perf_major_faults, SOFTWARE(PAGE_FAULTS_MAJ),
    USAGE_MAJOR_FAULTS)
PERF_COUNT(source_perf_minor_faults, SOFTWARE(PAGE_FAULTS_MIN),
    USAGE_MINOR_FAULTS)
PERF_COUNT(source_perf_switches, SOFTWARE(CONTEXT_SWITCHES),
    USAGE_CONTEXT_SWITCHES)
/* Each trap is a switch; the kernel's usage says whether it counts. */
PERF_COUNT(source_perf_voluntary_switches, SOFTWARE(CONTEXT_SWITCHES),
    USAGE_VOLUNTARY_SWITCHES)
PERF_COUNT(source_perf_involuntary_switches, SOFTWARE(CONTEXT_SWITCHES),
    USAGE_INVOLUNTARY_SWITCHES)
PERF_COUNT(source_perf_cycles, HARDWARE(CPU_CYCLES), USAGE_NONE)
PERF_COUNT(source_perf_instructions, HARDWARE(INSTRUCTIONS), USAGE_NONE)
PERF_COUNT(source_perf_cache_misses, HARDWARE(CACHE_MISSES), USAGE_NONE)
PERF_COUNT(source_perf_branch_misses, HARDWARE(BRANCH_MISSES), USAGE_NONE)
const struct resource_source source_perf_syscalls = {
	PERF_EVENT("perf event", probe_calls), .release = perf_release,
	.event_type = PERF_TYPE_TRACEPOINT, .sets_each_trap = true
};
