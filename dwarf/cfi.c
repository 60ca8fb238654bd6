/* SPDX-License-Identifier: MIT */
/* cfi.c -- reads entries, and runs their programs up to an address. */
#include "dwarf/cfi.h"

#include <string.h>

enum { AUGMENTATION_MAX = 8 };	/* letters; compilers write up to 5 */

/* ---- entries ---- */

/* An entry, without its length and identification. */
struct cfi_entry {
	struct dwarf_input in;
	bool is_cie;
	const unsigned char *cie;	/* of an FDE; NULL: not in the section */
};

/* False if there is no complete entry. */
static bool
open_entry(const struct cfi_section *section, const unsigned char *at,
    struct cfi_entry *entry)
{
	struct dwarf_input *in = &entry->in;
	size_t id_size = 4;
	const unsigned char *id_at;
	uint64_t length, id;

	*in = (struct dwarf_input){ .at = at, .end = section->end };
	length = dwarf_take_unsigned(in, 4);
	if (length == UINT32_MAX) {
		length = dwarf_take_unsigned(in, 8);
		id_size = section->is_debug_frame ? 8 : 4;
	}
	if (in->failed || length > (uint64_t)(in->end - in->at))
		return false;
	in->end = in->at + length;
	entry->cie = NULL;
	/*
	 * An empty entry ends a list, and linkers may leave one in the middle.
	 * It has no identification, so it is refused as an FDE, too.
	 */
	id_at = in->at;
	id = dwarf_take_unsigned(in, id_size);
	if (section->is_debug_frame) {
		entry->is_cie = id == UINT64_MAX >> (64 - 8 * id_size);
		if (id <= (uint64_t)(section->end - section->start))
			entry->cie = section->start + id;
	} else {
		entry->is_cie = id == 0;
		if (id <= (uint64_t)(id_at - section->start))
			entry->cie = id_at - id;
	}
	return true;
}

/* The size of an encoded pointer in bytes; 0: none, variable, or unknown. */
static size_t
encoded_size(const struct cfi_section *section, unsigned encoding)
{
	switch (encoding & DWARF_EH_PE_size_mask) {
	case DWARF_EH_PE_absptr:
		return section->pointer_size;
	case DWARF_EH_PE_udata2:
		return 2;
	case DWARF_EH_PE_udata4:
		return 4;
	case DWARF_EH_PE_udata8:
		return 8;
	}
	return 0;
}

/* Reads an address, which is absolute or relative to its own place. */
static uint64_t
cfi_take_address(const struct cfi_section *section, struct dwarf_input *in,
    unsigned encoding)
{
	const size_t size = encoded_size(section, encoding);
	uint64_t base = 0, address;

	if ((encoding & DWARF_EH_PE_relation_mask) == DWARF_EH_PE_pcrel)
		base = section->address + (uint64_t)(in->at - section->start);
	else if ((encoding & DWARF_EH_PE_relation_mask) != 0)
		in->failed = true;
	if (size == 0) {
		in->failed = true;
		return 0;
	}
	address = base + ((encoding & DWARF_EH_PE_signed) != 0 ?
	    (uint64_t)dwarf_take_signed(in, size) :
	    dwarf_take_unsigned(in, size));
	return section->pointer_size == 4 ? address & UINT32_MAX : address;
}

/* Reads the data announced by a CIE's augmentation letters after the 'z'. */
static bool
read_augmentation(const struct cfi_section *section, struct dwarf_input *in,
    const unsigned char *letters, struct cfi_cie *cie)
{
	bool has_encoding = false;

	for (; *letters != '\0'; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = *dwarf_take(in, 1);
			has_encoding = true;
			break;
		case 'L':	/* encoding of pointers to exception tables */
			dwarf_take(in, 1);
			break;
		case 'P':	/* the personality routine */
			dwarf_take(in, encoded_size(section,
			    *dwarf_take(in, 1)));
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B':	/* AArch64's pointers are signed */
			break;
		default:	/* the size says where it ends */
			return has_encoding && !in->failed;
		}
	}
	return !in->failed;
}

/*
 * Reads the CIE at `at` into *cie.  False if there is none; then *cie is empty.
 */
static bool
read_cie(const struct cfi_section *section, const unsigned char *at,
    struct cfi_cie *cie)
{
	struct dwarf_input augmentation, *in;
	const unsigned char *letters;
	struct cfi_entry entry;
	unsigned version, n_letters = 0;

