/* SPDX-License-Identifier: MIT */
/* action.h -- actions of the program's own signals, and the stacks that they
 * use.
 *
 * A tick needs some stack.  In a handler of the program on a small alternate
 * stack there is too little, so ticks wait.  This is done by masks of the
 * program's actions, which the program must not see.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.
 */
#ifndef CPPROF_ACTION_H
#define CPPROF_ACTION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the action to give to the kernel instead of `action`: `action`
 * itself, or *copy with our signals added to its mask or removed from it.
 */
const struct sigaction *action_adapt(const struct sigaction *action,
    struct sigaction *copy);

/*
 * To be called after the kernel has accepted `action` (NULL: none was set).
 * Notes the mask that the program asked for, and corrects that in *old, unless
 * NULL, to what it asked for before.
 */
void action_note(int number, const struct sigaction *action,
    struct sigaction *old);

/*
 * To be called before the program gets an alternate stack of `size` bytes.
 * False if not even a tick fits on it.  Not from a handler.
 */
bool action_fit_stack(size_t size);

/*
 * Whether ticks must wait on a stack of `size` bytes; the size of a stack on
 * which they need not and on which system calls may be stopped.
 */
bool action_is_small(size_t size);
size_t action_size_for_calls(void);

#endif
