/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/down.c -- the call paths below a function. */
#include "src/shell/command/command.h"

static const struct argument down_arguments[] = {
	{ "ROOT", &arg_function, ARG_OPTIONAL,
	  "the first function of the paths (default: the root)" },
	ARGUMENTS_END
};

const struct command command_down = {
	.name = "down",
	.words = COMMAND_WORDS(SHORT("do")),
	.group = GROUP_LOOK,
	.summary =
	    "all call paths that begin with a function (callees: one call)",
	.description =
	    "Lists the call paths that begin with the root function, most "
	    "expensive first. The fraction of a path is the share of the hits "
	    "that would be gone if the path's last function cost nothing "
	    "when it is called along that path.\n\n"
	    "Recursion is folded: when a function is called that is already "
	    "in the path, the path continues from its earlier position, and "
	    "no hit counts twice for one path. The extensions of a path can "
	    "therefore sum to more than the path itself.\n\n"
	    "Where there is no root (see root), down lists the outermost "
	    "functions, with which stacks begin.\n\n"
	    "A ROOT given here applies to this command only; use root to "
	    "change it for the following commands.",
	.example = "down address_information",
	.arguments = down_arguments,
	.view = view_down,
	.is_compared = true,
};
