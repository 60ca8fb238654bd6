/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_table.h -- the unwind tables of one module, by address. */
#ifndef CPPROF_SYMBOLS_UNWIND_TABLE_H
#define CPPROF_SYMBOLS_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/unwind_rules.h"

struct unwind_table;

/*
 * Reads .eh_frame and .debug_frame of the module's own file, which is closed
 * again; empty where there is no such file, for NULL, or nothing in it.  Time
 * O(bytes of the sections), and sorting where they are not by address.  Freed
 * with unwind_table_free; NULL with *error set for want of memory.
 */
struct unwind_table *unwind_table_read(const struct module_file *module,
                                       struct error *error);
void unwind_table_free(struct unwind_table *table);

/* The memory it takes. */
size_t unwind_table_bytes(const struct unwind_table *table);

/*
 * The row for an address, as module_symbols.h defines it, good as long as the
 * table; false where none is known.  Time O(log descriptions + bytes of one).
 */
bool unwind_table_find(const struct unwind_table *table, uint64_t address,
                       struct unwind_row *row);

#endif
