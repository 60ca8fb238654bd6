/* SPDX-License-Identifier: MIT */
/* cfi.h -- call frame information: the rules for leaving the frame at an address.
 *
 * A section is a sequence of entries: frame descriptions (FDE), one for each
 * range of code, and common information (CIE), to which they point.  Both hold
 * a program for a table with one row for each instruction at which something
 * changes.  A row has a rule for each register, and one for the CFA, the
 * canonical frame address.
 *
 * libdw reads the same tables, but it allocates at every look-up, which a
 * signal handler must not do, and keeps what it has read in trees that only
 * grow.  It also needs an ELF file where a process has just its mapping, and
 * its licence is not one under which any program may contain the collector.
 *
 * Nothing in a section is trusted: no byte outside of it is read, and the
 * number of instructions run for one row is bounded.  Nothing is allocated.
 * All functions are async-signal-safe, and may run on several threads at once
 * if each has its own scratch.
 *
 * Sources: DWARF 5, 6.4 (.debug_frame); LSB 5.0 core, 10.5 and 10.6
 * (.eh_frame).
 */
#ifndef CPPROF_DWARF_CFI_H
#define CPPROF_DWARF_CFI_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dwarf/arch.h"

/* ---- constants ---- */

/*
 * DWARF's numbers for call frame information.
 *
 * Names and values are those of DWARF 5 (sections 7.7.1 and 7.24), of the LSB
 * 5.0 core (10.5, pointer encodings) and of DWARF for the Arm 64-bit
 * Architecture (4.4).  The prefix differs from the standard's, so that a file
 * can also include <dwarf.h> of elfutils.
 */

/* Call frame instructions. */
enum {
	/* The opcode is in the upper two bits, an operand in the others. */
	DWARF_CFA_advance_loc = 0x40,
	DWARF_CFA_offset = 0x80,
	DWARF_CFA_restore = 0xc0,
	DWARF_CFA_operand_mask = 0x3f,

	DWARF_CFA_nop = 0x00,
	DWARF_CFA_set_loc = 0x01,
	DWARF_CFA_advance_loc1 = 0x02,
	DWARF_CFA_advance_loc2 = 0x03,
	DWARF_CFA_advance_loc4 = 0x04,
	DWARF_CFA_offset_extended = 0x05,
	DWARF_CFA_restore_extended = 0x06,
	DWARF_CFA_undefined = 0x07,
	DWARF_CFA_same_value = 0x08,
	DWARF_CFA_register = 0x09,
	DWARF_CFA_remember_state = 0x0a,
	DWARF_CFA_restore_state = 0x0b,
	DWARF_CFA_def_cfa = 0x0c,
	DWARF_CFA_def_cfa_register = 0x0d,
	DWARF_CFA_def_cfa_offset = 0x0e,
	DWARF_CFA_def_cfa_expression = 0x0f,
	DWARF_CFA_expression = 0x10,
	DWARF_CFA_offset_extended_sf = 0x11,
	DWARF_CFA_def_cfa_sf = 0x12,
	DWARF_CFA_def_cfa_offset_sf = 0x13,
	DWARF_CFA_val_offset = 0x14,
	DWARF_CFA_val_offset_sf = 0x15,
	DWARF_CFA_val_expression = 0x16,
	DWARF_CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
	DWARF_CFA_AARCH64_negate_ra_state = 0x2d,
	DWARF_CFA_GNU_args_size = 0x2e,
	DWARF_CFA_GNU_negative_offset_extended = 0x2f,
};

