/* SPDX-License-Identifier: GPL-3.0-or-later */
/* v8_name.c -- the names that V8 gives to JavaScript functions. */
#include "src/symbols/names/address_frames.h"

#include <stdio.h>
#include <string.h>

/* The kinds of code whose name ends with a function's place. */
static const char *const v8_kinds[] = {
	"JS:", "LazyCompile:", "Function:", "Script:", "Eval:",
};

enum {
	N_KINDS = sizeof v8_kinds / sizeof *v8_kinds,
	LONG_COLUMN = 3		/* a colon and two digits */
};

/* What precedes the name: interpreted, baseline, mid-tier, optimised. */
static const char v8_tiers[] = "~^+*`";

/* Cuts a colon with a number off the end of text[*n]. */
static bool
v8_cut_number(const char *text, size_t *n)
{
	size_t end = *n;

	while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	if (end == *n || end < 2 || text[end - 1] != ':')
		return false;
	*n = end - 1;
	return true;
}

/*
 * Where the file begins in text[n].  Names of functions ("get size") and of
 * files have blanks, but a file's is a path or has a scheme.
 */
static size_t
v8_find_file(const char *text, size_t n)
{
	size_t last = n;

	for (size_t i = 0; i < n; i++) {
		size_t word = i + 1;

		if (text[i] != ' ')
			continue;
		last = word;
		if (text[word] == '/')
			return word;
		while (word < n && ((text[word] | 0x20) >= 'a' &&
		                    (text[word] | 0x20) <= 'z'))
			word++;
		if (word > last && word < n && text[word] == ':')
			return last;
	}
	return last;
}

bool
v8_name_read(const char *text, struct v8_name *found)
{
	size_t kind = 0, line, end, file, n;

	while (kind < N_KINDS &&
	       strncmp(text, v8_kinds[kind], strlen(v8_kinds[kind])) != 0)
		kind++;
	if (kind == N_KINDS)
		return false;
	text += strlen(v8_kinds[kind]);
	if (*text != '\0' && strchr(v8_tiers, *text) != NULL)
		text++;
	n = strlen(text);
	if (!v8_cut_number(text, &n))	/* the column */
		return false;
	end = n;
	if (!v8_cut_number(text, &n))	/* the line */
		return false;
	line = n + 1;
	file = v8_find_file(text, n);
	if (file >= n)
		return false;
	*found = (struct v8_name){
		.function = text,
		.function_length = file > 0 ? file - 1 : 0,
		.file = text + file, .file_length = n - file,
		.place = text + line,
		.line_length = end - line,
		.place_length = strlen(text + line),
	};
	return true;
}

/*
 * The part of a path by which a function is named: what follows node_modules,
 * else the last component; of index.js, which many directories have, with the
 * directory's name.  Of node's own modules the whole name.
 */
static const char *
v8_shown_file(const char *file, size_t *n)
{
	static const char modules[] = "/node_modules/", own[] = "node:",
		index[] = "/index.";
	const char *end = file + *n, *begin = file, *last, *next;

	if (*n >= sizeof own - 1 && memcmp(file, own, sizeof own - 1) == 0)
		return file;
	while ((next = memmem(begin, (size_t)(end - begin), modules,
	                      sizeof modules - 1)) != NULL)
		begin = next + sizeof modules - 1;
	last = memrchr(begin, '/', (size_t)(end - begin));
	if (begin == file && last != NULL) {
		begin = last + 1;
		if ((size_t)(end - last) > sizeof index - 1 &&
		    memcmp(last, index, sizeof index - 1) == 0)
			while (last > file && last[-1] != '/')
				begin = --last;
	}
	*n = (size_t)(end - begin);
	return begin;
}

const char *
v8_name_shown(const struct v8_name *name, struct arena *arena,
              struct error *error)
{
	static const char nameless[] = "(anonymous)";
	const bool has_name = name->function_length > 0;
	size_t file_length = name->file_length, n;
	const char *file = v8_shown_file(name->file, &file_length);
	/* In a minified file, many functions are on one line. */
	const bool is_long = name->place_length - name->line_length >
	    LONG_COLUMN;
	const size_t place_length = has_name && !is_long ? name->line_length :
	    name->place_length;
	char *shown;

	n = name->function_length + file_length + place_length +
	    sizeof nameless + sizeof " (:)";
	shown = arena_alloc(arena, n, error);
	if (shown != NULL)
		snprintf(shown, n, "%.*s (%.*s:%.*s)",
		         (int)(has_name ? name->function_length :
		               sizeof nameless - 1),
		         has_name ? name->function : nameless,
		         (int)file_length, file, (int)place_length,
		         name->place);
	return shown;
}

const char *
v8_name_file(const struct v8_name *name, struct arena *arena,
             struct error *error)
{
	static const char scheme[] = "file://";
	const size_t skipped = name->file_length > sizeof scheme - 1 &&
	    memcmp(name->file, scheme, sizeof scheme - 1) == 0 ?
	    sizeof scheme - 1 : 0;

	return arena_text(arena, name->file + skipped,
	                  name->file_length - skipped, error);
}
