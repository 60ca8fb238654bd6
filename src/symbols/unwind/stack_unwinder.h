/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_unwinder.h -- callers of frames in copied stacks, by the call frame
 * rules of modules.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_STACK_UNWINDER_H
#define CPPROF_SYMBOLS_UNWIND_STACK_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/cfi.h"
#include "dwarf/step.h"
#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"

/* ---- unwind_table.c ---- */

/*
 * The unwind tables of an ELF file: where its functions lie, and by address,
 * how to get to a caller.
 */

/*
 * Enters one symbol with an empty name for each range of code that the file's
 * .eh_frame describes: a function, the cold part of one, a table of stubs.
 * Stripping leaves these ranges, since unwinding needs them.  Ranges that are
 * not understood are passed over; a file without any, or of big-endian numbers,
 * adds none.
 * Time and memory O(bytes of the section).
 */
int unwind_ranges_add(struct symbol_table *ranges, const struct elf_file *file,
                      struct error *error);

struct unwind_table;

/*
 * Reads both sections of the module's own file, and closes it again; empty for
 * NULL, or where there is no such file or nothing in it.  Time O(bytes of the
 * sections), and sorting where they are not in the order of addresses.  Freed
 * with unwind_table_free; NULL with *error set for want of memory.
 */
struct unwind_table *unwind_table_read(const struct module_file *module,
                                       struct error *error);
void unwind_table_free(struct unwind_table *table);

/* The memory it takes. */
size_t unwind_table_bytes(const struct unwind_table *table);

/*
 * Sets scratch->row to the row for an address, as program.h defines it;
 * its expressions live as long as the table.  False where none is known.  Time
 * O(log FDEs + bytes of one).  No table that the scratch was used with may have
 * been freed.
 */
bool unwind_table_find(const struct unwind_table *table, uint64_t address,
                       struct cfi_scratch *scratch);

/* ---- stack_unwinder.c ---- */

/*
 * Callers from a copy of a stack, of x86-64 programs.
 *
 * By the unwind tables (.eh_frame, .debug_frame) that modules carry; where
 * there are none, as in code made at run time, by frame pointers.  Files are
 * not trusted: damaged tables end a stack early, and nothing else.
 */

/* Why a frame has no caller. */
enum stack_end {
	STACK_END_OUTERMOST,	/* the program says that there is none */
	STACK_END_NO_RULES,	/* code without unwind tables, and no frame
				 * pointer */
	STACK_END_NO_MEMORY,	/* the stack is not known there, or its frames
				 * do not rise */
};

/* A frame, and the part of the stack that was copied.  The stack pointer, frame
 * pointer and rip are known. */
struct stack_frame {
	struct cfi_registers registers;
	bool is_interrupted;	/* its rip is where it is, not where it will
				 * return to */
	const unsigned char *stack;	/* [stack_size] */
	uint64_t stack_start, stack_size;
	/*
	 * Reads memory outside the copy, like the reader of a cfi_machine;
	 * NULL: that memory is not known.
	 */
	bool (*read_outside)(void *context, uint64_t address, size_t size,
	                     uint64_t *number);
	void *context;
	enum stack_end end;	/* set if there is no caller */
	bool was_guessed;	/* set if a caller was found by the frame
				 * pointer, in a file */
};

struct stack_unwinder;

/* Freed with stack_unwinder_free; NULL with *error set. */
struct stack_unwinder *stack_unwinder_new(struct error *error);
void stack_unwinder_free(struct stack_unwinder *unwinder);

/*
 * Makes *frame its caller's.  address: of the frame's code in its module, as
 * program.h defines it; module: which file, NULL for code in none;
 * number: the module's, the same for the same file.
 *
 * 1; 0 where the frame is the outermost or its caller cannot be found, which
 * is also so where the stack would grow, or stay as it is but for a frame that
 * was interrupted; frame->end then says why; -1 with *error set for want of
 * memory.  Without 1, *frame's registers mean nothing.
 */
int stack_unwinder_step(struct stack_unwinder *unwinder,
                        const struct module_file *module, uint32_t number,
                        uint64_t address, struct stack_frame *frame,
                        struct error *error);

#endif
