/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_pattern.h -- which stacks a user means, by a path that occurs on them.
 *
 *	main parse malloc	direct calls side by side
 *	main ... malloc		any number of frames between, or none
 *	@app ... /^sql_/	patterns, see frame_pattern.h
 *
 * A path without "..." means the stacks that its line in a profile counts:
 * those that have it as a canonical path (Hall & Goldberg 1993, appendix).
 * With patterns: those that have any path of functions that match.  After "..."
 * the rest must occur below the outermost match of what comes before it.
 */
#ifndef CPPROF_REFINE_PATH_PATTERN_H
#define CPPROF_REFINE_PATH_PATTERN_H

#include "src/refine/frame_pattern.h"
#include "src/refine/refining.h"

struct path_pattern;

/* Copies n words.  Freed with path_pattern_free; NULL with *error set. */
struct path_pattern *path_pattern_new(const struct pattern_word *words,
                                      size_t n, struct error *error);
void path_pattern_free(struct path_pattern *path);

/* Adds "main ... malloc". */
void path_pattern_add_text(const struct path_pattern *path,
                           struct text_buffer *text);

/*
 * Sets matched[n_nodes], zeroed by the caller, to 1 for the nodes whose stacks
 * the path means.  0; 1 if no frame matches an element, with *error naming
 * similar ones, or too many patterns are side by side (path_chains.h); -1 with
 * *error set.  O(nodes) and one look at each kind for each pattern.
 */
int path_pattern_match(const struct path_pattern *path,
                       const struct refining *refining,
                       unsigned char *matched, struct error *error);

#endif
