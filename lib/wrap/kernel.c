/* SPDX-License-Identifier: MIT */
/* kernel.c -- wrappers of library calls that only enter the kernel: `syscalls`,
 * and which descriptors there are: `blame`.
 *
 * This is the fallback where neither the kernel's tracing nor syscall user
 * dispatch is allowed.  Each call of another wrapper counts as one system call,
 * too (wrapped_count_call).
 *
 * All wrappers have one shape: by the machine's calling convention, they pass
 * on as many registers as a system call has, whether the function uses them or
 * not, and return the result in the same register.
 *
 * A timer of the program keeps step with the kernel's ticks.  Where only ticks
 * sample CPU time, they may miss its handlers altogether, so the recording is
 * flagged.
 */

#include <linux/close_range.h>

#include "lib/base/sampling.h"
#include "lib/store/datafile.h"
#include "lib/wrap/blame.h"
#include "lib/wrap/wrapped.h"

#define NEXT_ROWS "lib/wrap/kernel.def"
#define NEXT_LOOK_UP kernel_look_up
#define KERNEL(name)							\
	NEXT(long, name, (long a, long b, long c, long d, long e, long f),	\
	    (a, b, c, d, e, f))
#define KERNEL_TIMER(name) KERNEL(name)
#define KERNEL_FILES(name, before, after) KERNEL(name)
#include "lib/base/next.def"
#undef KERNEL
#undef KERNEL_TIMER
#undef KERNEL_FILES

static enum gate gate;

static void
note_timer(void)
{
	const unsigned place = resources.place[RESOURCE_CPU];

	if (sampling_is_on() && place != 0 &&
	    !resources.columns[place - 1].source->is_clock)
		datafile_flag(CPPROFDATA_TIMERS_AT_TICKS);
}

typedef long kernel_call(long, long, long, long, long, long);

#define KERNEL_WRAPPER(name, first)						\
EXPORTED kernel_call kernel_##name __asm__(#name);			\
long									\
kernel_##name(long a, long b, long c, long d, long e, long f)		\
{									\
	long result;							\
									\
	first;								\
	if (!GATE_LETS_PASS(gate))					\
		return next.name(a, b, c, d, e, f);			\
	result = next.name(a, b, c, d, e, f);				\
	wrapped_count_call((const void *)next.name);			\
	return result;							\
}
#define KERNEL(name) KERNEL_WRAPPER(name, (void)0)
#define KERNEL_TIMER(name) KERNEL_WRAPPER(name, note_timer())
#define KERNEL_FILES(name, before, after)				\
EXPORTED kernel_call kernel_##name __asm__(#name);			\
long									\
kernel_##name(long a, long b, long c, long d, long e, long f)		\
{									\
	const bool is_noted = blame_is_on && wakers_are_own();		\
	long result;							\
									\
	if (is_noted)							\
		before;							\
	result = next.name(a, b, c, d, e, f);				\
	if (is_noted && (int)result >= 0)				\
		after;							\
	if (GATE_LETS_PASS(gate))					\
		wrapped_count_call((const void *)next.name);		\
	return result;							\
}
#include "lib/wrap/kernel.def"

static bool
kernel_calls_probe(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	*why = resource_no_calls;
	return !process_is_static();
}

const struct resource_source source_kernel_calls = {
	.is_of_wrappers = true,
	.name = "library calls that enter the kernel",
	.probe = kernel_calls_probe,
	.can_be_random = true,
};

void
kernel_begin(bool is_sampled)
{
	gate = is_sampled && wrapped_counts_calls() ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		kernel_look_up();
}
