/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_code.h -- the instructions of a profile's function, for commands. */
#ifndef CPPROF_SHELL_COMMAND_FUNCTION_CODE_H
#define CPPROF_SHELL_COMMAND_FUNCTION_CODE_H

#include "src/shell/session/session.h"
#include "src/symbols/code/disassembly.h"

/* The part of a function that is in one module. */
struct module_code {
	uint32_t module;
	size_t first, end;	/* its instructions */
};

struct function_code {
	uint32_t function;
	uint32_t *frames;	/* [n_frames] whose code is the function's, by
				 * module and address */
	size_t n_frames;
	uint32_t *place;	/* [the profile's frames] the instruction of each
				 * of these; NO_PLACE: none */
	struct disassembly disassembly;
	struct module_code *modules;	/* [n_modules] */
	size_t n_modules;
	enum disassembly_state state;	/* of a module without instructions */
	uint32_t without;		/* that module; NO_MODULE: there is none */
};

/*
 * Decodes the code that a function has of its own, not what was inlined into
 * others.  It may have none; state then says why.  0, or -1 with *error set;
 * function_code_free in either case.
 */
int function_code_read(struct function_code *code,
                       const struct session *session, uint32_t function,
                       struct error *error);
void function_code_free(struct function_code *code);

/*
 * Finds the locations of all instructions, as address_lines_find does; found
 * gets the number of an instruction.
 */
int function_code_lines(const struct function_code *code,
                        struct session *session, uint64_t most_bytes,
                        int (*found)(void *context, size_t instruction,
                                     const struct location *chain, size_t n,
                                     const struct names *names,
                                     struct error *error),
                        void *context, struct error *error);

/*
 * The first and the last line of a file, named as in the profile, that a
 * function has code for.  Both 0 if its code or its debug information is not at
 * hand, or that is large.  0, or -1 with *error set.
 */
int function_code_extent(struct session *session, uint32_t function,
                         const char *file, uint32_t *first, uint32_t *last,
                         struct error *error);

#endif
