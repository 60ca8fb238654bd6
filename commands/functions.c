/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/functions.c -- what each function used with all it called. */
#include "src/shell/view_command.h"

static const struct argument functions_arguments[] = {
	{ "PATTERN", ARG_PATTERN, ARG_OPTIONAL,
	  "only functions that fit it (all)" },
	ARGUMENTS_END
};

static int
functions_run(struct session *session, const struct arguments *arguments,
              struct table *table, struct error *error)
{
	return view_command_matching(session, view_functions,
	                             &arguments->values[0], table, error);
}

const struct command command_functions = {
	.name = "functions",
	.aliases = { "body+descendants" },
	.summary = "what each function used, with all it called",
	.description =
	    "Lists every function by body+descendants: the hits of samples "
	    "whose stack holds it, each counted once however often it "
	    "recurs. Start here, then look at the dear ones with root, up "
	    "and down.\n\n"
	    "A pattern is a name, a glob with * and ?, or an extended regular "
	    "expression between slashes; a function of exactly that name goes "
	    "first.",
	.example = "functions db_*",
	.arguments = functions_arguments,
	.run = functions_run,
};
