/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/show.c -- shows the settings. */
#include "src/shell/command/command.h"

static const struct argument show_arguments[] = {
	{ "NAME", &arg_setting, ARG_OPTIONAL,
	  "the setting to show (default: all)" },
	ARGUMENTS_END
};

static int
show_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	return setting_show(session, arguments->values[0].command, table,
	                    error);
}

const struct command command_show = {
	.name = "show",
	.words = COMMAND_WORDS(
	    SHORT("sho"), /* pprof */ MEANS("o"), MEANS("options")),
	.group = GROUP_SETTINGS,
	.summary = "shows the settings",
	.description =
	    "Each line is the command that sets this value: show > FILE saves "
	    "the settings and source FILE restores them.",
	.example = "show",
	.arguments = show_arguments,
	.run = show_run,
};
