/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain.c -- what dominates a profile, as findings by fixed rules.
 *
 * D is the denominator of percentages, and P the value of the hot path.
 *
 * outside	Stacks without the root hold OUTSIDE_SHARE of D: the functions in
 *		which they begin.  First if they hold half of what is left.
 * cut		Stacks whose outer frames are unknown hold OUTSIDE_SHARE of D.
 * hot path	From the root on, the callee with most hits as long as its path
 *		holds more than half of the path before and it does not call
 *		back into the path.  The value of each path is that in down.
 * end		Why that stops: more than half of P is the last function's body,
 *		or a callee that is on the path already, or there is no other
 *		callee; then the larger of the two.
 * split	Otherwise, the callees with most hits.
 * body		The bodies that used most; called flat if none has FLAT_SHARE of
 *		D.
 * recursion	Functions of SMALL_SHARE of D whose activations sum to more than
 *		the set of their stacks; those with the greatest difference.
 * callers	Of the first body, if two or more of them hold FLAT_SHARE each.
 * module	One that holds more than half of the hits of bodies.
 * total	Where a terminal has room left: the functions that used most with
 *		all that they call.
 *
 * Before these comes what belongs to the resource: topics.c.  If there is a
 * base, the heading says what changed since, as diff functions does.
 *
 * Findings end where the screen is full.  On a terminal, what is left of the
 * screen goes to more rows of the findings, in turn, of SMALL_SHARE of D each.
 * The standard error of a share s is sqrt(phi s (1 - s) / D), phi = hits /
 * samples of what the steps left, at least 1: each sample is a cluster of phi
 * hits.  Hits that no sampler is known to have counted have no error.  That of
 * a merged profile comes from its groups (view.h), for which the hits of a row
 * are counted anew in each.  Cost: that of down, and some passes over the
 * nodes; with groups, one more for each row.
 */
#include "src/views/advice/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/views/comparison/comparison.h"
#include "src/views/lists/lists.h"
#include "src/views/paths/paths.h"
#include "src/views/rows/rows.h"

static const double FLAT_SHARE = 0.1, OUTSIDE_SHARE = 0.05,
    SMALL_SHARE = 0.01;

enum {
	FEW_SAMPLES = 100,
	MOST_ROWS = 3,		/* of a finding, and on a terminal that has */
	MORE_ROWS = 12,		/* room, so many more */
	MOST_FINDINGS = 10,
	ROOM_FOR_TOTALS = 4,	/* lines */
	MOST_CHANGES = 4,	/* functions that changed since the base */
	SCREEN_LINES = 23,	/* where no terminal says it; one more is for
				 * the prompt */
	OTHER_LINES = 3 + LEADS_SHOWN,	/* headings, rules, leads */
};

static const struct view_kind explain_kind = {
	.schema = "cpprof.explain/1",
	.title = "Explanation",
	.has_root = true,
};

/* A name and its hits, to be ranked. */
struct explain_candidate {
	uint64_t hits;
	uint32_t name;
	double activations;	/* 0: not counted */
	bool is_estimated;
	enum counted counted;
	bool has_deviation;
	double deviation;	/* the standard error of its share */
};

/* The largest candidates met so far, in order. */
struct ranking {
	struct explain_candidate best[MOST_ROWS + MORE_ROWS];
	double key[MOST_ROWS + MORE_ROWS];
	size_t n;
	size_t n_met;
};

struct explanation {
	const struct view_request *request;
	const struct view_request *compared;	/* see struct explain_request */
	const char *not_compared;
	const struct sample_set *set;
	const uint64_t *module_hits;	/* see struct explain_request */
	const struct group_hits *module_groups;
	struct group_noise noise;	/* groups is NULL: none are known */
	uint64_t n_samples;		/* raw samples that the steps left */
	struct measure measure;
	struct table *table;

	size_t lines_left, words_left;
	bool is_full;		/* a row did not fit; no more follow */
	bool wants_more;	/* rows than most, for room that is left */
	size_t n_rows[MOST_FINDINGS], n_more[MOST_FINDINGS];	/* of each
				 * finding, and of these how many are more */
	const char **lines;	/* [MOST_FINDINGS], those of groups */
	size_t n_findings;
	const char *kind, *text;	/* of the current finding */
	bool has_begun;			/* it has a row */
	uint64_t n_left_out;

	uint32_t *hot;		/* [n_hot] names, in the table's arena */
	size_t n_hot;
	uint64_t hot_hits;
	uint32_t main_body;	/* the body that used most; NO_NAME: none */
	struct topic topics[TOPICS_MAX];
	size_t n_topics;
	uint32_t main_start;	/* where most stacks without the root begin, if
				 * these are the most; else NO_NAME */
};

/* ---- ranking ---- */

static void
explain_rank(struct ranking *ranking, const struct names *names, double key,
             struct explain_candidate candidate)
{
	size_t at = ranking->n;

	ranking->n_met++;
	while (at > 0 && (ranking->key[at - 1] < key ||
	    (ranking->key[at - 1] == key &&
	     names_compare(names, ranking->best[at - 1].name,
	                   candidate.name) > 0)))
		at--;
	if (at == MOST_ROWS + MORE_ROWS)
		return;
	if (ranking->n < MOST_ROWS + MORE_ROWS)
		ranking->n++;
	for (size_t i = ranking->n - 1; i > at; i--) {
		ranking->best[i] = ranking->best[i - 1];
		ranking->key[i] = ranking->key[i - 1];
	}
	ranking->best[at] = candidate;
	ranking->key[at] = key;
}

/* ---- rows ---- */

static double
share(const struct explanation *explanation, uint64_t hits)
{
	return measure_fraction(&explanation->measure, hits);
}

