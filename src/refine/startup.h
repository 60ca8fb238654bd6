/* SPDX-License-Identifier: GPL-3.0-or-later */
/* startup.h -- frames that every stack begins with, folded away. */
#ifndef CPPROF_REFINE_STARTUP_H
#define CPPROF_REFINE_STARTUP_H

#include "src/profile/profile.h"

/*
 * Whether some stack begins with a start-up frame.  O(outermost nodes + names
 * of these); -1 with *error set.
 */
int startup_is_present(const struct profile *profile, struct error *error);

/* Whether a function of that name is one of those, by its name alone. */
bool startup_has_name(const char *name, size_t n);

/*
 * A tree without the start-up frames at the outer ends of stacks; *folded stays
 * NULL if there are none.  A stack that has no other frames keeps them.  To cut
 * a stack at its outer end invents no call path.  frame_of[label] is the frame
 * of a node.  Two outermost nodes of the tree may have the same label, and it
 * borrows the counts.  *part, unless it is NULL, has a number for each node,
 * and becomes that of the nodes of *folded, freed with large_array_free.  0, or
 * -1 with *error set.  O(nodes + names).
 */
int startup_fold(const struct profile *profile,
                 const struct sample_tree *tree, const uint32_t *frame_of,
                 struct sample_tree **folded, uint32_t **part,
                 struct error *error);

#endif
