/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/find.c -- functions by name. */
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"

static const struct argument find_arguments[] = {
	{ "PATTERN", &arg_pattern, 0, "a name, glob or /expression/" },
	ARGUMENTS_END
};

static int
find_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	return view_command_matching(session, view_find,
	                             &arguments->values[0], table, error);
}

const struct command command_find = {
	.name = "find",
	.group = GROUP_ASK,
	.summary = "finds functions by name, whatever they used",
	.description =
	    "Lists the functions of the profile whose names match the "
	    "pattern, including those below the threshold. * matches any "
	    "characters, ? matches one; write an extended regular expression "
	    "between slashes.",
	.example = "find /^db_.*record$/",
	.arguments = find_arguments,
	.run = find_run,
};
