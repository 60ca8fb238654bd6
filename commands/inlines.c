/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/inlines.c -- whether inlined calls are steps of a path. */
#include "src/shell/arguments.h"

/* In the order of enum inlines. */
static const char *const inlines_choices[] = { "auto", "on", "off", NULL };

static const struct argument inlines_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "which inlined calls are shown (shows the current choice)" },
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
	    "A compiler may copy a function into its caller, and there it "
	    "leaves no call to be seen. Debug information tells where it "
	    "did: with on, it is read, once, and such functions stand in "
	    "paths like any others. auto, the default, shows those that the "
	    "profile itself names, and reads no debug information. off shows "
	    "none: their time is that of the function they were copied "
	    "into.\n\n"
	    "What a function that was never inlined costs with all its calls "
	    "is the same with all three; in body, inlined code counts, where "
	    "it is shown, for the function that it was written in. By module "
	    "and by address, inlined calls are never steps.",
	.example = "inlines on",
	.arguments = inlines_arguments,
	.choices = inlines_choices,
	.get = inlines_get,
	.set = inlines_set,
};
