/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/path.c -- one call path, and the run without it. */
#include "src/shell/command/command.h"

static const struct argument path_arguments[] = {
	{ "PATH", &arg_path, 0, "the functions of the path, outermost first" },
	ARGUMENTS_END
};

const struct command command_path = {
	.name = "path",
	.words = COMMAND_WORDS(SHORT("pat")),
	.group = GROUP_ASK,
	.summary = "one call path: its hits, and the run's total without them",
	.description =
	    "Shows exactly this path: its hits, its fraction, what that is in "
	    "the resource's unit, and what the run would use if the path's "
	    "last function cost nothing when it is called along the path. "
	    "CPU time, bytes and counts add up over threads. Their real time "
	    "does not: threads run side by side and wait for each other, so "
	    "with several threads there is no such prediction for it.\n\n"
	    "You can paste a path as other views print it. Put a name that "
	    "contains blanks or parentheses between bars: path (main "
	    "|operator new(unsigned long)|)",
	.example = "path (address_information db_get_property)",
	.arguments = path_arguments,
	.view = view_path,
	.is_compared = true,
};
