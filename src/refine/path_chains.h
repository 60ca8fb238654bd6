/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_chains.h -- canonical paths that match patterns, as frames come and go.
 *
 * A canonical path goes from the last activation of its first name to the
 * function that it called, from that function's last activation to the one that
 * it called, and so on to the newest frame: theory in Hall & Goldberg 1993,
 * appendix.  So each name on the stack has one path to the newest frame.
 */
#ifndef CPPROF_REFINE_PATH_CHAINS_H
#define CPPROF_REFINE_PATH_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

enum { MOST_CHAINED = 64 };	/* elements that frames above the end match */

struct path_chains;

/*
 * For paths of n_elements above their last frame, 1 to MOST_CHAINED, on stacks
 * of at most `deepest` frames with names below n_names.  Freed with
 * path_chains_free; NULL with *error set.
 */
struct path_chains *path_chains_new(uint32_t n_elements, uint32_t n_names,
                                    uint32_t deepest, struct error *error);
void path_chains_free(struct path_chains *chains);

/*
 * A frame is called by the newest one, and is the newest from then on.  Bit i
 * of matches: it matches element i.  Pop takes the newest frame away.  Neither
 * depends on the depth of the stack: O(n_elements^2) at worst.
 */
void path_chains_push(struct path_chains *chains, uint32_t name,
                      uint64_t matches);
void path_chains_pop(struct path_chains *chains);

/* Whether the newest frame ends a path that matches all elements. */
bool path_chains_reach(const struct path_chains *chains);

#endif
