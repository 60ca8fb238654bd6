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

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arch.h"
#include "lib/base/readable.h"

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

union cfi_operand {
	int64_t offset;
	const unsigned char *expression;	/* its length, ULEB128, first */
};

#define CFI_CFA ARCH_N_REGISTERS	/* the rule of the CFA itself */

/*
 * A rule for each register, and for the CFA: CFI_REGISTER is cfa_register +
 * offset, or CFI_VALUE_EXPRESSION.  Small, and operands are written only where
 * they mean something: a row is mostly made where no cache holds it.
 */
struct cfi_row {
	uint8_t kinds[ARCH_N_REGISTERS + 1];
	uint8_t cfa_register;
	bool is_signal;			/* augmentation 'S' */
	union cfi_operand operands[ARCH_N_REGISTERS + 1];
};

#define CFI_REMEMBERED 16	/* nesting of DW_CFA_remember_state */

/* What a CIE says about its FDEs. */
struct cfi_cie {
	const unsigned char *at;	/* where it is; NULL: none */
	uint64_t epoch;			/* in which it was there */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;		/* of addresses, DW_EH_PE_* */
	bool has_augmentation;
	bool is_signal;
	struct cfi_row initial;		/* after its program */
};

/*
 * Work space, too big for a signal handler's stack; all zero at first.  The
 * CIE read last is kept: most FDEs of a module have the same.
 */
struct cfi_scratch {
	struct cfi_cie cie;
	uint64_t row_start, row_end;	/* addresses for which the row holds */
	struct cfi_row row;
	struct cfi_row remembered[CFI_REMEMBERED];
	uint64_t stack[64];
};

enum cfi_result {
	CFI_FOUND,
	CFI_NO_TABLE,	/* nothing covers the address */
	CFI_BAD		/* malformed, or not understood */
};

/* Has the processor fetch what cfi_find of that address will want first. */
void cfi_prefetch(uint64_t address, const struct cfi_scratch *scratch);

/*
 * The row that holds at `address`, which lies in that object, into
 * scratch->row, with the addresses around for which it is the same.  The
 * address lies inside the instruction: for callers the return address minus 1.
 */
enum cfi_result cfi_find(uint64_t address,
    const struct dl_find_object *object, struct cfi_scratch *scratch);

/*
 * The same of the FDE at `fde`; nothing outside [start, end) is read.
 */
enum cfi_result cfi_run(const unsigned char *fde, const unsigned char *start,
    const unsigned char *end, uint64_t address, struct cfi_scratch *scratch);

/*
 * The expression that is the rule of a register, or CFI_CFA: its bytes and
 * their number.  They lie inside the entry they came from.
 */
const unsigned char *cfi_expression(const struct cfi_row *row, unsigned reg,
    size_t *size);

/* After code was unmapped: what was kept of any is void.  Any thread. */
void cfi_new_epoch(void);

/* How often; what is kept of code elsewhere goes by it, too. */
extern _Atomic uint64_t cfi_epoch;

/*
 * One step outwards by scratch->row: *registers of a frame become those of
 * its caller; *cfa is set.  0; 1 when the frame is the outermost; -1 when a
 * register or memory that is needed is not known.
 */
int cfi_step(struct cfi_scratch *scratch, struct readable *readable,
    struct registers *registers, uint64_t *cfa);

#endif
