/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/body.c -- the use of each function's own body. */
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"

static const struct argument body_arguments[] = {
	LISTING_ARGUMENTS
};

static int
body_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	return view_command_listing(session, view_body, arguments, table,
	                            error);
}

const struct command command_body = {
	.name = "body",
	.group = GROUP_LOOK,
	.summary = "what each function's own body used, callees left out",
	.description =
	    "Lists every function by the number of samples in which it is the "
	    "innermost function: the same numbers as prof(1). A function with "
	    "few hits here may still be expensive because of the functions "
	    "that it calls: see functions.\n\n"
	    "A number sets how many rows are shown, whatever the threshold; a "
	    "pattern selects functions, as in top.",
	.example = "body",
	.arguments = body_arguments,
	.run = body_run,
};
