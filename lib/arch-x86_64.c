/* SPDX-License-Identifier: MIT */
/* arch-x86_64.c -- x86-64: the signal context and compact rules. */
#include "lib/arch.h"

#include <string.h>
#include <ucontext.h>

#include "lib/cfi.h"

/* DWARF numbering to gregset_t's; psABI figure 3.36. */
static const unsigned char greg_of[ARCH_N_REGISTERS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	REG_RIP
};

void
arch_registers(const void *context, struct registers *registers)
{
	const ucontext_t *ucontext = context;
	int i;

	for (i = 0; i < ARCH_N_REGISTERS; i++)
		registers->value[i] =
		    (uint64_t)ucontext->uc_mcontext.gregs[greg_of[i]];
	registers->known = (1u << ARCH_N_REGISTERS) - 1;
}

/*
 * The expression of the procedure linkage table: rsp + 8, and 8 more from the
 * instruction at which an entry has pushed its index.  It depends on nothing
 * but rsp and the address, so at one address it is rsp + constant.
 *   breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus
 */
static bool
is_plt_expression(const struct cfi_rule *cfa, uint64_t address,
    int64_t *offset)
{
	static const unsigned char head[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a };
	static const unsigned char tail[] = { 0x2a, 0x33, 0x24, 0x22 };
	const unsigned char *e = cfa->expression;

	if (cfa->expression_size != sizeof head + 1 + sizeof tail ||
	    memcmp(e, head, sizeof head) != 0 ||
	    memcmp(e + sizeof head + 1, tail, sizeof tail) != 0 ||
	    e[sizeof head] < 0x30 || e[sizeof head] > 0x3f)
		return false;
	*offset = 8 + 8 * ((address & 15) >= (uint64_t)(e[sizeof head] - 0x30));
	return true;
}

/* bregN offset; deref, with an offset of one byte: realigned stacks. */
static bool
is_load_expression(const struct cfi_rule *cfa, unsigned reg, int64_t *offset)
{
	const unsigned char *e = cfa->expression;

	if (cfa->expression_size != 3 || e[0] != 0x70 + reg ||
	    (e[1] & 0x80) != 0 || e[2] != 0x06)
		return false;
	*offset = (e[1] & 0x40) != 0 ? (int64_t)e[1] - 0x80 : e[1];
	return true;
}

static enum compact_kind
compact_cfa(const struct cfi_rule *cfa, uint64_t address, int64_t *offset)
{
	if (cfa->kind == CFI_REGISTER) {
		*offset = cfa->offset;
		if (cfa->reg == ARCH_STACK)
			return COMPACT_STACK;
		if (cfa->reg == ARCH_FRAME)
			return COMPACT_FRAME;
		return COMPACT_GENERIC;
	}
	if (is_plt_expression(cfa, address, offset))
		return COMPACT_STACK;
	if (is_load_expression(cfa, ARCH_STACK, offset))
		return COMPACT_STACK_LOAD;
	if (is_load_expression(cfa, ARCH_FRAME, offset))
		return COMPACT_FRAME_LOAD;
	return COMPACT_GENERIC;
}

struct compact_rule
arch_compact(const struct cfi_row *row, uint64_t address)
{
	const struct cfi_rule *frame = &row->rules[ARCH_FRAME];
	const struct cfi_rule *ret = &row->rules[ARCH_RETURN];
	struct compact_rule rule = { .kind = COMPACT_GENERIC };
	struct compact_rule generic = rule;
	int64_t offset = 0;

	if (row->is_signal) {
		rule.kind = COMPACT_SIGNAL;
		return rule;
	}
	if (ret->kind == CFI_UNDEFINED) {
		rule.kind = COMPACT_END;
		return rule;
	}
	if (ret->kind != CFI_OFFSET || ret->offset != -8 ||
	    row->rules[ARCH_STACK].kind != CFI_UNSPECIFIED)
		return generic;
	rule.kind = compact_cfa(&row->cfa, address, &offset);
	rule.cfa_offset = offset;
	if (rule.cfa_offset != offset)
		return generic;
	if (frame->kind == CFI_OFFSET) {
		rule.saves_frame = 1;
		rule.frame_offset = frame->offset;
		if (rule.frame_offset != frame->offset)
			return generic;
	} else if (frame->kind != CFI_UNSPECIFIED && frame->kind != CFI_SAME) {
		return generic;
	}
	return rule;
}

bool
arch_follows_call(const unsigned char *ra)
{
	/* call rel32 */
	if (ra[-5] == 0xe8)
		return true;
	/* call r/m: ff /2 with a register, memory, SIB or displacement */
	return (ra[-2] == 0xff && (ra[-1] & 0x38) == 0x10) ||
	    (ra[-3] == 0xff && (ra[-2] & 0x38) == 0x10) ||
	    (ra[-4] == 0xff && (ra[-3] & 0x38) == 0x10) ||
	    (ra[-6] == 0xff && (ra[-5] & 0x38) == 0x10) ||
	    (ra[-7] == 0xff && (ra[-6] & 0x38) == 0x10);
}
