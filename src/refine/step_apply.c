/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_apply.c -- what a step does to the stacks.
 *
 * A group maps kinds of frames to new kinds, and the nodes follow.  A selection
 * marks the nodes at which dropped stacks end.
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/profile/large_array.h"

enum { SHOWN = 80 };		/* bytes of a step that an error shows */

/* ---- groups ---- */

static int
step_apply_add_kind(struct refining *refining, struct frame_kind kind,
                    uint32_t *number, struct error *error)
{
	if (memory_grow(&refining->kinds, &refining->kinds_capacity,
	                (size_t)refining->n_kinds + 1,
	                sizeof *refining->kinds, error) != 0)
		return -1;
	*number = refining->n_kinds;
	refining->kinds[refining->n_kinds++] = kind;
	return 0;
}

/* The name that a group's template makes of a function's. */
static uint32_t
expand_name(const struct step *step, const struct frame_pattern *pattern,
            struct names *names, uint32_t name, struct error *error)
{
	struct text_buffer text = { 0 };
	uint32_t expanded = NO_NAME;

	if (strchr(step->name, '{') == NULL)
		return names_add(names, step->name, strlen(step->name),
		                 error);
	if (frame_pattern_expand(pattern, names_text(names, name),
	                         names_length(names, name), step->name,
	                         &text, error) == 0 && text.failed)
		error_out_of_memory(error);
	if (error->is_set)
		expanded = NO_NAME;
	else if (text.length == 0)
		expanded = name;
	else
		expanded = names_add(names, text.bytes, text.length, error);
	text_free(&text);
	return expanded;
}

struct grouping {
	uint32_t *to;		/* [kinds before] the new kind, or the old */
	uint32_t *by_name;	/* [capacity] the group's kind + 1; 0: none */
	size_t capacity;
};

/* The kind of the group with that name, entered if it is new. */
static int
step_apply_find_group(struct refining *refining, struct grouping *grouping,
                      uint32_t name, uint32_t *number, struct error *error)
{
	size_t n = grouping->capacity;

	if (memory_grow(&grouping->by_name, &grouping->capacity,
	                (size_t)name + 1, sizeof *grouping->by_name,
	                error) != 0)
		return -1;
	for (; n < grouping->capacity; n++)
		grouping->by_name[n] = 0;
	if (grouping->by_name[name] == 0) {
		struct frame_kind kind = {
			.module = NO_NAME,
			.file = NO_NAME,
			.group = name,
			.is_group = true,
		};

		for (int g = 0; g < N_GRANULARITIES; g++)
			kind.names[g] = name;
		if (step_apply_add_kind(refining, kind, number, error) != 0)
			return -1;
		grouping->by_name[name] = *number + 1;
	}
	*number = grouping->by_name[name] - 1;
	return 0;
}

/* Gives a kind that a pattern matches its new kind. */
static int
map_kind(const struct step *step, const struct frame_pattern *pattern,
         struct refining *refining, struct grouping *grouping, uint32_t kind,
         struct error *error)
{
	struct frame_kind entry = refining->kinds[kind];
	uint32_t name = expand_name(step, pattern,
	                            refining->stacks->profile->names,
	                            refining_name(refining, kind), error);

	if (name == NO_NAME)
		return -1;
	if (step->kind == STEP_GROUP)
		return step_apply_find_group(refining, grouping, name,
		                             &grouping->to[kind], error);
	entry.group = name;
	return step_apply_add_kind(refining, entry, &grouping->to[kind], error);
}

/* The first pattern that matches a kind decides.  As step_apply. */
static int
map_kinds(const struct step *step, struct refining *refining,
          struct grouping *grouping, uint32_t n, struct error *error)
{
	for (size_t i = 0; i < step->n_patterns; i++) {
		const struct frame_pattern *pattern = step->patterns[i];
		struct frame_matches matches;
		int result = frame_pattern_match(pattern, refining, &matches,
		                                 error);

		for (uint32_t kind = 0; result == 0 && kind < n; kind++)
			if (grouping->to[kind] == kind &&
			    frame_matches(&matches, refining, kind))
				result = map_kind(step, pattern, refining,
				                  grouping, kind, error);
		free(matches.kinds);
		if (result != 0)
			return -1;
		if (matches.any)
			continue;
		frame_pattern_report_none(pattern, refining, error);
		return 1;
	}
	return 0;
}

