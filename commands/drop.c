/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/drop.c -- removes the stacks that have a path. */
#include "src/shell/command/argument_kinds.h"

static const struct argument drop_arguments[] = {
	{ "PATH", &arg_path_pattern, 0, "functions or patterns that the stacks "
	  "have, outermost first" },
	ARGUMENTS_END
};

static int
drop_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *path = &arguments->values[0];
	struct step *step = step_new_path(true, path->pattern_words,
	                                  path->n_pattern_words, error);

	(void)table;
	return session_add_step(session, step, error);
}

const struct command command_drop = {
	.name = "drop",
	.summary = "removes the stacks that have a path",
	.description =
	    "Every view then shows a profile of the other stacks: the run as "
	    "if the path's last function cost nothing when it is called along "
	    "the path. The path is written as for narrow. What narrow PATH and "
	    "drop PATH leave adds up to what there was before.",
	.example = "drop (address_information db_get_property)",
	.arguments = drop_arguments,
	.run = drop_run,
};
