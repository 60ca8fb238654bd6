/* SPDX-License-Identifier: GPL-3.0-or-later */
/* message.h -- what goes to standard error. */
#ifndef CPPROF_SHELL_TERMINAL_MESSAGE_H
#define CPPROF_SHELL_TERMINAL_MESSAGE_H

/*
 * Writes "where: text" and a line end in one piece, made printable; where may
 * be NULL.
 */
void message(const char *where, const char *text);

#endif
