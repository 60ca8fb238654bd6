/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/directories.c -- where source files are searched. */
#include <string.h>

#include "src/shell/command/command.h"

static const struct argument directories_arguments[] = {
	{ "DIR", &arg_file_or_off, ARG_OPTIONAL | ARG_REPEATED,
	  "directories, the first is searched first; off: none (default: "
	  "show them)" },
	ARGUMENTS_END
};

static const char *
directories_get(const struct session *session, const struct command *setting,
                struct arena *arena, struct error *error)
{
	const char *all = "";

	(void)setting;
	if (session->n_directories == 0)
		return "off";
	for (size_t i = 0; i < session->n_directories; i++) {
		const char *directory = session->directories[i];
		const char *word = setting_word(directory, strlen(directory),
		                                arena, error);

		if (word == NULL)
			return NULL;
		all = arena_format(arena, error, "%s%s%s", all,
		                   i == 0 ? "" : " ", word);
		if (all == NULL)
			return NULL;
	}
	return all;
}

static int
directories_set(struct session *session, const struct command *setting,
                const struct value *value, struct error *error)
{
	size_t n = value->n_words;

	(void)setting;
	if (n == 1 && strcmp(value->words[0], "off") == 0)
		n = 0;
	if (n > 0 && session_check_sources(session, "directories",
	                                   value->words[0], error) != 0)
		return -1;
	return session_set_directories(session, value->words, n, error);
}

const struct command command_directories = {
	.name = "directories",
	.words = COMMAND_WORDS(/* gdb */ MEANS("directory")),
	.group = GROUP_FILES,
	.summary = "where source files are searched first",
	.description =
	    "list reads source files at the paths that the debug information "
	    "or the profile has. If they are elsewhere now, name the "
	    "directories to search. In each, cpprof tries the whole path, "
	    "then the path without its first component, and so on down to "
	    "the file's name: /build/app/db/read.c is found as "
	    "DIR/db/read.c, too. After the directories come symfs and the "
	    "path itself; a relative path starts from the current "
	    "directory.\n\n"
	    "Of a profile that you did not record here, only sources below "
	    "these directories, symfs or the current directory are shown, "
	    "since a profile may name any file. For the same reason cpprof "
	    "--read-only, and cpprof mcp without --allow-write, refuse to name "
	    "directories here: do so when you start them, with the option "
	    "--directories DIR, which may be repeated.\n\n"
	    "open searches the files of a merged profile's members there, "
	    "too.\n\n"
	    "directories off forgets them.",
	.example = "directories off",
	.arguments = directories_arguments,
	.get = directories_get,
	.set = directories_set,
};
