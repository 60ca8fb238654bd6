/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_words.c -- the words of a typed path. */
#include "src/shell/command/command.h"

#include <string.h>

#include "src/shell/command/resolve.h"

/* The text from one word to another, as it was typed. */
static int
path_words_take_range(struct reading *reading, size_t first, size_t last,
                      struct pattern_word *word)
{
	const struct word *words = reading->words->words;

	*word = (struct pattern_word){
		.length = words[last].end - words[first].begin,
	};
	word->text = arena_text(&reading->arguments->arena,
	                        reading->line + words[first].begin,
	                        word->length, reading->error);
	return word->text != NULL ? 0 : -1;
}

static bool
opens_path(const struct word *word)
{
	return !word->is_quoted && word->text[0] == '(';
}

/* The last word of a regular expression that begins at a word. */
static size_t
end_of_expression(const struct words *words, size_t at, bool is_opened)
{
	const char *text = words->words[at].text;

	if (words->words[at].is_quoted)
		return at;
	text += is_opened && *text == '(';
	if (text[0] != '/' || (text[1] != '\0' && strchr(text + 1, '/')))
		return at;
	for (size_t i = at + 1; i < words->n; i++) {
		const struct word *word = &words->words[i];
		size_t n = word->length;

		if (is_opened && i + 1 == words->n && n > 1 &&
		    word->text[n - 1] == ')')
			n--;
		if (!word->is_quoted && n > 0 && word->text[n - 1] == '/')
			return i;
	}
	return at;
}

/* Takes the parentheses around a path away from its first and last word. */
static int
strip_parentheses(struct reading *reading, struct pattern_word *words,
                  size_t *n)
{
	struct arena *arena = &reading->arguments->arena;
	struct pattern_word *first = &words[0], *last = &words[*n - 1];

	if (last->is_exact || last->text[last->length - 1] != ')')
		return error_set(reading->error, "a path that begins with ( "
		                 "must end with )");
	first->text++;
	first->length--;
	last->length--;
	last->text = arena_text(arena, last->text, last->length,
	                        reading->error);
	if (last->text == NULL)
		return -1;
	if (last->length == 0)
		--*n;
	if (*n > 0 && first->length == 0 && !first->is_exact) {
		--*n;
		memmove(first, first + 1, *n * sizeof *first);
	}
	return 0;
}

/* Whether the rest of the line is the name of a function with blanks. */
static bool
is_function(const struct reading *reading, const struct pattern_word *rest)
{
	return resolve_is_function(reading->session, rest->text,
	                           rest->length);
}

struct pattern_word *
path_words_read(struct reading *reading, size_t *n)
{
	const struct words *words = reading->words;
	size_t first = reading->at;
	bool is_opened = opens_path(&words->words[first]);
	struct pattern_word *path = arena_alloc(&reading->arguments->arena,
	    (words->n - first) * sizeof *path, reading->error);

	*n = 0;
	if (path == NULL || path_words_take_range(reading, first, words->n - 1,
	                                          &path[0]) != 0)
		return NULL;
	reading->at = words->n;
	if (words->n - first > 1 && is_function(reading, &path[0])) {
		path[0].is_exact = true;
		*n = 1;
		return path;
	}
	for (size_t i = first; i < words->n; i++) {
		const struct word *word = &words->words[i];
		size_t last = end_of_expression(words, i, is_opened);

		path[*n] = (struct pattern_word){
			.text = word->text,
			.length = word->length,
			.is_exact = word->is_quoted,
		};
		if (last > i &&
		    path_words_take_range(reading, i, last, &path[*n]) != 0)
			return NULL;
		++*n;
		i = last;
	}
	if (is_opened && strip_parentheses(reading, path, n) != 0)
		return NULL;
	if (*n > 0)
		return path;
	error_set(reading->error, "a path needs at least one function");
	return NULL;
}
