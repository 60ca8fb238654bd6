/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope_stacks.h -- the stacks of one profile of a speedscope file.
 *
 * Frames are numbers, since their names may come behind.  The keys of a profile
 * come in any order: what was read before the unit, or before what it belongs
 * to, is kept until the profile ends.
 */
#ifndef CPPROF_FORMATS_SPEEDSCOPE_SPEEDSCOPE_STACKS_H
#define CPPROF_FORMATS_SPEEDSCOPE_SPEEDSCOPE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/json/json_number.h"
#include "src/formats/json/json_reader.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"

/* The label of a sample without frames; those of frames are below. */
#define SPEEDSCOPE_NO_STACK (UINT32_MAX - 1)

/* What weights are. */
enum speedscope_kind { SCOPE_NUMBERS, SCOPE_TIME, SCOPE_BYTES, N_SCOPE_KINDS };

struct speedscope_unit {
	const char *name;		/* in the file, "milliseconds" */
	enum speedscope_kind kind;
	const char *gtick;		/* "millisecond" */
	int power;			/* one is 10^power nanoseconds */
};

/* What the profiles of a file have in common; start with zeroes. */
struct speedscope_stacks {
	struct json_reader *json;
	struct profile *profile;	/* to which resources are added */
	struct tree_builder *builder;
	struct error *error;

	bool is_own;			/* export speedscope wrote the file: each
					 * profile is a resource in its unit,
					 * else those of one kind are one */
	uint32_t resource_of[N_SCOPE_KINDS];	/* number + 1; 0: none yet */
	bool has_frames;		/* n_frames is known, */
	uint32_t n_frames;
	uint32_t greatest;		/* else the greatest that was used, */
	uint64_t greatest_offset;	/* and where */
	uint64_t n_rounded;		/* weights that were no integers */
	uint64_t n_open;		/* frames that no event closed */

	/* The last stack, which the next one most often begins like. */
	uint32_t *labels, *nodes;
	size_t n, labels_capacity, nodes_capacity;

	/* What waits for the profile's end: weight i is that of node i. */
	uint32_t *waiting;
	struct decimal *weights;
	size_t n_waiting, n_weights, waiting_capacity, weights_capacity;
};

void speedscope_stacks_free(struct speedscope_stacks *stacks);

/*
 * Reads the value of a profile that is open; *name becomes its name, "" if it
 * has none, the arena's.  Failures set the error.
 */
void speedscope_stacks_read(struct speedscope_stacks *stacks,
                            const char **name);

#endif
