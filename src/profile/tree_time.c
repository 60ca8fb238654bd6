/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_time.c -- the part of a sample tree's hits that belongs to some time. */
#include "src/profile/sample_tree.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/* Adds a level's values in the slices that are shown. */
static void
add_levels(const struct sample_tree *tree, const struct timeline_level *level,
           uint32_t begin, uint32_t end, uint64_t *sums)
{
	const struct timeline *timeline = tree->timeline;

	for (uint32_t node = begin; node < end; node++) {
		const uint32_t row = sample_tree_row(tree, node);
		size_t i = timeline->first[row];
		uint64_t gained = 0, lost = 0;

		if (i == timeline->first[row + 1])
			continue;
		for (uint32_t slice = timeline->slice[i];
		     slice < timeline->n_slices; slice++) {
			if (i < timeline->first[row + 1] &&
			    timeline->slice[i] == slice) {
				gained += level->changes[i].gained;
				lost += level->changes[i].lost;
				i++;
			}
			if (gained > lost && (timeline->shown >> slice & 1) !=
			    0)
				sums[slice] += gained - lost;
		}
	}
}

void
tree_time_add(const struct sample_tree *tree, uint32_t resource,
              uint32_t begin, uint32_t end, uint64_t *sums)
{
	const struct timeline *timeline = tree->timeline;
	const struct timeline_level *level = timeline_find_level(timeline,
	                                                         resource);
	const uint64_t *hits = timeline->hits[resource];

	if (level != NULL) {
		add_levels(tree, level, begin, end, sums);
		return;
	}
	for (uint32_t node = begin; node < end; node++) {
		const uint32_t row = sample_tree_row(tree, node);

		for (size_t i = timeline->first[row];
		     i < timeline->first[row + 1]; i++)
			sums[timeline->slice[i]] += hits[i];
	}
}

/*
 * What remains of a row's counts: those of the set's slices, and if the set
 * says so those without time.
 */
static uint64_t
select_row(const struct timeline *timeline, const struct slice_set *set,
           uint32_t row, uint64_t count, uint64_t *entries)
{
	uint64_t kept = 0, timed = 0;

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++) {
		timed += entries[i];
		if ((set->slices >> timeline->slice[i] & 1) != 0)
			kept += entries[i];
		else
			entries[i] = 0;
	}
	return kept + (set->has_no_time ? count - timed : 0);
}

/*
 * A level's values at the end of the set.  At the end of the run it is what the
 * rows say, whether they know their times or not.
 */
static void
select_level(struct sample_tree *to, const struct sample_tree *from,
             const struct timeline_level *level, const struct slice_set *set)
{
	const struct timeline *timeline = from->timeline;
	const uint32_t last = timeline_last(timeline, set->slices);
	const uint32_t r = level->resource;

	for (uint32_t row = 0; row < to->n_rows; row++) {
		if (last + 1 == timeline->n_slices && set->has_no_time) {
			to->hits[r][row] = from->hits[r][row];
			to->samples[r][row] = from->samples[r] != NULL ?
			    from->samples[r][row] : from->hits[r][row];
		} else {
			to->hits[r][row] = timeline_level_at(timeline, level,
			    row, last, &to->samples[r][row]);
		}
	}
}

/* Fills in one resource of a selection, whose timeline is a copy. */
static int
select_resource(struct sample_tree *to, const struct sample_tree *from,
                uint32_t r, const struct slice_set *set, struct error *error)
{
	struct timeline *timeline = to->timeline;
	const struct timeline_level *level = timeline_find_level(timeline, r);

	if (large_array_zeroed(&to->hits[r], to->n_rows, sizeof(uint64_t),
	                       error) != 0 ||
	    large_array_zeroed(&to->samples[r], to->n_rows, sizeof(uint64_t),
	                       error) != 0)
		return -1;
	for (uint32_t row = 0; row < to->n_rows; row++) {
		const uint64_t hits = from->hits[r][row];

		to->hits[r][row] = select_row(timeline, set, row, hits,
		                              timeline->hits[r]);
		to->samples[r][row] = select_row(timeline, set, row,
		    from->samples[r] != NULL ? from->samples[r][row] : hits,
		    timeline->samples[r]);
	}
	if (level != NULL)
		select_level(to, from, level, set);
	return 0;
}

static struct timeline *
copy_timeline(const struct sample_tree *tree, struct error *error)
{
	const struct timeline_rows rows = sample_tree_rows(tree);
	uint32_t *to = memory_array(tree->n_rows, sizeof *to, error);
	struct timeline *copy = NULL;

	if (to == NULL)
		return NULL;
	for (uint32_t i = 0; i < tree->n_rows; i++)
		to[i] = i;
	copy = timeline_move(tree->timeline, &rows, to, error);
	free(to);
	return copy;
}

struct sample_tree *
tree_time_select(const struct sample_tree *tree, const struct slice_set *set,
                struct error *error)
{
	struct sample_tree *selection = memory_copy(tree, 1, sizeof *tree,
	                                            error);

	if (selection == NULL)
		return NULL;
	selection->hits = memory_array(tree->n_resources, sizeof(uint64_t *),
	                               error);
	selection->samples = memory_array(tree->n_resources,
	                                  sizeof(uint64_t *), error);
	selection->timeline = copy_timeline(tree, error);
	for (uint32_t r = 0; !error->is_set && r < tree->n_resources; r++)
		select_resource(selection, tree, r, set, error);
	if (selection->timeline != NULL)
		selection->timeline->shown &= set->slices;
	if (!error->is_set)
		return selection;
	tree_time_free(selection);
	return NULL;
}

void
tree_time_free(struct sample_tree *selection)
{
	if (selection == NULL)
		return;
	large_array_free_each(selection->hits, selection->n_resources);
	large_array_free_each(selection->samples, selection->n_resources);
	timeline_free(selection->timeline);
	free(selection);
}
