/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/help.c -- lists or describes commands. */
#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"

static const struct argument help_arguments[] = {
	{ "COMMAND", &arg_command, ARG_OPTIONAL,
	  "the command to describe (default: list all)" },
	ARGUMENTS_END
};

static int
help_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *value = &arguments->values[0];
	int status = 0;

	(void)session;
	if (value->is_given)
		return help_describe(value->command, table, error);
	help_start_list(table);
	table->group_key = "group";
	for (size_t i = 0; status == 0 && commands[i] != NULL; i++)
		status = help_add_row(commands[i], table, error);
	if (status == 0)
		status = table_add_footer(table, error, "Commands may be "
		                          "shortened. help COMMAND "
		                          "describes one.");
	return status;
}

const struct command command_help = {
	.name = "help",
	.words = COMMAND_WORDS(
	    SHORT("he"), MEANS("?"), MEANS("h"), MEANS("man")),
	.group = GROUP_PROMPT,
	.summary = "lists the commands, or describes one with an example",
	.description =
	    "A command can be shortened to any unique prefix, here and "
	    "everywhere else.",
	.example = "help up",
	.arguments = help_arguments,
	.run = help_run,
};
