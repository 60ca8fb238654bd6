/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/percent.c -- what fractions are of: the whole run or the root. */
#include "src/shell/command/arguments.h"

/* In the order of enum percent_base. */
static const char *const percent_choices[] = { "total", "root", NULL };

static const struct argument percent_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "what fractions are relative to (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
percent_get(const struct session *session, struct arena *arena,
            struct error *error)
{
	(void)arena;
	(void)error;
	return percent_choices[session->settings.percent];
}

static int
percent_set(struct session *session, const struct value *value,
            struct error *error)
{
	(void)error;
	session->settings.percent = (enum percent_base)value->count;
	return 0;
}

const struct command command_percent = {
	.name = "percent",
	.summary = "what fractions are relative to: the whole run or the root",
	.description =
	    "total: fractions are shares of all hits of the current resource. "
	    "root: fractions are shares of the hits of the root function and "
	    "all that it calls. The heading of each view says which.",
	.example = "percent root",
	.arguments = percent_arguments,
	.choices = percent_choices,
	.get = percent_get,
	.set = percent_set,
};
