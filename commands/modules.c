/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/modules.c -- how much each program and library used. */
#include "src/shell/command/view_command.h"

static const struct argument modules_arguments[] = {
	{ "N|all", &arg_rows, ARG_OPTIONAL,
	  "how many rows (default: as limit and threshold say)" },
	ARGUMENTS_END
};

static int
modules_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	const struct value *rows = &arguments->values[0];
	struct session_names kept;
	struct view_request request;
	int status;

	if (session_need_profile(session, error) != 0 ||
	    session_name_modules(session, &kept, error) != 0)
		return -1;
	request = session_request(session);
	if (rows->is_given) {
		request.limit = rows->count;
		request.threshold = 0;
	}
	status = view_modules(&request, table, error);
	session_name_as_before(session, &kept);
	return status;
}

const struct command command_modules = {
	.name = "modules",
	.words = COMMAND_WORDS(
	    /* perf */ TYPE("dso", "modules"), TYPE("dsos", "modules"),
	    TYPE("libraries", "modules")),
	.group = GROUP_LOOK,
	.summary = "what each program and library used, alone and with calls",
	.description =
	    "Shows what modules used: programs, shared libraries, the kernel "
	    "and files of interpreted code, by the last component of their "
	    "paths. self is the use of their own functions, and sums to the "
	    "whole run. self+descendants adds all that these called: the hits "
	    "of the samples whose stack has a function of the module, each "
	    "counted once, however often the stack enters the module.\n\n"
	    "[unknown] stands for functions whose module is unknown. Frames "
	    "that settings hide, such as those of the kernel, belong to the "
	    "module that called them. Steps apply; a group is a row of its "
	    "own.\n\n"
	    "To see only stacks through a module: narrow @libc. To see the "
	    "paths between modules, or to compare modules with a base: "
	    "granularity module, then down or diff top.",
	.example = "modules",
	.arguments = modules_arguments,
	.run = modules_run,
};
