/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_argument.h -- what list and disasm share: their argument, and why there
 * is nothing to show.
 */
#ifndef CPPROF_SHELL_COMMAND_CODE_ARGUMENT_H
#define CPPROF_SHELL_COMMAND_CODE_ARGUMENT_H

#include "src/shell/command/arguments.h"
#include "src/shell/command/function_code.h"
#include "src/views/code_hits.h"

/*
 * Code, as resolve_code reads it: the rest of the line, which may hold blanks,
 * or a word between bars.  Sets only text, since the command may have to read
 * lines first.
 */
extern const struct argument_kind
    arg_code,			/* a function, a file, or a line of one */
    arg_code_function;		/* a function, perhaps an inlined one */

/*
 * Whether a function has no code of its own because it was always inlined; then
 * *error says into which functions, and what to do.
 */
bool code_is_inlined_only(const struct profile *profile, uint32_t function,
                          const char *what, struct error *error);

/*
 * Sets *error to why a function (NO_NAME: a file) has no lines, and what to do.
 * Returns -1.
 */
int code_explain_no_lines(const struct session *session, uint32_t function,
                          struct error *error);

/* The same for a function without instructions. */
int code_explain_no_code(const struct profile *profile,
                         const struct function_code *code,
                         struct error *error);

#endif
