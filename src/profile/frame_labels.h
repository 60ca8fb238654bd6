/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_labels.h -- the names by which a frame is shown. */
#ifndef CPPROF_PROFILE_FRAME_LABELS_H
#define CPPROF_PROFILE_FRAME_LABELS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/*
 * Chains of names, as sample_tree_relabel wants them: frame i stands for
 * labels[first[i]] .. labels[first[i + 1] - 1], outermost first.
 */
struct frame_labels {
	uint32_t *first;	/* [n_frames + 1] */
	uint32_t *labels;
};

/*
 * Names every frame of a profile that has a tree, entering the names;
 * profile.h documents how each granularity names a location.  0, or -1 with
 * *error set; call frame_labels_free in either case.
 */
int frame_labels_make(struct frame_labels *labels, struct profile *profile,
                      const struct naming_rule *rule, struct error *error);
void frame_labels_free(struct frame_labels *labels);

/* The number of a frame's locations that are shown; at least 1. */
uint32_t frame_shown_locations(const struct frame *frame,
                               enum inlines inlines);

#endif
