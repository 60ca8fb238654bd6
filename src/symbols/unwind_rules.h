/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_rules.h -- how the frame of a function is left, at one address.
 *
 * A description's rules are a program for a table that has one row for each
 * instruction at which something changes; it is run until it passes the
 * address.  Registers have DWARF's numbers for x86-64.
 *
 * Source: DWARF 5, 6.4.2 and 7.24; System V ABI, AMD64, 3.6.2.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_RULES_H
#define CPPROF_SYMBOLS_UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/symbols/unwind_entries.h"

enum { UNWIND_REGISTERS = 17 };		/* the last is the return address */

enum unwind_rule_kind {
	UNWIND_UNSPECIFIED,	/* as the ABI has it */
	UNWIND_UNDEFINED,
	UNWIND_SAME,
	UNWIND_SAVED,		/* at CFA + offset */
	UNWIND_VALUE,		/* is CFA + offset */
	UNWIND_REGISTER,	/* is what register `offset` holds */
	UNWIND_SAVED_AT,	/* saved where the expression says */
	UNWIND_COMPUTED,	/* is what the expression says */
};

/* expression[size]: a part of the section. */
struct unwind_rule {
	uint8_t kind;		/* enum unwind_rule_kind */
	uint8_t cfa_register;
	uint32_t size;
	union {
		int64_t offset;
		const unsigned char *expression;
	};
};

/* Of the CFA: cfa_register + offset where UNWIND_REGISTER, or COMPUTED. */
struct unwind_row {
	struct unwind_rule cfa;
	struct unwind_rule rules[UNWIND_REGISTERS];
	bool is_signal;
};

/*
 * The row that holds at an address of the entry's range.  False where the
 * rules are damaged, too many, or not of x86-64.  Time O(bytes of the rules).
 */
bool unwind_rules_at(const struct unwind_section *section,
                     const struct unwind_entry *entry, uint64_t address,
                     struct unwind_row *row);

#endif
