/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/top.c -- where the time goes, and below which functions. */
#include "src/shell/command/view_command.h"

const struct command command_top = {
	.name = "top",
	.words = COMMAND_WORDS(
	    /* pprof */ TYPE("text", "top")),
	.group = GROUP_LOOK,
	.summary = "functions by their own use, with that of their callees beside it",
	.description =
	    "Lists functions by what their own bodies used. Beside it is what "
	    "each used with everything that it called, each hit counted once. "
	    "Start here: a function that is expensive by itself can be made "
	    "faster; if only its descendants are expensive, see down.\n\n"
	    "top 10 shows ten rows, whatever the threshold (which diff keeps), "
	    "and top db_* the "
	    "functions that match; both can be given, in either order. A "
	    "function whose name is a number goes between bars: top |10|. A "
	    "pattern is a name, a glob with * and ?, or an extended regular "
	    "expression between slashes. A function with exactly that name "
	    "takes precedence.\n\n"
	    "At the prompt, rows have numbers: after top, up %3 shows the "
	    "callers of the function in row 3.\n\n"
	    "Without a number, functions whose bodies are below the threshold "
	    "are hidden, even if their descendants are not; functions ranks by "
	    "the latter.",
	.example = "top 5",
	.arguments = listing_arguments,
	.view = view_top,
	.is_compared = true,
};
