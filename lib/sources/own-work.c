/* SPDX-License-Identifier: MIT */
/* own-work.c -- excludes the collector's own work from each way of counting. */
#include "lib/sources/dispatch.h"

#include "lib/sources/perf.h"
#include "lib/sources/thread-meters.h"
#include "lib/sources/usage.h"

void
own_work_begin(struct thread *thread)
{
	thread->meters->own_work.dispatch = dispatch_pause();
	perf_hold(thread);
	usage_hold(thread);
}

void
own_work_end(struct thread *thread)
{
	usage_release(thread);
	perf_release(thread);
	dispatch_resume(thread->meters->own_work.dispatch);
}
