/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/reload.c -- reads the profile again. */
#include "src/shell/command/command.h"

static int
reload_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	(void)arguments;
	(void)table;
	return session_reload(session, error);
}

const struct command command_reload = {
	.name = "reload",
	.words = COMMAND_WORDS(SHORT("rel")),
	.group = GROUP_FILES,
	.summary = "reads the profile's files again",
	.description =
	    "Shows how the profile of a running program has grown since it "
	    "was loaded. The settings stay as they are.",
	.example = "reload",
	.run = reload_run,
};
