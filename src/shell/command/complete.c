/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.c -- what an unfinished command line may go on with.
 *
 * Knows nothing of readline: the line up to the cursor in, candidates out.
 * The first word is a command; what another one may be is for the kind of the
 * argument to say that it will be.
 */
#include "src/shell/command/complete.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/base/printable.h"
#include "src/shell/command/argument_kinds.h"
#include "src/shell/command/command.h"
#include "src/shell/line/words.h"

void
completion_free(struct completion *completion)
{
	free(completion->candidates);
	arena_free(&completion->arena);
}

/* As sh reads it: a backslash before what might mean something to it. */
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

/* As it is typed: quoted where needed, or as goes between open bars. */
static void
add_typed(const struct completion *completion, struct text_buffer *typed,
          const char *text, size_t length)
{
	if (completion->is_for_sh) {
		add_for_sh(typed, text, length);
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

/* Where the last component of the prefix begins. */
static size_t
directory_length(const struct completion *completion)
{
	size_t n = completion->prefix_length;

	while (n > 0 && completion->prefix[n - 1] != '/')
		n--;
	return n;
}

/* The directory to read: ~/ is the home directory, nothing is here. */
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

/* The argument that word `index` behind the command would be, or NULL. */
static const struct argument *
argument_at(const struct command *command, size_t index)
{
	const struct argument *argument = command->arguments;

	if (argument == NULL)
		return NULL;
	for (; argument->name != NULL && index > 0; index--) {
		bool takes_all = (argument->flags & ARG_REPEATED) ||
		    argument->kind == ARG_PATH ||
		    argument->kind == ARG_WORDS ||
		    argument->kind == ARG_LINE ||
		    argument->kind == ARG_COMMAND_LINE;

		if (!takes_all)
			argument++;
	}
	return argument->name != NULL ? argument : NULL;
}

/*
 * The word that a line's command is, and *index, counted from there, of another
 * that stands behind it.  Behind watch there is the command watched, and what
 * is completed is its.
 */
static const struct word *
inner_command(const struct words *words, size_t *index)
{
	const struct word *first = words->words;
	struct error error = { 0 };
	const struct command *command;

	for (;;) {
		size_t n;

		command = command_lookup(first->text, first->length, &error);
		if (*index < 2 || command == NULL || command->arguments == NULL ||
		    command->arguments[0].kind != ARG_COMMAND_LINE)
			return first;
		n = 1 + (strspn(first[1].text, "0123456789.") > 0);
		if (*index <= n)
			return first;
		first += n;
		*index -= n;
	}
}

static void
complete_argument(struct completion *completion,
                  const struct session *session, const struct words *words,
                  size_t index)
{
	struct error error = { 0 };
	const struct word *first = inner_command(words, &index);
	const struct command *command = first->text[0] == '!'
	    ? command_lookup("shell", 5, &error)
	    : command_lookup(first->text, first->length, &error);
	const struct argument *argument;

	if (command == NULL)
		return;
	argument = argument_at(command, index - 1);
	if (argument != NULL && argument->kind == ARG_REST) {
		/* set NAME VALUE: as the setting's own command. */
		command = command_lookup(first[1].text, first[1].length,
		                         &error);
		argument = command == NULL ? NULL
		    : argument_at(command, index - 2);
	}
	if (argument == NULL || argument_kinds[argument->kind].complete == NULL)
		return;
	if (argument->kind == ARG_PATH && !completion->is_open &&
	    completion->prefix[0] == '(') {
		completion->opens_path = true;
		completion->prefix++;
		completion->prefix_length--;
	}
	completion->is_for_sh = argument->kind == ARG_LINE;
	completion->before = first + 1;
	completion->n_before = index - 1;
	argument_kinds[argument->kind].complete(completion, session, command);
}

/*
 * Finds the word that the line ends in, which may be empty; its number among
 * the words, or SIZE_MAX where nothing can follow.
 */
static size_t
find_fragment(struct completion *completion, const struct words *words,
              size_t length)
{
	const struct word *last = words->n == 0
	    ? NULL : &words->words[words->n - 1];

	completion->begin = length;
	completion->prefix = "";
	if (last == NULL || last->end < length)
		return words->n;
	if (last->is_quoted && !words->is_open)
		return SIZE_MAX;
	completion->is_open = last->is_quoted;
	completion->begin = last->begin + last->is_quoted;
	completion->prefix = last->text;
	completion->prefix_length = last->length;
	return words->n - 1;
}

/* Behind > and >>: what was typed of the file's name is words->target. */
static void
complete_target(struct completion *completion, const struct words *words,
                const char *line, size_t length)
{
	completion->prefix = words->target == NULL ? "" : words->target;
	completion->prefix_length = strlen(completion->prefix);
	completion->is_open = words->is_open;
	if (completion->prefix_length > 0 && !words->is_open &&
	    (line[length - 1] == ' ' || line[length - 1] == '|'))
		return;
	completion->begin = length - completion->prefix_length;
	completion_offer_files(completion);
}

void
complete_line(struct completion *completion, const struct session *session,
              const char *line, size_t length)
{
	struct words words;
	size_t index;

	*completion = (struct completion){ 0 };
	if (words_split(&words, line, length, &completion->error) == 0) {
		if (words.redirect == REDIRECT_FILE ||
		    words.redirect == REDIRECT_APPEND) {
			complete_target(completion, &words, line, length);
		} else if (words.redirect == REDIRECT_NONE) {
			index = find_fragment(completion, &words, length);
			if (index == 0)
				argument_kinds[ARG_COMMAND].complete(
				    completion, session, NULL);
			else if (index != SIZE_MAX)
				complete_argument(completion, session,
				                  &words, index);
		}
	}
	completion->prefix = NULL;
	completion->before = NULL;
	words_free(&words);
}