/* Of threads, one may have many hits a sample and another one each. */
static uint64_t
count_samples_left(const struct sample_set *set)
{
	const struct sample_tree *tree = set->tree;

	if (set->n_steps == 0 || tree == NULL)
		return set->n_samples;
	return tree->samples[set->resource_number] == NULL ? set->left :
	    sample_tree_total(tree, tree->samples[set->resource_number]);
}

static double
hits_per_sample(const struct explanation *explanation)
{
	const struct sample_set *set = explanation->set;
	const uint64_t hits = set->n_steps == 0 ? set->total : set->left;

	return explanation->n_samples == 0 ? 1 :
	    (double)hits / (double)explanation->n_samples;
}

/* By the samples; see the file's comment. */
static double
explain_sampling_error(const struct explanation *explanation, double s)
{
	const struct sample_set *set = explanation->set;
	double variance;

	if (explanation->measure.denominator == 0)
		return 0;
	/* Whatever was measured: a row may be of drawn samples only. */
	variance = part_phi((struct sampled){ 0 }, sampled_of(set->resource,
	    set->n_steps == 0 ? set->total : set->left,
	    explanation->n_samples)) * s * (1 - s) /
	    (double)explanation->measure.denominator;
	return sqrt(fmax(variance, 0));
}

/* Whether rows have errors. */
static bool
explain_has_errors(const struct explanation *explanation)
{
	return explanation->measure.denominator > 0 &&
	    noise_is_known(explanation->request);
}

/* Begins a finding, which is shown with its first row.  text: one line. */
static int
begin_finding(struct explanation *explanation, const char *kind,
              const char *text)
{
	explanation->kind = kind;
	explanation->text = text;
	explanation->has_begun = false;
	return text == NULL ? -1 : 0;
}

/* Whether the current finding has room for a row of so many words. */
static bool
take_room(struct explanation *explanation, size_t n_words)
{
	size_t n_lines = 1;

	if (!explanation->has_begun) {
		n_lines++;
		n_words += text_count_words(explanation->text,
		                       strlen(explanation->text));
	}
	if (explanation->is_full || explanation->lines_left < n_lines ||
	    explanation->words_left < n_words) {
		explanation->is_full = true;
		explanation->n_left_out++;
		return false;
	}
	explanation->lines_left -= n_lines;
	explanation->words_left -= n_words;
	return true;
}

/*
 * The standard error of a row's share s, as a cell: nothing without errors, and
 * unknown where the groups do not show it.
 */
static int
make_error(const struct explanation *explanation, const uint32_t *path,
           size_t n, const struct explain_candidate *what, double s,
           struct cell *cell, struct error *error)
{
	const struct group_hits *found = explanation->module_groups;
	struct group_hits hits;
	double deviation;

	*cell = (struct cell){ .kind = CELL_EMPTY };
	if (!explain_has_errors(explanation))
		return 0;
	if (what->has_deviation) {
		*cell = cell_percent(what->deviation);
		return 0;
	}
	if (explanation->noise.groups == NULL) {
		*cell = cell_percent(explain_sampling_error(explanation, s));
		return 0;
	}
	if (what->counted == COUNTED_OWN) {
		path = explanation->hot;
		n = explanation->n_hot;
	}
	if (what->counted != COUNTED_MODULE) {
		if (counted_in_groups(&explanation->noise, what->counted, path,
		                      n, explanation->request->root, &hits,
		                      error) != 0)
			return -1;
		found = &hits;
	}
	deviation = found == NULL ? NAN :
	    group_share_error(&explanation->noise, found->hits);
	*cell = isnan(deviation) ? cell_unknown() : cell_percent(deviation);
	return 0;
}

/* Adds the row, for which there is room, or which may be left out again. */
static int
explain_put_row(struct explanation *explanation, const uint32_t *path, size_t n,
                const struct explain_candidate *what, struct error *error)
{
	const struct names *names = explanation->set->names;
	double s = share(explanation, what->hits);
	struct cell cells[TABLE_MAX_COLUMNS];

	if (!explanation->has_begun)
		explanation->lines[explanation->n_findings++] =
		    explanation->text;
	explanation->has_begun = true;
	explanation->n_rows[explanation->n_findings - 1]++;
	cells[0] = cell_count(explanation->n_findings);
	cells[1] = cell_text(explanation->kind);
	cells[2] = cell_text(explanation->text);
	cells[3] = what->activations == 0 ?
	    (struct cell){ .kind = CELL_EMPTY } :
	    cell_fraction(what->activations);
	cells[4] = cell_hits(what->hits);
	cells[5] = cell_percent(s);
	if (explanation->set->flow != NULL)
		cells[6] = cell_flag(what->is_estimated);
	else if (make_error(explanation, path, n, what, s, &cells[6],
	                    error) != 0)
		return -1;
	cells[7] = table_path(explanation->table, names, path, n, error);
	if (error->is_set)
		return -1;
	return table_add_row(explanation->table, cells, error);
}

/* Adds a row about a path of n >= 1 names; nothing if there is no room. */
static int
explain_add_row(struct explanation *explanation, const uint32_t *path, size_t n,
                const struct explain_candidate *what, struct error *error)
{
	const struct names *names = explanation->set->names;
	size_t n_words = 3;

	for (size_t i = 0; i < n; i++)
		n_words += text_count_words(names_text(names, path[i]),
		                       names_length(names, path[i]));
	return take_room(explanation, n_words) ?
	       explain_put_row(explanation, path, n, what, error) : 0;
}

/*
 * Adds row i of a ranking, of which findings have at most `most` rows, and more
 * where the screen has room in the end.
 */
static int
explain_add_ranked_row(struct explanation *explanation, size_t i, size_t most,
                       const uint32_t *path, size_t n,
                       const struct explain_candidate *what,
                       struct error *error)
{
	if (i < most)
		return explain_add_row(explanation, path, n, what, error);
	if (!explanation->wants_more || explanation->is_full ||
	    share(explanation, what->hits) < SMALL_SHARE)
		return 0;
	explanation->n_more[explanation->n_findings - 1]++;
	return explain_put_row(explanation, path, n, what, error);
}

