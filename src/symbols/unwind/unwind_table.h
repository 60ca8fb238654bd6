/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_table.h -- the unwind tables of an ELF file: where its functions lie,
 * and by address, how to get to a caller.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_UNWIND_TABLE_H
#define CPPROF_SYMBOLS_UNWIND_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/cfi.h"
#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/elf/symbol_table.h"

/*
 * Enters one symbol with an empty name for each range of code that the file's
 * .eh_frame describes: a function, the cold part of one, a table of stubs.
 * Stripping leaves these ranges, since unwinding needs them.  Ranges that are
 * not understood are passed over; a file without any, or of big-endian numbers,
 * adds none.
 * Time and memory O(bytes of the section).  0, or -1 with *error set for want
 * of memory.
 */
int unwind_ranges_add(struct symbol_table *ranges, const struct elf_file *file,
                      struct error *error);

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
