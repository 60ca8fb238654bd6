/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option_row.c -- an option is a row. */
#include "src/shell/line/options.h"

#include <string.h>

#include "src/base/short_name.h"
#include "src/shell/line/words.h"

int
option_take(const struct option_row *row, void *options, const char *value,
            struct error *error)
{
	if (row->take != NULL)
		return row->take(options, value, error);
	*(bool *)((char *)options + row->flag) = true;
	return 0;
}

/* Whether word is the option; *rest is its value, if that is in the word. */
static bool
option_row_matches(const struct option_row *row, const char *word,
                   const char **rest)
{
	size_t length = strlen(option_word(row));

	*rest = word + length;
	if (strncmp(word, option_word(row), length) != 0)
		return false;
	if (row->value == NULL || **rest == '\0')
		return **rest == '\0';
	if (row->letter != NULL)
		return true;
	return *(*rest)++ == '=';
}

const struct option_row *
option_match(const struct option_row *rows, const char *word,
             const char **rest)
{
	for (; !option_is_end(rows); rows++)
		if (option_row_matches(rows, word, rest))
			return rows;
	return NULL;
}

/* The same; sets *error if there is none. */
static const struct option_row *
find_option(const struct option_row *rows, const char *command,
            const char *word, const char **rest, struct error *error)
{
	const struct option_row *row = option_match(rows, word, rest);
	struct text_buffer text = { 0 };
	struct near near;

	if (row != NULL)
		return row;
	near_start(&near, word, strlen(word));
	for (row = rows; !option_is_end(row); row++)
		near_offer(&near, option_word(row), strlen(option_word(row)));
	near_add(&near, &text);
	error_set(error, "%s has no option %s (see %s --help)%s", command,
	          word, command, text_string(&text));
	text_free(&text);
	return NULL;
}

int
options_take(const struct option_row *rows, const char *command,
             void *options, char *const **words, struct error *error)
{
	for (; **words != NULL && (**words)[0] == '-' &&
	     (**words)[1] != '\0' && strcmp(**words, "--") != 0; ++*words) {
		const char *value;
		const struct option_row *row = find_option(rows, command,
		    **words, &value, error);

		if (row == NULL)
			return -1;
		if (row->value != NULL && *value == '\0' &&
		    (value = *++*words) == NULL)
			return error_set(error, "%s: expected %s",
			                 option_word(row), row->value);
		if (option_take(row, options, value, error) != 0)
			return -1;
	}
	return 0;
}

int
options_take_among(const struct option_row *rows, const char *command,
                   void *options, char *const *words, const char **others,
                   size_t *n, struct error *error)
{
	*n = 0;
	while (*words != NULL) {
		if (options_take(rows, command, options, &words, error) != 0)
			return -1;
		if (*words != NULL && strcmp(*words, "--") == 0) {
			while (*++words != NULL)
				others[(*n)++] = *words;
			break;
		}
		if (*words != NULL)
			others[(*n)++] = *words++;
	}
	return 0;
}

void
completion_offer_options(struct completion *completion,
                         const struct option_row *rows)
{
	for (; !option_is_end(rows); rows++)
		completion_offer(completion, option_word(rows),
		                 strlen(option_word(rows)));
}

void
text_add_option(struct text_buffer *text, const struct option_row *row)
{
	text_add_string(text, option_word(row));
	if (row->letter != NULL && row->name != NULL)
		text_add_format(text, ", %s", row->name);
	if (row->value != NULL)
		text_add_format(text, " %s", row->value);
}
