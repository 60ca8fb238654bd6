/* SPDX-License-Identifier: MIT */
/* cfi.c -- interprets an entry up to an address.
 *
 * A frame description entry (FDE) names its common information entry (CIE).
 * Both hold a program for a table that has one row for each instruction at
 * which something changes; it is run until it passes the address.  Every read
 * stays inside the module's mapping, where it is known, and the entry's own
 * length, so that bad tables give CFI_BAD.
 */
#include "lib/cfi.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/input.h"

_Atomic uint64_t cfi_epoch;

/* DW_EH_PE_*: low half the format, high half what it is relative to. */
enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_UDATA2 = 0x02,
	ENCODED_UDATA4 = 0x03,
	ENCODED_UDATA8 = 0x04,
	ENCODED_SDATA2 = 0x0a,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_SDATA8 = 0x0c,
	ENCODED_FORMAT = 0x0f,
	ENCODED_PCREL = 0x10,
	ENCODED_RELATION = 0x70,
	ENCODED_INDIRECT = 0x80
};

/* A number in one of the fixed formats. */
static uint64_t
take_format(struct input *in, uint8_t encoding)
{
	switch (encoding & ENCODED_FORMAT) {
	case ENCODED_ABSOLUTE:
	case ENCODED_UDATA8:
	case ENCODED_SDATA8:
		return take_unsigned(in, 8);
	case ENCODED_UDATA4:
		return take_unsigned(in, 4);
	case ENCODED_SDATA4:
		return (uint64_t)take_signed(in, 4);
	case ENCODED_UDATA2:
		return take_unsigned(in, 2);
	case ENCODED_SDATA2:
		return (uint64_t)take_signed(in, 2);
	}
	in->bad = true;
	return 0;
}

/* An address, absolute or relative to where it stands. */
static uint64_t
take_address(struct input *in, uint8_t encoding)
{
	uint64_t base = (uint64_t)(uintptr_t)in->at;

	if ((encoding & ENCODED_INDIRECT) != 0)
		in->bad = true;
	switch (encoding & ENCODED_RELATION) {
	case 0:
		return take_format(in, encoding);
	case ENCODED_PCREL:
		return base + take_format(in, encoding);
	}
	in->bad = true;
	return 0;
}

/* The body of the entry at `at`, its length taken off. */
static struct input
open_entry(const unsigned char *at, const unsigned char *end)
{
	struct input in = { at, end, false };
	uint64_t length = take_unsigned(&in, 4);

	if (length == 0xffffffff)
		length = take_unsigned(&in, 8);
	if (length == 0 || length > (uint64_t)(in.end - in.at))
		in.bad = true;
	else
		in.end = in.at + length;
	return in;
}

/* What stands behind the letters of a 'z' augmentation. */
static void
parse_augmentation(struct input *in, const char *letters,
    struct cfi_cie *cie)
{
	for (; *letters != '\0' && !in->bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = *take(in, 1);
			break;
		case 'L':
			take(in, 1);
			break;
		case 'P': {
			uint8_t encoding = *take(in, 1);

			take_format(in, encoding);
			break;
		}
		case 'S':
			cie->is_signal = true;
			break;
		case 'B':
			break;
		default:
			return;		/* the length says where it ends */
		}
	}
}

/* Fills in all but the initial row, which is to be had from *program. */
static bool
parse_cie(const unsigned char *at, const unsigned char *end,
    struct cfi_cie *cie, struct input *program)
{
	struct input in = open_entry(at, end), augmentation;
	const char *letters;
	uint64_t size, return_register;
	uint8_t version;

	if (take_unsigned(&in, 4) != 0)
		return false;
	version = *take(&in, 1);
	if (version != 1 && version != 3)
		return false;
	letters = (const char *)in.at;
	while (*take(&in, 1) != 0)
		;
	cie->code_align = take_uleb(&in);
	cie->data_align = take_sleb(&in);
	return_register = version == 1 ? *take(&in, 1) : take_uleb(&in);
	cie->encoding = ENCODED_ABSOLUTE;
	cie->has_augmentation = letters[0] == 'z';
	cie->is_signal = false;
	if (in.bad || (letters[0] != '\0' && letters[0] != 'z'))
		return false;
	if (letters[0] == 'z') {
		size = take_uleb(&in);
		augmentation = in;
		take(&in, size);
		if (in.bad)
			return false;
		augmentation.end = in.at;
		parse_augmentation(&augmentation, letters + 1, cie);
		if (augmentation.bad)
			return false;
	}
	*program = in;
	return !in.bad && return_register == ARCH_RETURN;
}

/* The state of a run through CIE's and FDE's programs. */
struct run {
	struct cfi_scratch *scratch;
	const struct cfi_cie *cie;
	uint64_t row_start;	/* of the present row, */
	uint64_t location;	/* and of the next, once it is told */
	uint64_t address;	/* run until location passes it */
	unsigned n_remembered;
	bool has_initial;
};

