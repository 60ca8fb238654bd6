/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/static.c -- whether calls that never happened are arcs. */
#include "src/shell/command/arguments.h"

static const char *const static_choices[] = { "off", "on", NULL };

static const struct argument static_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "whether to show them (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
static_get(const struct session *session, struct arena *arena,
           struct error *error)
{
	(void)arena;
	(void)error;
	return static_choices[session->settings.has_static];
}

static int
static_set(struct session *session, const struct value *value,
           struct error *error)
{
	return session_set_static(session, value->count != 0, error);
}

const struct command command_static = {
	.name = "static",
	.summary = "whether calls that exist only in the code are shown",
	.description =
	    "For a gmon.out, cpprof also reads the program, and so knows the "
	    "calls that its code contains, whether they happened or not. With "
	    "on, calls that did not happen are shown with a count of zero. "
	    "They carry no hits, but can close a cycle: cycles are then the "
	    "same in every run, and graph shows which functions could call "
	    "which.\n\n"
	    "Other inputs have no such calls.",
	.example = "static on",
	.arguments = static_arguments,
	.choices = static_choices,
	.get = static_get,
	.set = static_set,
};
