/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/set.c -- changes a setting: set NAME VALUE. */
#include "src/shell/command/command.h"

static const struct argument set_arguments[] = {
	{ "NAME", &arg_setting, ARG_OPTIONAL,
	  "the setting (default: list all)" },
	{ "VALUE", &arg_setting_value, ARG_OPTIONAL,
	  "its new value (default: show it)" },
	ARGUMENTS_END
};

static int
set_run(struct session *session, const struct arguments *arguments,
        struct table *table, struct error *error)
{
	const struct command *setting = arguments->values[0].command;
	struct arguments value;
	int status;

	if (!arguments->values[1].is_given)
		return setting_show(session, setting, table, error);
	status = arguments_parse_text(&value, session, setting,
	                              arguments->values[1].text, error);
	if (status == 0)
		status = setting->set(session, setting, &value.values[0],
		                      error);
	arguments_free(&value);
	return status;
}

const struct command command_set = {
	.name = "set",
	.words = COMMAND_WORDS(SHORT("se")),
	.group = GROUP_SETTINGS,
	.summary =
	    "changes a setting: set NAME VALUE is the same as NAME VALUE",
	.description =
	    "Every setting is also a command of the same name: threshold 5% "
	    "and set threshold 5% do the same.",
	.example = "set threshold 5%",
	.arguments = set_arguments,
	.run = set_run,
};
