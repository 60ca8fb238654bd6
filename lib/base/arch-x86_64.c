/* SPDX-License-Identifier: MIT */
/* arch-x86_64.c -- x86-64: the signal context and compact rules. */
#include "lib/base/arch.h"

#include <string.h>
#include <ucontext.h>

/* DWARF numbering to gregset_t's; psABI figure 3.36. */
static const unsigned char greg_of[ARCH_N_REGISTERS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	REG_RIP
};

void
arch_registers(const void *context, struct cfi_registers *registers)
{
	const ucontext_t *ucontext = context;
	int i;

	for (i = 0; i < ARCH_N_REGISTERS; i++)
		registers->value[i] =
		    (uint64_t)ucontext->uc_mcontext.gregs[greg_of[i]];
	registers->known = (1u << ARCH_N_REGISTERS) - 1;
}

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
arch_compact(const struct cfi_row *row, uint64_t address)
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

uint64_t
arch_call_target(const unsigned char *ra)
{
	int32_t distance;

	if (ra[-5] != 0xe8)
		return 0;
	memcpy(&distance, ra - 4, sizeof distance);
	return (uint64_t)(uintptr_t)ra + (uint64_t)(int64_t)distance;
}

/*
 * add $n, %rsp.  Returns the size of the instruction, or 0; *added becomes n.
 */
static size_t
is_add(const unsigned char *code, size_t size, int32_t *added)
{
	if (size < 4 || code[0] != 0x48 || code[2] != 0xc4)
		return 0;
	*added = (int8_t)code[3];
	if (code[1] == 0x83)
		return 4;
	if (code[1] != 0x81 || size < 7)
		return 0;
	memcpy(added, code + 3, sizeof *added);
	return 7;
}

/* Recognises add $n, %rsp, then pops, then ret. */
bool
arch_is_left(const unsigned char *code, size_t size, uint64_t *cfa,
    int64_t *saved_at)
{
	const unsigned char *end = code + size;

	*cfa = 0;
	*saved_at = -1;
	while (code < end && *code != 0xc3) {
		const bool is_numbered = *code == 0x41;	/* r8 to r15 */
		int32_t added;
		const size_t n = is_add(code, (size_t)(end - code), &added);

		if (n > 0 && added >= 0) {
			*cfa += (uint64_t)added;
			code += n;
			continue;
		}
		code += is_numbered;
		if (code == end || (*code & 0xf8) != 0x58 ||
		    (*code == 0x5c && !is_numbered))	/* pop %rsp */
			return false;
		if (*code == 0x5d && !is_numbered)
			*saved_at = (int64_t)*cfa;
		*cfa += 8;
		code++;
	}
	*cfa += 8;
	return code < end;
}

/* mov $15, %rax, or %eax; syscall */
bool
arch_is_signal_return(const unsigned char *code)
{
	static const unsigned char with_rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0,
		0x0f, 0x05 };
	static const unsigned char with_eax[] = { 0xb8, 15, 0, 0, 0, 0x0f,
		0x05 };

	return memcmp(code, with_rax, sizeof with_rax) == 0 ||
	    memcmp(code, with_eax, sizeof with_eax) == 0;
}

/*
 * The handler's arguments are the number, siginfo_t and ucontext_t; rax is 0.
 */
uint64_t
arch_context_below(const struct cfi_registers *registers)
{
	const uint64_t *value = registers->value;
	const uint64_t context = value[1], number = value[5];

	return context == value[ARCH_STACK] + 8 && number - 1 < 64 &&
	    value[0] == 0 && value[4] > context ? context : 0;
}
