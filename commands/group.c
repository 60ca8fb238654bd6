/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/group.c -- gives many functions one name. */
#include "src/shell/command/command.h"

static const struct argument group_arguments[] = {
	{ "NAME", &arg_new_group, 0, "the group's name" },
	{ "=|=>", &arg_group_sign, 0, "= or, to keep the functions by which the "
	  "group is entered, =>" },
	{ "PATTERN...", &arg_frame_patterns, 0, "the functions that belong to "
	  "it" },
	ARGUMENTS_END
};

static const char *const group_choices[] = { "=", "=>", NULL };

static int
group_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct value *patterns = &arguments->values[2];
	struct step *step = step_new_group(arguments->values[0].text,
	    arguments->values[1].count == 1, patterns->pattern_words,
	    patterns->n_pattern_words, error);

	(void)table;
	return session_add_step(session, step, error);
}

const struct command command_group = {
	.name = "group",
	.words = COMMAND_WORDS(
	    /* pprof */ TYPE("hide", "group NAME = PATTERN")),
	.group = GROUP_REFINE,
	.summary = "gives many functions one name",
	.description =
	    "group NAME = PATTERN...: frames of the functions that match take "
	    "the name, and neighbours become one frame, as if the group were "
	    "one function. A later return into the group is treated as "
	    "recursion is.\n\n"
	    "group NAME => PATTERN...: a function of the group that is called "
	    "from outside keeps its own name, and what it calls within the "
	    "group belongs to it.\n\n"
	    "Patterns are written as for narrow; the first one that matches a "
	    "function decides. With a regular expression, {1} in the name is "
	    "what its first group (...) matches: group {1} = /^([a-z]+)::/ "
	    "groups by namespace.\n\n"
	    "A profile of calls without stacks (callgrind, gmon.out) can be "
	    "grouped with =: calls into the group and out of it add up, and "
	    "calls within it are no calls any more. Bodies are exact. So are "
	    "calls, unless the group and the other function call each other; "
	    "then ~ marks an estimate. Where patterns name lines, at the "
	    "granularities line and callsite, they name the functions. By "
	    "which function a stack entered the group is unknown there, so => "
	    "is an error.\n\n"
	    "Each step sees names as the steps before it left them. ungroup "
	    "takes a group back.",
	.example = "group forms = form_*",
	.arguments = group_arguments,
	.choices = group_choices,
	.run = group_run,
};
