/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_profile.h -- a profile from all that a pprof file held. */
#ifndef CPPROF_FORMATS_PPROF_PROFILE_H
#define CPPROF_FORMATS_PPROF_PROFILE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/pprof/pprof_samples.h"
#include "src/formats/pprof/pprof_tables.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

/*
 * Fills a new profile from tables and samples, at least one.  is_cut: the file
 * ended early, so that what is missing in the tables is named by its number;
 * in a whole file that is an error.  modules: as in struct read_options.  0, or
 * -1 with *error set, which names the file and, where it is known, the place.
 */
int pprof_profile_fill(struct profile *profile,
                       const struct pprof_tables *tables,
                       struct pprof_samples *samples, bool is_cut,
                       struct module_cache *modules, struct error *error);

#endif
