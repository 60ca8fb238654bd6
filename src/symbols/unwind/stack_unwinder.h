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
 * Reads both sections of the module's own file, and Go's table, and closes it
 * again; empty for NULL, or where there is no such file, or none of a known
 * processor, or nothing in it.  Time O(bytes of the sections), and sorting where they are not
 * in the order of addresses.  Freed with unwind_table_free; NULL with *error set
 * for want of memory.
 */
struct unwind_table *unwind_table_read(const struct module_file *module,
                                       struct error *error);
void unwind_table_free(struct unwind_table *table);

/* The memory it takes. */
size_t unwind_table_bytes(const struct unwind_table *table);

/* Of which processor the file is; NULL: unknown. */
const struct dwarf_arch *unwind_table_arch(const struct unwind_table *table);

/*
 * Sets scratch->row to the row for an address, as program.h defines it;
 * its expressions live as long as the table.  False where none is known.  Time
 * O(log FDEs + bytes of one).  No table that the scratch was used with may have
 * been freed.
 *
 * Code that signal handlers return to, and the stubs of procedure linkage
 * tables, need not have rules.  So where .eh_frame has none, all code of the
 * file is searched for these, once.
 */
bool unwind_table_find(struct unwind_table *table,
                       const struct module_file *module, uint64_t address,
                       struct cfi_scratch *scratch);

/*
 * Whether .eh_frame covers an address; *end: up to where that is so, or not,
 * UINT64_MAX for all that follows.
 */
bool unwind_table_covers(const struct unwind_table *table, uint64_t address,
                         uint64_t *end);

/* Whether the file has Go's table. */
bool unwind_table_is_go(const struct unwind_table *table);

/* The row of code that a signal handler returns to. */
void unwind_sigreturn_row(const struct dwarf_arch *arch, struct cfi_row *row);

/* ---- stack_unwinder.c ---- */

/*
 * Callers from a copy of a stack, of any processor of dwarf/arch.h.
 *
 * By the unwind tables (.eh_frame, .debug_frame) that modules carry; where
 * there are none, by reading the code (code_rules.h); where that does not tell,
 * or code was made at run time, by frame pointers.  Files are not trusted:
 * damaged tables end a stack early, and nothing else.
 */

/* Why a frame has no caller. */
enum stack_end {
	STACK_END_OUTERMOST,	/* the program says that there is none */
	STACK_END_NO_RULES,	/* code without unwind tables, and no frame
				 * pointer */
	STACK_END_NO_MEMORY,	/* the stack is not known there, or its frames
				 * do not rise */
};

/*
 * A frame, and the part of the stack that was copied.  At first, the stack
 * pointer and the pc are known.  If a caller was found by the frame pointer, its
 * stack pointer may be marked as unknown; the value is then a lower bound.
 */
struct stack_frame {
	const struct dwarf_arch *arch;
	struct cfi_registers registers;
	bool is_interrupted;	/* its pc is where it is, not where it will
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
	uint64_t return_at;	/* set if there is a caller: where its pc was
				 * read; 0: in a register */
	enum stack_end end;	/* set if there is no caller */
	bool was_guessed;	/* set if a caller was found by the frame
				 * pointer, in a file */
	bool has_left_stack;	/* set if one was found on another stack */
	bool was_refuted;	/* set with the end if this frame does not call
				 * the one that was left last, so that it is
				 * none */
	/*
	 * The frame that was left last, if it had no table: the caller counts
	 * only if it calls it.  Who ends a walk while this is open, as where the
	 * last address is in no module, drops that last frame: it is not proved.
	 */
	struct {
		bool is_open, was_guessed;
		uint32_t module;
		uint64_t address;
	} callee;
};

static inline uint64_t
stack_frame_sp(const struct stack_frame *frame)
{
	return frame->registers.value[frame->arch->sp];
}

static inline uint64_t
stack_frame_pc(const struct stack_frame *frame)
{
	return frame->registers.value[frame->arch->pc];
}

/*
 * An address inside the instruction at which the frame is: a call may be the
 * last of its function.
 */
static inline uint64_t
stack_frame_address(const struct stack_frame *frame)
{
	return stack_frame_pc(frame) - !frame->is_interrupted;
}

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
