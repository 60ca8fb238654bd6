/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_flow.c -- what is in the registers at each instruction of a function.
 *
 * Every instruction that has been reached has a state: what is known before it
 * is executed.  An instruction makes the state of those that may follow; where
 * ways meet, only what is the same on all of them stays known.  A state can only
 * lose, so this ends.
 *
 * What follows a call is less certain than what a jump goes to: the callee may
 * never return, and then something else begins there.  So these ways are taken
 * last, and only where nothing speaks against it.
 */
#include "src/symbols/unwind/code_rules.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/index.h"
#include "src/base/memory.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14,
	R15, RETURN, N_VALUES = 16 };

enum {
	FLOW_INSTRUCTIONS_MAX = 1 << 16,	/* of a function */
	FLOW_TAILS_MAX = 64,
	FLOW_CASES_MAX = 4096,		/* of a jump by a table */
	FLOW_JUMPS_MAX = 64,		/* that are looked at for one address */
	FLOW_SEARCH_SIZE = 4096,	/* bytes of a callee, for a return */
	FLOW_SEARCH_BRANCHES = 256,
	FLOW_CALLEES = 1024,		/* that are remembered */
	FLOW_FRAME_MAX = 1 << 30,	/* bytes */
	FLOW_NOWHERE = INT32_MIN,
};

/* Registers that callees save, and the return address. */
static const uint8_t saved[CODE_SAVED] = { RBX, RBP, R12, R13, R14, R15,
	RETURN };

enum flow_kind {
	FLOW_UNKNOWN,
	FLOW_ENTRY,		/* what register `number` was at the start */
	FLOW_CFA,		/* CFA + number */
	FLOW_ZERO,
	FLOW_ADDRESS,		/* the address `number` */
	FLOW_OFFSET,		/* a 4-byte entry of the table at `number` */
	FLOW_SUM,		/* that entry + the table's address */
	FLOW_POINTER,		/* an 8-byte entry of the table at `number` */
};

struct flow_value {
	int64_t number;
	enum flow_kind kind;
};

struct flow_state {
	struct flow_value values[N_VALUES];
	int32_t slots[CODE_SAVED];	/* where saved[i] is, from the CFA;
					 * FLOW_NOWHERE */
	uint32_t compared;	/* the last comparison's number + 1; 0: none */
	uint32_t n_cases;	/* bound of what was compared; 0: none */
};

struct flow_node {
	uint64_t address;
	struct flow_state state;
	uint8_t size;		/* 0: not decoded yet */
	uint8_t flow;
	bool is_queued;
};

/* What follows a call. */
struct flow_return {
	uint32_t node;
	uint64_t address;
};

/* Whether a callee may return; address 0: of none. */
struct flow_callee {
	uint64_t address;
	bool may_return;
};

struct code_flow {
	struct flow_node *nodes;	/* [n] */
	size_t n, capacity;
	struct index index;		/* of nodes by their address */
	uint32_t *queue;
	size_t n_queued, queue_capacity;
	struct flow_return *returns;
	size_t n_returns, returns_capacity;
	struct flow_callee callees[FLOW_CALLEES];

	/* Of the present function: */
	uint64_t *budget;		/* instructions that may be looked at */
	const struct code_map *map;
	struct code_function *function;
	uint64_t start, end;		/* up to the next start */
	size_t tails_capacity;
	bool clobbers_rbp;		/* it returns with another one */
};

struct code_flow *
code_flow_new(struct error *error)
{
	return memory_array(1, sizeof(struct code_flow), error);
}

void
code_flow_free(struct code_flow *flow)
{
	if (flow == NULL)
		return;
	free(flow->nodes);
	index_free(&flow->index);
	free(flow->queue);
	free(flow->returns);
	free(flow);
}

/* ---- states ---- */

static bool
flow_is(const struct flow_value *value, enum flow_kind kind, int64_t number)
{
	return value->kind == kind && value->number == number;
}

static void
flow_set(struct flow_state *state, unsigned reg, enum flow_kind kind,
         int64_t number)
{
	state->values[reg] = (struct flow_value){ number, kind };
}

static struct flow_state
flow_state_at_start(void)
{
	struct flow_state state = { 0 };

	for (int i = 0; i < CODE_SAVED; i++) {
		state.slots[i] = FLOW_NOWHERE;
		if (saved[i] != RETURN)
			flow_set(&state, saved[i], FLOW_ENTRY, saved[i]);
	}
	flow_set(&state, RSP, FLOW_CFA, -8);
	state.slots[CODE_SAVED - 1] = -8;
	return state;
}

