/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/symfs.c -- where programs and their debug files are sought. */
#include <string.h>

#include "src/base/printable.h"
#include "src/shell/command/arguments.h"

static const struct argument symfs_arguments[] = {
	{ "DIR", ARG_FILE, ARG_OPTIONAL,
	  "the directory to search first (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
symfs_get(const struct session *session, struct arena *arena,
          struct error *error)
{
	struct text_buffer word = { 0 };
	const char *copy;

	if (session->symfs == NULL)
		return "/";
	text_add_word(&word, session->symfs, strlen(session->symfs));
	copy = arena_text(arena, word.bytes, word.length, error);
	text_free(&word);
	return copy;
}

static int
symfs_set(struct session *session, const struct value *value,
          struct error *error)
{
	return session_set_symfs(session, value->words[0], error);
}

const struct command command_symfs = {
	.name = "symfs",
	.summary = "where programs and their debug files are searched first",
	.description =
	    "For profiles from another machine or an earlier build. A program "
	    "or library is searched below DIR under its full path, then "
	    "directly in DIR under its name, then where it was when it ran. "
	    "Debug files are searched below DIR/usr/lib/debug, then in "
	    "/usr/lib/debug. A file with a different build-id than the "
	    "profiled one is never used. The setting takes effect at the next "
	    "load or reload, and for lines read from now on. symfs / searches "
	    "only this machine's own directories.\n\n"
	    "The option --symfs DIR does the same before the first load.",
	.example = "symfs /",
	.arguments = symfs_arguments,
	.get = symfs_get,
	.set = symfs_set,
};
