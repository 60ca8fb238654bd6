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
