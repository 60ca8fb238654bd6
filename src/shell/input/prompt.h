/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prompt.h -- the command loop at a terminal; the only user of readline. */
#ifndef CPPROF_SHELL_INPUT_PROMPT_H
#define CPPROF_SHELL_INPUT_PROMPT_H

#include <stdio.h>

#include "src/shell/session/session.h"

/*
 * Reads and runs commands typed at the terminal until the user leaves.
 *
 * Ctrl-C clears the line that is being typed; while a command runs it sets
 * interrupt_requested, which ends the command.  The history is read before
 * and saved after.  input: the terminal, as a stream.
 */
void prompt_run(struct session *session, FILE *input);

#endif
