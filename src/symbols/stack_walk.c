/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_walk.c -- callers from a copy of a stack, of x86-64 programs.
 *
 * libdw finds the rules for an address; they are evaluated here, on memory
 * that is at hand alone.  Modules stay open until the walker is freed, up to a
 * number of them; rules of addresses seen lately are kept, since the same few
 * come again and again.
 */
#include "src/symbols/stack_walk.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum {
	MODULES_MAX = 512,
	RECENT_BITS = 12,
	VALUES_MAX = 64,	/* on the stack of an expression */
	OPERATIONS_MAX = 1000,	/* of one; branches are not followed */
	REGISTERS_KEPT = 8,
};

/* What callers find as they left it, and where they go on. */
static const uint8_t kept[REGISTERS_KEPT] = { 3, STACK_RBP, STACK_RSP, 12, 13,
	14, 15, STACK_RIP };

enum rule_kind {
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_SAVED,		/* at CFA + offset */
	RULE_VALUE,		/* CFA + offset */
	RULE_OTHER,		/* an expression: to be asked for again */
};

struct rule {
	uint8_t kind;
	int32_t offset;
};

/* How to leave the frame at an address. */
struct row {
	uint64_t address;
	uint32_t module;
	bool is_used;
	bool has_rules;		/* else there is no table */
	bool is_signal;
	bool is_cfa_simple;	/* register + offset */
	uint8_t cfa_register;
	int32_t cfa_offset;
	struct rule rules[REGISTERS_KEPT];
};

struct walker_module {
	bool is_open, was_tried;
	struct elf_file file;
	Dwarf_CFI *cfi;
};

struct stack_walker {
	struct walker_module modules[MODULES_MAX];	/* by number */
	struct row recent[1 << RECENT_BITS];
};

struct stack_walker *
stack_walker_new(struct error *error)
{
	return memory_array(1, sizeof(struct stack_walker), error);
}

void
stack_walker_free(struct stack_walker *walker)
{
	for (size_t i = 0; walker != NULL && i < MODULES_MAX; i++) {
		struct walker_module *module = &walker->modules[i];

		if (module->cfi != NULL)
			dwarf_cfi_end(module->cfi);
		if (module->is_open)
			elf_file_close(&module->file);
	}
	free(walker);
}

/* The module's tables, or NULL. */
static Dwarf_CFI *
tables_of(struct stack_walker *walker, const struct module_file *file,
          uint32_t number)
{
	struct walker_module *module;

	if (file == NULL || number >= MODULES_MAX)
		return NULL;
	module = &walker->modules[number];
	if (!module->was_tried) {
		module->was_tried = true;
		module->is_open = module_file_open(file, &module->file) ==
		                  MODULE_FILE_OPEN;
		if (module->is_open)
			module->cfi = dwarf_getcfi_elf(module->file.elf);
	}
	return module->cfi;
}

/* ---- memory and expressions ---- */

static bool
read_word(const struct stack_frame *frame, uint64_t address, uint64_t *word)
{
	uint64_t at = address - frame->stack_start;

	if (address < frame->stack_start || frame->stack_size < 8 ||
	    at > frame->stack_size - 8)
		return false;
	*word = 0;
	for (int i = 0; i < 8; i++)
		*word |= (uint64_t)frame->stack[at + i] << 8 * i;
	return true;
}

/* The values that an expression has computed so far. */
struct values {
	uint64_t items[VALUES_MAX];
	size_t n;
};

static bool
push(struct values *values, uint64_t value)
{
	if (values->n == VALUES_MAX)
		return false;
	values->items[values->n++] = value;
	return true;
}

