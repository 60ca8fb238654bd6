/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlining.c -- functions that vanished into their callers, or out of them.
 *
 * A compiler that inlines a function moves its own time to its callers.  If
 * debug information says so, views show the function as before, and nothing
 * has changed.  If not, it looks like this:
 *
 * 	own time of      base   now
 * 	mix               335     0
 * 	work, its caller  130   465
 *
 * So where a function has hits on one side alone, and the own hits of those
 * that call it there changed by as much the other way, it was probably inlined.
 */
#include "src/views/comparison/comparison.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"

enum { MOST_TOLD = 3 };

/* By how much what the callers have more may differ from what is missing. */
static const double UNLIKE = 1.0 / 3;

/* Own hits of some nodes, a run of each side, per unit of work. */
struct inlining_hits {
	double base, now;
};

static void
inlining_add_node(const struct view_request *request, uint32_t node,
                  struct inlining_hits *hits)
{
	const struct compared_runs *runs = request->compared;
	const size_t n = view_count_runs(request);
	double work[2] = { 0, 0 }, sums[2] = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		const struct sample_set *run = &request->columns[i];
		const int side = i >= runs->n_base;

		work[side] += runs->work == NULL ? 1 : runs->work[i];
		sums[side] += (double)run->self[sample_tree_row(
		    run->tree, node)];
	}
	hits->base += sums[0] / work[0];
	hits->now += sums[1] / work[1];
}

/* A function and those that call it directly. */
struct inlining {
	uint32_t function, caller;	/* caller: the last one that was found */
	size_t n_callers;
	struct inlining_hits own, of_callers;
};

static void
inlining_find(const struct view_request *request, struct inlining *found,
              bool *is_seen)
{
	const struct sample_tree *tree = request->set->tree;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		const uint32_t parent = sample_tree_parent(tree, n);

		if (tree->label[n] != found->function)
			continue;
		inlining_add_node(request, n, &found->own);
		if (parent == NO_NODE || is_seen[parent] ||
		    tree->label[parent] == found->function)
			continue;
		is_seen[parent] = true;
		inlining_add_node(request, parent, &found->of_callers);
		found->n_callers += found->n_callers == 0 ||
		    tree->label[parent] != found->caller;
		found->caller = tree->label[parent];
	}
	/* Only parents of these were marked. */
	for (uint32_t n = 0; n < tree->n_nodes; n++)
		if (tree->label[n] == found->function &&
		    sample_tree_parent(tree, n) != NO_NODE)
			is_seen[sample_tree_parent(tree, n)] = false;
}

static bool
inlining_is_likely(const struct inlining *found)
{
	const double own = found->own.now - found->own.base;
	const double callers = found->of_callers.now - found->of_callers.base;

	return found->n_callers > 0 &&
	    fabs(own + callers) <= UNLIKE * fabs(own) &&
	    fmin(found->own.base, found->own.now) == 0 && own != 0;
}

static int
inlining_tell(const struct view_request *request, const struct inlining *found,
              struct table *table, struct error *error)
{
	const bool is_now = found->own.now == 0;
	const char *function = view_name_text(request->set->names,
	                                      found->function, table, error);
	const char *caller = view_name_text(request->set->names, found->caller,
	                                    table, error);
	const double moved = fabs(found->of_callers.now -
	                          found->of_callers.base);
	struct text_buffer text = { 0 };
	int status = -1;

	if (function != NULL && caller != NULL) {
		text_add_format(&text, "%s was probably inlined %s: ",
		                function, is_now ? "now" : "in the base");
		if (found->n_callers > 1)
			text_add_string(&text, "its callers have ");
		else
			text_add_format(&text, "%s, its caller, has ", caller);
		text_add_hits(&text, request->set, (uint64_t)llround(moved));
		text_add_format(&text, " %s of %s own; after gcc -g, diff shows "
		                "inlined functions", is_now ? "more" : "less",
		                found->n_callers > 1 ? "their" : "its");
		status = text.failed ? error_out_of_memory(error) :
		    table_add_footer(table, error, "%s", text_string(&text));
	}
	text_free(&text);
	return status;
}

int
compared_add_inlining(const struct view_request *request,
                      const struct rows *rows,
                      const struct compared_rows *compared,
                      struct table *table, struct error *error)
{
	const struct sample_tree *tree = request->set->tree;
	size_t n_told = 0;
	bool *is_seen;

	if (rows->are_paths || tree == NULL || request->set->flow != NULL ||
	    request->set->rule->granularity != GRANULARITY_FUNCTION)
		return 0;
	is_seen = memory_array(tree->n_nodes, sizeof *is_seen, error);
	for (uint32_t i = 0; is_seen != NULL && i < rows->n &&
	     n_told < MOST_TOLD && !error->is_set; i++) {
		const uint32_t row = rows->order[i];
		const struct change *change = &compared->changes[row];
		struct inlining found = { .function = rows->items[row].name };

		if (compared->verdicts[row] < ROW_LIKELY ||
		    fmin(change->base, change->now) > 0)
			continue;
		inlining_find(request, &found, is_seen);
		if (!inlining_is_likely(&found))
			continue;
		n_told++;
		inlining_tell(request, &found, table, error);
	}
	free(is_seen);
	return error->is_set ? -1 : 0;
}
