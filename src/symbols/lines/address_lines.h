/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_lines.h -- lines and inlined calls for a profile's addresses.
 *
 * Debug information is large and slow to read, and most questions do not need
 * it.  So a profile is loaded without.  Once lines or inlined calls are asked
 * for, the part that its addresses need is read; and remembered, for the next
 * profile that has the same addresses in the same modules.
 */
#ifndef CPPROF_SYMBOLS_LINES_ADDRESS_LINES_H
#define CPPROF_SYMBOLS_LINES_ADDRESS_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/module_file.h"

struct address_lines;

/*
 * Remembers nothing at first.  search: see module_symbols_new.  Freed with
 * address_lines_free; NULL with *error set.
 */
struct address_lines *address_lines_new(const struct symbol_search *search,
                                        struct error *error);
void address_lines_free(struct address_lines *lines);

enum lines_wanted {
	LINES_NONE,
	LINES_CHOSEN,		/* of frames that are not deferred */
	LINES_ALL,
};

/*
 * Gives each frame that is wanted and has an address in a module, but neither
 * file nor line, the locations that debug information has for it.  The
 * outermost location keeps the function it has, so that the totals of functions
 * do not change.  Names of inlined functions are demangled like symbols.
 * Frames without debug information stay as they are.
 *
 * Warns in the profile of each module whose debug information is damaged (none
 * of it is then used), and with one line of those that have none; of each
 * module only once.  progress: of one module after the other, in bytes of debug
 * information; may be NULL.
 *
 * 0, or -1 with *error set for want of memory or after Ctrl-C; some frames may
 * then have lines, and what was read is remembered.
 */
int address_lines_apply(struct address_lines *lines, struct profile *profile,
                        enum lines_wanted wanted,
                        const struct progress *progress,
                        struct error *error);

/*
 * Finds the locations of addresses[n], ascending, of a module, and remembers
 * them.  Calls found once for each address of which something is known, with
 * its index and its chain, outermost first; the outermost function is NO_NAME,
 * and names are numbers in *names, valid as long as `lines`.  Does not open a
 * file with more than most_bytes, for a question that is not worth the wait.
 * 0, or -1 with *error set, by found, too.
 */
int address_lines_find(struct address_lines *lines,
                       const struct module *module,
                       const uint64_t *addresses, size_t n,
                       uint64_t most_bytes,
                       int (*found)(void *context, size_t which,
                                    const struct location *chain, size_t n,
                                    const struct names *names,
                                    struct error *error),
                       void *context, struct error *error);

/*
 * Whether the debug information of a module was read for all frames of the last
 * profile.
 */
bool address_lines_were_read(const struct address_lines *lines,
                             const struct module *module);

#endif
