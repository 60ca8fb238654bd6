/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_code.h -- the code that a collector's file has addresses of: its
 * modules, and what the process generated at run time.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_CODE_H
#define CPPROF_FORMATS_CPPROFDATA_CODE_H

#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/profile/profile.h"
#include "src/symbols/names/jit_map.h"

/*
 * Enters the module of the record at an offset.  known: modules entered so
 * far, by path and build, which are not entered again; NULL: enters each.
 * Returns its number, or UINT32_MAX with *error set.
 */
uint32_t cpprofdata_add_module(const struct cpprofdata_file *file,
                               size_t offset, struct profile *profile,
                               struct names *known, struct error *error);

/*
 * Names of the code that the process generated at run time, from the files
 * that it wrote; freed with jit_map_free.  Empty if it ran on another machine
 * or wrote nothing; NULL with *error set if memory runs out.
 */
struct jit_map *cpprofdata_jit_map(const struct cpprofdata_file *file,
                                   struct error *error);

#endif
