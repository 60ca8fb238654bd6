/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/tree.c -- the tree of all sampled stacks. */
#include "src/shell/command/view_command.h"

enum { TREE_DEPTH = 1000000 };

static int
tree_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct settings *settings = &session->settings;
	struct view_request request;

	(void)arguments;
	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	/* A row of text is one name, so rows do not grow with the depth. */
	if (settings->format->draw == output_text && settings->depth == 0)
		request.depth = TREE_DEPTH;
	return view_tree(&request, table, error);
}

const struct command command_tree = {
	.name = "tree",
	.words = COMMAND_WORDS(SHORT("tr"), /* pprof */ MEANS("traces")),
	.group = GROUP_LOOK,
	.summary = "sample tree: every sampled stack, indented by depth",
	.description =
	    "Lists the sample tree from its outermost functions down. Callees "
	    "are indented below their caller, most expensive first. Nothing "
	    "is folded or summed: a function that is called from many places "
	    "is spread over the tree. To see what matters, functions, up and "
	    "down are often better.\n\n"
	    "Indentation stops growing at 40 columns; deeper lines show the "
	    "depth as a number before the name. On a terminal, deep trees "
	    "are indented less, so that names have at least half of the "
	    "line.",
	.example = "tree",
	.run = tree_run,
	.is_compared = true,
};
