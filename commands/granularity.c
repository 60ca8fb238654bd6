/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/granularity.c -- what the names in paths are. */
#include "src/shell/arguments.h"

/* In the order of enum granularity. */
static const char *const granularity_choices[] = {
	"function", "module", "address", NULL
};

static const struct argument granularity_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "what a name stands for (shows the current choice)" },
	ARGUMENTS_END
};

static const char *
granularity_get(const struct session *session, struct arena *arena,
                struct error *error)
{
	(void)arena;
	(void)error;
	return granularity_choices[session->settings.granularity];
}

static int
granularity_set(struct session *session, const struct value *value,
                struct error *error)
{
	return session_set_granularity(session,
	                               (enum granularity)value->count, error);
}

const struct command command_granularity = {
	.name = "granularity",
	.summary = "what the names in paths are: functions, modules, addresses",
	.description =
	    "Changes names, never totals. By module, each call within a "
	    "program or library is one step; by address, two places of one "
	    "function are two names. Where the profile has no addresses, its "
	    "names stay.\n\n"
	    "A root that does not occur under the new names gives way to the "
	    "default one, and a note says so.",
	.example = "granularity module",
	.arguments = granularity_arguments,
	.choices = granularity_choices,
	.get = granularity_get,
	.set = granularity_set,
};
