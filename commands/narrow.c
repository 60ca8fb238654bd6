/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/narrow.c -- keeps the stacks that have a path, or of a thread. */
#include "src/shell/command/view_command.h"

static const struct argument narrow_arguments[] = {
	{ "PATH|thread GLOB|process GLOB|label KEY=GLOB|time FROM..TO|calls above LENGTH", &arg_selection, 0,
	  "functions or patterns that the stacks have, outermost first; or "
	  "whose they are, or when they were sampled" },
	ARGUMENTS_END
};

static int
narrow_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	struct step *step = selection_step(false, &arguments->values[0],
	                                   error);

	(void)table;
	return session_add_step(session, step, error);
}

const struct command command_narrow = {
	.name = "narrow",
	.words = COMMAND_WORDS(
	    /* pprof */ TYPE("focus", "narrow PATH"),
	    TYPE("tagfocus", "narrow label KEY=VALUE"),
	    /* gdb */ TYPE("thread", "narrow thread NAME")),
	.group = GROUP_REFINE,
	.summary = "keeps only the stacks that have a path, or of some threads",
	.description =
	    "Every view then shows a profile of these stacks alone. They are "
	    "the stacks that the path's own line in a profile counts, so the "
	    "path has all hits that are left. Percentages stay those of the "
	    "whole run (see percent).\n\n"
	    "Names side by side are direct calls; ... stands for any number "
	    "of calls between: narrow main ... parse malloc. In place of a "
	    "name there may be a glob (parse_*), a regular expression "
	    "(/^xml/), a module (@libssl), a source file (file:db.c) or a "
	    "ready group: @libc, @libstdc++, @rust, @go-runtime, @kernel, "
	    "@python.\n\n"
	    "thread GLOB keeps the stacks of the threads whose names or "
	    "numbers match, process GLOB those of processes, by program or "
	    "number, and label KEY=GLOB those with such a label (label KEY: "
	    "with any value). [unknown] means threads and programs without "
	    "a name, label KEY=[none] stacks without the label. (thread f) in "
	    "parentheses is a path.\n\n"
	    "time 2s..5s keeps the hits of the slices of time that this part of "
	    "the run touches, counted from its start; time 2s.. and time ..5s "
	    "have one end. timeline shows the slices. Hits without a time are "
	    "kept by drop alone.\n\n"
	    "label KEY>=NUMBER and KEY<NUMBER keep the numbers of a label that "
	    "are in these bounds; with a unit of time, like 20ms, also where the "
	    "profile has another unit.\n\n"
	    "calls above 20ms, above p99 or below p50 keep what happened in "
	    "calls of that length, for a function that record --calls observed; "
	    "calls FUNCTION above 20ms names one of several. A bound is that of "
	    "the nearest class of lengths, which steps shows.\n\n"
	    "A profile of calls without stacks (callgrind, gmon.out) does not "
	    "say which stacks have a path, so narrow and drop are errors "
	    "there; group works.\n\n"
	    "steps lists what is in force, undo takes the last step back.",
	.example = "narrow main ... db_get_property",
	.arguments = narrow_arguments,
	.run = narrow_run,
};