static int
add_ranked(struct explanation *explanation, const struct ranking *ranking,
           size_t most, struct error *error)
{
	for (size_t i = 0; i < ranking->n; i++)
		if (explain_add_ranked_row(explanation, i, most,
		                           &ranking->best[i].name, 1,
		                           &ranking->best[i], error) != 0)
			return -1;
	return 0;
}

/* Keeps as many of the additional rows as there is room for, in turn. */
static void
explain_fill_screen(struct explanation *explanation)
{
	struct table *table = explanation->table;
	const size_t n_columns = table->n_columns;
	size_t kept[MOST_FINDINGS] = { 0 }, from = 0, to = 0;
	bool has_changed = true;

	while (has_changed && explanation->lines_left > 0) {
		has_changed = false;
		for (size_t i = 0; i < explanation->n_findings &&
		     explanation->lines_left > 0; i++) {
			if (kept[i] == explanation->n_more[i])
				continue;
			kept[i]++;
			explanation->lines_left--;
			has_changed = true;
		}
	}
	for (size_t i = 0; i < explanation->n_findings; i++) {
		const size_t n = explanation->n_rows[i] -
		    explanation->n_more[i] + kept[i];

		memmove(table->cells + to * n_columns,
		        table->cells + from * n_columns,
		        n * n_columns * sizeof *table->cells);
		from += explanation->n_rows[i];
		to += n;
	}
	table->n_rows = to;
}

/* ---- the hot path ---- */

/* Downward paths as lists of children. */
struct explain_children {
	uint32_t *first, *next;		/* [rows.n], NO_RECORD: none */
	bool *is_on_path;		/* [names] */
};

static int
list_children(struct explain_children *children, const struct rows *rows,
              const struct names *names, struct error *error)
{
	children->first = memory_array(rows->n, sizeof *children->first,
	                               error);
	children->next = memory_array(rows->n, sizeof *children->next, error);
	children->is_on_path = memory_array(names_count(names),
	                                    sizeof *children->is_on_path,
	                                    error);
	if (children->first == NULL || children->next == NULL ||
	    children->is_on_path == NULL)
		return -1;
	for (uint32_t i = 0; i < rows->n; i++)
		children->first[i] = NO_RECORD;
	for (uint32_t i = rows->n; i-- > 0;) {
		uint32_t parent = rows->items[i].parent;

		if (parent == NO_RECORD)
			continue;
		children->next[i] = children->first[parent];
		children->first[parent] = i;
	}
	return 0;
}

/*
 * The callees of a path; the one with most hits goes to *largest.  *back: of
 * those that are on the path already, the one with most hits.
 */
static void
rank_callees(const struct rows *rows, const struct explain_children *children,
             const struct names *names, uint32_t row,
             struct ranking *ranking, uint32_t *largest,
             struct explain_candidate *back)
{
	*ranking = (struct ranking){ 0 };
	*largest = NO_RECORD;
	*back = (struct explain_candidate){ 0 };
	for (uint32_t child = children->first[row]; child != NO_RECORD;
	     child = children->next[child]) {
		uint32_t name = rows->items[child].name;
		uint64_t hits = rows->items[child].hits;
		struct explain_candidate found = { .hits = hits, .name = name,
			.is_estimated = rows->items[child].is_estimated };

		if (children->is_on_path[name]) {
			if (back->hits < hits || (back->hits == hits &&
			    names_compare(names, back->name, name) > 0))
				*back = found;
			continue;
		}
		explain_rank(ranking, names, (double)hits, found);
		if (ranking->best[0].name == name)
			*largest = child;
	}
}

static bool
is_most(uint64_t hits, uint64_t of)
{
	return hits > of / 2 && of > 0;
}

/* Adds row i for the hot path extended by a name. */
static int
add_callee(struct explanation *explanation, size_t i,
           const struct explain_candidate *callee, struct error *error)
{
	size_t n = explanation->n_hot;

	explanation->hot[n] = callee->name;
	return explain_add_ranked_row(explanation, i, MOST_ROWS,
	                              explanation->hot, n + 1, callee, error);
}

static int
show_split(struct explanation *explanation, const struct ranking *callees,
           uint64_t own, const char *where, struct error *error)
{
	double all = (double)explanation->hot_hits;
	double largest = 100 * (double)callees->best[0].hits / all;
	struct table *table = explanation->table;

	/* A flow does not know what a path's last function used itself. */
	if (begin_finding(explanation, "split",
	        explanation->set->flow != NULL ?
	        table_text(table, error, "%s splits there: the largest of %zu "
	            "callees holds %.0f%% of it", where, callees->n_met,
	            largest) :
	        table_text(table, error, "%s splits there: own body %.0f%% of "
	            "it, largest of %zu callees %.0f%%", where,
	            100 * (double)own / all, callees->n_met, largest)) != 0)
		return -1;
	for (size_t i = 0; i < callees->n; i++)
		if (add_callee(explanation, i, &callees->best[i], error) != 0)
			return -1;
	return 0;
}

/*
 * Why the hot path stops.  own: the hits of its last function's own body; back:
 * the callee with most hits that is on the path already.
 */
static int
show_stop(struct explanation *explanation, const struct ranking *callees,
          uint64_t own, const struct explain_candidate *back,
          struct error *error)
{
	const char *where = explanation->n_hot == 1 ? "The root" : "The path";
	uint64_t hits = explanation->hot_hits;
	struct explain_candidate body = { .hits = own, .counted = COUNTED_OWN };
	bool is_last = callees->n == 0, is_body;

