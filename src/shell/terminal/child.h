/* SPDX-License-Identifier: GPL-3.0-or-later */
/* child.h -- finds programs, and runs the shell commands of the user. */
#ifndef CPPROF_SHELL_TERMINAL_CHILD_H
#define CPPROF_SHELL_TERMINAL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/error.h"

/*
 * Finds the file that a shell would run for `program`: itself if it has a
 * slash, else along PATH.  Writes it to path[size]; 0, or -1 with *error set.
 */
int child_find_program(const char *program, char *path, size_t size,
                       struct error *error);

/*
 * Starts `sh -c command` with the usual signal actions.  If input is not NULL,
 * the command reads from a pipe: *input is its writing end, which the caller
 * closes.  Otherwise it reads the standard input of this program if may_read,
 * else nothing.  Pass *child to child_end.  0, or -1 with *error set.
 */
int child_start(const char *command, bool may_read, int *input, pid_t *child,
                struct error *error);

/*
 * Waits for the command.  0 if it ended with status 0 or by SIGPIPE, else -1
 * with *error saying how it ended.
 */
int child_end(const char *command, pid_t child, struct error *error);

#endif
