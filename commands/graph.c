/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/graph.c -- every function between its callers and its callees. */
#include "src/shell/view_command.h"

static const char *const graph_choices[] = { "--gprof", NULL };

static const struct argument graph_arguments[] = {
	{ "--gprof", ARG_CHOICE, ARG_OPTIONAL | ARG_SWITCH,
	  "collapse cycles of calls, as gprof does" },
	{ "FUNCTION", ARG_FUNCTION, ARG_OPTIONAL,
	  "the one entry to show (all)" },
	ARGUMENTS_END
};

static int
graph_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct value *function = &arguments->values[1];
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	request.is_classic = arguments->values[0].is_given;
	request.function = function->is_given ? function->names[0] : NO_NAME;
	return view_graph(&request, table, error);
}

const struct command command_graph = {
	.name = "graph",
	.summary = "call graph profile: functions between callers and callees",
	.description =
	    "Shows gprof's call graph profile. Each function has an entry, "
	    "numbered and sorted by what it used with all below it. Above it "
	    "stand its callers, dearest last, with what it used when they "
	    "called it; below it its callees, dearest first, with what they "
	    "used when it called them. The names' numbers tell where their own "
	    "entries are.\n\n"
	    "Where the input has stacks, or the costs of calls, these are "
	    "measured, each hit once, and recursion is no obstacle: a function "
	    "that calls itself is one of its own callees, and numbers of "
	    "callees can sum to more than their caller's.\n\n"
	    "--gprof shows what gprof would make of it: functions that can "
	    "reach each other are a cycle and have an entry as a whole; calls "
	    "among them carry nothing. Of gmon.out, which only counts calls, "
	    "there is no other reading. The column called is calls/total as in "
	    "gprof, where the input counts calls.",
	.example = "graph db_get_property",
	.arguments = graph_arguments,
	.choices = graph_choices,
	.run = graph_run,
};
