/* SPDX-License-Identifier: GPL-3.0-or-later */
/* static_calls.h -- which functions a program's code calls. */
#ifndef CPPROF_SYMBOLS_STATIC_CALLS_H
#define CPPROF_SYMBOLS_STATIC_CALLS_H

#include "src/symbols/elf_file.h"
#include "src/symbols/program.h"

/*
 * Enters the program's calls, as program.h describes them.  Code that cannot
 * be decoded is passed over.  Time O(code), memory O(calls).  0, or -1 with
 * *error set for want of memory.
 */
int static_calls_add(struct program *program, const struct elf_file *file,
                     struct error *error);

#endif
