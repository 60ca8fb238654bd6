/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_map.h -- names for code that a process made at run time.
 *
 * Runtimes write them to /tmp/perf-PID.map, "START SIZE NAME" a line in
 * hexadecimal numbers, as they compile.
 * Source: linux, tools/perf/Documentation/jit-interface.txt.
 */
#ifndef CPPROF_SYMBOLS_JIT_MAP_H
#define CPPROF_SYMBOLS_JIT_MAP_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/debug_file.h"

struct jit_map;

/*
 * Reads a process's map: below the root of the search tmp/perf-PID.map or
 * perf-PID.map, else in /tmp.  search may be NULL.  Empty where there is none;
 * NULL with *error set for want of memory.  Freed with jit_map_free.
 */
struct jit_map *jit_map_new(const struct symbol_search *search, uint32_t pid,
                            struct error *error);
void jit_map_free(struct jit_map *map);

/* The name at an address, good as long as the map, or NULL.  O(log n). */
const char *jit_map_find(const struct jit_map *map, uint64_t address);

#endif
