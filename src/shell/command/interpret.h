/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpret.h -- runs a command line. */
#ifndef CPPROF_SHELL_COMMAND_INTERPRET_H
#define CPPROF_SHELL_COMMAND_INTERPRET_H

#include <stddef.h>

#include "src/base/error.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session.h"

/*
 * Runs line[length]; a blank line or a comment does nothing.  0, or -1 with
 * *error set, or unset if the failure has been reported or needs no message.
 */
int interpret_line(struct session *session, const char *line, size_t length,
                   struct error *error);

/* Runs a command on n words, such as those of cpprof's own command line. */
int interpret_words(struct session *session, const struct command *command,
                    char *const *words, size_t n, struct error *error);


/*
 * Shows the first rows of what a command without arguments answers on a
 * terminal, without its heading: the prompt's first screen.  0, or -1 with
 * *error set.
 */
int interpret_beginning(struct session *session, const char *command,
                        size_t n_rows, struct error *error);

#endif
