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
#include "src/views/code_hits.h"

/* Starts with `{ 0 }`. */
struct code {
	struct sample_tree *tree;	/* NULL: not made yet */
	uint64_t *weight;		/* of the resource */
	uint32_t *frame;		/* [n_locations] see code_hits.h */
	uint32_t n_locations;		/* of the profile when it was made */
	uint32_t resource;
	bool has_inlines;
};

/*
 * Fills *set with the profile's stacks of one resource, which stay valid until
 * the next call.  has_inlines: whether inlined calls are places of their own.
 * Makes only what changed since the last call, which must have been for the
 * same profile.  0, or -1 with *error set.
 */
int code_make(struct code *code, const struct profile *profile,
              uint32_t resource, bool has_inlines, struct code_set *set,
              struct error *error);

/* Frees all of it, for the next profile. */
void code_free(struct code *code);

#endif
