/* SPDX-License-Identifier: MIT */
/* step.c -- restores registers by the rules of a row. */
#include "dwarf/step.h"

enum { OPERATIONS_MAX = 1000 };	/* expressions can loop */

/* ---- expressions ---- */

struct evaluation {
	struct dwarf_input in;
	struct cfi_machine *machine;
	const struct cfi_registers *registers;
	unsigned n;		/* values on the machine's stack */
	bool failed;
};

static uint64_t
step_pop(struct evaluation *e)
{
	if (e->n > 0)
		return e->machine->values[--e->n];
	e->failed = true;
	return 0;
}

static void
step_push(struct evaluation *e, uint64_t value)
{
	if (e->n == CFI_VALUES_MAX)
		e->failed = true;
	else
		e->machine->values[e->n++] = value;
}

static void
push_copy(struct evaluation *e, unsigned below_top)
{
	if (below_top >= e->n)
		e->failed = true;
	else
		step_push(e, e->machine->values[e->n - 1 - below_top]);
}

/* A register plus an offset, which is the next operand. */
static void
push_register(struct evaluation *e, uint64_t reg)
{
	const uint64_t offset = (uint64_t)dwarf_take_sleb(&e->in);

	if (reg >= CFI_REGISTERS || (e->registers->known & CFI_BIT(reg)) == 0)
		e->failed = true;
	else
		step_push(e, e->registers->value[reg] + offset);
}

static void
push_memory(struct evaluation *e, uint64_t address, size_t size)
{
	const struct cfi_machine *machine = e->machine;
	uint64_t number = 0;

	if (size == 0 || size > 8 ||
	    !machine->read(machine->context, address, size, &number))
		e->failed = true;
	step_push(e, number);
}

static void
step_jump(struct evaluation *e, const unsigned char *start, bool is_taken)
{
	struct dwarf_input *in = &e->in;
	const int64_t distance = dwarf_take_signed(in, 2);

	if (!is_taken)
		return;
	if (distance < start - in->at || distance > in->end - in->at)
		e->failed = true;
	else
		in->at += distance;
}

/* Operations on the two topmost values. */
static uint64_t
combine(struct evaluation *e, unsigned operation)
{
	const uint64_t b = step_pop(e), a = step_pop(e);
	const int64_t left = (int64_t)a, right = (int64_t)b;

	switch (operation) {
	case DWARF_OP_and: return a & b;
	case DWARF_OP_minus: return a - b;
	case DWARF_OP_mul: return a * b;
	case DWARF_OP_or: return a | b;
	case DWARF_OP_plus: return a + b;
	case DWARF_OP_shl: return b < 64 ? a << b : 0;
	case DWARF_OP_shr: return b < 64 ? a >> b : 0;
	case DWARF_OP_shra: return (uint64_t)(left >> (b < 64 ? b : 63));
	case DWARF_OP_xor: return a ^ b;
	case DWARF_OP_eq: return left == right;
	case DWARF_OP_ge: return left >= right;
	case DWARF_OP_gt: return left > right;
	case DWARF_OP_le: return left <= right;
	case DWARF_OP_lt: return left < right;
	case DWARF_OP_ne: return left != right;
	}
	e->failed = true;
	return 0;
}

