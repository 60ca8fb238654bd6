/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.c -- splits a command line into words. */
#include "src/shell/line/words.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct splitter {
	struct words *words;
	const char *line;
	size_t length, at;
	size_t word_end;	/* after the last word; 0: there is none */
	struct error *error;
};

static bool
words_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
at_end(const struct splitter *splitter)
{
	return splitter->at == splitter->length;
}

static void
words_skip_blanks(struct splitter *splitter)
{
	while (!at_end(splitter) &&
	       words_is_blank(splitter->line[splitter->at]))
		splitter->at++;
}

static bool
is_pipe(const struct splitter *splitter)
{
	const char *bar = splitter->line + splitter->at;

	return *bar == '|' && (splitter->at + 1 == splitter->length ||
	                       words_is_blank(bar[1]));
}

/*
 * Whether the bar at `at` follows a word, and so ends it.  After the
 * parenthesis of a path, and after the sign of KEY=|VALUE|, a name begins.
 */
static bool
follows_word(const struct splitter *splitter)
{
	char before = splitter->at == 0 ? '\0' :
	              splitter->line[splitter->at - 1];

	return splitter->word_end > 0 && splitter->word_end == splitter->at &&
	    before != '(' && before != '=';
}

static int
words_add_word(struct splitter *splitter, const char *text, size_t length,
               bool is_quoted, size_t begin)
{
	struct words *words = splitter->words;
	struct error *error = splitter->error;

	splitter->word_end = splitter->at;
	if (memory_grow(&words->words, &words->capacity, words->n + 1,
	                sizeof *words->words, error) != 0)
		return -1;
	words->words[words->n++] = (struct word){
		text, length, is_quoted, begin, splitter->at
	};
	return 0;
}

static int
words_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	digit = c == '\0' ? NULL : strchr(digits, c);
	return digit == NULL ? -1 : (int)(digit - digits);
}

/*
 * Reads one byte of a quoted name and moves past it.  False at the closing
 * bar.
 */
static bool
next_quoted(struct splitter *splitter, char *byte)
{
	const char *c = splitter->line + splitter->at;
	size_t left = splitter->length - splitter->at;

	if (*c == '|')
		return false;
	*byte = *c;
	if (*c == '\\' && left > 1 && c[1] == '|') {
		*byte = '|';
		splitter->at += 2;
	} else if (*c == '\\' && left > 3 && c[1] == 'x' &&
	           words_hex_digit(c[2]) >= 0 && words_hex_digit(c[3]) >= 0) {
		*byte = (char)(words_hex_digit(c[2]) * 16 +
		               words_hex_digit(c[3]));
		splitter->at += 4;
	} else {
		splitter->at++;
	}
	return true;
}

static int
add_quoted(struct splitter *splitter)
{
	size_t begin = splitter->at++, n = 0;
	char *text = arena_alloc(&splitter->words->arena,
	                         splitter->length - begin + 1,
	                         splitter->error);

	if (text == NULL)
		return -1;
	while (!at_end(splitter) && next_quoted(splitter, &text[n]))
		n++;
	text[n] = '\0';
	if (at_end(splitter))
		splitter->words->is_open = true;
	else
		splitter->at++;
	return words_add_word(splitter, text, n, true, begin);
}

/*
 * Whether a regular expression begins here, perhaps after the parenthesis of a
 * path: a slash before a blank or that parenthesis closes it.
 */
static bool
is_expression(const struct splitter *splitter)
{
	const char *text = splitter->line + splitter->at;
	size_t left = splitter->length - splitter->at;
	size_t n = text[0] == '(' ? 1 : 0;

	if (n == left || text[n] != '/')
		return false;
	for (n += 2; n < left; n++)
		if (text[n] == '/' &&
		    (n + 1 == left || words_is_blank(text[n + 1]) ||
		     text[n + 1] == ')'))
			return true;
	return false;
}