/* Groups of one name are one group, whatever steps made them. */
static bool
share_group(const struct frame_kind *a, const struct frame_kind *b)
{
	return (a->group != NO_NAME && a->group == b->group) ||
	    (a->is_group && b->is_group && a->names[0] == b->names[0]) ||
	    (a->is_group && a->names[0] == b->group) ||
	    (b->is_group && b->names[0] == a->group);
}

/* A function that already has the name of a group belongs to it. */
static void
map_namesakes(const struct refining *refining, struct grouping *grouping,
              uint32_t n)
{
	for (uint32_t kind = 0; kind < n; kind++) {
		uint32_t name = refining_name(refining, kind);

		if (grouping->to[kind] == kind && name < grouping->capacity &&
		    grouping->by_name[name] != 0)
			grouping->to[kind] = grouping->by_name[name] - 1;
	}
}

/* Gives the nodes their new kinds; neighbours in one group are one frame. */
static void
step_apply_group_nodes(struct refining *refining, const uint32_t *to)
{
	const struct sample_tree *tree = refining->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint32_t parent = sample_tree_parent(tree, node);
		uint32_t kind = to[refining->kind[node]];

		if (parent != NO_NODE && share_group(&refining->kinds[kind],
		    &refining->kinds[refining->kind[parent]])) {
			refining->flags[node] |= NODE_JOINED;
			kind = refining->kind[parent];
		}
		refining->kind[node] = kind;
	}
	refining->has_groups = true;
}

int
step_regroup(const struct step *step, struct refining *refining, uint32_t **to,
             struct error *error)
{
	struct grouping grouping = { 0 };
	uint32_t n = refining->n_kinds;
	int result = -1;

	*to = grouping.to = memory_array(n, sizeof *grouping.to, error);
	if (grouping.to != NULL) {
		for (uint32_t kind = 0; kind < n; kind++)
			grouping.to[kind] = kind;
		result = map_kinds(step, refining, &grouping, n, error);
	}
	if (result == 0)
		map_namesakes(refining, &grouping, n);
	else
		refining->n_kinds = n;
	free(grouping.by_name);
	return result;
}

static int
apply_group(const struct step *step, struct refining *refining,
            struct error *error)
{
	uint32_t *to;
	int result = step_regroup(step, refining, &to, error);

	if (result == 0)
		step_apply_group_nodes(refining, to);
	free(to);
	return result;
}

/* ---- selections ---- */

/*
 * Sets matched[n_nodes], which is zeroed, for the nodes of the sections that a
 * step means.  As step_apply.
 */
static int
match_sections(const struct step *step, const struct refining *refining,
               unsigned char *matched, struct error *error)
{
	const struct stacks *stacks = refining->stacks;
	bool *is_selected = memory_array(stacks->profile->n_sections +
	                                 (size_t)1, sizeof *is_selected,
	                                 error);
	int result = -1;

	if (is_selected != NULL)
		result = section_pattern_match(step->sections,
		    stacks->profile, is_selected, error);
	for (uint32_t n = 0; result == 0 && n < refining->tree->n_nodes; n++)
		matched[n] = is_selected[stacks->section[n]];
	free(is_selected);
	return result;
}

/* Says that a step would leave no stack. */
static void
report_nothing_left(const struct step *step, bool is_all, struct error *error)
{
	const char *what = strchr(step->text, ' ') + 1;
	bool is_path = step->kind == STEP_PATH;

	if (is_all)
		error_set(error, "every stack %s%.*s; the step would leave "
		          "nothing", is_path ? "has the path " : "is of ",
		          SHOWN, what);
	else
		error_set(error, "no stack %s%.*s", is_path ?
		          "has the path " : "that is left is of ", SHOWN, what);
}