	is_body = is_most(own, hits) || (is_last && own >= back->hits);
	if (!is_body && !is_most(back->hits, hits) && !is_last)
		return show_split(explanation, callees, own, where, error);
	if (is_body && own == 0)
		return 0;
	if (begin_finding(explanation, "end", table_text(explanation->table,
	        error, is_body ? "%s ends there: %.0f%% of it is the last "
	        "function's own body" : "%s ends there: %.0f%% of it calls "
	        "back into the path", where, 100 *
	        (double)(is_body ? own : back->hits) / (double)hits)) != 0)
		return -1;
	if (!is_body)
		return add_callee(explanation, 0, back, error);
	return explain_add_row(explanation,
	                       &explanation->hot[explanation->n_hot - 1], 1,
	                       &body, error);
}

static int
follow_hot_path(struct explanation *explanation, const struct rows *rows,
                struct explain_children *children, struct error *error)
{
	const struct names *names = explanation->set->names;
	struct ranking callees;
	uint32_t row = 0, callee;
	struct explain_candidate back, end;
	size_t n = 0;

	while (row < rows->n && rows->items[row].parent != NO_RECORD)
		row++;
	if (row == rows->n)
		return 0;
	for (;;) {
		n++;
		children->is_on_path[rows->items[row].name] = true;
		rank_callees(rows, children, names, row, &callees, &callee,
		             &back);
		if (callee == NO_RECORD ||
		    !is_most(rows->items[callee].hits, rows->items[row].hits))
			break;
		row = callee;
	}
	explanation->n_hot = n;
	/* One more, for the callees where it splits. */
	explanation->hot = arena_alloc(&explanation->table->arena,
	    (n + 1) * sizeof *explanation->hot, error);
	if (explanation->hot == NULL)
		return -1;
	for (uint32_t at = row; at != NO_RECORD; at = rows->items[at].parent)
		explanation->hot[--n] = rows->items[at].name;
	explanation->hot_hits = rows->items[row].hits;
	end = (struct explain_candidate){ .hits = explanation->hot_hits,
		.is_estimated = rows->items[row].is_estimated };
	if (begin_finding(explanation, "hot path", explanation->n_hot == 1 ?
	        "No hot path: no callee holds most of the root" :
	        "Hot path: at each step, one callee holds most") != 0 ||
	    explain_add_row(explanation, explanation->hot, explanation->n_hot,
	                    &end, error) != 0)
		return -1;
	return show_stop(explanation, &callees, rows->disjoint == NULL ?
	                 0 : rows->disjoint[row].own, &back, error);
}

static int
find_hot_path(struct explanation *explanation, struct error *error)
{
	struct view_request request = *explanation->request;
	struct measure measure = explanation->measure;
	struct explain_children children = { 0 };
	struct hidden hidden = { 0 };
	struct rows rows = { 0 };
	int status;

	request.depth = SIZE_MAX;
	request.n_columns = 0;
	measure.least = measure_least(SMALL_SHARE, measure_function(
	    request.set, request.root));
	if (measure.least == 0)
		measure.least = 1;
	status = request.set->flow != NULL ?
	    flow_paths_down(&rows, &request, &measure, &hidden, error) :
	    rows_down(&rows, &request, &measure, true, NULL, error);
	if (status == 0)
		status = list_children(&children, &rows, request.set->names,
		                       error);
	if (status == 0)
		status = follow_hot_path(explanation, &rows, &children, error);
	free(children.first);
	free(children.next);
	free(children.is_on_path);
	rows_free(&rows);
	return status;
}

/* ---- bodies, recursion, modules ---- */

static int
show_bodies(struct explanation *explanation,
            const struct function_total *totals, uint32_t n,
            struct error *error)
{
	struct ranking bodies = { 0 };
	bool is_flat;

	for (uint32_t i = 0; i < n; i++)
		if (totals[i].self > 0)
			explain_rank(&bodies, explanation->set->names,
			             (double)totals[i].self,
			             (struct explain_candidate){
					 .hits = totals[i].self,
					 .name = totals[i].name,
					 .counted = COUNTED_BODY });
	if (bodies.n == 0)
		return 0;
	is_flat = share(explanation, bodies.best[0].hits) < FLAT_SHARE;
	explanation->main_body = bodies.best[0].name;
	if (begin_finding(explanation, is_flat ? "flat" : "body", is_flat ?
	        table_text(explanation->table, error, "Flat: of the %zu "
	            "functions with hits of their own, none has %.0f%%",
	            bodies.n_met, 100 * FLAT_SHARE) :
	        table_text(explanation->table, error, "The bodies that used "
	            "most, of %zu with hits", bodies.n_met)) != 0)
		return -1;
	return add_ranked(explanation, &bodies, is_flat ? MOST_ROWS : 2,
	                  error);
}

static int
show_recursion(struct explanation *explanation,
               const struct function_total *totals, uint32_t n,
               struct error *error)
{
	const struct sample_set *set = explanation->set;
	const struct sample_tree *tree = set->tree;
	/* [names] the hits of all activations, however nested. */
	double *activations = memory_array(names_count(set->names),
	                                   sizeof *activations, error);
	struct ranking ranking = { 0 };

	if (activations == NULL)
		return -1;
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		activations[tree->label[node]] +=
		    (double)sample_set_weight(set, node);
	for (uint32_t i = 0; i < n; i++) {
		double stacks = (double)totals[i].inclusive;
		double sum = activations[totals[i].name];

		if (share(explanation, totals[i].inclusive) >= SMALL_SHARE &&
		    sum > stacks)
			explain_rank(&ranking, explanation->set->names,
			             sum - stacks,
			             (struct explain_candidate){
					 .hits = totals[i].inclusive,
					 .name = totals[i].name,
					 .activations = sum / stacks });
	}
	free(activations);
	if (ranking.n == 0)
		return 0;
	if (begin_finding(explanation, "recursion",
	        table_text(explanation->table, error, "Recursion: %zu "
	            "function%s re-enter%s; %s on its stacks %.1f times",
	            ranking.n_met, ranking.n_met == 1 ? "" : "s",
	            ranking.n_met == 1 ? "s" : "", ranking.n_met == 1 ? "it is" :
	            "the first is", ranking.best[0].activations)) != 0)
		return -1;
	return add_ranked(explanation, &ranking, 2, error);
}

