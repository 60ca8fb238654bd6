/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_expression.c -- a stack machine, of bounded depth and steps. */
#include "src/symbols/unwind_expression.h"

enum { VALUES_MAX = 64, STEPS_MAX = 1000 };

/* Operations; of some only the first of a row. */
enum {
	OP_ADDRESS = 0x03,
	OP_DEREFERENCE = 0x06,
	OP_CONSTANT_1_UNSIGNED = 0x08,	/* 1, 2, 4, 8 bytes, each also signed */
	OP_CONSTANT_8_SIGNED = 0x0f,
	OP_CONSTANT_ULEB = 0x10,
	OP_CONSTANT_SLEB = 0x11,
	OP_DUPLICATE = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ABSOLUTE = 0x19,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MULTIPLY = 0x1e,
	OP_NEGATE = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_CONSTANT = 0x23,
	OP_SHIFT_LEFT = 0x24,
	OP_SHIFT_RIGHT = 0x25,
	OP_SHIFT_RIGHT_SIGNED = 0x26,
	OP_XOR = 0x27,
	OP_BRANCH = 0x28,
	OP_EQUAL = 0x29,
	OP_GREATER_OR_EQUAL = 0x2a,
	OP_GREATER = 0x2b,
	OP_LESS_OR_EQUAL = 0x2c,
	OP_LESS = 0x2d,
	OP_NOT_EQUAL = 0x2e,
	OP_SKIP = 0x2f,
	OP_LITERAL_0 = 0x30,		/* to 31 */
	OP_REGISTER_0 = 0x70,		/* to 31, and an offset */
	OP_REGISTER_31 = 0x8f,
	OP_REGISTER = 0x92,
	OP_DEREFERENCE_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	struct bytes in;
	const struct stack_frame *frame;
	uint64_t values[VALUES_MAX];
	unsigned n;
	bool has_failed;
};

/* ---- values ---- */

static uint64_t
pop(struct machine *machine)
{
	if (machine->n > 0)
		return machine->values[--machine->n];
	machine->has_failed = true;
	return 0;
}

static void
push(struct machine *machine, uint64_t value)
{
	if (machine->n == VALUES_MAX)
		machine->has_failed = true;
	else
		machine->values[machine->n++] = value;
}

static void
push_copy(struct machine *machine, uint64_t below_top)
{
	if (below_top >= machine->n)
		machine->has_failed = true;
	else
		push(machine, machine->values[machine->n - 1 - below_top]);
}

static void
push_register(struct machine *machine, uint64_t number)
{
	uint64_t offset = (uint64_t)unwind_take_sleb(&machine->in);

	if (number >= STACK_REGISTERS)
		machine->has_failed = true;
	else
		push(machine, machine->frame->registers[number] + offset);
}

static void
push_memory(struct machine *machine, uint64_t size)
{
	uint64_t address = pop(machine), word = 0;

	if (size > 8 ||
	    !stack_frame_read(machine->frame, address, (size_t)size, &word))
		machine->has_failed = true;
	push(machine, word);
}

/* ---- operations ---- */

/* A number of `size` bytes, as the signed one that it is. */
static uint64_t
extend_sign(uint64_t number, size_t size)
{
	unsigned unused = 64 - 8 * (unsigned)size;

	return (uint64_t)((int64_t)(number << unused) >> unused);
}

static void
push_constant(struct machine *machine, unsigned operation)
{
	unsigned which = operation - OP_CONSTANT_1_UNSIGNED;
	size_t size = (size_t)1 << which / 2;
	uint64_t number = bytes_number(&machine->in, size);

	push(machine, which % 2 == 0 ? number : extend_sign(number, size));
}

static void
swap(struct machine *machine)
{
	uint64_t top = pop(machine), next = pop(machine);

	push(machine, top);
	push(machine, next);
}

