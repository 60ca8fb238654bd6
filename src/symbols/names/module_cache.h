/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_cache.h -- reads the symbols of each module only once.
 *
 * The processes of a run map the same libraries, and so do runs that are
 * merged.
 */
#ifndef CPPROF_SYMBOLS_NAMES_MODULE_CACHE_H
#define CPPROF_SYMBOLS_NAMES_MODULE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/symbols/names/module_symbols.h"

struct module_cache;

/*
 * An empty cache, freed with module_cache_free.  search: see
 * module_symbols_new.  NULL with *error set.
 */
struct module_cache *module_cache_new(const struct symbol_search *search,
                                      struct error *error);
void module_cache_free(struct module_cache *cache);

/*
 * The symbols of a module, owned by the cache.  *state: see
 * module_symbols_read; *is_first: whether this is the first call for the
 * module.  Valid until the next call, which may free all modules if their
 * symbols take too much memory (some hundred MB).  NULL with *error set for
 * want of memory.
 */
struct module_symbols *module_cache_get(struct module_cache *cache,
                                        const struct module *module,
                                        enum module_symbols_state *state,
                                        bool *is_first, struct error *error);

/* Where the cache searches for files; for NULL, an empty search. */
struct symbol_search module_cache_search(const struct module_cache *cache);

/*
 * The virtual address, as module_symbols.h defines it, of the byte at an offset
 * of a module's file; the offset itself if there is no such file or byte.
 * cache: may be NULL.  Opens the file, so call it once for each mapping.
 */
uint64_t module_cache_address(const struct module_cache *cache,
                              const char *path, const void *build_id,
                              size_t size, uint64_t offset);

#endif
