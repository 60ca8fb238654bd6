/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_map.h -- names for code that a process made at run time.
 *
 * Runtimes write them while they compile, in one of two forms: to
 * /tmp/perf-PID.map, "START SIZE NAME" a line in hexadecimal numbers, or to
 * jit-PID.dump, records with names, lines and the code itself.
 * Source: linux, tools/perf/Documentation/jit-interface.txt and
 * jitdump-specification.txt.
 */
#ifndef CPPROF_SYMBOLS_NAMES_JIT_MAP_H
#define CPPROF_SYMBOLS_NAMES_JIT_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/error.h"
#include "src/symbols/elf/debug_file.h"

struct jit_map;

/* What stands at an address; texts live as long as the map. */
struct jit_code {
	const char *name;
	uint64_t start;
	const char *file;	/* NULL: not known */
	uint32_t line;		/* 0: not known */
};

/*
 * Reads a process's map: below the root of the search tmp/perf-PID.map or
 * perf-PID.map, else in /tmp, where it must be root's or our user's, as for
 * perf: anybody can make a file of that name.  search may be NULL.  Empty where
 * there is none; of a very large one the first part is read.  NULL with *error
 * set for want of memory or when interrupted.  Freed with jit_map_free.
 */
struct jit_map *jit_map_new(const struct symbol_search *search, uint32_t pid,
                            struct error *error);
void jit_map_free(struct jit_map *map);

/* A process of this machine that may have ended. */
struct jit_process {
	uint32_t pid;
	uid_t owner;
	uint64_t begin_ns, end_ns;	/* about; since 1970 */
	const char *directory;	/* where it was started; may be NULL */
};

/*
 * Reads what that process wrote: /tmp/perf-PID.map, and jit-PID.dump in its
 * directory, in /tmp, in $JITDUMPDIR and in what perf's agents make below
 * ~/.debug/jit.  Only regular files, no links, that it or root owns and that
 * were last written while it ran.  Likewise.
 */
struct jit_map *jit_map_of_process(const struct jit_process *process,
                                   struct error *error);

/*
 * Why a /tmp/perf-PID.map that is there, or some of it, was not read: "PATH
 * belongs to another user".  NULL: all was read, or there is none.  The map's.
 */
const char *jit_map_problem(const struct jit_map *map);

/*
 * What is at an address: of pieces of code that took each other's place the
 * last.  Whether there is any; O(log n).
 */
bool jit_map_at(const struct jit_map *map, uint64_t address,
                struct jit_code *found);

/* Its name, or NULL. */
const char *jit_map_find(const struct jit_map *map, uint64_t address);

#endif
