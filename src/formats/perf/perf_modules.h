/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_modules.h -- the files whose code was mapped, as a profile's modules. */
#ifndef CPPROF_FORMATS_PERF_MODULES_H
#define CPPROF_FORMATS_PERF_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/formats/perf/perf_space.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

/*
 * What was mapped from an offset on, as most processes that map the file do:
 * how far its addresses in the module are from offsets in the file.
 */
struct perf_place {
	bool is_known;
	uint64_t offset, shift;
};

/* Start with { .profile, .cache, .files }. */
struct perf_modules {
	struct profile *profile;
	struct module_cache *cache;	/* may be NULL */
	struct names *files;		/* file i is module i */
	struct perf_place *places;	/* of each module the last one */
	size_t places_capacity;
};

/* Lets go of the places and the files. */
void perf_modules_free(struct perf_modules *modules);

/*
 * Whether perf's path is of a module that the kernel has loaded: "[ext4]" or
 * ".../ext4.ko.xz".  If so, place[size] becomes its one name, "[ext4]".
 * Source: linux 6.12, tools/perf/util/dso.c, __kmod_path__parse.
 */
bool perf_modules_of_kernel(const char *path, char *place, size_t size);

/* Whether perf uses this path for memory that is no file's. */
bool perf_modules_is_no_file(const char *path);

/*
 * The module of a file, by its path and build-id[id_size], entered if new;
 * NO_MODULE with *error set.
 */
uint32_t perf_modules_find(struct perf_modules *modules, const char *path,
                           const unsigned char *id, size_t id_size,
                           struct error *error);

/*
 * An address of a mapping in its module, as module_symbols.h defines it; the
 * module is not NO_MODULE.
 */
uint64_t perf_modules_address(struct perf_modules *modules,
                              struct perf_map *map, uint64_t address);

#endif
