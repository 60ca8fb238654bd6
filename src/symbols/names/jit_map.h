/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_map.h -- names for code that a process made at run time.
 *
 * Runtimes write the names while they compile, in one of two forms: to
 * /tmp/perf-PID.map, with a line "START SIZE NAME" for each piece of code, in
 * hexadecimal; or to jit-PID.dump, as records with names, lines and the code.
 * Source: linux, tools/perf/Documentation/jit-interface.txt and
 * jitdump-specification.txt.
 */
#ifndef CPPROF_SYMBOLS_NAMES_JIT_MAP_H
#define CPPROF_SYMBOLS_NAMES_JIT_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/error.h"
#include "src/symbols/elf/module_file.h"

struct jit_map;

/* The code at an address; texts are valid as long as the map. */
struct jit_code {
	const char *name;
	uint64_t start;
	const char *file;	/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
};

/*
 * Reads the map of a process: tmp/perf-PID.map or perf-PID.map below the root
 * of the search (which may be NULL), else the one in /tmp.  That one must
 * belong to root or to our user, as perf also requires, since anybody can make
 * a file of that name.  Empty if there is none; of a very large map only the
 * first part is read.  Freed with jit_map_free; NULL with *error set for want
 * of memory or after Ctrl-C.
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
 * directory, in /tmp, in $JITDUMPDIR, and in the directories that perf's agents
 * make below ~/.debug/jit.  A file must be a regular file and no link, belong
 * to the process's user or root, and have been written last while the process
 * ran.  Returns as above.
 */
struct jit_map *jit_map_of_process(const struct jit_process *process,
                                   struct error *error);

/*
 * Why a /tmp/perf-PID.map, or a part of it, was not read: "PATH belongs to
 * another user".  NULL: it was read completely, or does not exist.  Owned by
 * the map.
 */
const char *jit_map_problem(const struct jit_map *map);

/*
 * Finds the code at an address, the last piece that was made there.  Returns
 * whether there is any.  O(log n).
 */
bool jit_map_at(const struct jit_map *map, uint64_t address,
                struct jit_code *found);

/* Only its name, or NULL. */
const char *jit_map_find(const struct jit_map *map, uint64_t address);

#endif
