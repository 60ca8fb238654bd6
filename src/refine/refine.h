/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.h -- the stacks that the steps of a refinement leave.
 *
 * A step sees names and stacks as the steps before it left them.  The sum of
 * what `narrow PATH` and `drop PATH` leave is what there was before.
 */
#ifndef CPPROF_REFINE_REFINE_H
#define CPPROF_REFINE_REFINE_H

#include "src/refine/stacks.h"
#include "src/refine/step.h"

/* Stacks to which steps were applied; inside src/refine see refining.h. */
struct refining;

/*
 * Applies n steps.  One that matches nothing, or would leave nothing, is
 * skipped, and skipped[i] set, unless skipped is NULL; *why says why if the last
 * step is.  The stacks must outlive the result, which is freed with
 * refining_free.  NULL with *error set.  O(nodes) for each step.
 */
struct refining *refine_stacks(const struct stacks *stacks,
                               struct step *const *steps, size_t n,
                               bool *skipped, struct error *why,
                               struct error *error);
void refining_free(struct refining *refining);

/*
 * The tree of names that is left, freed with sample_tree_free; equal siblings
 * are merged.  NULL with *error set.  O(nodes).
 */
struct sample_tree *refined_tree(const struct refining *refining,
                                 struct error *error);

/*
 * The rows of the stacks' tree whose stacks were dropped: sets
 * dropped[tree->n_rows].  Of the others, the hits of *times are left.  O(nodes).
 */
void refined_rows(const struct refining *refining, bool *dropped,
                  struct slice_set *times);

/*
 * Hits and raw samples of one resource that are left in each section of the
 * profile: totals[n_sections + 1] (profile/sections.h).  The stacks were made
 * with their sections.  O(nodes).
 */
void refined_section_totals(const struct refining *refining, uint32_t resource,
                            struct section_total *totals);

/*
 * The hits of a resource that are left, by the module of the frame in which each
 * stack ends: [names_count] by the module's name, and by that of the group or
 * function if there is no module.  Freed with free; NULL with *error set.
 * O(nodes).
 */
uint64_t *refined_module_hits(const struct refining *refining,
                              uint32_t resource, struct error *error);

/*
 * The hits of a resource that are left after each step: sets hits[n].  Steps
 * that match nothing are skipped.  0, or -1 with *error set.  O(nodes) for each
 * step.
 */
int refine_hits(const struct stacks *stacks, struct step *const *steps,
                size_t n, uint32_t resource, uint64_t *hits,
                struct error *error);

/* A profile of what steps leave, for files of other tools. */
struct refined_profile {
	struct profile profile;	/* borrows what is not below from the one that
				 * was refined */
	struct sample_tree *tree;
	struct section *sections;
	struct frame *frames;		/* NULL: borrowed */
	struct location *locations;
};

/*
 * Makes *refined from what n steps leave.  Its frames are those of the stacks'
 * profile or, if a step makes groups, bare names.  Its threads are known only
 * if there are no groups and no frame has inlined locations.  The stacks must
 * have their start-up frames and outlive it.  0, or -1 with *error set; call
 * refined_profile_free in either case.
 */
int refine_profile(const struct stacks *stacks, struct step *const *steps,
                   size_t n, struct refined_profile *refined,
                   struct error *error);
void refined_profile_free(struct refined_profile *refined);

#endif
