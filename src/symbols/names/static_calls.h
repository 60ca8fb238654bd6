/* SPDX-License-Identifier: GPL-3.0-or-later */
/* static_calls.h -- which functions a program's code calls. */
#ifndef CPPROF_SYMBOLS_NAMES_STATIC_CALLS_H
#define CPPROF_SYMBOLS_NAMES_STATIC_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/program_functions.h"

/* A call that stands in the code: functions by number. */
struct static_call {
	uint32_t caller, callee;
};

/* Start with `{ 0 }`. */
struct static_calls {
	struct static_call *items;	/* [n] each once */
	uint32_t n;
	size_t capacity;
};

/*
 * Direct calls and jumps from one function to the start of another, found by
 * decoding the code of x86 programs, from each function's start on; other
 * machines have none.  Code that cannot be decoded is passed over.  Time
 * O(code), memory O(functions + calls).  0, or -1 with *error set for want of
 * memory; free it in either case.
 */
int static_calls_find(struct static_calls *calls,
                      const struct program_functions *functions,
                      const struct elf_file *file, struct error *error);
void static_calls_free(struct static_calls *calls);

#endif
