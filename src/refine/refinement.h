/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refinement.h -- the steps of a session, with undo and redo. */
#ifndef CPPROF_REFINE_REFINEMENT_H
#define CPPROF_REFINE_REFINEMENT_H

#include "src/refine/step.h"

/* What was in force at some time. */
struct step_list {
	size_t n;
	struct step *steps[];
};

/* Start with `{ 0 }`; free with refinement_free. */
struct refinement {
	struct step_list **history;	/* [n_history], oldest first */
	size_t n_history, capacity;
	size_t at;		/* how many of them have happened; the others
				 * have been undone */
};

/* Gives up the steps of all lists, also those that were undone. */
void refinement_free(struct refinement *refinement);

/* The *n steps in force, in order; valid until the next change. */
struct step *const *refinement_steps(const struct refinement *refinement,
                                     size_t *n);

/*
 * Each makes a new list of steps the one in force, and forgets what was undone:
 * with one more step, which the refinement owns from then on; without the
 * groups of that name; without any.  0, or -1 with *error set: out of memory;
 * no group has that name; there is no step.
 */
int refinement_add(struct refinement *refinement, struct step *step,
                   struct error *error);
int refinement_remove_group(struct refinement *refinement, const char *name,
                            struct error *error);
int refinement_clear(struct refinement *refinement, struct error *error);

/* Goes n lists back or forward; 0, or -1 with *error set: not so many. */
int refinement_undo(struct refinement *refinement, size_t n,
                    struct error *error);
int refinement_redo(struct refinement *refinement, size_t n,
                    struct error *error);

#endif
