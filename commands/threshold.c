/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/threshold.c -- below which fraction entries are not shown. */
#include "src/shell/command/arguments.h"

static const struct argument threshold_arguments[] = {
	{ "FRACTION", ARG_FRACTION, ARG_OPTIONAL,
	  "0.01 or 1%; 0 shows all (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
threshold_get(const struct session *session, struct arena *arena,
              struct error *error)
{
	double fraction = session->settings.threshold;

	/* 1 would be refused. */
	if (fraction == 1)
		return "100%";
	return arena_format(arena, error, "%.15g", fraction);
}

static int
threshold_set(struct session *session, const struct value *value,
              struct error *error)
{
	(void)error;
	session->settings.threshold = value->fraction;
	return 0;
}

const struct command command_threshold = {
	.name = "threshold",
	.summary = "the fraction below which entries are not shown",
	.description =
	    "Entries below this fraction are hidden; the footer reports how "
	    "many. 0.01 and 1% mean the same. A plain number of 1 or more is "
	    "refused, because it could mean either. threshold 0 shows every "
	    "entry that limit and depth allow, including those without hits.",
	.example = "threshold 5%",
	.arguments = threshold_arguments,
	.get = threshold_get,
	.set = threshold_set,
};
