/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session_left.h -- what the steps of the refinement leave, whole or added up.
 *
 * Each applies the steps anew; views have the result that the session keeps.
 */
#ifndef CPPROF_SHELL_SESSION_SESSION_LEFT_H
#define CPPROF_SHELL_SESSION_SESSION_LEFT_H

#include "src/profile/sections.h"
#include "src/refine/refine.h"
#include "src/shell/session/session.h"
#include "src/views/hits/hits.h"

/* What an export writes: what the steps left, with start-up frames. */
struct whole_stacks {
	const struct profile *profile;
	const struct sample_tree *named;	/* as views name them; NULL: the
						 * profile has no stacks */
	/* What is not the session's own. */
	struct refined_profile refined;
	struct stacks stacks;
	struct naming naming;
	struct call_graph *graph;	/* NULL: the session's */
};

/* Call whole_stacks_free even if it fails. */
int session_whole_stacks(const struct session *session,
                         struct whole_stacks *whole, struct error *error);
void whole_stacks_free(struct whole_stacks *whole);

/*
 * The hits of the current resource that are left after each step; freed with
 * free().  NULL with *error set.  O(nodes) for each step.
 */
uint64_t *session_hits_after(const struct session *session,
                             struct error *error);

/*
 * The hits and samples of a resource that the steps leave in each section of a
 * profile that has stacks (profile/sections.h), freed with free().  step: one
 * more, which stays the caller's, or NULL.  NULL with *error set, also if that
 * step matches nothing.  O(nodes) for each step.
 */
struct section_total *session_section_totals(const struct session *session,
                                             uint32_t resource,
                                             struct step *step,
                                             struct error *error);

/*
 * The rows of a tree whose stacks the steps and one more drop: sets
 * dropped[tree->n_rows].  The tree is the profile's, or one of the same stacks
 * that has no sections if no step asks for labels.  The step stays the
 * caller's.  0, or -1 with *error set, also if the step matches nothing.
 */
int session_step_rows(const struct session *session, struct step *step,
                      const struct sample_tree *tree, bool *dropped,
                      struct error *error);

/*
 * What is left of the current resource by module, see refined_module_hits, to be
 * freed with free(); *hits is NULL if the profile has no stacks or fewer than
 * two modules.  O(nodes) for each step.
 */
int session_module_hits(const struct session *session, uint64_t **hits,
                        struct error *error);

/*
 * What the groups of the session's names have of one of these modules, after
 * session_noise_request.  O(nodes) for each step and group.
 */
int session_module_in_groups(const struct session *session, uint32_t module,
                             struct group_hits *groups, struct error *error);

#endif
