/* SPDX-License-Identifier: MIT */
/* source-timer.c -- ticks of CPU time. */
#include "lib/source-timer.h"

#include <string.h>
#include <time.h>

#include "lib/process.h"
#include "lib/resource.h"
#include "lib/signals.h"
#include "lib/threads.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static const char mark;		/* its address marks our timers' signals */

static uint64_t
cpu_now(void)
{
	return process_clock(CLOCK_THREAD_CPUTIME_ID);
}

static struct timespec
to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
	    .tv_nsec = (long)(ns % 1000000000) };
}

bool
timer_sent(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_ptr == &mark;
}

bool
timer_start(struct thread *thread)
{
	struct sigevent event;
	struct itimerspec when;
	uint64_t phase;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signals_number(OUR_TICKS);
	event.sigev_value.sival_ptr = (void *)&mark;
	event.sigev_notify_thread_id = (pid_t)thread->tid;
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &thread->timer) != 0)
		return false;
	thread->has_timer = true;
	phase = 1 + meter_random(process_now() +
	    ((uint64_t)thread->tid << 40)) % resources.tick_ns;
	thread->n_expiries = 0;
	thread->first_expiry_ns = phase + cpu_now();
	when.it_interval = to_timespec(resources.tick_ns);
	when.it_value = to_timespec(phase);
	if (timer_settime(thread->timer, 0, &when, NULL) != 0) {
		timer_stop(thread);
		return false;
	}
	return true;
}

void
timer_stop(struct thread *thread)
{
	if (thread->has_timer)
		timer_delete(thread->timer);
	thread->has_timer = false;
}

/* At the end, the expiries that brought no tick. */
static uint64_t
last_hits(struct thread *thread)
{
	uint64_t now = cpu_now(), expired = 0;

	if (now >= thread->first_expiry_ns)
		expired = 1 + (now - thread->first_expiry_ns) /
		    resources.tick_ns;
	return expired > thread->n_expiries ? expired - thread->n_expiries : 0;
}

static uint64_t
timer_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	(void)column;
	return expiries > 0 ? expiries : last_hits(thread);
}

const struct source source_timer = {
	.name = "thread CPU timer",
	.hits = timer_hits,
	.needs_ticks = true,
};
