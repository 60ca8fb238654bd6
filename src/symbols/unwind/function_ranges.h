/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_ranges.h -- where functions lie that have lost their symbols. */
#ifndef CPPROF_SYMBOLS_UNWIND_FUNCTION_RANGES_H
#define CPPROF_SYMBOLS_UNWIND_FUNCTION_RANGES_H

#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
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
int function_ranges_add(struct symbol_table *table,
                        const struct elf_file *file, struct error *error);

#endif
