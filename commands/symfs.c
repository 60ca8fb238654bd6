/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/symfs.c -- where programs and their debug files are searched. */
#include <string.h>

#include "src/shell/command/command.h"

static const struct argument symfs_arguments[] = {
	{ "DIR", &arg_file, ARG_OPTIONAL,
	  "the directory to search first (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
symfs_get(const struct session *session, const struct command *setting,
          struct arena *arena, struct error *error)
{
	(void)setting;
	if (session->symfs == NULL)
		return "/";
	return setting_word(session->symfs, strlen(session->symfs), arena,
	                    error);
}

static int
symfs_set(struct session *session, const struct command *setting,
          const struct value *value, struct error *error)
{
	(void)setting;
	if (strcmp(value->words[0], "/") != 0 &&
	    session_check_sources(session, "symfs", value->words[0],
	                          error) != 0)
		return -1;
	return session_set_symfs(session, value->words[0], error);
}

const struct command command_symfs = {
	.name = "symfs",
	.words = COMMAND_WORDS(
	    SHORT("sy"), /* gdb */ TYPE("symbol-file", "symfs DIR")),
	.group = GROUP_FILES,
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
	    "The option --symfs DIR does the same before the first load. "
	    "cpprof --read-only, and cpprof mcp without --allow-write, know "
	    "only the option, since sources below DIR are shown.",
	.example = "symfs /",
	.arguments = symfs_arguments,
	.get = symfs_get,
	.set = symfs_set,
};
