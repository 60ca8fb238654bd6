/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/shell.c -- runs a command of the system's shell. */
#include "src/shell/command/command.h"
#include "src/shell/terminal/terminal.h"

static const struct argument shell_arguments[] = {
	{ "COMMAND", &arg_shell_line, 0, "the command that sh runs" },
	ARGUMENTS_END
};

static int
shell_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const char *command = arguments->values[0].text;
	pid_t child;

	(void)table;
	if (child_start(command, session->is_interactive, NULL, &child,
	                error) != 0)
		return -1;
	return child_end(command, child, error);
}

const struct command command_shell = {
	.name = "shell",
	.words = COMMAND_WORDS(SHORT("she")),
	.group = GROUP_PROMPT,
	.summary = "runs a command in the system shell; short form: !COMMAND",
	.description =
	    "The rest of the line is passed to sh unchanged. shell fails if "
	    "the command fails.",
	.example = "shell true",
	.arguments = shell_arguments,
	.run = shell_run,
};
