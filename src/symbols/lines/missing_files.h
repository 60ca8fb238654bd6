/* SPDX-License-Identifier: GPL-3.0-or-later */
/* missing_files.h -- the debug files that a profile needs and this machine does
 * not have.
 */
#ifndef CPPROF_SYMBOLS_LINES_MISSING_FILES_H
#define CPPROF_SYMBOLS_LINES_MISSING_FILES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/debuginfod.h"
#include "src/symbols/elf/elf_file.h"

/* Start with `{ 0 }`. */
struct missing_files {
	uint32_t *modules;	/* [n] those on the stacks of most hits first */
	uint32_t n;
	bool *is_unnamed;	/* [n] frames of it have no name */
	uint64_t unnamed_hits;	/* in a function of such a module without a
				 * name, or in one that it called */
	uint64_t hits;		/* all of the resource */
};

/*
 * Finds the modules of the profile's stacks, of a resource, whose build is known
 * and whose debug information is not there; those that are on less than a
 * thousandth of the hits are left out.  A profile of calls has none.  Opens the
 * file of each module.  O(nodes).  0, or -1 with *error set.
 */
int missing_files_find(struct missing_files *missing,
                       const struct profile *profile,
                       const struct symbol_search *search, uint32_t resource,
                       struct error *error);
void missing_files_free(struct missing_files *missing);

/*
 * Fetches the debug file of a module, and the file that this shares with others
 * (dwz makes such files).  request: all but the build-id.  As debuginfod_fetch.
 */
enum debuginfod_state
missing_files_fetch(const struct module *module,
                    const struct symbol_search *search,
                    struct debuginfod_request request, struct error *why);

#endif