/* A step that keeps or drops the stacks that it matches. */
static int
apply_selection(const struct step *step, struct refining *refining,
                struct error *error)
{
	const struct sample_tree *tree = refining->tree;
	unsigned char *matched = NULL;
	uint32_t n_matched = 0, n_others = 0;
	int result = -1;

	if (large_array_zeroed(&matched, tree->n_nodes, 1, error) == 0)
		result = step->kind == STEP_PATH ?
		    path_pattern_match(step->path, refining, matched, error) :
		    match_sections(step, refining, matched, error);
	for (uint32_t node = 0; result == 0 && node < tree->n_nodes; node++) {
		if (!ends_stack(tree, node) ||
		    refining->flags[node] & NODE_DROPPED)
			continue;
		n_matched += matched[node];
		n_others += !matched[node];
	}
	if (result == 0 && (n_matched == 0 || (step->drops && n_others == 0))) {
		report_nothing_left(step, n_matched > 0, error);
		result = 1;
	}
	for (uint32_t node = 0; result == 0 && node < tree->n_nodes; node++)
		if (matched[node] == step->drops)
			refining->flags[node] |= NODE_DROPPED;
	if (result == 0)
		refining_find_left(refining);
	large_array_free(matched);
	return result;
}

/* Whether a set of slices has any of a row's counts. */
static bool
has_counts(const struct sample_tree *tree, uint32_t row,
           const struct slice_set *times)
{
	const struct timeline *timeline = tree->timeline;

	for (uint32_t i = 0; i < timeline->n_levels; i++)
		if (timeline_level_at(timeline, &timeline->levels[i], row,
		        timeline_last(timeline, times->slices), NULL) > 0)
			return true;
	for (uint32_t r = 0; r < tree->n_resources; r++) {
		uint64_t timed = 0;

		for (size_t i = timeline->first[row];
		     i < timeline->first[row + 1]; i++) {
			timed += timeline->hits[r][i];
			if ((times->slices >> timeline->slice[i] & 1) != 0 &&
			    timeline->hits[r][i] != 0)
				return true;
		}
		if (times->has_no_time && tree->hits[r][row] > timed)
			return true;
	}
	return false;
}

/*
 * The slices that are left after a step; a stack without hits in these is
 * dropped.
 */
static int
apply_time(const struct step *step, struct refining *refining,
           struct error *error)
{
	const struct sample_tree *tree = refining->tree;
	struct slice_set times;
	uint32_t n_left = 0;

	if (tree->timeline == NULL) {
		error_set(error, "the profile does not say when its hits were "
		          "counted; \"help when\" names the formats that do");
		return 1;
	}
	times = timeline_range(tree->timeline, step->begin_ns, step->end_ns);
	if (step->drops)
		times = (struct slice_set){ ~times.slices, true };
	times.slices &= refining->times.slices;
	times.has_no_time &= refining->times.has_no_time;
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		n_left += sample_tree_has_row(tree, node) &&
		    !(refining->flags[node] & NODE_DROPPED) &&
		    has_counts(tree, sample_tree_row(tree, node), &times);
	if (n_left == 0) {
		error_set(error, step->drops ? "every hit was counted in the "
		          "time %s, so nothing would be left" :
		          "no hit was counted in the time %s",
		          strstr(step->text, "time ") + 5);
		return 1;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++)
		if (!has_counts(tree, sample_tree_row(tree, node), &times))
			refining->flags[node] |= NODE_DROPPED;
	refining->times = times;
	refining_find_left(refining);
	return 0;
}

int
step_apply(const struct step *step, struct refining *refining,
           struct error *error)
{
	if (refining_look(refining, error) != 0)
		return -1;
	switch (step->kind) {
	case STEP_GROUP:
	case STEP_ENTRIES:
		return apply_group(step, refining, error);
	case STEP_TIME:
		return apply_time(step, refining, error);
	case STEP_PATH:
	case STEP_SECTIONS:
		break;
	}
	return apply_selection(step, refining, error);
}
