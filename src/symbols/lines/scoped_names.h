/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scoped_names.h -- functions that the linker has no name for.
 *
 * Compilers give debug information the linker's name, which holds scope and
 * parameters, of most functions of C++ and its like, but not of those that are
 * local to a file.  What they have is a plain name, such as "operator()".
 */
#ifndef CPPROF_SYMBOLS_LINES_SCOPED_NAMES_H
#define CPPROF_SYMBOLS_LINES_SCOPED_NAMES_H

#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/symbols/lines/die_walk.h"

struct plain_functions;

/*
 * For the functions of one file, and its supplement; freed with
 * plain_functions_free.  NULL with *error set.
 */
struct plain_functions *plain_functions_new(struct error *error);
void plain_functions_free(struct plain_functions *functions);

/*
 * The name of a function with its scope, "(anonymous namespace)::f", or the
 * plain one where that is not known; and where the function stands that was not
 * inlined, whose symbol has the whole name, or 0.
 *
 * origin: what inlined calls refer to; declaration: the entry that stands in
 * the scope; main: the file's, not the supplement's.  The unit that has the
 * declaration is walked the first time.  Names are the functions' own.  0; or
 * -1: with *error set for want of memory or when interrupted, else the unit is
 * damaged.
 */
int plain_functions_find(struct plain_functions *functions, const Dwarf *main,
                         Dwarf_Die *origin, Dwarf_Die *declaration,
                         const char **name, uint64_t *copy,
                         struct debug_walk *walk, struct error *error);

#endif