/* Operations of expressions. */
enum {
	DWARF_OP_addr = 0x03,
	DWARF_OP_deref = 0x06,
	DWARF_OP_const1u = 0x08,
	DWARF_OP_const1s = 0x09,
	DWARF_OP_const2u = 0x0a,
	DWARF_OP_const2s = 0x0b,
	DWARF_OP_const4u = 0x0c,
	DWARF_OP_const4s = 0x0d,
	DWARF_OP_const8u = 0x0e,
	DWARF_OP_const8s = 0x0f,
	DWARF_OP_constu = 0x10,
	DWARF_OP_consts = 0x11,
	DWARF_OP_dup = 0x12,
	DWARF_OP_drop = 0x13,
	DWARF_OP_over = 0x14,
	DWARF_OP_pick = 0x15,
	DWARF_OP_swap = 0x16,
	DWARF_OP_abs = 0x19,
	DWARF_OP_and = 0x1a,
	DWARF_OP_minus = 0x1c,
	DWARF_OP_mul = 0x1e,
	DWARF_OP_neg = 0x1f,
	DWARF_OP_not = 0x20,
	DWARF_OP_or = 0x21,
	DWARF_OP_plus = 0x22,
	DWARF_OP_plus_uconst = 0x23,
	DWARF_OP_shl = 0x24,
	DWARF_OP_shr = 0x25,
	DWARF_OP_shra = 0x26,
	DWARF_OP_xor = 0x27,
	DWARF_OP_bra = 0x28,
	DWARF_OP_eq = 0x29,
	DWARF_OP_ge = 0x2a,
	DWARF_OP_gt = 0x2b,
	DWARF_OP_le = 0x2c,
	DWARF_OP_lt = 0x2d,
	DWARF_OP_ne = 0x2e,
	DWARF_OP_skip = 0x2f,
	DWARF_OP_lit0 = 0x30,		/* to lit31 */
	DWARF_OP_lit31 = 0x4f,
	DWARF_OP_breg0 = 0x70,		/* to breg31 */
	DWARF_OP_breg31 = 0x8f,
	DWARF_OP_bregx = 0x92,
	DWARF_OP_deref_size = 0x94,
	DWARF_OP_nop = 0x96,
};

/* Encodings of pointers: a format, and what the pointer is relative to. */
enum {
	DWARF_EH_PE_absptr = 0x00,
	DWARF_EH_PE_udata2 = 0x02,
	DWARF_EH_PE_udata4 = 0x03,
	DWARF_EH_PE_udata8 = 0x04,
	DWARF_EH_PE_sdata4 = 0x0b,
	DWARF_EH_PE_size_mask = 0x07,
	DWARF_EH_PE_signed = 0x08,
	DWARF_EH_PE_pcrel = 0x10,
	DWARF_EH_PE_datarel = 0x30,
	DWARF_EH_PE_relation_mask = 0xf0,
	DWARF_EH_PE_omit = 0xff,
};

/* ---- read ---- */

/*
 * Bounded reading of DWARF's little-endian numbers.
 *
 * Sticky: decode straight through and check `failed` once.  The first read
 * beyond the end sets it, and all later reads return zero.  Async-signal-safe.
 *
 * Source: DWARF 5, 7.6.
 */

/* The bytes that remain to be read; they belong to the caller. */
struct dwarf_input {
	const unsigned char *at, *end;
	bool failed;
};

/* The next n bytes; eight zeros if fewer remain. */
static inline const unsigned char *
dwarf_take(struct dwarf_input *in, uint64_t size)
{
	static const unsigned char zeros[8];
	const unsigned char *at = in->at;

	if (in->failed || (uint64_t)(in->end - at) < size) {
		in->failed = true;
		return zeros;
	}
	in->at += size;
	return at;
}

/* A number of 1, 2, 4 or 8 bytes. */
static inline uint64_t
dwarf_take_unsigned(struct dwarf_input *in, size_t size)
{
	const unsigned char *at = dwarf_take(in, size);
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	switch (size) {
	case 1:
		return *at;
	case 2:
		memcpy(&two, at, 2);
		return le16toh(two);
	case 4:
		memcpy(&four, at, 4);
		return le32toh(four);
	}
	memcpy(&eight, at, 8);
	return le64toh(eight);
}

