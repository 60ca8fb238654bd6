/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/source.c -- runs commands from a file. */
#include "src/shell/command/command.h"
#include "src/shell/input/input.h"

static const struct argument source_arguments[] = {
	{ "FILE", &arg_file, 0, "a file of commands, one per line" },
	ARGUMENTS_END
};

static int
source_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	(void)table;
	return script_run_file(session, arguments->values[0].words[0], error);
}

const struct command command_source = {
	.name = "source",
	.words = COMMAND_WORDS(SHORT("so")),
	.group = GROUP_FILES,
	.summary = "runs the commands in a file",
	.description =
	    "Empty lines are ignored, and so is everything from a # at the "
	    "start of a word. The first command that fails ends the script, "
	    "with a message that names the file and the line, unless cpprof "
	    "was started with --keep-going.",
	.example = "source demo.cmd",
	.arguments = source_arguments,
	.run = source_run,
};
