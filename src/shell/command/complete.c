/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c -- what an unfinished command line may go on with.
 *
 * Knows nothing of readline: the line up to the cursor in, candidates out.
 * The first word is a command; what another one may be is for the kind of the
 * argument to say that it will be.
 */
#include "src/shell/command/complete.h"

#include <string.h>

#include "src/shell/command/argument_kinds.h"
#include "src/shell/command/command.h"

/* The argument that word `index` behind the command would be, or NULL. */
static const struct argument *
argument_at(const struct command *command, size_t index)
{
	const struct argument *argument = command->arguments;

	if (argument == NULL)
		return NULL;
	for (; argument->name != NULL && index > 0; index--) {
		bool takes_all = (argument->flags & ARG_REPEATED) ||
		    argument->kind == ARG_PATH ||
		    argument->kind == ARG_WORDS ||
		    argument->kind == ARG_LINE ||
		    argument->kind == ARG_COMMAND_LINE;

		if (!takes_all)
			argument++;
	}
	return argument->name != NULL ? argument : NULL;
}

/*
 * The word that a line's command is, and *index, counted from there, of another
 * that stands behind it.  Behind watch there is the command watched, and what
 * is completed is its.
 */
static const struct word *
inner_command(const struct words *words, size_t *index)
{
	const struct word *first = words->words;
	struct error error = { 0 };
	const struct command *command;

	for (;;) {
		size_t n;

		command = command_lookup(first->text, first->length, &error);
		if (*index < 2 || command == NULL || command->arguments == NULL ||
		    command->arguments[0].kind != ARG_COMMAND_LINE)
			return first;
		n = 1 + (strspn(first[1].text, "0123456789.") > 0);
		if (*index <= n)
			return first;
		first += n;
		*index -= n;
	}
}

static void
complete_argument(struct completion *completion,
                  const struct session *session, const struct words *words,
                  size_t index)
{
	struct error error = { 0 };
	const struct word *first = inner_command(words, &index);
	const struct command *command = first->text[0] == '!'
	    ? command_lookup("shell", 5, &error)
	    : command_lookup(first->text, first->length, &error);
	const struct argument *argument;

	if (command == NULL)
		return;
	argument = argument_at(command, index - 1);
	if (argument != NULL && argument->kind == ARG_REST) {
		/* set NAME VALUE: as the setting's own command. */
		command = command_lookup(first[1].text, first[1].length,
		                         &error);
		argument = command == NULL ? NULL
		    : argument_at(command, index - 2);
	}
	if (argument == NULL || argument_kinds[argument->kind].complete == NULL)
		return;
	if (argument->kind == ARG_PATH && !completion->is_open &&
	    completion->prefix[0] == '(') {
		completion->opens_path = true;
		completion->prefix++;
		completion->prefix_length--;
	}
	completion->is_for_sh = argument->kind == ARG_LINE;
	completion->before = first + 1;
	completion->n_before = index - 1;
	argument_kinds[argument->kind].complete(completion, session, command);
}

/*
 * Finds the word that the line ends in, which may be empty; its number among
 * the words, or SIZE_MAX where nothing can follow.
 */
static size_t
find_fragment(struct completion *completion, const struct words *words,
              size_t length)
{
	const struct word *last = words->n == 0
	    ? NULL : &words->words[words->n - 1];

	completion->begin = length;
	completion->prefix = "";
	if (last == NULL || last->end < length)
		return words->n;
	if (last->is_quoted && !words->is_open)
		return SIZE_MAX;
	completion->is_open = last->is_quoted;
	completion->begin = last->begin + last->is_quoted;
	completion->prefix = last->text;
	completion->prefix_length = last->length;
	return words->n - 1;
}

/* Behind > and >>: what was typed of the file's name is words->target. */
static void
complete_target(struct completion *completion, const struct words *words,
                const char *line, size_t length)
{
	completion->prefix = words->target == NULL ? "" : words->target;
	completion->prefix_length = strlen(completion->prefix);
	completion->is_open = words->is_open;
	if (completion->prefix_length > 0 && !words->is_open &&
	    (line[length - 1] == ' ' || line[length - 1] == '|'))
		return;
	completion->begin = length - completion->prefix_length;
	completion_offer_files(completion);
}

void
complete_line(struct completion *completion, const struct session *session,
              const char *line, size_t length)
{
	struct words words;
	size_t index;

	*completion = (struct completion){ 0 };
	if (words_split(&words, line, length, &completion->error) == 0) {
		if (words.redirect == REDIRECT_FILE ||
		    words.redirect == REDIRECT_APPEND) {
			complete_target(completion, &words, line, length);
		} else if (words.redirect == REDIRECT_NONE) {
			index = find_fragment(completion, &words, length);
			if (index == 0)
				argument_kinds[ARG_COMMAND].complete(
				    completion, session, NULL);
			else if (index != SIZE_MAX)
				complete_argument(completion, session,
				                  &words, index);
		}
	}
	completion->prefix = NULL;
	completion->before = NULL;
	words_free(&words);
}
