/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.h -- every function between its callers and its callees. */
#ifndef CPPROF_VIEWS_GRAPH_H
#define CPPROF_VIEWS_GRAPH_H

#include "src/views/view.h"

/*
 * The call graph profile of all functions, or of one and its cycle.  function:
 * a name; NO_NAME: all.  is_classic: functions that can reach each other are
 * one entry, see graph_entries.h.  Fills an empty table as view.h says; rows
 * have the members of cpprof.graph/1 in doc/manual.md.
 */
int view_graph(const struct view_request *request, uint32_t function,
               bool is_classic, struct table *table, struct error *error);

#endif
