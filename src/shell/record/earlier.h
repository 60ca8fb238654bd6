/* SPDX-License-Identifier: GPL-3.0-or-later */
/* earlier.h -- numbers the earlier recordings of a program.
 *
 * The latest recording is calc.cpprof, the one before it calc.1.cpprof, the
 * one before that calc.2.cpprof, and so on.
 */
#ifndef CPPROF_SHELL_RECORD_EARLIER_H
#define CPPROF_SHELL_RECORD_EARLIER_H

#include <stddef.h>

#include "src/base/error.h"

/*
 * Writes the n-th name to text[size]; the 0-th is `name`, which ends in
 * ".cpprof".  Returns its length, also if it does not fit.
 */
size_t earlier_name(const char *name, unsigned n, char *text, size_t size);

/*
 * Renames `name` to the first of these names, the recording that had it to the
 * second, and so on up to a free name.  Begins with the last and replaces
 * nothing, so that no recording is lost if this is interrupted.  Returns how
 * many were renamed, or 0 with *error set and all names as they were.
 */
unsigned earlier_move(const char *name, struct error *error);

/* Renames the first n back, until a name is not free. */
void earlier_move_back(const char *name, unsigned n);

/* Like rename(), but fails if the new name exists.  0, or an errno. */
int earlier_rename(const char *from, const char *to);

#endif
