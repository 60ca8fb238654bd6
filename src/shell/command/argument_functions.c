/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argument_functions.c -- how arguments that are functions are read. */
#include "src/shell/command/argument_functions.h"

#include <string.h>

#include "src/base/printable.h"
#include "src/shell/command/resolve.h"

enum { SHOWN = 60, LISTED = 8 };

/*
 * A function's name may be typed with its blanks and without bars where the
 * rest of the line is that very name.
 */
static bool
read_rest_as_function(struct reading *reading, struct word *word)
{
	size_t length;
	const char *text;

	if (!reading_is_last(reading) ||
	    reading->words->n - reading->at < 2)
		return false;
	text = reading_rest(reading, &length);
	if (text == NULL ||
	    session_find_function(reading->session, text, length) == NO_NAME)
		return false;
	*word = (struct word){ .text = text, .length = length };
	reading->at = reading->words->n;
	return true;
}

static struct word
read_function_word(struct reading *reading)
{
	struct word word;

	if (!read_rest_as_function(reading, &word))
		word = *reading_next_word(reading);
	return word;
}

int
read_functions(struct reading *reading, struct value *value)
{
	const struct word word = read_function_word(reading);

	value->text = word.text;
	value->names = resolve_functions(reading->session, &word,
	                                 &reading->arguments->arena,
	                                 &value->n_names, reading->error);
	return value->names == NULL ? -1 : 0;
}

/* Tells that a pattern fits several functions, and names the first few. */
static int
report_several(const struct reading *reading, const char *pattern,
               const uint32_t *found, size_t n)
{
	struct names *names = reading->session->profile->names;
	struct text_buffer text = { 0 };

	for (size_t i = 0; i < n && i < LISTED; i++) {
		text_add_string(&text, i == 0 ? "" : ", ");
		text_add_word(&text, names_text(names, found[i]),
		              names_length(names, found[i]));
	}
	error_set(reading->error, "%.*s matches %zu functions: %s%s", SHOWN,
	          pattern, n, text_string(&text), n > LISTED ? ", ..." : "");
	text_free(&text);
	return -1;
}

int
read_function(struct reading *reading, struct value *value)
{
	if (read_functions(reading, value) != 0)
		return -1;
	if (value->n_names == 1)
		return 0;
	return report_several(reading, value->text, value->names,
	                      value->n_names);
}

int
read_pattern(struct reading *reading, struct value *value)
{
	const struct word word = read_function_word(reading);

	value->text = word.text;
	value->pattern = resolve_pattern(reading->session, &word,
	                                 reading->error);
	return value->pattern == NULL ? -1 : 0;
}

/*
 * One word of a path less the parentheses around the whole; the name is in
 * *name, empty when the word was nothing else.  A name that holds parentheses
 * itself stands between bars, but a last one may be bare: `(main f())`.
 */
static void
strip_parentheses(const struct reading *reading, size_t i, size_t first,
                  struct word *name)
{
	const struct words *words = reading->words;
	const struct word *opening = &words->words[first];
	bool has_opening = !opening->is_quoted && opening->text[0] == '(';

	*name = words->words[i];
	if (name->is_quoted || !has_opening)
		return;
	if (i == first) {
		name->text++;
		name->length--;
	}
	if (i + 1 == words->n && name->length > 0 &&
	    name->text[name->length - 1] == ')')
		name->length--;
}

/* A path that opens with a parenthesis closes with one. */
static bool
is_balanced(const struct words *words, size_t first)
{
	const struct word *opening = &words->words[first];
	const struct word *last = &words->words[words->n - 1];

	if (opening->is_quoted || opening->text[0] != '(')
		return true;
	return !last->is_quoted && last->text[last->length - 1] == ')';
}

/* Whether a name is what a terminal shows in the place of several. */
static bool
is_gap(const struct reading *reading, const struct word *word)
{
	return !word->is_quoted && strcmp(word->text, "...") == 0 &&
	    session_find_function(reading->session, "...", 3) == NO_NAME;
}

static int
add_path_name(struct reading *reading, const struct word *stripped,
              uint32_t *path, size_t *n)
{
	struct arena *arena = &reading->arguments->arena;
	struct word word = *stripped;
	size_t n_found;
	uint32_t *found;

	word.text = arena_text(arena, word.text, word.length, reading->error);
	if (word.text == NULL)
		return -1;
	if (is_gap(reading, &word))
		return error_set(reading->error, "... replaces names that did "
		                 "not fit on the line; add | cat to a view to "
		                 "see whole paths");
	found = resolve_functions(reading->session, &word, arena, &n_found,
	                          reading->error);
	if (found == NULL)
		return -1;
	if (n_found > 1)
		return report_several(reading, word.text, found, n_found);
	path[(*n)++] = found[0];
	return 0;
}

int
read_path(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	size_t first = reading->at;
	uint32_t *path = arena_alloc(&reading->arguments->arena,
	                             (words->n - first) * sizeof *path,
	                             reading->error);

	if (path == NULL)
		return -1;
	if (!is_balanced(words, first))
		return error_set(reading->error, "a path that begins with ( "
		                 "must end with )");
	for (; reading->at < words->n; reading->at++) {
		struct word name;

		strip_parentheses(reading, reading->at, first, &name);
		if (name.length == 0 && !name.is_quoted)
			continue;
		if (add_path_name(reading, &name, path, &value->n_names) != 0)
			return -1;
	}
	value->names = path;
	if (value->n_names == 0)
		return error_set(reading->error, "a path needs at least one "
		                 "function");
	return 0;
}
