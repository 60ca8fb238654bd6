/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope_stacks.h -- the stacks of one profile of a speedscope file.
 *
 * Frames are numbers, since their names may come later in the file.  The keys
 * of a profile come in any order: samples and weights that cannot be added yet
 * are kept until the profile ends.
 */
#ifndef CPPROF_FORMATS_SPEEDSCOPE_SPEEDSCOPE_STACKS_H
#define CPPROF_FORMATS_SPEEDSCOPE_SPEEDSCOPE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/json/json_number.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/speedscope/speedscope_times.h"

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
