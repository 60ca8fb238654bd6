/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_table.h -- the unwind tables of an ELF file, and of a module by address. */
#ifndef CPPROF_SYMBOLS_UNWIND_UNWIND_TABLE_H
#define CPPROF_SYMBOLS_UNWIND_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/cfi.h"
#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/module_file.h"

/*
 * Finds .eh_frame, which every program carries, or .debug_frame, which is debug
 * information.  The bytes live as long as the file is open.  False where there
 * is no such section, or its numbers are big-endian.
 */
bool unwind_section_find(struct cfi_section *section,
                         const struct elf_file *file, bool is_debug_frame);

struct unwind_table;

/*
 * Reads both sections of the module's own file, and closes it again; empty for
 * NULL, or where there is no such file or nothing in it.  Time O(bytes of the
 * sections), and sorting where they are not in the order of addresses.  Freed
 * with unwind_table_free; NULL with *error set for want of memory.
 */
struct unwind_table *unwind_table_read(const struct module_file *module,
                                       struct error *error);
void unwind_table_free(struct unwind_table *table);

/* The memory it takes. */
size_t unwind_table_bytes(const struct unwind_table *table);

/*
 * Sets scratch->row to the row for an address, as module_symbols.h defines it;
 * its expressions live as long as the table.  False where none is known.  Time
 * O(log FDEs + bytes of one).  No table that the scratch was used with may have
 * been freed.
 */
bool unwind_table_find(const struct unwind_table *table, uint64_t address,
                       struct cfi_scratch *scratch);

#endif
