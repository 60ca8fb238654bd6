/* SPDX-License-Identifier: GPL-3.0-or-later */
/* specialise.c -- what to change to make call paths optimisable.
 *
 * Each path is first shortened to its shortest suffix with the same hits, which
 * needs fewest copies.  A value only falls with more context, so that is found
 * by bisection.  The last function alone is the context only if no other caller
 * of it was seen, not even one without hits: otherwise the change would reach
 * calls that it may not suit.
 *
 * Then clones.c says which functions to copy, and which calls to change; a row
 * is one of these.  Cost: O(nodes log path), and that of clones_make.
 */
#include "src/views/advice/advice.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/views/rows/rows.h"

enum { MANY_DETOURS = 8 };	/* more are worth advice */

static const struct view_kind specialise_kind = {
	.schema = "cpprof.specialise/1",
	.title = "Specialisation",
};

/* A path that was asked for. */
struct plan {
	const uint32_t *path;
	size_t n;
	size_t first;		/* where the shortest context begins */
	uint64_t hits;
	uint32_t other_caller;	/* of its last function, all of whose hits the
				 * context has; NO_NAME: none was seen */
	bool is_only_caller;	/* and all its calls are in the context */
};

enum change_kind { CHANGE_OPTIMISE, CHANGE_COVERED, CHANGE_COPY, CHANGE_CALL };

static const char *const change_kinds[] = {
	[CHANGE_OPTIMISE] = "optimise",
	[CHANGE_COVERED] = "covered",
	[CHANGE_COPY] = "copy",
	[CHANGE_CALL] = "call",
};

struct specialise_change {
	enum change_kind kind;
	uint32_t plan;		/* of CHANGE_OPTIMISE and CHANGE_COVERED */
	uint32_t in;		/* the version that a call is in */
	uint32_t function;	/* a name */
	uint32_t becomes;	/* a version; NO_VERSION: none */
	uint64_t hits;
};

struct specialisation {
	const struct view_request *request;
	const struct specialise_request *wanted;
	const struct sample_set *set;
	struct measure measure;
	struct table *table;
	struct plan *plans;	/* [n_plans] */
	uint32_t n_plans;
	struct clones clones;
	uint32_t *order;	/* [n_versions] as they are shown */
	uint32_t *rank;		/* [n_versions] the place of each in order */
	struct specialise_change *changes;
	size_t n_changes, changes_capacity;
	uint32_t n_copies, n_detours;
	uint32_t n_used_detours;	/* of these, those with hits */
	/*
	 * The table's names: those that are shown, and those of the copies.
	 * Only one set of names can be shown short.
	 */
	struct names *names;
	uint32_t *name_of;	/* [n_versions] in names */
};

/* ---- paths ---- */

/* "(main parse)", in the table's arena; NULL with *error set. */
static const char *
path_text(const struct specialisation *one, const uint32_t *path, size_t n,
          struct error *error)
{
	const struct names *names = one->set->names;
	struct text_buffer text = { 0 };

	text_add_char(&text, '(');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			text_add_char(&text, ' ');
		text_add_word(&text, names_text(names, path[i]),
		              names_length(names, path[i]));
	}
	text_add_char(&text, ')');
	return text_move(&text, &one->table->arena, error);
}

/* Says which name occurs twice, and proposes the path without the loop. */
static int
refuse_path(const struct specialisation *one, const struct plan *plan,
            struct error *error)
{
	const struct names *names = one->set->names;
	uint32_t *erased = memory_array(plan->n, sizeof *erased, error);
	const char *typed = path_text(one, plan->path, plan->n, error);
	const char *other, *name = NULL;
	size_t n = 0;

