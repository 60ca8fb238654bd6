/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_names.h -- the names and lines of addresses that a recording keeps.
 *
 * Programs are rebuilt, removed, or left on other machines.  So names that were
 * kept when the program was recorded are used before its files are searched.
 */
#ifndef CPPROF_SYMBOLS_NAMES_KEPT_NAMES_H
#define CPPROF_SYMBOLS_NAMES_KEPT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/profile.h"

enum { KEPT_CHAIN_MAX = 256 };	/* locations of one address */

struct kept_address {
	uint64_t address;
	uint32_t function;	/* one of kept_names_texts */
	uint32_t offset;	/* into the function, or NO_OFFSET */
	uint32_t first, n;	/* its locations, outermost first */
	bool is_symbol;		/* else a name made up for want of a symbol */
	bool has_lines;		/* debug information was read; it has these n
				 * locations and no more */
	bool is_told;		/* the locations come from a profile of another
				 * format instead */
	bool is_only_names;	/* the address is only a number, and no code is
				 * there */
};

/* The addresses of one module, or of one process outside all modules. */
struct kept_range {
	size_t first, n;
};

struct kept_names;

/* Without names; freed with kept_names_free.  NULL with *error set. */
struct kept_names *kept_names_new(struct error *error);
void kept_names_free(struct kept_names *kept);

/* The names of functions and files, to which the caller adds. */
struct names *kept_names_texts(const struct kept_names *kept);

/*
 * Begins the addresses of a module, or those of a process outside all modules.
 * If that module or process was begun before, kept_names_add will ignore the
 * addresses.  0, or -1 with *error set.
 */
int kept_names_begin_module(struct kept_names *kept,
                            const struct module *module, struct error *error);
int kept_names_begin_process(struct kept_names *kept, uint64_t pid,
                             uint64_t start_ns, struct error *error);

/*
 * Adds an address, greater than the last one, to the module or process that was
 * begun last.  Copies its n locations, and sets `first` in the copy.  0, or -1
 * with *error set.
 */
int kept_names_add(struct kept_names *kept, const struct kept_address *address,
                   const struct location *locations, struct error *error);

/* The kept addresses of a module or process; NULL: none.  Expected O(1). */
const struct kept_range *kept_names_module(const struct kept_names *kept,
                                           const struct module *module);
const struct kept_range *kept_names_process(const struct kept_names *kept,
                                            uint64_t pid, uint64_t start_ns);

/* Finds an address in a range (or NULL); NULL: it is not kept.  O(log n). */
const struct kept_address *kept_names_find(const struct kept_names *kept,
                                           const struct kept_range *range,
                                           uint64_t address);

/* The locations of an address; their names are of kept_names_texts. */
const struct location *kept_names_locations(const struct kept_names *kept,
                                            const struct kept_address *found);

#endif
