/* SPDX-License-Identifier: GPL-3.0-or-later */
/* components.h -- strongly connected components of a directed graph. */
#ifndef CPPROF_PROFILE_COMPONENTS_H
#define CPPROF_PROFILE_COMPONENTS_H

#include <stdint.h>

#include "src/base/error.h"

/*
 * Numbers the components of n vertices, those of vertex v's successors being
 * next[first[v]] .. next[first[v + 1] - 1]; component[n] is the caller's.  An
 * arc between two components leads from the higher number to the lower one.
 * Returns how many there are, UINT32_MAX with *error set if memory runs out.
 * O(n + arcs), without recursion.  Source: Tarjan 1972.
 */
uint32_t components_find(uint32_t n, const uint32_t *first,
                         const uint32_t *next, uint32_t *component,
                         struct error *error);

#endif
