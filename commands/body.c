/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/body.c -- the use of each function's own body. */
#include "src/shell/command/view_command.h"

const struct command command_body = {
	.name = "body",
	.words = COMMAND_WORDS(SHORT("b")),
	.group = GROUP_LOOK,
	.summary = "functions by their own use alone, as fractions (top has both)",
	.description =
	    "Lists every function by the number of samples in which it is the "
	    "innermost function: the same numbers as prof(1). A function with "
	    "few hits here may still be expensive because of the functions "
	    "that it calls: see functions.\n\n"
	    "A number sets how many rows are shown, whatever the threshold; a "
	    "pattern selects functions, as in top.",
	.example = "body",
	.arguments = listing_arguments,
	.view = view_body,
	.is_compared = true,
};
