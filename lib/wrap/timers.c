/* SPDX-License-Identifier: MIT */
/* timers.c -- wrappers of calls that start a timer of the program.
 *
 * Its handlers keep step with the kernel's ticks.  Where only ticks sample CPU
 * time, they may all be missed, so the recording is flagged.
 */
#include <sys/time.h>
#include <time.h>

#include "lib/base/sampling.h"
#include "lib/store/datafile.h"
#include "lib/wrap/wrapped.h"

static struct timers_next {
	__typeof__(setitimer) *setitimer;
	__typeof__(timer_settime) *timer_settime;
} next;

FIRST(int, setitimer, (__itimer_which_t which, const struct itimerval *new,
    struct itimerval *old), (which, new, old))
FIRST(int, timer_settime, (timer_t timer, int flags,
    const struct itimerspec *new, struct itimerspec *old),
    (timer, flags, new, old))

static struct timers_next next = {
	.setitimer = first_setitimer,
	.timer_settime = first_timer_settime,
};

static enum gate gate;		/* of counting system calls */

static void
note_timer(void)
{
	const unsigned place = resources.place[RESOURCE_CPU];

	if (sampling_is_on() && place != 0 &&
	    !resources.columns[place - 1].source->is_clock)
		datafile_flag(CPPROFDATA_TIMERS_AT_TICKS);
}

EXPORTED int
setitimer(__itimer_which_t which, const struct itimerval *restrict new,
    struct itimerval *restrict old)
{
	const int result = next.setitimer(which, new, old);

	note_timer();
	if (wrapped_pass(gate, __builtin_return_address(0)))
		wrapped_count_call((const void *)next.setitimer);
	return result;
}

EXPORTED int
timer_settime(timer_t timer, int flags, const struct itimerspec *restrict new,
    struct itimerspec *restrict old)
{
	const int result = next.timer_settime(timer, flags, new, old);

	note_timer();
	if (wrapped_pass(gate, __builtin_return_address(0)))
		wrapped_count_call((const void *)next.timer_settime);
	return result;
}

void
timers_begin(bool is_sampled)
{
	gate = is_sampled && wrapped_counts_calls() ? GATE_OPEN : GATE_CLOSED;
}