/* Whether a jump from here passes the function's own frame on. */
static bool
flow_state_is_start(const struct flow_state *state)
{
	if (!flow_is(&state->values[RSP], FLOW_CFA, -8) ||
	    state->slots[CODE_SAVED - 1] != -8)
		return false;
	for (int i = 0; i < CODE_SAVED - 1; i++)
		if (!flow_is(&state->values[saved[i]], FLOW_ENTRY, saved[i]))
			return false;
	return true;
}

/* True if *into has lost something. */
static bool
flow_state_join(struct flow_state *into, const struct flow_state *other)
{
	bool has_changed = false;

	for (int i = 0; i < N_VALUES; i++)
		if (into->values[i].kind != FLOW_UNKNOWN &&
		    !flow_is(&into->values[i], other->values[i].kind,
		             other->values[i].number)) {
			flow_set(into, (unsigned)i, FLOW_UNKNOWN, 0);
			has_changed = true;
		}
	for (int i = 0; i < CODE_SAVED; i++)
		if (into->slots[i] != FLOW_NOWHERE &&
		    into->slots[i] != other->slots[i]) {
			into->slots[i] = FLOW_NOWHERE;
			has_changed = true;
		}
	if (into->compared != 0 && into->compared != other->compared) {
		into->compared = 0;
		has_changed = true;
	}
	if (into->n_cases != 0 && into->n_cases != other->n_cases) {
		into->n_cases = 0;
		has_changed = true;
	}
	return has_changed;
}

/* Moves the stack pointer; what lies below it is lost. */
static bool
flow_is_in_frame(int64_t at)
{
	return at >= -FLOW_FRAME_MAX && at <= FLOW_FRAME_MAX;
}

static void
flow_move_sp(struct flow_state *state, const struct flow_value *to,
             int64_t by)
{
	struct flow_value *sp = &state->values[RSP];

	*sp = *to;
	sp->number += by;
	if (sp->kind != FLOW_CFA || !flow_is_in_frame(sp->number))
		flow_set(state, RSP, FLOW_UNKNOWN, 0);
	for (int i = 0; i < CODE_SAVED && sp->kind == FLOW_CFA; i++)
		if (state->slots[i] < sp->number)
			state->slots[i] = FLOW_NOWHERE;
}

/* `size` bytes are written at CFA + at. */
static void
flow_store(struct flow_state *state, int64_t at, unsigned size,
           const struct flow_value *value)
{
	for (int i = 0; i < CODE_SAVED; i++) {
		const bool is_same = size == 8 &&
		    flow_is(value, FLOW_ENTRY, saved[i]);

		if (state->slots[i] != FLOW_NOWHERE &&
		    state->slots[i] < at + size && state->slots[i] + 8 > at &&
		    !(is_same && state->slots[i] == at))
			state->slots[i] = FLOW_NOWHERE;
		if (is_same && state->slots[i] == FLOW_NOWHERE)
			state->slots[i] = (int32_t)at;
	}
}

static struct flow_value
flow_load(const struct flow_state *state, int64_t at)
{
	for (int i = 0; i < CODE_SAVED; i++)
		if (state->slots[i] != FLOW_NOWHERE && state->slots[i] == at)
			return (struct flow_value){ saved[i], FLOW_ENTRY };
	return (struct flow_value){ 0, FLOW_UNKNOWN };
}

static void
flow_push(struct flow_state *state, const struct flow_value *value)
{
	const struct flow_value sp = state->values[RSP], copy = *value;

	flow_move_sp(state, &sp, -8);
	if (state->values[RSP].kind == FLOW_CFA)
		flow_store(state, state->values[RSP].number, 8, &copy);
}

static struct flow_value
flow_pop(struct flow_state *state)
{
	const struct flow_value sp = state->values[RSP];
	struct flow_value value = { 0, FLOW_UNKNOWN };

	if (sp.kind == FLOW_CFA)
		value = flow_load(state, sp.number);
	flow_move_sp(state, &sp, 8);
	return value;
}

/* ---- instructions ---- */

/* Whether memory is at CFA + *at. */
static bool
flow_memory(const struct flow_state *state, const struct x86_instruction *i,
            int64_t *at)
{
	if (i->mod == 3 || i->base == X86_NO_REGISTER ||
	    i->index != X86_NO_REGISTER || i->has_segment ||
	    i->has_address32 || state->values[i->base].kind != FLOW_CFA)
		return false;
	*at = state->values[i->base].number + i->displacement;
	return flow_is_in_frame(*at);
}

