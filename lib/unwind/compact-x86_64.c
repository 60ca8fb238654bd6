/* SPDX-License-Identifier: MIT */
/* compact-x86_64.c -- x86-64: compact rules from rows of an unwind table. */
#include "lib/unwind/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "dwarf/cfi.h"
#include "lib/base/arch.h"

/*
 * The expression in a procedure linkage table: rsp + 8, plus 8 more after the
 * instruction by which an entry pushes its index.  It depends only on rsp and
 * the address, so at a given address it is rsp + constant.
 *
 *	breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus
 */
static bool
is_plt_expression(const unsigned char *e, size_t size, uint64_t address,
    int64_t *offset)
{
	static const unsigned char head[] = { DWARF_OP_breg0 + X86_64_RSP, 8,
		DWARF_OP_breg0 + X86_64_RIP, 0, DWARF_OP_lit0 + 15,
		DWARF_OP_and };
	static const unsigned char tail[] = { DWARF_OP_ge, DWARF_OP_lit0 + 3,
		DWARF_OP_shl, DWARF_OP_plus };

	if (size != sizeof head + 1 + sizeof tail ||
	    memcmp(e, head, sizeof head) != 0 ||
	    memcmp(e + sizeof head + 1, tail, sizeof tail) != 0 ||
	    e[sizeof head] < DWARF_OP_lit0 ||
	    e[sizeof head] > DWARF_OP_lit0 + 15)
		return false;
	*offset = 8 + 8 * ((address & 15) >=
	    (uint64_t)(e[sizeof head] - DWARF_OP_lit0));
	return true;
}

/*
 * bregN offset; deref, with an offset of one byte: used for realigned stacks.
 */
static bool
is_load_expression(const unsigned char *e, size_t size, unsigned reg,
    int64_t *offset)
{
	if (size != 3 || e[0] != DWARF_OP_breg0 + reg ||
	    (e[1] & 0x80) != 0 || e[2] != DWARF_OP_deref)
		return false;
	*offset = (e[1] & 0x40) != 0 ? (int64_t)e[1] - 0x80 : e[1];
	return true;
}

static enum compact_kind
compact_cfa(const struct cfi_row *row, uint64_t address, int64_t *offset)
{
	const unsigned char *e;
	size_t size;

	if (row->kinds[CFI_CFA] == CFI_REGISTER) {
		*offset = row->operands[CFI_CFA].offset;
		if (row->cfa_register == ARCH_STACK)
			return COMPACT_STACK;
		if (row->cfa_register == ARCH_FRAME)
			return COMPACT_FRAME;
		return COMPACT_GENERIC;
	}
	e = cfi_expression(row, CFI_CFA, &size);
	if (is_plt_expression(e, size, address, offset))
		return COMPACT_STACK;
	if (is_load_expression(e, size, ARCH_STACK, offset))
		return COMPACT_STACK_LOAD;
	if (is_load_expression(e, size, ARCH_FRAME, offset))
		return COMPACT_FRAME_LOAD;
	return COMPACT_GENERIC;
}

struct compact_rule
compact_row(const struct cfi_row *row, uint64_t address)
{
	const unsigned saved = row->kinds[ARCH_FRAME];
	const unsigned returns = row->kinds[ARCH_RETURN];
	struct compact_rule rule = { .kind = COMPACT_GENERIC };
	struct compact_rule generic = rule;
	int64_t offset = 0;

	if (row->is_signal) {
		rule.kind = COMPACT_SIGNAL;
		return rule;
	}
	if (returns == CFI_UNDEFINED) {
		rule.kind = COMPACT_END;
		return rule;
	}
	if (returns != CFI_OFFSET || row->operands[ARCH_RETURN].offset != -8 ||
	    row->kinds[ARCH_STACK] != CFI_UNSPECIFIED)
		return generic;
	rule.kind = compact_cfa(row, address, &offset);
	rule.cfa_offset = offset;
	if (rule.cfa_offset != offset)
		return generic;
	if (saved == CFI_OFFSET) {
		offset = row->operands[ARCH_FRAME].offset;
		rule.saves_frame = 1;
		rule.frame_offset = offset;
		if (rule.frame_offset != offset)
			return generic;
	} else if (saved != CFI_UNSPECIFIED && saved != CFI_SAME) {
		return generic;
	}
	return rule;
}
