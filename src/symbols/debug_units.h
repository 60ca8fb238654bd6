/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_units.h -- debug_lines_read, but for the process that it needs.
 *
 * libdw does not check all that it reads: a damaged file can make it read
 * beyond its memory, or take any amount of it.
 */
#ifndef CPPROF_SYMBOLS_DEBUG_UNITS_H
#define CPPROF_SYMBOLS_DEBUG_UNITS_H

#include "src/symbols/debug_lines.h"

/* As debug_lines_read; may end the process, or take long. */
int debug_units_read(const struct elf_file *file,
                     const struct symbol_search *search,
                     const struct debug_lines_request *request,
                     enum debug_lines_state *state, struct error *error);

#endif
