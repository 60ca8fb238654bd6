/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/down.c -- what a function's time goes into. */
#include "src/shell/view_command.h"

static const struct argument down_arguments[] = {
	{ "ROOT", ARG_FUNCTION, ARG_OPTIONAL,
	  "function the paths begin with (the current root)" },
	ARGUMENTS_END
};

static int
down_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	return view_command_rooted(session, view_down, &arguments->values[0],
	                           table, error);
}

const struct command command_down = {
	.name = "down",
	.summary = "downward call path profile: all paths that begin with the "
	    "root",
	.description =
	    "Lists the call paths that begin with the root function, dearest "
	    "first. The fraction of a path is what the run would save if the "
	    "path's last function cost nothing when it is called along that "
	    "path.\n\n"
	    "Recursion is folded: a path goes on from the earlier place of a "
	    "function that it holds already, and no hit counts twice for one "
	    "path. So paths below a path may sum to more than it.\n\n"
	    "A ROOT given here is for this once; root sets it for good.",
	.example = "down address_information",
	.arguments = down_arguments,
	.run = down_run,
};
