/* SPDX-License-Identifier: MIT */
/* unsampled.c -- real time of threads that is in no sample. */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <stdatomic.h>

#include "lib/base/process.h"
#include "lib/store/thread-file.h"

#define MANY_SAMPLES 8	/* of a thread that counts all of its time itself */

static unsigned
column_of_real(void)
{
	return resources.place[RESOURCE_REAL] - 1u;
}

static int64_t
interval_ns(void)
{
	return (int64_t)resources.columns[column_of_real()].interval * 1000;
}

void
unsampled_note_sample(struct thread *thread, uint32_t columns,
    const struct node *node)
{
	struct thread_meters *meters = thread->meters;

	if (!meters->awaits_found || (columns >> column_of_real() & 1) == 0)
		return;
	meters->awaits_found = false;
	if (meters->n_found++ == 0)
		meters->found = *node;
	meters->last_found = *node;
}

/* Counts that time at the node, and returns the rest. */
static int64_t
unsampled_count(struct thread *thread, const struct node *node, int64_t ns)
{
	const uint64_t hits = ns > 0 ? (uint64_t)(ns / interval_ns()) : 0;

	if (hits > 0)
		tree_count(&thread->file->tree, node, column_of_real(), hits,
		    process_clock(CLOCK_MONOTONIC));
	return ns - (int64_t)hits * interval_ns();
}

uint64_t
unsampled_count_back(struct thread *thread, uint64_t ns)
{
	struct thread_meters *meters = thread->meters;

	if (meters->n_found == 0 || meters->awaits_found ||
	    thread->held_off > 0 || thread->is_sampling)
		return 0;
	return ns -
	    (uint64_t)unsampled_count(thread, &meters->last_found, (int64_t)ns);
}

void
unsampled_leave(struct thread *thread)
{
	struct thread_meters *meters = thread->meters;
	int64_t rest = 0, half;

	if (meters->n_found >= MANY_SAMPLES) {
		half = meters->unsampled_ns / 2;
		rest = unsampled_count(thread, &meters->found, half);
		meters->unsampled_ns = unsampled_count(thread,
		    &meters->last_found, meters->unsampled_ns - half + rest);
		rest = 0;
	}
	if (thread->tid == process_own.pid)
		return;
	if (meters->n_found > 0 && meters->carryover->unsampled_ns > 0)
		rest = unsampled_count(thread, &meters->found,
		    unsampled_take(meters->carryover));
	rest += meters->unsampled_ns;
	if (rest != 0)
		atomic_fetch_add(&meters->carryover->unsampled_ns, rest);
	meters->unsampled_ns = 0;
}

int64_t
unsampled_take(struct carryover *carryover)
{
	return carryover->unsampled_ns == 0 ? 0 :
	    atomic_exchange(&carryover->unsampled_ns, 0);
}

uint64_t
unsampled_lose(struct carryover *carryover)
{
	const int64_t left = atomic_exchange(&carryover->off_cpu_ns, 0);
	const int64_t ns = atomic_fetch_add(&carryover->unsampled_ns, left) +
	    left;
	const uint64_t hits = ns < timer_unit() ? 0 :
	    (uint64_t)(ns / interval_ns());

	atomic_fetch_sub(&carryover->unsampled_ns, (int64_t)hits *
	    interval_ns());
	return hits;
}
