/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scoped_names.h -- names with their scope, for functions without linkage name.
 *
 * For most functions of C++ and similar languages, debug information has the
 * linkage name, which contains scope and parameters.  A function that is local
 * to a file has only a plain name, such as "operator()".
 */
#ifndef CPPROF_SYMBOLS_LINES_SCOPED_NAMES_H
#define CPPROF_SYMBOLS_LINES_SCOPED_NAMES_H

#include <stdint.h>

#include <elfutils/libdw.h>

#include "src/base/error.h"
#include "src/symbols/lines/die_walk.h"

struct scoped_names;

/*
 * For the functions of one file and its supplement.  Freed with
 * scoped_names_free; NULL with *error set.
 */
struct scoped_names *scoped_names_new(struct error *error);
void scoped_names_free(struct scoped_names *names);

/*
 * Finds the name of a function with its scope, "(anonymous namespace)::f";
 * *name stays the plain name if the scope is unknown.  *copy: the address of a
 * copy of the function that was not inlined, whose symbol has the whole name;
 * 0: none.
 *
 * origin: the DIE that inlined calls refer to; declaration: the DIE inside the
 * scope; main: the file, not its supplement.  The first call for a unit walks
 * all of it.  Names live as long as `names`.  0; or -1: with *error set for
 * want of memory or after Ctrl-C, or without if the unit is damaged.
 */
int scoped_names_find(struct scoped_names *names, const Dwarf *main,
                      Dwarf_Die *origin, Dwarf_Die *declaration,
                      const char **name, uint64_t *copy,
                      struct die_walk *walk, struct error *error);

#endif
