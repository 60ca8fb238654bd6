/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.h -- when the hits of a sample tree were counted.
 *
 * The run is divided into at most 64 slices of equal width.  A timeline has,
 * for each row of counts of a tree, the slices that have some of them, in
 * order: entries first[row] .. first[row + 1] - 1.  Most rows have few, so the
 * hits of a subtree by slice, or those of some slices, are found in O(nodes +
 * entries).
 *
 * Invariant: the sum of a row's entries is at most the row's own counts, which
 * stay the truth.  What they lack has no time: its input had none, or the
 * process was killed before it was noted.
 */
#ifndef CPPROF_PROFILE_TIMELINE_H
#define CPPROF_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

enum { TIMELINE_SLICES = 64 };

struct timeline {
	uint64_t origin_ns;	/* when slice 0 begins; UTC since 1970, 0:
				 * unknown */
	uint64_t width_ns;	/* of each slice, at least 1 */
	uint32_t n_slices;	/* up to the last one with hits; at most
				 * TIMELINE_SLICES, at least 1 */
	uint32_t n_rows;	/* of the tree */
	uint32_t n_resources;
	size_t *first;		/* [n_rows + 1] */
	uint8_t *slice;		/* [first[n_rows]] */
	uint64_t **hits;	/* [n_resources][first[n_rows]] */
	uint64_t **samples;	/* likewise, raw samples */
};

/* A tree's own counts, which a timeline divides. */
struct timeline_rows {
	uint32_t n_rows, n_resources;
	uint64_t *const *hits;		/* [n_resources][n_rows] */
	uint64_t *const *samples;	/* likewise; samples[r] is NULL if each
					 * hit is one sample */
};

/* Counts of a row in a part of the run; width_ns 0: at a moment. */
struct moment {
	uint64_t begin_ns, width_ns;
	uint64_t hits, samples;
	uint32_t row, resource;
};

/*
 * The timeline of rows of which moments[n] are known, in any order.  Slices
 * are as wide as the widest of them, or wider by a power of two.  from_ns: what
 * begin_ns counts from.  Freed with timeline_free; NULL with *error set.  Time
 * and memory O(n + rows).
 */
struct timeline *timeline_new(const struct timeline_rows *rows,
                              const struct moment *moments, size_t n,
                              uint64_t from_ns, uint64_t origin_ns,
                              struct error *error);
void timeline_free(struct timeline *timeline);

/* The width of the slices of moments from 0 to last_ns. */
uint64_t timeline_width(uint64_t last_ns);

/*
 * The timeline of rows that are sums of those of another one: row i of `from`
 * became part of row to[i], or of none if that is 0.  Likewise.
 */
struct timeline *timeline_move(const struct timeline *from,
                               const struct timeline_rows *rows,
                               const uint32_t *to, struct error *error);

/* Drops all resources except the first n. */
void timeline_keep_resources(struct timeline *timeline, uint32_t n);

/* A set of slices. */
struct slice_set {
	uint64_t slices;	/* bit i: slice i */
	bool has_no_time;	/* and what belongs to no slice */
};

#define ALL_TIMES ((struct slice_set){ UINT64_MAX, true })

/* Whether a set is ALL_TIMES. */
static inline bool
slice_set_is_whole(const struct slice_set *set)
{
	return set->slices == UINT64_MAX && set->has_no_time;
}

/*
 * The slices that a part of the run touches, in ns from the start.  None if it
 * lies after the last slice.
 */
struct slice_set timeline_range(const struct timeline *timeline,
                                uint64_t begin_ns, uint64_t end_ns);

#endif