/* Two values become one. */
static bool
combine(struct values *values, unsigned operation)
{
	uint64_t a, b;

	if (values->n < 2)
		return false;
	b = values->items[--values->n];
	a = values->items[--values->n];
	switch (operation) {
	case DW_OP_plus:
		return push(values, a + b);
	case DW_OP_minus:
		return push(values, a - b);
	case DW_OP_and:
		return push(values, a & b);
	case DW_OP_or:
		return push(values, a | b);
	case DW_OP_mul:
		return push(values, a * b);
	case DW_OP_shl:
		return push(values, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(values, b < 64 ? a >> b : 0);
	case DW_OP_ge:
		return push(values, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(values, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(values, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(values, (int64_t)a < (int64_t)b);
	case DW_OP_eq:
		return push(values, a == b);
	case DW_OP_ne:
		return push(values, a != b);
	default:
		return false;
	}
}

/* One operation; false where it is not known or something is missing. */
static bool
operate(const Dwarf_Op *op, const struct stack_frame *frame, uint64_t cfa,
        struct values *values)
{
	unsigned atom = op->atom;
	uint64_t *top = values->n > 0 ? &values->items[values->n - 1] : NULL;

	if (atom >= DW_OP_breg0 && atom < DW_OP_breg0 + STACK_REGISTERS)
		return push(values, frame->registers[atom - DW_OP_breg0] +
		                    op->number);
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(values, atom - DW_OP_lit0);
	switch (atom) {
	case DW_OP_bregx:
		return op->number < STACK_REGISTERS &&
		    push(values, frame->registers[op->number] + op->number2);
	case DW_OP_call_frame_cfa:
		return push(values, cfa);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(values, op->number);
	case DW_OP_plus_uconst:
		if (top != NULL)
			*top += op->number;
		return top != NULL;
	case DW_OP_deref:
		return top != NULL && read_word(frame, *top, top);
	default:
		return combine(values, atom);
	}
}

/*
 * What an expression gives: an address, or with *is_value set a value.  False
 * where it cannot be told.
 */
static bool
evaluate(const Dwarf_Op *ops, size_t n, const struct stack_frame *frame,
         uint64_t cfa, uint64_t *result, bool *is_value)
{
	struct values values = { .n = 0 };

	*is_value = false;
	if (n > OPERATIONS_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (ops[i].atom == DW_OP_stack_value)
			*is_value = true;
		else if (!operate(&ops[i], frame, cfa, &values))
			return false;
	}
	if (values.n == 0)
		return false;
	*result = values.items[values.n - 1];
	return true;
}

/* ---- rules ---- */

static bool
fits(uint64_t offset)
{
	return (int64_t)offset == (int32_t)offset;
}

static struct rule
simplify_rule(const Dwarf_Op *ops, size_t n, bool is_undefined)
{
	struct rule rule = { .kind = RULE_OTHER };
	bool is_value = n > 0 && ops[n - 1].atom == DW_OP_stack_value;

	if (n == 0) {
		rule.kind = is_undefined ? RULE_UNDEFINED : RULE_SAME;
		return rule;
	}
	n -= is_value;
	if (n < 1 || n > 2 || ops[0].atom != DW_OP_call_frame_cfa ||
	    (n == 2 && (ops[1].atom != DW_OP_plus_uconst ||
	                !fits(ops[1].number))))
		return rule;
	rule.kind = is_value ? RULE_VALUE : RULE_SAVED;
	rule.offset = n == 2 ? (int32_t)ops[1].number : 0;
	return rule;
}

static struct rule
find_rule(Dwarf_Frame *table, int number)
{
	Dwarf_Op place[3], *ops;
	size_t n;

	if (dwarf_frame_register(table, number, place, &ops, &n) != 0)
		return (struct rule){ .kind = RULE_UNDEFINED };
	return simplify_rule(ops, n, ops == place);
}

static void
find_cfa(Dwarf_Frame *table, struct row *row)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(table, &ops, &n) != 0 || n != 1)
		return;
	if (ops->atom >= DW_OP_breg0 &&
	    ops->atom < DW_OP_breg0 + STACK_REGISTERS && fits(ops->number)) {
		row->is_cfa_simple = true;
		row->cfa_register = (uint8_t)(ops->atom - DW_OP_breg0);
		row->cfa_offset = (int32_t)ops->number;
	} else if (ops->atom == DW_OP_bregx && fits(ops->number2) &&
	           ops->number < STACK_REGISTERS) {
		row->is_cfa_simple = true;
		row->cfa_register = (uint8_t)ops->number;
		row->cfa_offset = (int32_t)ops->number2;
	}
}

static void
fill_row(struct row *row, Dwarf_CFI *cfi)
{
	Dwarf_Frame *table = NULL;
	bool is_signal = false;

	row->has_rules = row->is_cfa_simple = false;
	if (cfi == NULL || dwarf_cfi_addrframe(cfi, row->address, &table) != 0)
		return;
	row->has_rules = true;
	dwarf_frame_info(table, NULL, NULL, &is_signal);
	row->is_signal = is_signal;
	find_cfa(table, row);
	for (size_t i = 0; i < REGISTERS_KEPT; i++)
		row->rules[i] = find_rule(table, kept[i]);
	free(table);
}

static const struct row *
find_row(struct stack_walker *walker, Dwarf_CFI *cfi, uint32_t number,
         uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)number << 40) *
	                0x9e3779b97f4a7c15;
	struct row *row = &walker->recent[hash >> (64 - RECENT_BITS)];

	if (row->is_used && row->address == address && row->module == number)
		return row;
	row->is_used = true;
	row->address = address;
	row->module = number;
	fill_row(row, cfi);
	return row;
}

