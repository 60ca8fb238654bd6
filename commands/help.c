/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/help.c -- lists or describes commands. */
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"

/*
 * What an engineer asks in a month, and the commands that answer, most used
 * first.  What is in no row is in "help all".
 */
static const struct question {
	const char *title;
	const char *names[8];	/* of commands; then NULL */
} questions[] = {
	{ "Where does it go?",
	  { "top", "functions", "down", "flame", "list" } },
	{ "Who calls what?", { "up", "callees", "path" } },
	{ "Why?", { "explain", "resource", "calls", "waits", "leaks" } },
	{ "When, and in which thread?", { "timeline", "threads" } },
	{ "What if only a part counts?", { "narrow", "drop", "undo" } },
	{ "Did it change?", { "base", "diff", "assert" } },
	{ "How do I get a profile, or share one?",
	  { "record", "load", "info", "export", "report" } },
	{ "What else is there?", { "help", "apropos", "quit" } },
};

static const struct argument help_arguments[] = {
	{ "all", &arg_choice, ARG_OPTIONAL | ARG_SWITCH,
	  "to list all commands and settings" },
	{ "COMMAND", &arg_command, ARG_OPTIONAL,
	  "the command to describe (default: list what is used most)" },
	ARGUMENTS_END
};

static int
help_list_all(struct table *table, struct error *error)
{
	int status = 0;

	for (size_t i = 0; status == 0 && commands[i] != NULL; i++)
		status = help_add_row(commands[i], command_group_titles[
				      commands[i]->group], table, error);
	if (status == 0)
		status = table_add_footer(table, error, "Commands may be "
		                          "shortened. help COMMAND "
		                          "describes one.");
	return status;
}

static int
help_list_questions(struct table *table, struct error *error)
{
	const size_t n = sizeof questions / sizeof *questions;
	int status = 0;

	for (size_t i = 0; status == 0 && i < n; i++)
		for (const char *const *name = questions[i].names;
		     status == 0 && *name != NULL; name++) {
			const struct command *command = command_lookup(*name,
			    strlen(*name), error);

			status = command == NULL ? -1 : help_add_row(command,
			    questions[i].title, table, error);
		}
	if (status == 0)
		status = table_add_footer(table, error, "help COMMAND "
		                          "describes one; help all lists all "
		                          "commands and settings.");
	return status;
}

static int
help_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *all = &arguments->values[0];
	const struct value *command = &arguments->values[1];

	(void)session;
	if (all->is_given && command->is_given)
		return error_set(error, "help all lists the commands; "
		                 "help %s describes one",
		                 command->command->name);
	if (command->is_given)
		return help_describe(command->command, table, error);
	help_start_list(table);
	table->group_key = "group";
	return all->is_given ? help_list_all(table, error) :
	    help_list_questions(table, error);
}

const struct command command_help = {
	.name = "help",
	.words = COMMAND_WORDS(
	    SHORT("he"), MEANS("?"), MEANS("h"), MEANS("man")),
	.group = GROUP_PROMPT,
	.summary = "what there is to ask; describes one command, or lists all",
	.description =
	    "Lists the commands that are used most, by the questions that "
	    "they answer. help all lists all commands and settings, by what "
	    "they are for.\n\n"
	    "A command can be shortened to any unique prefix, here and "
	    "everywhere else.",
	.example = "help up",
	.arguments = help_arguments,
	.choices = (const char *const[]){ "all", NULL },
	.run = help_run,
};
