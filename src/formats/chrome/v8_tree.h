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
	uint64_t n_unknown;		/* samples of nodes that are not there */
	uint64_t n_profiles;		/* entered */
	uint64_t n_endless;		/* of them: no end of the last sample */
};

/*
 * Enters the samples of a profile of V8, whose names are the profile's.  There
 * are two resources: `time` in microseconds, of a sample what passed until the
 * next one; and `samples`, the hit counts where the nodes have some.  "(root)",
 * which calls all else, is left out; samples of ids that no node has are those of
 * "[unknown node]".  is_cut: the input ended early, so that times may be missing.
 * 0, or -1 with *error set.
 */
int v8_tree_add(struct v8_tree *tree, const struct v8_profile *v8, bool is_cut,
                struct error *error);

/* Warns of an input that was cut, of unknown nodes and ends; 0 or -1. */
int v8_tree_warn(struct v8_tree *tree, const struct source *source,
                 const struct json_reader *json, struct error *error);

#endif
