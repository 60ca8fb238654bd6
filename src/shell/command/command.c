/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c -- finds commands by what was typed. */
#include "src/shell/command/command.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/short_name.h"

const char *const command_group_titles[COMMAND_GROUPS_END] = {
	[GROUP_LOOK] = "Views of the run",
	[GROUP_ASK] = "One path, function or place in the code",
	[GROUP_REFINE] = "A part of the run",
	[GROUP_COMPARE] = "Comparisons and assertions",
	[GROUP_SETTINGS] = "Settings",
	[GROUP_FILES] = "Profiles and files",
	[GROUP_PROMPT] = "Help and the prompt",
};

/* How well a word fits a command, worst first. */
enum match { MATCH_NONE, MATCH_BEGINNING, MATCH_SHORT, MATCH_WHOLE };

static bool
command_is_word(const char *known, const char *word, size_t length)
{
	return strlen(known) == length && memcmp(known, word, length) == 0;
}

/*
 * *row: the word of another program that it is, or NULL.  Only the name can be
 * shortened: whoever types e does not want to exit.
 */
static enum match
match(const struct command *command, const char *word, size_t length,
      const struct command_word **row)
{
	const struct command_word *known = command->words;
	enum match best = MATCH_NONE;

	*row = NULL;
	if (command_is_word(command->name, word, length))
		return MATCH_WHOLE;
	if (strncmp(command->name, word, length) == 0)
		best = MATCH_BEGINNING;
	for (; known != NULL && known->word != NULL; known++) {
		if (known->use == WORD_SHORT && best == MATCH_BEGINNING &&
		    length >= strlen(known->word))
			best = MATCH_SHORT;
		if (known->use != WORD_SHORT &&
		    command_is_word(known->word, word, length)) {
			*row = known;
			return MATCH_WHOLE;
		}
	}
	return best;
}

/* The command, unless an error says what to type instead of the word. */
static const struct command *
command_take(const struct command *command, const struct command_word *row,
             struct error *error)
{
	if (row == NULL || row->use != WORD_REPLACED)
		return command;
	error_set(error, "there is no command \"%s\"; type %s", row->word,
	          row->type);
	return NULL;
}

/* Says which commands an ambiguous word may mean, or which are similar. */
static void
command_report_unknown(const char *word, size_t length, struct error *error)
{
	struct text_buffer text = { 0 };
	const struct command_word *known;
	struct near near;
	size_t n = 0;

	near_start(&near, word, length);
	for (size_t i = 0; commands[i] != NULL; i++) {
		const char *name = commands[i]->name;

		if (length > 0 && match(commands[i], word, length, &known) !=
		    MATCH_NONE)
			text_add_format(&text, "%s%s", n++ > 0 ? ", " : "",
			                name);
		near_offer(&near, name, strlen(name));
		known = commands[i]->words;
		for (; known != NULL && known->word != NULL; known++)
			if (known->use == WORD_ALIAS)
				near_offer(&near, known->word,
				           strlen(known->word));
	}
	if (n > 0) {
		error_set(error, "\"%.*s\" is ambiguous: %s", (int)length,
		          word, text_string(&text));
	} else {
		near_add(&near, &text);
		error_set(error, "there is no command \"%.*s\"%s",
		          length > 60 ? 60 : (int)length, word,
		          near.n > 0 ? text_string(&text) : "; try help");
	}
	text_free(&text);
}

const struct command *
command_lookup(const char *word, size_t length, struct error *error)
{
	const struct command *found = NULL;
	enum match best = MATCH_NONE;
	size_t n = 0;

	for (size_t i = 0; length > 0 && commands[i] != NULL; i++) {
		const struct command_word *row;
		enum match how = match(commands[i], word, length, &row);

		if (how == MATCH_WHOLE)
			return command_take(commands[i], row, error);
		if (how > best)
			n = 0;
		if (how >= best && how != MATCH_NONE) {
			best = how;
			found = commands[i];
			n++;
		}
	}
	if (n == 1)
		return found;
	command_report_unknown(word, length, error);
	return NULL;
}

/* The bytes of the word that text[length] begins with. */
static size_t
word_length(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && memchr(" \t\r\n|", text[n], 5) == NULL)
		n++;
	return n;
}

/* "top10" is perhaps "top 10", and %3 the argument of something. */
static void
explain_unknown(const char *word, size_t length, struct error *error)
{
	size_t n = length;

	while (n > 0 && word[n - 1] >= '0' && word[n - 1] <= '9')
		n--;
	if (n == length || length > 60)
		return;
	if (n == 1 && *word == '%')
		error_set(error, "%.*s is a row of the last view; type what "
		          "to do with it, such as path %.*s", (int)length,
		          word, (int)length, word);
	for (size_t i = 0; !error->is_set && commands[i] != NULL; i++)
		if (command_is_word(commands[i]->name, word, n))
			error_set(error, "there is no command \"%.*s\"; "
			          "type %.*s %.*s", (int)length, word, (int)n,
			          word, (int)(length - n), word + n);
}

const struct command *
command_of_line(const char *line, size_t length, size_t *n, size_t *n_words,
                struct error *error)
{
	size_t first = word_length(line, length), second = first, end;
	struct text_buffer pair = { 0 };
	const struct command *command = NULL;
	bool is_pair = false;

	/* Two words, such as "info functions"? */
	while (second < length && memchr(" \t", line[second], 2) != NULL)
		second++;
	end = second + word_length(line + second, length - second);
	if (first > 0 && second > first && end > second) {
		text_add_format(&pair, "%.*s %.*s", (int)first, line,
		                (int)(end - second), line + second);
		for (size_t i = 0; !is_pair && commands[i] != NULL; i++) {
			const struct command_word *row;

			is_pair = match(commands[i], text_string(&pair),
			                pair.length, &row) == MATCH_WHOLE;
			if (is_pair)
				command = command_take(commands[i], row,
				                       error);
		}
		text_free(&pair);
	}
	*n = is_pair ? end : first;
	*n_words = is_pair ? 2 : 1;
	if (is_pair)
		return command;
	explain_unknown(line, first, error);
	return error->is_set ? NULL : command_lookup(line, first, error);
}

bool
command_replace_former(struct text_buffer *text, const char *line,
                       size_t length)
{
	size_t n = word_length(line, length);

	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command_word *row = commands[i]->words;

		for (; row != NULL && row->word != NULL; row++)
			if (row->use == WORD_FORMER &&
			    command_is_word(row->word, line, n)) {
				text_add_format(text, "%s%.*s", row->type,
				                (int)(length - n), line + n);
				return true;
			}
	}
	return false;
}

void
text_add_description(struct text_buffer *text, const struct command *command)
{
	const struct option_row *row = command->options;

	text_add_string(text, command->description);
	for (; row != NULL && !option_is_end(row); row++) {
		if (row->help == NULL)
			continue;
		text_add_string(text, "\n\n");
		text_add_option(text, row);
		text_add_format(text, ": %s.", row->help);
	}
}

void
text_add_aliases(struct text_buffer *text, const struct command *command,
                 const char *quote)
{
	const struct command_word *row = command->words;
	size_t n = 0;

	for (; row != NULL && row->word != NULL; row++)
		if (row->use == WORD_ALIAS)
			text_add_format(text, "%s%s%s%s", n++ > 0 ? ", " : "",
			                quote, row->word, quote);
}
