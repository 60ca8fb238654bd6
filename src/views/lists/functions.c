/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions.c -- lists with a row for each function.
 *
 * Cost: one pass over the nodes, O(N) for any D, and another one for each
 * column and with `when`; M <= F rows.
 */
#include "src/views/lists/lists.h"

#include <stdlib.h>

#include "src/base/memory.h"

/* Which hits order rows, and which have to reach the threshold. */
enum functions_by {
	BY_BODY,
	BY_TOTAL,		/* with all that they called */
	BY_BODY_OF_ALL,		/* ordered by bodies, shown for totals */
};

/*
 * The functions that the request wants.  wanted: [names] which of them; NULL:
 * all.  A view with columns of its own has the totals of each row for them.
 */
static int
functions_collect(struct list *list, enum functions_by by, const bool *wanted,
                  struct error *error)
{
	const bool are_bodies = by != BY_TOTAL;
	struct rows *rows = &list->rows;
	uint32_t n;
	struct function_total *totals = function_totals(list->set, &n, error);

	list->totals = totals;
	if (totals == NULL || rows_make(rows, list->set, n, error) != 0)
		return -1;
	rows->are_bodies = are_bodies;
	for (uint32_t i = 0; i < n; i++) {
		const struct function_total total = totals[i];
		uint64_t hits = are_bodies ? total.self : total.inclusive;
		uint64_t most = by == BY_BODY ? total.self : total.inclusive;

		if (!view_wants(list->request, total.name) ||
		    (wanted != NULL && !wanted[total.name]))
			continue;
		if (most < list->measure.least) {
			hidden_add_small(&list->hidden, total.name, most);
			continue;
		}
		totals[rows->n] = total;
		rows->items[rows->n++] = (struct row){
			.hits = hits,
			.returns = total.returns,
			.is_estimated = total.is_estimated && !are_bodies,
			.name = total.name,
			.parent = NO_RECORD,
		};
	}
	if (list->view->columns == NULL) {
		free(list->totals);
		list->totals = NULL;
	}
	return rows_count_functions(rows, list->request, are_bodies, error);
}

static int
collect_bodies(struct list *list, struct table *table, struct error *error)
{
	(void)table;
	return functions_collect(list, BY_BODY, NULL, error);
}

static int
collect_totals(struct list *list, struct table *table, struct error *error)
{
	(void)table;
	return functions_collect(list, BY_TOTAL, NULL, error);
}

static int
collect_outermost(struct list *list, struct table *table, struct error *error)
{
	bool *are_outermost = outermost_functions(list->set, error);
	int status = are_outermost == NULL ? -1 :
	    functions_collect(list, BY_TOTAL, are_outermost, error);

	(void)table;
	free(are_outermost);
	return status;
}

static int
describe_outermost(const struct list *list, struct table *table,
                   struct error *error)
{
	(void)list;
	return table_add_footer(table, error, "\"down FUNCTION\" lists the "
	                        "paths below a function, \"root FUNCTION\" "
	                        "makes it the root");
}

/* Whether the input knows functions that were not called. */
static bool
knows_all_functions(const struct sample_set *set)
{
	return set->flow != NULL && !set->flow->has_hits;
}

/* Source: Graham, Kessler & McKusick 1982, section 5.1. */
static int
collect_never(struct list *list, struct table *table, struct error *error)
{
	const struct call_flow *flow = list->set->flow;
	bool knows_all = knows_all_functions(list->set);
	struct rows *rows = &list->rows;

	(void)table;
	if (rows_make(rows, list->set, knows_all ? flow->n_names : 0,
	              error) != 0)
		return -1;
	for (uint32_t i = 0; knows_all && i < flow->n_names; i++)
		if (flow->functions[i].is_known && !flow->functions[i].is_used)
			rows->items[rows->n++] = (struct row){
				.name = i, .parent = NO_RECORD
			};
	return 0;
}

static int
describe_never(const struct list *list, struct table *table,
               struct error *error)
{
	return knows_all_functions(list->set) ? 0 : table_add_footer(table,
	    error, "the profile names only functions that were called");
}

/* ---- columns of top and flat ---- */

static const struct function_total *
total_of(const struct list *list, uint32_t i)
{
	return &list->totals[list->rows.order[i]];
}

