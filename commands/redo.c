/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/redo.c -- makes steps again that undo took back. */
#include "src/shell/command/command.h"

static const struct argument redo_arguments[] = {
	{ "N", &arg_rows, ARG_OPTIONAL, "how many (default: 1)" },
	ARGUMENTS_END
};

static int
redo_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *n = &arguments->values[0];

	(void)table;
	return session_redo(session, n->is_given ? n->count : 1, error);
}

const struct command command_redo = {
	.name = "redo",
	.group = GROUP_REFINE,
	.summary = "makes again what undo took back",
	.description =
	    "Possible until the refinement is changed in another way.",
	.arguments = redo_arguments,
	.example = "redo",
	.run = redo_run,
};
