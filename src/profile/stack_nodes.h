/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_nodes.h -- finds the node of a whole stack in one step.
 *
 * Members of a sum have most stacks in common, and a walk from the outermost frame
 * to the innermost would be a cache miss every few frames.  So a hash of all frames
 * finds the node.  That two stacks have one hash of 128 bits does not happen by
 * chance; each process has its own seed, so that no input can be made for it either.
 */
#ifndef CPPROF_PROFILE_STACK_NODES_H
#define CPPROF_PROFILE_STACK_NODES_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "src/base/error.h"

struct stack_nodes;

/* NULL with *error set. */
struct stack_nodes *stack_nodes_new(struct error *error);
void stack_nodes_free(struct stack_nodes *nodes);

/* The hash of n frames, whose place is brought into the cache. */
XXH128_hash_t stack_nodes_hash(const struct stack_nodes *nodes,
                               const uint32_t *frames, uint32_t n);

/* The node of the frames with that hash, or UINT32_MAX. */
uint32_t stack_nodes_find(const struct stack_nodes *nodes,
                          const XXH128_hash_t *hash);

/* Sets it, below UINT32_MAX; 0, or -1 with *error set for want of memory. */
int stack_nodes_enter(struct stack_nodes *nodes, const XXH128_hash_t *hash,
                      uint32_t node, struct error *error);

#endif