/* Whether memory is an entry of a table at an address, of `size` bytes. */
static bool
flow_table(const struct flow_state *state, const struct x86_instruction *i,
           unsigned size, int64_t *table)
{
	const struct flow_value *base = i->base != X86_NO_REGISTER ?
	    &state->values[i->base] : NULL;

	if (i->mod == 3 || i->index == X86_NO_REGISTER || i->scale != size ||
	    i->has_segment || (base != NULL && base->kind != FLOW_ADDRESS))
		return false;
	*table = (int64_t)((base != NULL ? (uint64_t)base->number : 0) +
	                   (uint64_t)(int64_t)i->displacement);
	return true;
}

static void
flow_write(struct flow_state *state, unsigned reg,
           const struct flow_value *value)
{
	if (reg == RSP)
		flow_move_sp(state, value, 0);
	else
		state->values[reg] = *value;
}

/* The bytes of an instruction's operand, unless it is a byte's. */
static unsigned
flow_width(const struct x86_instruction *i)
{
	return i->is_wide ? 8 : i->is_short ? 2 : 4;
}

/* mov; false: it is something else. */
static bool
flow_apply_mov(struct flow_state *state, const struct x86_instruction *i)
{
	static const struct flow_value unknown = { 0, FLOW_UNKNOWN };
	int64_t at;

	switch (i->opcode) {
	case 0x89:
		if (i->mod == 3)
			flow_write(state, i->rm, i->is_wide ?
			           &state->values[i->reg] : &unknown);
		else if (flow_memory(state, i, &at))
			flow_store(state, at, flow_width(i),
			           &state->values[i->reg]);
		return true;
	case 0x88: case 0xc6: case 0xc7:
		if (i->mod == 3)
			return false;
		if (flow_memory(state, i, &at))
			flow_store(state, at, i->opcode == 0xc7 ?
			           flow_width(i) : 1, &unknown);
		return true;
	case 0x8b:
		if (!i->is_wide || (i->mod != 3 && i->has_segment))
			return false;
		if (i->mod == 3) {
			flow_write(state, i->reg, &state->values[i->rm]);
		} else if (flow_memory(state, i, &at)) {
			const struct flow_value value = flow_load(state, at);

			flow_write(state, i->reg, &value);
		} else if (flow_table(state, i, 8, &at)) {
			flow_write(state, i->reg,
			    &(struct flow_value){ at, FLOW_POINTER });
		} else {
			return false;
		}
		return true;
	}
	return false;
}

/* Other ways in which addresses come into registers; false: none of these. */
static bool
flow_apply_address(struct flow_state *state, const struct x86_instruction *i)
{
	struct flow_value value = { 0, FLOW_UNKNOWN }, *to, *from;
	int64_t at;

	if ((i->opcode & 0xf8) == 0xb8 && !i->is_short) {
		flow_write(state, i->rm, &(struct flow_value){ i->immediate,
			FLOW_ADDRESS });
		return true;
	}
	switch (i->opcode) {
	case 0x8d:
		if (i->is_wide && i->is_relative)
			value = (struct flow_value){ (int64_t)i->target,
				FLOW_ADDRESS };
		else if (i->is_wide && flow_memory(state, i, &at))
			value = (struct flow_value){ at, FLOW_CFA };
		flow_write(state, i->reg, &value);
		return true;
	case 0x63:
		if (!i->is_wide || !flow_table(state, i, 4, &at))
			return false;
		flow_write(state, i->reg, &(struct flow_value){ at,
			FLOW_OFFSET });
		return true;
	case 0x01: case 0x03:
		if (!i->is_wide || i->mod != 3)
			return false;
		to = &state->values[i->opcode == 0x01 ? i->rm : i->reg];
		from = &state->values[i->opcode == 0x01 ? i->reg : i->rm];
		if (to->number != from->number || to == &state->values[RSP] ||
		    !((to->kind == FLOW_OFFSET &&
		       from->kind == FLOW_ADDRESS) ||
		      (to->kind == FLOW_ADDRESS && from->kind == FLOW_OFFSET)))
			return false;
		state->compared = 0;
		to->kind = FLOW_SUM;
		return true;
	case 0x31: case 0x33:
		if (i->mod != 3 || i->reg != i->rm || i->reg == RSP ||
		    i->is_short)
			return false;
		state->compared = 0;
		flow_set(state, i->reg, FLOW_ZERO, 0);
		return true;
	}
	return false;
}

