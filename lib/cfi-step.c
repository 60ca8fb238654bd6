/* SPDX-License-Identifier: MIT */
/* cfi-step.c -- leaves a frame by a whole row, with all registers.
 *
 * For rows that have no compact form: signal frames, realigned stacks, code
 * that keeps what it needs in other registers.  Expressions are evaluated on
 * a stack of bounded depth in a bounded number of steps.  Source: DWARF 5,
 * sections 2.5.1 and 6.4.
 */
#include "lib/cfi.h"

#include <string.h>

#include "lib/input.h"

/* The evaluation of an expression: a stack machine. */
struct machine {
	uint64_t *stack;
	unsigned depth;
	struct readable *readable;
	const struct registers *registers;
	bool bad;
};

static uint64_t
pop(struct machine *m)
{
	if (m->depth == 0) {
		m->bad = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static void
push(struct machine *m, uint64_t value)
{
	if (m->depth == sizeof ((struct cfi_scratch *)0)->stack / 8)
		m->bad = true;
	else
		m->stack[m->depth++] = value;
}

static void
push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= ARCH_N_REGISTERS || !(m->registers->known >> reg & 1))
		m->bad = true;
	else
		push(m, m->registers->value[reg] + (uint64_t)offset);
}

static void
push_pick(struct machine *m, unsigned index)
{
	if (index >= m->depth)
		m->bad = true;
	else
		push(m, m->stack[m->depth - 1 - index]);
}

static void
push_memory(struct machine *m, uint64_t address, size_t size)
{
	uint64_t word = 0;

	if (size > 8 || !readable_range(m->readable, address, size)) {
		m->bad = true;
		return;
	}
	memcpy(&word, (const void *)(uintptr_t)address, size);
	push(m, word);
}

/* DW_OP_* on the two topmost values; DWARF 5 section 2.5.1.4. */
static void
apply_binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);

	switch (op) {
	case 0x1a: push(m, a & b); break;
	case 0x1c: push(m, a - b); break;
	case 0x1e: push(m, a * b); break;
	case 0x21: push(m, a | b); break;
	case 0x22: push(m, a + b); break;
	case 0x24: push(m, b < 64 ? a << b : 0); break;
	case 0x25: push(m, b < 64 ? a >> b : 0); break;
	case 0x26: push(m, (uint64_t)((int64_t)a >> (b < 64 ? b : 63))); break;
	case 0x27: push(m, a ^ b); break;
	case 0x29: push(m, a == b); break;
	case 0x2a: push(m, (int64_t)a >= (int64_t)b); break;
	case 0x2b: push(m, (int64_t)a > (int64_t)b); break;
	case 0x2c: push(m, (int64_t)a <= (int64_t)b); break;
	case 0x2d: push(m, (int64_t)a < (int64_t)b); break;
	case 0x2e: push(m, a != b); break;
	default: m->bad = true;
	}
}

static void
push_constant(struct machine *m, struct input *in, uint8_t op)
{
	switch (op) {
	case 0x03: push(m, take_unsigned(in, 8)); break;	/* addr */
	case 0x08: push(m, take_unsigned(in, 1)); break;	/* const1u */
	case 0x09: push(m, (uint64_t)take_signed(in, 1)); break;
	case 0x0a: push(m, take_unsigned(in, 2)); break;
	case 0x0b: push(m, (uint64_t)take_signed(in, 2)); break;
	case 0x0c: push(m, take_unsigned(in, 4)); break;
	case 0x0d: push(m, (uint64_t)take_signed(in, 4)); break;
	case 0x0e:
	case 0x0f: push(m, take_unsigned(in, 8)); break;
	case 0x10: push(m, take_uleb(in)); break;
	case 0x11: push(m, (uint64_t)take_sleb(in)); break;
	default: m->bad = true;
	}
}

/* Moves within the expression: skip, and bra if the top is not zero. */
static void
branch(struct machine *m, struct input *in, const unsigned char *start,
    uint8_t op)
{
	int64_t distance = take_signed(in, 2);

	if (op == 0x28 && pop(m) == 0)
		return;
	if (distance < start - in->at || distance > in->end - in->at)
		m->bad = true;
	else
		in->at += distance;
}

