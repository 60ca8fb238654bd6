/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope.h -- the parts of speedscope's format, for the files of this
 * folder.
 */
#ifndef CPPROF_SPEEDSCOPE_SPEEDSCOPE_H
#define CPPROF_SPEEDSCOPE_SPEEDSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"

/* ---- speedscope_times.c ---- */

/*
 * When the stacks of a speedscope file were running.
 *
 * The file says how long each stack lasted, in order.  What a moment counts
 * from is known when a profile has ended, and how wide the timeline's slices
 * are when all have, so the stretches of time are kept until then.
 */

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

/* The stack of a node lasted so long. */
int speedscope_times_add(struct speedscope_times *times, uint32_t node,
                         uint64_t length_ns, struct error *error);

/* No stack did; less than 0: the clock was set back. */
void speedscope_times_pass(struct speedscope_times *times, int64_t length_ns);

/*
 * The profile ends.  start_ns: when it began, by the clock of all profiles.
 * is_known: whether that is so; if not, its stretches have no times.  Nor have
 * those of a profile that is a sum: many stacks, and each comes once.
 */
int speedscope_times_end(struct speedscope_times *times, int64_t start_ns,
                         bool is_known, struct error *error);

/*
 * Notes the times of all stretches, whose hits the reader has in `column`.  A
 * stretch is spread over the slices that it lasts.
 */
int speedscope_times_note(const struct speedscope_times *times,
                          struct reader *reader, uint32_t column,
                          struct error *error);

/* ---- speedscope_stacks.c ---- */

/*
 * The stacks of one profile of a speedscope file.
 *
 * Frames are numbers, since their names may come later in the file.  The keys
 * of a profile come in any order: samples and weights that cannot be added yet
 * are kept until the profile ends.
 */

/* The label of a sample without frames; frames have smaller labels. */
#define SPEEDSCOPE_NO_STACK (UINT32_MAX - 1)

/* What weights are. */
enum speedscope_kind { SPEEDSCOPE_NUMBERS, SPEEDSCOPE_TIME, SPEEDSCOPE_BYTES,
                       N_SPEEDSCOPE_KINDS };

/* What the profiles of a file have in common; start with zeroes. */
struct speedscope_stacks {
	struct reader *reader;		/* gets resources and stacks */
	struct json_reader *json;
	struct error *error;

	bool is_own;			/* export speedscope wrote the file, and
					 * each profile is a resource; else each
					 * kind is */
	uint32_t resource_of[N_SPEEDSCOPE_KINDS];	/* + 1; 0: none yet */
	struct speedscope_times times;	/* of the resource SPEEDSCOPE_TIME,
					 * unless is_own */
	bool has_frames;		/* "frames" has been read */
	uint32_t n_frames;		/* how many it has */
	uint32_t greatest;		/* the greatest frame in a sample, */
	uint64_t greatest_offset;	/* and its offset */
	uint64_t n_rounded;		/* weights that were no integers */
	uint64_t n_open;		/* frames that no event closed */
	uint64_t strange_unit_offset;	/* of the first unit that speedscope
					 * does not have; 0: none */

	/* The last stack; the next one often has the same outer frames. */
	uint32_t *labels, *nodes;
	size_t n, labels_capacity, nodes_capacity;

	/*
	 * Nodes and their weights, to be added when the profile ends; NO_NODE:
	 * time without a stack.
	 */
	uint32_t *waiting;
	struct decimal *weights;
	size_t n_waiting, n_weights, waiting_capacity, weights_capacity;
};

void speedscope_stacks_free(struct speedscope_stacks *stacks);

/*
 * Reads a profile, whose object is open.  *name becomes its name, which belongs
 * to the arena, or "" if it has none.  Failures set the error.
 */
void speedscope_stacks_read(struct speedscope_stacks *stacks,
                            const char **name);

#endif
