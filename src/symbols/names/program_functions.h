/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_functions.h -- the functions of an executable, one after the other.
 *
 * What gprof knows of a program: each function reaches from its symbol to the
 * next one, so that every address of the code belongs to some function.
 */
#ifndef CPPROF_SYMBOLS_NAMES_PROGRAM_FUNCTIONS_H
#define CPPROF_SYMBOLS_NAMES_PROGRAM_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/elf/elf_file.h"

struct program_function {
	uint64_t start, end;	/* [start, end), in the ELF file's addresses */
	uint32_t name;		/* demangled */
};

/* Start with `{ 0 }`. */
struct program_functions {
	struct program_function *items;		/* [n] by start */
	uint32_t n;
	size_t capacity;
};

/*
 * Reads the functions of a program, at least one, and enters their names; of a
 * stripped one those of its separate debug file.  path: where it was opened
 * from.  0, or -1 with *error set: no symbols of code, want of memory; free it
 * in either case.
 */
int program_functions_read(struct program_functions *functions,
                           const struct elf_file *file, const char *path,
                           const struct symbol_search *search,
                           struct names *names, struct error *error);
void program_functions_free(struct program_functions *functions);

/* The number of the function an address belongs to, or UINT32_MAX. */
uint32_t program_functions_find(const struct program_functions *functions,
                                uint64_t address);

/*
 * The number of the first function that starts at an address or behind it; n
 * where there is none.
 */
uint32_t program_functions_from(const struct program_functions *functions,
                                uint64_t address);

#endif
