/* SPDX-License-Identifier: MIT */
/* step.h -- from the registers of a frame to those of its caller.
 *
 * All functions are async-signal-safe if the reader of memory is.
 * They allocate nothing, and the number of operations is bounded.
 *
 * Source: DWARF 5, 2.5.1 (expressions) and 6.4.4.
 */
#ifndef CPPROF_DWARF_STEP_H
#define CPPROF_DWARF_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf/cfi.h"

/* Bit r of `known`: value[r] is valid. */
struct cfi_registers {
	uint64_t value[CFI_REGISTERS];
	uint64_t known;
};

#define CFI_BIT(reg) ((uint64_t)1 << (reg))

enum { CFI_VALUES_MAX = 64 };	/* on the stack of an expression */

/*
 * What a step works with.  It belongs to the caller and can be used for many
 * steps.
 */
struct cfi_machine {
	const struct dwarf_arch *arch;
	/*
	 * Reads the little-endian number of 1 to 8 bytes at an address.  False
	 * if that memory is not known.
	 */
	bool (*read)(void *context, uint64_t address, size_t size,
	    uint64_t *number);
	void *context;
	/*
	 * The set of registers that keep their values if a row has no rule for
	 * them.
	 */
	uint64_t preserved;
	uint64_t values[CFI_VALUES_MAX];	/* working memory */
};

enum cfi_step_result {
	CFI_STEP_DONE,
	CFI_STEP_OUTERMOST,	/* the row says that there is no caller */
	CFI_STEP_FAILED		/* a register or memory that is needed is not
				   known */
};

/*
 * Sets *registers to those of the caller, and *cfa to the frame's CFA.  The
 * caller's stack pointer and pc are then known, and its other registers if they
 * could be restored.  If the step fails, *registers and *cfa are undefined.
 */
enum cfi_step_result cfi_step(const struct cfi_row *row,
    struct cfi_machine *machine, struct cfi_registers *registers,
    uint64_t *cfa);

/*
 * Evaluates an expression.  initial: the first value on the stack; NULL: none.
 * False if the expression is malformed, takes more than 1000 operations, or
 * needs a register or memory that is not known.
 */
bool cfi_evaluate(const unsigned char *expression, size_t size,
    struct cfi_machine *machine, const struct cfi_registers *registers,
    const uint64_t *initial, uint64_t *value);

#endif
