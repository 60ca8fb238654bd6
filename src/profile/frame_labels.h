/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_labels.h -- frames named for a view: by function, line, file or
 * module, and trees and graphs with these names.
 */
#ifndef CPPROF_PROFILE_FRAME_LABELS_H
#define CPPROF_PROFILE_FRAME_LABELS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* ---- frame_labels.c ---- */

/* The names by which a frame is shown. */

/*
 * Chains of names, as sample_tree_relabel wants them: frame i stands for
 * labels[first[i]] .. labels[first[i + 1] - 1], outermost first.
 */
struct frame_labels {
	uint32_t *first;	/* [n_frames + 1] */
	uint32_t *labels;
};

/*
 * Names every frame of a profile that has a tree, entering the names;
 * profile.h documents how each granularity names a location.  Call
 * frame_labels_free even if it fails.
 */
int frame_labels_make(struct frame_labels *labels, struct profile *profile,
                      const struct naming_rule *rule, struct error *error);
void frame_labels_free(struct frame_labels *labels);

/* The number of a frame's locations that are shown; at least 1. */
uint32_t frame_shown_locations(const struct frame *frame,
                               enum inlines inlines);

/* ---- short_paths.c ---- */

/* The shortest paths that distinguish source files. */

/*
 * For every file that the profile names, its last component, or as many
 * components from the end as no other file of the profile has; the whole path
 * if it is the end of another.
 *
 * The array is indexed by name, has NULL where a name is no file, and belongs
 * to the caller; its texts are the ends of those in profile->names.  NULL with
 * *error set.  O(n log n) for n files.
 */
const char **short_paths_new(const struct profile *profile,
                             struct error *error);

/* ---- named_graph.c ---- */

/*
 * A call graph whose names are modules, files or lines.
 *
 * By module and file a node is named after the place where its function is
 * defined.  By line and call site a function stays a node, and its lines are
 * nodes below it, because the input records from which line a function was
 * called, but not which of its own lines it spent on that call:
 *
 * 	function -> file:line -> function called there		by line
 * 	function -> function:line -> function called there	by call site
 *
 * Each arc is as exact as the input.  By line, own hits belong to the line; by
 * call site they stay with the function.  Code from another file than the
 * function's was inlined: by file it is a node below the function's.
 */

/* Whether the graph has names of that granularity. */
bool named_graph_is_possible(const struct call_graph *graph,
                             enum granularity granularity);

/*
 * Sets names[n_nodes] to what a granularity calls the nodes; by line and call
 * site, and where the module or file is unknown, that is the function's name.
 * O(nodes).
 */
int named_graph_node_names(struct profile *profile,
                           const struct call_graph *graph,
                           enum granularity granularity, uint32_t *names,
                           struct error *error);

/*
 * A graph of the profile, its own or one made of it, named by a rule; names are
 * entered as needed.  *is_own: whether the caller must free it; false: it is
 * the graph itself, also if the rule is not possible.  NULL with *error set.
 * O(nodes + arcs + places).
 */
struct call_graph *named_graph_new(struct profile *profile,
                                   struct call_graph *graph,
                                   const struct naming_rule *rule,
                                   bool *is_own, struct error *error);

#endif
