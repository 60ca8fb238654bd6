/* SPDX-License-Identifier: MIT */
/* action.h -- actions of the program's own signals, and the stacks for them.
 *
 * A tick needs some stack.  Where that is short, in a handler of the program
 * on a small alternate stack, ticks wait; the program must not see that in the
 * masks that it gave its actions.
 */
#ifndef CPPROF_ACTION_H
#define CPPROF_ACTION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * What the kernel should be told instead of `action`: itself, or *copy with
 * our signal in or out of its mask.  Any thread; async-signal-safe.
 */
const struct sigaction *action_adapt(const struct sigaction *action,
    struct sigaction *copy);

/*
 * After the kernel has taken it (NULL: nothing new): *old, unless NULL, is what
 * the program set before.  Any thread; async-signal-safe.
 */
void action_note(int number, const struct sigaction *action,
    struct sigaction *old);

/*
 * The program is about to have an alternate stack of that size.  False if not
 * even a tick fits on it.  Not from a handler.
 */
bool action_fit_stack(size_t size);

/*
 * Whether ticks have to wait on a stack of that size; and the size of one on
 * which they need not, and system calls may be stopped.
 */
bool action_is_small(size_t size);
size_t action_size_for_calls(void);

#endif
