/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pattern.c -- which names a user means.
 *
 * Globs are matched here, because fnmatch would treat [ and \ as special,
 * which names like operator[] contain.
 */
#include "src/base/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum pattern_kind {
	PATTERN_EXACT, PATTERN_TYPED, PATTERN_GLOB, PATTERN_EXPRESSION
};

struct pattern {
	enum pattern_kind kind;
	char *text;
	size_t length;
	struct expression *expression;	/* NULL for other kinds */
	/* Of PATTERN_TYPED. */
	enum name_reading reading;
	struct typed_name typed;	/* of the text */
};

static enum pattern_kind
pattern_kind_of(const char *text, size_t length)
{
	if (length > 2 && text[0] == '/' && text[length - 1] == '/')
		return PATTERN_EXPRESSION;
	return strpbrk(text, "*?") != NULL ? PATTERN_GLOB : PATTERN_EXACT;
}

/* *error is what is wrong with an expression; -1. */
static int
blame(const struct pattern *pattern, const struct error *why,
      struct error *error)
{
	return why->is_out_of_memory ? error_out_of_memory(error) :
	    error_set(error, "%.100s%s: %s", pattern->text,
	              pattern->length > 100 ? "..." : "", why->text);
}

/* Compiles /.../ without its slashes. */
static int
pattern_compile(struct pattern *pattern, struct error *error)
{
	struct error why = { 0 };

	pattern->expression = expression_new(pattern->text + 1,
	                                     pattern->length - 2, &why);
	return pattern->expression != NULL ? 0 :
	    blame(pattern, &why, error);
}

static struct pattern *
pattern_make(const char *text, enum pattern_kind kind, struct error *error)
{
	struct pattern *pattern = memory_array(1, sizeof *pattern, error);

	if (pattern == NULL)
		return NULL;
	pattern->length = strlen(text);
	pattern->text = memory_string(text, error);
	pattern->kind = kind;
	if (pattern->text == NULL ||
	    (kind == PATTERN_EXPRESSION &&
	     pattern_compile(pattern, error) != 0)) {
		free(pattern->text);
		free(pattern);
		return NULL;
	}
	return pattern;
}

struct pattern *
pattern_new(const char *text, struct error *error)
{
	return pattern_make(text, pattern_kind_of(text, strlen(text)), error);
}

struct pattern *
pattern_new_exact(const char *text, struct error *error)
{
	return pattern_make(text, PATTERN_EXACT, error);
}

struct pattern *
pattern_new_typed(const char *text, enum name_reading reading,
                  struct error *error)
{
	struct pattern *pattern = pattern_make(text, PATTERN_TYPED, error);

	if (pattern == NULL)
		return NULL;
	pattern->reading = reading;
	if (typed_name_make(&pattern->typed, pattern->text, pattern->length,
	                    error) == 0)
		return pattern;
	pattern_free(pattern);
	return NULL;
}

void
pattern_free(struct pattern *pattern)
{
	if (pattern == NULL)
		return;
	expression_free(pattern->expression);
	free(pattern->text);
	free(pattern);
}

bool
pattern_is_general(const struct pattern *pattern)
{
	return pattern->kind != PATTERN_EXACT;
}

/* Whether a character of an expression means something else than itself. */
static bool
pattern_is_special(char c)
{
	return c != '\0' && strchr("\\^$.[]()|*+?{}", c) != NULL;
}

/* The end of a bracket expression that begins there: "[^]a-z]". */
static size_t
skip_bracket(const char *text, size_t n, size_t at)
{
	at += at + 1 < n && text[at + 1] == '^' ? 2 : 1;
	for (at++; at < n && text[at] != ']'; at++)
		;
	return at < n ? at + 1 : n;
}

/*
 * The length of the literal run that begins at `at`; *next: where to go on.
 * The last character of a run does not count if it may be missing.
 */
static size_t
literal_run(const struct pattern *pattern, const char *text, size_t n,
            size_t at, size_t *next)
{
	size_t end = at;

	if (pattern->kind == PATTERN_GLOB) {
		end += strcspn(text + at, "*?");
		*next = end < n ? end + 1 : n;
		return end - at;
	}
	while (end < n && !pattern_is_special(text[end]))
		end++;
	*next = end == n ? n : text[end] == '[' ? skip_bracket(text, n, end) :
	    text[end] == '\\' && end + 1 < n ? end + 2 : end + 1;
	if (end > at && end < n && strchr("*?{", text[end]) != NULL)
		return end - at - 1;
	return end - at;
}

const char *
pattern_literal(const struct pattern *pattern, size_t *n)
{
	bool is_expression = pattern->kind == PATTERN_EXPRESSION;
	const char *text = pattern->text + is_expression, *best = text;
	size_t length = pattern->length - 2u * is_expression;

	*n = length;
	if (pattern->kind == PATTERN_EXACT || pattern->kind == PATTERN_TYPED)
		return text;
	*n = 0;
	for (size_t at = 0, next; at < length; at = next) {
		size_t run = literal_run(pattern, text, length, at, &next);

		if (run <= *n)
			continue;
		best = text + at;
		*n = run;
	}
	return best;
}

