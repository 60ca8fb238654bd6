/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plt_symbols.h -- names for the stubs through which other modules are called.
 */
#ifndef CPPROF_SYMBOLS_ELF_PLT_SYMBOLS_H
#define CPPROF_SYMBOLS_ELF_PLT_SYMBOLS_H

#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/symbol_table.h"

/*
 * Enters a symbol for each stub in .plt, .plt.sec and .plt.got of an x86-64
 * file, named after the function it jumps to and marked as a stub.  A stub
 * for an indirect function of the module's own takes the name from `table`,
 * which must be sorted; new symbols go to `stubs`.  Other machines: none.
 *
 * What a stub jumps through is read from its instruction, not reckoned from
 * its place, since linkers lay out stubs in several ways; a lazy stub that
 * only pushes a number names that relocation of .rela.plt.
 * Source: System V ABI, AMD64 supplement, 5.2 and 13.2; binutils'
 * elf_x86_64_get_synthetic_symtab reads the same layouts.
 *
 * 0, or -1 with *error set for want of memory.
 */
int plt_symbols_add(struct symbol_table *stubs,
                    const struct symbol_table *table,
                    const struct elf_file *file, struct error *error);

#endif
