/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/limit.c -- how many rows a view may have. */
#include "src/shell/command/arguments.h"

static const struct argument limit_arguments[] = {
	{ "N|off", ARG_COUNT, ARG_OPTIONAL,
	  "the most rows (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
limit_get(const struct session *session, struct arena *arena,
          struct error *error)
{
	if (session->settings.limit == SIZE_MAX)
		return "off";
	return arena_format(arena, error, "%zu", session->settings.limit);
}

static int
limit_set(struct session *session, const struct value *value,
          struct error *error)
{
	(void)error;
	session->settings.limit = value->count;
	return 0;
}

const struct command command_limit = {
	.name = "limit",
	.summary = "the largest number of rows that a view shows",
	.description =
	    "A view shows its N most expensive rows; the footer reports how "
	    "many are hidden.",
	.example = "limit 10",
	.arguments = limit_arguments,
	.get = limit_get,
	.set = limit_set,
};