	if (cie->at != NULL && cie->at == at &&
	    cie->generation == section->generation)
		return true;
	cie->at = NULL;
	if (at == NULL || !open_entry(section, at, &entry) || !entry.is_cie)
		return false;
	in = &entry.in;
	version = *dwarf_take(in, 1);
	if (version != 1 && version != 3 &&
	    !(version == 4 && section->is_debug_frame))
		return false;
	letters = in->at;
	while (*dwarf_take(in, 1) != '\0')
		if (++n_letters > AUGMENTATION_MAX)
			return false;
	if (version == 4 && (*dwarf_take(in, 1) != section->pointer_size ||
	    *dwarf_take(in, 1) != 0))
		return false;		/* other address sizes, or segments */
	cie->code_align = dwarf_take_uleb(in);
	cie->data_align = dwarf_take_sleb(in);
	cie->return_register = version == 1 ? *dwarf_take(in, 1) :
	    dwarf_take_uleb(in);
	cie->encoding = DWARF_EH_PE_absptr;
	cie->has_augmentation = cie->is_signal = cie->has_initial = false;
	if (in->failed)
		return false;
	if (*letters == 'z') {
		const uint64_t size = dwarf_take_uleb(in);

		cie->has_augmentation = true;
		augmentation = *in;
		dwarf_take(in, size);
		augmentation.end = in->at;
		if (in->failed || !read_augmentation(section, &augmentation,
		    letters + 1, cie))
			return false;
	} else if (*letters != '\0') {
		return false;
	}
	cie->program = *in;
	cie->generation = section->generation;
	cie->at = at;
	return true;
}

static bool
read_fde(const struct cfi_section *section, struct cfi_entry *entry,
    struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct dwarf_input *in = &entry->in;

	if (entry->is_cie || !read_cie(section, entry->cie, cie))
		return false;
	fde->start = cfi_take_address(section, in, cie->encoding);
	fde->size = dwarf_take_unsigned(in,
	    encoded_size(section, cie->encoding));
	fde->rest = in->at;
	fde->rest_end = in->end;
	return !in->failed && fde->size <= UINT64_MAX - fde->start;
}

bool
cfi_read_fde(const struct cfi_section *section, const unsigned char *at,
    struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cfi_entry entry;

	return open_entry(section, at, &entry) &&
	    read_fde(section, &entry, cie, fde);
}

const unsigned char *
cfi_next_fde(const struct cfi_section *section, const unsigned char **next,
    struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cfi_entry entry;

	while (open_entry(section, *next, &entry)) {
		const unsigned char *at = *next;

		*next = entry.in.end;
		if (read_fde(section, &entry, cie, fde))
			return at;
	}
	return NULL;
}

/* ---- rows ---- */

/* One run of the program of a CIE or an FDE. */
struct cfi_run {
	const struct cfi_section *section;
	struct cfi_scratch *scratch;
	uint64_t row_start;	/* of the present row, and of the next, */
	uint64_t location;	/* once an instruction has set it */
	uint64_t address;	/* run until location is beyond it */
};

static inline bool
is_tracked(const struct cfi_run *run, uint64_t reg)
{
	return reg < run->section->arch->n_registers;
}

static inline void
set_rule(const struct cfi_run *run, uint64_t reg, enum cfi_kind kind,
    int64_t offset)
{
	struct cfi_row *row = &run->scratch->row;

	if (!is_tracked(run, reg))
		return;		/* such as vector registers */
	row->kinds[reg] = (uint8_t)kind;
	row->operands[reg].offset = offset;
}

/* Takes an expression, as the rule of a register or CFI_CFA. */
static void
set_expression(const struct cfi_run *run, uint64_t reg, enum cfi_kind kind,
    struct dwarf_input *in)
{
	struct cfi_row *row = &run->scratch->row;
	const unsigned char *expression = in->at;

	dwarf_take(in, dwarf_take_uleb(in));
	if (in->failed || (reg != CFI_CFA && !is_tracked(run, reg)))
		return;
	row->kinds[reg] = (uint8_t)kind;
	row->operands[reg].expression = expression;
}

static inline void
set_cfa(const struct cfi_run *run, uint64_t reg, int64_t offset,
    struct dwarf_input *in)
{
	struct cfi_row *row = &run->scratch->row;

	if (!is_tracked(run, reg)) {
		in->failed = true;
		return;
	}
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = (uint8_t)reg;
	row->operands[CFI_CFA].offset = offset;
}

