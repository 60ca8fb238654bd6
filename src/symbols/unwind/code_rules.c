/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_rules.c -- which function an address is in, and what calls it.
 *
 * A function reaches from its start over the code that its instructions lead
 * to, wherever that lies.  An address belongs to the start before it, if that is
 * a function and leads there; else to a function that jumps to where it is (some
 * are only jumped to, and a part of a function may be moved far away); else to
 * the code after a return to which nothing leads, or whose address is in data:
 * that must be called through pointers.
 */
#include "src/symbols/unwind/code_rules.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/index.h"
#include "src/base/memory.h"

enum {
	CODE_FUNCTIONS_MAX = 1 << 16,
	CODE_RULES_MAX = 64 << 20,	/* bytes of a module's functions */
	CODE_BUDGET = 1 << 26,		/* instructions looked at in a module */
	CODE_CALLERS_MAX = 64,		/* functions that are tried for a jump */
	CODE_JUMPS_MAX = 1 << 14,	/* jumps that are looked at */
	CODE_PATH_MAX = 64,		/* functions between a call and a callee
					 * that end by jumping */
	CODE_CALL_MAX = 8,		/* bytes of a call */
};

struct code_rules {
	struct code_map map;
	struct code_flow *flow;
	uint64_t budget;
	struct code_function **functions;	/* [n] */
	struct index index;			/* of them by their start */
	size_t n, capacity;
	size_t n_bytes;				/* of the functions */
};

struct code_rules *
code_rules_new(const struct module_file *module, struct error *error)
{
	struct code_rules *rules = memory_array(1, sizeof *rules, error);

	if (rules == NULL)
		return NULL;
	rules->budget = CODE_BUDGET;
	rules->flow = code_flow_new(error);
	if (rules->flow != NULL && (module == NULL ||
	    code_map_read(&rules->map, module, error) == 0))
		return rules;
	code_rules_free(rules);
	return NULL;
}

static void
code_function_free(struct code_function *function)
{
	if (function == NULL)
		return;
	free(function->rules);
	free(function->tails);
	free(function);
}

void
code_rules_free(struct code_rules *rules)
{
	if (rules == NULL)
		return;
	for (size_t i = 0; i < rules->n; i++)
		code_function_free(rules->functions[i]);
	free(rules->functions);
	index_free(&rules->index);
	code_flow_free(rules->flow);
	code_map_free(&rules->map);
	free(rules);
}

size_t
code_rules_bytes(const struct code_rules *rules)
{
	return sizeof *rules + code_map_bytes(&rules->map) + rules->n_bytes;
}

/* ---- functions ---- */

static bool
code_function_starts_at(const void *functions, uint32_t number,
                        const void *start)
{
	struct code_function *const *function = functions;

	return function[number]->start == *(const uint64_t *)start;
}

/* Once a bound is reached, functions are empty. */
static bool
code_rules_is_full(const struct code_rules *rules)
{
	return rules->n >= CODE_FUNCTIONS_MAX ||
	    rules->n_bytes > CODE_RULES_MAX || rules->budget == 0;
}

const struct code_map *
code_rules_map(const struct code_rules *rules)
{
	return &rules->map;
}

size_t
code_rules_count(const struct code_rules *rules)
{
	return rules->n;
}

const struct code_function *
code_rules_at(const struct code_rules *rules, size_t i)
{
	return rules->functions[i];
}

const struct code_function *
code_rules_function(struct code_rules *rules, uint64_t start,
                    struct error *error)
{
	static const struct code_function none = { .is_incomplete = true };
	const uint32_t hash = index_hash(start);
	struct index_slot *slot = index_seek(&rules->index, hash,
	    code_function_starts_at, rules->functions, &start, error);
	struct code_function *function;

