/* SPDX-License-Identifier: GPL-3.0-or-later */
/* never.c -- functions that were never called.
 *
 * Source: Graham, Kessler & McKusick 1982, section 5.1.  Cost: O(F log F).
 */
#include "src/views/lists/lists.h"

static const struct view_kind never_kind = {
	.schema = "cpprof.functions/1",
	.title = "Functions Never Called",
};

int
view_never(const struct view_request *request, struct table *table,
           struct error *error)
{
	const struct call_flow *flow = request->set->flow;
	bool knows_all = flow != NULL && !flow->has_hits;
	struct measure measure = measure_of(request);
	struct hidden hidden = { 0 };
	struct rows rows = { 0 };
	struct view_request plain = *request;

	/* There are no hits at all. */
	plain.lacks_columns = plain.n_shown > 0;
	plain.n_columns = plain.n_shown = 0;
	if (rows_of_functions(&rows, request->set,
	                      knows_all ? flow->n_names : 0, error) != 0) {
		rows_free(&rows);
		return -1;
	}
	rows.n = 0;
	for (uint32_t i = 0; knows_all && i < flow->n_names; i++)
		if (flow->functions[i].is_known && !flow->functions[i].is_used)
			rows.name[rows.n++] = i;
	if (rows_show(&rows, &plain, &never_kind, &measure, &hidden, table,
	              error) != 0)
		return -1;
	return knows_all ? 0 : table_add_footer(table, error, "the profile "
	    "names only functions that were called");
}
