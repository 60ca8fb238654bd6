/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_unwinder.c -- callers from a copy of a stack, of x86-64 programs.
 *
 * Most frames are left by a rule of one kind: the CFA is a register and an
 * offset, and what callers find as they left it is saved beside it.  Such rows
 * are kept by address, since the same few come again and again; rows of other
 * kinds are made anew each time, with all registers.
 */
#include "src/symbols/stack_unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/unwind_expression.h"
#include "src/symbols/unwind_table.h"

enum {
	TABLES_MAX = 512 << 20,	/* bytes; behind them no more are read */
	RECENT_BITS = 15,
	REGISTERS_KEPT = 8,
};

/* What callers find as they left it, and where they go on. */
static const uint8_t kept[REGISTERS_KEPT] = { 3, STACK_RBP, STACK_RSP, 12, 13,
	14, 15, STACK_RIP };

enum row_kind { ROW_NOT_USED, ROW_NONE, ROW_SIMPLE, ROW_COMPLEX };

/* How to leave the frame at an address. */
struct recent {
	uint64_t address;
	uint32_t module;
	uint8_t kind;		/* enum row_kind */
	bool is_signal;
	uint8_t cfa_register;
	uint8_t kinds[REGISTERS_KEPT];	/* enum unwind_rule_kind */
	int32_t cfa_offset;
	int32_t offsets[REGISTERS_KEPT];
};

struct stack_unwinder {
	struct unwind_table **tables;	/* by number; NULL: not read */
	size_t n_tables, capacity;
	size_t n_bytes;			/* of all of them */
	struct recent recent[1 << RECENT_BITS];
};

struct stack_unwinder *
stack_unwinder_new(struct error *error)
{
	return memory_array(1, sizeof(struct stack_unwinder), error);
}

void
stack_unwinder_free(struct stack_unwinder *unwinder)
{
	if (unwinder == NULL)
		return;
	for (size_t i = 0; i < unwinder->n_tables; i++)
		unwind_table_free(unwinder->tables[i]);
	free(unwinder->tables);
	free(unwinder);
}

/* The module's, read if need be; NULL with *error set. */
static const struct unwind_table *
table_of(struct stack_unwinder *unwinder, const struct module_file *file,
         uint32_t number, struct error *error)
{
	if (number >= unwinder->n_tables) {
		if (memory_grow(&unwinder->tables, &unwinder->capacity,
		                (size_t)number + 1,
		                sizeof(struct unwind_table *), error) != 0)
			return NULL;
		memset(unwinder->tables + unwinder->n_tables, 0,
		       (number + 1 - unwinder->n_tables) *
		       sizeof(struct unwind_table *));
		unwinder->n_tables = (size_t)number + 1;
	}
	if (unwinder->tables[number] == NULL) {
		unwinder->tables[number] = unwind_table_read(
		    unwinder->n_bytes <= TABLES_MAX ? file : NULL, error);
		if (unwinder->tables[number] != NULL)
			unwinder->n_bytes += unwind_table_bytes(
			    unwinder->tables[number]);
	}
	return unwinder->tables[number];
}

bool
stack_frame_read(const struct stack_frame *frame, uint64_t address,
                 size_t size, uint64_t *number)
{
	uint64_t at = address - frame->stack_start;

	if (address < frame->stack_start || frame->stack_size < size ||
	    at > frame->stack_size - size)
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++)
		*number |= (uint64_t)frame->stack[at + i] << 8 * i;
	return true;
}

/* ---- rows ---- */

static bool
is_simple_rule(const struct unwind_rule *rule)
{
	return rule->kind <= UNWIND_SAME ||
	    ((rule->kind == UNWIND_SAVED || rule->kind == UNWIND_VALUE) &&
	     rule->offset == (int32_t)rule->offset);
}

static bool
is_kept(unsigned number)
{
	return memchr(kept, (int)number, sizeof kept) != NULL;
}

static bool
is_simple(const struct unwind_row *row)
{
	if (row->cfa.kind != UNWIND_REGISTER ||
	    row->cfa.offset != (int32_t)row->cfa.offset)
		return false;
	for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
		if (is_kept(i) ? !is_simple_rule(&row->rules[i]) :
		    row->rules[i].kind != UNWIND_UNSPECIFIED)
			return false;
	return true;
}

static void
fill_recent(struct recent *recent, const struct unwind_table *table)
{
	struct unwind_row row;

	recent->kind = ROW_NONE;
	if (!unwind_table_find(table, recent->address, &row))
		return;
	recent->kind = ROW_COMPLEX;
	if (!is_simple(&row))
		return;
	recent->kind = ROW_SIMPLE;
	recent->is_signal = row.is_signal;
	recent->cfa_register = row.cfa.cfa_register;
	recent->cfa_offset = (int32_t)row.cfa.offset;
	for (size_t i = 0; i < REGISTERS_KEPT; i++) {
		recent->kinds[i] = row.rules[kept[i]].kind;
		recent->offsets[i] = recent->kinds[i] > UNWIND_SAME ?
		    (int32_t)row.rules[kept[i]].offset : 0;
	}
}

/* The slot of an address, whoever is in it. */
static struct recent *
slot_of(struct stack_unwinder *unwinder, uint32_t module, uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)module << 40) *
	                0x9e3779b97f4a7c15;

	return &unwinder->recent[hash >> (64 - RECENT_BITS)];
}