static struct cell
cell_self(const struct list *list, uint32_t i)
{
	return cell_hits(total_of(list, i)->self);
}

static struct cell
cell_self_share(const struct list *list, uint32_t i)
{
	return cell_percent(measure_fraction(&list->measure,
	                                     total_of(list, i)->self));
}

static struct cell
cell_sum(const struct list *list, uint32_t i)
{
	return cell_hits(list->sums[i]);
}

static struct cell
cell_inclusive(const struct list *list, uint32_t i)
{
	return cell_hits(total_of(list, i)->inclusive);
}

static struct cell
cell_inclusive_share(const struct list *list, uint32_t i)
{
	return cell_percent(measure_fraction(&list->measure,
	                                     total_of(list, i)->inclusive));
}

static struct cell
cell_estimated(const struct list *list, uint32_t i)
{
	return cell_flag(total_of(list, i)->is_estimated);
}

static struct cell
cell_calls(const struct list *list, uint32_t i)
{
	uint64_t calls = total_of(list, i)->calls;

	return calls > 0 ? cell_count(calls) :
	       (struct cell){ .kind = CELL_EMPTY };
}

/* Gticks per call; empty where no calls are known. */
static struct cell
cell_per_call(const struct list *list, uint64_t hits, uint64_t calls)
{
	const uint64_t interval = list->set->resource->interval;

	return calls == 0 ? (struct cell){ .kind = CELL_EMPTY } :
	    cell_fraction((double)hits * (double)interval / (double)calls);
}

static struct cell
cell_self_per_call(const struct list *list, uint32_t i)
{
	const struct function_total *total = total_of(list, i);

	return cell_per_call(list, total->self, total->calls);
}

/* Averages are right with recursion, too: inclusive counts nothing twice. */
static struct cell
cell_inclusive_per_call(const struct list *list, uint32_t i)
{
	const struct function_total *total = total_of(list, i);

	return cell_per_call(list, total->inclusive, total->calls);
}

static struct cell
cell_returns_seen(const struct list *list, uint32_t i)
{
	return cell_count(total_of(list, i)->returns);
}

static bool
list_has_calls(const struct list *list)
{
	return list->set->flow != NULL && list->set->flow->has_calls;
}

static bool
list_saw_returns(const struct list *list)
{
	return list->rows.has_returns;
}

/*
 * What is used alone, and with descendants.  Beside other resources there is less
 * room.
 */
#define COLUMNS_OF_TOTALS						\
	{ "hits", "self", CELL_HITS, .cell = cell_self },		\
	{ "fraction", "%", CELL_PERCENT, .cell = cell_self_share,	\
	  .gives_way = true },						\
	{ "inclusive", "self+descendants", CELL_HITS,			\
	  .cell = cell_inclusive,					\
	  .beside = "self+desc", .short_title = "self+desc" },		\
	{ "inclusive_fraction", "%", CELL_PERCENT,			\
	  .cell = cell_inclusive_share, .is_data_beside = true,		\
	  .gives_way = true },						\
	{ "estimated", "~", CELL_FLAG, .cell = cell_estimated,		\
	  .is_there = list_is_of_flow },				\
	{ "when", "when", CELL_TEXT, .cell = list_when, .is_after = true }

static const struct list_column top_columns[] = {
	COLUMNS_OF_TOTALS,
	{ "path", "name", CELL_NAME, .cell = list_path, .is_after = true },
	{ .key = NULL }
};

/* Source: Graham, Kessler & McKusick 1982, with the true totals beside. */
static const struct list_column flat_columns[] = {
	{ "fraction", "%", CELL_PERCENT, .cell = cell_self_share,
	  .gives_way = true },
	{ "cumulative", "cumulative", CELL_HITS, .cell = cell_sum,
	  .is_data_beside = true },
	{ "hits", "self", CELL_HITS, .cell = cell_self },
	{ "inclusive", "self+descendants", CELL_HITS, .cell = cell_inclusive,
	  .beside = "self+desc", .short_title = "self+desc" },
	{ "estimated", "~", CELL_FLAG, .cell = cell_estimated,
	  .is_there = list_is_of_flow },
	{ "calls", "calls", CELL_COUNT, .cell = cell_calls,
	  .is_there = list_has_calls },
	{ "self_per_call", "self/call", CELL_FRACTION,
	  .cell = cell_self_per_call,
	  .is_there = list_has_calls },
	{ "inclusive_per_call", "total/call", CELL_FRACTION,
	  .cell = cell_inclusive_per_call, .is_there = list_has_calls },
	{ "returns", "returns", CELL_COUNT, .cell = cell_returns_seen,
	  .is_there = list_saw_returns },
	{ "when", "when", CELL_TEXT, .cell = list_when, .is_after = true },
	{ "path", "name", CELL_NAME, .cell = list_path, .is_after = true },
	{ .key = NULL }
};

