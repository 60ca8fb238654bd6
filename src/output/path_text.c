/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_text.c -- the names of a path cell, fetched once and written often. */
#include "src/output/path_text.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/printable.h"

void
path_names_free(struct path_names *path)
{
	free(path->path);
	text_free(&path->word);
	*path = (struct path_names){ 0 };
}

int
path_names_get(struct path_names *path, const struct cell *cell,
               struct error *error)
{
	const struct call_paths *paths = cell->path.paths;
	uint32_t record = cell->path.record;
	size_t n = cell->kind == CELL_NAME
	    ? 1 : call_paths_length(paths, record);

	if (memory_grow(&path->path, &path->capacity, n, sizeof *path->path,
	                error) != 0)
		return -1;
	path->names = paths->names;
	path->n = n;
	if (cell->kind == CELL_NAME)
		path->path[0] = record;
	else
		call_paths_get(paths, record, path->path);
	return 0;
}

static const char *
name_bytes(const struct path_names *path, size_t i, size_t *n)
{
	*n = names_length(path->names, path->path[i]);
	return names_text(path->names, path->path[i]);
}

/* Name i as a word, in path->word; its columns. */
static size_t
make_word(struct path_names *path, size_t i)
{
	size_t n;
	const char *name = name_bytes(path, i, &n);

	text_clear(&path->word);
	text_add_word(&path->word, name, n);
	return printable_width(path->word.bytes, path->word.length);
}

/*
 * How many names from each end fit, with "..." between them: takes names from
 * the end and the front in turn while they fit.  False when all fit.
 */
static bool
choose_ends(struct path_names *path, size_t width, size_t *head, size_t *tail)
{
	size_t used = 0, n = path->n;
	bool from_end = true;

	*head = *tail = 0;
	while (*head + *tail < n) {
		bool is_last = *head + *tail + 1 == n;
		size_t i = from_end ? n - 1 - *tail : *head;
		size_t columns = make_word(path, i) + (used > 0);

		if (used + columns + (is_last ? 0 : 4) > width)
			return true;
		used += columns;
		*(from_end ? tail : head) += 1;
		from_end = !from_end;
	}
	return false;
}

static void
add_words(struct text_buffer *text, struct path_names *path, size_t first,
          size_t end, const char *before, const char *after)
{
	for (size_t i = first; i < end; i++) {
		bool is_last = i + 1 == path->n;

		if (i > first)
			text_add_char(text, ' ');
		make_word(path, i);
		if (is_last)
			text_add_string(text, before);
		text_add(text, path->word.bytes, path->word.length);
		if (is_last)
			text_add_string(text, after);
	}
}

void
text_add_path(struct text_buffer *text, struct path_names *path, size_t width,
              const char *before, const char *after)
{
	size_t head, tail;

	if (width == 0 || !choose_ends(path, width, &head, &tail)) {
		add_words(text, path, 0, path->n, before, after);
		return;
	}
	add_words(text, path, 0, head, before, after);
	if (head > 0)
		text_add_char(text, ' ');
	if (path->n > 1) {
		text_add_string(text, "... ");
		width = width > 4 ? width - 4 : 0;
	}
	if (tail > 0) {
		add_words(text, path, path->n - tail, path->n, before, after);
		return;
	}
	/* Not even the last name fits. */
	make_word(path, path->n - 1);
	text_add_string(text, before);
	text_add_elided(text, path->word.bytes, path->word.length, width);
	text_add_string(text, after);
}

void
text_add_bare_name(struct text_buffer *text, struct path_names *path,
                   size_t width)
{
	size_t n;
	const char *name = name_bytes(path, 0, &n);

	if (width == 0) {
		text_add_printable(text, name, n);
		return;
	}
	text_clear(&path->word);
	text_add_printable(&path->word, name, n);
	text_add_elided(text, path->word.bytes, path->word.length, width);
}

static bool
needs_bars_collapsed(const char *name, size_t n)
{
	if (n == 0 || *name == '|' || memchr(name, ';', n) != NULL)
		return true;
	while (n > 0) {
		uint32_t character;
		size_t length = utf8_decode(name, n, &character);

		if (length == 0 || !character_is_printable(character))
			return true;
		name += length;
		n -= length;
	}
	return false;
}

void
text_add_collapsed(struct text_buffer *text, const struct path_names *path)
{
	for (size_t i = 0; i < path->n; i++) {
		size_t n;
		const char *name = name_bytes(path, i, &n);

		if (i > 0)
			text_add_char(text, ';');
		if (needs_bars_collapsed(name, n))
			text_add_between_bars(text, name, n);
		else
			text_add(text, name, n);
	}
}
