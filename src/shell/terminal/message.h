/* SPDX-License-Identifier: GPL-3.0-or-later */
/* message.h -- messages on standard error, one line each in a file or pipe. */
#ifndef CPPROF_SHELL_TERMINAL_MESSAGE_H
#define CPPROF_SHELL_TERMINAL_MESSAGE_H

/*
 * Writes "where: text" and a line end with one call of write, control
 * characters escaped.  where may be NULL.  A terminal gets more lines, broken
 * at blanks, if one is too long for it.
 */
void message(const char *where, const char *text);

/*
 * Writes the program's name, ": " and the formatted text in the same way.  The
 * name is "cpprof" until message_name says else; it is borrowed.
 */
void message_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void message_name(const char *name);

#endif
