/* SPDX-License-Identifier: MIT */
/* waiting.h -- threads that still wait when the process ends.
 *
 * What a thread waits in a call is charged when the call returns.  Some never
 * do: they are asked when the process ends, by our signal, and once they have
 * charged it they stay in the handler, so that the program does not see its
 * calls fail with EINTR.
 */
#ifndef CPPROF_WAITING_H
#define CPPROF_WAITING_H

#include <signal.h>
#include <stdbool.h>

/* Asks them, and waits for a tenth of a second or two at most.  In the last of
 * the exit handlers. */
void waiting_ask(void);

/* Whether a signal asks; then it is answered.  In the handler. */
bool waiting_answer(const siginfo_t *info, const void *context);

#endif
