/* SPDX-License-Identifier: GPL-3.0-or-later */
/* totals.h -- body and body+descendants of every function. */
#ifndef CPPROF_VIEWS_TOTALS_H
#define CPPROF_VIEWS_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/views/view.h"

struct function_total {
	uint32_t name;
	uint64_t self;		/* hits of its body */
	uint64_t inclusive;	/* hits of the stacks that contain it */
	bool is_estimated;	/* inclusive is; never of a tree */
	uint64_t calls;		/* of it by others; 0: unknown */
	uint64_t returns;	/* those seen, if the tree counts them */
};

/*
 * One item for each name in the tree, in order of first appearance; *n of
 * them, to be freed by the caller.  A node adds its weight unless an ancestor
 * of the same name has added its own: in preorder, unless it lies before the
 * end of the last subtree that was added.  The bodies sum to the total.  O(N),
 * one pass; memory O(F).  For a flow, the functions are in the order of their
 * names' numbers.  NULL with *error set.
 */
struct function_total *function_totals(const struct sample_set *set,
                                       uint32_t *n, struct error *error);

#endif
