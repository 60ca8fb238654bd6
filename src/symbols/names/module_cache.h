/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_cache.h -- modules that several profiles share are read once.
 *
 * The processes of one run map the same libraries; so do runs that are merged.
 */
#ifndef CPPROF_SYMBOLS_NAMES_MODULE_CACHE_H
#define CPPROF_SYMBOLS_NAMES_MODULE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/symbols/names/module_symbols.h"

struct module_cache;

/*
 * An empty cache, freed with module_cache_free; search as in
 * module_symbols_new.  NULL with *error set.
 */
struct module_cache *module_cache_new(const struct symbol_search *search,
                                      struct error *error);
void module_cache_free(struct module_cache *cache);

/*
 * That module, its symbols read, and how that went;
 * *is_first tells whether it was never asked for before.  The cache's, and
 * good until the next call, which may let go of modules when the symbols of
 * all would take too much memory (some hundred MB).  NULL with *error set for
 * want of memory.
 */
struct module_symbols *module_cache_get(struct module_cache *cache,
                                        const struct module *module,
                                        enum module_symbols_state *state,
                                        bool *is_first, struct error *error);

/* Where the cache seeks files; of NULL nowhere in particular. */
struct symbol_search module_cache_search(const struct module_cache *cache);

/*
 * The virtual address, as module_symbols.h defines it, of the byte at an
 * offset of a module's file, which is all that is known of code that was mapped
 * from there; the offset itself where there is no such file or byte.  cache:
 * says where files are sought, may be NULL.  Opens the file: to be asked once a
 * mapping.
 */
uint64_t module_cache_address(const struct module_cache *cache,
                              const char *path, const void *build_id,
                              size_t size, uint64_t offset);

#endif
