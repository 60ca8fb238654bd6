/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_modules.h -- the modules of a collector's file. */
#ifndef CPPROF_FORMATS_CPPROFDATA_MODULES_H
#define CPPROF_FORMATS_CPPROFDATA_MODULES_H

#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/profile/profile.h"

/*
 * Enters the module of the record at an offset.  known: modules entered so
 * far, by path and build, which are not entered again; NULL: enters each.
 * Returns its number, or UINT32_MAX with *error set.
 */
uint32_t cpprofdata_add_module(const struct cpprofdata_file *file,
                               size_t offset, struct profile *profile,
                               struct names *known, struct error *error);

#endif
