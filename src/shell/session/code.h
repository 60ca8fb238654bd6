/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code.h -- the profile's stacks as places in its code, for list and disasm.
 *
 * A second tree beside the one of names: its labels are locations, so that
 * nothing that tells lines or addresses apart is merged.  It is made when it is
 * first asked for, and kept.
 */
#ifndef CPPROF_SHELL_SESSION_CODE_H
#define CPPROF_SHELL_SESSION_CODE_H

#include "src/base/error.h"
#include "src/profile/profile.h"
#include "src/shell/session/naming.h"
#include "src/views/code_hits.h"

/* Starts with `{ 0 }`. */
struct code {
	struct sample_tree *tree;	/* NULL: not made yet */
	uint32_t *section;		/* [n_nodes] of the profile */
	uint32_t *frame;		/* [n_locations] see code_hits.h */
	uint32_t n_locations;		/* of the profile when it was made */
	bool has_inlines;

	/* What the refinement leaves. */
	struct sample_tree refined;	/* the tree with other rows */
	uint32_t *row;			/* its rows; NULL: those of the tree */
	struct sample_tree *timed;	/* the tree with the hits of some time
					 * only; NULL: of all times */
	uint64_t *weight;		/* of the resource */
	uint32_t resource;
	bool is_refined;		/* these are up to date */

	struct call_flow *flow;		/* of a profile of calls, without
					 * groups; NULL: not needed */
};

/*
 * Fills *set with the stacks of one resource that the request's steps leave;
 * they stay valid until the next call.  Inlined calls are places of their own
 * unless the rule hides all.  Makes only what changed since the last call,
 * which must have been for the same profile.  0, or -1 with *error set.
 */
int code_make(struct code *code, const struct naming_request *request,
              struct code_set *set, struct error *error);

/* Call this when the steps or the names that they see have changed. */
void code_forget_refinement(struct code *code);

/* Frees all of it, for the next profile. */
void code_free(struct code *code);

#endif
