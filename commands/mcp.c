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
	bool may_write, may_record, wants_help;
};

static const struct argument mcp_arguments[] = {
	{ "OPTION...", &arg_options_and_files, ARG_OPTIONAL,
	  "any of the options below" },
	ARGUMENTS_END
};

#define MCP_FLAG(member) NULL, offsetof(struct mcp_options, member)

static const struct option_row mcp_option_rows[] = {
	{ NULL, "--allow-write", NULL,
	  "lets ask run commands that write files, such as export and save, and "
	  "other programs (!, |)", MCP_FLAG(may_write) },
	{ NULL, "--allow-record", NULL,
	  "offers record, which runs programs and attaches to processes",
	  MCP_FLAG(may_record) },
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

	if (arguments->values[0].n_words > 0 &&
	    mcp_parse(&options, (char *const *)arguments->values[0].words,
	              error) != 0) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
		return -1;
	}
	if (options.wants_help)
		return help_describe(&command_mcp, table, error);
	if (!session->is_lone_command)
		return error_set(error, "mcp answers another program, which "
		                 "starts it as cpprof mcp; ask here yourself");
	return mcp_serve(&(struct mcp_rights){
		.may_write = options.may_write,
		.may_record = options.may_record }, error);
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
	    "program; it reads the files that are asked for. doc/agent.md shows "
	    "how to set it up, and a way of working.",
	.options = mcp_option_rows,
	.complete_words = mcp_complete,
	.example = "mcp --help",
	.arguments = mcp_arguments,
	.run = mcp_run,
};
