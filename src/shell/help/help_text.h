/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_text.h -- rows of the command table, told. */
#ifndef CPPROF_SHELL_HELP_HELP_TEXT_H
#define CPPROF_SHELL_HELP_HELP_TEXT_H

#include "src/base/error.h"
#include "src/base/table.h"
#include "src/shell/command/command.h"

/* A list of commands with their summaries, one a line. */
void help_start_list(struct table *table);
int help_add_row(const struct command *command, struct table *table,
                 struct error *error);

/* All of one command: usage, arguments, description, an example. */
int help_describe(const struct command *command, struct table *table,
                  struct error *error);

/*
 * Calls line for each line that paragraphs take when they are broken at
 * blanks to fit `width` columns.  Returns what line returned when not 0.
 */
int help_wrap(const char *paragraphs, size_t width,
              int (*line)(void *context, const char *text, size_t length),
              void *context);

#endif
