/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arguments.c -- the words after a command, read as its row says. */
#include "src/shell/command/arguments.h"

#include <string.h>

static void
text_add_argument(struct text_buffer *text, const struct command *command,
                  const struct argument *argument)
{
	bool is_optional = argument->flags & ARG_OPTIONAL;

	text_add_string(text, is_optional ? " [" : " ");
	if (argument->kind->add_usage != NULL)
		argument->kind->add_usage(text, command);
	else
		text_add_string(text, argument->name);
	if (argument->flags & ARG_REPEATED)
		text_add_string(text, "...");
	if (is_optional)
		text_add_char(text, ']');
}

void
text_add_usage(struct text_buffer *text, const struct command *command)
{
	const struct argument *argument = command->arguments;

	text_add_string(text, command->name);
	for (; argument != NULL && argument->name != NULL; argument++)
		text_add_argument(text, command, argument);
}

static int
report_usage(const char *what, const struct command *command,
             struct error *error)
{
	struct text_buffer usage = { 0 };

	text_add_usage(&usage, command);
	error_set(error, "%s; usage: %s", what, text_string(&usage));
	text_free(&usage);
	return -1;
}

static int
report_too_many(const struct reading *reading)
{
	struct text_buffer usage = { 0 };
	bool takes_any = reading->command->arguments != NULL;

	text_add_usage(&usage, reading->command);
	error_set(reading->error, "unexpected %.60s; usage: %s%s",
	          reading->words->words[reading->at].text,
	          text_string(&usage), takes_any
	          ? " (a name with blanks goes between bars)" : "");
	text_free(&usage);
	return -1;
}

/* Whether the argument is a switch and the next word is something else. */
static bool
is_passed_over(const struct reading *reading)
{
	const char *const *choices = reading->command->choices;

	return (reading->argument->flags & ARG_SWITCH) != 0 &&
	    reading->at < reading->words->n &&
	    strcmp(reading->words->words[reading->at].text, choices[0]) != 0;
}

static int
read_arguments(struct reading *reading)
{
	const struct command *command = reading->command;
	struct value *value = reading->arguments->values;

	reading->argument = command->arguments;
	for (; reading->argument != NULL && reading->argument->name != NULL;
	     reading->argument++, value++) {
		if (is_passed_over(reading))
			continue;
		if (reading->at < reading->words->n) {
			value->is_given = true;
			if (reading->argument->kind->read(reading, value) != 0)
				return -1;
		} else if (!(reading->argument->flags & ARG_OPTIONAL)) {
			return report_usage("something is missing", command,
			                    reading->error);
		}
	}
	if (reading->at < reading->words->n)
		return report_too_many(reading);
	return 0;
}

int
arguments_parse(struct arguments *arguments, const struct session *session,
                const struct command *command, const struct words *words,
                size_t first, const char *line, struct error *error)
{
	struct reading reading = {
		.session = session,
		.command = command,
		.arguments = arguments,
		.words = words,
		.at = first,
		.line = line,
		.error = error,
	};

	*arguments = (struct arguments){ 0 };
	return read_arguments(&reading);
}

int
arguments_parse_text(struct arguments *arguments,
                     const struct session *session,
                     const struct command *command, const char *text,
                     struct error *error)
{
	struct words words;
	int status = words_split(&words, text, strlen(text), error);

	*arguments = (struct arguments){ 0 };
	if (status == 0)
		status = words_check(&words, error);
	if (status == 0)
		status = arguments_parse(arguments, session, command, &words,
		                         0, text, error);
	arguments->words = words;
	return status;
}

void
arguments_free(struct arguments *arguments)
{
	for (size_t i = 0; i < COMMAND_MAX_ARGUMENTS; i++)
		pattern_free(arguments->values[i].pattern);
	words_free(&arguments->words);
	arena_free(&arguments->arena);
}