/* add, sub and cmp of a number; false: something else. */
static bool
flow_apply_number(struct flow_state *state, const struct x86_instruction *i)
{
	const unsigned row = i->reg & 7;
	struct flow_value *to = &state->values[i->rm & 15];

	if (i->opcode == 0x3c || i->opcode == 0x3d) {
		state->compared = (uint32_t)i->immediate + 1;
		return true;
	}
	if (i->opcode < 0x80 || i->opcode > 0x83 || !i->has_modrm)
		return false;
	if (row == 7) {
		state->compared = (uint32_t)i->immediate + 1;
		return true;
	}
	if (i->opcode == 0x80 || !i->is_wide || i->mod != 3 ||
	    (row != 0 && row != 5) || to->kind != FLOW_CFA)
		return false;
	state->compared = 0;
	if (i->rm == RSP) {
		const struct flow_value sp = *to;

		flow_move_sp(state, &sp, row == 0 ? i->immediate :
		             -i->immediate);
	} else {
		to->number += row == 0 ? i->immediate : -i->immediate;
		if (!flow_is_in_frame(to->number))
			flow_set(state, i->rm, FLOW_UNKNOWN, 0);
	}
	return true;
}

/* Pushes and pops; false: something else. */
static bool
flow_apply_stack(struct flow_state *state, const struct x86_instruction *i)
{
	static const struct flow_value unknown = { 0, FLOW_UNKNOWN };
	const uint8_t opcode = i->opcode;
	struct flow_value value;

	if (i->is_short && ((opcode & 0xf0) == 0x50 || opcode == 0x68 ||
	    opcode == 0x6a || opcode == 0x9c || opcode == 0x9d)) {
		flow_set(state, RSP, FLOW_UNKNOWN, 0);
		return false;
	}
	if ((opcode & 0xf8) == 0x50) {
		flow_push(state, &state->values[i->rm]);
		return true;
	}
	if ((opcode & 0xf8) == 0x58) {
		value = flow_pop(state);
		flow_write(state, i->rm, &value);
		return true;
	}
	switch (opcode) {
	case 0x68: case 0x6a: case 0x9c:
		flow_push(state, &unknown);
		return true;
	case 0x9d:
		flow_pop(state);
		return true;
	case 0x8f:
		flow_pop(state);
		return i->mod != 3;
	case 0xff:
		if ((i->reg & 7) == 6)
			flow_push(state, &unknown);
		return (i->reg & 7) == 6;
	case 0xc9:
		value = state->values[RBP];
		flow_move_sp(state, &value, 0);
		value = flow_pop(state);
		flow_write(state, RBP, &value);
		return true;
	case 0xc8:
		flow_set(state, RSP, FLOW_UNKNOWN, 0);
		flow_set(state, RBP, FLOW_UNKNOWN, 0);
		return true;
	}
	return false;
}

/* Makes the state that is before an instruction the one after it. */
static void
flow_apply(struct flow_state *state, const struct x86_instruction *i)
{
	uint32_t written;
	int64_t at;

	if (i->map == X86_ONE_BYTE && !i->is_vex &&
	    (flow_apply_stack(state, i) || flow_apply_mov(state, i) ||
	     flow_apply_address(state, i) || flow_apply_number(state, i)))
		return;
	if (i->map == X86_ONE_BYTE)
		state->compared = 0;
	/* movups, movaps, movdqu: 16 bytes. */
	if (i->map == X86_0F && (i->opcode == 0x11 || i->opcode == 0x29 ||
	    i->opcode == 0x7f) && flow_memory(state, i, &at))
		flow_store(state, at, 16, &(struct flow_value){ 0 });
	written = x86_written(i);
	for (unsigned reg = 0; written >> reg != 0; reg++)
		if ((written >> reg & 1) != 0)
			flow_set(state, reg, FLOW_UNKNOWN, 0);
}

/* What a callee leaves. */
static void
flow_apply_call(struct flow_state *state)
{
	static const uint8_t lost[] = { RAX, RCX, RDX, RSI, RDI, R8, R9, R10,
		R11 };

	for (size_t i = 0; i < sizeof lost; i++)
		flow_set(state, lost[i], FLOW_UNKNOWN, 0);
	state->compared = state->n_cases = 0;
}

/* ---- nodes ---- */

static bool
flow_node_is_at(const void *nodes, uint32_t number, const void *address)
{
	return ((const struct flow_node *)nodes)[number].address ==
	    *(const uint64_t *)address;
}

/* The node of an address; NULL: it has not been reached. */
static struct flow_node *
flow_find(struct code_flow *flow, uint64_t address)
{
	const uint32_t number = index_find(&flow->index, index_hash(address),
	    flow_node_is_at, flow->nodes, &address);

	return number == NO_INDEX ? NULL : &flow->nodes[number];
}

