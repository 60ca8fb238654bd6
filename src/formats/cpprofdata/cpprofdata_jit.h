/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_jit.h -- the process of a file, as the files that it wrote know
 * it. */
#ifndef CPPROF_FORMATS_CPPROFDATA_JIT_H
#define CPPROF_FORMATS_CPPROFDATA_JIT_H

#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/symbols/names/jit_map.h"

/*
 * Names of the code that the process made at run time, freed with
 * jit_map_free.  Empty where it ran on another machine or said nothing; NULL
 * with *error set for want of memory.
 */
struct jit_map *cpprofdata_jit_map(const struct cpprofdata_file *file,
                                   struct error *error);

#endif
