/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_text.h -- shows rows of the command table. */
#ifndef CPPROF_SHELL_HELP_HELP_TEXT_H
#define CPPROF_SHELL_HELP_HELP_TEXT_H

#include "src/base/error.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/shell/command/command.h"
#include "src/shell/line/options.h"

/*
 * A list of commands, each with its summary, in groups: rows that follow each
 * other.  The group's title is borrowed.
 */
void help_start_list(struct table *table);
int help_add_row(const struct command *command, const char *group,
                 struct table *table, struct error *error);

/* Describes one command: usage, arguments, description, an example. */
int help_describe(const struct command *command, struct table *table,
                  struct error *error);

/*
 * Wraps paragraphs between words to fit `width` columns, and calls line for
 * each line.  Stops when line does not return 0, and returns what it returned.
 */
int help_wrap(const char *paragraphs, size_t width,
              int (*line)(void *context, const char *text, size_t length),
              void *context);

/* ---- manual.c ---- */

/*
 * The reference of the commands, from their table.
 *
 * In Markdown for doc/manual.md, and as the man page doc/cpprof.1.
 */

/* Adds the reference of all commands in the order of help. */
void manual_add(struct text_buffer *text, enum manual_form form);

/* Adds what --help prints of the formats, in the order of formats/list.def. */
void manual_add_formats(struct text_buffer *text);

#endif
