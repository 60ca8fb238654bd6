/* SPDX-License-Identifier: MIT */
/* cfi.h -- call frame information: how the frame at an address is left.
 *
 * Reads .eh_frame in place, through .eh_frame_hdr's table, when an address is
 * first seen: nothing is built beforehand and nothing is allocated.  Sources:
 * LSB 5.0 core 10.6 (.eh_frame, .eh_frame_hdr), DWARF 5 section 6.4.
 *
 * All functions: async-signal-safe, on any thread, with a scratch of its own.
 */
#ifndef CPPROF_CFI_H
#define CPPROF_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arch.h"
#include "lib/readable.h"

enum cfi_kind {
	CFI_UNSPECIFIED,	/* as the ABI has it */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,		/* saved at CFA + offset */
	CFI_VALUE_OFFSET,	/* is CFA + offset */
	CFI_REGISTER,		/* is in register `offset` */
	CFI_EXPRESSION,		/* saved where the expression says */
	CFI_VALUE_EXPRESSION	/* is what the expression says */
};

/* For the CFA: CFI_REGISTER is register + offset, or CFI_VALUE_EXPRESSION. */
struct cfi_rule {
	uint8_t kind;
	uint8_t reg;			/* of the CFA */
	uint32_t expression_size;
	union {
		int64_t offset;
		const unsigned char *expression;
	};
};

struct cfi_row {
	struct cfi_rule cfa;
	struct cfi_rule rules[ARCH_N_REGISTERS];
	bool is_signal;			/* augmentation 'S' */
};

#define CFI_REMEMBERED 16	/* nesting of DW_CFA_remember_state */

/* Work space, too big for a signal handler's stack. */
struct cfi_scratch {
	struct cfi_row row;
	struct cfi_row initial;
	struct cfi_row remembered[CFI_REMEMBERED];
	uint64_t stack[64];
};

enum cfi_result {
	CFI_FOUND,
	CFI_NO_TABLE,	/* nothing covers the address */
	CFI_BAD		/* malformed, or not understood */
};

/*
 * The row that holds at `address` into scratch->row.  The address lies inside
 * the instruction: for callers the return address minus 1.
 */
enum cfi_result cfi_find(uint64_t address, struct cfi_scratch *scratch);

/*
 * One step outwards by scratch->row: *registers of a frame become those of
 * its caller; *cfa is set.  0; 1 when the frame is the outermost; -1 when a
 * register or memory that is needed is not known.
 */
int cfi_step(struct cfi_scratch *scratch, struct readable *readable,
    struct registers *registers, uint64_t *cfa);

#endif
