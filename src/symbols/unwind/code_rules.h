/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_rules.h -- how to leave the frames of code that has no unwind tables, by
 * reading its instructions (x86-64).
 *
 *	mov  8(%rsp), %r10	CFA = rsp + 8
 *	push %rbx		CFA = rsp + 8
 *	sub  $16, %rsp		CFA = rsp + 16, rbx at CFA - 16
 *	call ...		CFA = rsp + 32, rbx at CFA - 16
 *
 * At a function's start the CFA is rsp + 8, and every register that callees
 * save has its caller's value.  From there, what each instruction does to the
 * stack pointer, to copies of it and to saved registers is followed along all
 * branches (code_flow.c).  Where functions start, code_map.c finds out.
 *
 * A compiler's conventions are not a proof.  So a caller that was found by
 * such a rule counts only if its return address follows a call that leads to
 * the code: directly, by jumps to other functions at their ends, or through a
 * register or memory.
 *
 * Nothing in a file is trusted: time and memory are bounded, whatever the code.
 *
 * Source: Tallent, Mellor-Crummey & Fagan, Binary analysis for measurement and
 * attribution of program performance, PLDI 2009, section 3.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_CODE_RULES_H
#define CPPROF_SYMBOLS_UNWIND_CODE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/cfi.h"
#include "src/base/error.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/unwind/x86_instruction.h"

/* ---- code_map.c ---- */

/* The code of a file: where its functions start, and all direct jumps. */

struct code_section {
	uint64_t start, end;	/* addresses in the module */
	unsigned char *bytes;	/* a copy */
	bool is_code;
};

/* Why an address is taken for the start of a function. */
enum {
	CODE_CALLED = 1,	/* directly */
	CODE_GLOBAL = 2,	/* a symbol that other files may call, or the
				 * entry point of the program */
	CODE_LOCAL = 4,		/* another symbol, or unwind tables begin: this
				 * may also be a part of a function that was
				 * moved elsewhere */
};

struct code_start {
	uint64_t address;
	unsigned why;		/* CODE_* */
};

struct code_jump {
	uint64_t target, source;
};

struct code_map {
	struct code_section *sections;	/* [n_sections] by start */
	size_t n_sections;
	uint64_t entry;			/* of the program; 0: none */
	struct code_start *starts;	/* [n_starts] by address */
	size_t n_starts, starts_capacity;
	struct code_jump *jumps;	/* [n_jumps] direct ones, by target */
	size_t n_jumps, jumps_capacity;
	uint64_t *taken;		/* [n_taken] addresses of code that are
					 * in registers or in data, ascending */
	size_t n_taken, taken_capacity;
	/* Code that no instruction before it goes on to, and no direct jump. */
	uint64_t *unreached;		/* [n_unreached] ascending */
	size_t n_unreached, unreached_capacity;
};

/*
 * Reads the module's own file.  Leaves the map empty (n_sections 0) if there is
 * none, it is not for x86-64, or its sections are too large or too many.  0, or
 * -1 with *error set for want of memory; code_map_free in either case.
 */
int code_map_read(struct code_map *map, const struct module_file *module,
                  struct error *error);
void code_map_free(struct code_map *map);
size_t code_map_bytes(const struct code_map *map);

/*
 * The bytes from an address to the end of its section, *size of them; NULL, and
 * *size is not set, if it is in no section.
 */
const unsigned char *code_map_at(const struct code_map *map, uint64_t address,
                                 size_t *size);

/* Likewise, of a section of code. */
const unsigned char *code_map_code_at(const struct code_map *map,
                                      uint64_t address, size_t *size);

/* The last start at an address or before it; NULL: none in its section. */
const struct code_start *code_map_start(const struct code_map *map,
                                        uint64_t address);

/* Why an address is a start; 0: it is none. */
unsigned code_map_why(const struct code_map *map, uint64_t address);

/* Where the next start after an address, or its section's end, is. */
uint64_t code_map_end(const struct code_map *map, uint64_t address);

/*
 * The index of the first jump whose target is the address or a later one; n_jumps
 * if there is none.
 */
size_t code_map_jumps_from(const struct code_map *map, uint64_t address);

/* Whether the address is in a register or data somewhere. */
bool code_map_is_taken(const struct code_map *map, uint64_t address);

/* The last of unreached, or of taken, that is not above the address; 0: none. */
uint64_t code_map_last_unreached(const struct code_map *map, uint64_t address);
uint64_t code_map_last_taken(const struct code_map *map, uint64_t address);

/* ---- code_flow.c ---- */

enum { CODE_SAVED = 7 };	/* rbx, rbp, r12 to r15, the return address */

/*
 * How to leave the frame at an address from start up to end, which is reached
 * from the function's start.
 */
