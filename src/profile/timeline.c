/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c -- counts by row and slice.
 *
 * Whatever a timeline is made of is first put in the order of rows by a
 * counting sort.  Then a row is added up in an array with a place for each
 * slice, from which the places in use are copied.
 */
#include "src/profile/sample_tree.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/*
 * The narrowest slices that moments make: 1/512 s.  The collector's slices are
 * such times a power of two.
 */
#define LEAST_WIDTH_NS 1953125u

/* A row that is being added up. */
struct timeline_sum {
	uint64_t used;		/* bit i: slice i has counts */
	uint64_t *hits, *samples;	/* [TIMELINE_SLICES][n_resources] */
	struct level_change *changes;	/* [TIMELINE_SLICES][n_levels] */
};

struct timeline_making {
	struct timeline *timeline;
	const struct timeline_rows *rows;
	size_t n, capacity;	/* entries */
	size_t counts_capacity;
	struct timeline_sum sum;
};

void
timeline_free(struct timeline *timeline)
{
	if (timeline == NULL)
		return;
	large_array_free_each(timeline->hits, timeline->n_resources);
	large_array_free_each(timeline->samples, timeline->n_resources);
	for (uint32_t i = 0; i < timeline->n_levels; i++)
		large_array_free(timeline->levels[i].changes);
	free(timeline->levels);
	large_array_free(timeline->first);
	large_array_free(timeline->slice);
	free(timeline);
}

/* Takes out the level that a resource is, if it is one. */
static void
timeline_drop_level(struct timeline *timeline, uint32_t resource)
{
	for (uint32_t i = 0; i < timeline->n_levels; i++) {
		if (timeline->levels[i].resource != resource)
			continue;
		large_array_free(timeline->levels[i].changes);
		timeline->levels[i] = timeline->levels[--timeline->n_levels];
		return;
	}
}

void
timeline_drop_resource(struct timeline *timeline, uint32_t resource)
{
	timeline_drop_level(timeline, resource);
	for (uint32_t i = 0; i < timeline->n_levels; i++)
		timeline->levels[i].resource -=
		    timeline->levels[i].resource > resource;
	large_array_drop(timeline->hits, timeline->n_resources, resource);
	large_array_drop(timeline->samples, timeline->n_resources, resource);
	timeline->n_resources--;
}

void
timeline_keep_resources(struct timeline *timeline, uint32_t n)
{
	for (uint32_t r = n; r < timeline->n_resources; r++)
		timeline_drop_level(timeline, r);
	while (timeline->n_resources > n) {
		const uint32_t last = --timeline->n_resources;

		large_array_free(timeline->hits[last]);
		large_array_free(timeline->samples[last]);
	}
}

/* The levels that `like` has, still without changes. */
static int
making_begin_levels(struct timeline_making *making,
                    const struct timeline *like, struct error *error)
{
	struct timeline *timeline = making->timeline;

	timeline->levels = memory_copy(like->levels, like->n_levels,
	                               sizeof *like->levels, error);
	making->sum.changes = memory_array(
	    (size_t)TIMELINE_SLICES * like->n_levels,
	    sizeof *making->sum.changes, error);
	if (timeline->levels == NULL || making->sum.changes == NULL)
		return -1;
	for (uint32_t i = 0; i < like->n_levels; i++)
		timeline->levels[i].changes = NULL;
	timeline->n_levels = like->n_levels;
	timeline->shown = like->shown;
	return 0;
}

/* like: the timeline that it is made of; NULL: it is made of moments. */
static int
making_begin(struct timeline_making *making, const struct timeline_rows *rows,
             const struct timeline *like, struct error *error)
{
	struct timeline *timeline = memory_array(1, sizeof *timeline, error);
	const size_t n = (size_t)TIMELINE_SLICES * rows->n_resources;

	*making = (struct timeline_making){ .timeline = timeline,
		                            .rows = rows };
	if (timeline == NULL)
		return -1;
	timeline->n_rows = rows->n_rows;
	timeline->n_resources = rows->n_resources;
	timeline->width_ns = 1;
	timeline->n_slices = 1;
	timeline->hits = memory_array(rows->n_resources,
	                              sizeof *timeline->hits, error);
	timeline->samples = memory_array(rows->n_resources,
	                                 sizeof *timeline->samples, error);
	making->sum.hits = memory_array(n, sizeof(uint64_t), error);
	making->sum.samples = memory_array(n, sizeof(uint64_t), error);
	timeline->shown = UINT64_MAX;
	if (like != NULL && like->n_levels > 0)
		making_begin_levels(making, like, error);
	return error->is_set ? -1 :
	    large_array_zeroed(&timeline->first, (size_t)rows->n_rows + 1,
	                       sizeof *timeline->first, error);
}

