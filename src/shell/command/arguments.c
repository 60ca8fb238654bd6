/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arguments.c -- the words after a command, read as its row says. */
#include "src/shell/command/command.h"

#include <string.h>

void
text_add_usage(struct text_buffer *text, const struct command *command)
{
	const struct argument *argument = command->arguments;

	text_add_string(text, command->name);
	for (; argument != NULL && argument->name != NULL; argument++) {
		/* A name of several words may say which are optional. */
		bool is_optional = (argument->flags & ARG_OPTIONAL) != 0 &&
		    argument->name[0] != '[';

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
}

/* Says which argument is missing, and the usage if that says more. */
static int
arguments_report_missing(const struct argument *argument,
                         const struct command *command, struct error *error)
{
	struct text_buffer usage = { 0 };
	const char *text;

	text_add_usage(&usage, command);
	text = text_string(&usage);
	if (usage.failed)
		error_out_of_memory(error);
	else if (strcmp(text + strlen(command->name) + 1, argument->name) == 0)
		error_set(error, "%s needs %s; \"help %s\" says more",
		          command->name, argument->name, command->name);
	else
		error_set(error, "%s needs %s; usage: %s", command->name,
		          argument->name, text);
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

/* Whether the argument is a switch and the word is something else. */
static bool
passes_over(const struct command *command, const struct argument *argument,
            const struct word *word)
{
	const char *const *choice = command->choices;

	if ((argument->flags & ARG_SWITCH) == 0)
		return false;
	while (*choice != NULL && strcmp(word->text, *choice) != 0)
		choice++;
	return *choice == NULL;
}

static bool
is_passed_over(const struct reading *reading)
{
	return reading->at < reading->words->n &&
	    passes_over(reading->command, reading->argument,
	                &reading->words->words[reading->at]);
}

static int
read_argument(struct reading *reading, const struct argument *argument)
{
	size_t i = (size_t)(argument - reading->command->arguments);
	struct value *value = &reading->arguments->values[i];

	reading->argument = argument;
	value->is_given = true;
	reading->words = handles_replace(reading->session,
	                                 argument->kind->handle,
	                                 reading->words, reading->at,
	                                 argument->kind->takes_rest ?
	                                 reading->words->n : reading->at + 1,
	                                 &reading->arguments->arena,
	                                 reading->error);
	return reading->words == NULL ? -1 :
	    argument->kind->read(reading, value);
}

/* The argument that may be anywhere and wants a word, or NULL. */
static const struct argument *
find_anywhere(const struct command *command, const struct word *word)
{
	const struct argument *argument = command->arguments;

	for (; argument->name != NULL; argument++)
		if ((argument->flags & ARG_ANYWHERE) != 0 &&
		    argument->kind->wants(word))
			return argument;
	return NULL;
}

/* Reads the words that are for arguments that may be anywhere. */
static int
read_anywhere(struct reading *reading)
{
	const struct command *command = reading->command;

	while (reading->at < reading->words->n) {
		const struct argument *argument = find_anywhere(command,
		    &reading->words->words[reading->at]);

		if (argument == NULL)
			return 0;
		if (reading->arguments->values[argument -
		    command->arguments].is_given)
			return report_too_many(reading);
		if (read_argument(reading, argument) != 0)
			return -1;
	}
	return 0;
}

/*
 * Before an argument that takes all words: if the last of these is for an
 * argument that may be anywhere, reads it and takes it away.
 */
static int
read_last(struct reading *reading)
{
	const size_t at = reading->at, last = reading->words->n - 1;
	const struct argument *argument = find_anywhere(reading->command,
	    &reading->words->words[last]);
	struct words *others;

	if (at == last || argument == NULL)
		return 0;
	reading->at = last;
	if (reading->arguments->values[argument -
	    reading->command->arguments].is_given)
		return report_too_many(reading);
	if (read_argument(reading, argument) != 0)
		return -1;
	reading->at = at;
	others = arena_alloc(&reading->arguments->arena, sizeof *others,
	                     reading->error);
	if (others == NULL)
		return -1;
	*others = *reading->words;
	others->n = last;
	reading->words = others;
	return 0;
}

/* The next argument in the fixed order from `argument` on; its name may be
 * NULL. */
static const struct argument *
next_in_order(const struct argument *argument)
{
	while (argument->name != NULL &&
	       (argument->flags & ARG_ANYWHERE) != 0)
		argument++;
	return argument;
}

const struct argument *
arguments_find(const struct command *command, const struct word *words,
               size_t n)
{
	const struct argument *argument;

	if (command->arguments == NULL)
		return NULL;
	argument = next_in_order(command->arguments);
	for (size_t i = 1; i < n && argument->name != NULL; i++) {
		const struct argument *next = argument + 1;

		if (find_anywhere(command, &words[i]) != NULL ||
		    (argument->flags & ARG_REPEATED) ||
		    argument->kind->takes_rest)
			continue;
		if (passes_over(command, argument, &words[i])) {
			next = next_in_order(next);
			next += next->name != NULL;
		}
		argument = next_in_order(next);
	}
	if (argument->name != NULL)
		return argument;
	argument = command->arguments;
	while (argument->name != NULL &&
	       (argument->flags & ARG_ANYWHERE) == 0)
		argument++;
	return argument->name != NULL ? argument : NULL;
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
	const struct argument *argument;

	*arguments = (struct arguments){ 0 };
	argument = command->arguments;
	for (; argument != NULL && argument->name != NULL; argument++) {
		if (read_anywhere(&reading) != 0)
			return -1;
		reading.argument = argument;
		if ((argument->flags & ARG_ANYWHERE) != 0 ||
		    is_passed_over(&reading))
			continue;
		if (reading.at < reading.words->n) {
			if (argument->kind->takes_rest &&
			    read_last(&reading) != 0)
				return -1;
			if (read_argument(&reading, argument) != 0)
				return -1;
		} else if (!(argument->flags & ARG_OPTIONAL)) {
			return arguments_report_missing(argument, command,
			                                reading.error);
		}
	}
	if (command->arguments != NULL && read_anywhere(&reading) != 0)
		return -1;
	if (reading.at < reading.words->n)
		return report_too_many(&reading);
	return 0;
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

int
arguments_check_patterns(const struct arguments *arguments,
                         struct error *error)
{
	for (size_t i = 0; i < COMMAND_MAX_ARGUMENTS; i++)
		if (arguments->values[i].pattern != NULL &&
		    pattern_check(arguments->values[i].pattern, error) != 0)
			return -1;
	return 0;
}

void
arguments_free(struct arguments *arguments)
{
	for (size_t i = 0; i < COMMAND_MAX_ARGUMENTS; i++)
		pattern_free(arguments->values[i].pattern);
	words_free(&arguments->words);
	arena_free(&arguments->arena);
}
