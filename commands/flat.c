/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/flat.c -- the flat profile, as gprof lists it. */
#include "src/shell/command/view_command.h"

const struct command command_flat = {
	.name = "flat",
	.words = COMMAND_WORDS(SHORT("fl")),
	.group = GROUP_LOOK,
	.summary = "functions by their own use in gprof's columns: running sums, calls",
	.description =
	    "Lists every function by what its own body used, in the columns "
	    "of gprof: the share of the body, the running sum of the shares, "
	    "the hits of the body, the hits of the body and everything that "
	    "it called, and the name.\n\n"
	    "The bodies sum to the whole run. If the input counts calls, "
	    "three more columns show the number of calls by other functions, "
	    "as gprof does, and the gticks per call: for the body, and with "
	    "everything that it called.\n\n"
	    "A number sets how many rows are shown, whatever the threshold; a "
	    "pattern selects functions, as in top. The running sum is that of "
	    "the rows shown.",
	.example = "flat",
	.arguments = listing_arguments,
	.view = view_flat,
	.is_compared = true,
};
