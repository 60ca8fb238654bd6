/* SPDX-License-Identifier: MIT */
/* unfound.c -- real time of ended threads that is in no sample. */
#include "lib/sources/unfound.h"

#include <stdatomic.h>

#include "lib/base/process.h"
#include "lib/sources/resource.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/timer.h"

void
unfound_leave(struct thread *thread)
{
	struct thread_meters *meters = thread->meters;

	if (thread->tid == process_own.pid || meters->unfound_ns == 0)
		return;
	atomic_fetch_add(&meters->leftover->unfound_ns, meters->unfound_ns);
	meters->unfound_ns = 0;
}

int64_t
unfound_take(struct leftover *leftover)
{
	return leftover->unfound_ns == 0 ? 0 :
	    atomic_exchange(&leftover->unfound_ns, 0);
}

uint64_t
unfound_lose(struct leftover *leftover)
{
	const unsigned place = resources.place[RESOURCE_REAL];
	const int64_t interval_ns =
	    (int64_t)resources.columns[place - 1].interval * 1000;
	const int64_t ns = leftover->unfound_ns;

	if (ns < timer_unit())
		return 0;
	atomic_fetch_sub(&leftover->unfound_ns, ns - ns % interval_ns);
	return (uint64_t)(ns / interval_ns);
}
