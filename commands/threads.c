/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/threads.c -- how much each thread used. */
#include "src/shell/command/command.h"

static const char *const threads_choices[] = { "all", NULL };

static const struct argument threads_arguments[] = {
	{ "all", &arg_choice, ARG_OPTIONAL,
	  "a row for each thread (default: for each name)" },
	ARGUMENTS_END
};

const struct command command_threads = {
	.name = "threads",
	.words = COMMAND_WORDS(/* gdb */ MEANS("info threads")),
	.group = GROUP_LOOK,
	.summary = "what the threads of each name used",
	.description =
	    "Shows what threads used: the share, hits and samples of all "
	    "threads that have the same name and run the same program, and how "
	    "many they are. The rows sum to the whole run.\n\n"
	    "threads all shows a row for each thread, with the number of its "
	    "process and its own. In a recording of cpprof record, threads of "
	    "one name and start routine that run one after another share a "
	    "row, which has the number of the last one.\n\n"
	    "A thread has the last name that it had. [unknown] stands for "
	    "samples without a thread, and for threads without a name.",
	.example = "threads",
	.arguments = threads_arguments,
	.choices = threads_choices,
	.section_view = view_threads,
};
