/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.h -- the order of rows: by hits, then by names as bytes.
 *
 * The names that are shown are ranked once.  From then on everything is sorted
 * by numbers, in linear passes; no comparison walks a path.
 */
#ifndef CPPROF_VIEWS_ORDER_H
#define CPPROF_VIEWS_ORDER_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"

/*
 * Ranks the names of n items by their bytes: rank[i] is how many distinct
 * names among name[n] come before name[i].  rank[n] is the caller's and must
 * not be name.  Returns the number of distinct names, UINT32_MAX with *error
 * set.  O(n + F log F), F names in the set.
 */
uint32_t order_rank_names(const struct names *names, const uint32_t *name,
                          uint32_t n, uint32_t *rank, struct error *error);

/*
 * Stable sorts of items[n] by a key looked up with each item's number: keys
 * below n_keys ascending; 64-bit keys descending.  O(n + n_keys); O(n).  0, or
 * -1 with *error set.
 */
int order_ascending(uint32_t *items, uint32_t n, const uint32_t *key,
                    uint32_t n_keys, struct error *error);
int order_descending(uint32_t *items, uint32_t n, const uint64_t *key,
                     struct error *error);

/*
 * Puts the nodes of a forest into preorder, siblings in the order that they
 * have in items[n], a permutation of 0 .. n-1; the result is written there.
 * parent[n]: UINT32_MAX for a root.  O(n).
 */
int order_preorder(uint32_t *items, uint32_t n, const uint32_t *parent,
                   struct error *error);

/*
 * Sorts items[n], a permutation of 0 .. n-1, by the names met on the walk from
 * each to its root, as ranks, a prefix before its extensions.  All walks are
 * different.  rank[n] below n_ranks.  Prefix doubling: O((n + n_ranks) log D)
 * for walks of at most D names.
 */
int order_by_walk(uint32_t *items, uint32_t n, const uint32_t *parent,
                  const uint32_t *rank, uint32_t n_ranks,
                  struct error *error);

#endif
