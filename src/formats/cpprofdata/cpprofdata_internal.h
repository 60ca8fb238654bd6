/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_internal.h -- what the reader and the writer of cpprofdata share. */
#ifndef CPPROF_CPPROFDATA_CPPROFDATA_INTERNAL_H
#define CPPROF_CPPROFDATA_CPPROFDATA_INTERNAL_H

#include "src/base/writer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"
#include "src/symbols/names/address_frames.h"

/* ---- cpprofdata.c ---- */

/*
 * Enters the module of a record.  known: modules entered so
 * far, by path and build, which are not entered again; NULL: enters each.
 * Returns its number, or UINT32_MAX with *error set.
 */
uint32_t cpprofdata_add_module(const struct cpprofdata_file *file,
                               const unsigned char *bytes,
                               struct profile *profile, struct names *known,
                               struct error *error);

/*
 * Names of the code that the process generated at run time, from the files
 * that it wrote; freed with jit_map_free.  Empty if it ran on another machine
 * or wrote nothing; NULL with *error set if memory runs out.
 */
struct jit_map *cpprofdata_jit_map(const struct cpprofdata_file *file,
                                   struct error *error);

#endif