/* The hits of calls of the main body by each function, each stack once. */
static int
show_callers(struct explanation *explanation, struct error *error)
{
	const struct sample_set *set = explanation->set;
	const struct sample_tree *tree = set->tree;
	uint32_t n_names = names_count(set->names), n_large = 0;
	uint32_t function = explanation->main_body;
	struct {
		uint64_t hits;
		uint32_t until;
	} *calls = memory_array(n_names, sizeof *calls, error);
	struct ranking ranking = { 0 };

	if (calls == NULL)
		return -1;
	for (uint32_t node = measure_next_node(tree, 0, function);
	     node < tree->n_nodes;
	     node = measure_next_node(tree, node + 1, function)) {
		uint32_t parent = sample_tree_parent(tree, node), caller;

		if (parent == NO_NODE)
			continue;
		caller = tree->label[parent];
		/* A stack counts once for a caller, however often it calls. */
		if (node < calls[caller].until)
			continue;
		calls[caller].until = sample_tree_end(tree, node);
		calls[caller].hits += sample_set_weight(set, node);
	}
	for (uint32_t i = 0; i < n_names; i++) {
		if (calls[i].hits == 0)
			continue;
		n_large += share(explanation, calls[i].hits) >= FLAT_SHARE;
		explain_rank(&ranking, set->names, (double)calls[i].hits,
		             (struct explain_candidate){ .hits = calls[i].hits,
		                                 .name = i });
	}
	free(calls);
	if (n_large < 2)
		return 0;
	if (begin_finding(explanation, "callers",
	        table_text(explanation->table, error, "The body that "
	            "used most has %zu callers", ranking.n_met)) != 0)
		return -1;
	for (size_t i = 0; i < ranking.n; i++) {
		const uint32_t path[] = { ranking.best[i].name, function };

		if (explain_add_ranked_row(explanation, i, MOST_ROWS, path, 2,
		                           &ranking.best[i], error) != 0)
			return -1;
	}
	return 0;
}

static int
show_module(struct explanation *explanation, struct error *error)
{
	const uint64_t *hits = explanation->module_hits;
	const struct names *names = explanation->set->names;
	struct ranking ranking = { 0 };

	for (uint32_t i = 0; hits != NULL && i < names_count(names); i++)
		if (hits[i] > 0)
			explain_rank(&ranking, names, (double)hits[i],
			             (struct explain_candidate){
					 .hits = hits[i],
					 .name = i,
					 .counted = COUNTED_MODULE });
	if (ranking.n < 2 || !is_most(ranking.best[0].hits,
	                              explanation->set->left))
		return 0;
	if (begin_finding(explanation, "module",
	        table_text(explanation->table, error, "One of %zu modules has "
	            "most hits of bodies", ranking.n_met)) != 0)
		return -1;
	return add_ranked(explanation, &ranking, 1, error);
}

/* Functions by what they used with their callees; others are bodies above. */
static int
show_totals(struct explanation *explanation,
            const struct function_total *totals, uint32_t n,
            struct error *error)
{
	struct ranking ranking = { 0 };

	for (uint32_t i = 0; i < n; i++)
		if (totals[i].inclusive > totals[i].self)
			explain_rank(&ranking, explanation->set->names,
			             (double)totals[i].inclusive,
			             (struct explain_candidate){
					 .hits = totals[i].inclusive,
					 .name = totals[i].name });
	if (ranking.n < 2)
		return 0;
	if (begin_finding(explanation, "total", "The functions that used most, "
	                  "with what they call") != 0)
		return -1;
	return add_ranked(explanation, &ranking, 2, error);
}

/* ---- stacks without the root ---- */

struct outside {
	uint64_t hits;		/* of stacks without the root */
	uint64_t cut;		/* of stacks whose outer frames are unknown */
	uint32_t cut_name;
	struct ranking starts;
};

static int
measure_outside(const struct explanation *explanation,
                struct outside *outside, struct error *error)
{
	const struct sample_set *set = explanation->set;
	const struct sample_tree *tree = set->tree;
	uint32_t root = explanation->request->root;
	uint32_t n_names = names_count(set->names);
	uint32_t node = measure_next_node(tree, 0, root);
	uint64_t *hits = memory_array(n_names, sizeof *hits, error);

	if (hits == NULL)
		return -1;
	for (uint32_t top = 0; top < tree->n_nodes; top = sample_tree_end(tree,
	    top)) {
		uint32_t name = tree->label[top];
		uint64_t without;

		if (counted_is_cut_mark(set->names, name)) {
			outside->cut += sample_set_weight(set, top);
			outside->cut_name = name;
		}
		without = counted_without_root(set, root, top, &node);
		outside->hits += without;
		hits[name] += without;
	}
	for (uint32_t i = 0; i < n_names; i++)
		if (hits[i] > 0)
			explain_rank(&outside->starts, set->names,
			             (double)hits[i],
			             (struct explain_candidate){
					 .hits = hits[i],
					 .name = i,
					 .counted = COUNTED_STARTS });
	free(hits);
	return 0;
}

static int
show_outside(struct explanation *explanation, const struct outside *outside,
             struct error *error)
{
	size_t n = outside->starts.n_met;

	if (begin_finding(explanation, "outside",
	        table_text(explanation->table, error, "The root is not on the "
	            "stacks of %.0f%%, which begin in %zu function%s",
	            100 * share(explanation, outside->hits), n,
	            n == 1 ? "" : "s")) != 0)
		return -1;
	return add_ranked(explanation, &outside->starts, 2, error);
}

static int
show_cut(struct explanation *explanation, const struct outside *outside,
         struct error *error)
{
	struct explain_candidate cut = { .hits = outside->cut,
		.counted = COUNTED_CUT };

