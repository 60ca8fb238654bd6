/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c -- finds commands by what was typed. */
#include "src/shell/command/command.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/short_name.h"

const struct command_word command_words[] = {
#define MEANS(word, command) { word, command, NULL },
#define TYPE(word, line) { word, NULL, line },
#include "commands/words.def"
#undef MEANS
#undef TYPE
	{ NULL, NULL, NULL }
};

const struct command_word command_abbreviations[] = {
#define ABBREVIATION(command, word) { word, #command, NULL },
#include "commands/abbreviations.def"
#undef ABBREVIATION
	{ NULL, NULL, NULL }
};

const char *const command_group_titles[COMMAND_GROUPS_END] = {
	[GROUP_LOOK] = "Views of the run",
	[GROUP_ASK] = "One path, function or place in the code",
	[GROUP_REFINE] = "A part of the run",
	[GROUP_COMPARE] = "Comparisons and assertions",
	[GROUP_SETTINGS] = "Settings",
	[GROUP_FILES] = "Profiles and files",
	[GROUP_PROMPT] = "Help and the prompt",
};

/* The command's name for i = 0, then its aliases; NULL after the last. */
static const char *
command_word(const struct command *command, size_t i)
{
	if (i == 0)
		return command->name;
	return i <= COMMAND_MAX_ALIASES ? command->aliases[i - 1] : NULL;
}

enum match { MATCH_NONE, MATCH_BEGINNING, MATCH_WHOLE };

static bool
command_is_word(const char *known, const char *word, size_t length)
{
	return strlen(known) == length && memcmp(known, word, length) == 0;
}

/* Aliases cannot be shortened: whoever types e does not want to exit. */
static enum match
match(const struct command *command, const char *word, size_t length)
{
	const char *known;

	for (size_t i = 0; (known = command_word(command, i)) != NULL; i++)
		if (command_is_word(known, word, length))
			return MATCH_WHOLE;
	for (size_t i = 0; i < COMMAND_MAX_SHORT &&
	     (known = command->short_forms[i]) != NULL; i++)
		if (command_is_word(known, word, length))
			return MATCH_WHOLE;
	return strncmp(command->name, word, length) == 0
	    ? MATCH_BEGINNING : MATCH_NONE;
}

/* The command of which this is the whole name, or NULL. */
static const struct command *
command_find_name(const char *name, size_t length)
{
	for (size_t i = 0; commands[i] != NULL; i++)
		if (strlen(commands[i]->name) == length &&
		    memcmp(commands[i]->name, name, length) == 0)
			return commands[i];
	return NULL;
}

const struct command *
command_of_word(const struct command_word *row)
{
	return row->command != NULL
	    ? command_find_name(row->command, strlen(row->command))
	    : command_find_name(row->type, strcspn(row->type, " ,"));
}

/* The row of that word whose command exists, or NULL. */
static const struct command_word *
find_word(const char *word, size_t length)
{
	const struct command_word *row = command_words;

	for (; row->word != NULL; row++)
		if (strlen(row->word) == length &&
		    memcmp(row->word, word, length) == 0 &&
		    command_of_word(row) != NULL)
			return row;
	return NULL;
}

/* The command that a row of words.def runs; NULL with *error set. */
static const struct command *
take_word(const struct command_word *row, struct error *error)
{
	if (row->command != NULL)
		return command_of_word(row);
	error_set(error, "there is no command \"%s\"; type %s", row->word,
	          row->type);
	return NULL;
}

/* The command that keeps a prefix for itself, or NULL. */
static const struct command *
find_abbreviated(const char *word, size_t length)
{
	const struct command_word *row = command_abbreviations;

	for (; row->word != NULL; row++)
		if (length >= strlen(row->word) &&
		    length <= strlen(row->command) &&
		    memcmp(row->command, word, length) == 0)
			return command_find_name(row->command,
			                         strlen(row->command));
	return NULL;
}

static void
report_ambiguous(const char *word, size_t length, struct error *error)
{
	struct text_buffer text = { 0 };
	size_t n = 0;

	for (size_t i = 0; commands[i] != NULL; i++)
		if (match(commands[i], word, length) != MATCH_NONE)
			text_add_format(&text, "%s%s", n++ > 0 ? ", " : "",
			                commands[i]->name);
	error_set(error, "\"%.*s\" is ambiguous: %s", (int)length, word,
	          text_string(&text));
	text_free(&text);
}

static void
command_report_unknown(const char *word, size_t length, struct error *error)
{
	struct text_buffer text = { 0 };
	struct near near;
	const char *known;

	near_start(&near, word, length);
	for (size_t i = 0; commands[i] != NULL; i++)
		for (size_t j = 0;
		     (known = command_word(commands[i], j)) != NULL; j++)
			near_offer(&near, known, strlen(known));
	near_add(&near, &text);
	error_set(error, "there is no command \"%.*s\"%s",
	          length > 60 ? 60 : (int)length, word,
	          near.n > 0 ? text_string(&text) : "; try help");
	text_free(&text);
}

const struct command *
command_lookup(const char *word, size_t length, struct error *error)
{
	const struct command *found = NULL, *kept;
	const struct command_word *row;
	size_t n = 0;

	for (size_t i = 0; commands[i] != NULL; i++) {
		enum match kind = match(commands[i], word, length);

		if (kind == MATCH_WHOLE)
			return commands[i];
		if (kind == MATCH_BEGINNING) {
			found = commands[i];
			n++;
		}
	}
	row = find_word(word, length);
	if (row != NULL)
		return take_word(row, error);
	kept = find_abbreviated(word, length);
	if (kept != NULL)
		return kept;
	if (n == 1 && length > 0)
		return found;
	if (n > 1 && length > 0)
		report_ambiguous(word, length, error);
	else
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

/* The row of two words that a line begins with, or NULL; *n: their bytes. */
static const struct command_word *
find_pair(const char *line, size_t length, size_t *n)
{
	size_t first = word_length(line, length), second = first;
	const struct command_word *row = command_words;

	while (second < length && memchr(" \t", line[second], 2) != NULL)
		second++;
	*n = second + word_length(line + second, length - second);
	if (first == 0 || second == first || *n == second)
		return NULL;
	for (; row->word != NULL; row++)
		if (strlen(row->word) == first + 1 + (*n - second) &&
		    row->word[first] == ' ' &&
		    memcmp(row->word, line, first) == 0 &&
		    memcmp(row->word + first + 1, line + second,
		           *n - second) == 0 && command_of_word(row) != NULL)
			return row;
	return NULL;
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
	else if (command_find_name(word, n) != NULL)
		error_set(error, "there is no command \"%.*s\"; type %.*s "
		          "%.*s", (int)length, word, (int)n, word,
		          (int)(length - n), word + n);
}

const struct command *
command_of_line(const char *line, size_t length, size_t *n, size_t *n_words,
                struct error *error)
{
	const struct command_word *pair = find_pair(line, length, n);

	*n_words = 2;
	if (pair != NULL)
		return take_word(pair, error);
	*n_words = 1;
	*n = word_length(line, length);
	explain_unknown(line, *n, error);
	return error->is_set ? NULL : command_lookup(line, *n, error);
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
