/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/steps.c -- the steps of the refinement, with what each left. */
#include <stdlib.h>

#include "src/shell/command/command.h"
#include "src/shell/session/session_left.h"
#include "src/views/rows/rows.h"

static int
steps_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct subject *subject = session->subject;
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement,
	                                             &n);
	const struct resource *resource = subject->set.resource;
	uint64_t total = subject->set.total, *left;
	int result = 0;

	(void)arguments;
	if (session_need_profile(session, error) != 0)
		return -1;
	table->schema = "cpprof.steps/1";
	table->gtick = resource->gtick;
	table->interval = resource->interval;
	table->has_unit = hits_have_unit(&subject->set);
	table_add_column(table, "left", table->has_unit ? "left" : "hits_left",
	                 CELL_HITS);
	table_add_column(table, "fraction", "fraction", CELL_FRACTION);
	table_add_column(table, "step", "step", CELL_TEXT);
	left = session_hits_after(session, error);
	for (size_t i = 0; left != NULL && result == 0 && i < n; i++)
		result = table_add_row(table, (struct cell[]){
			cell_hits(left[i]),
			cell_fraction(total == 0 ? 0 :
			              (double)left[i] / (double)total),
			cell_text(steps[i]->text),
		    }, error);
	if (left == NULL)
		return -1;
	free(left);
	return n > 0 ? result : table_add_footer(table, error, "no steps: views "
	    "show the whole run; add one with narrow, drop or group");
}

const struct command command_steps = {
	.name = "steps",
	.group = GROUP_REFINE,
	.summary = "the steps of the refinement, with what each left",
	.description =
	    "Lists what group, narrow and drop made, in order. Each line is a "
	    "command that makes the step again, after the hits that it and "
	    "the steps before it leave, and their share of the run.",
	.example = "steps",
	.run = steps_run,
};
