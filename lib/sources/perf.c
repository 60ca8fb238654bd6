/* SPDX-License-Identifier: MIT */
/* perf.c -- the perf events of a thread: armed, counted, closed. */
#include "lib/sources/perf.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/cpprofdata.h"
#include "lib/sources/perf-clock.h"
#include "lib/sources/perf-event.h"
#include "lib/sources/resource.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/usage.h"
#include "lib/store/datafile.h"

#define TRACEPOINT_MIN 16	/* system calls between its traps */
#define LONG_INTERVAL_US 4000	/* for which ticks are always enough */
#define HOLDING_CALLS 2		/* that are counted before the event stands */
#define LEAST_CALLS 4		/* to a trap, so that ours alone bring none */

/* One row has one such source. */
static bool
probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	const struct source *const *sources = resource_sources(row);

	(void)interval;
	while ((*sources)->probe != probe)
		sources++;
	return perf_event_is_there(*sources, false, why);
}

/*
 * The calls that hold the tracepoint's event are counted themselves: where it
 * traps at every one, there would be no end.  Dispatch needs none, and is no
 * dearer where there are many samples.
 */
static bool
probe_calls(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row;
	if (!perf_event_is_there(&source_perf_syscalls, false, why))
		return false;
	*why = "samples make system calls, too";
	return interval >= TRACEPOINT_MIN;
}

/* The timer is as good and cheaper where ticks come often enough. */
static bool
needs_clock(uint64_t interval)
{
	return resources.is_random || (interval < LONG_INTERVAL_US &&
	    interval * 1000 < process_kernel_tick());
}

static bool
probe_clock(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row;
	*why = "";
	return needs_clock(interval) &&
	    perf_event_is_there(&source_perf_clock, true, why);
}

static bool
probe_user_clock(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row;
	*why = "";
	if (!needs_clock(interval) ||
	    !perf_event_is_there(&source_perf_user_clock, false, why))
		return false;
	if (!tick_mode_is_known())
		*why = "this kernel's processors have no ticks (nohz_full)";
	return **why == '\0';
}

/*
 * A thread's event.
 */

