/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/inlines.c -- whether inlined calls are steps of a path. */
#include "src/shell/command/arguments.h"

/* In the order of enum inlines. */
static const char *const inlines_choices[] = { "auto", "on", "off", NULL };

static const struct argument inlines_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "which inlined calls to show (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
inlines_get(const struct session *session, struct arena *arena,
            struct error *error)
{
	(void)arena;
	(void)error;
	return inlines_choices[session->settings.naming.inlines];
}

static int
inlines_set(struct session *session, const struct value *value,
            struct error *error)
{
	struct naming_rule rule = session->settings.naming;

	rule.inlines = (enum inlines)value->count;
	return session_set_naming(session, &rule, error);
}

const struct command command_inlines = {
	.name = "inlines",
	.summary = "which inlined calls are steps of a path",
	.description =
	    "A compiler can copy a function into its caller, which leaves no "
	    "call in the machine code. Debug information records where it did "
	    "so. on: reads the debug information once and shows these "
	    "functions in paths like any others. auto (the default): shows "
	    "the inlined calls that the profile itself names, and reads no "
	    "debug information. off: shows none; their time belongs to the "
	    "function that contains the copy.\n\n"
	    "The inclusive cost of a function that was never inlined is the "
	    "same with all three. In body, inlined code counts for the "
	    "function that it was written in, if it is shown. By module and "
	    "by address, inlined calls are never steps.",
	.example = "inlines on",
	.arguments = inlines_arguments,
	.choices = inlines_choices,
	.get = inlines_get,
	.set = inlines_set,
};
