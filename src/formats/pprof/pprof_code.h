/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_code.h -- modules, functions and locations of profile.proto. */
#ifndef CPPROF_FORMATS_PPROF_CODE_H
#define CPPROF_FORMATS_PPROF_CODE_H

#include "src/formats/pprof/pprof_encoding.h"

/*
 * Writes a mapping for each module and a location for each frame, with its
 * functions; ids are their numbers and one.  0, or -1 with *error set.
 */
int pprof_write_code(struct pprof_encoding *encoding, struct error *error);

#endif