static bool
is_ours(const struct account *account)
{
	uint64_t id;

	return account->fd >= 0 &&
	    ioctl(account->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
	    id == account->event_id;
}

static void
close_descriptor(struct account *account)
{
	if (is_ours(account))
		files_close(account->fd);
	account->fd = -1;
}

static bool
counts_calls(const struct source *source)
{
	return source->event_type == PERF_TYPE_TRACEPOINT;
}

/* What an event counts in a gtick. */
static uint64_t
scale(const struct source *source)
{
	return source->usage == USAGE_CPU ? 1000 : 1;
}

static bool
is_clock(unsigned column)
{
	return resources.columns[column].source->usage == USAGE_CPU;
}

/*
 * Opens the event; whether it is there, and counts all that it should.  The
 * first period may be shorter than a trap takes, so there is none before the
 * handler can set the next: traps would follow on each other for ever.  A clock
 * that is not there is left to ticks.
 */
static bool
arm(struct thread *thread, unsigned column)
{
	const struct source *source = resources.columns[column].source;
	struct account *account = &thread->meters->accounts[column];
	bool had_to = false;
	int fd;

	/* What is left of an interval that is under way. */
	account->period = account->meter.left;
	if (counts_calls(source)) {
		account->seen = 0;
		thread->n_own_calls = 0;
	}
	fd = perf_event_open(source, account->period * scale(source), column,
	    &had_to);
	account->fd = -1;
	account->page = NULL;
	if (is_clock(column)) {
		thread->meters->clock.is_of_user_mode = had_to;
		thread->meters->clock.is_given_up = fd < 0;
	}
	if (fd < 0)
		return false;
	account->fd = process_move_up(fd);
	ioctl(account->fd, PERF_EVENT_IOC_ID, &account->event_id);
	account->page = files_map_part(NULL, CPPROFDATA_PAGE, PROT_READ,
	    MAP_SHARED, account->fd, 0);
	if (account->page == MAP_FAILED)
		account->page = NULL;
	if (!counts_calls(source))	/* else when it is released */
		ioctl(account->fd, PERF_EVENT_IOC_ENABLE, 0);
	return !had_to || source->event_type == PERF_TYPE_HARDWARE;
}

/* What the kernel counts anyway can be looked at at ticks, too. */
static bool
start(struct thread *thread, unsigned column)
{
	const bool is_counted = resources.columns[column].source->usage != 0;
	bool ok;

	if (is_counted)
		usage_start(thread, column);
	if (is_clock(column))	/* before a trap looks at the parent's */
		perf_clock_start(thread, column);
	thread->meters->accounts[column].is_armed = true;
	ok = arm(thread, column);
	thread->meters->accounts[column].needs_ticks = is_counted &&
	    (!ok || is_clock(column));
	return is_counted || ok;
}

/*
 * It is stopped first: a child that was forked by the kernel's own call, or has
 * not come so far yet, holds the event, too, and it would live on.
 */
static void
close_event(struct account *account)
{
	if (is_ours(account))
		ioctl(account->fd, PERF_EVENT_IOC_DISABLE, 0);
	if (account->page != NULL)
		files_unmap(account->page, CPPROFDATA_PAGE);
	account->page = NULL;
	close_descriptor(account);
}

static void
stop(struct thread *thread, unsigned column)
{
	thread->meters->accounts[column].is_armed = false;
	close_event(&thread->meters->accounts[column]);
}

/*
 * A new period begins when the event next begins to run; given to one that
 * runs, it would end at once, at the very next fault or call.
 */
static bool
change_period(const struct account *account, uint64_t number)
{
	bool ok;

	if (!is_ours(account))
		return false;
	ioctl(account->fd, PERF_EVENT_IOC_DISABLE, 0);
	ok = ioctl(account->fd, PERF_EVENT_IOC_PERIOD, &number) == 0;
	ioctl(account->fd, PERF_EVENT_IOC_ENABLE, 0);
	return ok;
}

/* Has the next trap come at the meter's next boundary. */
static void
set_period(struct account *account, const struct source *source)
{
	const bool is_random = account->meter.random != 0;
	uint64_t period = is_random ? account->meter.left :
	    account->meter.interval;

	if (account->fd < 0 || (period == account->period && !is_random))
		return;
	if (change_period(account, period * scale(source)))
		account->period = period;
	if (!is_random && account->page != NULL)
		close_descriptor(account);
}

/*
 * System calls.
 *
 * The collector makes some in every sample, and the tracepoint passes those,
 * too: where one more page of a stack is looked at with each, the next trap
 * would be due before the sample has ended.  So the event stands while the
 * collector works, and its count, read then, says exactly how many calls the
 * program has made.
 */

/* The account of a thread whose calls the tracepoint counts, or NULL. */
static struct account *
calls_account(struct thread *thread)
{
	const unsigned place = resources.place[RESOURCE_SYSCALLS];

	return place != 0 && thread->meters->accounts[place - 1].is_armed &&
	    counts_calls(resources.columns[place - 1].source) ?
	    &thread->meters->accounts[place - 1] : NULL;
}

/* A program that closes all descriptors closes ours, too. */
static bool
open_again(struct thread *thread, struct account *account)
{
	const unsigned column = (unsigned)(account - thread->meters->accounts);

	stop(thread, column);
	account->is_armed = arm(thread, column);
	return account->is_armed;
}

void
perf_hold(struct thread *thread)
{
	struct account *account = calls_account(thread);
	uint64_t count;
	int64_t calls;

	if (account == NULL ||
	    (!is_ours(account) && !open_again(thread, account)))
		return;
	account->seen += thread->n_own_calls;
	thread->n_own_calls = 0;
	ioctl(account->fd, PERF_EVENT_IOC_DISABLE, 0);
	if (files_read(account->fd, &count, sizeof count) != sizeof count)
		return;
	thread->own_bytes_read += sizeof count;
	calls = (int64_t)(count - account->seen) - HOLDING_CALLS;
	account->seen = count;
	if (calls > 0)
		account->unsampled += meter_spend(&account->meter,
		    (uint64_t)calls);
}

/* Whatever the event has counted of its period, it begins anew. */
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
	ioctl(account->fd, PERF_EVENT_IOC_PERIOD, &period);
	ioctl(account->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static uint64_t
take_unsampled(struct account *account)
{
	const uint64_t hits = account->unsampled;

	account->unsampled = 0;
	account->owed += hits;
	return hits;
}

/* What no usage counts is known by its own traps alone: each is a period. */
static uint64_t
count(struct thread *thread, unsigned column, bool is_own_trap)
{
	const struct source *source = resources.columns[column].source;
	struct account *account = &thread->meters->accounts[column];
	uint64_t spent = is_own_trap ? account->period : 0, hits;

	if (counts_calls(source))
		return take_unsampled(account);
	if (is_clock(column))
		hits = perf_clock_trap(thread, column, spent);
	else if (source->usage != 0)
		hits = usage_hits(thread, column, 1);
	else
		hits = meter_spend(&account->meter, spent);
	if (hits > 0 || is_own_trap)
		set_period(account, source);
	account->owed += hits;
	return hits;
}

/*
 * Whether to ask what a column has spent at another's trap: one of its own may
 * have been lost to that.  What counts events has lost one if a boundary was
 * crossed.  A clock crosses them anywhere, and if whatever trap comes next
 * noticed, the time would go where those traps are; its own is lost once more
 * than its period has passed.  Of one of user mode that cannot be told.
 */
static bool
is_asked_too(const struct thread *thread, unsigned column)
{
	return !is_clock(column) || (!thread->meters->clock.is_of_user_mode &&
	    !thread->meters->clock.is_given_up &&
	    usage_unseen(thread, column) > thread->meters->accounts[column].period);
}

uint32_t
perf_trap(struct thread *thread, unsigned column, uint64_t *hits)
{
	uint32_t columns = 0;
	unsigned i;

	*hits = 0;
	for (i = 0; i < resources.n; i++) {
		if (resources.columns[i].source->start != start ||
		    !thread->meters->accounts[i].is_armed ||
		    (i != column && !is_asked_too(thread, i)))
			continue;
		*hits += count(thread, i, i == column);
		if (thread->meters->accounts[i].owed > 0)
			columns |= 1u << i;
	}
	return columns;
}

bool
perf_measures_work(unsigned column)
{
	const struct source *source = resources.columns[column].source;

	return source->usage == USAGE_CPU ||
	    source->event_type == PERF_TYPE_HARDWARE;
}

/* At ticks, and at the end. */
static uint64_t
hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	const struct source *source = resources.columns[column].source;
	struct account *account = &thread->meters->accounts[column];
	const uint64_t found = account->unsampled;

	account->unsampled = 0;
	if (is_clock(column))
		return perf_clock_tick(thread, column, expiries);
	return source->usage != 0 ? usage_hits(thread, column, expiries) :
	    found;
}

/* The column of the clock, or -1. */
static int
clock_column(const struct thread *thread)
{
	const unsigned place = resources.place[RESOURCE_CPU];

	return place != 0 && thread->meters->accounts[place - 1].is_armed &&
	    resources.columns[place - 1].source->start == start ?
	    (int)place - 1 : -1;
}

static void
look_at_clock(struct thread *thread, unsigned column)
{
	switch (perf_clock_look(thread)) {
	case PERF_CLOCK_AS_IT_WAS:
		break;
	case PERF_CLOCK_GIVE_UP:
		close_event(&thread->meters->accounts[column]);
		datafile_flag(CPPROFDATA_CLOCK_GIVEN_UP);
		break;
	case PERF_CLOCK_TAKE_UP:
		arm(thread, column);
	}
}

void
perf_end_trap(struct thread *thread, unsigned column)
{
	if ((int)column != clock_column(thread))
		return;
	look_at_clock(thread, column);
	perf_clock_end_trap(thread);
}

void
perf_end_tick(struct thread *thread)
{
	const int column = clock_column(thread);

	if (column < 0)
		return;
	if (perf_clock_end_tick(thread, (unsigned)column)) {
		close_event(&thread->meters->accounts[column]);
		arm(thread, (unsigned)column);
	}
	look_at_clock(thread, (unsigned)column);
}

void
perf_pause(struct thread *thread)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->start == start)
			stop(thread, i);
}

