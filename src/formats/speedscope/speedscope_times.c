/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope_times.c -- when the stacks of a speedscope file were running. */
#include "src/formats/speedscope/speedscope.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/sample_tree.h"

enum {
	STRETCHES_A_STEP = 1 << 16,
	/* Of a run, so many stretches are hardly ever all of other stacks. */
	STRETCHES_OF_A_SUM = 64,
};

void
speedscope_times_free(struct speedscope_times *times)
{
	free(times->stretches);
}

void
speedscope_times_begin(struct speedscope_times *times)
{
	times->first = times->n;
	times->clock_ns = 0;
	times->is_beyond = false;
}

void
speedscope_times_pass(struct speedscope_times *times, int64_t length_ns)
{
	times->is_beyond |= __builtin_add_overflow(times->clock_ns, length_ns,
	                                           &times->clock_ns);
}

int
speedscope_times_add(struct speedscope_times *times, uint32_t node,
                     uint64_t length_ns, struct error *error)
{
	if (times->is_beyond)
		return 0;
	if (memory_grow(&times->stretches, &times->capacity, times->n + 1,
	                sizeof *times->stretches, error) != 0)
		return -1;
	times->stretches[times->n++] = (struct stretch){ times->clock_ns,
		length_ns, node };
	speedscope_times_pass(times, (int64_t)length_ns);
	return 0;
}

/*
 * Whether the profile's stretches are the stacks of a sum, such as one that
 * was converted from a format without times: their order says nothing.
 */
static bool
speedscope_times_is_sum(const struct speedscope_times *times,
                        struct error *error)
{
	const struct stretch *stretches = times->stretches + times->first;
	const size_t n = times->n - times->first;
	uint32_t least = NO_NODE, most = 0;
	bool *is_seen;
	size_t i = 0;

	if (n < STRETCHES_OF_A_SUM)
		return false;
	for (i = 0; i < n; i++) {
		if (stretches[i].node < least)
			least = stretches[i].node;
		if (stretches[i].node > most)
			most = stretches[i].node;
	}
	is_seen = memory_array((size_t)(most - least) + 1, sizeof *is_seen,
	                       error);
	for (i = 0; is_seen != NULL && i < n &&
	     !is_seen[stretches[i].node - least]; i++)
		is_seen[stretches[i].node - least] = true;
	free(is_seen);
	return i == n;
}

/* Lets times count from that of all profiles; false: some exceed 63 bits. */
static bool
move(struct speedscope_times *times, int64_t start_ns)
{
	for (size_t i = times->first; i < times->n; i++) {
		struct stretch *stretch = &times->stretches[i];
		int64_t end;

		if (__builtin_add_overflow(stretch->begin_ns, start_ns,
		                           &stretch->begin_ns) ||
		    __builtin_add_overflow(stretch->begin_ns,
		                           stretch->length_ns, &end))
			return false;
	}
	return true;
}

int
speedscope_times_end(struct speedscope_times *times, int64_t start_ns,
                     bool is_known, struct error *error)
{
	if (!is_known || times->is_beyond ||
	    speedscope_times_is_sum(times, error) || !move(times, start_ns))
		times->n = times->first;
	return error->is_set ? -1 : 0;
}

/* A part begins where a slice of the timeline does, which may be wider. */
static int
note_stretch(const struct stretch *stretch, uint64_t at, uint64_t width,
             struct reader *reader, uint32_t column, struct error *error)
{
	uint64_t left = stretch->length_ns, n_samples = 1;

	do {
		const uint64_t next = width - at % width;
		const uint64_t part = left < next ? left : next;

		if (reader_add_time(reader, stretch->node, column, at, part,
		                    n_samples, error) != 0)
			return -1;
		n_samples = 0;
		at += part;
		left -= part;
	} while (left > 0);
	return 0;
}

int
speedscope_times_note(const struct speedscope_times *times,
                      struct reader *reader, uint32_t column,
                      struct error *error)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint64_t length, width;

	if (times->n == 0)
		return 0;
	for (size_t i = 0; i < times->n; i++) {
		const struct stretch *stretch = &times->stretches[i];
		const int64_t end = stretch->begin_ns +
		                    (int64_t)stretch->length_ns;

		if (stretch->begin_ns < first)
			first = stretch->begin_ns;
		if (end > last)
			last = end;
	}
	length = (uint64_t)last - (uint64_t)first;
	width = timeline_width(length > 0 ? length - 1 : 0);
	for (size_t i = 0; i < times->n; i++) {
		if (i % STRETCHES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (note_stretch(&times->stretches[i],
		        (uint64_t)times->stretches[i].begin_ns -
		        (uint64_t)first, width, reader, column, error) != 0)
			return -1;
	}
	return 0;
}
