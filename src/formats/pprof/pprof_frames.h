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
 * with lines keep the names that they have; the others are looked up in the
 * symbols of their modules.  Returns the frame of each of the locations'
 * numbers, the caller's to be freed, all different, or NULL with *error set.
 * Of more than 256 lines of a location the outer ones are left out, with a
 * warning that begins with the file's name.
 * is_cut as in pprof_profile.h; modules: as in struct read_options.
 */
uint32_t *pprof_frames_enter(struct profile *profile, const char *name,
                             const struct pprof_tables *tables, bool is_cut,
                             struct module_cache *modules,
                             struct error *error);

#endif
