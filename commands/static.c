/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/static.c -- whether calls that never happened are arcs. */
#include "src/shell/arguments.h"

static const char *const static_choices[] = { "off", "on", NULL };

static const struct argument static_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "whether they are (shows the current choice)" },
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
	.summary = "whether calls that only stand in the code are shown",
	.description =
	    "Of a gmon.out the program is read as well, and the calls that "
	    "stand in its code are known, whether they happened or not. With "
	    "on, those that did not are calls, too, zero of them. They carry "
	    "no hits, but can close a cycle, so that cycles are the same "
	    "however the program ran, and graph shows who could call "
	    "whom.\n\n"
	    "Other inputs have no such calls.",
	.example = "static on",
	.arguments = static_arguments,
	.choices = static_choices,
	.get = static_get,
	.set = static_set,
};
