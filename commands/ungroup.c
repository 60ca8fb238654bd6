/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/ungroup.c -- removes a group. */
#include "src/shell/command/command.h"

static const struct argument ungroup_arguments[] = {
	{ "NAME", &arg_group, 0, "the group, as group named it" },
	ARGUMENTS_END
};

static int
ungroup_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	(void)table;
	return session_remove_group(session, arguments->values[0].text,
	                            error);
}

const struct command command_ungroup = {
	.name = "ungroup",
	.group = GROUP_REFINE,
	.summary = "removes a group; its functions have their own names again",
	.description =
	    "Removes all steps that made the group. The other steps stay, in "
	    "their order; one that named the group may then match nothing, "
	    "and a note says so. undo takes this back, too.",
	.example = "ungroup forms",
	.arguments = ungroup_arguments,
	.run = ungroup_run,
};
