/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/up.c -- the call paths that end in a function. */
#include "src/shell/command/command.h"

static const struct argument up_arguments[] = {
	{ "ROOT", &arg_function, ARG_OPTIONAL,
	  "the last function of the paths (default: the root)" },
	ARGUMENTS_END
};

const struct command command_up = {
	.name = "up",
	.words = COMMAND_WORDS(
	    /* gdb */ TYPE("bt", "up FUNCTION, or tree for all stacks"),
	    TYPE("backtrace", "up FUNCTION, or tree for all stacks"),
	    TYPE("where", "up FUNCTION, or tree for all stacks")),
	.group = GROUP_LOOK,
	.summary = "all call paths that end in a function (callers: the last call)",
	.description =
	    "Lists the call paths that end in the root function, most "
	    "expensive first. They show which callers, and which callers of "
	    "those, make the function expensive. A path has the same number "
	    "of hits here as in every other view.\n\n"
	    "A ROOT given here applies to this command only; use root to "
	    "change it for the following commands.",
	.example = "up db_read_record",
	.arguments = up_arguments,
	.view = view_up,
	.is_compared = true,
};