static void
set_rule(struct run *run, uint64_t reg, enum cfi_kind kind, int64_t offset)
{
	struct cfi_row *row = &run->scratch->row;

	if (reg >= ARCH_N_REGISTERS)
		return;		/* vector registers and the like */
	row->kinds[reg] = (uint8_t)kind;
	row->operands[reg].offset = offset;
}

static void
set_expression(struct run *run, uint64_t reg, enum cfi_kind kind,
    struct input *in)
{
	struct cfi_row *row = &run->scratch->row;
	const unsigned char *expression = in->at;

	take(in, take_uleb(in));
	if (in->bad || reg > CFI_CFA)
		return;
	row->kinds[reg] = (uint8_t)kind;
	row->operands[reg].expression = expression;
}

static void
set_register_expression(struct run *run, uint64_t reg, enum cfi_kind kind,
    struct input *in)
{
	set_expression(run, reg < ARCH_N_REGISTERS ? reg : UINT64_MAX, kind,
	    in);
}

static void
set_cfa(struct run *run, uint64_t reg, int64_t offset, struct input *in)
{
	struct cfi_row *row = &run->scratch->row;

	if (reg >= ARCH_N_REGISTERS) {
		in->bad = true;
		return;
	}
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = (uint8_t)reg;
	row->operands[CFI_CFA].offset = offset;
}

static void
restore_rule(struct run *run, uint64_t reg)
{
	struct cfi_scratch *scratch = run->scratch;

	if (reg >= ARCH_N_REGISTERS || !run->has_initial)
		return;
	scratch->row.kinds[reg] = scratch->cie.initial.kinds[reg];
	scratch->row.operands[reg] = scratch->cie.initial.operands[reg];
}

static void
remember_state(struct run *run, struct input *in)
{
	if (run->n_remembered == CFI_REMEMBERED)
		in->bad = true;
	else
		run->scratch->remembered[run->n_remembered++] =
		    run->scratch->row;
}

static void
restore_state(struct run *run, struct input *in)
{
	if (run->n_remembered == 0)
		in->bad = true;
	else
		run->scratch->row =
		    run->scratch->remembered[--run->n_remembered];
}

