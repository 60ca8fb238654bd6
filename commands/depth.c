/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/depth.c -- how many names a path may have. */
#include "src/shell/command/arguments.h"

static const struct argument depth_arguments[] = {
	{ "N|off", ARG_COUNT, ARG_OPTIONAL,
	  "the most names in a path (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
depth_get(const struct session *session, struct arena *arena,
          struct error *error)
{
	if (session->settings.depth == SIZE_MAX)
		return "off";
	return arena_format(arena, error, "%zu", session->settings.depth);
}

static int
depth_set(struct session *session, const struct value *value,
          struct error *error)
{
	(void)error;
	session->settings.depth = value->count;
	session->settings.depth_is_set = true;
	return 0;
}

const struct command command_depth = {
	.name = "depth",
	.summary = "the longest paths that are shown",
	.description =
	    "Longer paths are hidden; the footer reports how many. The "
	    "default is 1000, because a recursion 100,000 calls deep would "
	    "otherwise print paths of that length; depth off shows all paths. "
	    "The text form of tree prints no paths, so its default is "
	    "1000000.",
	.example = "depth 3",
	.arguments = depth_arguments,
	.get = depth_get,
	.set = depth_set,
};
