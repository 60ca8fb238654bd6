/* SPDX-License-Identifier: GPL-3.0-or-later */
/* v8_tree.h -- CPU profiles of V8 as the tree of a profile. */
#ifndef CPPROF_FORMATS_CHROME_V8_TREE_H
#define CPPROF_FORMATS_CHROME_V8_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/chrome/v8_profile.h"
#include "src/profile/profile.h"

/* Start with { .profile, .builder }, the builder without resources. */
struct v8_tree {
	struct profile *profile;
	struct tree_builder *builder;	/* its labels become frames */
	uint32_t time, samples;		/* resources, + 1; 0: there is none yet */
	uint64_t n_unknown;		/* samples of nodes not in the file */
	uint64_t n_profiles;		/* entered */
	uint64_t n_endless;		/* of them: no end of the last sample */
};

/*
 * Enters the samples of a profile of V8, whose names must be those of the
 * profile.  There are two resources.  `time`, in microseconds, charges a sample
 * with the time until the next one.  `samples` is the nodes' hit counts, or the
 * number of samples if there are none.  "(root)", which calls all others, is
 * left out.  Samples of an id without a node are "[unknown node]".  is_cut: the
 * input ended early, so that times may be missing.  0, or -1 with *error set.
 */
int v8_tree_add(struct v8_tree *tree, const struct v8_profile *v8, bool is_cut,
                struct error *error);

/* Warns of a cut input, of unknown ends and nodes; 0, or -1 with *error set. */
int v8_tree_warn(struct v8_tree *tree, const struct json_reader *json,
                 struct error *error);

#endif
