/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.c -- the mcp command: answers to programs that ask about profiles. */
#include <stddef.h>
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/command/interpret.h"
#include "src/shell/help/help_text.h"
#include "src/shell/mcp/mcp.h"

extern const struct command command_mcp;

struct mcp_options {
	struct mcp_rights rights;
	bool wants_help;
};

static const struct argument mcp_arguments[] = {
	{ "OPTION...", &arg_options_and_files, ARG_OPTIONAL,
	  "any of the options below" },
	ARGUMENTS_END
};

static int
mcp_take_directory(void *options, const char *directory, struct error *error)
{
	mcp_list_add(&((struct mcp_options *)options)->rights.directories,
	             directory, strlen(directory), error);
	return error->is_set ? -1 : 0;
}

static int
mcp_take_symfs(void *options, const char *directory, struct error *error)
{
	(void)error;
	((struct mcp_options *)options)->rights.symfs = directory;
	return 0;
}

#define MCP_FLAG(member) NULL, offsetof(struct mcp_options, member)

static const struct option_row mcp_option_rows[] = {
	{ NULL, "--allow-write", NULL,
	  "lets ask run commands that write files, such as export and save, and "
	  "other programs (!, |)", MCP_FLAG(rights.may_write) },
	{ NULL, "--allow-record", NULL,
	  "offers record, which runs programs and attaches to processes",
	  MCP_FLAG(rights.may_record) },
	{ NULL, "--directories", "DIR",
	  "shows sources below DIR, too; repeat it for several",
	  mcp_take_directory, 0 },
	{ NULL, "--symfs", "DIR",
	  "searches programs, debug files and sources below DIR first",
	  mcp_take_symfs, 0 },
	{ NULL, "--help", NULL, "prints this help", MCP_FLAG(wants_help) },
	OPTIONS_END
};

static int
mcp_parse(struct mcp_options *options, char *const *words, struct error *error)
{
	if (options_take(mcp_option_rows, "mcp", options, &words, error) != 0)
		return -1;
	return *words == NULL ? 0 :
	       error_set(error, "%.100s: mcp takes only options; profiles are "
	                 "named in each request", *words);
}

static int
mcp_run(struct session *session, const struct arguments *arguments,
        struct table *table, struct error *error)
{
	struct mcp_options options = { 0 };
	int result;

	if (arguments->values[0].n_words > 0 &&
	    mcp_parse(&options, (char *const *)arguments->values[0].words,
	              error) != 0) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
		result = -1;
	} else if (options.wants_help) {
		result = help_describe(&command_mcp, table, error);
	} else if (!session->is_lone_command) {
		result = error_set(error, "mcp answers another program, which "
		                   "starts it as cpprof mcp; ask here yourself");
	} else {
		result = mcp_serve(&options.rights, error);
	}
	mcp_list_free(&options.rights.directories);
	return result;
}

static void
mcp_complete(struct completion *completion, const struct word *words, size_t n)
{
	(void)words, (void)n;
	completion_offer_options(completion, mcp_option_rows);
}

const struct command command_mcp = {
	.name = "mcp",
	.group = GROUP_FILES,
	.summary = "lets an assistant ask about profiles (cpprof mcp)",
	.description =
	    "Speaks the Model Context Protocol on standard input and output, "
	    "for an assistant that starts it as a server: cpprof mcp. It offers "
	    "a tool, ask, which takes a profile, commands as at the prompt and "
	    "how many words the answer may have. Without commands the answer "
	    "is that of explain.\n\n"
	    "Each call runs in a process of its own, for 10 minutes at most. "
	    "Without the options below it writes no file and runs no other "
	    "program; it reads the files that are asked for, and shows sources "
	    "as list does: of recordings that were made here, of the current "
	    "directory, and of those that the options name. doc/agent.md shows "
	    "how to set it up, and a way of working.",
	.options = mcp_option_rows,
	.complete_words = mcp_complete,
	.example = "mcp --help",
	.arguments = mcp_arguments,
	.run = mcp_run,
};