/* Only one of the two changes, so the CFA must be of this kind already. */
static inline void
change_cfa(const struct cfi_run *run, uint64_t reg, int64_t offset,
    struct dwarf_input *in)
{
	if (run->scratch->row.kinds[CFI_CFA] != CFI_REGISTER)
		in->failed = true;
	set_cfa(run, reg, offset, in);
}

static inline void
restore_rule(const struct cfi_run *run, uint64_t reg)
{
	const struct cfi_cie *cie = &run->scratch->cie;
	struct cfi_row *row = &run->scratch->row;

	if (!is_tracked(run, reg) || !cie->has_initial)
		return;
	row->kinds[reg] = cie->initial.kinds[reg];
	row->operands[reg] = cie->initial.operands[reg];
}

/* Offsets are in units of the CIE's data alignment; the product may wrap. */
static inline int64_t
factored(uint64_t n, const struct cfi_cie *cie)
{
	return (int64_t)(n * (uint64_t)cie->data_align);
}

/*
 * Runs a program until it ends or the location is beyond the address.  False if
 * the program is malformed or too long.
 */
static bool
cfi_run_program(struct cfi_run *run, struct dwarf_input in)
{
	struct cfi_scratch *scratch = run->scratch;
	const struct cfi_cie *cie = &scratch->cie;
	struct cfi_row *row = &scratch->row;
	const uint8_t *cfa_register = &row->cfa_register;
	const int64_t *cfa_offset = &row->operands[CFI_CFA].offset;
	unsigned n_remembered = 0, n_left = CFI_INSTRUCTIONS_MAX;
	uint64_t reg, n;

	while (!in.failed && in.at < in.end && run->location <= run->address) {
		const uint8_t opcode = *dwarf_take(&in, 1);
		const uint8_t operand = opcode & DWARF_CFA_operand_mask;

		if (n_left-- == 0)
			return false;
		switch (opcode - operand) {
		case DWARF_CFA_advance_loc:
			run->row_start = run->location;
			run->location += operand * cie->code_align;
			continue;
		case DWARF_CFA_offset:
			n = dwarf_take_uleb(&in);
			set_rule(run, operand, CFI_OFFSET, factored(n, cie));
			continue;
		case DWARF_CFA_restore:
			restore_rule(run, operand);
			continue;
		}
		switch (opcode) {
		case DWARF_CFA_nop:
			break;
		case DWARF_CFA_GNU_args_size:	/* in the CFA already */
			dwarf_take_uleb(&in);
			break;
		/* Every return address is masked, so this need not be known. */
		case DWARF_CFA_AARCH64_negate_ra_state:
		case DWARF_CFA_AARCH64_negate_ra_state_with_pc:
			if (run->section->arch->address_mask == UINT64_MAX)
				return false;
			break;
		case DWARF_CFA_remember_state:
			if (n_remembered == CFI_REMEMBERED)
				return false;
			scratch->remembered[n_remembered++] = *row;
			break;
		case DWARF_CFA_restore_state:
			if (n_remembered == 0)
				return false;
			*row = scratch->remembered[--n_remembered];
			break;

		/* The location. */
		case DWARF_CFA_set_loc:
			run->row_start = run->location;
			run->location = cfi_take_address(run->section, &in,
			    cie->encoding);
			break;
		case DWARF_CFA_advance_loc1:
		case DWARF_CFA_advance_loc2:
		case DWARF_CFA_advance_loc4:
			n = dwarf_take_unsigned(&in,
			    (size_t)1 << (opcode - DWARF_CFA_advance_loc1));
			run->row_start = run->location;
			run->location += n * cie->code_align;
			break;

		/* The CFA. */
		case DWARF_CFA_def_cfa:
			reg = dwarf_take_uleb(&in);
			n = dwarf_take_uleb(&in);
			set_cfa(run, reg, (int64_t)n, &in);
			break;
		case DWARF_CFA_def_cfa_sf:
			reg = dwarf_take_uleb(&in);
			n = (uint64_t)dwarf_take_sleb(&in);
			set_cfa(run, reg, factored(n, cie), &in);
			break;
		case DWARF_CFA_def_cfa_register:
			reg = dwarf_take_uleb(&in);
			change_cfa(run, reg, *cfa_offset, &in);
			break;
		case DWARF_CFA_def_cfa_offset:
			n = dwarf_take_uleb(&in);
			change_cfa(run, *cfa_register, (int64_t)n, &in);
			break;
		case DWARF_CFA_def_cfa_offset_sf:
			n = (uint64_t)dwarf_take_sleb(&in);
			change_cfa(run, *cfa_register, factored(n, cie), &in);
			break;
		case DWARF_CFA_def_cfa_expression:
			set_expression(run, CFI_CFA, CFI_VALUE_EXPRESSION,
			    &in);
			break;

		/* A register. */
		case DWARF_CFA_undefined:
			set_rule(run, dwarf_take_uleb(&in), CFI_UNDEFINED, 0);
			break;
		case DWARF_CFA_same_value:
			set_rule(run, dwarf_take_uleb(&in), CFI_SAME, 0);
			break;
		case DWARF_CFA_restore_extended:
			restore_rule(run, dwarf_take_uleb(&in));
			break;
		case DWARF_CFA_register:
			reg = dwarf_take_uleb(&in);
			n = dwarf_take_uleb(&in);
			set_rule(run, reg, CFI_REGISTER, (int64_t)n);
			break;
		case DWARF_CFA_offset_extended:
			reg = dwarf_take_uleb(&in);
			n = dwarf_take_uleb(&in);
			set_rule(run, reg, CFI_OFFSET, factored(n, cie));
			break;
		case DWARF_CFA_offset_extended_sf:
			reg = dwarf_take_uleb(&in);
			n = (uint64_t)dwarf_take_sleb(&in);
			set_rule(run, reg, CFI_OFFSET, factored(n, cie));
			break;
		case DWARF_CFA_GNU_negative_offset_extended:
			reg = dwarf_take_uleb(&in);
			n = dwarf_take_uleb(&in);
			set_rule(run, reg, CFI_OFFSET, factored(-n, cie));
			break;
		case DWARF_CFA_val_offset:
			reg = dwarf_take_uleb(&in);
			n = dwarf_take_uleb(&in);
			set_rule(run, reg, CFI_VALUE_OFFSET, factored(n, cie));
			break;
		case DWARF_CFA_val_offset_sf:
			reg = dwarf_take_uleb(&in);
			n = (uint64_t)dwarf_take_sleb(&in);
			set_rule(run, reg, CFI_VALUE_OFFSET, factored(n, cie));
			break;
		case DWARF_CFA_expression:
		case DWARF_CFA_val_expression:
			reg = dwarf_take_uleb(&in);
			set_expression(run, reg != CFI_CFA ? reg : UINT64_MAX,
			    opcode == DWARF_CFA_expression ?
			    CFI_EXPRESSION : CFI_VALUE_EXPRESSION, &in);
			break;
		default:
			return false;
		}
	}
	return !in.failed;
}