static int
flow_enqueue(struct code_flow *flow, struct flow_node *node,
             struct error *error)
{
	if (node->is_queued)
		return 0;
	if (memory_grow(&flow->queue, &flow->queue_capacity,
	                flow->n_queued + 1, sizeof *flow->queue, error) != 0)
		return -1;
	node->is_queued = true;
	flow->queue[flow->n_queued++] = (uint32_t)(node - flow->nodes);
	return 0;
}

/* An instruction is reached in a state. */
static int
flow_reach(struct code_flow *flow, uint64_t address,
           const struct flow_state *state, struct error *error)
{
	const uint32_t hash = index_hash(address);
	struct index_slot *slot = index_seek(&flow->index, hash,
	    flow_node_is_at, flow->nodes, &address, error);
	struct flow_node *node;

	if (slot == NULL)
		return -1;
	if (slot->number != 0) {
		node = &flow->nodes[slot->number - 1];
		return flow_state_join(&node->state, state) ?
		    flow_enqueue(flow, node, error) : 0;
	}
	if (flow->n == FLOW_INSTRUCTIONS_MAX) {
		flow->function->is_incomplete = true;
		return 0;
	}
	if (memory_grow(&flow->nodes, &flow->capacity, flow->n + 1,
	                sizeof *flow->nodes, error) != 0)
		return -1;
	node = &flow->nodes[flow->n];
	*node = (struct flow_node){ .address = address, .state = *state };
	index_fill(&flow->index, slot, hash, (uint32_t)flow->n++);
	return flow_enqueue(flow, node, error);
}

/* ---- edges ---- */

static int
flow_add_tail(struct code_flow *flow, uint64_t target, struct error *error)
{
	struct code_function *function = flow->function;

	for (size_t i = 0; i < function->n_tails; i++)
		if (function->tails[i] == target)
			return 0;
	if (function->n_tails == FLOW_TAILS_MAX) {
		function->is_incomplete = true;
		return 0;
	}
	if (memory_grow(&function->tails, &flow->tails_capacity,
	                function->n_tails + 1, sizeof *function->tails,
	                error) != 0)
		return -1;
	function->tails[function->n_tails++] = target;
	return 0;
}

/* A jump, or going on to the next instruction. */
static int
flow_go(struct code_flow *flow, uint64_t target,
        const struct flow_state *state, bool is_jump, struct error *error)
{
	const unsigned why = code_map_why(flow->map, target);

	if (why != 0 && target != flow->start) {
		if (flow_state_is_start(state))
			return flow_add_tail(flow, target, error);
		/* A callee that does not return was the last. */
		if (!is_jump && (why & (CODE_CALLED | CODE_GLOBAL)) != 0)
			return 0;
	}
	return flow_reach(flow, target, state, error);
}

static int64_t
flow_table_entry(const struct code_map *map, uint64_t address, unsigned width,
                 bool *is_there)
{
	size_t size;
	const unsigned char *at = code_map_at(map, address, &size);
	uint64_t number = 0;

	*is_there = at != NULL && size >= width;
	if (!*is_there)
		return 0;
	memcpy(&number, at, width);
	number = le64toh(number);
	return width == 4 ? (int64_t)(int32_t)(uint32_t)number :
	    (int64_t)number;
}

/* Goes to all that a table has; false in *is_known: to nothing. */
static int
flow_go_by_table(struct code_flow *flow, uint64_t table, unsigned width,
                 const struct flow_state *state, bool *is_known,
                 struct error *error)
{
	const bool has_bound = state->n_cases != 0 &&
	    state->n_cases <= FLOW_CASES_MAX;
	const uint32_t n = has_bound ? state->n_cases : FLOW_CASES_MAX;
	struct flow_state after = *state;
	size_t size;

	*is_known = false;
	after.n_cases = after.compared = 0;
	for (uint32_t i = 0; i < n; i++) {
		bool is_there;
		const uint64_t target = (uint64_t)flow_table_entry(flow->map,
		    table + (uint64_t)i * width, width, &is_there) +
		    (width == 4 ? table : 0);

		if (!is_there || code_map_code_at(flow->map, target,
		                                  &size) == NULL ||
		    (!has_bound && (target <= flow->start ||
		                    target >= flow->end)))
			break;
		if (*flow->budget == 0) {
			flow->function->is_incomplete = true;
			break;
		}
		--*flow->budget;
		if (flow_go(flow, target, &after, true, error) != 0)
			return -1;
		*is_known = true;
	}
	return 0;
}

