/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_lines.h -- what is known of the addresses of one module. */
#ifndef CPPROF_SYMBOLS_LINES_MODULE_LINES_H
#define CPPROF_SYMBOLS_LINES_MODULE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/progress.h"
#include "src/profile/profile.h"
#include "src/symbols/lines/debug_lines_child.h"
#include "src/symbols/elf/module_file.h"

/* The chain of an address: locations[first] .. [first + n - 1]. */
struct known_address {
	uint64_t address;
	uint32_t first;
	uint32_t n;		/* 0: nothing is known */
};

/* Starts with `{ 0 }`. */
struct module_lines {
	struct known_address *addresses;	/* [n], ascending */
	size_t n, capacity;
	/* Outermost first, the outermost function NO_NAME. */
	struct location *locations;
	size_t n_locations, locations_capacity;
	enum debug_lines_state state;	/* once addresses were asked for */
};

void module_lines_free(struct module_lines *lines);

/* What is known of an address; NULL: it was never asked for.  O(log n). */
const struct known_address *module_lines_find(const struct module_lines *lines,
                                              uint64_t address);

/*
 * Asks the module's debug information for addresses[n], ascending, none of
 * them known.  Functions and files go to names, functions demangled.  With a
 * state other than DEBUG_LINES_READ or _SPLIT nothing is known of them.  0, or
 * -1 with *error set for want of memory or when interrupted: they are not known
 * then.
 */
int module_lines_ask(struct module_lines *lines,
                     const struct module_file *module,
                     const uint64_t *addresses, size_t n,
                     struct names *names, const struct progress *progress,
                     struct error *error);

#endif
