/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_symbols.h -- adds the symbols of an ELF file to a symbol table.
 *
 * A file without such symbols adds none.  The functions return 0, or -1 with
 * *error set for want of memory or after Ctrl-C.
 */
#ifndef CPPROF_SYMBOLS_ELF_ELF_SYMBOLS_H
#define CPPROF_SYMBOLS_ELF_ELF_SYMBOLS_H

#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/symbol_table.h"

/*
 * The symbols of code in the first section of this type, SHT_SYMTAB or
 * SHT_DYNSYM: functions, indirect functions and labels without a type, each
 * only if it lies in a section of code.
 */
int elf_symbols_add(struct symbol_table *table, const struct elf_file *file,
                    GElf_Word type, struct error *error);

/*
 * The stubs in .plt, .plt.sec and .plt.got of an x86-64 file, through which
 * other modules are called.  Each becomes a symbol that is marked as a stub and
 * named after the function it jumps to.  A stub for an indirect function of the
 * module itself takes the name from `table`, which must be sorted; the symbols
 * go to `stubs`.  Other machines: none.
 *
 * The slot that a stub jumps through is read from its instruction and not
 * derived from the stub's position, since linkers lay out stubs in several
 * ways.  A lazy stub that only pushes a number belongs to that relocation of
 * .rela.plt.
 * Source: System V ABI, AMD64 supplement, 5.2 and 13.2; binutils'
 * elf_x86_64_get_synthetic_symtab reads the same layouts.
 */
int elf_symbols_add_stubs(struct symbol_table *stubs,
                          const struct symbol_table *table,
                          const struct elf_file *file, struct error *error);

#endif