static void
combine(struct machine *machine, unsigned operation)
{
	uint64_t b = pop(machine), a = pop(machine);
	int64_t left = (int64_t)a, right = (int64_t)b;

	switch (operation) {
	case OP_AND: push(machine, a & b); break;
	case OP_MINUS: push(machine, a - b); break;
	case OP_MULTIPLY: push(machine, a * b); break;
	case OP_OR: push(machine, a | b); break;
	case OP_PLUS: push(machine, a + b); break;
	case OP_SHIFT_LEFT: push(machine, b < 64 ? a << b : 0); break;
	case OP_SHIFT_RIGHT: push(machine, b < 64 ? a >> b : 0); break;
	case OP_SHIFT_RIGHT_SIGNED:
		push(machine, (uint64_t)(left >> (b < 64 ? b : 63)));
		break;
	case OP_XOR: push(machine, a ^ b); break;
	case OP_EQUAL: push(machine, left == right); break;
	case OP_GREATER_OR_EQUAL: push(machine, left >= right); break;
	case OP_GREATER: push(machine, left > right); break;
	case OP_LESS_OR_EQUAL: push(machine, left <= right); break;
	case OP_LESS: push(machine, left < right); break;
	case OP_NOT_EQUAL: push(machine, left != right); break;
	default: machine->has_failed = true;
	}
}

/* Goes on elsewhere in the expression, perhaps backwards. */
static void
jump(struct machine *machine, bool is_taken)
{
	struct bytes *in = &machine->in;
	int64_t distance = (int64_t)extend_sign(bytes_number(in, 2), 2);

	if (!is_taken)
		return;
	if (distance < -(int64_t)in->offset ||
	    distance > (int64_t)(in->size - in->offset))
		machine->has_failed = true;
	else
		in->offset += (size_t)distance;
}

/* Those that have one value or none before them. */
static void
operate(struct machine *machine, unsigned operation)
{
	struct bytes *in = &machine->in;
	uint64_t value;

	switch (operation) {
	case OP_NOP: break;
	case OP_ADDRESS: push(machine, bytes_number(in, 8)); break;
	case OP_CONSTANT_ULEB: push(machine, unwind_take_uleb(in)); break;
	case OP_CONSTANT_SLEB:
		push(machine, (uint64_t)unwind_take_sleb(in));
		break;
	case OP_DEREFERENCE: push_memory(machine, 8); break;
	case OP_DEREFERENCE_SIZE:
		push_memory(machine, bytes_number(in, 1));
		break;
	case OP_DUPLICATE: push_copy(machine, 0); break;
	case OP_OVER: push_copy(machine, 1); break;
	case OP_PICK: push_copy(machine, bytes_number(in, 1)); break;
	case OP_DROP: pop(machine); break;
	case OP_SWAP: swap(machine); break;
	case OP_NEGATE: push(machine, -pop(machine)); break;
	case OP_NOT: push(machine, ~pop(machine)); break;
	case OP_ABSOLUTE:
		value = pop(machine);
		push(machine, (int64_t)value < 0 ? -value : value);
		break;
	case OP_PLUS_CONSTANT:
		push(machine, pop(machine) + unwind_take_uleb(in));
		break;
	case OP_SKIP: jump(machine, true); break;
	case OP_BRANCH: jump(machine, pop(machine) != 0); break;
	case OP_REGISTER: push_register(machine, unwind_take_uleb(in)); break;
	default: combine(machine, operation);
	}
}

static void
step(struct machine *machine)
{
	unsigned operation = (unsigned)bytes_number(&machine->in, 1);

	if (operation >= OP_LITERAL_0 && operation < OP_LITERAL_0 + 32)
		push(machine, operation - OP_LITERAL_0);
	else if (operation >= OP_REGISTER_0 && operation <= OP_REGISTER_31)
		push_register(machine, operation - OP_REGISTER_0);
	else if (operation >= OP_CONSTANT_1_UNSIGNED &&
	         operation <= OP_CONSTANT_8_SIGNED)
		push_constant(machine, operation);
	else
		operate(machine, operation);
}

bool
unwind_expression_evaluate(const struct unwind_rule *rule,
                           const struct stack_frame *frame,
                           const uint64_t *cfa, uint64_t *value)
{
	struct machine machine;
	unsigned n_steps = 0;

	machine.in = bytes_of(rule->expression, rule->size);
	machine.frame = frame;
	machine.n = 0;
	machine.has_failed = false;
	if (cfa != NULL)
		push(&machine, *cfa);
	while (machine.in.offset < machine.in.size && !machine.has_failed &&
	       !bytes_failed(&machine.in)) {
		if (n_steps++ == STEPS_MAX)
			return false;
		step(&machine);
	}
	*value = pop(&machine);
	return !machine.has_failed && !bytes_failed(&machine.in);
}
