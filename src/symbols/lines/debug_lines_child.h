/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines_child.h -- reads debug information in a child process.
 *
 * So a damaged file, with which libdw may crash, does no harm to this process.
 */
#ifndef CPPROF_SYMBOLS_LINES_DEBUG_LINES_CHILD_H
#define CPPROF_SYMBOLS_LINES_DEBUG_LINES_CHILD_H

#include "src/symbols/lines/debug_lines.h"

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
