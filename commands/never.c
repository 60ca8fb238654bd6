/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/never.c -- functions that were never called. */
#include "src/shell/view_command.h"

static int
never_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	(void)arguments;
	return view_command(session, view_never, table, error);
}

const struct command command_never = {
	.name = "never",
	.summary = "functions of the program that were never called",
	.description =
	    "Lists the functions that no call was counted of and that no "
	    "sample fell into, in byte order. Only of a gmon.out does the "
	    "profile name all functions of the program.\n\n"
	    "A function that is only called from outside of the program, as "
	    "is one that qsort compares with, and that was too quick for a "
	    "sample, is among them: such calls are not counted.",
	.example = "never",
	.run = never_run,
};