static int
flow_go_indirect(struct code_flow *flow, const struct x86_instruction *i,
                 const struct flow_state *state, struct error *error)
{
	const struct flow_value *value = &state->values[i->rm];
	bool is_known = false;
	int64_t table;

	if (i->mod == 3 && value->kind == FLOW_SUM) {
		if (flow_go_by_table(flow, (uint64_t)value->number, 4, state,
		                     &is_known, error) != 0)
			return -1;
	} else if ((i->mod == 3 && value->kind == FLOW_POINTER) ||
	           flow_table(state, i, 8, &table)) {
		if (flow_go_by_table(flow, i->mod == 3 ?
		                     (uint64_t)value->number : (uint64_t)table,
		                     8, state, &is_known, error) != 0)
			return -1;
	}
	if (is_known)
		return 0;
	if (flow_state_is_start(state))
		flow->function->leads_anywhere = true;
	else
		flow->function->is_incomplete = true;
	return 0;
}

static int
flow_branch(struct code_flow *flow, const struct x86_instruction *i,
            uint64_t next, const struct flow_state *state,
            struct error *error)
{
	struct flow_state taken = *state, other = *state;
	const bool is_loop = i->map == X86_ONE_BYTE && i->opcode >= 0xe0;

	switch (is_loop ? 0 : i->opcode & 15) {
	case 7:			/* above */
		other.n_cases = state->compared;
		break;
	case 6:			/* below or equal */
		taken.n_cases = state->compared;
		break;
	case 3:			/* above or equal */
		other.n_cases = state->compared > 0 ? state->compared - 1 : 0;
		break;
	case 2:			/* below */
		taken.n_cases = state->compared > 0 ? state->compared - 1 : 0;
		break;
	}
	return flow_go(flow, i->target, &taken, true, error) != 0 ? -1 :
	    flow_go(flow, next, &other, false, error);
}

/* ---- what follows a call ---- */

struct flow_extent {
	uint64_t start, end;
};

/* Whether jumps to an address come from outside of an extent, or from behind. */
static void
flow_jumps_to(const struct code_map *map, const struct flow_extent *extent,
              uint64_t address, bool *is_from_outside, bool *is_from_behind)
{
	const size_t first = code_map_jumps_from(map, address);

	*is_from_outside = *is_from_behind = false;
	for (size_t i = first; i < map->n_jumps && i < first + FLOW_JUMPS_MAX &&
	     map->jumps[i].target == address; i++) {
		const uint64_t source = map->jumps[i].source;

		if (source < extent->start || source >= extent->end)
			*is_from_outside = true;
		else
			*is_from_behind |= source > address;
	}
}

/*
 * Whether something else begins at what follows a call, whose callee then does
 * not return.
 */
static bool
flow_is_other(const struct code_map *map, const struct flow_extent *extent,
              uint64_t address)
{
	size_t size, padding;
	const unsigned char *code = code_map_code_at(map, address, &size);
	bool is_from_outside, is_from_behind;

	if (code == NULL)
		return true;
	padding = x86_padding(code, size);
	address += padding;
	if (padding == size || code_map_why(map, address) != 0)
		return true;
	flow_jumps_to(map, extent, address, &is_from_outside, &is_from_behind);
	return is_from_outside || (padding > 0 && !is_from_behind) ||
	    code_map_is_taken(map, address);
}

/* A walk through a callee, up to its first return. */
struct code_search {
	struct flow_extent extent;
	uint64_t seen[FLOW_SEARCH_SIZE / 64];	/* a bit for each byte */
	uint64_t left[FLOW_SEARCH_BRANCHES];	/* still to be followed */
	unsigned n;
};

/* Follows instructions up to a jump; true: the callee may return. */
static bool
flow_search_on(struct code_search *search, const struct code_map *map,
               uint64_t address, uint64_t *budget)
{
	const struct flow_extent *extent = &search->extent;
	struct x86_instruction i = { .flow = X86_NEXT };

	while (i.flow != X86_JUMP && i.flow != X86_STOP) {
		const uint64_t at = address - extent->start;
		const uint64_t bit = (uint64_t)1 << at % 64;
		size_t size;
		const unsigned char *code = code_map_code_at(map, address,
		                                             &size);

		if (address >= extent->end)
			return false;
		if (address < extent->start || at >= FLOW_SEARCH_SIZE ||
		    *budget == 0 || code == NULL ||
		    !x86_decode(code, size, address, &i))
			return true;
		if ((search->seen[at / 64] & bit) != 0)
			return false;
		search->seen[at / 64] |= bit;
		--*budget;
		address += i.size;
		switch (i.flow) {
		case X86_RETURN:
		case X86_JUMP_INDIRECT:
			return true;
		case X86_JUMP:
		case X86_BRANCH:
			if (i.target < extent->start ||
			    i.target >= extent->end ||
			    search->n == FLOW_SEARCH_BRANCHES)
				return true;
			search->left[search->n++] = i.target;
			break;
		case X86_CALL:
		case X86_CALL_INDIRECT:
		case X86_HALT:
			if (flow_is_other(map, extent, address))
				return false;
		}
	}
	return false;
}

