/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_profile.h -- resources and threads of a profile whose tree is built.
 *
 * For readers that have a tree_builder of their own: both must have the same
 * resources, and a thread owns the nodes that were built while it was read.
 */
#ifndef CPPROF_FORMATS_TREE_PROFILE_H
#define CPPROF_FORMATS_TREE_PROFILE_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"

/*
 * The resource whose number + 1 is *known; if that is 0, a new one is added to
 * profile and builder, and *known is set.  NO_RESOURCE with *error set.
 */
uint32_t tree_profile_resource(struct profile *profile,
                               struct tree_builder *builder, uint32_t *known,
                               const char *name, const char *gtick,
                               uint64_t interval, struct error *error);

/*
 * Adds a thread, and if it has nodes, those from begin on, their section; begin
 * is what tree_builder_begin_section returned.  0, or -1 with *error set.
 */
int tree_profile_thread(struct profile *profile, struct tree_builder *builder,
                        uint32_t begin, const struct thread *thread,
                        struct error *error);

#endif
