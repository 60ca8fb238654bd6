/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/callees.c -- the functions that a function calls. */
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"

static const struct argument callees_arguments[] = {
	{ "FUNCTION", &arg_function, ARG_OPTIONAL,
	  "the caller (default: the current root)" },
	ARGUMENTS_END
};

static int
callees_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	return view_command_rooted(session, view_callees,
	                           &arguments->values[0], table, error);
}

const struct command command_callees = {
	.name = "callees",
	.group = GROUP_LOOK,
	.summary = "whom a function calls: paths of two that begin with it",
	.description =
	    "Lists the paths (FUNCTION callee). The hits of a path are the "
	    "samples whose stack contains that call. For the other direction, "
	    "see callers.",
	.example = "callees main",
	.arguments = callees_arguments,
	.run = callees_run,
};
