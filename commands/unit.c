/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/unit.c -- how text shows hits: as they are or in gticks. */
#include "src/shell/command/arguments.h"

/* In the order of enum unit. */
static const char *const unit_choices[] = { "hits", "gticks", NULL };

static const struct argument unit_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "how to show hits (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
unit_get(const struct session *session, struct arena *arena,
         struct error *error)
{
	(void)arena;
	(void)error;
	return unit_choices[session->settings.unit];
}

static int
unit_set(struct session *session, const struct value *value,
         struct error *error)
{
	(void)error;
	session->settings.unit = (enum unit)value->count;
	return 0;
}

const struct command command_unit = {
	.name = "unit",
	.summary = "how text shows hits: as counts or in gticks",
	.description =
	    "gticks: text shows hits multiplied by the sampling interval, in "
	    "readable units such as 12.3 ms or 1.50 MiB, or as a number of "
	    "gticks if the gtick is neither time nor space. JSON, CSV and TSV "
	    "always show hits.",
	.example = "unit gticks",
	.arguments = unit_arguments,
	.choices = unit_choices,
	.get = unit_get,
	.set = unit_set,
};
