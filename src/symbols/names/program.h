/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h -- an executable as gprof sees it: functions, and calls in them. */
#ifndef CPPROF_SYMBOLS_NAMES_PROGRAM_H
#define CPPROF_SYMBOLS_NAMES_PROGRAM_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/names/program_functions.h"
#include "src/symbols/names/static_calls.h"

struct program {
	unsigned char pointer_size;	/* 4 or 8 */
	struct program_functions functions;
	struct static_calls calls;
};

/* Whether a regular file of that name is a program or a library. */
bool program_is_one(const char *path);

/*
 * The functions of a program, their names entered, and the calls that stand in
 * its code.  The caller's, freed with program_free; NULL with *error set, its
 * text beginning with the path: no such file, no ELF program, no symbols of
 * code, want of memory.
 */
struct program *program_read(const char *path,
                             const struct symbol_search *search,
                             struct names *names, struct error *error);
void program_free(struct program *program);

#endif
