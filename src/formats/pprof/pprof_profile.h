/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_profile.h -- makes a profile of everything in a pprof file. */
#ifndef CPPROF_FORMATS_PPROF_PROFILE_H
#define CPPROF_FORMATS_PPROF_PROFILE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/pprof/pprof_samples.h"
#include "src/formats/pprof/pprof_tables.h"

/*
 * Fills the profile of the samples' reader from tables and samples, at least
 * one.  may_lack: entries missing in the tables are named by their numbers,
 * since the file is cut or lines of it were skipped; otherwise they are an
 * error.  0, or -1 with *error set, which names the file and, if known, the
 * place.
 */
int pprof_profile_fill(const struct pprof_tables *tables,
                       const struct pprof_samples *samples, bool may_lack,
                       struct error *error);

#endif
