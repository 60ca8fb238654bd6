/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_graph.h -- functions and calls as lines of callgrind's format. */
#ifndef CPPROF_FORMATS_CALLGRIND_GRAPH_H
#define CPPROF_FORMATS_CALLGRIND_GRAPH_H

#include "src/formats/callgrind/callgrind_output.h"
#include "src/formats/exporter.h"

/*
 * Writes the functions of a profile that has a graph, each with its places or,
 * if there are none, at line 0.  If calls are only counted, their costs are
 * computed by gprof's rule.  Returns 0 or -1 as exporters do.
 */
int callgrind_graph_write(const struct export_source *source,
                          struct callgrind_output *output,
                          struct error *error);

#endif
