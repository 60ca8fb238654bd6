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

/* Writes "cpprof: " and the formatted text in the same way. */
void message_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