struct code_rule {
	uint64_t start, end;
	int32_t cfa_offset;
	uint8_t cfa_register;		/* as in struct x86_instruction */
	bool is_known;
	bool is_outermost;
	uint8_t kinds[CODE_SAVED];	/* CFI_SAME, OFFSET, REGISTER or
					 * UNDEFINED */
	int32_t operands[CODE_SAVED];	/* from the CFA, or the register */
};

/* A function, as far as it was followed from its start. */
struct code_function {
	uint64_t start;
	struct symbol symbol;		/* of code_rules_symbol */
	struct code_rule *rules;	/* [n_rules] by start */
	size_t n_rules;
	uint64_t *tails;		/* [n_tails] functions that it ends by
					 * jumping to */
	size_t n_tails;
	bool leads_anywhere;		/* it ends by a jump through a register
					 * or memory */
	bool is_incomplete;		/* some jumps could not be followed */
};

struct code_flow;			/* working memory */

/*
 * Follows the function that starts at an address.  *budget: how many
 * instructions may still be decoded, from which those decoded are taken.  0, or
 * -1 with *error set for want of memory.  The caller frees rules and tails.
 */
int code_flow_follow(struct code_flow *flow, const struct code_map *map,
                     uint64_t start, uint64_t *budget,
                     struct code_function *function, struct error *error);

/* Freed with code_flow_free; NULL with *error set. */
struct code_flow *code_flow_new(struct error *error);
void code_flow_free(struct code_flow *flow);

/* ---- code_rules.c ---- */

struct code_rules;

/*
 * The rules of a module, made when they are asked for, and kept.  module NULL: of
 * none, so that no answer is known.
 * Freed with code_rules_free; NULL with *error set for want of memory.
 */
struct code_rules *code_rules_new(const struct module_file *module,
                                  struct error *error);
void code_rules_free(struct code_rules *rules);
size_t code_rules_bytes(const struct code_rules *rules);

/*
 * Sets *row to the row for an address, as program.h defines it: 1; 0 if the
 * code does not tell; -1 with *error set for want of memory.  The caller
 * counts only if code_rules_is_called says so, unless the row's return address is
 * undefined, as that of an outermost frame.
 */
int code_rules_find(struct code_rules *rules, uint64_t address,
                    struct cfi_row *row, struct error *error);

/*
 * The function that an address is in, as a symbol with an empty name and no
 * size: the same for all of its addresses, wherever they lie.  It lives as long
 * as the rules.  0; NULL in *symbol if the code does not tell; or -1 with *error
 * set for want of memory.
 */
int code_rules_symbol(struct code_rules *rules, uint64_t address,
                      const struct symbol **symbol, struct error *error);

/* The map of all code, and how many functions were followed so far. */
const struct code_map *code_rules_map(const struct code_rules *rules);
size_t code_rules_count(const struct code_rules *rules);
const struct code_function *code_rules_at(const struct code_rules *rules,
                                          size_t i);

/*
 * The function that starts at an address, followed if it was not before; an empty
 * one that is incomplete if too many were.  NULL with *error set.
 */
const struct code_function *code_rules_function(struct code_rules *rules,
                                                uint64_t start,
                                                struct error *error);

/*
 * The rule that code_rules_find uses for an address, which lives as long as the
 * rules; NULL in *rule: the code does not tell.  0, or -1 with *error set.
 */
int code_rules_find_rule(struct code_rules *rules, uint64_t address,
                         const struct code_rule **rule, struct error *error);

/* Sets *row to that of a rule that is known. */
void code_rule_make_row(const struct code_rule *rule, struct cfi_row *row);

enum code_answer {
	CODE_NO,
	CODE_YES,
	CODE_UNKNOWN,		/* some jumps could not be followed */
	CODE_NO_MEMORY		/* with *error set */
};

/*
 * Whether the instruction before a return address is a call that leads to other
 * code: of the same module, at `callee`; or, with `is_other`, of another one.
 */
enum code_answer code_rules_is_called(struct code_rules *rules,
                                      uint64_t return_address, uint64_t callee,
                                      bool is_other, struct error *error);

/*
 * Whether code that begins at `start` goes on to an address, apart from what it
 * calls.
 */
enum code_answer code_rules_reaches(struct code_rules *rules, uint64_t start,
                                    uint64_t address, struct error *error);

/* ---- code_file.c ---- */

/*
 * The file of rules for a module's code that no .eh_frame covers
 * (lib/cpprof-code.h), which the collector reads.  *bytes: the caller's, to be
 * freed, *size of them; one without rules if the module cannot be read, is of
 * another processor, or has a table of Go.  is_over: whether to give up, asked
 * now and then; the file then has what is there already.  0, or -1 with *error
 * set for want of memory.
 */
int code_file_make(const struct module_file *module,
                   bool (*is_over)(void *context), void *context,
                   unsigned char **bytes, size_t *size, struct error *error);

#endif
