/* SPDX-License-Identifier: MIT */
/* ours.h -- which signals the collector uses.
 *
 * Ticks come as SIGRTMAX - 1.  SIGPROF belongs to programs and other profilers:
 * some install a handler for it and die of a signal that they did not ask for.
 * Real-time signals near the top are hardly ever used.  The kernel sends perf
 * events as SIGTRAP and floating-point exceptions as SIGFPE; these are ours
 * only if such events are counted.  SIGBUS comes if somebody has truncated the
 * recording's file (lib/store/datafile.h).  It is always ours, although it is
 * hardly ever meant for us.
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_OURS_H
#define CPPROF_OURS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum our_signal {
	OUR_TICKS,
	OUR_TRAPS,
	OUR_EXCEPTIONS,
	OUR_BUS_ERRORS,
	OUR_SIGNALS
};

typedef void signals_handler(int number, siginfo_t *info, void *context);

/* Our handlers; NULL: the signal is not ours.  Set by signals.c. */
extern signals_handler *our_handlers[OUR_SIGNALS];

/* The signal's number, a constant of the process. */
int signals_number(enum our_signal which);

/* Which of our signals has that number; OUR_SIGNALS: none. */
enum our_signal signals_find(int number);

/* Whether sampling is on and a signal is one of ours. */
bool signals_are_ours(int number);

#endif
