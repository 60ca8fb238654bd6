/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/pager.c -- whether long output is paged. */
#include "src/shell/command/arguments.h"

static const char *const pager_choices[] = { "off", "on", NULL };

static const struct argument pager_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "whether to page (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
pager_get(const struct session *session, struct arena *arena,
          struct error *error)
{
	(void)arena;
	(void)error;
	return pager_choices[session->settings.has_pager];
}

static int
pager_set(struct session *session, const struct value *value,
          struct error *error)
{
	(void)error;
	session->settings.has_pager = value->count == 1;
	return 0;
}

const struct command command_pager = {
	.name = "pager",
	.summary = "whether output longer than the screen is paged",
	.description =
	    "At the prompt, output that is longer than the screen is shown "
	    "with $PAGER, or with less if PAGER is not set. The output of "
	    "scripts is never paged.",
	.example = "pager off",
	.arguments = pager_arguments,
	.choices = pager_choices,
	.get = pager_get,
	.set = pager_set,
};
