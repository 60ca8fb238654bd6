/* SPDX-License-Identifier: GPL-3.0-or-later */
/* v8_tree.h -- CPU profiles of V8 as the tree of a profile. */
#ifndef CPPROF_FORMATS_CHROME_V8_TREE_H
#define CPPROF_FORMATS_CHROME_V8_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/chrome/v8_profile.h"
#include "src/formats/reader.h"

/* Start with v8_tree_begin. */
struct v8_tree {
	struct reader reader;
	struct json_reader *json;	/* of the file */
	uint32_t time, samples;		/* resources, + 1; 0: none yet */
	int64_t earliest;		/* time of a sample of what was
					 * announced, */
	bool has_earliest;		/* if that is known */
	uint64_t n_unknown;		/* samples of nodes not in the file */
	uint64_t n_profiles;		/* entered */
	uint64_t n_endless;		/* of them: no end of the last sample */
};

/*
 * Begins to read; v8_tree_end must be called also after a failure.  0, or -1
 * with *error set; it is the JSON reader's error, too.
 */
int v8_tree_begin(struct v8_tree *tree, struct source *source,
                  const struct read_options *options, struct error *error);

/* Announces a profile; all are before the first is entered. */
void v8_tree_announce(struct v8_tree *tree, const struct v8_profile *v8);

/*
 * Enters the samples of a profile of V8 for the reader's thread.  Its names
 * must be those of the reader's profile.  There are two resources.  `time`, in
 * microseconds, charges a sample with the time until the next one.  `samples`
 * is the nodes' hit counts, or the number of samples if there are none.  When
 * they were taken is noted if the file has their times and what these count
 * from.  "(root)", which calls all others, is left out.  Samples of an id
 * without a node are "[unknown node]".  The file must have been read; if it is
 * cut, times may be missing.  0, or -1 with the reader's error set.
 */
int v8_tree_add(struct v8_tree *tree, const struct v8_profile *v8);

/*
 * As reader_end.  The profile gets its tree, and warnings of a cut input, of
 * unknown ends and of unknown nodes.
 */
struct profile *v8_tree_end(struct v8_tree *tree, int result,
                            struct error *error);

#endif
