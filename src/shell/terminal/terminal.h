/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.h -- what the terminal can do. */
#ifndef CPPROF_SHELL_TERMINAL_TERMINAL_H
#define CPPROF_SHELL_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "src/output/output.h"
#include "src/shell/session/session.h"

/* Whether standard output is one. */
bool terminal_is_output(void);

/* Whether it only scrolls: no colour, no cursor to move. */
bool terminal_is_dumb(void);

/* Its size in columns and lines; 80 by 24 where it does not tell. */
void terminal_size(size_t *columns, size_t *lines);

/*
 * How text is laid out for standard output (to_terminal) or for a file or
 * pipe.  Colour is for terminals that are not dumb, unless NO_COLOR is set;
 * the setting overrides.
 */
struct layout terminal_layout(const struct session *session,
                              bool to_terminal);

#endif
