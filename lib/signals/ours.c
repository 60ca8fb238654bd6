/* SPDX-License-Identifier: MIT */
/* ours.c -- which signals the collector uses. */
#include "lib/signals/ours.h"

#include <stddef.h>

#include "lib/base/sampling.h"

signals_handler *our_handlers[OUR_SIGNALS];

int
signals_number(enum our_signal which)
{
	static const int numbers[] = {
		[OUR_TRAPS] = SIGTRAP,
		[OUR_EXCEPTIONS] = SIGFPE,
		[OUR_BUS_ERRORS] = SIGBUS,
	};
	static int ticks;

	if (which != OUR_TICKS)
		return numbers[which];
	if (ticks == 0)
		ticks = SIGRTMAX - 1;	/* SIGRTMAX is a function call */
	return ticks;
}

enum our_signal
signals_find(int number)
{
	unsigned i;

	for (i = 0; i < OUR_SIGNALS; i++)
		if (our_handlers[i] != NULL && signals_number(i) == number)
			break;
	return i;
}

bool
signals_are_ours(int number)
{
	return sampling_is_on() && signals_find(number) != OUR_SIGNALS;
}
