/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_symbols.h -- from the tables of an ELF file to a table of symbols. */
#ifndef CPPROF_SYMBOLS_ELF_ELF_SYMBOLS_H
#define CPPROF_SYMBOLS_ELF_ELF_SYMBOLS_H

#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/symbol_table.h"

/*
 * Enters the symbols of code in the first section of this type, SHT_SYMTAB or
 * SHT_DYNSYM: functions, indirect functions, and labels without a type, each
 * only where it lies in a section of code.  A file without such a section adds
 * none.
 * 0, or -1 with *error set for want of memory or when interrupted.
 */
int elf_symbols_add(struct symbol_table *table, const struct elf_file *file,
                    GElf_Word type, struct error *error);

#endif
