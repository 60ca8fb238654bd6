/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/graph.c -- every function between its callers and its callees. */
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"
#include "src/views/lists/lists.h"

static const char *const graph_choices[] = { "--gprof", NULL };

static const struct argument graph_arguments[] = {
	{ "--gprof", &arg_choice, ARG_OPTIONAL | ARG_SWITCH,
	  "collapse cycles of calls, as gprof does" },
	{ "FUNCTION", &arg_function, ARG_OPTIONAL,
	  "the entry to show (default: all)" },
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
	return view_graph(&request, function->is_given ? function->names[0] :
	                  NO_NAME, arguments->values[0].is_given, table, error);
}

const struct command command_graph = {
	.name = "graph",
	.words = COMMAND_WORDS(SHORT("grap"), /* pprof */ MEANS("peek")),
	.group = GROUP_LOOK,
	.summary = "call graph profile: functions between callers and callees",
	.description =
	    "Shows gprof's call graph profile. Each function has a numbered "
	    "entry; entries are sorted by what the function used, including "
	    "all that it called. Above the function are its callers, most "
	    "expensive last, each with what the function used when that "
	    "caller called it. Below it are its callees, most expensive "
	    "first, each with what it used when the function called it. The "
	    "number after a name is the number of that function's own entry.\n\n"
	    "If the input has stacks, or the cost of each call, these figures "
	    "are measured, each hit once, even with recursion. A "
	    "function that calls itself is one of its own callees, and the "
	    "figures of the callees can sum to more than the caller's.\n\n"
	    "--gprof shows what gprof would compute: functions that can reach "
	    "each other form a cycle, which has an entry of its own, and "
	    "calls within a cycle carry no cost. For gmon.out, which only "
	    "counts calls, this is the only form. If the input counts calls, "
	    "the column called shows calls/total, as in gprof.",
	.example = "graph db_get_property",
	.arguments = graph_arguments,
	.choices = graph_choices,
	.run = graph_run,
};