static inline int64_t
dwarf_take_signed(struct dwarf_input *in, size_t size)
{
	const unsigned unused = 64 - 8 * (unsigned)size;

	return (int64_t)(dwarf_take_unsigned(in, size) << unused) >> unused;
}

/*
 * The index of .eh_frame_hdr, sorted by address.  Its rows have the starts of
 * functions, and their FDEs, both relative to the section.
 */
#define CFI_INDEX_HEADER 12	/* bytes before the rows */

struct cfi_index_row {
	int32_t address;
	int32_t fde;
};

/*
 * Finds the n rows of the section that begins at `start`, aligned, of which no
 * byte from `end` on is read.  False: it is of a kind that no linker writes.
 */
static inline bool
cfi_index_open(const unsigned char *start, const unsigned char *end,
    const struct cfi_index_row **rows, size_t *n)
{
	struct dwarf_input in = { .at = start, .end = end };

	if (*dwarf_take(&in, 1) != 1)		/* version */
		return false;
	dwarf_take(&in, 1);		/* encoding of .eh_frame's address */
	if (*dwarf_take(&in, 1) != DWARF_EH_PE_udata4 ||
	    *dwarf_take(&in, 1) != (DWARF_EH_PE_datarel | DWARF_EH_PE_sdata4))
		return false;
	dwarf_take(&in, 4);		/* .eh_frame's address */
	*n = dwarf_take_unsigned(&in, 4);
	*rows = (const struct cfi_index_row *)(const void *)in.at;
	return !in.failed && *n <= (size_t)(end - in.at) / sizeof **rows;
}

/*
 * Reads a LEB128 number of up to 10 bytes, and stores its number of bits in
 * *bits.  Returns its end, or NULL if it does not end.  Not inline, and without
 * the input as an argument, so that callers keep that in registers: nearly all
 * numbers have one byte.
 */
static __attribute__((noinline, unused)) const unsigned char *
dwarf_read_leb128(const unsigned char *at, const unsigned char *end,
    uint64_t *value, unsigned *bits)
{
	*value = 0;
	for (*bits = 0; *bits < 70 && at < end; at++) {
		*value |= (uint64_t)(*at & 0x7f) << *bits;
		*bits += 7;
		if ((*at & 0x80) == 0)
			return at + 1;
	}
	return NULL;
}

static inline uint64_t
dwarf_take_uleb(struct dwarf_input *in)
{
	const unsigned char *end;
	uint64_t value;
	unsigned bits;

	if (in->failed)
		return 0;
	if (in->at < in->end && *in->at < 0x80)
		return *in->at++;
	end = dwarf_read_leb128(in->at, in->end, &value, &bits);
	if (end == NULL) {
		in->failed = true;
		return 0;
	}
	in->at = end;
	return value;
}

static inline int64_t
dwarf_take_sleb(struct dwarf_input *in)
{
	const unsigned char *end;
	uint64_t value;
	unsigned bits;

	if (in->failed)
		return 0;
	end = dwarf_read_leb128(in->at, in->end, &value, &bits);
	if (end == NULL) {
		in->failed = true;
		return 0;
	}
	in->at = end;
	if (bits < 64 && (value >> (bits - 1) & 1) != 0)
		value |= UINT64_MAX << bits;
	return (int64_t)value;
}

/* ---- cfi.c ---- */

/* A section in memory, which belongs to the caller. */
struct cfi_section {
	const struct dwarf_arch *arch;	/* only cfi_find_row needs it */
	const unsigned char *start, *end;
	uint64_t address;	/* of its first byte, where the program runs */
	size_t pointer_size;	/* 4 or 8 bytes */
	bool is_debug_frame;	/* else .eh_frame */
	/*
	 * Change it when the section's bytes may have changed.  A CIE is read
	 * again in a new generation.
	 */
	uint64_t generation;
};

enum cfi_kind {
	CFI_UNSPECIFIED,	/* as the ABI has it */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,		/* saved at CFA + offset */
	CFI_VALUE_OFFSET,	/* is CFA + offset */
	CFI_REGISTER,		/* is in register `offset` */
	CFI_EXPRESSION,		/* saved at the expression's value */
	CFI_VALUE_EXPRESSION	/* is the expression's value */
};