/* ---- steps ---- */

static bool
find_cfa_value(Dwarf_Frame *table, const struct row *row,
               const struct stack_frame *frame, uint64_t *cfa)
{
	Dwarf_Op *ops;
	size_t n;
	bool is_value;

	if (row->is_cfa_simple) {
		*cfa = frame->registers[row->cfa_register] +
		       (uint64_t)(int64_t)row->cfa_offset;
		return true;
	}
	return table != NULL && dwarf_frame_cfa(table, &ops, &n) == 0 &&
	    evaluate(ops, n, frame, 0, cfa, &is_value);
}

static bool
restore_other(Dwarf_Frame *table, int number, const struct stack_frame *frame,
              uint64_t cfa, uint64_t *value)
{
	Dwarf_Op place[3], *ops;
	size_t n;
	bool is_value;

	if (table == NULL ||
	    dwarf_frame_register(table, number, place, &ops, &n) != 0 ||
	    !evaluate(ops, n, frame, cfa, value, &is_value))
		return false;
	return is_value || read_word(frame, *value, value);
}

/* The caller's register; false where it is not known. */
static bool
restore(Dwarf_Frame *table, const struct rule *rule, int number,
        const struct stack_frame *frame, uint64_t cfa, uint64_t *value)
{
	uint64_t address = cfa + (uint64_t)(int64_t)rule->offset;

	switch (rule->kind) {
	case RULE_SAME:
		*value = number == STACK_RSP ? cfa : frame->registers[number];
		return number != STACK_RIP;
	case RULE_UNDEFINED:
		*value = number == STACK_RSP ? cfa : 0;
		return number != STACK_RIP;
	case RULE_SAVED:
		/* Epilogues pop registers and leave the rule as it was. */
		if (address < frame->registers[STACK_RSP] &&
		    number != STACK_RIP) {
			*value = frame->registers[number];
			return true;
		}
		return read_word(frame, address, value);
	case RULE_VALUE:
		*value = address;
		return true;
	default:
		return restore_other(table, number, frame, cfa, value);
	}
}

static bool
is_complex(const struct row *row)
{
	bool is_other = !row->is_cfa_simple;

	for (size_t i = 0; i < REGISTERS_KEPT; i++)
		is_other |= row->rules[i].kind == RULE_OTHER;
	return is_other;
}

static bool
step_by_row(const struct row *row, Dwarf_CFI *cfi, struct stack_frame *frame)
{
	struct stack_frame caller = *frame;
	Dwarf_Frame *table = NULL;
	bool is_found = false;
	uint64_t cfa;

	if (is_complex(row) &&
	    dwarf_cfi_addrframe(cfi, row->address, &table) != 0)
		return false;
	if (find_cfa_value(table, row, frame, &cfa)) {
		size_t i = 0;

		while (i < REGISTERS_KEPT && restore(table, &row->rules[i],
		           kept[i], frame, cfa,
		           &caller.registers[kept[i]]))
			i++;
		is_found = i == REGISTERS_KEPT;
	}
	free(table);
	if (!is_found)
		return false;
	caller.is_interrupted = row->is_signal;
	*frame = caller;
	return true;
}

static bool
step_by_pointer(struct stack_frame *frame)
{
	uint64_t pointer = frame->registers[STACK_RBP], next, address;

	if (!read_word(frame, pointer, &next) ||
	    !read_word(frame, pointer + 8, &address))
		return false;
	frame->registers[STACK_RBP] = next;
	frame->registers[STACK_RSP] = pointer + 16;
	frame->registers[STACK_RIP] = address;
	frame->is_interrupted = false;
	return true;
}

bool
stack_walker_step(struct stack_walker *walker,
                  const struct module_file *module, uint32_t number,
                  uint64_t address, struct stack_frame *frame)
{
	uint64_t before = frame->registers[STACK_RSP];
	Dwarf_CFI *cfi = tables_of(walker, module, number);
	const struct row *row = NULL;
	bool is_found;

	if (cfi != NULL)
		row = find_row(walker, cfi, number, address);
	is_found = row != NULL && row->has_rules ?
	    step_by_row(row, cfi, frame) : step_by_pointer(frame);
	return is_found && frame->registers[STACK_RSP] > before &&
	    frame->registers[STACK_RIP] != 0;
}
