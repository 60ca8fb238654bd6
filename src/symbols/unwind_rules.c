/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_rules.c -- runs the programs of unwind tables up to an address. */
#include "src/symbols/unwind_rules.h"

enum {
	RETURN_ADDRESS = UNWIND_REGISTERS - 1,
	REMEMBERED_MAX = 16,	/* rows that wait for restore_state */
	/* Of one row; real programs have some hundred. */
	INSTRUCTIONS_MAX = 1 << 16,
};

/* Instructions: with an operand in the opcode, and others. */
enum {
	CFA_OPERAND = 0x3f,
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,

	CFA_NOP = 0x00,
	CFA_SET_LOCATION,
	CFA_ADVANCE_1,
	CFA_ADVANCE_2,
	CFA_ADVANCE_4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEFINE,
	CFA_DEFINE_REGISTER,
	CFA_DEFINE_OFFSET,
	CFA_DEFINE_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SIGNED,
	CFA_DEFINE_SIGNED,
	CFA_DEFINE_OFFSET_SIGNED,
	CFA_VALUE_OFFSET,
	CFA_VALUE_OFFSET_SIGNED,
	CFA_VALUE_EXPRESSION,
	CFA_GNU_ARGUMENTS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct run {
	const struct unwind_section *section;
	const struct unwind_common *common;
	struct bytes in;
	uint64_t location, address;	/* until the former passes the latter */
	unsigned n_instructions;
	struct unwind_row *row;
	const struct unwind_row *initial;	/* NULL: not complete yet */
	struct unwind_row remembered[REMEMBERED_MAX];
	unsigned n_remembered;
};

/* ---- operands ---- */

/* The rule of a register; vector registers and the like get a spare one. */
static struct unwind_rule *
take_register(struct run *run, struct unwind_rule *spare)
{
	uint64_t number = unwind_take_uleb(&run->in);

	return number < UNWIND_REGISTERS ? &run->row->rules[number] : spare;
}

static int64_t
take_unsigned(struct run *run)
{
	return (int64_t)unwind_take_uleb(&run->in);
}

static int64_t
multiply(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* An offset in units of the data, to the common unit's sign. */
static int64_t
take_factored(struct run *run)
{
	return multiply(take_unsigned(run), run->common->data_unit);
}

static int64_t
take_factored_signed(struct run *run)
{
	return multiply(unwind_take_sleb(&run->in), run->common->data_unit);
}

static struct unwind_rule
simple_rule(enum unwind_rule_kind kind, int64_t offset)
{
	return (struct unwind_rule){ .kind = (uint8_t)kind,
		.offset = offset };
}

static struct unwind_rule
take_expression(struct run *run, enum unwind_rule_kind kind)
{
	uint64_t size = unwind_take_uleb(&run->in);
	struct unwind_rule rule = { .kind = (uint8_t)kind };

	rule.expression = bytes_take(&run->in, (size_t)size);
	if (size > UINT32_MAX)
		run->in.failed = true;
	rule.size = (uint32_t)size;
	return rule;
}

/* ---- instructions ---- */

static void
advance(struct run *run, uint64_t n)
{
	run->location += n * run->common->code_unit;
}

static void
define_cfa(struct run *run, uint64_t number, int64_t offset)
{
	if (number >= UNWIND_REGISTERS) {
		run->in.failed = true;
		return;
	}
	run->row->cfa = simple_rule(UNWIND_REGISTER, offset);
	run->row->cfa.cfa_register = (uint8_t)number;
}

/* Only the offset changes, of a CFA that has one. */
static void
define_cfa_offset(struct run *run, int64_t offset)
{
	if (run->row->cfa.kind != UNWIND_REGISTER)
		run->in.failed = true;
	else
		run->row->cfa.offset = offset;
}

static void
define_cfa_register(struct run *run)
{
	uint64_t number = unwind_take_uleb(&run->in);

	if (run->row->cfa.kind != UNWIND_REGISTER)
		run->in.failed = true;
	else
		define_cfa(run, number, run->row->cfa.offset);
}

static void
restore(struct run *run, uint64_t number)
{
	if (number < UNWIND_REGISTERS && run->initial != NULL)
		run->row->rules[number] = run->initial->rules[number];
}

static void
remember_state(struct run *run)
{
	if (run->n_remembered == REMEMBERED_MAX)
		run->in.failed = true;
	else
		run->remembered[run->n_remembered++] = *run->row;
}

static void
restore_state(struct run *run)
{
	if (run->n_remembered == 0)
		run->in.failed = true;
	else
		*run->row = run->remembered[--run->n_remembered];
}

/* Those that say where the code goes on, or keep and bring back a row. */
static bool
run_location_or_state(struct run *run, unsigned opcode)
{
	switch (opcode) {
	case CFA_NOP:
		return true;
	case CFA_SET_LOCATION:
		run->location = unwind_take_address(run->section, &run->in,
		    run->common->encoding);
		return true;
	case CFA_ADVANCE_1:
		advance(run, bytes_number(&run->in, 1));
		return true;
	case CFA_ADVANCE_2:
		advance(run, bytes_number(&run->in, 2));
		return true;
	case CFA_ADVANCE_4:
		advance(run, bytes_number(&run->in, 4));
		return true;
	case CFA_REMEMBER_STATE:
		remember_state(run);
		return true;
	case CFA_RESTORE_STATE:
		restore_state(run);
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(run, unwind_take_uleb(&run->in));
		return true;
	case CFA_GNU_ARGUMENTS_SIZE:	/* the CFA accounts for it already */
		unwind_take_uleb(&run->in);
		return true;
	default:
		return false;
	}
}

/* Those that define the CFA. */
static bool
run_cfa(struct run *run, unsigned opcode)
{
	uint64_t number;

	switch (opcode) {
	case CFA_DEFINE:
		number = unwind_take_uleb(&run->in);
		define_cfa(run, number, take_unsigned(run));
		return true;
	case CFA_DEFINE_SIGNED:
		number = unwind_take_uleb(&run->in);
		define_cfa(run, number, take_factored_signed(run));
		return true;
	case CFA_DEFINE_REGISTER:
		define_cfa_register(run);
		return true;
	case CFA_DEFINE_OFFSET:
		define_cfa_offset(run, take_unsigned(run));
		return true;
	case CFA_DEFINE_OFFSET_SIGNED:
		define_cfa_offset(run, take_factored_signed(run));
		return true;
	case CFA_DEFINE_EXPRESSION:
		run->row->cfa = take_expression(run, UNWIND_COMPUTED);
		return true;
	default:
		return false;
	}
}

/* Those that give a register a rule. */
static void
run_register(struct run *run, unsigned opcode)
{
	struct unwind_rule spare;
	struct unwind_rule *rule = take_register(run, &spare);

	switch (opcode) {
	case CFA_OFFSET_EXTENDED:
		*rule = simple_rule(UNWIND_SAVED, take_factored(run));
		break;
	case CFA_OFFSET_EXTENDED_SIGNED:
		*rule = simple_rule(UNWIND_SAVED, take_factored_signed(run));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		*rule = simple_rule(UNWIND_SAVED,
		                    multiply(-1, take_factored(run)));
		break;
	case CFA_UNDEFINED:
		*rule = simple_rule(UNWIND_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		*rule = simple_rule(UNWIND_SAME, 0);
		break;
	case CFA_REGISTER:
		*rule = simple_rule(UNWIND_REGISTER, take_unsigned(run));
		break;
	case CFA_VALUE_OFFSET:
		*rule = simple_rule(UNWIND_VALUE, take_factored(run));
		break;
	case CFA_VALUE_OFFSET_SIGNED:
		*rule = simple_rule(UNWIND_VALUE, take_factored_signed(run));
		break;
	case CFA_EXPRESSION:
		*rule = take_expression(run, UNWIND_SAVED_AT);
		break;
	case CFA_VALUE_EXPRESSION:
		*rule = take_expression(run, UNWIND_COMPUTED);
		break;
	default:
		run->in.failed = true;
	}
}

static void
run_instruction(struct run *run)
{
	unsigned opcode = (unsigned)bytes_number(&run->in, 1);
	unsigned operand = opcode & CFA_OPERAND;
	int64_t offset;

	switch (opcode & ~(unsigned)CFA_OPERAND) {
	case CFA_ADVANCE:
		advance(run, operand);
		break;
	case CFA_OFFSET:
		offset = take_factored(run);
		if (operand < UNWIND_REGISTERS)
			run->row->rules[operand] = simple_rule(UNWIND_SAVED,
			                                       offset);
		break;
	case CFA_RESTORE:
		restore(run, operand);
		break;
	default:
		if (!run_location_or_state(run, opcode) &&
		    !run_cfa(run, opcode))
			run_register(run, opcode);
	}
}

/* To the end of the program, or until the location passes the address. */
static bool
run_program(struct run *run, const struct bytes *program)
{
	run->in = *program;
	while (run->in.offset < run->in.size && !bytes_failed(&run->in) &&
	       run->location <= run->address) {
		if (run->n_instructions++ == INSTRUCTIONS_MAX)
			return false;
		run_instruction(run);
	}
	return !bytes_failed(&run->in);
}

bool
unwind_rules_at(const struct unwind_section *section,
                const struct unwind_entry *entry, uint64_t address,
                struct unwind_row *row)
{
	struct bytes rules = entry->rest;
	struct unwind_row initial;
	struct run run;

	run.section = section;
	run.common = &entry->common;
	run.n_instructions = run.n_remembered = 0;
	run.row = row;
	run.initial = NULL;
	run.address = address;
	run.location = 0;	/* what is shared is not about a place */
	*row = (struct unwind_row){ .is_signal = entry->common.is_signal };
	if (entry->common.return_register != RETURN_ADDRESS ||
	    !run_program(&run, &entry->common.rules))
		return false;
	initial = *row;
	run.initial = &initial;
	run.location = entry->start;
	if (entry->common.has_augmentation)
		bytes_take(&rules, (size_t)unwind_take_uleb(&rules));
	return !bytes_failed(&rules) && run_program(&run, &rules) &&
	    row->cfa.kind != UNWIND_UNSPECIFIED;
}
