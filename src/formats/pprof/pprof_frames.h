/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_frames.h -- a profile's frames from the locations of a pprof file. */
#ifndef CPPROF_FORMATS_PPROF_FRAMES_H
#define CPPROF_FORMATS_PPROF_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/pprof/pprof_tables.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

/*
 * Enters modules, names and frames into a profile that has none.  Locations
 * with lines keep their names; the others are looked up in the symbols of
 * their modules.  Returns the frame of each location's number, all different,
 * to be freed by the caller; NULL with *error set.  If a location has more
 * than 256 lines the outer ones are left out, with a warning that begins with
 * the file's name.  may_lack as in pprof_profile.h; modules: as in struct
 * read_options.
 */
uint32_t *pprof_frames_enter(struct profile *profile, const char *name,
                             const struct pprof_tables *tables, bool is_cut,
                             struct module_cache *modules,
                             struct error *error);

#endif