	for (size_t i = 0; erased != NULL && i < plan->n; i++) {
		size_t at = 0;

		while (at < n && erased[at] != plan->path[i])
			at++;
		if (at < n && i + 1 < plan->n) {
			if (name == NULL)
				name = names_text(names, plan->path[i]);
			n = at;
		}
		erased[n++] = plan->path[i];
	}
	other = erased == NULL ? NULL : path_text(one, erased, n, error);
	if (typed != NULL && other != NULL && name != NULL)
		error_set(error, "%.300s cannot have hits: only the last "
		          "function of a path may occur twice, and a call back "
		          "to %.80s begins the path there anew; try %.300s",
		          typed, name, other);
	free(erased);
	return -1;
}

static int
find_hits(const struct specialisation *one, const struct plan *plan,
          size_t first, struct path_hits *found, struct error *error)
{
	return path_hits_find(one->set, plan->path + first, plan->n - first,
	                      found, NULL, error);
}

/*
 * Whether any outermost activation of the plan's last function was not called
 * by the name before it: by which one, NO_NAME: by none, it is a stack's first.
 */
static bool
find_other_caller(const struct sample_set *set, const struct plan *plan,
                  uint32_t *caller)
{
	const struct sample_tree *tree = set->tree;
	uint32_t last = plan->path[plan->n - 1];
	uint32_t node = measure_next_node(tree, 0, last);

	while (node < tree->n_nodes) {
		uint32_t parent = sample_tree_parent(tree, node);

		*caller = parent == NO_NODE ? NO_NAME : tree->label[parent];
		if (*caller != plan->path[plan->n - 2])
			return true;
		node = measure_next_node(tree, sample_tree_end(tree, node),
		    last);
	}
	return false;
}

static int
specialise_shorten(const struct specialisation *one, struct plan *plan,
                   struct error *error)
{
	struct path_hits found;
	size_t last = plan->n - 1;

	/* All that begin at `first` or before have the same hits. */
	for (size_t after = last; plan->first + 1 < after;) {
		size_t middle = plan->first + (after - plan->first) / 2;

		if (find_hits(one, plan, middle, &found, error) != 0)
			return -1;
		if (found.hits == plan->hits)
			plan->first = middle;
		else
			after = middle;
	}
	plan->other_caller = NO_NAME;
	if (plan->n < 2 || plan->first + 1 < last)
		return 0;
	if (find_hits(one, plan, last, &found, error) != 0)
		return -1;
	if (found.hits != plan->hits)
		return 0;
	plan->is_only_caller = !find_other_caller(one->set, plan,
	                                          &plan->other_caller);
	if (plan->is_only_caller)
		plan->first = last;
	return 0;
}

static int
make_plan(const struct specialisation *one, struct plan *plan,
          struct error *error)
{
	struct path_hits found;
	const char *text;

	if (find_hits(one, plan, 0, &found, error) != 0)
		return -1;
	if (!found.is_canonical)
		return refuse_path(one, plan, error);
	plan->hits = found.hits;
	if (found.hits > 0)
		return specialise_shorten(one, plan, error);
	text = path_text(one, plan->path, plan->n, error);
	return text == NULL ? -1 : !found.is_seen ?
	    error_set(error, "no stack has the path %.300s", text) :
	    error_set(error, "%.300s has no hits of %.80s; specialising it "
	              "would save nothing", text, one->set->resource->name);
}

static int
make_plans(struct specialisation *one, struct error *error)
{
	const struct specialise_request *wanted = one->wanted;
	size_t begin = 0;

	one->n_plans = (uint32_t)wanted->n_paths;
	one->plans = memory_array(one->n_plans, sizeof *one->plans, error);
	if (one->plans == NULL)
		return -1;
	for (uint32_t i = 0; i < one->n_plans; i++) {
		struct plan *plan = &one->plans[i];

		plan->path = wanted->path + begin;
		plan->n = wanted->path_ends[i] - begin;
		begin = wanted->path_ends[i];
		if (make_plan(one, plan, error) != 0)
			return -1;
	}
	return 0;
}