/* Whether a callee may return, if all that it calls does. */
static bool
flow_may_return(struct code_flow *flow, uint64_t callee, uint64_t *budget)
{
	struct flow_callee *known = &flow->callees[index_hash(callee) &
	    (FLOW_CALLEES - 1)];
	struct code_search search;

	if (known->address == callee)
		return known->may_return;
	search = (struct code_search){ .extent = { callee,
	    code_map_end(flow->map, callee) } };
	search.left[search.n++] = callee;
	*known = (struct flow_callee){ callee, false };
	while (search.n > 0 && !known->may_return)
		known->may_return = flow_search_on(&search, flow->map,
		    search.left[--search.n], budget);
	return known->may_return;
}

static int
flow_add_return(struct code_flow *flow, const struct flow_node *node,
                const struct x86_instruction *i, uint64_t *budget,
                struct error *error)
{
	const uint64_t next = node->address + i->size;
	const struct flow_extent extent = { flow->start, flow->end };

	if (flow_is_other(flow->map, &extent, next) ||
	    (i->flow == X86_CALL && !flow_may_return(flow, i->target, budget)))
		return 0;
	if (memory_grow(&flow->returns, &flow->returns_capacity,
	                flow->n_returns + 1, sizeof *flow->returns, error) != 0)
		return -1;
	flow->returns[flow->n_returns++] = (struct flow_return){
		(uint32_t)(node - flow->nodes), next };
	return 0;
}

/* The way on from a call, unless another way has another stack there. */
static int
flow_return(struct code_flow *flow, const struct flow_return *edge,
            struct error *error)
{
	struct flow_state state = flow->nodes[edge->node].state;
	const struct flow_node *node = flow_find(flow, edge->address);

	flow_apply_call(&state);
	if (node != NULL && node->state.values[RSP].kind == FLOW_CFA &&
	    state.values[RSP].kind == FLOW_CFA &&
	    node->state.values[RSP].number != state.values[RSP].number)
		return 0;
	return flow_go(flow, edge->address, &state, false, error);
}

/* ---- a function ---- */

/* A call of the next instruction pushes its address. */
static bool
flow_is_push(const struct x86_instruction *i, uint64_t next)
{
	return i->flow == X86_CALL && i->target == next;
}

static int
flow_follow_node(struct code_flow *flow, uint32_t number, uint64_t *budget,
                 struct error *error)
{
	struct flow_node *node = &flow->nodes[number];
	struct flow_state state = node->state;
	struct x86_instruction i;
	uint64_t next;
	size_t size;
	const unsigned char *code = code_map_code_at(flow->map, node->address,
	                                             &size);

	node->is_queued = false;
	if (code == NULL || !x86_decode(code, size, node->address, &i)) {
		flow->function->is_incomplete = true;
		return 0;
	}
	node->size = i.size;
	node->flow = i.flow;
	next = node->address + i.size;
	if (flow_is_push(&i, next)) {
		flow_push(&state, &(struct flow_value){ 0 });
		return flow_go(flow, next, &state, false, error);
	}
	switch (i.flow) {
	case X86_JUMP:
		return flow_go(flow, i.target, &state, true, error);
	case X86_BRANCH:
		return flow_branch(flow, &i, next, &state, error);
	case X86_JUMP_INDIRECT:
		return flow_go_indirect(flow, &i, &state, error);
	case X86_CALL:
	case X86_CALL_INDIRECT:
	case X86_HALT:
		return flow_add_return(flow, node, &i, budget, error);
	case X86_RETURN:
		flow->clobbers_rbp |= !flow_is(&state.values[RBP], FLOW_ENTRY,
		                               RBP);
		return 0;
	case X86_STOP:
		return 0;
	}
	flow_apply(&state, &i);
	return flow_go(flow, next, &state, false, error);
}

