/* SPDX-License-Identifier: MIT */
/* usage.c -- what the kernel counts for each thread. */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/base/process.h"

static uint64_t
usage_microseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static uint64_t
usage_part_of(const struct rusage *usage, unsigned what)
{
	switch (what) {
	case USAGE_USER:
		return usage_microseconds(usage->ru_utime);
	case USAGE_SYSTEM:
		return usage_microseconds(usage->ru_stime);
	case USAGE_MAJOR_FAULTS:
		return (uint64_t)usage->ru_majflt;
	case USAGE_MINOR_FAULTS:
		return (uint64_t)usage->ru_minflt;
	case USAGE_CONTEXT_SWITCHES:
		return (uint64_t)(usage->ru_nvcsw + usage->ru_nivcsw);
	case USAGE_VOLUNTARY_SWITCHES:
		return (uint64_t)usage->ru_nvcsw;
	case USAGE_INVOLUNTARY_SWITCHES:
		return (uint64_t)usage->ru_nivcsw;
	default:
		return (uint64_t)(usage->ru_minflt + usage->ru_majflt);
	}
}

/* What the calling thread has spent so far, by at most one system call. */
static uint64_t
usage_now(unsigned what)
{
	const struct thread *thread = thread_self;
	struct rusage usage;

	if (what == USAGE_CPU)
		return process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000;
	if (thread != NULL && thread->meters->own_work.has_usage)
		return usage_part_of(&thread->meters->own_work.usage, what);
	if (!process_thread_usage(&usage))
		memset(&usage, 0, sizeof usage);
	return usage_part_of(&usage, what);
}

bool
usage_start(struct thread *thread, unsigned column)
{
	const struct resource_source *source = resources.columns[column].source;

	thread->meters->accounts[column].seen = usage_now(source->usage);
	return true;
}

uint64_t
usage_unseen(const struct thread *thread, unsigned column)
{
	uint64_t now = usage_now(resources.columns[column].source->usage),
	    seen = thread->meters->accounts[column].seen;

	return now > seen ? now - seen : 0;
}

uint64_t
usage_hits_of(struct thread *thread, unsigned column, uint64_t most)
{
	struct account *account = &thread->meters->accounts[column];
	uint64_t spent = usage_unseen(thread, column);

	if (spent > most)
		spent = most;
	account->seen += spent;
	return meter_spend(&account->meter, spent);
}

uint64_t
usage_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	(void)expiries;
	return usage_hits_of(thread, column, UINT64_MAX);
}

/*
 * Time of one mode is charged only at ticks that have found the thread in that
 * mode.
 */
static uint64_t
mode_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	const enum tick_mode mode =
	    resources.columns[column].source->usage == USAGE_USER ?
	    TICK_OF_USER : TICK_OF_KERNEL;

	if (expiries > 0 && thread->meters->tick_mode != TICK_NO_MODE &&
	    thread->meters->tick_mode != mode)
		return 0;
	return usage_hits_of(thread, column, UINT64_MAX);
}

/* Whether a column also counts what the collector causes and is not time. */
static bool
is_held(unsigned column)
{
	return resources.columns[column].source->usage >= USAGE_PAGE_FAULTS;
}

void
usage_hold(struct thread *thread)
{
	bool is_wanted = false;
	unsigned i;

	for (i = 0; i < resources.n; i++)
		is_wanted |= is_held(i);
	thread->meters->own_work.has_usage = is_wanted &&
	    process_thread_usage(&thread->meters->own_work.usage);
}

void
usage_release(struct thread *thread)
{
	const struct rusage before = thread->meters->own_work.usage;
	struct rusage now;
	unsigned i;

	if (!thread->meters->own_work.has_usage)
		return;
	thread->meters->own_work.has_usage = false;
	if (!process_thread_usage(&now))
		return;
	for (i = 0; i < resources.n; i++) {
		const unsigned what = resources.columns[i].source->usage;

		if (is_held(i))
			thread->meters->accounts[i]
			    .seen += usage_part_of(&now, what) -
			    usage_part_of(&before, what);
	}
}

#define COUNT_AT_TICKS(hits_) \
	.name = "kernel's count at each tick", \
	.start = usage_start, \
	.hits = hits_, \
	.needs_ticks = true

const struct resource_source source_user = {
	COUNT_AT_TICKS(mode_hits), .needs_mode = true, .usage = USAGE_USER
};
const struct resource_source source_system = {
	COUNT_AT_TICKS(mode_hits), .needs_mode = true, .usage = USAGE_SYSTEM
};
#define COUNT_COARSELY(name, what)					\
const struct resource_source name = {					\
	COUNT_AT_TICKS(usage_hits), .is_coarse = true, .usage = what	\
};
COUNT_COARSELY(source_page_faults, USAGE_PAGE_FAULTS)
COUNT_COARSELY(source_major_faults, USAGE_MAJOR_FAULTS)
COUNT_COARSELY(source_minor_faults, USAGE_MINOR_FAULTS)
COUNT_COARSELY(source_context_switches, USAGE_CONTEXT_SWITCHES)
COUNT_COARSELY(source_voluntary_switches, USAGE_VOLUNTARY_SWITCHES)
COUNT_COARSELY(source_involuntary_switches, USAGE_INVOLUNTARY_SWITCHES)
