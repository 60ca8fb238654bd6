/* SPDX-License-Identifier: MIT */
/* control.h -- what cpprof.h promises, and what the handler does for it. */
#ifndef CPPROF_CONTROL_H
#define CPPROF_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the program has stopped sampling for now.  Async-signal-safe. */
bool control_is_stopped(void);

/*
 * Whether a signal of our number came to make its thread begin to sample
 * itself; if so, it does.  Looks at no thread-local variable unless it is.
 * In the handler.
 */
bool control_wake(const siginfo_t *info, const void *context);

/*
 * Completes the recording and ends sampling for good, in all threads; a flag of
 * the file says why, 0 for none.  Not from the handler.
 */
void control_end(uint32_t flag);


#endif
