/* SPDX-License-Identifier: GPL-3.0-or-later */
/* when.h -- when hits came, as a line of characters.
 *
 * The run is divided into at most 32 buckets of one or two slices.  Each is a
 * character, the share of the bucket's hits:
 *
 * 	-	there are no hits in that part of the run
 * 	_	others have hits, this one has none
 * 	0-9	less than 10 %, from 10 % to less than 20 %, ..., 90 % and more
 */
#ifndef CPPROF_VIEWS_WHEN_H
#define CPPROF_VIEWS_WHEN_H

#include "src/views/view.h"

enum { WHEN_BUCKETS = 32 };

struct when {
	uint32_t n;			/* buckets in use; 0: the set does not
					 * say when its hits came */
	uint32_t n_slices;		/* of each bucket */
	uint64_t width_ns;		/* of each bucket */
	uint64_t totals[WHEN_BUCKETS];	/* hits of all stacks left */
};

/* O(nodes + entries). */
struct when when_of(const struct sample_set *set);

/* Writes n characters and a NUL for hits by slice. */
void when_draw(const struct when *when,
               const uint64_t times[TIMELINE_SLICES],
               char text[WHEN_BUCKETS + 1]);

/*
 * The hits by slice of the bodies of a function, which are added to
 * times[TIMELINE_SLICES].  The set has a timeline.  O(nodes).
 */
void when_add_body(const struct sample_set *set, uint32_t function,
                   uint64_t *times);

/*
 * 0 if a set says when its hits came; -1 with *error set, saying what has such
 * times.
 */
int when_need(const struct sample_set *set, struct error *error);

#endif
