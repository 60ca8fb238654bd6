/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/assert.c -- fails a script if something costs too much. */
#include "src/shell/command/asserting.h"
#include "src/shell/command/command.h"

static const struct argument assert_arguments[] = {
	{ "VIEW", &arg_choice, 0, "functions, with descendants; body; path; "
	  "down, up, callers or callees; or change and one of these" },
	{ "FUNCTION|PATH below|above BOUND", &arg_bounded, 0,
	  "a function, pattern or path; then a share of the run such as 5%, or "
	  "an amount such as 120ms" },
	ARGUMENTS_END
};

static int
assert_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	struct asserting asserting;
	struct assertion assertion;
	int status = asserting_begin(&asserting, session, table, error);

	if (status == 0)
		status = assertion_of(&assertion, session, arguments, error);
	if (status == 0)
		status = asserting_check(&asserting, &assertion, error);
	asserting_end(&asserting);
	return status;
}

const struct command command_assert = {
	.name = "assert",
	.group = GROUP_COMPARE,
	.summary = "fails a script if a function or path is not below a bound",
	.description =
	    "functions is a function with its descendants, body its own code, "
	    "path one call path: the values that these views show. Each "
	    "function that a pattern matches is asserted. down, up, callers "
	    "and callees assert each path that the view of that name shows "
	    "(see threshold and limit; of paths that are all below the "
	    "threshold, the first one). The bound is a share (of the whole "
	    "run, see percent) or an amount in the resource's unit.\n\n"
	    "change functions parse below 3% is about what changed since the "
	    "base (see base), as diff shows it: a share is one of the base "
	    "run, so a function of 20% that takes half as long again has "
	    "changed by 10%. below -3% asks for an improvement. With one run a "
	    "side, what equal runs may differ by is undecided, not violated.\n\n"
	    "The answer is one of three. holds: the whole 95% interval of the "
	    "value is below (or above) the bound. violated: the whole interval "
	    "is on the other side. undecided: the bound is inside the interval, "
	    "because there are too few samples; the name does not occur; or "
	    "the file does not say how it was sampled. In a merged profile "
	    "the interval is that of noise on, from random groups of members, "
	    "and undecided where these are not known: after narrow label, or "
	    "with one member. If several runs are loaded, amounts are those of "
	    "their sum, and the interval is what these runs differ by, if that "
	    "is more than the noise of their samples; so it also decides for "
	    "files that do not say how they were sampled.\n\n"
	    "A script goes on after any answer. It ends with status 4 if an "
	    "assertion was violated, otherwise with 5 if one was undecided, "
	    "and with 1 if a command failed, whatever the answers. At the "
	    "prompt, the answer is only shown.",
	.example = "assert functions db_read_record below 90%",
	.arguments = assert_arguments,
	.choices = assertion_views,
	.run = assert_run,
};