enum cfi_result
cfi_find_row(const struct cfi_section *section, const struct cfi_fde *fde,
    uint64_t address, struct cfi_scratch *scratch)
{
	struct cfi_run run = { .section = section, .scratch = scratch,
	    .location = fde->start, .address = address };
	/* A CIE's program does not advance and restores nothing. */
	struct cfi_run initial = { .section = section, .scratch = scratch };
	struct dwarf_input in = { .at = fde->rest, .end = fde->rest_end };
	struct cfi_cie *cie = &scratch->cie;

	if (address - fde->start >= fde->size)
		return CFI_NO_TABLE;
	if (!cie->has_initial) {
		memset(scratch->row.kinds, CFI_UNSPECIFIED,
		    sizeof scratch->row.kinds);
		scratch->row.is_signal = cie->is_signal;
		if (cie->return_register != section->arch->return_address ||
		    !cfi_run_program(&initial, cie->program))
			return CFI_BAD;
		cie->initial = scratch->row;
		cie->has_initial = true;
	}
	if (cie->has_augmentation)
		dwarf_take(&in, dwarf_take_uleb(&in));
	scratch->row = cie->initial;
	if (!cfi_run_program(&run, in) ||
	    scratch->row.kinds[CFI_CFA] == CFI_UNSPECIFIED)
		return CFI_BAD;
	if (run.location > address) {
		scratch->row_start = run.row_start;
		scratch->row_end = run.location;
	} else {
		scratch->row_start = run.location;
		scratch->row_end = fde->start + fde->size;
	}
	return CFI_FOUND;
}

const unsigned char *
cfi_expression(const struct cfi_row *row, unsigned reg, size_t *size)
{
	const unsigned char *at = row->operands[reg].expression;
	/* Making the row has checked its length. */
	struct dwarf_input in = { .at = at, .end = at + 10 };

	*size = (size_t)dwarf_take_uleb(&in);
	return in.at;
}
