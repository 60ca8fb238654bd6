/* SPDX-License-Identifier: MIT */
/* own-work.c -- begins and ends it, for each way of counting. */
#include "lib/own-work.h"

#include "lib/dispatch.h"
#include "lib/source-perf.h"
#include "lib/source-usage.h"

void
own_work_begin(struct thread *thread)
{
	thread->own_work.dispatch = dispatch_pause();
	perf_hold(thread);
	usage_hold(thread);
}

void
own_work_end(struct thread *thread)
{
	usage_release(thread);
	perf_release(thread);
	dispatch_resume(thread->own_work.dispatch);
}

void
own_work_call(struct thread *thread)
{
	perf_own_call(thread);
}
