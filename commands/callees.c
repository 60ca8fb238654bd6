/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/callees.c -- the functions that a function calls. */
#include "src/shell/command/command.h"

static const struct argument callees_arguments[] = {
	{ "FUNCTION", &arg_function, ARG_OPTIONAL,
	  "the caller (default: the current root)" },
	ARGUMENTS_END
};

const struct command command_callees = {
	.name = "callees",
	.words = COMMAND_WORDS(SHORT("callee")),
	.group = GROUP_LOOK,
	.summary = "whom a function calls directly: paths of down with two names",
	.description =
	    "Lists the paths (FUNCTION callee). The hits of a path are the "
	    "samples whose stack contains that call. For the other direction, "
	    "see callers.",
	.example = "callees main",
	.arguments = callees_arguments,
	.view = view_callees,
	.is_compared = true,
};
