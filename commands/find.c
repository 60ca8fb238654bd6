/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/find.c -- functions by name. */
#include "src/shell/command/command.h"

static const struct argument find_arguments[] = {
	{ "PATTERN", &arg_pattern, 0, "a name, glob or /expression/" },
	ARGUMENTS_END
};

const struct command command_find = {
	.name = "find",
	.words = COMMAND_WORDS(SHORT("fi")),
	.group = GROUP_ASK,
	.summary = "finds functions by name, whatever they used",
	.description =
	    "Lists the functions of the profile whose names match the "
	    "pattern, including those below the threshold. * matches any "
	    "characters, ? matches one; write an extended regular expression "
	    "between slashes.",
	.example = "find /^db_.*record$/",
	.arguments = find_arguments,
	.view = view_find,
	.is_compared = true,
};
