/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/undo.c -- takes steps of the refinement back. */
#include "src/shell/command/command.h"

static const struct argument undo_arguments[] = {
	{ "N", &arg_rows, ARG_OPTIONAL, "how many (default: 1)" },
	ARGUMENTS_END
};

static int
undo_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *n = &arguments->values[0];

	(void)table;
	return session_undo(session, n->is_given ? n->count : 1, error);
}

const struct command command_undo = {
	.name = "undo",
	.group = GROUP_REFINE,
	.summary = "takes back the last change of the refinement",
	.description =
	    "Takes back what group, ungroup, narrow, drop or reset did; views "
	    "then show exactly what they showed before. Settings such as "
	    "threshold are not touched.",
	.arguments = undo_arguments,
	.example = "undo",
	.run = undo_run,
};