	if (slot == NULL)
		return NULL;
	if (slot->number != 0)
		return rules->functions[slot->number - 1];
	if (code_rules_is_full(rules))
		return &none;
	if (memory_grow(&rules->functions, &rules->capacity, rules->n + 1,
	                sizeof(struct code_function *), error) != 0)
		return NULL;
	function = memory_array(1, sizeof *function, error);
	if (function == NULL)
		return NULL;
	if (code_flow_follow(rules->flow, &rules->map, start, &rules->budget,
	                     function, error) != 0) {
		code_function_free(function);
		return NULL;
	}
	function->symbol = (struct symbol){ .name = "", .start = start,
		.limit = code_map_end(&rules->map, start), .is_local = true };
	rules->functions[rules->n] = function;
	index_fill(&rules->index, slot, hash, (uint32_t)rules->n++);
	rules->n_bytes += sizeof *function +
	    function->n_rules * sizeof *function->rules +
	    function->n_tails * sizeof *function->tails;
	return function;
}

/* NULL: the function does not reach the address. */
static const struct code_rule *
code_function_find(const struct code_function *function, uint64_t address)
{
	const size_t n = partition_point(function->n_rules, i,
	    function->rules[i].start <= address);

	return n > 0 && address < function->rules[n - 1].end ?
	    &function->rules[n - 1] : NULL;
}

/* ---- which function ---- */

static bool
code_function_has_tail(const struct code_function *function, uint64_t target)
{
	for (size_t i = 0; i < function->n_tails; i++)
		if (function->tails[i] == target)
			return true;
	return false;
}

/*
 * Whether a start is one of a function, and not a part that was moved: it is
 * called, or only jumped to by functions that have left their own frames.
 */
static int
code_rules_is_function(struct code_rules *rules, const struct code_start *start,
                       struct error *error)
{
	const struct code_map *map = &rules->map;
	const size_t first = code_map_jumps_from(map, start->address);
	const uint64_t end = code_map_end(map, start->address);
	bool has_jumps = false, has_tails = false;

	if ((start->why & (CODE_CALLED | CODE_GLOBAL)) != 0)
		return 1;
	for (size_t i = first; i < map->n_jumps &&
	     i < first + CODE_CALLERS_MAX &&
	     map->jumps[i].target == start->address; i++) {
		const uint64_t source = map->jumps[i].source;
		const struct code_start *from = code_map_start(map, source);
		const struct code_function *function;

		if (source >= start->address && source < end)
			continue;
		has_jumps = true;
		if (from == NULL)
			continue;
		function = code_rules_function(rules, from->address, error);
		if (function == NULL)
			return -1;
		if (code_function_find(function, start->address) != NULL)
			return 0;
		has_tails |= code_function_has_tail(function, start->address);
	}
	return has_tails || !has_jumps;
}

/*
 * The function that begins at the start before an address and reaches it; NULL
 * in *function: none.  *is_lost: it could not be followed everywhere.
 */
static int
code_rules_from_start(struct code_rules *rules, uint64_t address,
                      const struct code_function **function, bool *is_lost,
                      struct error *error)
{
	const struct code_start *start = code_map_start(&rules->map, address);
	int is_function;

	*function = NULL;
	if (start == NULL)
		return 0;
	is_function = code_rules_is_function(rules, start, error);
	if (is_function <= 0)
		return is_function;
	*function = code_rules_function(rules, start->address, error);
	if (*function == NULL)
		return -1;
	if (code_function_find(*function, address) == NULL) {
		*is_lost |= (*function)->is_incomplete;
		*function = NULL;
	}
	return 0;
}

/* Likewise, one that is called through pointers. */
static int
code_rules_from_pointers(struct code_rules *rules, uint64_t address,
                         const struct code_function **function, bool *is_lost,
                         struct error *error)
{
	const struct code_map *map = &rules->map;
	const struct code_start *start = code_map_start(map, address);
	const uint64_t unreached = code_map_last_unreached(map, address),
	    taken = code_map_last_taken(map, address);
	const uint64_t places[] = { unreached > taken ? unreached : taken,
		unreached > taken ? taken : unreached };