static void
operate(struct evaluation *e, const unsigned char *start)
{
	struct dwarf_input *in = &e->in;
	const unsigned operation = *dwarf_take(in, 1);
	uint64_t a, b;

	if (operation >= DWARF_OP_lit0 && operation <= DWARF_OP_lit31) {
		step_push(e, operation - DWARF_OP_lit0);
		return;
	}
	if (operation >= DWARF_OP_breg0 && operation <= DWARF_OP_breg31) {
		push_register(e, operation - DWARF_OP_breg0);
		return;
	}
	switch (operation) {
	case DWARF_OP_nop:
		break;
	case DWARF_OP_bregx:
		push_register(e, dwarf_take_uleb(in));
		break;
	case DWARF_OP_addr:
	case DWARF_OP_const8u:
	case DWARF_OP_const8s:
		step_push(e, dwarf_take_unsigned(in, 8));
		break;
	case DWARF_OP_const1u:
	case DWARF_OP_const2u:
	case DWARF_OP_const4u:
		step_push(e, dwarf_take_unsigned(in,
		    (size_t)1 << (operation - DWARF_OP_const1u) / 2));
		break;
	case DWARF_OP_const1s:
	case DWARF_OP_const2s:
	case DWARF_OP_const4s:
		step_push(e, (uint64_t)dwarf_take_signed(in,
		    (size_t)1 << (operation - DWARF_OP_const1s) / 2));
		break;
	case DWARF_OP_constu:
		step_push(e, dwarf_take_uleb(in));
		break;
	case DWARF_OP_consts:
		step_push(e, (uint64_t)dwarf_take_sleb(in));
		break;
	case DWARF_OP_deref:
		push_memory(e, step_pop(e), 8);
		break;
	case DWARF_OP_deref_size:
		push_memory(e, step_pop(e), *dwarf_take(in, 1));
		break;
	case DWARF_OP_dup:
		push_copy(e, 0);
		break;
	case DWARF_OP_over:
		push_copy(e, 1);
		break;
	case DWARF_OP_pick:
		push_copy(e, *dwarf_take(in, 1));
		break;
	case DWARF_OP_drop:
		step_pop(e);
		break;
	case DWARF_OP_swap:
		b = step_pop(e);
		a = step_pop(e);
		step_push(e, b);
		step_push(e, a);
		break;
	case DWARF_OP_abs:
		a = step_pop(e);
		step_push(e, (int64_t)a < 0 ? -a : a);
		break;
	case DWARF_OP_neg:
		step_push(e, -step_pop(e));
		break;
	case DWARF_OP_not:
		step_push(e, ~step_pop(e));
		break;
	case DWARF_OP_plus_uconst:
		a = step_pop(e);
		step_push(e, a + dwarf_take_uleb(in));
		break;
	case DWARF_OP_skip:
		step_jump(e, start, true);
		break;
	case DWARF_OP_bra:
		step_jump(e, start, step_pop(e) != 0);
		break;
	default:
		step_push(e, combine(e, operation));
	}
}

bool
cfi_evaluate(const unsigned char *expression, size_t size,
    struct cfi_machine *machine, const struct cfi_registers *registers,
    const uint64_t *initial, uint64_t *value)
{
	struct evaluation e = { .in = { .at = expression,
	    .end = expression + size }, .machine = machine,
	    .registers = registers };
	unsigned n_operations = 0;

	if (initial != NULL)
		step_push(&e, *initial);
	while (e.in.at < e.in.end && !e.in.failed && !e.failed) {
		if (n_operations++ == OPERATIONS_MAX)
			return false;
		operate(&e, expression);
	}
	*value = step_pop(&e);
	return !e.in.failed && !e.failed;
}

/* ---- steps ---- */

/* Evaluates the rule of a register or CFI_CFA. */
static bool
evaluate_rule(const struct cfi_row *row, unsigned reg,
    struct cfi_machine *machine, const struct cfi_registers *registers,
    const uint64_t *initial, uint64_t *value)
{
	size_t size;
	const unsigned char *expression = cfi_expression(row, reg, &size);

	return cfi_evaluate(expression, size, machine, registers, initial,
	    value);
}

