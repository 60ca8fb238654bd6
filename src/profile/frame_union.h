/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_union.h -- the modules and frames of several profiles, each once.
 *
 * Frames are the same if their modules, addresses, locations and all else that
 * is known of them are; modules if their paths and builds are (module_build).
 * So which frames a union has does not depend on the order of the profiles.
 */
#ifndef CPPROF_PROFILE_FRAME_UNION_H
#define CPPROF_PROFILE_FRAME_UNION_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* Enters into `sum`, to which nobody else adds modules or frames. */
struct frame_union;

/* sum: without modules and frames.  NULL with *error set. */
struct frame_union *frame_union_new(struct profile *sum, struct error *error);
void frame_union_free(struct frame_union *frames);

/* To be called before the frames of each profile; 0 or -1. */
int frame_union_begin(struct frame_union *frames, const struct profile *from,
                      struct error *error);

/* *number: of the sum's equal module, entered if new; 0 or -1. */
int frame_union_module(struct frame_union *frames,
                       const struct module *module, uint32_t *number,
                       struct error *error);

/*
 * *number: of the sum's frame that equals frame `from_number` of another
 * profile, entered if new.  module_map: from that profile's modules to those of
 * the sum.  0, or -1 with *error set.
 */
int frame_union_frame(struct frame_union *frames, const struct profile *from,
                      uint32_t from_number, const uint32_t *module_map,
                      uint32_t *number, struct error *error);

#endif
