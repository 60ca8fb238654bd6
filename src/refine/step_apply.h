/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_apply.h -- what a step does to the stacks. */
#ifndef CPPROF_REFINE_STEP_APPLY_H
#define CPPROF_REFINE_STEP_APPLY_H

#include "src/refine/refining.h"
#include "src/refine/step.h"

/*
 * Applies a step to all stacks.  0; 1 if it matches nothing or would leave
 * nothing, with *error saying so and the stacks as they were; -1 with *error
 * set.  O(nodes).
 */
int step_apply(const struct step *step, struct refining *refining,
               struct error *error);

/*
 * Of a step that groups: makes the new kinds and sets (*to)[n_kinds before] to
 * what each kind becomes, to be freed with free() in any case.  Looks at
 * refining->kinds, has_name and by only.  As step_apply.
 */
int step_regroup(const struct step *step, struct refining *refining,
                 uint32_t **to, struct error *error);

#endif