/* The caller's value of a register.  False: not known. */
static bool
step_restore(const struct cfi_row *row, unsigned reg,
    struct cfi_machine *machine, const struct cfi_registers *registers,
    uint64_t cfa, uint64_t *value)
{
	const struct dwarf_arch *arch = machine->arch;
	const int64_t offset = row->operands[reg].offset;

	switch (row->kinds[reg]) {
	case CFI_OFFSET:
		if (machine->read(machine->context, cfa + (uint64_t)offset, 8,
		    value))
			return true;
		/*
		 * Epilogues pop registers without changing the rule.  Below the
		 * stack pointer, where memory may not be known any more, the
		 * register already has its old value again.
		 */
		*value = registers->value[reg];
		return reg != arch->return_address &&
		    (registers->known & CFI_BIT(reg)) != 0 &&
		    (registers->known & CFI_BIT(arch->sp)) != 0 &&
		    cfa + (uint64_t)offset < registers->value[arch->sp];
	case CFI_VALUE_OFFSET:
		*value = cfa + (uint64_t)offset;
		return true;
	case CFI_REGISTER:
		if (offset < 0 || offset >= CFI_REGISTERS)
			return false;
		*value = registers->value[offset];
		return (registers->known & CFI_BIT(offset)) != 0;
	case CFI_EXPRESSION:
		return evaluate_rule(row, reg, machine, registers, &cfa,
		    value) &&
		    machine->read(machine->context, *value, 8, value);
	case CFI_VALUE_EXPRESSION:
		return evaluate_rule(row, reg, machine, registers, &cfa,
		    value);
	}
	return false;
}

/*
 * The caller's pc, where calls put return addresses into a register.  A row has
 * a rule of its own for it only if it describes an interrupted caller.
 */
static void
step_set_pc(const struct cfi_row *row, const struct dwarf_arch *arch,
    struct cfi_registers *registers)
{
	const uint64_t pc = CFI_BIT(arch->pc),
	    link = CFI_BIT(arch->return_address);

	if (row->kinds[arch->pc] != CFI_UNSPECIFIED)
		return;
	registers->value[arch->pc] = registers->value[arch->return_address];
	if ((registers->known & link) != 0)
		registers->known |= pc;
	/* The call has overwritten what the caller itself returns to. */
	registers->known &= ~link;
}

enum cfi_step_result
cfi_step(const struct cfi_row *row, struct cfi_machine *machine,
    struct cfi_registers *registers, uint64_t *cfa)
{
	const struct dwarf_arch *arch = machine->arch;
	const uint64_t needed = CFI_BIT(arch->pc) | CFI_BIT(arch->sp);
	const struct cfi_registers callee = *registers;
	const unsigned base = row->cfa_register;
	unsigned reg;

	if (row->kinds[arch->return_address] == CFI_UNDEFINED)
		return CFI_STEP_OUTERMOST;
	if (row->kinds[CFI_CFA] == CFI_VALUE_EXPRESSION) {
		if (!evaluate_rule(row, CFI_CFA, machine, &callee, NULL, cfa))
			return CFI_STEP_FAILED;
	} else {
		if ((callee.known & CFI_BIT(base)) == 0)
			return CFI_STEP_FAILED;
		*cfa = callee.value[base] +
		    (uint64_t)row->operands[CFI_CFA].offset;
	}
	for (reg = 0; reg < arch->n_registers; reg++) {
		const unsigned kind = row->kinds[reg];
		const uint64_t bit = CFI_BIT(reg);

		if (kind != CFI_UNSPECIFIED && kind != CFI_SAME) {
			if (step_restore(row, reg, machine, &callee, *cfa,
			    &registers->value[reg]))
				registers->known |= bit;
			else
				registers->known &= ~bit;
		} else if (reg == arch->sp) {
			registers->value[reg] = *cfa;
			registers->known |= bit;
		} else if (reg == arch->pc || (kind == CFI_UNSPECIFIED &&
		    (machine->preserved & bit) == 0)) {
			registers->known &= ~bit;
		}
	}
	if (arch->return_address != arch->pc)
		step_set_pc(row, arch, registers);
	registers->value[arch->pc] &= arch->address_mask;
	return (registers->known & needed) == needed ? CFI_STEP_DONE :
	    CFI_STEP_FAILED;
}
