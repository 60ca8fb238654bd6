/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/apropos.c -- lists the commands that mention a word. */
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"

static const struct argument apropos_arguments[] = {
	{ "WORD", &arg_word, 0, "what to look for" },
	ARGUMENTS_END
};

static bool
mentions(const struct command *command, const char *word)
{
	for (const struct argument *argument = command->arguments;
	     argument != NULL && argument->name != NULL; argument++)
		if (strcasestr(argument->help, word) != NULL)
			return true;
	for (const struct option_row *row = command->options;
	     row != NULL && !option_is_end(row); row++)
		if (row->help != NULL && strcasestr(row->help, word) != NULL)
			return true;
	for (const struct command_word *row = command->words;
	     row != NULL && row->word != NULL; row++)
		if (row->use != WORD_SHORT &&
		    strcasestr(row->word, word) != NULL)
			return true;
	return strcasestr(command->name, word) != NULL ||
	    strcasestr(command->summary, word) != NULL ||
	    strcasestr(command->description, word) != NULL;
}

static int
apropos_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	const char *word = arguments->values[0].text;
	int status = 0;

	(void)session;
	help_start_list(table);
	for (size_t i = 0; status == 0 && commands[i] != NULL; i++)
		if (mentions(commands[i], word))
			status = help_add_row(commands[i], command_group_titles[
			                      commands[i]->group], table, error);
	if (status == 0 && table->n_rows == 0)
		status = table_add_footer(table, error, "no command mentions "
		                          "%.60s", word);
	return status;
}

const struct command command_apropos = {
	.name = "apropos",
	.words = COMMAND_WORDS(SHORT("a")),
	.group = GROUP_PROMPT,
	.summary = "lists the commands whose description contains a word",
	.description =
	    "Upper and lower case are treated alike. Words of other programs that "
	    "cpprof understands, such as peek, are found, too.",
	.example = "apropos recursion",
	.arguments = apropos_arguments,
	.run = apropos_run,
};
