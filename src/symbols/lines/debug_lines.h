/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines.h -- how lines are read from DWARF, for the files of this
 * folder.
 *
 * A child process reads, since damaged files can make the library crash or
 * hang.
 */
#ifndef CPPROF_SYMBOLS_LINES_DEBUG_LINES_H
#define CPPROF_SYMBOLS_LINES_DEBUG_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/symbols/elf/elf_file.h"

/* ---- die_walk.c ---- */

/*
 * Walks over the debugging information entries (DIEs) of a unit.
 *
 * DIEs form a tree.  The walk has a stack of its own, which is at most
 * DIE_WALK_DEPTH deep, and skips deeper DIEs.  A sibling always lies further on
 * in the section, so a walk ends; the number of its steps is limited.
 */

enum { DIE_WALK_DEPTH = 256 };

struct die_walk {
	uint64_t steps_left;	/* DIEs and ranges, for all units */
	uint64_t n_steps;
	const struct progress *progress;	/* may be NULL */
	uint64_t done, total;			/* to report */

	/* levels[depth - 1].die is the current DIE, the levels before it are
	 * its parents, and the first is a child of the unit. */
	size_t depth;
	struct die_level {
		Dwarf_Die die;
		uint32_t within;	/* the visitor's, for this DIE and its
					 * siblings */
	} levels[DIE_WALK_DEPTH];
};

/*
 * Visits the current DIE, the last of walk->levels.  May set *enters, at first
 * false, so that its children are visited, too; and *within, which its children
 * get, at first the DIE's own.  0, or -1 as below.
 */
typedef int die_visitor(void *context, struct die_walk *walk, bool *enters,
                          uint32_t *within, struct error *error);

/*
 * Visits the children of a unit in order, and in them all that the visitor
 * enters. 0; or -1: with *error set by the visitor or after Ctrl-C, or without
 * if the unit is damaged or takes too long.
 */
int die_walk_unit(struct die_walk *walk, Dwarf_Die *unit, uint32_t within,
                    die_visitor *visit, void *context,
                    struct error *error);

/* Counts a step.  0, or -1 as above. */
int die_walk_step(struct die_walk *walk, struct error *error);

/*
 * Finds which of n ascending addresses lie in [low, high): numbers *first to
 * *end - 1.  None if low is 0, which marks code that the linker dropped.
 */
void die_addresses_in(const uint64_t *addresses, size_t n, uint64_t low,
                        uint64_t high, size_t *first, size_t *end);

/* The text of an attribute, or NULL. */
const char *die_text(Dwarf_Die *die, unsigned attribute);

/*
 * Replaces *die by its DW_AT_abstract_origin or DW_AT_specification; false: it
 * has neither.
 */
bool die_origin(Dwarf_Die *die);

/* ---- scoped_names.c ---- */

/*
 * Names with their scope, for functions without linkage name.
 *
 * For most functions of C++ and similar languages, debug information has the
 * linkage name, which contains scope and parameters.  A function that is local
 * to a file has only a plain name, such as "operator()".
 */

struct scoped_names;

/*
 * For the functions of one file and its supplement.  Freed with
 * scoped_names_free; NULL with *error set.
 */
struct scoped_names *scoped_names_new(struct error *error);
void scoped_names_free(struct scoped_names *names);

/*
 * Finds the name of a function with its scope, "(anonymous namespace)::f";
 * *name stays the plain name if the scope is unknown.  *copy: the address of a
 * copy of the function that was not inlined, whose symbol has the whole name;
 * 0: none.
 *
 * origin: the DIE that inlined calls refer to; declaration: the DIE inside the
 * scope; main: the file, not its supplement.  The first call for a unit walks
 * all of it.  Names live as long as `names`.  0; or -1: with *error set for
 * want of memory or after Ctrl-C, or without if the unit is damaged.
 */
int scoped_names_find(struct scoped_names *names, const Dwarf *main,
                      Dwarf_Die *origin, Dwarf_Die *declaration,
                      const char **name, uint64_t *copy,
                      struct die_walk *walk, struct error *error);

/* ---- inlined_calls.c ---- */

/* Which inlined calls an address lies in. */

#define NO_CALL UINT32_MAX

/* What debug information says of a function.  The text is borrowed. */
struct debug_function {
	const char *linkage;	/* its symbol: the linkage name, else the name;
				 * NULL: unknown */
	uint32_t start_line;	/* where it is declared; 0: unknown */
};

/* A place where a call was inlined.  Texts are borrowed. */
struct inlined_call {
	uint32_t outer;		/* the call around it, a smaller index, or
				 * NO_CALL */
	uint32_t line;		/* of the call; 0: unknown */
	const char *file;	/* of the call; NULL: unknown */
	const char *function;	/* that was inlined: its linkage name, else its
				 * name with its scope; NULL: unknown */
	uint64_t copy;		/* if it has no linkage name: the address of a
				 * copy that was not inlined; else 0 */
	Dwarf_Die origin, declaration;	/* if it has no linkage name, see
					 * scoped_names.c; else origin.addr is
					 * NULL */
	uint32_t discriminator;	/* of the call; 0: unknown */
	struct debug_function inlined;	/* that function */
};

struct inlined_calls {
	struct inlined_call *calls;
	size_t n, capacity;
	uint32_t *innermost;	/* [n_addresses] the call, or NO_CALL */
	struct debug_function *functions;	/* [n_addresses] the one around
						 * all calls */
};

/*
 * Finds the inlined calls at addresses[n], ascending, of a compilation unit.
 * Goes only into functions that contain one of them: O(DIEs of the unit + n x
 * depth). 0; or -1: with *error set for want of memory or after Ctrl-C, or
 * without if the unit is damaged.  *calls must be freed in either case.
 */
int inlined_calls_find(struct inlined_calls *calls, Dwarf_Die *unit,
                       const uint64_t *addresses, size_t n,
                       struct scoped_names *names, struct die_walk *walk,
                       struct error *error);
void inlined_calls_free(struct inlined_calls *calls);

/* ---- debug_lines.c ---- */

/*
 * Source lines and inlined calls, read from DWARF by libdw.
 *
 * DWARF 2 to 5, also compressed, also with a supplementary file (dwz); of split
 * units (.dwo) only the lines.
 */

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
	uint32_t discriminator;	/* of the line; 0: unknown */
	struct debug_function declared;	/* the level's function, whether or not
					 * it is the outermost */
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
 * child process of debug_lines_child.c call debug_lines_read_in_child.
 */
int debug_lines_read(const struct elf_file *file,
                     const struct symbol_search *search,
                     const struct debug_lines_request *request,
                     enum debug_lines_state *state, struct error *error);

/* ---- debug_lines_child.c ---- */

/*
 * Reads debug information in a child process.
 *
 * So a damaged file, with which libdw may crash, does no harm to this process.
 */

/*
 * As debug_lines_read, but safe: *state is DEBUG_LINES_DAMAGED if the child
 * crashes or passes its limits.  All memory is the child's.
 */
int debug_lines_read_in_child(const struct elf_file *file,
                              const struct symbol_search *search,
                              const struct debug_lines_request *request,
                              enum debug_lines_state *state,
                              struct error *error);

#endif
