/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/format.c -- in which form answers are printed. */
#include "src/shell/command/arguments.h"

/* In the order of output_formats; the tests compare them. */
static const char *const format_choices[] = {
	"text", "tsv", "csv", "json", NULL
};

static const struct argument format_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "the output format (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
format_get(const struct session *session, struct arena *arena,
           struct error *error)
{
	(void)arena;
	(void)error;
	return session->settings.format->name;
}

static int
format_set(struct session *session, const struct value *value,
           struct error *error)
{
	(void)error;
	session->settings.format = &output_formats[value->count];
	return 0;
}

const struct command command_format = {
	.name = "format",
	.summary = "the output format: text, tsv, csv or json",
	.description =
	    "json prints one document per command, on one line. csv and tsv "
	    "print a line of keys, then the rows; the names in a path are "
	    "separated by semicolons, as in collapsed stacks. Numbers have "
	    "full precision in these three, whatever the settings digits and "
	    "unit.",
	.example = "format json",
	.arguments = format_arguments,
	.choices = format_choices,
	.get = format_get,
	.set = format_set,
};
