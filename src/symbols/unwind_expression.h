/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_expression.h -- what the expressions of unwind tables compute.
 *
 * Source: DWARF 5, 2.5.1 and 7.7.1.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_EXPRESSION_H
#define CPPROF_SYMBOLS_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "src/symbols/stack_unwinder.h"
#include "src/symbols/unwind_rules.h"

/*
 * Evaluates the rule's expression with the registers and the stack of a frame.
 * cfa: what stands on the machine's own stack at first; NULL: nothing.  False
 * where memory is missing, an operation is not known, or it takes too long.
 */
bool unwind_expression_evaluate(const struct unwind_rule *rule,
                                const struct stack_frame *frame,
                                const uint64_t *cfa, uint64_t *value);

#endif
