/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argument_kinds.c -- what each kind of argument is read and completed as. */
#include "src/shell/command/argument_kinds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/shell/command/argument_functions.h"
#include "src/shell/command/candidates.h"
#include "src/shell/command/resolve.h"

enum { SHOWN = 60, MOST_DIGITS = 15 };

const struct word *
reading_next_word(struct reading *reading)
{
	return &reading->words->words[reading->at++];
}

bool
reading_is_last(const struct reading *reading)
{
	return reading->argument[1].name == NULL;
}

const char *
reading_rest(const struct reading *reading, size_t *length)
{
	const struct words *words = reading->words;
	size_t begin = words->words[reading->at].begin;

	*length = words->words[words->n - 1].end - begin;
	return arena_text(&reading->arguments->arena, reading->line + begin,
	                  *length, reading->error);
}

/* A plain decimal number, perhaps with a point and an exponent. */
static bool
parse_number(const char *text, double *number, const char **end)
{
	size_t n = strspn(text, "0123456789.eE+-");
	char *stop;

	if (n == 0 || strchr("0123456789.", text[0]) == NULL)
		return false;
	*number = strtod(text, &stop);
	*end = stop;
	return stop == text + n && isfinite(*number);
}

static int
read_fraction(struct reading *reading, struct value *value)
{
	const char *end;
	double number;

	value->text = reading_next_word(reading)->text;
	if (!parse_number(value->text, &number, &end) ||
	    (end[0] != '\0' && strcmp(end, "%") != 0))
		return error_set(reading->error, "%.*s: expected a fraction, "
		                 "such as 0.01 or 1%%", SHOWN, value->text);
	if (*end == '\0' && number >= 1)
		return error_set(reading->error, "%.*s is not below 1: write "
		                 "%.*s%% or %.15g", SHOWN, value->text, SHOWN,
		                 value->text, number / 100);
	value->fraction = *end == '%' ? number / 100 : number;
	if (value->fraction > 1)
		return error_set(reading->error, "%.*s is more than "
		                 "100%%", SHOWN, value->text);
	return 0;
}

static bool
is_whole_number(const char *text)
{
	return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* Digits alone, below SIZE_MAX. */
static int
parse_count(const char *text, size_t *count)
{
	char *end;
	unsigned long long number;

	if (!is_whole_number(text))
		return -1;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || number >= SIZE_MAX)
		return -1;
	*count = (size_t)number;
	return 0;
}

static int
read_count(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	if (strcmp(value->text, "off") == 0) {
		value->count = SIZE_MAX;
		return 0;
	}
	if (parse_count(value->text, &value->count) == 0 && value->count > 0)
		return 0;
	if (is_whole_number(value->text) &&
	    strspn(value->text, "0") < strlen(value->text))
		return error_set(reading->error, "%.*s is too large; write "
		                 "off for no limit", SHOWN,
		                 value->text);
	return error_set(reading->error, "%.*s: expected a positive number "
	                 "or off", SHOWN, value->text);
}

static int
read_digits(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	if (parse_count(value->text, &value->count) == 0 &&
	    value->count <= MOST_DIGITS)
		return 0;
	return error_set(reading->error, "%.*s: expected a number from 0 to %d",
	                 SHOWN, value->text, MOST_DIGITS);
}

static int
report_choice(const struct reading *reading, const char *text)
{
	struct text_buffer known = { 0 };

	for (size_t i = 0; reading->command->choices[i] != NULL; i++)
		text_add_format(&known, "%s%s", i == 0 ? "" : ", ",
		                reading->command->choices[i]);
	error_set(reading->error, "%.*s: expected one of %s", SHOWN, text,
	          text_string(&known));
	text_free(&known);
	return -1;
}

/* A choice, or its unique beginning. */
static int
read_choice(struct reading *reading, struct value *value)
{
	const char *const *choices = reading->command->choices;
	const struct word *word = reading_next_word(reading);
	size_t n = 0;

	value->text = word->text;
	for (size_t i = 0; choices[i] != NULL; i++) {
		if (strncmp(choices[i], word->text, word->length) != 0)
			continue;
		value->count = i;
		n++;
		if (strlen(choices[i]) == word->length)
			return 0;
	}
	if (n == 1 && word->length > 0)
		return 0;
	return report_choice(reading, value->text);
}