/* NULL with *error set. */
static const struct recent *
find_recent(struct stack_unwinder *unwinder, const struct module_file *file,
            uint32_t module, uint64_t address, struct error *error)
{
	struct recent *recent = slot_of(unwinder, module, address);
	const struct unwind_table *table;

	if (recent->kind != ROW_NOT_USED && recent->address == address &&
	    recent->module == module)
		return recent;
	table = table_of(unwinder, file, module, error);
	if (table == NULL)
		return NULL;
	recent->address = address;
	recent->module = module;
	fill_recent(recent, table);
	return recent;
}

/* ---- steps ---- */

/* The caller's register by a rule without operands other than an offset. */
static bool
restore_simply(unsigned kind, int64_t offset, unsigned number,
               const struct stack_frame *frame, uint64_t cfa, uint64_t *value)
{
	uint64_t address = cfa + (uint64_t)offset;

	switch (kind) {
	case UNWIND_SAVED:
		/* Epilogues pop registers and leave the rule as it was. */
		if (address < frame->registers[STACK_RSP] &&
		    number != STACK_RIP) {
			*value = frame->registers[number];
			return true;
		}
		return stack_frame_read(frame, address, 8, value);
	case UNWIND_VALUE:
		*value = address;
		return true;
	default:
		*value = number == STACK_RSP ? cfa :
		         kind == UNWIND_UNDEFINED ? 0 :
		         frame->registers[number];
		return number != STACK_RIP;
	}
}

static bool
step_simply(const struct recent *recent, struct stack_frame *frame)
{
	struct stack_frame caller = *frame;
	uint64_t cfa = frame->registers[recent->cfa_register] +
	               (uint64_t)(int64_t)recent->cfa_offset;

	for (size_t i = 0; i < REGISTERS_KEPT; i++)
		if (!restore_simply(recent->kinds[i], recent->offsets[i],
		                    kept[i], frame, cfa,
		                    &caller.registers[kept[i]]))
			return false;
	caller.is_interrupted = recent->is_signal;
	*frame = caller;
	return true;
}

/* Likewise by any rule. */
static bool
restore(const struct unwind_rule *rule, unsigned number,
        const struct stack_frame *frame, uint64_t cfa, uint64_t *value)
{
	switch (rule->kind) {
	case UNWIND_REGISTER:
		if (rule->offset < 0 || rule->offset >= STACK_REGISTERS)
			return false;
		*value = frame->registers[rule->offset];
		return true;
	case UNWIND_SAVED_AT:
		return unwind_expression_evaluate(rule, frame, &cfa, value) &&
		    stack_frame_read(frame, *value, 8, value);
	case UNWIND_COMPUTED:
		return unwind_expression_evaluate(rule, frame, &cfa, value);
	default:
		return restore_simply(rule->kind, rule->offset, number, frame,
		                      cfa, value);
	}
}

static bool
step_by_row(const struct unwind_row *row, struct stack_frame *frame)
{
	struct stack_frame caller = *frame;
	uint64_t cfa;

	if (row->cfa.kind == UNWIND_REGISTER)
		cfa = frame->registers[row->cfa.cfa_register] +
		      (uint64_t)row->cfa.offset;
	else if (!unwind_expression_evaluate(&row->cfa, frame, NULL, &cfa))
		return false;
	for (unsigned i = 0; i < STACK_REGISTERS; i++) {
		if (restore(&row->rules[i], i, frame, cfa,
		            &caller.registers[i]))
			continue;
		if (is_kept(i))
			return false;
		caller.registers[i] = 0;
	}
	caller.is_interrupted = row->is_signal;
	*frame = caller;
	return true;
}

static bool
step_by_pointer(struct stack_frame *frame)
{
	uint64_t pointer = frame->registers[STACK_RBP], next, address;

	if (!stack_frame_read(frame, pointer, 8, &next) ||
	    !stack_frame_read(frame, pointer + 8, 8, &address))
		return false;
	frame->registers[STACK_RBP] = next;
	frame->registers[STACK_RSP] = pointer + 16;
	frame->registers[STACK_RIP] = address;
	frame->is_interrupted = false;
	return true;
}

/* Whether it could; -1 with *error set. */
static int
step(struct stack_unwinder *unwinder, const struct module_file *module,
     uint32_t number, uint64_t address, struct stack_frame *frame,
     struct error *error)
{
	const struct unwind_table *table;
	const struct recent *recent;
	struct unwind_row row;

	if (module == NULL)
		return step_by_pointer(frame);
	recent = find_recent(unwinder, module, number, address, error);
	if (recent == NULL)
		return -1;
	if (recent->kind == ROW_NONE)
		return step_by_pointer(frame);
	if (recent->kind == ROW_SIMPLE)
		return step_simply(recent, frame);
	table = table_of(unwinder, module, number, error);
	if (table == NULL)
		return -1;
	return unwind_table_find(table, address, &row) &&
	    step_by_row(&row, frame);
}

int
stack_unwinder_step(struct stack_unwinder *unwinder,
                    const struct module_file *module, uint32_t number,
                    uint64_t address, struct stack_frame *frame,
                    struct error *error)
{
	uint64_t before = frame->registers[STACK_RSP];
	bool was_interrupted = frame->is_interrupted;
	int is_found = step(unwinder, module, number, address, frame, error);

	if (is_found <= 0 || frame->registers[STACK_RIP] == 0)
		return is_found < 0 ? -1 : 0;
	/* longjmp's last instructions stand on their caller's stack. */
	return frame->registers[STACK_RSP] > before ||
	    (was_interrupted && frame->registers[STACK_RSP] == before);
}
