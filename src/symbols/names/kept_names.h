/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_names.h -- what addresses were found to be when they were recorded.
 *
 * Programs are rebuilt, removed and left on other machines.  What a recording
 * keeps of their names is used before their files are looked at.
 */
#ifndef CPPROF_SYMBOLS_NAMES_KEPT_NAMES_H
#define CPPROF_SYMBOLS_NAMES_KEPT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/profile.h"

enum { KEPT_CHAIN_MAX = 256 };	/* locations of an address */

struct kept_address {
	uint64_t address;
	uint32_t function;	/* a name of the store */
	uint32_t offset;	/* into the function, or NO_OFFSET */
	uint32_t first, n;	/* its locations, outermost first */
	bool is_symbol;		/* else a name for want of a symbol */
	bool has_lines;		/* debug information was read: n locations
				 * are all that it knows */
	bool is_told;		/* or a profile of another format told them */
	bool is_only_names;	/* the address is a number that nothing is at */
};

/* The addresses of one module, or of one process outside all modules. */
struct kept_range {
	size_t first, n;
};

struct kept_names;

/* Without names; freed with kept_names_free.  NULL with *error set. */
struct kept_names *kept_names_new(struct error *error);
void kept_names_free(struct kept_names *kept);

/* Functions and files; entered by whoever fills the store. */
struct names *kept_names_texts(const struct kept_names *kept);

/*
 * Begins the addresses of a module, or of a process; those of a module or
 * process that is there already are passed over: kept_names_add then says so.
 * 0, or -1 with *error set.
 */
int kept_names_begin_module(struct kept_names *kept,
                            const struct module *module, struct error *error);
int kept_names_begin_process(struct kept_names *kept, uint64_t pid,
                             uint64_t start_ns, struct error *error);

/*
 * Adds an address, greater than the one before, to what was begun last, with
 * n locations, which are copied; address->first is set here.  0, or -1 with
 * *error set.
 */
int kept_names_add(struct kept_names *kept, const struct kept_address *address,
                   const struct location *locations, struct error *error);

/* Of what addresses are kept; NULL: of none.  Expected O(1). */
const struct kept_range *kept_names_module(const struct kept_names *kept,
                                           const struct module *module);
const struct kept_range *kept_names_process(const struct kept_names *kept,
                                            uint64_t pid, uint64_t start_ns);

/* An address in a range, which may be NULL; NULL: not kept.  O(log n). */
const struct kept_address *kept_names_find(const struct kept_names *kept,
                                           const struct kept_range *range,
                                           uint64_t address);

/* The locations of an address; names are of kept_names_texts or NO_NAME. */
const struct location *kept_names_locations(const struct kept_names *kept,
                                            const struct kept_address *found);

#endif
