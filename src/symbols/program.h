/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h -- the functions of an executable, one after the other.
 *
 * What gprof knows of a program: each function reaches from its symbol to the
 * next one, so that every address of the code belongs to some function.
 */
#ifndef CPPROF_SYMBOLS_PROGRAM_H
#define CPPROF_SYMBOLS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"

struct program_function {
	uint64_t start, end;	/* [start, end), in the ELF file's addresses */
	uint32_t name;		/* demangled */
};

struct symbol_search;	/* debug_file.h */

/* A call that stands in the code: functions by number. */
struct program_call {
	uint32_t caller, callee;
};

struct program {
	unsigned char pointer_size;	/* 4 or 8 */
	uint32_t n_functions, n_calls;
	struct program_function *functions;	/* by start */
	struct program_call *calls;		/* each once */
	size_t functions_capacity, calls_capacity;
};

/* Whether a regular file of that name is a program or a library. */
bool program_is_one(const char *path);

/*
 * The functions of a program, its names entered; of a stripped one those of its
 * separate debug file.  Direct calls and jumps from one function to the start
 * of another are found by decoding the code of x86 programs, from each
 * function's start on; other machines have none.  The caller's, freed with
 * program_free; NULL with *error set, its text beginning with the path: no
 * such file, no ELF program, no symbols of code, want of memory.
 */
struct program *program_read(const char *path,
                             const struct symbol_search *search,
                             struct names *names, struct error *error);
void program_free(struct program *program);

/* The number of the function an address belongs to, or UINT32_MAX. */
uint32_t program_find(const struct program *program, uint64_t address);

#endif
