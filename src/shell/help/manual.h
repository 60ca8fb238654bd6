/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual.h -- the reference of the commands, from their table.
 *
 * In Markdown for doc/manual.md, and as the man page doc/cpprof.1.
 */
#ifndef CPPROF_SHELL_HELP_MANUAL_H
#define CPPROF_SHELL_HELP_MANUAL_H

#include "src/base/text_buffer.h"
#include "src/shell/line/options.h"

/* Adds the reference of all commands in the order of commands/list.def. */
void manual_add(struct text_buffer *text, enum manual_form form);

/* Adds what --help prints of the formats, in the order of formats/list.def. */
void manual_add_formats(struct text_buffer *text);

#endif