static void
apply(struct machine *m, struct input *in, const unsigned char *start,
    uint8_t op)
{
	uint64_t a, b, reg;

	if (op >= 0x30 && op <= 0x4f) {			/* litN */
		push(m, op - 0x30u);
	} else if (op >= 0x70 && op <= 0x8f) {		/* bregN */
		push_register(m, op - 0x70u, take_sleb(in));
	} else if ((op >= 0x08 && op <= 0x11) || op == 0x03) {
		push_constant(m, in, op);
	} else switch (op) {
	case 0x06: push_memory(m, pop(m), 8); break;	/* deref */
	case 0x94: push_memory(m, pop(m), *take(in, 1)); break;
	case 0x12: push_pick(m, 0); break;		/* dup */
	case 0x13: pop(m); break;			/* drop */
	case 0x14: push_pick(m, 1); break;		/* over */
	case 0x15: push_pick(m, *take(in, 1)); break;
	case 0x16:					/* swap */
		b = pop(m);
		a = pop(m);
		push(m, b);
		push(m, a);
		break;
	case 0x19:					/* abs */
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		break;
	case 0x1f: push(m, -pop(m)); break;		/* neg */
	case 0x20: push(m, ~pop(m)); break;		/* not */
	case 0x23:					/* plus_uconst */
		a = pop(m);
		push(m, a + take_uleb(in));
		break;
	case 0x28:
	case 0x2f: branch(m, in, start, op); break;
	case 0x92:					/* bregx */
		reg = take_uleb(in);
		push_register(m, reg, take_sleb(in));
		break;
	case 0x96: break;				/* nop */
	default: apply_binary(m, op);
	}
}

/*
 * Evaluates a register's expression; `initial`, if not NULL, is on the stack
 * first (the CFA).
 */
static bool
evaluate(struct machine *m, const struct cfi_row *row, unsigned reg,
    const uint64_t *initial, uint64_t *value)
{
	size_t size;
	const unsigned char *expression = cfi_expression(row, reg, &size);
	struct input in = { expression, expression + size, false };
	unsigned steps = 0;

	m->depth = 0;
	m->bad = false;
	if (initial != NULL)
		push(m, *initial);
	while (in.at < in.end && !in.bad && !m->bad && steps++ < 1000)
		apply(m, &in, expression, *take(&in, 1));
	if (in.at < in.end || in.bad)
		return false;
	*value = pop(m);
	return !m->bad;
}

/* The caller's value of one register that has a rule. */
static bool
restore_register(struct machine *m, const struct cfi_row *row, unsigned reg,
    uint64_t cfa, uint64_t *value)
{
	const int64_t offset = row->operands[reg].offset;

	switch (row->kinds[reg]) {
	case CFI_OFFSET:
		return readable_word(m->readable,
		    cfa + (uint64_t)offset, value);
	case CFI_VALUE_OFFSET:
		*value = cfa + (uint64_t)offset;
		return true;
	case CFI_REGISTER:
		if (offset < 0 || offset >= ARCH_N_REGISTERS ||
		    !(m->registers->known >> offset & 1))
			return false;
		*value = m->registers->value[offset];
		return true;
	case CFI_EXPRESSION:
		return evaluate(m, row, reg, &cfa, value) &&
		    readable_word(m->readable, *value, value);
	case CFI_VALUE_EXPRESSION:
		return evaluate(m, row, reg, &cfa, value);
	}
	return false;
}

static bool
find_cfa(struct machine *m, const struct cfi_row *row, uint64_t *cfa)
{
	if (row->kinds[CFI_CFA] == CFI_VALUE_EXPRESSION)
		return evaluate(m, row, CFI_CFA, NULL, cfa);
	if (!(m->registers->known >> row->cfa_register & 1))
		return false;
	*cfa = m->registers->value[row->cfa_register] +
	    (uint64_t)row->operands[CFI_CFA].offset;
	return true;
}

int
cfi_step(struct cfi_scratch *scratch, struct readable *readable,
    struct registers *registers, uint64_t *cfa)
{
	const struct cfi_row *row = &scratch->row;
	const struct registers callee = *registers;
	struct machine machine = { .stack = scratch->stack,
	    .readable = readable, .registers = &callee };
	unsigned reg;

	if (row->kinds[ARCH_RETURN] == CFI_UNDEFINED)
		return 1;
	if (!find_cfa(&machine, row, cfa))
		return -1;
	for (reg = 0; reg < ARCH_N_REGISTERS; reg++) {
		const unsigned kind = row->kinds[reg];
		bool known;

		if (kind == CFI_UNSPECIFIED && reg == ARCH_STACK) {
			registers->value[reg] = *cfa;
			known = true;
		} else if (kind == CFI_SAME || (kind == CFI_UNSPECIFIED &&
		    (ARCH_PRESERVED >> reg & 1))) {
			known = callee.known >> reg & 1;
		} else {
			known = restore_register(&machine, row, reg, *cfa,
			    &registers->value[reg]);
		}
		registers->known = (registers->known & ~(1u << reg)) |
		    (uint32_t)known << reg;
	}
	if (!(registers->known >> ARCH_RETURN & 1) ||
	    !(registers->known >> ARCH_STACK & 1))
		return -1;
	return 0;
}
