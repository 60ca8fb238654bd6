/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/reset.c -- removes all steps of the refinement. */
#include "src/shell/command/command.h"

static int
reset_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	(void)arguments;
	(void)table;
	return session_remove_steps(session, error);
}

const struct command command_reset = {
	.name = "reset",
	.group = GROUP_REFINE,
	.summary = "removes all steps, so that views show the whole run",
	.description =
	    "Removes what group, narrow and drop made. Settings such as "
	    "threshold are not touched. undo takes this back, too.",
	.example = "reset",
	.run = reset_run,
};
