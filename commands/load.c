/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/load.c -- opens profiles. */
#include "src/shell/command/command.h"

static const struct argument load_arguments[] = {
	{ "FILE", &arg_file, ARG_REPEATED,
	  "a profile in any known format, or a directory that cpprof record "
	  "wrote" },
	ARGUMENTS_END
};

static int
load_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	(void)table;
	return session_load(session, arguments->values[0].words,
	                    arguments->values[0].n_words, error);
}

const struct command command_load = {
	.name = "load",
	.words = COMMAND_WORDS(
	    SHORT("lo"), /* gdb */ TYPE("file", "load FILE")),
	.group = GROUP_FILES,
	.summary = "opens one or more profiles in place of the current one",
	.description =
	    "Several profiles are added up; the same one twice is an error. "
	    "Formats are detected from content, not from file names; gzip and "
	    "zstd files are decompressed. The settings stay, and so do the "
	    "resource and the root if the new profile has them.",
	.example = "load forms.folded",
	.arguments = load_arguments,
	.run = load_run,
};
