/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argument_functions.h -- how arguments that are functions are read.
 *
 * A name, or a pattern that one or several fit, or a path of them; resolve.h
 * finds them in the profile.
 */
#ifndef CPPROF_SHELL_COMMAND_ARGUMENT_FUNCTIONS_H
#define CPPROF_SHELL_COMMAND_ARGUMENT_FUNCTIONS_H

#include "src/shell/command/argument_kinds.h"

/* Of ARG_FUNCTION, ARG_FUNCTIONS, ARG_PATTERN and ARG_PATH. */
argument_reader read_function, read_functions, read_pattern, read_path;

#endif
