/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/callers.c -- the functions that call a function. */
#include "src/shell/command/command.h"

static const struct argument callers_arguments[] = {
	{ "FUNCTION", &arg_function, ARG_OPTIONAL,
	  "the callee (default: the current root)" },
	ARGUMENTS_END
};

const struct command command_callers = {
	.name = "callers",
	.words = COMMAND_WORDS(SHORT("caller")),
	.group = GROUP_LOOK,
	.summary = "who calls a function directly: the paths of up with two names",
	.description =
	    "Lists the paths (caller FUNCTION). The hits of a path are the "
	    "samples whose stack contains that call. For the other direction, "
	    "see callees.",
	.example = "callers db_get_property",
	.arguments = callers_arguments,
	.view = view_callers,
	.is_compared = true,
};
