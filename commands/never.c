/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/never.c -- functions that were never called. */
#include "src/shell/command/command.h"

const struct command command_never = {
	.name = "never",
	.words = COMMAND_WORDS(SHORT("n")),
	.group = GROUP_LOOK,
	.summary = "functions of the program that were never called",
	.description =
	    "Lists the functions without any counted call and without any "
	    "sample, in byte order. Only a gmon.out with its program names "
	    "all functions of the program.\n\n"
	    "Calls from outside the program, such as from qsort to its "
	    "comparison function, are not counted. A function that is only "
	    "called that way, and too briefly for a sample, is therefore "
	    "listed too.",
	.example = "never",
	.view = view_never,
};
