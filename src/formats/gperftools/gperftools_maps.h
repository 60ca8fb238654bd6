/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gperftools_maps.h -- the mappings at the end of a gperftools profile. */
#ifndef CPPROF_FORMATS_GPERFTOOLS_MAPS_H
#define CPPROF_FORMATS_GPERFTOOLS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/source.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

struct gperftools_maps;

/*
 * Reads the rest of the source, lines of /proc/self/maps, and enters the
 * object files into the profile as modules.  Other lines are skipped.  modules
 * as in struct read_options.  Freed with gperftools_maps_free; NULL with
 * *error set.
 */
struct gperftools_maps *gperftools_maps_read(struct source *source,
                                             struct profile *profile,
                                             struct module_cache *modules,
                                             struct error *error);
void gperftools_maps_free(struct gperftools_maps *maps);

/* Whether the last line lacks its end, so that more may be missing. */
bool gperftools_maps_is_cut(const struct gperftools_maps *maps);

/*
 * The module with an address of the process; the address becomes one in the
 * module's file.  NO_MODULE if there is none, with the address unchanged.
 */
uint32_t gperftools_maps_find(const struct gperftools_maps *maps,
                              uint64_t *address);

#endif
