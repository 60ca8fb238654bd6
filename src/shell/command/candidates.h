/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates.h -- what each kind of argument may be.
 *
 * Each function offers the completion all that an argument of its kind can be
 * in the session; the command matters where it has choices of its own.
 */
#ifndef CPPROF_SHELL_COMMAND_CANDIDATES_H
#define CPPROF_SHELL_COMMAND_CANDIDATES_H

#include "src/shell/command/argument_kinds.h"

argument_completer complete_functions, complete_off, complete_choices,
    complete_resources, complete_files, complete_commands, complete_settings;

#endif
