/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/tree.c -- every stack, as it was seen. */
#include "src/shell/view_command.h"

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
	/* A row of text is one name: no path grows with the stack. */
	if (settings->format->draw == output_text && !settings->depth_is_set)
		request.depth = TREE_DEPTH;
	return view_tree(&request, table, error);
}

const struct command command_tree = {
	.name = "tree",
	.summary = "sample tree: every stack that was seen, indented by depth",
	.description =
	    "Lists the sample tree from its outermost functions down, callees "
	    "indented below their caller, dearest first. Nothing is folded or "
	    "summed up: a function that is called from many places is spread "
	    "over the tree, and what matters is easier seen with functions, "
	    "up and down.\n\n"
	    "Indentation stops growing at 40 columns; from there on the depth "
	    "stands before the name as a number.",
	.example = "tree",
	.run = tree_run,
};