	if (begin_finding(explanation, "cut", "Stacks that were not walked to "
	                  "their outer ends") != 0)
		return -1;
	return explain_add_row(explanation, &outside->cut_name, 1, &cut, error);
}

/* ---- what belongs to the resource ---- */

static int
show_topics(struct explanation *explanation, struct error *error)
{
	if (topics_find(explanation->request, explanation->measure.denominator,
	                explanation->topics, &explanation->n_topics,
	                explanation->table, error) != 0)
		return -1;
	for (size_t i = 0; i < explanation->n_topics; i++) {
		const struct topic *topic = &explanation->topics[i];
		const struct explain_candidate what = {
			.hits = topic->hits,
			.counted = COUNTED_PATH,
			.has_deviation = topic->has_deviation,
			.deviation = topic->deviation,
		};

		if (begin_finding(explanation, topic->kind, topic->text) != 0 ||
		    explain_add_row(explanation, &topic->function, 1, &what,
		                    error) != 0)
			return -1;
	}
	return 0;
}

/* ---- all ---- */

static int
explain_find_all(struct explanation *explanation, struct error *error)
{
	bool has_stacks = explanation->set->flow == NULL, is_first;
	struct outside outside = { 0 };
	struct function_total *totals;
	uint32_t n;
	int status = -1;

	if ((has_stacks &&
	     measure_outside(explanation, &outside, error) != 0) ||
	    show_topics(explanation, error) != 0)
		return -1;
	is_first = is_most(outside.hits, explanation->set->left);
	if (is_first)
		explanation->main_start = outside.starts.best[0].name;
	if ((is_first && show_outside(explanation, &outside, error) != 0) ||
	    (share(explanation, outside.cut) >= OUTSIDE_SHARE &&
	     show_cut(explanation, &outside, error) != 0) ||
	    find_hot_path(explanation, error) != 0)
		return -1;
	totals = function_totals(explanation->set, &n, error);
	if (totals == NULL)
		return -1;
	if (show_bodies(explanation, totals, n, error) == 0 &&
	    (!has_stacks ||
	     show_recursion(explanation, totals, n, error) == 0) &&
	    (!has_stacks || explanation->main_body == NO_NAME ||
	     show_callers(explanation, error) == 0) &&
	    show_module(explanation, error) == 0)
		status = 0;
	if (status == 0 && !is_first &&
	    share(explanation, outside.hits) >= OUTSIDE_SHARE)
		status = show_outside(explanation, &outside, error);
	if (status == 0 && explanation->wants_more && has_stacks &&
	    explanation->lines_left >= ROOM_FOR_TOTALS)
		status = show_totals(explanation, totals, n, error);
	free(totals);
	return status;
}

/* ---- what to look at next ---- */

static void
add_lead(struct leads *leads, enum lead_kind kind, uint32_t function)
{
	leads->leads[leads->n++] = (struct lead){ .kind = kind,
		.function = function };
}

/* Whether a profile of calls has lines, which its costs have. */
static bool
has_cost_lines(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_locations; i++)
		if (profile->locations[i].line > 0)
			return true;
	return profile->n_modules > 0;
}

/* Whether lines of a frame are to be had: list reads the large files, too. */
static bool
may_have_lines(const struct profile *profile, const struct frame *frame,
               const struct location *location)
{
	return location->line > 0 ||
	    (frame->is_deferred && frame->module != NO_MODULE &&
	     profile->modules[frame->module].deferred_bytes > 0);
}

/*
 * Where the code of a function can be seen: its lines, or if there is no debug
 * information its instructions.  A name that is no function's, such as a
 * group's, has neither.
 */
static void
add_code_lead(struct leads *leads, const struct profile *profile,
              uint32_t function)
{
	bool has_lines = profile != NULL && profile->graph != NULL &&
	    has_cost_lines(profile);
	bool has_address = false;

	for (uint32_t i = 0; profile != NULL && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; k < frame->n_locations; k++) {
			const struct location *location = &profile->locations[
			    frame->first_location + k];

			if (location->function != function)
				continue;
			has_lines |= may_have_lines(profile, frame, location);
			has_address |= k == 0 && frame->module != NO_MODULE;
		}
	}
	if (has_lines || has_address)
		add_lead(leads, has_lines ? LEAD_LINES : LEAD_INSTRUCTIONS,
		         function);
}

static void
find_leads(const struct explanation *explanation, struct leads *leads)
{
	const struct sample_set *set = explanation->set;
	uint32_t body = explanation->main_body;
	size_t n = explanation->n_hot;

	leads->n = 0;
	leads->words_left = explanation->words_left;
	if (explanation->compared != NULL)
		leads->leads[leads->n++] = (struct lead){
			.kind = LEAD_COMMAND,
			.function = NO_NAME,
			.command = "diff functions",
		};
	for (size_t i = 0; i < explanation->n_topics; i++)
		for (size_t k = 0; k < 2; k++)
			if (explanation->topics[i].commands[k] != NULL)
				leads->leads[leads->n++] = (struct lead){
					.kind = LEAD_COMMAND,
					.function = NO_NAME,
					.command = explanation->topics[i].
					    commands[k],
				};
	if (explanation->main_start != NO_NAME)
		add_lead(leads, LEAD_DOWN, explanation->main_start);
	if (n > 1 && set->flow == NULL &&
	    explanation->hot_hits < set->left) {
		add_lead(leads, n == 2 ? LEAD_CALL : LEAD_PATH,
		         explanation->hot[n - 1]);
		leads->leads[leads->n - 1].from = explanation->request->root;
	} else if (n > 0) {
		add_lead(leads, LEAD_DOWN, explanation->hot[n - 1]);
	}
	if (body != NO_NAME) {
		add_lead(leads, LEAD_UP, body);
		add_code_lead(leads, set->profile, body);
	}
	add_lead(leads, LEAD_TOP, NO_NAME);
}