static int
make_clones(struct specialisation *one, struct error *error)
{
	struct clone_plan *plans = memory_array(one->n_plans, sizeof *plans,
	                                        error);
	int status;

	if (plans == NULL)
		return -1;
	for (uint32_t i = 0; i < one->n_plans; i++) {
		const struct plan *plan = &one->plans[i];

		plans[i] = (struct clone_plan){ plan->path + plan->first,
			plan->n - plan->first };
	}
	status = clones_make(&one->clones, one->set, plans, one->n_plans,
	                     error);
	free(plans);
	return status;
}

/* ---- the order of versions, and their names ---- */

static int
version_class(const struct clone_version *version)
{
	return version->is_original ? 0 : version->is_detour ? 2 : 1;
}

/* By the first plan that has the version, and by its level there. */
static int
compare_levels(const struct specialisation *one, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < one->n_plans; i++) {
		uint32_t left = clones_level(&one->clones, a, i);
		uint32_t right = clones_level(&one->clones, b, i);

		if (left != right)
			return left == 1 ? 1 : right == 1 ? -1 :
			       left < right ? -1 : 1;
	}
	return 0;
}

/*
 * Originals, then copies on paths in the order of the paths, then detours by
 * what they save.
 */
static int
compare_versions(const void *left, const void *right, void *context)
{
	const struct specialisation *one = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct clone_version *first = &one->clones.versions[a];
	const struct clone_version *second = &one->clones.versions[b];
	int class = version_class(first), order;

	if (class != version_class(second))
		return class - version_class(second);
	/* Originals were entered in the order of the paths. */
	if (class == 0)
		return a < b ? -1 : a > b;
	if (class == 2 && first->hits != second->hits)
		return first->hits > second->hits ? -1 : 1;
	order = class == 1 ? compare_levels(one, a, b) : 0;
	if (order == 0)
		order = names_compare(one->set->names, first->function,
		                      second->function);
	return order != 0 ? order : compare_levels(one, a, b);
}