void
perf_go_on(struct thread *thread)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->start == start) {
			thread->meters->accounts[i].is_armed = true;
			if (!is_clock(i) || !thread->meters->clock.is_given_up)
				arm(thread, i);
		}
	perf_release(thread);
}

bool
perf_is_used(void)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->start == start)
			return true;
	return false;
}

void
perf_forked(struct thread *thread)
{
	unsigned i;

	/* The pages are not there in a child. */
	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->meters->accounts[i];

		if (resources.columns[i].source->start != start)
			continue;
		close_descriptor(account);
		account->page = NULL;
		account->is_armed = false;
	}
}

#define PERF_EVENT(name_, probe_) \
	.name = name_, \
	.probe = probe_, \
	.start = start, \
	.stop = stop, \
	.hits = hits, \
	.can_be_random = true
#define SOFTWARE(number) \
	.event_type = PERF_TYPE_SOFTWARE, .event = PERF_COUNT_SW_##number
#define HARDWARE(number) \
	.event_type = PERF_TYPE_HARDWARE, .event = PERF_COUNT_HW_##number

const struct source source_perf_clock = {
	PERF_EVENT("perf event", probe_clock), SOFTWARE(TASK_CLOCK),
	.usage = USAGE_CPU, .is_clock = true, .needs_mode = true
};
const struct source source_perf_user_clock = {
	PERF_EVENT("perf event for user mode, ticks for the kernel",
	    probe_user_clock), SOFTWARE(TASK_CLOCK), .usage = USAGE_CPU,
	.is_clock = true, .needs_mode = true
};
const struct source source_perf_faults = {
	PERF_EVENT("perf event", probe), SOFTWARE(PAGE_FAULTS),
	.usage = USAGE_PAGE_FAULTS
};
const struct source source_perf_major_faults = {
	PERF_EVENT("perf event", probe), SOFTWARE(PAGE_FAULTS_MAJ),
	.usage = USAGE_MAJOR_FAULTS
};
const struct source source_perf_minor_faults = {
	PERF_EVENT("perf event", probe), SOFTWARE(PAGE_FAULTS_MIN),
	.usage = USAGE_MINOR_FAULTS
};
const struct source source_perf_switches = {
	PERF_EVENT("perf event", probe), SOFTWARE(CONTEXT_SWITCHES),
	.usage = USAGE_CONTEXT_SWITCHES
};
const struct source source_perf_syscalls = {
	PERF_EVENT("perf event", probe_calls), .release = perf_release,
	.event_type = PERF_TYPE_TRACEPOINT
};
const struct source source_perf_cycles = {
	PERF_EVENT("perf event", probe), HARDWARE(CPU_CYCLES)
};
const struct source source_perf_instructions = {
	PERF_EVENT("perf event", probe), HARDWARE(INSTRUCTIONS)
};
const struct source source_perf_cache_misses = {
	PERF_EVENT("perf event", probe), HARDWARE(CACHE_MISSES)
};
const struct source source_perf_branch_misses = {
	PERF_EVENT("perf event", probe), HARDWARE(BRANCH_MISSES)
};
