/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpret.h -- one command line, from its bytes to its output. */
#ifndef CPPROF_SHELL_COMMAND_INTERPRET_H
#define CPPROF_SHELL_COMMAND_INTERPRET_H

#include <stddef.h>

#include "src/base/error.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session.h"

/*
 * Runs line[length].  Nothing but blanks and comments does nothing.  0, or -1
 * with *error set; with *error unset where the failure has been told already
 * or needs no telling.
 */
int interpret_line(struct session *session, const char *line, size_t length,
                   struct error *error);

/* Runs a command on n words, as the program's own arguments give them. */
int interpret_words(struct session *session, const struct command *command,
                    char *const *words, size_t n, struct error *error);

#endif
