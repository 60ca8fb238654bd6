/* SPDX-License-Identifier: GPL-3.0-or-later */
/* earlier.h -- the numbers that earlier recordings get.
 *
 * The newest recording is calc.cpprof; the one before is calc.1.cpprof, the
 * one before that calc.2.cpprof, and so on.
 */
#ifndef CPPROF_SHELL_RECORD_EARLIER_H
#define CPPROF_SHELL_RECORD_EARLIER_H

#include <stddef.h>

#include "src/base/error.h"

/*
 * Writes the n-th name to text[size]; n 0 is the newest, `name`, which ends in
 * ".cpprof".  Returns its length.
 */
size_t earlier_name(const char *name, unsigned n, char *text, size_t size);

/*
 * Renames `name` to the first of these names, what had that to the second, up
 * to the first that is free.  The last goes first and nothing is replaced, so
 * that wherever this ends all recordings are there.  How many were renamed,
 * or 0 with *error set and all as it was.
 */
unsigned earlier_move(const char *name, struct error *error);

/* Renames the first n back, as long as the names are free. */
void earlier_move_back(const char *name, unsigned n);

/* rename(), but to a name that is free: 0, or an errno. */
int earlier_rename(const char *from, const char *to);

#endif
