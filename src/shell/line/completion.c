/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion.c -- the words that an unfinished word may become. */
#include "src/shell/line/completion.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/base/printable.h"

void
completion_free(struct completion *completion)
{
	free(completion->candidates);
	arena_free(&completion->arena);
}

/* Quotes for sh: a backslash before each byte that may be special. */
static void
add_for_sh(struct text_buffer *typed, const char *text, size_t length)
{
	static const char plain[] = "+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVW"
	    "XYZ_abcdefghijklmnopqrstuvwxyz~";

	for (size_t i = 0; i < length; i++) {
		bool is_ascii = (unsigned char)text[i] < 0x80;

		if (is_ascii && strchr(plain, text[i]) == NULL)
			text_add_char(typed, '\\');
		text_add_char(typed, text[i]);
	}
}

/* Adds a word as it would be typed, also inside bars that are open. */
static void
add_typed(const struct completion *completion, struct text_buffer *typed,
          const char *text, size_t length)
{
	if (completion->is_for_sh) {
		add_for_sh(typed, text, length);
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
add_candidate(struct completion *completion, struct text_buffer *typed)
{
	const char *copy = arena_text(&completion->arena, typed->bytes,
	                              typed->length, &completion->error);

	if (copy == NULL || typed->failed ||
	    memory_grow(&completion->candidates, &completion->capacity,
	                completion->n + 1, sizeof *completion->candidates,
	                &completion->error) != 0)
		return;
	completion->candidates[completion->n++] = copy;
}

void
completion_offer(struct completion *completion, const char *text,
                 size_t length)
{
	struct text_buffer typed = { 0 };

	if (length < completion->prefix_length ||
	    memcmp(text, completion->prefix, completion->prefix_length) != 0)
		return;
	if (completion->opens_path)
		text_add_char(&typed, '(');
	add_typed(completion, &typed, text, length);
	add_candidate(completion, &typed);
	text_free(&typed);
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
is_directory(DIR *directory, const char *name)
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
	                    is_directory(directory, name) ? "/" : "");
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
