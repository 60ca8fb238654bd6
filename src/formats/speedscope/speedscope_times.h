/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope_times.h -- when the stacks of a speedscope file were running.
 *
 * The file says how long each stack lasted, in order.  What a moment counts
 * from is known when a profile has ended, and how wide the timeline's slices
 * are when all have, so the stretches of time are kept until then.
 */
#ifndef CPPROF_FORMATS_SPEEDSCOPE_SPEEDSCOPE_TIMES_H
#define CPPROF_FORMATS_SPEEDSCOPE_SPEEDSCOPE_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/reader.h"

/* Start with zeroes. */
struct speedscope_times {
	struct stretch {
		int64_t begin_ns;
		uint64_t length_ns;	/* the hits that were added */
		uint32_t node;
	} *stretches;
	size_t n, capacity;

	/* Of the profile that is being read. */
	size_t first;			/* its first stretch */
	int64_t clock_ns;		/* from its start */
	bool is_beyond;			/* the clock passed 63 bits */
};

void speedscope_times_free(struct speedscope_times *times);

/* A profile of the file begins. */
void speedscope_times_begin(struct speedscope_times *times);

/* The stack of a node lasted so long; 0, or -1 with *error set. */
int speedscope_times_add(struct speedscope_times *times, uint32_t node,
                         uint64_t length_ns, struct error *error);

/* No stack did; less than 0: the clock was set back. */
void speedscope_times_pass(struct speedscope_times *times, int64_t length_ns);

/*
 * The profile ends.  start_ns: when it began, by the clock of all profiles.
 * is_known: whether that is so; if not, its stretches have no times.  Nor have
 * those of a profile that is a sum: many stacks, and each comes once.  0, or
 * -1 with *error set.
 */
int speedscope_times_end(struct speedscope_times *times, int64_t start_ns,
                         bool is_known, struct error *error);

/*
 * Notes the times of all stretches, whose hits the reader has in `column`.  A
 * stretch is spread over the slices that it lasts.  0, or -1 with *error set.
 */
int speedscope_times_note(const struct speedscope_times *times,
                          struct reader *reader, uint32_t column,
                          struct error *error);

#endif