/* ---- the views ---- */

static const struct list_view body_list = {
	.kind = { .schema = "cpprof.functions/1", .has_columns = true,
	          .title = "Body Function Profile" },
	.collect = collect_bodies,
};

static const struct list_view functions_list = {
	.kind = { .schema = "cpprof.functions/1", .has_columns = true,
	          .title = "Body+Descendants Function Profile" },
	.collect = collect_totals,
};

static const struct list_view outermost_list = {
	.kind = { .schema = "cpprof.functions/1", .has_columns = true,
	          .has_root = true,
	          .title = "Outermost Functions (Body+Descendants)" },
	.collect = collect_outermost,
	.describe = describe_outermost,
};

static const struct list_view never_list = {
	.kind = { .schema = "cpprof.functions/1",
	          .title = "Functions Never Called" },
	.collect = collect_never,
	.describe = describe_never,
};

static struct cell
cell_module(const struct list *list, uint32_t i)
{
	return cell_text(names_text(list->set->names,
	                            list_row(list, i)->name));
}

static int
collect_modules(struct list *list, struct table *table, struct error *error)
{
	(void)table;
	return functions_collect(list, BY_BODY_OF_ALL, NULL, error);
}

static int
describe_modules(const struct list *list, struct table *table,
                 struct error *error)
{
	const struct profile *profile = list->set->profile;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (profile->frames[i].module != NO_MODULE)
			return 0;
	return list->set->flow != NULL ? 0 : table_add_footer(table, error,
	    "the profile does not know the modules of functions");
}

static const struct list_column module_columns[] = {
	COLUMNS_OF_TOTALS,
	{ "module", "module", CELL_TEXT, .cell = cell_module,
	  .is_after = true },
	{ .key = NULL }
};

static const struct list_view modules_list = {
	.kind = { .schema = "cpprof.modules/1", .has_columns = true,
	          .title = "Module Profile" },
	.collect = collect_modules,
	.columns = module_columns,
	.orders_by_totals = true,
	.describe = describe_modules,
};

/*
 * The two numbers say together what to do: a function that is expensive by
 * itself can be made faster, one that is expensive with its descendants can be
 * called less.
 */
static const struct list_view top_list = {
	.kind = { .schema = "cpprof.top/1", .has_columns = true,
	          .title = "Top Functions" },
	.collect = collect_bodies,
	.columns = top_columns,
	.orders_by_totals = true,
};

static const struct list_view flat_list = {
	.kind = { .schema = "cpprof.flat/1", .has_columns = true,
	          .title = "Flat Profile" },
	.collect = collect_bodies,
	.columns = flat_columns,
};

int
view_body(const struct view_request *request, struct table *table,
          struct error *error)
{
	return list_show(&body_list, request, NULL, table, error);
}

int
view_functions(const struct view_request *request, struct table *table,
               struct error *error)
{
	return list_show(&functions_list, request, NULL, table, error);
}

int
view_outermost(const struct view_request *request, struct table *table,
               struct error *error)
{
	return list_show(&outermost_list, request, NULL, table, error);
}

/* There are no hits at all, so none of other resources either. */
int
view_never(const struct view_request *request, struct table *table,
           struct error *error)
{
	struct view_request plain = *request;

	plain.lacks_columns = plain.n_shown > 0;
	plain.n_columns = plain.n_shown = 0;
	return list_show(&never_list, &plain, NULL, table, error);
}

int
view_top(const struct view_request *request, struct table *table,
         struct error *error)
{
	return list_show(&top_list, request, NULL, table, error);
}

int
view_modules(const struct view_request *request, struct table *table,
             struct error *error)
{
	return list_show(&modules_list, request, NULL, table, error);
}

int
view_flat(const struct view_request *request, struct table *table,
          struct error *error)
{
	return list_show(&flat_list, request, NULL, table, error);
}
