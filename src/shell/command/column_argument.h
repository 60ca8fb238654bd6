/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column_argument.h -- the arguments of columns and column. */
#ifndef CPPROF_SHELL_COMMAND_COLUMN_ARGUMENT_H
#define CPPROF_SHELL_COMMAND_COLUMN_ARGUMENT_H

#include "src/shell/command/arguments.h"

extern const struct argument_kind
    arg_columns,	/* resources and formulas, or "off": words, of which
			 * n_words may be 0 */
    arg_formula;	/* NAME = A / B, or NAME off: formula, whose left is
			 * NULL for off */

#endif
