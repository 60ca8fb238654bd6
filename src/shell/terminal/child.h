/* SPDX-License-Identifier: GPL-3.0-or-later */
/* child.h -- shell commands that the user asks for. */
#ifndef CPPROF_SHELL_TERMINAL_CHILD_H
#define CPPROF_SHELL_TERMINAL_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "src/base/error.h"

/*
 * Starts `sh -c command` with the signals' usual actions.  With input not
 * NULL, *input becomes the writing end of a pipe that is its standard input,
 * the caller's to close; else it reads what this program reads, or, where
 * that is a script, nothing.  *child is for child_end.
 */
int child_start(const char *command, bool may_read, int *input, pid_t *child,
                struct error *error);

/*
 * Waits for it.  0 when it ended with status 0, or of SIGPIPE; else -1 with
 * *error set to how it ended.
 */
int child_end(const char *command, pid_t child, struct error *error);

#endif
