/* SPDX-License-Identifier: GPL-3.0-or-later */
/* walks.h -- a large sample tree that looks like a program's. */
#ifndef CPPROF_BENCH_WALKS_H
#define CPPROF_BENCH_WALKS_H

#include "src/profile/sample_tree.h"

enum { WALK_FUNCTIONS = 5000 };

/*
 * Walks from function 0 through a fixed call graph, in which most calls go to
 * few callees, until there are about n nodes, with labels below WALK_FUNCTIONS.
 * Each walk is a hit.  begin[n_sections]: the sections, of about as many nodes
 * each, begin there; the first at 0.  NULL with *error set.
 */
struct sample_tree *walks_new(uint32_t n, uint32_t *begin,
                              uint32_t n_sections, struct error *error);

#endif
