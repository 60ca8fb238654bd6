/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c -- finds commands by what was typed. */
#include "src/shell/command/command.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/near.h"

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
is_word(const char *known, const char *word, size_t length)
{
	return strlen(known) == length && memcmp(known, word, length) == 0;
}

/* Aliases cannot be shortened: whoever types e does not want to exit. */
static enum match
match(const struct command *command, const char *word, size_t length)
{
	const char *known;

	for (size_t i = 0; (known = command_word(command, i)) != NULL; i++)
		if (is_word(known, word, length))
			return MATCH_WHOLE;
	for (size_t i = 0; i < COMMAND_MAX_SHORT &&
	     (known = command->short_forms[i]) != NULL; i++)
		if (is_word(known, word, length))
			return MATCH_WHOLE;
	return strncmp(command->name, word, length) == 0
	    ? MATCH_BEGINNING : MATCH_NONE;
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
report_unknown(const char *word, size_t length, struct error *error)
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
	const struct command *found = NULL;
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
	if (n == 1 && length > 0)
		return found;
	if (n > 1 && length > 0)
		report_ambiguous(word, length, error);
	else
		report_unknown(word, length, error);
	return NULL;
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
