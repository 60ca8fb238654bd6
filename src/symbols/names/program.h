/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h -- an executable as gprof sees it: functions, and calls in them.
 *
 * Each function reaches from its symbol to the next one, so that every address
 * of the code belongs to some function.
 */
#ifndef CPPROF_SYMBOLS_NAMES_PROGRAM_H
#define CPPROF_SYMBOLS_NAMES_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/elf/module_file.h"

struct program_function {
	uint64_t start, end;	/* [start, end), in the ELF file's addresses */
	uint32_t name;		/* demangled */
};

struct program_functions {
	struct program_function *items;		/* [n] by start */
	uint32_t n;
	size_t capacity;
};

/* A call in the code; functions by their number. */
struct static_call {
	uint32_t caller, callee;
};

struct static_calls {
	struct static_call *items;	/* [n] each once */
	uint32_t n;
	size_t capacity;
};

struct program {
	unsigned char pointer_size;	/* 4 or 8 */
	struct program_functions functions;
	struct static_calls calls;
};

/* Whether there is a program or a library in a regular file of that name. */
bool program_is_one(const char *path);

/*
 * Reads the functions of a program, or of a stripped one from its separate
 * debug file; adds their names to `names`; and finds the calls in its code.
 * Freed with program_free.  NULL with *error set, its text beginning with the
 * path: no such file, no ELF program, no symbols of code, want of memory.
 */
struct program *program_read(const char *path,
                             const struct symbol_search *search,
                             struct names *names, struct error *error);
void program_free(struct program *program);

/* The number of the function that an address belongs to, or UINT32_MAX. */
uint32_t program_functions_find(const struct program_functions *functions,
                                uint64_t address);

/* The number of the first function that starts at or after an address, or n. */
uint32_t program_functions_from(const struct program_functions *functions,
                                uint64_t address);

/*
 * Finds direct calls and jumps from one function to the start of another, by
 * decoding the code of each function from its start on.  Only for x86; code
 * that cannot be decoded is skipped.  Time O(code), memory O(functions +
 * calls). calls: empty at first.  0, or -1 with *error set for want of memory.
 */
int static_calls_find(struct static_calls *calls,
                      const struct program_functions *functions,
                      const struct elf_file *file, struct error *error);

#endif
