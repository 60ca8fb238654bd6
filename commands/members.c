/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/members.c -- which hosts or the like use more than the others. */
#include <stdlib.h>

#include "src/profile/fleet.h"
#include "src/shell/command/view_command.h"
#include "src/shell/session/session_left.h"
#include "src/views/lists/lists.h"

static const struct argument members_arguments[] = {
	{ "PATH", &arg_selection, 0,
	  "functions or patterns of the stacks, as in narrow" },
	ARGUMENTS_END
};

static int
members_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	const struct subject *subject = session->subject;
	struct section_total *part = NULL, *whole = NULL;
	struct members_request wanted;
	struct view_request request;
	struct step *step;
	int result = -1;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (subject->profile->fleet == NULL ||
	    subject->profile->fleet->key == NULL)
		return error_set(error, "the profile has no counts by a key; "
		                 "cpprof merge --by host makes one");
	step = selection_step(false, &arguments->values[0], error);
	if (step == NULL)
		return -1;
	request = session_request(session);
	whole = session_section_totals(session, subject->resource, NULL, error);
	if (whole != NULL)
		part = session_section_totals(session, subject->resource, step,
		                              error);
	if (part != NULL) {
		wanted = (struct members_request){
			.key = subject->profile->fleet->key,
			.step = step->text,
			.part = part, .whole = whole,
		};
		result = view_members(&request, &wanted, table, error);
	}
	free(part);
	free(whole);
	step_release(step);
	return result;
}

const struct command command_members = {
	.name = "members",
	.group = GROUP_ASK,
	.summary = "which hosts of a merged profile use more on a path than others",
	.description =
	    "For a file that cpprof merge --by KEY wrote: shows for each value "
	    "of the key, such as each host, which share of its hits the stacks "
	    "with the path have, and whether that deviates from the share of "
	    "all others: more, less, or noise. The stacks are those that narrow "
	    "PATH would keep.\n\n"
	    "Hosts differ by themselves, more than by chance; the heading shows "
	    "by how much. z is how far a host is from the others, in standard "
	    "errors that contain this. q is the probability that among so many "
	    "hosts without an outlier one is as far out. A host is called more "
	    "or less if q is at most 0.05: if all hosts are alike, at most 1 "
	    "of 20 such tables names one. The price is that a host must "
	    "be far out. Among 20 hosts of 3000 samples each whose shares "
	    "differ by 10%, one with twice the share is found in four of five "
	    "cases; if they differ by 30%, one with six times. With fewer than "
	    "8 hosts it is not known how much they differ, and all are "
	    "undecided.\n\n"
	    "To look at one of them: narrow label KEY=VALUE.",
	.example = "members db_get_property",
	.arguments = members_arguments,
	.run = members_run,
};
