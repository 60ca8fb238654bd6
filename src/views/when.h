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

/* The hits of a row by slice, and what is drawn of them. */
struct when_times {
	uint64_t hits[TIMELINE_SLICES];
};

struct when_text {
	char text[WHEN_BUCKETS + 1];
};

/* O(nodes + entries). */
struct when when_of(const struct sample_set *set);

/* when->n characters and a NUL. */
void when_draw(const struct when *when, const struct when_times *times,
               struct when_text *text);

/* Those of n rows, which live as long as the table; NULL with *error set. */
struct when_text *when_draw_rows(const struct when *when,
                                 const struct when_times *times, uint32_t n,
                                 struct table *table, struct error *error);

/*
 * If the request wants it, adds the column `when`, and if the table has a
 * pattern, puts it first there.  A line of the heading says what its characters
 * stand for, or that the input has no times.  *when: what when_of returns; if
 * its n is 0, there is no column.  0, or -1 with *error set.
 */
int when_add_column(const struct view_request *request, struct when *when,
                    struct table *table, struct error *error);

/*
 * The times of functions[n], which differ, to be freed: of their bodies, or of
 * the stacks that contain them.  The set has a timeline.  O(nodes + entries);
 * with descendants, a node counts for each function above it.  NULL with *error
 * set.
 */
struct when_times *when_of_functions(const struct sample_set *set,
                                     const uint32_t *functions, uint32_t n,
                                     bool are_bodies, struct error *error);

/*
 * 0 if a set says when its hits came; -1 with *error set, saying what has such
 * times.
 */
int when_need(const struct sample_set *set, struct error *error);

#endif
