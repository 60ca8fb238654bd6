/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines_child.h -- source lines and inlined calls of a module's addresses.
 *
 * DWARF 2 to 5, also compressed, also with a supplementary file (dwz); of split
 * units (.dwo) only the lines.  The file is read in a process of its own, so
 * that one which is damaged takes nothing else with it.
 */
#ifndef CPPROF_SYMBOLS_LINES_DEBUG_LINES_CHILD_H
#define CPPROF_SYMBOLS_LINES_DEBUG_LINES_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/elf/elf_file.h"

enum { DEBUG_CHAIN_MAX = 256 };	/* levels; more are cut off outside */

/* One level of what stands at an address. */
struct debug_location {
	const char *function;	/* the linker's name, or one with its scope;
				 * NULL: unknown, and for the outermost, which
				 * has a symbol */
	uint64_t copy;		/* an address the symbol of which is the whole
				 * name; 0: there is none, or no need */
	const char *file;	/* NULL unknown */
	const char *directory;	/* what a relative file starts from, or NULL */
	uint32_t line;		/* 0 unknown; of all but the innermost that of
				 * the call which was inlined */
};

enum debug_lines_state {
	DEBUG_LINES_READ,
	DEBUG_LINES_SPLIT,	/* read, but inlined calls of some units are
				 * in files of their own (.dwo) */
	DEBUG_LINES_NONE,	/* there is no debug information */
	DEBUG_LINES_DAMAGED,
	DEBUG_LINES_INCOMPLETE,	/* the supplementary file is not there */
};

struct debug_lines_request {
	const uint64_t *addresses;	/* [n], ascending */
	size_t n;

	/*
	 * Called once for each address that something is known of, with its
	 * index and its chain, outermost first; the texts live until it
	 * returns.  0, or -1 with *error set, which ends the reading.
	 */
	int (*found)(void *context, size_t which,
	             const struct debug_location *chain, size_t n,
	             struct error *error);
	void *context;
	const struct progress *progress;	/* may be NULL */
};

/* Whether a file has debug information. */
bool debug_lines_exist(const struct elf_file *file);

/*
 * Reads what the file knows of the addresses.  search: where a supplementary
 * file is looked for.  Time O(units + bytes of those that hold an address),
 * memory, of the other process, O(bytes of the debug information + lines of a
 * few units).  What has been found of a damaged file is not to be trusted.  0
 * with *state, or -1 with *error set for want of memory or when interrupted.
 */
int debug_lines_read(const struct elf_file *file,
                     const struct symbol_search *search,
                     const struct debug_lines_request *request,
                     enum debug_lines_state *state, struct error *error);

#endif