/* The timeline if all went well; otherwise frees it and returns NULL. */
static struct timeline *
making_end(struct timeline_making *making, const struct error *error)
{
	free(making->sum.hits);
	free(making->sum.samples);
	free(making->sum.changes);
	if (!error->is_set)
		return making->timeline;
	timeline_free(making->timeline);
	return NULL;
}

static void
sum_add(struct timeline_making *making, uint32_t slice, uint32_t resource,
        uint64_t hits, uint64_t samples)
{
	const size_t at = (size_t)slice * making->rows->n_resources + resource;

	making->sum.used |= (uint64_t)1 << slice;
	count_add(&making->sum.hits[at], hits);
	count_add(&making->sum.samples[at], samples);
}

static int
grow_entries(struct timeline_making *making, struct error *error)
{
	struct timeline *timeline = making->timeline;
	size_t capacity = making->capacity > 0 ? 2 * making->capacity : 1024;

	if (making->n + TIMELINE_SLICES <= making->capacity)
		return 0;
	for (uint32_t r = 0; r < timeline->n_resources; r++)
		if (large_array_reserve(&timeline->hits[r], capacity,
		                        sizeof(uint64_t), error) != 0 ||
		    large_array_reserve(&timeline->samples[r], capacity,
		                        sizeof(uint64_t), error) != 0)
			return -1;
	for (uint32_t i = 0; i < timeline->n_levels; i++)
		if (large_array_reserve(&timeline->levels[i].changes, capacity,
		                        sizeof(struct level_change),
		                        error) != 0)
			return -1;
	if (large_array_reserve(&timeline->slice, capacity,
	                        sizeof *timeline->slice, error) != 0)
		return -1;
	making->capacity = capacity;
	return 0;
}

/* The part of `count` that is left of what a row has. */
static uint64_t
take_of(uint64_t *left, uint64_t count)
{
	if (count > *left)
		count = *left;
	*left -= count;
	return count;
}

/* Makes a row's changes of levels of the sum. */
static void
sum_finish_levels(struct timeline_making *making)
{
	struct timeline *timeline = making->timeline;
	const uint32_t n = timeline->n_levels;

	for (uint32_t level = 0; level < n; level++) {
		uint64_t used = making->sum.used;

		for (size_t i = making->n; used != 0; used &= used - 1, i++) {
			struct level_change *change = &making->sum.changes[
			    (size_t)__builtin_ctzll(used) * n + level];

			timeline->levels[level].changes[i] = *change;
			*change = (struct level_change){ 0 };
		}
	}
}

/*
 * Makes a row's entries of the sum, which is empty afterwards.  Later slices
 * lose what is beyond the row's own counts.
 */
static int
sum_finish(struct timeline_making *making, uint32_t row, struct error *error)
{
	const struct timeline_rows *rows = making->rows;
	struct timeline *timeline = making->timeline;
	const uint32_t n_resources = rows->n_resources;

	if (grow_entries(making, error) != 0)
		return -1;
	for (uint32_t r = 0; r < n_resources; r++) {
		uint64_t hits = rows->hits[r][row], used = making->sum.used;
		uint64_t samples = rows->samples[r] != NULL ?
		    rows->samples[r][row] : hits;

		for (size_t i = making->n; used != 0; used &= used - 1, i++) {
			const size_t at = (size_t)__builtin_ctzll(used) *
			    n_resources + r;

			timeline->hits[r][i] = take_of(&hits,
			    making->sum.hits[at]);
			timeline->samples[r][i] = take_of(&samples,
			    making->sum.samples[at]);
			making->sum.hits[at] = making->sum.samples[at] = 0;
		}
	}
	sum_finish_levels(making);
	for (; making->sum.used != 0; making->sum.used &= making->sum.used - 1) {
		const uint32_t slice =
		    (uint32_t)__builtin_ctzll(making->sum.used);

		timeline->slice[making->n++] = (uint8_t)slice;
		if (slice >= timeline->n_slices)
			timeline->n_slices = slice + 1;
	}
	timeline->first[row + 1] = making->n;
	return 0;
}

