/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_modules.h -- the libraries of a Firefox profile as modules. */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_MODULES_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_MODULES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/firefox/firefox_tables.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

struct firefox_modules;

/*
 * Starts on a profile without modules.  cache: where the files of libraries are
 * looked up; may be NULL.  Both must outlive the result, which
 * firefox_modules_free frees.  NULL with *error set.
 */
struct firefox_modules *firefox_modules_new(struct profile *profile,
                                            struct module_cache *cache,
                                            struct error *error);
void firefox_modules_free(struct firefox_modules *modules);

/*
 * The module of a library, added to the profile when it is new; libraries of
 * the same path and code id are one module.  NO_MODULE: the library has no
 * path, or *error is set.
 */
uint32_t firefox_modules_find(struct firefox_modules *modules,
                              const struct text_column *libraries,
                              uint32_t library, struct error *error);

/*
 * An address as struct frame has it, from one of the file, which counts from
 * the library's first segment.
 */
uint64_t firefox_modules_address(const struct firefox_modules *modules,
                                 uint32_t module, uint64_t address);

#endif