static int
flow_follow_all(struct code_flow *flow, uint64_t *budget, struct error *error)
{
	while (flow->n_queued > 0 || flow->n_returns > 0) {
		if (*budget == 0) {
			flow->function->is_incomplete = true;
			return 0;
		}
		--*budget;
		if (flow->n_queued > 0) {
			if (flow_follow_node(flow, flow->queue[--flow->n_queued],
			                     budget, error) != 0)
				return -1;
		} else if (flow_return(flow, &flow->returns[--flow->n_returns],
		                       error) != 0) {
			return -1;
		}
	}
	return 0;
}

/* ---- rules ---- */

/* How to find what the register saved[i] was. */
static void
flow_save_rule(const struct flow_state *state, int i, struct code_rule *rule)
{
	const uint8_t reg = saved[i];

	rule->kinds[i] = CFI_UNDEFINED;
	if (reg != RETURN && flow_is(&state->values[reg], FLOW_ENTRY, reg)) {
		rule->kinds[i] = CFI_SAME;
		return;
	}
	if (state->slots[i] != FLOW_NOWHERE) {
		rule->kinds[i] = CFI_OFFSET;
		rule->operands[i] = state->slots[i];
		return;
	}
	for (int other = 0; other < N_VALUES; other++)
		if (flow_is(&state->values[other], FLOW_ENTRY, reg)) {
			rule->kinds[i] = CFI_REGISTER;
			rule->operands[i] = other;
		}
}

static struct code_rule
flow_rule(const struct code_flow *flow, const struct flow_node *node)
{
	static const uint8_t bases[] = { RSP, RBP, RBX, R12, R13, R14, R15 };
	const struct flow_state *state = &node->state;
	struct code_rule rule;
	size_t i = 0;

	memset(&rule, 0, sizeof rule);
	rule.start = node->address;
	rule.end = node->address + node->size;
	/* The ABI's mark of the outermost frame is a frame pointer of 0. */
	rule.is_outermost = flow->start == flow->map->entry ||
	    (!flow->clobbers_rbp && state->slots[1] == FLOW_NOWHERE &&
	     state->values[RBP].kind == FLOW_ZERO);
	while (i < sizeof bases && state->values[bases[i]].kind != FLOW_CFA)
		i++;
	if (rule.is_outermost || i == sizeof bases) {
		rule.is_known = rule.is_outermost;
		return rule;
	}
	rule.cfa_register = bases[i];
	rule.cfa_offset = (int32_t)-state->values[bases[i]].number;
	for (int k = 0; k < CODE_SAVED; k++)
		flow_save_rule(state, k, &rule);
	rule.is_known = rule.kinds[CODE_SAVED - 1] != CFI_UNDEFINED;
	return rule;
}

static int
flow_compare_nodes(const void *left, const void *right, void *context)
{
	const struct flow_node *a = left, *b = right;

	(void)context;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* One for each range of instructions that share it. */
static int
flow_make_rules(struct code_flow *flow, struct error *error)
{
	const size_t shared = offsetof(struct code_rule, cfa_offset);
	struct code_function *function = flow->function;
	size_t capacity = 0;

	if (sort_items(flow->nodes, flow->n, sizeof *flow->nodes,
	               flow_compare_nodes, NULL, error) != 0)
		return -1;
	for (size_t i = 0; i < flow->n; i++) {
		struct code_rule *last = function->n_rules > 0 ?
		    &function->rules[function->n_rules - 1] : NULL;
		struct code_rule rule;

		if (flow->nodes[i].size == 0)
			continue;
		rule = flow_rule(flow, &flow->nodes[i]);
		if (last != NULL && last->end == rule.start &&
		    memcmp((char *)last + shared, (char *)&rule + shared,
		           sizeof rule - shared) == 0) {
			last->end = rule.end;
			continue;
		}
		if (memory_grow(&function->rules, &capacity,
		                function->n_rules + 1, sizeof rule,
		                error) != 0)
			return -1;
		function->rules[function->n_rules++] = rule;
	}
	return 0;
}

int
code_flow_follow(struct code_flow *flow, const struct code_map *map,
                 uint64_t start, uint64_t *budget,
                 struct code_function *function, struct error *error)
{
	const struct flow_state state = flow_state_at_start();

	*function = (struct code_function){ .start = start };
	flow->map = map;
	flow->function = function;
	flow->start = start;
	flow->end = code_map_end(map, start);
	flow->tails_capacity = 0;
	flow->clobbers_rbp = false;
	flow->n = flow->n_queued = flow->n_returns = 0;
	flow->budget = budget;
	index_clear(&flow->index);
	return flow_reach(flow, start, &state, error) != 0 ||
	    flow_follow_all(flow, budget, error) != 0 ||
	    flow_make_rules(flow, error) != 0 ? -1 : 0;
}
