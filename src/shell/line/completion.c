/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion.c -- the words that an unfinished word may become. */
#include "src/shell/line/words.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"

void
completion_free(struct completion *completion)
{
	free(completion->candidates);
	name_parts_free(&completion->parts);
	arena_free(&completion->arena);
}

/* Adds a word as it would be typed, also inside bars that are open. */
static void
add_typed(const struct completion *completion, struct text_buffer *typed,
          const char *text, size_t length)
{
	if (completion->is_bare) {
		text_add(typed, text, length);
		return;
	}
	if (completion->is_for_sh) {
		static const char plain[] =
		    "+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVW"
		    "XYZ_abcdefghijklmnopqrstuvwxyz~";

		/*
		 * Quotes for sh: a backslash before each byte that may be
		 * special.
		 */
		for (size_t i = 0; i < length; i++) {
			bool is_ascii = (unsigned char)text[i] < 0x80;

			if (is_ascii && strchr(plain, text[i]) == NULL)
				text_add_char(typed, '\\');
			text_add_char(typed, text[i]);
		}
		return;
	}
	/* Of group, where it is no redirection. */
	if (!completion->is_open && length == 2 && memcmp(text, "=>", 2) == 0) {
		text_add(typed, text, length);
		return;
	}
	if (!completion->is_open) {
		text_add_word(typed, text, length);
		return;
	}
	text_add_between_bars(typed, text, length);
	if (typed->failed)
		return;
	memmove(typed->bytes, typed->bytes + 1, typed->length - 1);
	typed->length -= 2;
}

static void
add_candidate(struct completion *completion, const char *text, size_t length,
              uint64_t hits, bool is_inner)
{
	struct text_buffer typed = { 0 };
	const char *copy;

	if (completion->opens_path)
		text_add_char(&typed, '(');
	add_typed(completion, &typed, text, length);
	copy = arena_text(&completion->arena, typed.bytes, typed.length,
	                  &completion->error);
	if (copy != NULL && !typed.failed &&
	    memory_grow(&completion->candidates, &completion->capacity,
	                completion->n + 1, sizeof *completion->candidates,
	                &completion->error) == 0)
		completion->candidates[completion->n++] =
		    (struct completion_candidate){ copy, hits, is_inner };
	text_free(&typed);
}

static bool
has_prefix(const struct completion *completion, const char *text,
           size_t length)
{
	return length >= completion->prefix_length &&
	    memcmp(text, completion->prefix, completion->prefix_length) == 0;
}

void
completion_offer(struct completion *completion, const char *text,
                 size_t length)
{
	if (has_prefix(completion, text, length))
		add_candidate(completion, text, length, 0, false);
}

void
completion_offer_function(struct completion *completion,
                          const char *short_name, size_t n_short,
                          const char *name, size_t length, uint64_t hits)
{
	enum name_beginning beginning = name_begins(&completion->parts,
	    short_name, n_short, completion->prefix,
	    completion->prefix_length);

	if (beginning == NAME_BEGINS_WHOLE ||
	    !has_prefix(completion, name, length)) {
		if (beginning != NAME_BEGINS_NOT)
			add_candidate(completion, short_name, n_short, hits,
			              beginning == NAME_BEGINS_LAST);
	} else {
		add_candidate(completion, name, length, hits, false);
	}
}

static int
completion_compare_candidates(const void *left, const void *right)
{
	const struct completion_candidate *a = left, *b = right;

	if (a->is_inner != b->is_inner)
		return a->is_inner ? 1 : -1;
	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	return strcmp(a->text, b->text);
}

void
completion_finish(struct completion *completion)
{
	struct completion_candidate *all = completion->candidates;
	size_t n = 0, n_like_first = 0, length;
	const char *first;

	if (completion->n == 0)
		return;
	qsort(all, completion->n, sizeof *all, completion_compare_candidates);
	for (size_t i = 0; i < completion->n; i++)
		if (n == 0 || strcmp(all[n - 1].text, all[i].text) != 0)
			all[n++] = all[i];
	completion->n = n;
	while (n_like_first < n &&
	       all[n_like_first].is_inner == all[0].is_inner)
		n_like_first++;
	/*
	 * The length of what n >= 1 candidates begin with, in whole characters.
	 */
	first = all[0].text;
	length = strlen(first);
	for (size_t i = 1; i < n_like_first; i++) {
		size_t same = 0;

		while (same < length && all[i].text[same] == first[same])
			same++;
		length = same;
	}
	while (length > 0 && (first[length] & 0xc0) == 0x80)
		length--;
	/* Scopes alone would take away what was typed. */
	if (length > 0 && (n == 1 || !all[0].is_inner ||
	    memmem(all[0].text, length, completion->prefix,
	           completion->prefix_length) != NULL))
		completion->common = arena_text(&completion->arena,
		    all[0].text, length, &completion->error);
}

/* The length of the prefix up to its last slash. */
static size_t
directory_length(const struct completion *completion)
{
	size_t n = completion->prefix_length;

	while (n > 0 && completion->prefix[n - 1] != '/')
		n--;
	return n;
}

/* Opens the directory of a prefix: ~/ is the home directory, "" the current. */
static DIR *
open_directory(const char *typed)
{
	const char *home = getenv("HOME");
	char *path = NULL;
	DIR *directory;

	if (strncmp(typed, "~/", 2) == 0 && home != NULL) {
		if (asprintf(&path, "%s%s", home, typed + 1) < 0)
			return NULL;
		directory = opendir(path);
		free(path);
		return directory;
	}
	return opendir(*typed == '\0' ? "." : typed);
}

static bool
completion_is_directory(DIR *directory, const char *name)
{
	struct stat status;

	return fstatat(dirfd(directory), name, &status, 0) == 0 &&
	    S_ISDIR(status.st_mode);
}

static void
offer_entry(struct completion *completion, DIR *directory, const char *before,
            const char *name)
{
	size_t typed = strlen(before);
	bool is_hidden = name[0] == '.' &&
	    (completion->prefix_length == typed ||
	     completion->prefix[typed] != '.');
	const char *path;

	if (is_hidden || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	path = arena_format(&completion->arena, &completion->error, "%s%s%s",
	                    before, name,
	                    completion_is_directory(directory, name) ? "/" :
	                                                               "");
	if (path != NULL)
		completion_offer(completion, path, strlen(path));
}

void
completion_offer_files(struct completion *completion)
{
	const char *before = arena_text(&completion->arena,
	                                completion->prefix,
	                                directory_length(completion),
	                                &completion->error);
	DIR *directory = before == NULL ? NULL : open_directory(before);
	const struct dirent *entry;

	completion->is_file = true;
	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL)
		offer_entry(completion, directory, before, entry->d_name);
	closedir(directory);
}