/*
 * Turns the numbers of items per row, [row + 1], into their places; place[row]
 * is then where the next item of that row goes.
 */
static void
timeline_find_places(size_t *place, uint32_t n_rows)
{
	for (uint32_t i = 1; i <= n_rows; i++)
		place[i] += place[i - 1];
}

/* ---- of moments ---- */

/* The least width, from `width` on by doubling, that has so few slices. */
static uint64_t
timeline_widen(uint64_t width, uint64_t last_ns)
{
	while (last_ns / width >= TIMELINE_SLICES && width <= UINT64_MAX / 2)
		width *= 2;
	return width;
}

uint64_t
timeline_width(uint64_t last_ns)
{
	return timeline_widen(LEAST_WIDTH_NS, last_ns);
}

static uint64_t
choose_width(const struct moment *moments, size_t n, uint64_t from_ns)
{
	uint64_t width = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		if (moments[i].width_ns > width)
			width = moments[i].width_ns;
		if (moments[i].begin_ns > last)
			last = moments[i].begin_ns;
	}
	return timeline_widen(width > 0 ? width : LEAST_WIDTH_NS,
	                      last > from_ns ? last - from_ns : 0);
}

static int
timeline_add_moments(struct timeline_making *making,
                     const struct moment *moments, size_t n, uint64_t from_ns,
                     struct error *error)
{
	const uint64_t width = making->timeline->width_ns;
	const uint32_t n_rows = making->rows->n_rows;
	size_t *place = NULL;
	uint32_t *order = NULL;
	int result = -1;

	if (n > UINT32_MAX)
		return error_set(error, "more than 4,294,967,295 moments");
	if (large_array_zeroed(&place, (size_t)n_rows + 1, sizeof *place,
	                       error) == 0 &&
	    large_array_reserve(&order, n, sizeof *order, error) == 0) {
		for (size_t i = 0; i < n; i++)
			place[moments[i].row + 1]++;
		timeline_find_places(place, n_rows);
		for (size_t i = 0; i < n; i++)
			order[place[moments[i].row]++] = (uint32_t)i;
		result = 0;
	}
	for (uint32_t row = 0; result == 0 && row < n_rows; row++) {
		/* After the sort, place[row] is the end of the row's items. */
		size_t i = row > 0 ? place[row - 1] : 0;

		for (; i < place[row]; i++) {
			const struct moment *one = &moments[order[i]];
			const uint64_t slice = one->begin_ns > from_ns ?
			    (one->begin_ns - from_ns) / width : 0;

			sum_add(making, (uint32_t)(slice < TIMELINE_SLICES ?
			        slice : TIMELINE_SLICES - 1), one->resource,
			        one->hits, one->samples);
		}
		result = sum_finish(making, row, error);
	}
	large_array_free(place);
	large_array_free(order);
	return result;
}

struct timeline *
timeline_new(const struct timeline_rows *rows, const struct moment *moments,
             size_t n, uint64_t from_ns, uint64_t origin_ns,
             struct error *error)
{
	struct timeline_making making;

	if (making_begin(&making, rows, NULL, error) == 0) {
		making.timeline->width_ns = choose_width(moments, n, from_ns);
		making.timeline->origin_ns = origin_ns;
		timeline_add_moments(&making, moments, n, from_ns, error);
	}
	return making_end(&making, error);
}

/* ---- of another timeline ---- */

static void
timeline_add_change(struct level_change *sum, const struct level_change *more)
{
	count_add(&sum->gained, more->gained);
	count_add(&sum->lost, more->lost);
	count_add(&sum->samples_gained, more->samples_gained);
	count_add(&sum->samples_lost, more->samples_lost);
}

static void
timeline_add_row(struct timeline_making *making, const struct timeline *from,
                 uint32_t row)
{
	const uint32_t n = from->n_levels;

	for (size_t i = from->first[row]; i < from->first[row + 1]; i++) {
		for (uint32_t r = 0; r < from->n_resources; r++)
			sum_add(making, from->slice[i], r, from->hits[r][i],
			        from->samples[r][i]);
		for (uint32_t level = 0; level < n; level++)
			timeline_add_change(&making->sum.changes[
			    (size_t)from->slice[i] * n + level],
			    &from->levels[level].changes[i]);
	}
}

