/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/base.c -- the runs that diff compares with. */
#include <string.h>

#include "src/shell/command/argument_kinds.h"

static const struct argument base_arguments[] = {
	{ "FILE", &arg_file_or_off, ARG_OPTIONAL | ARG_REPEATED,
	  "the earlier runs: profiles in any known format, recordings, or "
	  "directories of recordings; off: no base (default: lists the runs "
	  "of both sides)" },
	ARGUMENTS_END
};

static int
add_run(const char *side, const char *path, struct table *table,
        struct error *error)
{
	const char *copy = table_text(table, error, "%s", path);

	return copy == NULL ? -1 :
	    table_add_row(table, (struct cell[]){
		cell_text(side), cell_text(copy),
	    }, error);
}

static int
list_runs(const struct session *session, struct table *table,
          struct error *error)
{
	const struct runs *base = &session->comparison.base;

	table->schema = "cpprof.runs/1";
	table_add_column(table, "side", "side", CELL_TEXT);
	table_add_column(table, "file", "file", CELL_TEXT);
	for (uint32_t i = 0; i < base->n; i++)
		if (add_run("base", base->paths[i], table, error) != 0)
			return -1;
	for (size_t i = 0; i < session->n_files; i++)
		if (add_run("now", session->files[i], table, error) != 0)
			return -1;
	return 0;
}

static int
base_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *files = &arguments->values[0];

	if (!files->is_given)
		return list_runs(session, table, error);
	if (files->n_words == 1 && strcmp(files->words[0], "off") == 0)
		return session_set_base(session, NULL, 0, error);
	return session_set_base(session, files->words, files->n_words, error);
}

const struct command command_base = {
	.name = "base",
	.group = GROUP_COMPARE,
	.summary = "sets the earlier runs that diff compares with",
	.description =
	    "diff then compares the loaded profile with these. Each FILE is a "
	    "run of its own, and so is each recording in a directory that "
	    "record --repeat wrote. Of other directories, name the files: base "
	    "old/1.pb.gz old/2.pb.gz, or on the command line --base=old/1.pb.gz "
	    "for each. A step that matches only the base, such as a group for "
	    "a function that has a new name now, applies to comparisons. "
	    "Several runs of a side are not added up: "
	    "their differences show how much equal runs vary. The same holds "
	    "for the files of the loaded profile, which all other views show "
	    "as a sum. A program among the files goes with each gmon.out.\n\n"
	    "The base stays when another profile is loaded. base off forgets "
	    "it; a file of that name is ./off.",
	.example = "base forms.folded",
	.arguments = base_arguments,
	.run = base_run,
};
