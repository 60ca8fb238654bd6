/* SPDX-License-Identifier: MIT */
/* ours.h -- which signals the collector takes, by number.
 *
 * Ticks come as SIGRTMAX - 1.  SIGPROF belongs to programs and to other
 * profilers (some install a handler for it and die of a signal they did not
 * ask for); real-time signals near the top are hardly ever used.  Perf events
 * come as SIGTRAP and floating-point exceptions as SIGFPE, which are the
 * kernel's choice, and these are ours only where such events are counted.
 * SIGBUS comes when someone else has cut the recording's file short
 * (lib/store/datafile.h): it is ours, too, though hardly ever meant for us.
 *
 * All functions: any thread; async-signal-safe.
 */
#ifndef CPPROF_OURS_H
#define CPPROF_OURS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum our_signal {
	OUR_TICKS,
	OUR_TRAPS,
	OUR_FAULTS,
	OUR_CUTS,
	OUR_SIGNALS
};

typedef void signals_handler(int number, siginfo_t *info, void *context);

/* Our handlers; NULL: the signal is not ours.  Set by signals.c. */
extern signals_handler *our_handlers[OUR_SIGNALS];

/* Its number, a constant of the process. */
int signals_number(enum our_signal which);

/* Which of ours has that number; OUR_SIGNALS: none. */
enum our_signal signals_find(int number);

/* Whether sampling is on and a signal is one of ours. */
bool signals_are_ours(int number);

#endif