/* Length of the character at name[at]: `?`  matches a whole character. */
static size_t
character_length(const char *name, size_t length, size_t at)
{
	size_t end = at + 1;

	if ((name[at] & 0xc0) == 0xc0)
		while (end < length && end < at + 4 &&
		       (name[end] & 0xc0) == 0x80)
			end++;
	return end - at;
}

/*
 * On a mismatch the last star takes one more character.  Only the last star is
 * ever tried again, so the time is at most the product of the lengths.
 */
static bool
glob_matches(const char *glob, size_t n_glob, const char *name, size_t n_name)
{
	size_t g = 0, n = 0, star = SIZE_MAX, retry = 0;

	while (n < n_name) {
		if (g < n_glob && glob[g] == '*') {
			star = g++;
			retry = n;
		} else if (g < n_glob && glob[g] == '?') {
			n += character_length(name, n_name, n);
			g++;
		} else if (g < n_glob && glob[g] == name[n]) {
			g++;
			n++;
		} else if (star != SIZE_MAX) {
			retry += character_length(name, n_name, retry);
			n = retry;
			g = star + 1;
		} else {
			return false;
		}
	}
	while (g < n_glob && glob[g] == '*')
		g++;
	return g == n_glob;
}

/* What the expression matches from a byte of the name on. */
static bool
capture_from(const struct pattern *pattern, const char *name, size_t length,
             size_t begin, struct capture captures[N_CAPTURES])
{
	if (!expression_captures(pattern->expression, name + begin,
	                         length - begin, captures, N_CAPTURES))
		return false;
	for (int i = 0; i < N_CAPTURES; i++)
		captures[i].begin += captures[i].length > 0 ? begin : 0;
	return true;
}

/* Without memory, no name matches. */
static bool
pattern_typed_matches(const struct pattern *pattern, const char *name,
                      size_t length)
{
	struct name_parts parts = { 0 };
	struct error ignored = { 0 };
	const enum name_reading reading = typed_name_stands_for(
	    &pattern->typed, name, length, pattern->reading, &parts, &ignored);

	name_parts_free(&parts);
	return reading < N_NAME_READINGS && !ignored.is_set;
}

/*
 * Whether it can match the beginning of a name that it does not match as a
 * whole: not if anything may follow what it matches.
 */
static bool
minds_end(const struct pattern *pattern)
{
	return pattern->kind == PATTERN_GLOB ?
	    pattern->text[pattern->length - 1] != '*' :
	    strpbrk(pattern->text, "$\\") != NULL ||
	    strstr(pattern->text, "(?") != NULL;
}

bool
pattern_captures(const struct pattern *pattern, const char *name,
                 size_t length, struct capture captures[N_CAPTURES])
{
	size_t begin, end;

	if (pattern->kind != PATTERN_EXPRESSION)
		return false;
	if (capture_from(pattern, name, length, 0, captures))
		return true;
	begin = name_return_type(name, length);
	if (begin > 0 && capture_from(pattern, name, length, begin, captures))
		return true;
	if (!minds_end(pattern))
		return false;
	end = name_tail(name, length);
	return end < length &&
	    (capture_from(pattern, name, end, 0, captures) ||
	     (begin > 0 && begin < end &&
	      capture_from(pattern, name, end, begin, captures)));
}

size_t
pattern_n_captures(const struct pattern *pattern)
{
	return pattern->kind == PATTERN_EXPRESSION ?
	    expression_n_groups(pattern->expression) : 0;
}

int
pattern_check(const struct pattern *pattern, struct error *error)
{
	struct error why = { 0 };

	return pattern->kind != PATTERN_EXPRESSION ||
	    expression_check(pattern->expression, &why) == 0 ? 0 :
	    blame(pattern, &why, error);
}

bool
pattern_matches(const struct pattern *pattern, const char *name, size_t length)
{
	switch (pattern->kind) {
	case PATTERN_GLOB:
		return glob_matches(pattern->text, pattern->length, name,
		                    length);
	case PATTERN_EXPRESSION:
		return expression_matches(pattern->expression, name, length);
	case PATTERN_TYPED:
		return pattern_typed_matches(pattern, name, length);
	case PATTERN_EXACT:
		break;
	}
	return length == pattern->length &&
	    memcmp(pattern->text, name, length) == 0;
}

bool
pattern_matches_function(const struct pattern *pattern, const char *name,
                         size_t length)
{
	size_t begin, end;

	if (pattern_matches(pattern, name, length))
		return true;
	if (pattern->kind != PATTERN_GLOB && pattern->kind != PATTERN_EXPRESSION)
		return false;
	begin = name_return_type(name, length);
	if (begin > 0 &&
	    pattern_matches(pattern, name + begin, length - begin))
		return true;
	if (!minds_end(pattern))
		return false;
	end = name_tail(name, length);
	return end < length &&
	    (pattern_matches(pattern, name, end) ||
	     (begin > 0 && begin < end &&
	      pattern_matches(pattern, name + begin, end - begin)));
}