union cfi_operand {
	int64_t offset;
	const unsigned char *expression;	/* its length, ULEB128, first */
};

enum {
	CFI_REGISTERS = DWARF_REGISTERS,
	CFI_CFA = CFI_REGISTERS,	/* the rule of the CFA */
	CFI_REMEMBERED = 16,	/* nesting of DW_CFA_remember_state */
	/* For one row: enough for a function that pushes arguments for some
	 * ten thousand calls. */
	CFI_INSTRUCTIONS_MAX = 1 << 18,
};

/*
 * The CFA's kind is CFI_REGISTER (cfa_register + offset) or
 * CFI_VALUE_EXPRESSION.  A row is usually written to memory that is in no
 * cache, so it is small, and operands are set only if the kind has one.
 */
struct cfi_row {
	uint8_t kinds[CFI_REGISTERS + 1];	/* enum cfi_kind */
	uint8_t cfa_register;
	bool is_signal;		/* handlers return to this code */
	bool leaves_stack;	/* the caller is on another one: false in rows
				   that cfi_find_row finds */
	union cfi_operand operands[CFI_REGISTERS + 1];
};

/* What a CIE says about its FDEs. */
struct cfi_cie {
	const unsigned char *at;	/* where it is; NULL: none was read */
	uint64_t generation;		/* of the section */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding;		/* of addresses, DWARF_EH_PE_* */
	bool has_augmentation;		/* FDEs have a size and that many bytes
					   before their program */
	bool is_signal;
	bool has_initial;		/* `initial` is valid */
	struct dwarf_input program;
	struct cfi_row initial;		/* the row after its program */
};

struct cfi_fde {
	uint64_t start, size;		/* of the code; the end is < 2^64 */
	/* Augmentation and program. */
	const unsigned char *rest, *rest_end;
};

/*
 * Working memory, which is too large for a signal handler's stack; zero before
 * its first use.  It keeps the last CIE, which most FDEs of a module share.
 */
struct cfi_scratch {
	struct cfi_cie cie;
	uint64_t row_start, row_end;	/* addresses for which the row is
					   valid */
	struct cfi_row row;
	struct cfi_row remembered[CFI_REMEMBERED];
};

/*
 * Reads the FDE at `at` in the section, and its CIE unless that is in *cie
 * already.  False if there is none, or if one of them is malformed or not
 * supported.
 */
bool cfi_read_fde(const struct cfi_section *section, const unsigned char *at,
    struct cfi_cie *cie, struct cfi_fde *fde);

/*
 * Finds the next FDE at *next or after it, and sets *next to the entry after
 * it.  At first, *next must be the start of the section.  FDEs that
 * cfi_read_fde refuses are skipped.  Returns the FDE's address; NULL at the
 * end.  O(1) per entry.
 */
const unsigned char *cfi_next_fde(const struct cfi_section *section,
    const unsigned char **next, struct cfi_cie *cie, struct cfi_fde *fde);

enum cfi_result {
	CFI_FOUND,
	CFI_NO_TABLE,	/* nothing covers the address */
	CFI_BAD		/* malformed or not supported */
};

/*
 * Sets scratch->row to the row for an address, and row_start and row_end to the
 * range of addresses that share it.  scratch->cie must be the FDE's.  The
 * address lies inside the instruction (for callers, the return address minus
 * 1).  Time: O(bytes of the program).
 */
enum cfi_result cfi_find_row(const struct cfi_section *section,
    const struct cfi_fde *fde, uint64_t address, struct cfi_scratch *scratch);

/*
 * The expression that is the rule of a register or CFI_CFA.  Returns its bytes,
 * which are in the section, and stores their number in *size.
 */
const unsigned char *cfi_expression(const struct cfi_row *row, unsigned reg,
    size_t *size);

#endif
