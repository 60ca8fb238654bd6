/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/processes.c -- how much each process used. */
#include "src/shell/command/command.h"

static const char *const processes_choices[] = { "all", NULL };

static const struct argument processes_arguments[] = {
	{ "all", &arg_choice, ARG_OPTIONAL,
	  "a row for each process (default: for each program)" },
	ARGUMENTS_END
};

const struct command command_processes = {
	.name = "processes",
	.group = GROUP_LOOK,
	.summary = "what the processes of each program used",
	.description =
	    "Shows what processes used: the share, hits and samples of all "
	    "processes that run the same program, and how many processes and "
	    "threads they are. The rows sum to the whole run. A program that "
	    "is started by a link has the name of the link. A process that "
	    "calls itself something else, in place of its arguments "
	    "(setproctitle) or, in a forked child, by the name of its first "
	    "thread (prctl), has a row of that name; narrow process takes "
	    "it, too.\n\n"
	    "processes all shows a row for each process, with its number and "
	    "what distinguishes it from others of its program: those of its "
	    "arguments that not all of them have, up to 200 bytes. Of a "
	    "program that ran once, these are all. JSON, CSV and TSV have the "
	    "whole command line, too, where it is known. Programs choose "
	    "their arguments, which may hold passwords: look at them before "
	    "you share them. A process that executes another program counts "
	    "once for each program.\n\n"
	    "[unknown] stands for samples whose process is unknown.",
	.example = "processes",
	.arguments = processes_arguments,
	.choices = processes_choices,
	.section_view = view_processes,
};