/* ---- what changed since the base ---- */

/* The cell of a row in the column with the key, which the table has. */
static const struct cell *
explain_find_cell(const struct table *table, const struct cell *cells,
                  const char *key)
{
	size_t i = 0;

	while (strcmp(table->columns[i].key, key) != 0)
		i++;
	return &cells[i];
}

/* A line of the heading; nothing if there are no words left for it. */
static int
explain_add_header(struct explanation *explanation, const char *line,
                   bool *is_added, struct error *error)
{
	const size_t n_words = line == NULL ? 0 :
	    text_count_words(line, strlen(line));

	*is_added = n_words <= explanation->words_left;
	if (line == NULL)
		return -1;
	if (!*is_added)
		return 0;
	explanation->words_left -= n_words;
	return table_add_header(explanation->table, error, "%s", line);
}

/* "+180 ms (+17.6%) +- 30 ms, likely: parse" */
static int
explain_add_change(struct explanation *explanation,
                   const struct table *changes, const struct cell *cells,
                   struct error *error)
{
	const struct resource *resource = explanation->set->resource;
	const struct cell *change = explain_find_cell(changes, cells,
	                                              "change");
	const struct cell *part = explain_find_cell(changes, cells,
	                                            "change_fraction");
	const struct cell *half = explain_find_cell(changes, cells, "half");
	const struct cell *path = explain_find_cell(changes, cells, "path");
	const struct names *names = path->path.paths->names;
	const uint32_t name = path->path.record;
	struct call_paths *paths = arena_alloc(&explanation->table->arena,
	                                       sizeof *paths, error);
	struct text_buffer text = { 0 };
	bool is_added = false;
	size_t begin;
	int status;

	if (paths == NULL)
		return -1;
	paths->names = names;

	text_add_string(&text, change->amount > 0 ? "  +" : "  ");
	text_add_amount(&text, change->amount, resource->interval,
	                resource->gtick);
	if (part->kind == CELL_PERCENT) {
		text_add_string(&text, part->fraction < 0 ? " (" : " (+");
		text_add_decimal(&text, 100 * part->fraction, 1);
		text_add_string(&text, "%)");
	}
	if (half->kind == CELL_AMOUNT) {
		text_add_string(&text, " +- ");
		text_add_amount(&text, half->amount, resource->interval,
		                resource->gtick);
	}
	text_add_format(&text, ", %s: ",
	                explain_find_cell(changes, cells, "verdict")->text);
	begin = text.length;
	text_add_string(&text, names_text(names, name));
	status = text.failed ? error_out_of_memory(error) :
	    explain_add_header(explanation, text_string(&text), &is_added,
	                       error);
	if (status == 0 && is_added) {
		table_mark_header_name(explanation->table, begin,
		                       names_length(names, name),
		                       cell_name(paths, name));
		status = table_add_field(explanation->table, "changed[]", NULL,
		                         cell_name(paths, name), error);
	}
	text_free(&text);
	return status;
}

/* The functions that changed most, in the order of diff functions. */
static int
explain_add_changes(struct explanation *explanation,
                    const struct table *changes, struct error *error)
{
	size_t n_changed = 0, n_undecided = 0;
	bool is_added = true;

	for (size_t i = 0; i < changes->n_rows; i++) {
		struct cell cells[TABLE_MAX_COLUMNS];
		const char *verdict;

		table_get_row(changes, i, cells);
		verdict = explain_find_cell(changes, cells, "verdict")->text;
		n_undecided += strcmp(verdict, "undecided") == 0;
		if (strcmp(verdict, "grew") != 0 &&
		    strcmp(verdict, "shrank") != 0 &&
		    strcmp(verdict, "likely") != 0)
			continue;
		if (n_changed++ == 0 && explain_add_header(explanation,
		    "functions that changed most (+-: 95% interval):",
		    &is_added, error) != 0)
			return -1;
		if (is_added && n_changed <= MOST_CHANGES &&
		    explain_add_change(explanation, changes, cells,
		                       error) != 0)
			return -1;
	}
	return n_changed > 0 ? 0 : explain_add_header(explanation,
	    n_undecided > 0 ? "no function surely changed" :
	    "no function changed by more than noise", &is_added, error);
}

/*
 * The base beside the loaded runs, what the whole changed by, and the functions
 * that changed most: all by diff functions, whose table says it.
 */
static int
explain_describe_changes(struct explanation *explanation, struct error *error)
{
	static const struct {
		const char *key, *own;
	} copied[] = {
		{ "base.mean", "comparison.base" },
		{ "now.mean", "comparison.now" },
		{ "whole.change", "comparison.change" },
		{ "whole.low", "comparison.low" },
		{ "whole.high", "comparison.high" },
		{ "whole.verdict", "comparison.verdict" },
	};
	struct table *table = explanation->table, changes = { 0 };
	struct view_request request;
	bool is_added;
	int status;

	if (explanation->not_compared != NULL)
		return table_add_header(table, error, "not compared with the "
		                        "base: %s", explanation->not_compared);
	if (explanation->compared == NULL)
		return 0;
	request = *explanation->compared;
	request.limit = SIZE_MAX;
	status = explain_add_header(explanation, table_text(table, error,
	    "Changes since the base for resource: %s",
	    request.set->resource->name), &is_added, error);
	if (status == 0)
		status = view_functions(&request, &changes, error);
	for (size_t i = COMPARED_SIDES; status == 0 && i <= COMPARED_WHOLE; i++)
		status = explain_add_header(explanation, changes.header[i],
		                            &is_added, error);
	for (size_t i = 0; status == 0 && i < sizeof copied / sizeof *copied;
	     i++)
		for (size_t k = 0; status == 0 && k < changes.n_fields; k++)
			if (strcmp(changes.fields[k].key, copied[i].key) == 0)
				status = table_add_field(table, copied[i].own,
				    NULL, changes.fields[k].value, error);
	if (status == 0 && request.compared->scale != NULL)
		status = explain_add_header(explanation, table_text(table,
		    error, "compared: %s", request.compared->scale),
		    &is_added, error);
	if (status == 0)
		status = explain_add_changes(explanation, &changes, error);
	table_free(&changes);
	return status;
}