	*function = NULL;
	for (int i = 0; i < 2 && *function == NULL; i++) {
		if (places[i] == 0 || (start != NULL &&
		                       places[i] <= start->address))
			continue;
		*function = code_rules_function(rules, places[i], error);
		if (*function == NULL)
			return -1;
		if (code_function_find(*function, address) == NULL) {
			*is_lost |= (*function)->is_incomplete;
			*function = NULL;
		}
	}
	return 0;
}

static int
code_rules_function_at(struct code_rules *rules, uint64_t address,
                       const struct code_function **function, bool *is_lost,
                       struct error *error)
{
	if (code_rules_from_start(rules, address, function, is_lost,
	                          error) != 0)
		return -1;
	return *function != NULL || *is_lost ? 0 :
	    code_rules_from_pointers(rules, address, function, is_lost, error);
}

/* Likewise, one that jumps to the code before the address. */
static int
code_rules_from_jumps(struct code_rules *rules, uint64_t address,
                      const struct code_function **function, bool *is_lost,
                      struct error *error)
{
	const struct code_map *map = &rules->map;
	const struct code_start *start = code_map_start(map, address);
	const uint64_t from = start != NULL ? start->address : 0;
	const size_t first = code_map_jumps_from(map, from);
	uint64_t last = 0;
	unsigned n_tried = 0;

	*function = NULL;
	for (size_t i = first; i < map->n_jumps && n_tried < CODE_CALLERS_MAX &&
	     i < first + CODE_JUMPS_MAX && map->jumps[i].target <= address;
	     i++) {
		const struct code_function *jumping;
		bool is_ignored = false;

		if (code_rules_function_at(rules, map->jumps[i].source,
		                           &jumping, &is_ignored, error) != 0)
			return -1;
		if (jumping == NULL || jumping->start == last)
			continue;
		n_tried++;
		last = jumping->start;
		if (code_function_find(jumping, address) != NULL) {
			*function = jumping;
			return 0;
		}
		*is_lost |= jumping->is_incomplete;
	}
	return 0;
}

/* The function that an address is in; NULL in *function: it is not known. */
static int
code_rules_find_function(struct code_rules *rules, uint64_t address,
                         const struct code_function **function,
                         struct error *error)
{
	static int (*const ways[])(struct code_rules *, uint64_t,
	    const struct code_function **, bool *, struct error *) = {
		code_rules_from_start, code_rules_from_jumps,
		code_rules_from_pointers };
	bool is_lost = false;

	*function = NULL;
	for (size_t i = 0; i < sizeof ways / sizeof *ways &&
	     *function == NULL && !is_lost; i++)
		if (ways[i](rules, address, function, &is_lost, error) != 0)
			return -1;
	return 0;
}

int
code_rules_symbol(struct code_rules *rules, uint64_t address,
                  const struct symbol **symbol, struct error *error)
{
	const struct code_function *function;

	if (code_rules_find_function(rules, address, &function, error) != 0)
		return -1;
	*symbol = function != NULL ? &function->symbol : NULL;
	return 0;
}

/* ---- rows ---- */

/* Columns of unwind tables, by the processor's numbers. */
static const uint8_t columns[] = { X86_64_RAX, X86_64_RCX, X86_64_RDX,
	X86_64_RBX, X86_64_RSP, X86_64_RBP, X86_64_RSI, X86_64_RDI, X86_64_R8,
	X86_64_R9, X86_64_R10, X86_64_R11, X86_64_R12, X86_64_R13, X86_64_R14,
	X86_64_R15 };

void
code_rule_make_row(const struct code_rule *rule, struct cfi_row *row)
{
	static const uint8_t saved[CODE_SAVED] = { X86_64_RBX, X86_64_RBP,
		X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15, X86_64_RIP };

	memset(row, 0, sizeof *row);
	if (rule->is_outermost) {
		row->kinds[X86_64_RIP] = CFI_UNDEFINED;
		return;
	}
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = columns[rule->cfa_register];
	row->operands[CFI_CFA].offset = rule->cfa_offset;
	for (int i = 0; i < CODE_SAVED; i++) {
		row->kinds[saved[i]] = rule->kinds[i];
		row->operands[saved[i]].offset =
		    rule->kinds[i] == CFI_REGISTER ?
		    columns[rule->operands[i]] : rule->operands[i];
	}
}

