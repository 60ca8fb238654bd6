/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outermost.h -- the functions that stacks begin with.
 *
 * Those of calls without stacks are the functions that no other one calls; if
 * there is none, the one with the most hits.  Functions without hits count only
 * if the set has no hits at all.
 */
#ifndef CPPROF_VIEWS_OUTERMOST_H
#define CPPROF_VIEWS_OUTERMOST_H

#include "src/views/view.h"

/*
 * Which functions they are, by name: [names], to be freed by the caller; NULL
 * with *error set.  O(outermost nodes + names).
 */
bool *outermost_functions(const struct sample_set *set, struct error *error);

/* A view of them with their hits: what down shows if there is no root. */
view_function view_outermost;

/* The only one, or NO_NAME if there are several. */
uint32_t outermost_only(const struct sample_set *set);

/*
 * The one that most hits begin with, of equals the first in byte order; NO_NAME
 * if the set is empty, or with *error set.
 */
uint32_t outermost_heaviest(const struct sample_set *set,
                            struct error *error);

#endif
