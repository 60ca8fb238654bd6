/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/drop.c -- removes the stacks that have a path. */
#include "src/shell/command/view_command.h"

static const struct argument drop_arguments[] = {
	{ "PATH|thread GLOB|process GLOB|label KEY=GLOB|time FROM..TO|calls above LENGTH", &arg_selection, 0,
	  "functions or patterns that the stacks have, outermost first; or "
	  "whose they are, or when they were sampled" },
	ARGUMENTS_END
};

static int
drop_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	struct step *step = selection_step(true, &arguments->values[0],
	                                   error);

	(void)table;
	return session_add_step(session, step, error);
}

const struct command command_drop = {
	.name = "drop",
	.words = COMMAND_WORDS(
	    /* pprof */ TYPE("ignore", "drop PATH"),
	    TYPE("tagignore", "drop label KEY=VALUE")),
	.group = GROUP_REFINE,
	.summary = "removes the stacks that have a path, or of some threads",
	.description =
	    "Every view then shows a profile of the other stacks: the run as "
	    "if the path's last function cost nothing when it is called along "
	    "the path. The path is written as for narrow. What narrow PATH and "
	    "drop PATH leave adds up to what there was before. The stacks of "
	    "threads, processes and labels, and the hits of a time, are dropped "
	    "likewise.",
	.example = "drop (address_information db_get_property)",
	.arguments = drop_arguments,
	.run = drop_run,
};
