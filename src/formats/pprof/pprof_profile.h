/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_profile.h -- a profile from all that a pprof file held. */
#ifndef CPPROF_FORMATS_PPROF_PROFILE_H
#define CPPROF_FORMATS_PPROF_PROFILE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/pprof/pprof_samples.h"
#include "src/formats/pprof/pprof_tables.h"

/*
 * Fills the profile of the samples' reader from tables and samples, at least
 * one.  may_lack: what is missing in the tables is named by its number, since
 * the file is cut or lines of it were skipped; else that is an error.  0, or -1
 * with *error set, which names the file and, where it is known, the place.
 */
int pprof_profile_fill(const struct pprof_tables *tables,
                       const struct pprof_samples *samples, bool may_lack,
                       struct error *error);

#endif
