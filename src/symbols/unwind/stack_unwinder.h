/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_unwinder.h -- callers from a copy of a stack, of x86-64 programs.
 *
 * By the unwind tables (.eh_frame, .debug_frame) that modules carry; where
 * there are none, as in code made at run time, by frame pointers.  Files are
 * not trusted: damaged tables end a stack early, and nothing else.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_STACK_UNWINDER_H
#define CPPROF_SYMBOLS_UNWIND_STACK_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/step.h"
#include "src/base/error.h"
#include "src/symbols/elf/module_file.h"

/* A frame, and the part of the stack that was copied; memory elsewhere is not
 * known.  The stack pointer, frame pointer and rip are. */
struct stack_frame {
	struct cfi_registers registers;
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
 * Makes *frame its caller's.  address: of the frame's code in its module, as
 * module_symbols.h defines it; module: which file, NULL for code in none;
 * number: the module's, the same for the same file.
 *
 * 1; 0 where the frame is the outermost or its caller cannot be found, which
 * is also so where the stack would grow, or stay as it is but for a frame that
 * was interrupted; -1 with *error set for want of memory.  Without 1, *frame's
 * registers mean nothing.
 */
int stack_unwinder_step(struct stack_unwinder *unwinder,
                        const struct module_file *module, uint32_t number,
                        uint64_t address, struct stack_frame *frame,
                        struct error *error);

#endif