static int
order_versions(struct specialisation *one, struct error *error)
{
	uint32_t n = one->clones.n_versions;

	one->order = memory_array(n, sizeof *one->order, error);
	one->rank = memory_array(n, sizeof *one->rank, error);
	if (one->order == NULL || one->rank == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		one->order[i] = i;
	if (sort_items(one->order, n, sizeof *one->order, compare_versions,
	               one, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		one->rank[one->order[i]] = i;
	return 0;
}

/* A name of the set as one of the table; NO_NAME with *error set. */
static uint32_t
own_name(const struct specialisation *one, uint32_t name, struct error *error)
{
	const struct names *names = one->set->names;

	return names_add(one->names, names_text(names, name),
	                 names_length(names, name), error);
}

/*
 * Names a copy: ns::f_1(int) is the first one of ns::f(int).  *number: of the
 * last one tried.  NO_NAME with *error set.
 */
static uint32_t
name_copy(struct specialisation *one, uint32_t function, uint32_t *number,
          struct name_parts *parts, struct error *error)
{
	const char *name = names_text(one->set->names, function);
	size_t length = names_length(one->set->names, function), at;
	struct text_buffer text = { 0 };
	uint32_t found = NO_NAME;

	if (name_parts_find(parts, name, length, error) != 0)
		return NO_NAME;
	at = parts->last_end > 0 && parts->last_end <= length ?
	    parts->last_end : length;
	do {
		text_clear(&text);
		text_add(&text, name, at);
		text_add_format(&text, "_%" PRIu32, ++*number);
		text_add(&text, name + at, length - at);
	} while (!text.failed &&
	         (names_find(one->set->names, text.bytes, text.length) !=
	          NO_NAME ||
	          names_find(one->names, text.bytes, text.length) != NO_NAME));
	if (text.failed)
		error_out_of_memory(error);
	else
		found = names_add(one->names, text.bytes, text.length, error);
	text_free(&text);
	return found;
}

static int
name_versions(struct specialisation *one, struct error *error)
{
	uint32_t *number = memory_array(names_count(one->set->names),
	                                sizeof *number, error);
	struct name_parts parts = { 0 };

	one->name_of = memory_array(one->clones.n_versions,
	                            sizeof *one->name_of, error);
	if (number == NULL || one->name_of == NULL) {
		free(number);
		return -1;
	}
	for (uint32_t i = 0; i < one->clones.n_versions; i++) {
		uint32_t v = one->order[i];
		const struct clone_version *version = &one->clones.versions[v];

		one->name_of[v] = version->is_original ?
		    own_name(one, version->function, error) :
		    name_copy(one, version->function,
		              &number[version->function], &parts, error);
		one->n_copies += !version->is_original;
		one->n_detours += version->is_detour;
		one->n_used_detours += version->is_detour &&
		    version->hits > 0;
		if (error->is_set)
			break;
	}
	name_parts_free(&parts);
	free(number);
	return error->is_set ? -1 : 0;
}

/* ---- changes ---- */

static int
specialise_add_change(struct specialisation *one,
                      struct specialise_change change, struct error *error)
{
	if (memory_grow(&one->changes, &one->changes_capacity,
	                one->n_changes + 1, sizeof *one->changes, error) != 0)
		return -1;
	one->changes[one->n_changes++] = change;
	return 0;
}

/* What each plan is for: the copies to make cheaper. */
static int
add_optimised(struct specialisation *one, uint32_t plan, struct error *error)
{
	const struct plan *of = &one->plans[plan];
	uint32_t n = (uint32_t)(of->n - of->first);
	struct specialise_change change = { CHANGE_OPTIMISE, plan, NO_VERSION,
		of->path[of->n - 1], NO_VERSION, of->hits };
	size_t n_before = one->n_changes;

	for (uint32_t i = 0; n > 1 && i < one->clones.n_versions; i++) {
		change.becomes = one->order[i];
		change.hits = one->clones.versions[one->order[i]].hits;
		if (clones_level(&one->clones, one->order[i], plan) == n &&
		    specialise_add_change(one, change, error) != 0)
			return -1;
	}
	if (n == 1)
		return specialise_add_change(one, change, error);
	if (one->n_changes > n_before)
		return 0;
	change = (struct specialise_change){ CHANGE_COVERED, plan, NO_VERSION,
		of->path[of->n - 1], NO_VERSION, 0 };
	return specialise_add_change(one, change, error);
}

/* Calls by the version that they go to. */
static int
compare_calls(const void *left, const void *right, void *context)
{
	const struct specialisation *one = context;
	const struct specialise_change *a = left, *b = right;
	uint32_t first = one->rank[a->becomes], second = one->rank[b->becomes];

	return first < second ? -1 : first > second;
}

/* A version that is copied, and the calls in it that change. */
static int
add_version(struct specialisation *one, uint32_t v, struct error *error)
{
	const struct clone_version *version = &one->clones.versions[v];
	size_t n_before;

	if (!version->is_original && !version->is_optimised &&
	    specialise_add_change(one,
	                          (struct specialise_change){
				      CHANGE_COPY, 0, NO_VERSION,
				      version->function, v, version->hits },
	                          error) != 0)
		return -1;
	n_before = one->n_changes;
	for (uint32_t i = 0; i < version->n_calls; i++) {
		const struct clone_call *call =
		    &one->clones.calls[version->first_call + i];

		if (specialise_add_change(one,
		                          (struct specialise_change){
					      CHANGE_CALL, 0, v, call->callee,
					      call->version, call->hits },
		                          error) != 0)
			return -1;
	}
	return one->n_changes == n_before ? 0 :
	    sort_items(one->changes + n_before, one->n_changes - n_before,
	               sizeof *one->changes, compare_calls, one, error);
}

static int
list_changes(struct specialisation *one, struct error *error)
{
	for (uint32_t i = 0; i < one->n_plans; i++)
		if (add_optimised(one, i, error) != 0)
			return -1;
	for (uint32_t i = 0; i < one->clones.n_versions; i++)
		if (add_version(one, one->order[i], error) != 0)
			return -1;
	return 0;
}

/* ---- what is saved ---- */

/* "if it were free, the run would take 8 s instead of 20 s". */
static int
add_saving_line(const struct specialisation *one, const struct saving *saving,
                const char *if_what, uint64_t after, uint64_t before,
                struct error *error)
{
	const char *condition = table_text(one->table, error, "if %s %s",
	                                   one->n_plans == 1 ? "it were" :
	                                   "they were", if_what);

	return condition == NULL ? -1 :
	    saving_add_line(saving, one->set, condition, false, after, before,
	                    one->table, error);
}

static struct cell
gticks_cell(bool is_known, uint64_t gticks, uint64_t whole)
{
	return is_known ? cell_gticks_of(gticks, whole) :
	       (struct cell){ .kind = CELL_EMPTY };
}

/* Savings are of the whole run, whatever percentages are relative to. */
static int
specialise_describe_saving(struct specialisation *one, struct error *error)
{
	const struct sample_set *set = one->set;
	struct table *table = one->table;
	const struct measure run = { .denominator = set->total };
	uint64_t hits = one->clones.hits, interval = set->resource->interval;
	double saved = measure_fraction(&run, hits);
	double times = one->wanted->times, part = 1 - 1 / times;
	uint64_t before, after = (set->total - hits) * interval, cheaper;
	/* If the whole fits 64 bits, its parts do. */
	bool fits = !__builtin_mul_overflow(set->total, interval, &before);
	const char *if_times = table_text(table, error, "%.10g times cheaper",
	                                  times);
	const char *title = table_text(table, error,
	                               "saved if %.10g times cheaper", times);
	const struct cell none = { .kind = CELL_EMPTY };
	struct saving saving;
	bool is_known;

	if (saving_of(set, &saving, table, error) != 0)
		return -1;
	is_known = saving.kind != SAVING_NONE;
	if (!fits)
		before = after = 0;
	cheaper = after + (uint64_t)floorl((long double)(before - after) /
	                                   (long double)times + 0.5L);
	if (if_times == NULL || title == NULL ||
	    (fits && (add_saving_line(one, &saving, "free", after, before,
	                              error) != 0 ||
	              add_saving_line(one, &saving, if_times, cheaper, before,
	                              error) != 0)) ||
	    saving_add_lack(&saving, set, hits, table, error) != 0)
		return -1;
	return table_add_fields(table, (struct field[]){
		{ "hits", NULL, cell_hits(hits) },
		{ "saved", is_known ? "saved if free" : NULL,
		  is_known ? cell_fraction(saved) : none },
		{ "new_run", NULL, is_known ? cell_fraction(1 - saved) : none },
		{ "total_gticks", NULL, gticks_cell(fits, before, before) },
		{ "new_total_gticks", NULL,
		  gticks_cell(fits && is_known, after, before) },
		{ "times", NULL, cell_fraction(times) },
		{ "times_saved", is_known ? title : NULL,
		  is_known ? cell_fraction(saved * part) : none },
		{ "times_new_run", NULL,
		  is_known ? cell_fraction(1 - saved * part) : none },
		{ "times_new_total_gticks", NULL,
		  gticks_cell(fits && is_known, cheaper, before) },
	}, 9, error);
}

/* What the plans save together, and each alone. */
static int
describe_overlap(struct specialisation *one, struct error *error)
{
	uint64_t sum = 0, most = 0;
	struct text_buffer text = { 0 };
	const char *hits, *more;

	for (uint32_t i = 0; i < one->n_plans; i++) {
		count_add(&sum, one->plans[i].hits);
		if (one->plans[i].hits > most)
			most = one->plans[i].hits;
	}
	if (table_add_field(one->table, "overlap", NULL,
	                    cell_hits(sum - one->clones.hits), error) != 0)
		return -1;
	if (one->n_plans == 1)
		return 0;
	hits = hits_text(one->set, one->clones.hits, one->table, error);
	text_add_bare_hits(&text, one->set, sum - one->clones.hits);
	more = text_move(&text, &one->table->arena, error);
	if (hits == NULL || more == NULL)
		return -1;
	return sum == one->clones.hits ?
	    table_add_header(one->table, error, "together: %s; no stack has "
	        "two of the paths", hits) :
	    table_add_header(one->table, error, "together: %s; their sum has "
	        "%s more, from stacks with several paths", hits, more);
}

/* ---- heading and advice ---- */

static int
describe_plan(struct specialisation *one, uint32_t i, struct error *error)
{
	const struct plan *plan = &one->plans[i];
	const char *typed = path_text(one, plan->path, plan->n, error);
	const char *context = path_text(one, plan->path + plan->first,
	                                plan->n - plan->first, error);
	const char *label = one->n_plans == 1 ? "path" :
	    table_text(one->table, error, "plan %" PRIu32, i + 1);

	const char *hits = hits_text(one->set, plan->hits, one->table, error);

	if (typed == NULL || context == NULL || label == NULL || hits == NULL)
		return -1;
	if (table_add_header(one->table, error, "%s: %s, %s", label, typed,
	                     hits) != 0)
		return -1;
	return plan->first == 0 ? 0 :
	    table_add_header(one->table, error, "%sshortest context with the "
	                     "same hits: %s", one->n_plans == 1 ? "" : "  ",
	                     context);
}

/* Where the last function could be changed itself, or must not be. */
static int
add_caller_note(struct specialisation *one, const struct plan *plan,
                struct error *error)
{
	const struct names *names = one->set->names;
	const char *last = view_name_text(names, plan->path[plan->n - 1],
	                                  one->table, error);
	const char *other = plan->other_caller == NO_NAME ? NULL :
	    view_name_text(names, plan->other_caller, one->table, error);

	if (last == NULL || error->is_set)
		return -1;
	if (plan->is_only_caller)
		return table_add_footer(one->table, error, "no copy of %s is "
		    "needed: it has no other caller in these stacks", last);
	if (other == NULL || one->n_plans > 1)
		return 0;
	return table_add_footer(one->table, error, "%s also called %s, without "
	        "other hits:", other, last) != 0 ||
	    table_add_footer(one->table, error, "if the change suits that "
	        "call, change %s itself", last) != 0 ? -1 : 0;
}

/* Of many detours: the path of two names, which needs none. */
static int
add_advice(struct specialisation *one, struct error *error)
{
	const struct plan *plan = &one->plans[0];
	struct path_hits found;
	const char *shorter, *hits;

	if (one->n_detours <= MANY_DETOURS)
		return 0;
	if (one->n_plans == 1 && plan->n - plan->first > 2) {
		shorter = path_text(one, plan->path + plan->n - 2, 2, error);
		if (shorter == NULL ||
		    find_hits(one, plan, plan->n - 2, &found, error) != 0)
			return -1;
		hits = hits_text(one->set, found.hits, one->table, error);
		if (hits == NULL ||
		    table_add_footer(one->table, error, "a shorter path needs "
		        "fewer: %s 1, and it has %s", shorter, hits) != 0)
			return -1;
	}
	return table_add_footer(one->table, error, "%s make the cycle of calls "
	    "one function with group, and specialise that",
	    one->n_plans == 1 ? "or" : "specialise shorter paths, or");
}

static int
add_notes(struct specialisation *one, struct error *error)
{
	struct table *table = one->table;

	for (uint32_t i = 0; i < one->n_plans; i++)
		if (add_caller_note(one, &one->plans[i], error) != 0)
			return -1;
	if (one->n_copies == 0)
		return 0;
	if (one->n_detours == 0 ? table_add_footer(table, error, "%" PRIu32
	        " cop%s to make", one->n_copies, one->n_copies == 1 ? "y" :
	        "ies") != 0 :
	    table_add_footer(table, error, "%" PRIu32 " copies to make, %"
	        PRIu32 " of them on detours that recursion takes back to the "
	        "path", one->n_copies, one->n_detours) != 0 ||
	    table_add_footer(table, error, "detours with hits: %" PRIu32
	        "; a change that you leave out loses its hits at most",
	        one->n_used_detours) != 0)
		return -1;
	return add_advice(one, error) != 0 ||
	    table_add_footer(table, error, "only sampled calls are listed: "
	        "look in the source for others, and for calls") != 0 ||
	    table_add_footer(table, error, "through pointers; tail calls and "
	        "inlining hide callers, and all calls of a") != 0 ||
	    table_add_footer(table, error, "function in the same caller count "
	        "as one") != 0 ?
	    -1 : 0;
}

static int
specialise_describe(struct specialisation *one, const struct hidden *hidden,
                    struct error *error)
{
	if (view_describe(one->request, &specialise_kind, &one->measure,
	                  hidden, one->table, error) != 0)
		return -1;
	for (uint32_t i = 0; i < one->n_plans; i++)
		if (describe_plan(one, i, error) != 0)
			return -1;
	return describe_overlap(one, error) != 0 ||
	    specialise_describe_saving(one, error) != 0 ||
	    table_add_field(one->table, "copies", NULL,
	                    cell_count(one->n_copies), error) != 0 ||
	    table_add_field(one->table, "detours", NULL,
	                    cell_count(one->n_detours), error) != 0 ||
	    add_notes(one, error) != 0 ? -1 : 0;
}

/* ---- the table ---- */

static void
specialise_add_columns(struct table *table, bool has_plans)
{
	const struct column columns[] = {
		{ "hits", "#hits", .kind = CELL_HITS },
		{ "fraction", "%", .kind = CELL_PERCENT },
		{ "kind", "change", .kind = CELL_TEXT },
		{ "plan", "plan", .kind = CELL_COUNT,
		  .is_data_only = !has_plans },
		{ "alone", "", .kind = CELL_COUNT, .is_data_only = true },
		{ "in", "", .kind = CELL_TEXT, .is_data_only = true },
		{ "function", "", .kind = CELL_TEXT, .is_data_only = true },
		{ "becomes", "", .kind = CELL_TEXT, .is_data_only = true },
		{ "detour", "", .kind = CELL_FLAG, .is_data_only = true },
		{ "given", "", .kind = CELL_PATH, .is_data_only = true },
		{ "path", "", .kind = CELL_PATH, .is_data_only = true },
		{ "in_name", "in", .kind = CELL_NAME, .is_text_only = true },
		{ "function_name", "function", .kind = CELL_NAME,
		  .is_text_only = true },
		{ "becomes_name", "becomes", .kind = CELL_NAME,
		  .is_text_only = true },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
}

/* A path of the set's names as a cell; empty with *error set. */
static struct cell
path_cell(const struct specialisation *one, const uint32_t *path, size_t n,
          struct error *error)
{
	struct arena *arena = &one->table->arena;
	uint32_t *name = arena_alloc(arena, n * sizeof *name, error);

	if (name == NULL)
		return (struct cell){ .kind = CELL_EMPTY };
	for (size_t i = 0; i < n; i++)
		name[i] = own_name(one, path[i], error);
	return table_path(one->table, one->names, name, n, error);
}

/* Sets a name's two cells, of data and of text; NO_NAME leaves them empty. */
static void
specialise_set_name(const struct specialisation *one,
                    const struct call_paths *paths, uint32_t name,
                    struct cell *data, struct cell *text, struct error *error)
{
	const char *bytes;

	if (name == NO_NAME)
		return;
	*text = cell_name(paths, name);
	bytes = view_name_text(one->names, name, one->table, error);
	if (bytes != NULL)
		*data = cell_text(bytes);
}

/* Sets the cells of the plan that a change is for. */
static void
set_plan(const struct specialisation *one,
         const struct specialise_change *change,
         struct cell cells[TABLE_MAX_COLUMNS], struct error *error)
{
	const struct plan *plan = &one->plans[change->plan];

	cells[3] = cell_count(change->plan + 1);
	cells[4] = cell_count(plan->hits);
	cells[9] = path_cell(one, plan->path, plan->n, error);
	cells[10] = path_cell(one, plan->path + plan->first,
	                      plan->n - plan->first, error);
}

static int
specialise_add_row(struct specialisation *one, const struct call_paths *paths,
                   const struct specialise_change *change, struct error *error)
{
	struct cell cells[TABLE_MAX_COLUMNS] = { 0 };
	bool is_call = change->kind == CHANGE_CALL;
	uint32_t copy = change->becomes;

	cells[0] = cell_hits(change->hits);
	cells[1] = cell_percent(measure_fraction(&one->measure, change->hits));
	cells[2] = cell_text(change_kinds[change->kind]);
	if (is_call || change->kind == CHANGE_COPY) {
		uint32_t call[2] = { is_call ?
			one->clones.versions[change->in].function : 0,
			change->function };

		cells[10] = path_cell(one, is_call ? call : call + 1,
		                      is_call ? 2 : 1, error);
	} else {
		set_plan(one, change, cells, error);
	}
	cells[8] = cell_flag(copy != NO_VERSION &&
	                     one->clones.versions[copy].is_detour);
	specialise_set_name(one, paths,
	                    is_call ? one->name_of[change->in] : NO_NAME,
	                    &cells[5], &cells[11], error);
	specialise_set_name(one, paths, own_name(one, change->function, error),
	                    &cells[6], &cells[12], error);
	specialise_set_name(one, paths, copy == NO_VERSION ? NO_NAME :
	                    one->name_of[copy], &cells[7], &cells[13], error);
	return error->is_set ? -1 : table_add_row(one->table, cells, error);
}

static void
specialise_free_names(void *names)
{
	names_free(names);
}

static int
specialise_show(struct specialisation *one, struct error *error)
{
	size_t n = one->n_changes;
	struct hidden hidden = { 0 };
	struct call_paths *paths;

	if (n > one->request->limit) {
		n = one->request->limit;
		hidden.beyond_limit = one->n_changes - n;
	}
	paths = arena_alloc(&one->table->arena, sizeof *paths, error);
	if (paths == NULL || specialise_describe(one, &hidden, error) != 0)
		return -1;
	paths->names = one->names;
	specialise_add_columns(one->table, one->n_plans > 1);
	for (size_t i = 0; i < n; i++)
		if (specialise_add_row(one, paths, &one->changes[i],
		                       error) != 0)
			return -1;
	return 0;
}

int
view_specialise(const struct view_request *request,
                const struct specialise_request *wanted,
                struct table *table, struct error *error)
{
	struct specialisation one = {
		.request = request,
		.wanted = wanted,
		.set = request->set,
		.measure = measure_of(request),
		.table = table,
	};
	int status = -1;

	if (request->set->flow != NULL)
		return error_set(error, "specialise needs stacks, and a "
		                 "profile of calls without stacks has none");
	one.names = names_new(error);
	table->row_source = one.names;
	table->row_source_free = one.names == NULL ? NULL :
						     specialise_free_names;
	if (one.names != NULL && make_plans(&one, error) == 0 &&
	    make_clones(&one, error) == 0 &&
	    order_versions(&one, error) == 0 &&
	    name_versions(&one, error) == 0 &&
	    list_changes(&one, error) == 0)
		status = specialise_show(&one, error);
	free(one.plans);
	clones_free(&one.clones);
	free(one.order);
	free(one.rank);
	free(one.changes);
	free(one.name_of);
	return status;
}
