/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/calls.c -- how long the calls of a function took. */
#include <string.h>

#include "src/shell/command/view_command.h"
#include "src/views/lists/lists.h"

static int
read_calls_function(struct reading *reading, struct value *value)
{
	const struct profile *profile = reading->session->subject->profile;
	const char *name = reading->words->words[reading->at++].text;

	value->text = name;
	if (profile == NULL)
		return session_need_profile(reading->session, reading->error);
	return calls_of_function(profile, name, reading->error) != NULL ? 0 :
	    -1;
}

static const struct argument_kind arg_calls_function = {
	.read = read_calls_function,
	.complete = selection_complete_calls,
};

static const struct argument calls_arguments[] = {
	{ "FUNCTION", &arg_calls_function, ARG_OPTIONAL,
	  "one of those that record --calls observed (default: the only one, or "
	  "a line for each)" },
	ARGUMENTS_END
};

static int
calls_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct value *function = &arguments->values[0];
	const struct profile *profile = session->subject->profile;
	const struct observed_calls *calls = NULL;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (function->is_given || profile->n_calls <= 1) {
		calls = calls_of_function(profile, function->is_given ?
		                          function->text : NULL, error);
		if (calls == NULL)
			return -1;
	}
	return view_calls(profile, calls, table, error);
}

const struct command command_calls = {
	.name = "calls",
	.group = GROUP_LOOK,
	.summary = "how long the observed calls of a function took",
	.description =
	    "For a recording with record --calls FUNCTION: shows how many calls "
	    "took how long, from entry to return, waiting included, and the "
	    "lengths that 50%, 90%, 99% and 99.9% of the calls do not exceed. "
	    "Each lies within the bounds beside it with a probability of "
	    "95%.\n\n"
	    "Calls are seen by samples: each call that takes longer than the "
	    "interval, 4 ms by default (twice that if it only computes), and a "
	    "shorter one if a sample happens to fall into it. Its end is exact, "
	    "its beginning is known to within an interval. The shorter calls "
	    "share one row; their number is estimated from how soon calls end "
	    "after a sample. Calls shorter than an 80th of the interval, 50 us, "
	    "are left out of it, because samples hardly see them; if there are "
	    "some, the head says about how many and with what part of the time, "
	    "and percentiles include them. Of recursive calls, the outermost "
	    "counts.\n\n"
	    "A call that was left by longjmp or an exception, or was not left "
	    "when its thread ended, has no length; a footer counts these, and "
	    "those that began before their thread was sampled.\n\n"
	    "narrow calls above 20ms and narrow calls above p99 keep what "
	    "happened in the slow calls; base calls below p99 with diff shows "
	    "what they do that the others do not. The hits of a call have the "
	    "label call:FUNCTION with its length, in classes an eighth of a "
	    "power of two wide.",
	.example = "calls",
	.arguments = calls_arguments,
	.run = calls_run,
};
