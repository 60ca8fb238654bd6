/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_hits.c -- the hits of places in the code: source lines.
 *
 * Every location in the scope gets the number of its line.  Then one pass over
 * the nodes: a node adds its weight to its line, unless it lies in the subtree
 * that was added to that line last; nodes are in depth-first order, so that is
 * a comparison with the end of that subtree.
 *
 * A graph has no stacks: a line has what the input recorded for it and for the
 * calls that were made from it.
 */
#include "src/views/code/code.h"

#include <stdlib.h>

#include "src/base/index.h"
#include "src/base/memory.h"
#include "src/views/hits/hits.h"

#define NO_LINE UINT32_MAX

/* The lines while they are found. */
struct code_finding {
	const struct code_set *set;
	const struct code_scope *scope;
	struct line_hits *lines;
	size_t capacity;
	uint32_t n;
	struct index index;
	uint32_t *line_of;	/* [n_locations] number of the line, or
				 * NO_LINE: not in the scope */
	uint32_t *covered;	/* [n] end of the subtree added last */
};

static bool
code_hits_is_line(const void *things, uint32_t number, const void *key)
{
	const struct line_hits *lines = things, *wanted = key;

	return lines[number].file == wanted->file &&
	    lines[number].line == wanted->line;
}

/* The number of a line, which is entered if new; NO_LINE with *error set. */
static uint32_t
line_number(struct code_finding *finding, uint32_t file, uint32_t line,
            struct error *error)
{
	const struct line_hits key = { .file = file, .line = line };
	uint32_t hash = index_hash((uint64_t)file << 32 | line);
	struct index_slot *slot = index_seek(&finding->index, hash,
	                                     code_hits_is_line, finding->lines,
	                                     &key, error);

	if (slot == NULL)
		return NO_LINE;
	if (slot->number != 0)
		return slot->number - 1;
	if (memory_grow(&finding->lines, &finding->capacity,
	                (size_t)finding->n + 1, sizeof key, error) != 0)
		return NO_LINE;
	finding->lines[finding->n] = key;
	index_fill(&finding->index, slot, hash, finding->n);
	return finding->n++;
}

static bool
is_in_scope(const struct code_scope *scope, uint32_t function, uint32_t file)
{
	return (scope->function == NO_NAME || scope->function == function) &&
	    (scope->file == NO_NAME || scope->file == file);
}

/* ---- stacks ---- */

static int
number_locations(struct code_finding *finding, struct error *error)
{
	const struct profile *profile = finding->set->profile;

	finding->line_of = memory_array(profile->n_locations,
	                                sizeof *finding->line_of, error);
	if (finding->line_of == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_locations; i++) {
		const struct location *location = &profile->locations[i];

		finding->line_of[i] = NO_LINE;
		if (finding->set->frame[i] == UINT32_MAX ||
		    !is_in_scope(finding->scope, location->function,
		                 location->file))
			continue;
		finding->line_of[i] = line_number(finding, location->file,
		    location->file == NO_NAME ? 0 : location->line, error);
		if (finding->line_of[i] == NO_LINE)
			return -1;
	}
	finding->covered = memory_array(finding->n,
	                                sizeof *finding->covered, error);
	return finding->covered != NULL ? 0 : -1;
}

static void
code_hits_add_nodes(struct code_finding *finding, struct code_hits *hits)
{
	const struct code_set *set = finding->set;
	const struct sample_tree *tree = set->tree;
	uint32_t all_covered = 0;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint32_t number = finding->line_of[tree->label[node]];
		struct line_hits *line;
		uint64_t self;

		if (number == NO_LINE)
			continue;
		line = &finding->lines[number];
		self = set->self[sample_tree_row(tree, node)];
		line->self += self;
		hits->self += self;
		if (node >= finding->covered[number]) {
			line->inclusive += sample_tree_weight(tree,
			    set->sums, node);
			finding->covered[number] = sample_tree_end(tree, node);
		}
		if (node >= all_covered) {
			hits->inclusive += sample_tree_weight(tree,
			    set->sums, node);
			all_covered = sample_tree_end(tree, node);
		}
	}
}

