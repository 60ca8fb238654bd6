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
 * Reads what is left of the source, lines of /proc/self/maps, and enters the
 * files of code into the profile as modules.  Lines of other kinds are passed
 * over: the text may say more.  modules as in struct read_options.  Freed with
 * gperftools_maps_free; NULL with *error set.
 */
struct gperftools_maps *gperftools_maps_read(struct source *source,
                                             struct profile *profile,
                                             struct module_cache *modules,
                                             struct error *error);
void gperftools_maps_free(struct gperftools_maps *maps);

/* Whether the last line lacks its end, so that more may be missing. */
bool gperftools_maps_is_cut(const struct gperftools_maps *maps);

/*
 * The module that has an address of the process, which becomes one in the
 * module's file; NO_MODULE, and the address as it is, where there is none.
 */
uint32_t gperftools_maps_find(const struct gperftools_maps *maps,
                              uint64_t *address);

#endif