int
code_rules_find_rule(struct code_rules *rules, uint64_t address,
                     const struct code_rule **rule, struct error *error)
{
	const struct code_function *function;

	if (code_rules_find_function(rules, address, &function, error) != 0)
		return -1;
	*rule = function != NULL ? code_function_find(function, address) :
	    NULL;
	return 0;
}

int
code_rules_find(struct code_rules *rules, uint64_t address,
                struct cfi_row *row, struct error *error)
{
	const struct code_rule *rule;

	if (code_rules_find_rule(rules, address, &rule, error) != 0)
		return -1;
	if (rule == NULL || !rule->is_known)
		return 0;
	code_rule_make_row(rule, row);
	return 1;
}

/* ---- calls ---- */

/* Whether a call ends before an address. */
static bool
code_rules_call_before(const struct code_rules *rules, uint64_t address,
                       struct x86_instruction *call)
{
	bool is_found = false;

	for (uint64_t n = 2; n <= CODE_CALL_MAX; n++) {
		size_t size;
		const unsigned char *code = code_map_code_at(&rules->map,
		    address - n, &size);
		struct x86_instruction i;

		if (code == NULL || size < n ||
		    !x86_decode(code, n, address - n, &i) || i.size != n ||
		    (i.flow != X86_CALL && i.flow != X86_CALL_INDIRECT))
			continue;
		/* Bytes of a distance may look like another call. */
		if (i.flow == X86_CALL &&
		    code_map_code_at(&rules->map, i.target, &size) == NULL)
			continue;
		if (!is_found || i.flow == X86_CALL)
			*call = i;
		is_found = true;
	}
	return is_found;
}

/* Whether a function, or those that it ends by jumping to, has the callee. */
static enum code_answer
code_rules_leads_to(struct code_rules *rules, uint64_t start, uint64_t callee,
                    bool is_other, struct error *error)
{
	uint64_t path[CODE_PATH_MAX] = { start };
	enum code_answer answer = CODE_NO;
	size_t n = 1;

	for (size_t i = 0; i < n; i++) {
		const struct code_function *function = code_rules_function(
		    rules, path[i], error);

		if (function == NULL)
			return CODE_NO_MEMORY;
		if (function->leads_anywhere || (!is_other &&
		    code_function_find(function, callee) != NULL))
			return CODE_YES;
		if (function->is_incomplete)
			answer = CODE_UNKNOWN;
		for (size_t k = 0; k < function->n_tails; k++) {
			size_t known = 0;

			while (known < n && path[known] != function->tails[k])
				known++;
			if (known < n)
				continue;
			if (n == CODE_PATH_MAX)
				answer = CODE_UNKNOWN;
			else
				path[n++] = function->tails[k];
		}
	}
	return answer;
}

enum code_answer
code_rules_is_called(struct code_rules *rules, uint64_t return_address,
                     uint64_t callee, bool is_other, struct error *error)
{
	struct x86_instruction call;

	if (rules->map.n_sections == 0)
		return CODE_UNKNOWN;
	if (!code_rules_call_before(rules, return_address, &call))
		return CODE_NO;
	return call.flow == X86_CALL_INDIRECT ? CODE_YES :
	    code_rules_leads_to(rules, call.target, callee, is_other, error);
}

enum code_answer
code_rules_reaches(struct code_rules *rules, uint64_t start, uint64_t address,
                   struct error *error)
{
	const struct code_function *function;

	if (rules->map.n_sections == 0)
		return CODE_UNKNOWN;
	function = code_rules_function(rules, start, error);
	if (function == NULL)
		return CODE_NO_MEMORY;
	return code_function_find(function, address) != NULL ? CODE_YES :
	    function->is_incomplete ? CODE_UNKNOWN : CODE_NO;
}
