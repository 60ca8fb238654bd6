/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handles.c -- %3 in a command line: row 3 of the last view. */
#include "src/shell/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word that may be a handle, in the parentheses of a path. */
struct handle {
	bool opens, closes;	/* "(" before it, ")" after it */
	size_t number;
};

/* Whether text[length] is % and a number; one too large is no row's. */
static bool
handles_read_number(const char *text, size_t length, size_t *number)
{
	unsigned long long value;

	if (length < 2 || text[0] != '%' ||
	    strspn(text + 1, "0123456789") < length - 1)
		return false;
	errno = 0;
	value = strtoull(text + 1, NULL, 10);
	*number = errno != 0 || value > SIZE_MAX ? SIZE_MAX : (size_t)value;
	return true;
}

static bool
read_handle(const struct session *session, enum handle_kind kind,
            const struct word *word, struct handle *handle)
{
	const char *text = word->text;
	size_t length = word->length;

	*handle = (struct handle){ 0 };
	if (word->is_quoted || length == 0)
		return false;
	if (kind == HANDLE_PATH && text[0] == '(') {
		handle->opens = true;
		text++;
		length--;
	}
	if (kind == HANDLE_PATH && length > 0 && text[length - 1] == ')') {
		handle->closes = true;
		length--;
	}
	return handles_read_number(text, length, &handle->number) &&
	    session_find_function(session, text, length) == NO_NAME;
}

static void
handles_add_word(struct words *to, const char *text, size_t length,
                 bool is_quoted, const struct word *typed)
{
	to->words[to->n++] = (struct word){
		text, length, is_quoted, typed->begin, typed->end
	};
}

/*
 * Adds the names that a handle stands for to `to`, or counts them if it is
 * NULL.
 */
static int
handles_add_names(const struct last_rows *rows, enum handle_kind kind,
                  const struct handle *handle, const struct word *typed,
                  size_t *n, struct words *to, struct error *error)
{
	size_t n_names;
	uint32_t far;
	const uint32_t *names = last_rows_path(rows, handle->number, &n_names,
	                                       &far, error);

	if (names == NULL)
		return -1;
	if (kind == HANDLE_FUNCTION) {
		names = &far;
		n_names = 1;
	}
	*n += n_names + handle->opens + handle->closes;
	if (to == NULL)
		return 0;
	if (handle->opens)
		handles_add_word(to, "(", 1, false, typed);
	for (size_t i = 0; i < n_names; i++)
		handles_add_word(to, names_text(rows->texts, names[i]),
		                 names_length(rows->texts, names[i]), true,
		                 typed);
	if (handle->closes)
		handles_add_word(to, ")", 1, false, typed);
	return 0;
}

/* The same for words[begin .. end-1]; what is no handle is added as it is. */
static int
handles_add_words(const struct session *session, enum handle_kind kind,
                  const struct word *words, size_t begin, size_t end, size_t *n,
                  struct words *to, struct error *error)
{
	for (size_t i = begin; i < end; i++) {
		struct handle handle;

		if (read_handle(session, kind, &words[i], &handle)) {
			if (handles_add_names(&session->last_rows, kind,
			                      &handle, &words[i], n, to,
			                      error) != 0)
				return -1;
			continue;
		}
		*n += 1;
		if (to != NULL)
			to->words[to->n++] = words[i];
	}
	return 0;
}

const struct words *
handles_replace(const struct session *session, enum handle_kind kind,
                const struct words *words, size_t begin, size_t end,
                struct arena *arena, struct error *error)
{
	size_t n = begin + words->n - end;
	struct words *copy;

	if (kind == HANDLE_NONE)
		return words;
	if (handles_add_words(session, kind, words->words, begin, end, &n, NULL,
	                      error) != 0)
		return NULL;
	copy = arena_alloc(arena, sizeof *copy, error);
	if (copy == NULL)
		return NULL;
	*copy = *words;
	copy->words = arena_alloc(arena, n * sizeof *copy->words, error);
	if (copy->words == NULL)
		return NULL;
	memcpy(copy->words, words->words, begin * sizeof *copy->words);
	copy->n = begin;
	if (handles_add_words(session, kind, words->words, begin, end, &n, copy,
	                      error) != 0)
		return NULL;
	memcpy(copy->words + copy->n, words->words + end,
	       (words->n - end) * sizeof *copy->words);
	copy->n += words->n - end;
	return copy;
}

void
handles_complete(struct completion *completion, const struct session *session)
{
	size_t n = session->last_rows.n;
	char text[24];

	if (completion->is_open || completion->prefix[0] != '%')
		return;
	for (size_t i = 1; i <= n; i++) {
		int length = snprintf(text, sizeof text, "%%%zu", i);

		completion_offer(completion, text, (size_t)length);
	}
}
