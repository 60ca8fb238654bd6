/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_lines.h -- lines and inlined calls for a profile's addresses.
 *
 * Debug information is large and slow to read, and most questions do not need
 * it.  So a profile is loaded without; when lines or inlined calls are asked
 * for, what its addresses need is read, and remembered for the next profile
 * that has the same addresses of the same modules.
 */
#ifndef CPPROF_SYMBOLS_LINES_ADDRESS_LINES_H
#define CPPROF_SYMBOLS_LINES_ADDRESS_LINES_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/debug_file.h"

struct address_lines;

/*
 * Remembers nothing yet; search as in module_symbols_new.  Freed with
 * address_lines_free; NULL with *error set.
 */
struct address_lines *address_lines_new(const struct symbol_search *search,
                                        struct error *error);
void address_lines_free(struct address_lines *lines);

/*
 * Gives each frame that has an address in a module and neither file nor line
 * the locations that debug information knows.  The outermost keeps the
 * function that it has, so that body+descendants of functions do not change;
 * the names of inlined functions are demangled as symbols are.  Frames of
 * which nothing is known stay.
 *
 * The profile is warned of each module whose debug information is damaged, of
 * which then nothing is used, and, in one line, of those that have none, unless
 * that has been said.  progress: bytes of one module's debug information after
 * the other's; may be NULL.
 *
 * 0, or -1 with *error set for want of memory or when interrupted; frames may
 * then have got lines, and what was read is remembered.
 */
int address_lines_apply(struct address_lines *lines, struct profile *profile,
                        const struct progress *progress,
                        struct error *error);

/*
 * Whether the debug information of a module has been read for all frames of
 * the profile that was asked about last.
 */
bool address_lines_were_read(const struct address_lines *lines,
                             const struct module *module);

#endif
