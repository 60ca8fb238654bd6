/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_unwinder.h -- callers from a copy of a stack, of x86-64 programs.
 *
 * By the unwind tables (.eh_frame, .debug_frame) that modules carry; where
 * there are none, as in code made at run time, by frame pointers.  Files are
 * not trusted: damaged tables end a stack early, and nothing else.
 */
#ifndef CPPROF_SYMBOLS_STACK_UNWINDER_H
#define CPPROF_SYMBOLS_STACK_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/elf/module_file.h"

/* Registers by DWARF's numbers. */
enum {
	STACK_RBP = 6,
	STACK_RSP = 7,
	STACK_RIP = 16,
	STACK_REGISTERS = 17,
};

/* A frame and what can be seen of the stack; memory beyond is unknown. */
struct stack_frame {
	uint64_t registers[STACK_REGISTERS];
	bool is_interrupted;	/* its rip is where it is, not where it will
				 * return to */
	const unsigned char *stack;	/* [stack_size] */
	uint64_t stack_start, stack_size;
};

struct stack_unwinder;

/* Freed with stack_unwinder_free; NULL with *error set. */
struct stack_unwinder *stack_unwinder_new(struct error *error);
void stack_unwinder_free(struct stack_unwinder *unwinder);

/*
 * The little-endian number of size <= 8 bytes at an address of the stack; false
 * where that is not known.
 */
bool stack_frame_read(const struct stack_frame *frame, uint64_t address,
                      size_t size, uint64_t *number);

/*
 * Makes *frame its caller's.  address: of the frame's code in its module, as
 * module_symbols.h defines it; module: which file, NULL for code in none;
 * number: the module's, the same for the same file.
 *
 * 1; 0 where the frame is the outermost or its caller cannot be found, which
 * is also so where the stack would grow, or stay as it is but for a frame that
 * was interrupted; -1 with *error set for want of memory.
 */
int stack_unwinder_step(struct stack_unwinder *unwinder,
                        const struct module_file *module, uint32_t number,
                        uint64_t address, struct stack_frame *frame,
                        struct error *error);

#endif