/* ---- the table ---- */

/* How sure the numbers are. */
static int
describe_samples(struct explanation *explanation, struct error *error)
{
	const struct sample_set *set = explanation->set;
	struct table *table = explanation->table;
	bool are_few = explanation->n_samples < FEW_SAMPLES;
	double half;

	if (explanation->noise.groups != NULL)
		return table_add_header(table, error, "+-: standard error, by "
		    "leaving out each of %" PRIu32 " random groups of the "
		    "members", explanation->noise.groups->n);
	if (set->flow == NULL && explanation->measure.denominator > 0 &&
	    !explain_has_errors(explanation))
		return columns_describe_errors(explanation->request, table,
		                               error);
	if (!explain_has_errors(explanation))
		return 0;
	half = explain_sampling_error(explanation, 0.5);
	/* Half of what is left, if that is less than shares are of. */
	if (set->left < explanation->measure.denominator)
		half *= sqrt((double)explanation->measure.denominator /
		             (double)set->left);
	if (table_add_field(table, "samples", NULL,
	                    cell_count(explanation->n_samples), error) != 0 ||
	    table_add_field(table, "hits_per_sample", NULL,
	                    cell_fraction(hits_per_sample(explanation)),
	                    error) != 0 ||
	    table_add_field(table, "error_of_half", NULL, cell_fraction(half),
	                    error) != 0)
		return -1;
	return table_add_header(table, error, are_few ?
	    "few samples: half of the hits is sure to +-%.2g%%; record longer" :
	    "+-: standard error; that of half of the hits is %.2g%%",
	    100 * half);
}

static int
describe_placeholders(const struct sample_set *set, struct table *table,
                   struct error *error)
{
	static const char *const keys[N_FRAME_PLACEHOLDERS] = {
		[FRAME_OF_JIT] = "stand_ins.jit",
		[FRAME_OF_OTHER_BUILD] = "stand_ins.other_build",
	};

	for (int i = 0; i < N_FRAME_PLACEHOLDERS; i++)
		if (keys[i] != NULL && set->placeholders[i] > 0 &&
		    table_add_field(table, keys[i], NULL,
		                    cell_count(set->placeholders[i]),
		                    error) != 0)
			return -1;
	return 0;
}

static void
explain_add_columns(struct table *table, const struct explanation *explanation)
{
	const bool is_flow = explanation->set->flow != NULL;
	const struct column columns[] = {
		{ "finding", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "kind", "", .kind = CELL_TEXT, .is_data_only = true },
		{ "text", "", .kind = CELL_TEXT, .is_data_only = true },
		{ "activations", "", .kind = CELL_FRACTION,
		  .is_data_only = true },
		{ "hits", "#hits", .kind = CELL_HITS },
		{ "fraction", "%", .kind = CELL_PERCENT },
		{ is_flow ? "estimated" : NULL, "~", .kind = CELL_FLAG,
		  .mark = '~' },
		{ is_flow ? NULL : "error", "+-", .kind = CELL_PERCENT,
		  .is_data_only = !explain_has_errors(explanation) },
		{ "path", "call path", .kind = CELL_PATH },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
	table->group_key = "finding";
}

int
view_explain(const struct view_request *request,
             const struct explain_request *wanted, struct leads *leads,
             struct table *table, struct error *error)
{
	struct hidden hidden = { 0 };
	struct explanation explanation = {
		.request = request,
		.compared = wanted->compared,
		.not_compared = wanted->not_compared,
		.set = request->set,
		.module_hits = wanted->module_hits,
		.module_groups = wanted->module_groups,
		.noise = group_noise_of(request),
		.n_samples = count_samples_left(request->set),
		.measure = measure_of(request),
		.table = table,
		.words_left = wanted->n_words == 0 ? SIZE_MAX :
		    wanted->n_words,
		.wants_more = wanted->n_lines > 0 && wanted->n_words == 0,
		.main_body = NO_NAME,
		.main_start = NO_NAME,
	};
	const size_t n_lines = wanted->n_lines == 0 ? SCREEN_LINES :
	    wanted->n_lines;
	size_t n_others;

	if (request->root == NO_NAME || request->set->left == 0)
		return error_set(error, "nothing to explain: no hits of %s",
		                 request->set->resource->name);
	if (explain_describe_changes(&explanation, error) != 0)
		return -1;
	table->n_first_lines = table->n_header;
	if (view_describe(request, &explain_kind, &explanation.measure,
	                  &hidden, table, error) != 0 ||
	    describe_samples(&explanation, error) != 0 ||
	    describe_placeholders(request->set, table, error) != 0)
		return -1;
	n_others = (wanted->is_beginning ? table->n_first_lines :
	            table->n_header) + OTHER_LINES;
	explanation.lines_left = n_others < n_lines ? n_lines - n_others : 0;
	explanation.lines = arena_alloc(&table->arena, MOST_FINDINGS *
	                                sizeof *explanation.lines, error);
	if (explanation.lines == NULL)
		return -1;
	explain_add_columns(table, &explanation);
	if (explain_find_all(&explanation, error) != 0)
		return -1;
	explain_fill_screen(&explanation);
	if (table_add_field(table, "left_out", NULL,
	                    cell_count(explanation.n_left_out), error) != 0)
		return -1;
	table->folds_unnamed = true;
	table->group_lines = explanation.lines;
	table->n_group_lines = explanation.n_findings;
	if (leads != NULL)
		find_leads(&explanation, leads);
	return 0;
}