static int
add_bare(struct splitter *splitter)
{
	size_t begin = splitter->at;
	bool has_bars = is_expression(splitter);
	const char *text;

	while (!at_end(splitter) &&
	       !words_is_blank(splitter->line[splitter->at]) &&
	       (has_bars || splitter->line[splitter->at] != '|'))
		splitter->at++;
	text = arena_text(&splitter->words->arena, splitter->line + begin,
	                  splitter->at - begin, splitter->error);
	if (text == NULL)
		return -1;
	return words_add_word(splitter, text, splitter->at - begin, false,
	                      begin);
}

/* The target is the rest of the line without the blanks around it. */
static int
set_pipe(struct splitter *splitter)
{
	struct words *words = splitter->words;
	size_t end = splitter->length;

	words->is_redirected_twice |= words->redirect != REDIRECT_NONE;
	splitter->at++;
	words_skip_blanks(splitter);
	while (end > splitter->at && words_is_blank(splitter->line[end - 1]))
		end--;
	words->redirect = REDIRECT_PIPE;
	if (end == splitter->at)
		return 0;
	words->target = arena_text(&words->arena,
	                           splitter->line + splitter->at,
	                           end - splitter->at, splitter->error);
	splitter->at = splitter->length;
	return words->target == NULL ? -1 : 0;
}

/* The target is the word after > or >>. */
static int
set_file(struct splitter *splitter)
{
	struct words *words = splitter->words;
	size_t n = words->n;

	words->is_redirected_twice |= words->redirect != REDIRECT_NONE;
	words->redirect = REDIRECT_FILE;
	splitter->at++;
	if (!at_end(splitter) && splitter->line[splitter->at] == '>') {
		words->redirect = REDIRECT_APPEND;
		splitter->at++;
	}
	words_skip_blanks(splitter);
	if (at_end(splitter) || is_pipe(splitter))
		return 0;
	if (splitter->line[splitter->at] == '|' ? add_quoted(splitter)
	                                        : add_bare(splitter))
		return -1;
	words->target = words->words[n].text;
	words->n = n;
	return 0;
}

int
words_split(struct words *words, const char *line, size_t length,
            struct error *error)
{
	struct splitter splitter = { words, line, length, 0, 0, error };
	int status = 0;

	*words = (struct words){ 0 };
	for (words_skip_blanks(&splitter); status == 0 && !at_end(&splitter);
	     words_skip_blanks(&splitter)) {
		char c = line[splitter.at];

		if (c == '#')
			break;
		if (is_pipe(&splitter) ||
		    (c == '|' && follows_word(&splitter)))
			status = set_pipe(&splitter);
		else if (c == '>')
			status = set_file(&splitter);
		else if (c == '|')
			status = add_quoted(&splitter);
		else
			status = add_bare(&splitter);
	}
	return status;
}

int
words_take_whole(struct words *words, const char *line, size_t length,
                 struct error *error)
{
	struct splitter splitter = { words, line, length, 0, 0, error };
	size_t begin;
	const char *text;

	*words = (struct words){ 0 };
	words_skip_blanks(&splitter);
	begin = splitter.at;
	while (length > begin && words_is_blank(line[length - 1]))
		length--;
	if (begin == length)
		return 0;
	text = arena_text(&words->arena, line + begin, length - begin, error);
	splitter.at = length;
	return text == NULL ? -1
	    : words_add_word(&splitter, text, length - begin, true, begin);
}

void
words_free(struct words *words)
{
	free(words->words);
	arena_free(&words->arena);
	*words = (struct words){ 0 };
}

int
words_check(const struct words *words, struct error *error)
{
	if (words->is_open)
		return error_set(error, "unterminated |name|; for a "
		                 "pipe, put a space after the bar");
	if (words->redirect == REDIRECT_PIPE && words->target == NULL)
		return error_set(error, "expected a command after |");
	if (words->is_redirected_twice)
		return error_set(error, "output can go to one file or one "
		                 "command, not to several");
	if (words->redirect != REDIRECT_NONE && words->target == NULL)
		return error_set(error, "expected a file after %s",
		                 words->redirect == REDIRECT_APPEND
		                 ? ">>" : ">");
	return 0;
}
