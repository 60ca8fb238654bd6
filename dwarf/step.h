/* SPDX-License-Identifier: MIT */
/* step.h -- from the registers of a frame to those of its caller.
 *
 * For x86-64.  All functions are async-signal-safe if the reader of memory is.
 * They allocate nothing, and the number of operations is bounded.
 *
 * Source: DWARF 5, 2.5.1 (expressions) and 6.4.4.
 */
#ifndef CPPROF_DWARF_STEP_H
#define CPPROF_DWARF_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf/cfi.h"

/* Bit r of `known`: whether value[r] means anything. */
struct cfi_registers {
	uint64_t value[CFI_REGISTERS];
	uint32_t known;
};

enum { CFI_VALUES_MAX = 64 };	/* on the stack of an expression */

/* What a step works with; it belongs to the caller, and serves many steps. */
struct cfi_machine {
	/*
	 * Reads the little-endian number of 1 to 8 bytes at an address; false
	 * where that memory is not known.
	 */
	bool (*read)(void *context, uint64_t address, size_t size,
	    uint64_t *number);
	void *context;
	/* The registers that keep their values where a row has no rule for
	 * them, as a set of bits. */
	uint32_t preserved;
	uint64_t values[CFI_VALUES_MAX];	/* working memory */
};

enum cfi_step_result {
	CFI_STEP_DONE,
	CFI_STEP_OUTERMOST,	/* the row says that there is no caller */
	CFI_STEP_FAILED		/* a register or memory needed is not known */
};

/*
 * Makes *registers those of the caller, and *cfa the frame's CFA.  The caller's
 * stack pointer and return address are known then; its other registers where
 * they could be restored.  Unless it is done, *registers and *cfa mean nothing.
 */
enum cfi_step_result cfi_step(const struct cfi_row *row,
    struct cfi_machine *machine, struct cfi_registers *registers,
    uint64_t *cfa);

/*
 * Evaluates an expression.  initial: the value that is on the stack at first;
 * NULL: none.  False where it is malformed, takes more than 1000 operations, or
 * needs a register or memory that is not known.
 */
bool cfi_evaluate(const unsigned char *expression, size_t size,
    struct cfi_machine *machine, const struct cfi_registers *registers,
    const uint64_t *initial, uint64_t *value);

#endif
