/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/leaks.c -- what was never freed, by path and age. */
#include "src/shell/command/command.h"

const struct command command_leaks = {
	.name = "leaks",
	.group = GROUP_LOOK,
	.summary = "memory that was never freed, by call path, oldest first",
	.description =
	    "Shows which call paths allocated what was in use when the "
	    "recording ended, and how long before: the ages of the oldest "
	    "block, of half of the bytes, and of the newest. What was "
	    "allocated once, at the start, has three ages that are about the "
	    "same. What grows has a median of about half of its oldest age, "
	    "and a new newest block.\n\n"
	    "Whether the program can still reach a block is not known, so a "
	    "cache is listed like a leak. After narrow time 1m..5m, these are "
	    "the blocks that were allocated then and never freed: neither "
	    "what the program set up in its first minute nor what it worked "
	    "on at the end. base time ..1m and diff show what grew since.\n\n"
	    "The current resource must be live-bytes or live-allocs, of a "
	    "recording with -r live. An age is known to half of a slice of "
	    "timeline.",
	.example = "leaks",
	.view = view_leaks,
};
