/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_jit.h -- names of run-time generated code, from the files that a
 * process wrote.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_JIT_H
#define CPPROF_FORMATS_CPPROFDATA_JIT_H

#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/symbols/names/jit_map.h"

/*
 * Names of the code that the process generated at run time, freed with
 * jit_map_free.  Empty if it ran on another machine or wrote nothing; NULL
 * with *error set if memory runs out.
 */
struct jit_map *cpprofdata_jit_map(const struct cpprofdata_file *file,
                                   struct error *error);

#endif
