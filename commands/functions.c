/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/functions.c -- the use of each function and all that it called. */
#include "src/shell/command/view_command.h"

const struct command command_functions = {
	.name = "functions",
	.words = COMMAND_WORDS(
	    ALIAS("body+descendants"), SHORT("fu"),
	    FORMER("find", "functions all"), FORMER("fi", "functions all"),
	    /* pprof */ TYPE("cum", "functions"),
	    /* gdb */ MEANS("info functions")),
	.group = GROUP_LOOK,
	.summary = "functions by their use with all that they called (top: by own)",
	.description =
	    "Lists every function by body+descendants: the hits of the "
	    "samples whose stack contains it, each counted once, even if the "
	    "function recurs. Start here, then examine the expensive "
	    "functions with root, up and down.\n\n"
	    "A pattern is a name, a glob with * and ?, or an extended regular "
	    "expression between slashes. A function with exactly that name "
	    "takes precedence. A number, before or after the pattern, sets how "
	    "many rows are shown, whatever the threshold; all shows all rows: "
	    "functions all db_* finds functions by name, whatever they used.",
	.example = "functions db_*",
	.arguments = listing_arguments,
	.view = view_functions,
	.is_compared = true,
};
