/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/digits.c -- how exactly text shows fractions. */
#include "src/shell/command/arguments.h"

static const struct argument digits_arguments[] = {
	{ "N", ARG_DIGITS, ARG_OPTIONAL,
	  "decimal places (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
digits_get(const struct session *session, struct arena *arena,
           struct error *error)
{
	return arena_format(arena, error, "%d", session->settings.digits);
}

static int
digits_set(struct session *session, const struct value *value,
           struct error *error)
{
	(void)error;
	session->settings.digits = (int)value->count;
	return 0;
}

const struct command command_digits = {
	.name = "digits",
	.summary = "decimal places of fractions in text",
	.description =
	    "The number of decimal places, 0 to 15. JSON, CSV and TSV output "
	    "always has full precision.",
	.example = "digits 2",
	.arguments = digits_arguments,
	.get = digits_get,
	.set = digits_set,
};
