/* SPDX-License-Identifier: MIT */
/* source-usage.c -- what the kernel counts for each thread. */
#include "lib/source-usage.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/process.h"
#include "lib/resource.h"
#include "lib/threads.h"

static uint64_t
microseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/* What the calling thread has spent so far; one system call. */
static uint64_t
usage_now(unsigned what)
{
	struct rusage usage;

	if (what == USAGE_CPU)
		return process_clock(CLOCK_THREAD_CPUTIME_ID) / 1000;
	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		memset(&usage, 0, sizeof usage);
	switch (what) {
	case USAGE_USER:
		return microseconds(usage.ru_utime);
	case USAGE_SYSTEM:
		return microseconds(usage.ru_stime);
	case USAGE_MAJOR_FAULTS:
		return (uint64_t)usage.ru_majflt;
	case USAGE_MINOR_FAULTS:
		return (uint64_t)usage.ru_minflt;
	case USAGE_CONTEXT_SWITCHES:
		return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	default:
		return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
	}
}

bool
usage_start(struct thread *thread, unsigned column)
{
	const struct source *source = resources.columns[column].source;

	thread->accounts[column].seen = usage_now(source->usage);
	return true;
}

uint64_t
usage_unseen(const struct thread *thread, unsigned column)
{
	uint64_t now = usage_now(resources.columns[column].source->usage),
	    seen = thread->accounts[column].seen;

	return now > seen ? now - seen : 0;
}

uint64_t
usage_hits_of(struct thread *thread, unsigned column, uint64_t most)
{
	struct account *account = &thread->accounts[column];
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

#define COUNT_AT_TICKS \
	.name = "kernel's count at each tick", \
	.start = usage_start, \
	.hits = usage_hits, \
	.needs_ticks = true

const struct source source_user = {
	COUNT_AT_TICKS, .usage = USAGE_USER
};
const struct source source_system = {
	COUNT_AT_TICKS, .usage = USAGE_SYSTEM
};
const struct source source_page_faults = {
	COUNT_AT_TICKS, .is_coarse = true, .usage = USAGE_PAGE_FAULTS
};
const struct source source_major_faults = {
	COUNT_AT_TICKS, .is_coarse = true, .usage = USAGE_MAJOR_FAULTS
};
const struct source source_minor_faults = {
	COUNT_AT_TICKS, .is_coarse = true, .usage = USAGE_MINOR_FAULTS
};
const struct source source_context_switches = {
	COUNT_AT_TICKS, .is_coarse = true, .usage = USAGE_CONTEXT_SWITCHES
};
