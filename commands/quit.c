/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/quit.c -- leaves cpprof. */
#include "src/shell/command/command.h"

static int
quit_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	(void)arguments;
	(void)table;
	(void)error;
	session->quit_requested = true;
	return 0;
}

const struct command command_quit = {
	.name = "quit",
	.words = COMMAND_WORDS(ALIAS("exit"), ALIAS("q"), SHORT("qu")),
	.group = GROUP_PROMPT,
	.summary = "leaves cpprof, as does Ctrl-D",
	.description =
	    "In a script, quit ends cpprof, not just the file that contains "
	    "it.",
	.example = "quit",
	.run = quit_run,
};
