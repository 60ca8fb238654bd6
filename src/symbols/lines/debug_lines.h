/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines.h -- source lines and inlined calls, read from DWARF by libdw.
 *
 * DWARF 2 to 5, also compressed, also with a supplementary file (dwz); of split
 * units (.dwo) only the lines.
 */
#ifndef CPPROF_SYMBOLS_LINES_DEBUG_LINES_H
#define CPPROF_SYMBOLS_LINES_DEBUG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/module_file.h"

enum { DEBUG_CHAIN_MAX = 256 };	/* levels; outer ones beyond are cut off */

/* One level of the calls at an address. */
struct debug_location {
	const char *function;	/* a linkage name, or a name with its scope;
				 * NULL: unknown, or the outermost, which has a
				 * symbol */
	uint64_t copy;		/* an address whose symbol has the whole name;
				 * 0: there is none, or no need */
	const char *file;	/* NULL: unknown */
	const char *directory;	/* where a relative file starts from, or NULL */
	uint32_t line;		/* 0: unknown; in all levels but the innermost
				 * the line of the call that was inlined */
};

enum debug_lines_state {
	DEBUG_LINES_READ,
	DEBUG_LINES_SPLIT,	/* read, but the inlined calls of some units are
				 * in other files (.dwo) */
	DEBUG_LINES_NONE,	/* there is no debug information */
	DEBUG_LINES_DAMAGED,
	DEBUG_LINES_INCOMPLETE,	/* the supplementary file is missing */
};

struct debug_lines_request {
	const uint64_t *addresses;	/* [n] ascending */
	size_t n;

	/*
	 * Called once for each address of which something is known, with its
	 * index and its chain, outermost first.  The texts are valid until it
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
 * The size in bytes of a file's debug information once it is decompressed, as
 * the file states it; at least 1.
 */
uint64_t debug_lines_size(const struct elf_file *file);

/*
 * Opens the file with a module's debug information: its own, or the separate
 * one.  Returns whether there is one; it must then be closed.
 */
bool debug_lines_open(const struct module_file *module,
                      struct elf_file *file);

/*
 * Reads what the file has on the addresses.  search: for the supplementary
 * file.  Time O(units + bytes of units that have an address), memory O(bytes of
 * debug information + lines of a few units).  0 with *state, or -1 with *error
 * set for want of memory or after Ctrl-C.  If the file is damaged, the chains
 * that were found cannot be trusted.
 *
 * libdw does not check everything that it reads: with a damaged file this
 * function may crash, or take any amount of memory or time.  So all but the
 * child process of debug_lines_child.h call debug_lines_read_in_child.
 */
int debug_lines_read(const struct elf_file *file,
                     const struct symbol_search *search,
                     const struct debug_lines_request *request,
                     enum debug_lines_state *state, struct error *error);

#endif