static int
timeline_add_rows(struct timeline_making *making, const struct timeline *from,
                  const uint32_t *to, struct error *error)
{
	const uint32_t n_rows = making->rows->n_rows;
	size_t *place = NULL;
	uint32_t *order = NULL;
	int result = -1;

	if (large_array_zeroed(&place, (size_t)n_rows + 1, sizeof *place,
	                       error) == 0 &&
	    large_array_reserve(&order, from->n_rows, sizeof *order,
	                        error) == 0) {
		for (uint32_t i = 0; i < from->n_rows; i++)
			place[to[i] + 1]++;
		timeline_find_places(place, n_rows);
		for (uint32_t i = 0; i < from->n_rows; i++)
			order[place[to[i]]++] = i;
		result = 0;
	}
	for (uint32_t row = 0; result == 0 && row < n_rows; row++) {
		size_t i = row > 0 ? place[row - 1] : place[0];

		for (; i < place[row]; i++)
			timeline_add_row(making, from, order[i]);
		result = sum_finish(making, row, error);
	}
	large_array_free(place);
	large_array_free(order);
	return result;
}

struct timeline *
timeline_move(const struct timeline *from, const struct timeline_rows *rows,
              const uint32_t *to, struct error *error)
{
	struct timeline_making making;

	if (making_begin(&making, rows, from, error) == 0) {
		making.timeline->width_ns = from->width_ns;
		making.timeline->origin_ns = from->origin_ns;
		timeline_add_rows(&making, from, to, error);
		if (making.timeline->n_slices < from->n_slices)
			making.timeline->n_slices = from->n_slices;
	}
	return making_end(&making, error);
}

struct slice_set
timeline_range(const struct timeline *timeline, uint64_t begin_ns,
               uint64_t end_ns)
{
	const uint64_t first = begin_ns / timeline->width_ns;
	uint64_t end = end_ns / timeline->width_ns +
	    (end_ns % timeline->width_ns != 0);
	struct slice_set set = { 0 };

	if (end > timeline->n_slices)
		end = timeline->n_slices;
	for (uint64_t i = first; i < end; i++)
		set.slices |= (uint64_t)1 << i;
	return set;
}

/* ---- levels ---- */

int
timeline_add_level(struct timeline *timeline, uint32_t resource,
                   uint32_t gain, uint32_t loss, struct error *error)
{
	const size_t n = timeline->first[timeline->n_rows];
	struct timeline_level level = { .resource = resource }, *levels;

	levels = memory_array((size_t)timeline->n_levels + 1, sizeof *levels,
	                      error);
	if (levels == NULL || large_array_reserve(&level.changes, n,
	        sizeof *level.changes, error) != 0) {
		free(levels);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		level.changes[i] = (struct level_change){
			timeline->hits[gain][i], timeline->hits[loss][i],
			timeline->samples[gain][i], timeline->samples[loss][i],
		};
	if (timeline->n_levels > 0)
		memcpy(levels, timeline->levels,
		       timeline->n_levels * sizeof *levels);
	levels[timeline->n_levels++] = level;
	free(timeline->levels);
	timeline->levels = levels;
	return 0;
}

const struct timeline_level *
timeline_find_level(const struct timeline *timeline, uint32_t resource)
{
	for (uint32_t i = 0; i < timeline->n_levels; i++)
		if (timeline->levels[i].resource == resource)
			return &timeline->levels[i];
	return NULL;
}

uint64_t
timeline_level_at(const struct timeline *timeline,
                  const struct timeline_level *level, uint32_t row,
                  uint32_t slice, uint64_t *samples)
{
	struct level_change sum = { 0 };

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1] &&
	     timeline->slice[i] <= slice; i++)
		timeline_add_change(&sum, &level->changes[i]);
	if (samples != NULL)
		*samples = sum.samples_gained > sum.samples_lost ?
		    sum.samples_gained - sum.samples_lost : 0;
	return sum.gained > sum.lost ? sum.gained - sum.lost : 0;
}

uint32_t
timeline_last(const struct timeline *timeline, uint64_t slices)
{
	uint32_t last = timeline->n_slices - 1;

	while (last > 0 && (slices >> last & 1) == 0)
		last--;
	return last;
}
