/* SPDX-License-Identifier: MIT */
/* ours.c -- which signals the collector uses. */
#include "lib/signals/signals.h"

#include <stddef.h>

#include "lib/base/sampling.h"

signals_handler *our_handlers[OUR_SIGNALS];

int
signals_number(enum our_signal which)
{
	static int ticks;

	/* Without a table, which would lie on a page that nothing else needs. */
	if (which == OUR_TRAPS)
		return SIGTRAP;
	if (which == OUR_EXCEPTIONS)
		return SIGFPE;
	if (which == OUR_BUS_ERRORS)
		return SIGBUS;
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
