/* SPDX-License-Identifier: MIT */
/* source-perf.c -- the perf events of a thread: armed, counted, closed. */
#include "lib/source-perf.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#include "lib/cpprofdata.h"
#include "lib/files.h"
#include "lib/perf-event.h"
#include "lib/process.h"
#include "lib/resource.h"
#include "lib/source-usage.h"
#include "lib/threads.h"

#define LONG_INTERVAL_US 4000	/* for which ticks are always enough */

/* One row has one such source. */
static bool
probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	unsigned i = 0;

	(void)interval;
	while (row->sources[i]->probe != probe)
		i++;
	return perf_event_is_there(row->sources[i], why);
}

/* The timer is as good and cheaper where ticks come often enough. */
static bool
probe_clock(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	struct timespec tick;

	(void)row;
	*why = "";
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	if (!resources.is_random && (interval >= LONG_INTERVAL_US ||
	    (tick.tv_sec == 0 &&
	    interval * 1000 >= (uint64_t)tick.tv_nsec)))
		return false;
	return perf_event_is_there(&source_perf_clock, why);
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

/* What an event counts in a gtick. */
static uint64_t
scale(const struct source *source)
{
	return source->usage == USAGE_CPU ? 1000 : 1;
}

/*
 * Opens the event; whether it is there, and counts all that it should.  The
 * first period may be shorter than a trap takes, so there is none before the
 * handler can set the next: traps would follow on each other for ever.
 */
static bool
arm(struct thread *thread, unsigned column)
{
	const struct source *source = resources.columns[column].source;
	struct account *account = &thread->accounts[column];
	bool had_to = false;
	int fd;

	/* What is left of an interval that is under way. */
	account->period = account->meter.left;
	fd = perf_event_open(source, account->period * scale(source), column,
	    &had_to);
	account->fd = -1;
	account->page = NULL;
	if (fd < 0)
		return false;
	account->fd = process_move_up(fd);
	ioctl(account->fd, PERF_EVENT_IOC_ID, &account->event_id);
	account->page = mmap(NULL, CPPROFDATA_PAGE, PROT_READ, MAP_SHARED,
	    account->fd, 0);
	if (account->page == MAP_FAILED)
		account->page = NULL;
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
	thread->accounts[column].is_armed = true;
	ok = arm(thread, column);
	thread->accounts[column].needs_ticks = is_counted && !ok;
	return is_counted || ok;
}

static void
stop(struct thread *thread, unsigned column)
{
	struct account *account = &thread->accounts[column];

	account->is_armed = false;
	if (account->page != NULL)
		munmap(account->page, CPPROFDATA_PAGE);
	account->page = NULL;
	close_descriptor(account);
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

static bool
is_clock_of_user_mode(const struct thread *thread, unsigned column)
{
	return resources.columns[column].source->usage == USAGE_CPU &&
	    thread->accounts[column].needs_ticks;
}

/*
 * What no usage counts is known by its own traps alone: each is a period.  So
 * is one of a clock in user mode alone; what that has not seen is for ticks.
 */
static uint64_t
count(struct thread *thread, unsigned column, bool is_own_trap)
{
	const struct source *source = resources.columns[column].source;
	struct account *account = &thread->accounts[column];
	uint64_t spent = is_own_trap ? account->period : 0, hits;

	if (source->usage != 0)
		hits = usage_hits_of(thread, column,
		    is_clock_of_user_mode(thread, column) ? spent : UINT64_MAX);
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
 * than its period has passed.  Where it is of user mode alone, ticks notice.
 */
static bool
is_asked_too(const struct thread *thread, unsigned column)
{
	if (is_clock_of_user_mode(thread, column))
		return false;
	return resources.columns[column].source->usage != USAGE_CPU ||
	    usage_unseen(thread, column) > thread->accounts[column].period;
}

uint32_t
perf_trap(struct thread *thread, unsigned column, uint64_t *hits)
{
	uint32_t columns = 0;
	unsigned i;

	*hits = 0;
	for (i = 0; i < resources.n; i++) {
		if (resources.columns[i].source->start != start ||
		    !thread->accounts[i].is_armed ||
		    (i != column && !is_asked_too(thread, i)))
			continue;
		*hits += count(thread, i, i == column);
		if (thread->accounts[i].owed > 0)
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

	return source->usage != 0 ? usage_hits(thread, column, expiries) : 0;
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
			thread->accounts[i].is_armed = true;
			arm(thread, i);
		}
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
		struct account *account = &thread->accounts[i];

		if (resources.columns[i].source->start != start)
			continue;
		close_descriptor(account);
		account->page = NULL;
		account->is_armed = false;
	}
}

#define PERF_EVENT(probe_) \
	.name = "perf event", \
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
	PERF_EVENT(probe_clock), SOFTWARE(TASK_CLOCK), .usage = USAGE_CPU
};
const struct source source_perf_faults = {
	PERF_EVENT(probe), SOFTWARE(PAGE_FAULTS), .usage = USAGE_PAGE_FAULTS
};
const struct source source_perf_major_faults = {
	PERF_EVENT(probe), SOFTWARE(PAGE_FAULTS_MAJ), .usage = USAGE_MAJOR_FAULTS
};
const struct source source_perf_minor_faults = {
	PERF_EVENT(probe), SOFTWARE(PAGE_FAULTS_MIN), .usage = USAGE_MINOR_FAULTS
};
const struct source source_perf_switches = {
	PERF_EVENT(probe), SOFTWARE(CONTEXT_SWITCHES),
	.usage = USAGE_CONTEXT_SWITCHES
};
const struct source source_perf_syscalls = {
	PERF_EVENT(probe), .event_type = PERF_TYPE_TRACEPOINT
};
const struct source source_perf_cycles = {
	PERF_EVENT(probe), HARDWARE(CPU_CYCLES)
};
const struct source source_perf_instructions = {
	PERF_EVENT(probe), HARDWARE(INSTRUCTIONS)
};
const struct source source_perf_cache_misses = {
	PERF_EVENT(probe), HARDWARE(CACHE_MISSES)
};
const struct source source_perf_branch_misses = {
	PERF_EVENT(probe), HARDWARE(BRANCH_MISSES)
};
