/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forks.h -- where sorted texts part: the tree of their prefixes, without the
 * tree.
 *
 * fork[i] is the length of what items i - 1 and i of a sorted list of n have in
 * common, for i from 1 to n - 1.  In the tree of the items' prefixes, the forks
 * on the way to item i are those at fork[i], then at the nearest entry to the
 * left that is lower, and so on, and likewise to the right from fork[i + 1]:
 *
 *	for (size_t k = i; k > 0; k = left[k])
 *		... fork[k] ...
 *	for (size_t k = i + 1; k < n; k = right[k])
 *		... fork[k] ...
 *
 * Each item differs from every other one at one of these places.  There are no
 * more than twice its length.
 */
#ifndef CPPROF_BASE_FORKS_H
#define CPPROF_BASE_FORKS_H

#include <stddef.h>
#include <stdint.h>

/* Sets left[i] and right[i], i from 1 to n - 1.  Time is O(n). */
void forks_link(const uint32_t *fork, uint32_t *left, uint32_t *right,
                size_t n);

#endif