/* A resource's name may have blanks and needs no bars for them. */
static int
read_resource(struct reading *reading, struct value *value)
{
	size_t length;

	if (reading_is_last(reading) &&
	    reading->words->n - reading->at > 1) {
		value->text = reading_rest(reading, &length);
		reading->at = reading->words->n;
	} else {
		value->text = reading_next_word(reading)->text;
	}
	if (value->text == NULL)
		return -1;
	value->count = resolve_resource(reading->session, value->text,
	                                reading->error);
	return value->count == UINT32_MAX ? -1 : 0;
}

/* ~/ at the front of a bare word is the home directory. */
static const char *
expand_home(const struct reading *reading, const struct word *word)
{
	const char *home = getenv("HOME");

	if (word->is_quoted || strncmp(word->text, "~/", 2) != 0 ||
	    home == NULL)
		return word->text;
	return arena_format(&reading->arguments->arena, reading->error,
	                    "%s%s", home, word->text + 1);
}

/* n words in the arena, as a list that NULL ends. */
static int
read_list(struct reading *reading, struct value *value, size_t n,
          bool are_files)
{
	const char **list = arena_alloc(&reading->arguments->arena,
	                                (n + 1) * sizeof *list,
	                                reading->error);

	if (list == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct word *word = reading_next_word(reading);

		list[i] = are_files ? expand_home(reading, word) : word->text;
		if (list[i] == NULL)
			return -1;
		if (are_files && strlen(word->text) != word->length)
			return error_set(reading->error, "a file name "
			                 "cannot contain a NUL byte");
	}
	value->text = list[0];
	value->words = list;
	value->n_words = n;
	return 0;
}

static int
read_file(struct reading *reading, struct value *value)
{
	bool is_repeated = reading->argument->flags & ARG_REPEATED;
	size_t left = reading->words->n - reading->at;

	return read_list(reading, value, is_repeated ? left : 1, true);
}

static int
read_words(struct reading *reading, struct value *value)
{
	return read_list(reading, value, reading->words->n - reading->at,
	                 false);
}

static int
read_word(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	return 0;
}

static int
read_rest(struct reading *reading, struct value *value)
{
	size_t length;

	value->text = reading_rest(reading, &length);
	reading->at = reading->words->n;
	return value->text == NULL ? -1 : 0;
}

static int
read_command(struct reading *reading, struct value *value)
{
	const struct word *word = reading_next_word(reading);

	value->text = word->text;
	value->command = command_lookup(word->text, word->length,
	                              reading->error);
	return value->command == NULL ? -1 : 0;
}

static int
read_setting(struct reading *reading, struct value *value)
{
	if (read_command(reading, value) != 0)
		return -1;
	if (value->command->set != NULL)
		return 0;
	return error_set(reading->error, "%s is a command, not a setting; "
	                 "\"show\" lists the settings",
	                 value->command->name);
}

/* The command knows what its words are. */
static void
complete_words(struct completion *completion, const struct session *session,
               const struct command *command)
{
	(void)session;
	command->complete_words(completion, completion->before,
	                        completion->n_before);
}

const struct argument_kind_row argument_kinds[] = {
	[ARG_FUNCTION] = { read_function, complete_functions },
	[ARG_FUNCTIONS] = { read_functions, complete_functions },
	[ARG_PATTERN] = { read_pattern, complete_functions },
	[ARG_PATH] = { read_path, complete_functions },
	[ARG_FRACTION] = { read_fraction, NULL },
	[ARG_COUNT] = { read_count, complete_off },
	[ARG_DIGITS] = { read_digits, NULL },
	[ARG_CHOICE] = { read_choice, complete_choices },
	[ARG_RESOURCE] = { read_resource, complete_resources },
	[ARG_FILE] = { read_file, complete_files },
	[ARG_COMMAND] = { read_command, complete_commands },
	[ARG_SETTING] = { read_setting, complete_settings },
	[ARG_WORD] = { read_word, NULL },
	[ARG_WORDS] = { read_words, complete_words },
	[ARG_REST] = { read_rest, NULL },
	[ARG_LINE] = { read_word, complete_files },
	[ARG_COMMAND_LINE] = { read_word, complete_commands },
};