/* ---- calls without stacks ---- */

static uint64_t
add_up_to_most(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static int
code_hits_add_place(struct code_finding *finding,
                    const struct call_place *place, uint64_t used,
                    struct code_hits *hits, struct error *error)
{
	struct line_hits *line;
	uint32_t number = line_number(finding, place->file,
	    place->file == NO_NAME ? 0 : place->line, error);

	if (number == NO_LINE)
		return -1;
	line = &finding->lines[number];
	line->inclusive = add_up_to_most(line->inclusive, used);
	hits->inclusive = add_up_to_most(hits->inclusive, used);
	if (place->arc == NO_ARC) {
		line->self += used;
		hits->self += used;
	}
	return 0;
}

/*
 * Below a recursive function the same stack is part of several calls, so what
 * its lines called is an estimate; and they have no more than it has.  A file
 * has no value of its own here, because its functions may call each other.
 */
static void
limit_to_function(struct code_finding *finding, struct code_hits *hits)
{
	const struct call_flow *flow = finding->set->flow;
	uint32_t name = finding->scope->function;
	bool has_value = flow != NULL && name < flow->n_names;
	bool is_recursive = true;

	hits->is_estimated = hits->inclusive > hits->self;
	if (has_value) {
		const struct flow_function *function = &flow->functions[name];

		is_recursive = function->is_recursive;
		hits->is_estimated = function->is_estimated;
		hits->inclusive = measure_hits(function->inclusive);
	}
	for (uint32_t i = 0; i < finding->n; i++) {
		struct line_hits *line = &finding->lines[i];

		line->is_estimated = is_recursive &&
		    line->inclusive > line->self && name != NO_NAME;
		if (has_value && line->inclusive > hits->inclusive)
			line->inclusive = hits->inclusive;
	}
}

static int
code_hits_add_places(struct code_finding *finding, struct code_hits *hits,
                     struct error *error)
{
	const struct call_graph *graph = finding->set->profile->graph;
	const struct call_places *places = graph->places;
	uint32_t resource = finding->set->resource;

	for (uint32_t i = 0; i < places->n; i++) {
		const struct call_place *place = &places->items[i];
		uint64_t used = call_places_hits(places, i)[resource];

		if (is_in_scope(finding->scope,
		                graph->nodes[place->node].name, place->file) &&
		    code_hits_add_place(finding, place, used, hits, error) != 0)
			return -1;
	}
	limit_to_function(finding, hits);
	return 0;
}

/* ---- order ---- */

/* The file in which the most hits are the function's own; of equals any. */
static uint32_t
main_file(const struct code_finding *finding, struct error *error)
{
	uint32_t n_names = names_count(finding->set->profile->names);
	uint64_t *self = memory_array(n_names, sizeof *self, error);
	uint32_t best = NO_NAME;

	for (uint32_t i = 0; self != NULL && i < finding->n; i++) {
		const struct line_hits *line = &finding->lines[i];

		if (line->file == NO_NAME)
			continue;
		self[line->file] = add_up_to_most(self[line->file],
		                                  line->inclusive);
		if (best == NO_NAME || self[line->file] > self[best] ||
		    (self[line->file] == self[best] &&
		     names_compare(finding->set->profile->names, line->file,
		                   best) < 0))
			best = line->file;
	}
	free(self);
	return best;
}

struct order {
	const struct names *names;
	uint32_t main_file;
};

/* Where a file comes in the order: the main one, others, none. */
static int
code_hits_rank(const struct order *order, uint32_t file)
{
	return file == order->main_file ? 0 : file == NO_NAME ? 2 : 1;
}

static int
code_hits_compare_lines(const void *left, const void *right, void *context)
{
	const struct line_hits *a = left, *b = right;
	const struct order *order = context;

	if (code_hits_rank(order, a->file) != code_hits_rank(order, b->file))
		return code_hits_rank(order, a->file) -
		    code_hits_rank(order, b->file);
	if (a->file != b->file)
		return names_compare(order->names, a->file, b->file);
	return a->line < b->line ? -1 : a->line > b->line;
}

static int
code_hits_find_named(struct code_finding *finding, struct code_hits *hits,
                     struct error *error)
{
	const struct profile *profile = finding->set->profile;
	struct order order = { profile->names, NO_NAME };

	if (finding->set->tree != NULL) {
		if (number_locations(finding, error) != 0)
			return -1;
		code_hits_add_nodes(finding, hits);
	} else if (profile->graph->places != NULL &&
	           code_hits_add_places(finding, hits, error) != 0) {
		return -1;
	}
	order.main_file = main_file(finding, error);
	if (error->is_set)
		return -1;
	if (finding->n > 0)
		qsort_r(finding->lines, finding->n, sizeof *finding->lines,
		        code_hits_compare_lines, &order);
	return 0;
}

int
code_hits_find(struct code_hits *hits, const struct code_set *set,
               const struct code_scope *scope, struct error *error)
{
	struct code_finding finding = { .set = set, .scope = scope };
	int status;

	*hits = (struct code_hits){ 0 };
	status = code_hits_find_named(&finding, hits, error);
	index_free(&finding.index);
	free(finding.line_of);
	free(finding.covered);
	hits->lines = finding.lines;
	hits->n = finding.n;
	return status;
}

void
code_hits_free(struct code_hits *hits)
{
	free(hits->lines);
}

int
code_hits_of_frames(const struct code_set *set, const uint32_t *place,
                    uint32_t n, struct place_hits *hits,
                    struct place_hits *all, struct error *error)
{
	const struct sample_tree *tree = set->tree;
	uint32_t *covered = memory_array(n, sizeof *covered, error);
	uint32_t all_covered = 0;

	if (covered == NULL)
		return -1;
	*all = (struct place_hits){ 0 };
	for (uint32_t i = 0; i < n; i++)
		hits[i] = (struct place_hits){ 0 };
	/* The locations of one frame are nodes of their own, each below the
	 * one before; hits are in the last. */
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint32_t number = place[set->frame[tree->label[node]]];
		uint64_t self;

		if (number == NO_PLACE)
			continue;
		self = set->self[sample_tree_row(tree, node)];
		hits[number].self += self;
		all->self += self;
		if (node >= covered[number]) {
			hits[number].inclusive += sample_tree_weight(tree,
			    set->sums, node);
			covered[number] = sample_tree_end(tree, node);
		}
		if (node >= all_covered) {
			all->inclusive += sample_tree_weight(tree,
			    set->sums, node);
			all_covered = sample_tree_end(tree, node);
		}
	}
	free(covered);
	return 0;
}

static int
code_hits_compare_values(const void *left, const void *right, void *context)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const uint64_t *values = context;

	if (values[a] != values[b])
		return values[a] > values[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

bool *
code_hits_choose(const uint64_t *values, uint32_t n, uint64_t whole,
                 double threshold, size_t limit, struct error *error)
{
	uint64_t least = measure_least(threshold, whole);
	uint32_t *order = memory_array(n, sizeof *order, error);
	bool *is_shown = memory_array(n, sizeof *is_shown, error);
	size_t n_shown = 0;

	if (order == NULL || is_shown == NULL) {
		free(order);
		free(is_shown);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (n > 0)
		qsort_r(order, n, sizeof *order, code_hits_compare_values,
		        (void *)values);
	for (uint32_t i = 0; i < n && n_shown < limit; i++) {
		if (values[order[i]] == 0 || values[order[i]] < least)
			break;
		is_shown[order[i]] = true;
		n_shown++;
	}
	free(order);
	return is_shown;
}
