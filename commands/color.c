/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/color.c -- when text has colour. */
#include "src/shell/command/arguments.h"

/* In the order of enum color_choice. */
static const char *const color_choices[] = { "auto", "always", "never", NULL };

static const struct argument color_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "when to use colour (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
color_get(const struct session *session, struct arena *arena,
          struct error *error)
{
	(void)arena;
	(void)error;
	return color_choices[session->settings.color];
}

static int
color_set(struct session *session, const struct value *value,
          struct error *error)
{
	(void)error;
	session->settings.color = (enum color_choice)value->count;
	return 0;
}

const struct command command_color = {
	.name = "color",
	.summary = "when text output uses colour",
	.description =
	    "auto uses colour on a terminal, unless the terminal is dumb or "
	    "NO_COLOR is set.",
	.example = "color never",
	.arguments = color_arguments,
	.choices = color_choices,
	.get = color_get,
	.set = color_set,
};
