/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines.h -- debug_lines_read, but for the process that it needs.
 *
 * libdw does not check all that it reads: a damaged file can make it read
 * beyond its memory, or take any amount of it.
 */
#ifndef CPPROF_SYMBOLS_LINES_DEBUG_LINES_H
#define CPPROF_SYMBOLS_LINES_DEBUG_LINES_H

#include "src/symbols/lines/debug_lines_child.h"

/* As debug_lines_read; may end the process, or take long. */
int debug_units_read(const struct elf_file *file,
                     const struct symbol_search *search,
                     const struct debug_lines_request *request,
                     enum debug_lines_state *state, struct error *error);

#endif
