/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.h -- what the terminal on standard output can do. */
#ifndef CPPROF_SHELL_TERMINAL_TERMINAL_H
#define CPPROF_SHELL_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether standard output is one. */
bool terminal_is_output(void);

/* Whether it only scrolls: it has no colour and no cursor to move. */
bool terminal_is_dumb(void);

/* Whether it shows characters beyond ASCII, as the locale says. */
bool terminal_has_unicode(void);

/* Its size in columns and lines; 80 by 24 if it does not say. */
void terminal_size(size_t *columns, size_t *lines);

/* When text has colour. */
enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/*
 * Whether text gets colour on standard output (to_terminal) or in a file or
 * pipe.  COLOR_AUTO: on a terminal that is not dumb, unless NO_COLOR is set.
 */
bool terminal_wants_color(enum color_choice choice, bool to_terminal);

#endif