/* Those that move the location; false: it is another. */
static bool
run_advance(struct run *run, struct input *in, uint8_t opcode)
{
	switch (opcode) {
	case 0x01:	/* set_loc */
		run->row_start = run->location;
		run->location = take_address(in, run->cie->encoding);
		return true;
	case 0x02:	/* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		run->row_start = run->location;
		run->location += take_unsigned(in, 1u << (opcode - 2)) *
		    run->cie->code_align;
		return true;
	}
	return false;
}

/* Those that say how the CFA is found. */
static bool
run_cfa(struct run *run, struct input *in, uint8_t opcode)
{
	const int64_t align = run->cie->data_align;
	const struct cfi_row *row = &run->scratch->row;
	uint64_t reg;

	switch (opcode) {
	case 0x0c:	/* def_cfa */
		reg = take_uleb(in);
		set_cfa(run, reg, (int64_t)take_uleb(in), in);
		return true;
	case 0x0d:	/* def_cfa_register */
		set_cfa(run, take_uleb(in), row->operands[CFI_CFA].offset, in);
		return true;
	case 0x0e:	/* def_cfa_offset */
		set_cfa(run, row->cfa_register, (int64_t)take_uleb(in), in);
		return true;
	case 0x0f:	/* def_cfa_expression */
		set_expression(run, CFI_CFA, CFI_VALUE_EXPRESSION, in);
		return true;
	case 0x12:	/* def_cfa_sf */
		reg = take_uleb(in);
		set_cfa(run, reg, take_sleb(in) * align, in);
		return true;
	case 0x13:	/* def_cfa_offset_sf */
		set_cfa(run, row->cfa_register, take_sleb(in) * align, in);
		return true;
	}
	return false;
}

/* Those that say how a register is restored. */
static void
run_register(struct run *run, struct input *in, uint8_t opcode)
{
	const int64_t align = run->cie->data_align;
	const uint64_t reg = take_uleb(in);

	switch (opcode) {
	case 0x05:	/* offset_extended */
		set_rule(run, reg, CFI_OFFSET, (int64_t)take_uleb(in) * align);
		break;
	case 0x06:	/* restore_extended */
		restore_rule(run, reg);
		break;
	case 0x07:	/* undefined */
		set_rule(run, reg, CFI_UNDEFINED, 0);
		break;
	case 0x08:	/* same_value */
		set_rule(run, reg, CFI_SAME, 0);
		break;
	case 0x09:	/* register */
		set_rule(run, reg, CFI_REGISTER, (int64_t)take_uleb(in));
		break;
	case 0x10:	/* expression */
		set_register_expression(run, reg, CFI_EXPRESSION, in);
		break;
	case 0x11:	/* offset_extended_sf */
		set_rule(run, reg, CFI_OFFSET, take_sleb(in) * align);
		break;
	case 0x14:	/* val_offset */
		set_rule(run, reg, CFI_VALUE_OFFSET,
		    (int64_t)take_uleb(in) * align);
		break;
	case 0x15:	/* val_offset_sf */
		set_rule(run, reg, CFI_VALUE_OFFSET, take_sleb(in) * align);
		break;
	case 0x16:	/* val_expression */
		set_register_expression(run, reg, CFI_VALUE_EXPRESSION, in);
		break;
	case 0x2f:	/* GNU_negative_offset_extended */
		set_rule(run, reg, CFI_OFFSET, -(int64_t)take_uleb(in) * align);
		break;
	default:
		in->bad = true;
	}
}

/* DW_CFA_* without an operand in the opcode itself; DWARF 5 table 7.29. */
static void
run_extended(struct run *run, struct input *in, uint8_t opcode)
{
	switch (opcode) {
	case 0x00:	/* nop */
		break;
	case 0x0a:
		remember_state(run, in);
		break;
	case 0x0b:
		restore_state(run, in);
		break;
	case 0x2e:	/* GNU_args_size: the CFA already accounts for it */
		take_uleb(in);
		break;
	default:
		if (!run_advance(run, in, opcode) && !run_cfa(run, in, opcode))
			run_register(run, in, opcode);
	}
}

/* Runs a program until it ends or the location passes the address. */
static bool
run_program(struct run *run, struct input in)
{
	while (!in.bad && in.at < in.end && run->location <= run->address) {
		uint8_t opcode = *take(&in, 1);
		uint8_t low = opcode & 0x3f;

		switch (opcode & 0xc0) {
		case 0x40:	/* advance_loc */
			run->row_start = run->location;
			run->location += low * run->cie->code_align;
			break;
		case 0x80:	/* offset */
			set_rule(run, low, CFI_OFFSET,
			    (int64_t)take_uleb(&in) * run->cie->data_align);
			break;
		case 0xc0:	/* restore */
			restore_rule(run, low);
			break;
		default:
			run_extended(run, &in, opcode);
		}
	}
	return !in.bad;
}

/* Makes the CIE at `at` the scratch's, unless it is already. */
static bool
read_cie(const unsigned char *at, const unsigned char *end,
    struct cfi_scratch *scratch)
{
	const uint64_t now = atomic_load_explicit(&cfi_epoch,
	    memory_order_relaxed);
	struct cfi_cie *cie = &scratch->cie;
	/* Its program does not advance, and restores nothing. */
	struct run run = { .scratch = scratch, .cie = cie };
	struct input program;

	if (cie->at == at && cie->epoch == now)
		return true;
	cie->at = NULL;
	memset(scratch->row.kinds, CFI_UNSPECIFIED, sizeof scratch->row.kinds);
	if (!parse_cie(at, end, cie, &program) || !run_program(&run, program))
		return false;
	scratch->row.is_signal = cie->is_signal;
	cie->initial = scratch->row;
	cie->epoch = now;
	cie->at = at;
	return true;
}

void
cfi_new_epoch(void)
{
	atomic_fetch_add(&cfi_epoch, 1);
}

enum cfi_result
cfi_run(const unsigned char *fde, const unsigned char *start,
    const unsigned char *end, uint64_t address, struct cfi_scratch *scratch)
{
	struct input in = open_entry(fde, end);
	const unsigned char *cie_at = in.at;
	const struct cfi_cie *cie = &scratch->cie;
	uint64_t cie_offset = take_unsigned(&in, 4), begin, size;
	struct run run = { .scratch = scratch, .cie = cie,
	    .address = address, .has_initial = true };

	if (in.bad || cie_offset == 0 ||
	    cie_offset > (uint64_t)(cie_at - start) ||
	    !read_cie(cie_at - cie_offset, end, scratch))
		return CFI_BAD;
	begin = take_address(&in, cie->encoding);
	size = take_format(&in, cie->encoding);
	if (in.bad)
		return CFI_BAD;
	if (address < begin || address - begin >= size)
		return CFI_NO_TABLE;
	if (cie->has_augmentation)
		take(&in, take_uleb(&in));
	scratch->row = cie->initial;
	run.location = begin;
	if (!run_program(&run, in) ||
	    scratch->row.kinds[CFI_CFA] == CFI_UNSPECIFIED)
		return CFI_BAD;
	if (run.location > address) {
		scratch->row_start = run.row_start;
		scratch->row_end = run.location;
	} else {
		scratch->row_start = run.location;
		scratch->row_end = begin + size;
	}
	return CFI_FOUND;
}

const unsigned char *
cfi_expression(const struct cfi_row *row, unsigned reg, size_t *size)
{
	const unsigned char *at = row->operands[reg].expression;
	/* It was read when the row was made: it is whole. */
	struct input in = { at, at + 10, false };

	*size = take_uleb(&in);
	return in.at;
}
