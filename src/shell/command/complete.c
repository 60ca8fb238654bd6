/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c -- completes the last word of a command line.
 *
 * Independent of readline: takes the line up to the cursor and offers
 * candidates.  The first word is a command.  For any other word, this finds the
 * argument that it belongs to, whose kind offers candidates.
 */
#include "src/shell/command/command.h"

#include <string.h>

/* Offers what an argument may be; for a switch, also what follows it. */
static void
offer_argument(struct completion *completion, const struct session *session,
               const struct command *command, const struct argument *argument)
{
	const struct argument *last = argument;

	if ((argument->flags & ARG_SWITCH) != 0 && argument[1].name != NULL)
		last++;
	for (; argument <= last; argument++) {
		if (argument->kind->complete != NULL)
			argument->kind->complete(completion, session,
			                         command);
		if (argument->kind->handle != HANDLE_NONE)
			handles_complete(completion, session);
	}
}

/*
 * Offers arguments that may stand anywhere: options after a dash, and all, for
 * the number of rows.  `offered` has been already.
 */
static void
offer_anywhere(struct completion *completion, const struct session *session,
               const struct command *command, const struct argument *offered)
{
	const bool is_option = completion->prefix[0] == '-';
	const struct argument *argument = command->arguments;

	for (; argument->name != NULL; argument++)
		if (argument != offered && argument->kind->complete != NULL &&
		    (argument->flags & ARG_ANYWHERE) != 0 &&
		    (is_option || argument->kind == &arg_rows))
			argument->kind->complete(completion, session, command);
}

/* words[n], n > 0, is being completed; words[0] names a command. */
static void
complete_argument(struct completion *completion,
                  const struct session *session, const struct word *words,
                  size_t n)
{
	const struct command *command;
	const struct argument *argument;
	struct error error = { 0 };
	size_t n_before;

	do {
		command = words[0].text[0] == '!'
		    ? command_lookup("shell", 5, &error)
		    : command_lookup(words[0].text, words[0].length, &error);
		argument = command == NULL ? NULL
		    : arguments_find(command, words, n);
		if (argument == NULL)
			return;
		n_before = argument->kind->find_command == NULL ? 0
		    : argument->kind->find_command(words, n);
		words += n_before;
		n -= n_before;
	} while (n_before > 0);
	completion->before = words + 1;
	completion->n_before = n - 1;
	offer_argument(completion, session, command, argument);
	if (completion->prefix[0] != '\0')
		offer_anywhere(completion, session, command, argument);
}

/*
 * Finds the word at the end of the line, which may be empty.  Returns its index
 * among the words, or SIZE_MAX if it cannot be completed.
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

/* After > and >>: words->target is the beginning of a file name. */
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
				arg_command.complete(completion, session,
				                     NULL);
			else if (index != SIZE_MAX)
				complete_argument(completion, session,
				                  words.words, index);
		}
	}
	completion_finish(completion);
	completion->prefix = NULL;
	completion->before = NULL;
	words_free(&words);
}
