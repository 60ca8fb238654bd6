/* SPDX-License-Identifier: GPL-3.0-or-later */
/* specialise.h -- what to change to make call paths optimisable. */
#ifndef CPPROF_VIEWS_SPECIALISE_H
#define CPPROF_VIEWS_SPECIALISE_H

#include "src/views/view.h"

/* The paths, and what to show of them.  Borrowed. */
struct specialise_request {
	const uint32_t *path;		/* their names, one path after the
					 * other, each outermost first */
	const size_t *path_ends;	/* [n_paths] where each ends in path */
	size_t n_paths;			/* at least 1 */
	double times;			/* how many times cheaper a saving is
					 * shown for; more than 1 */
};

/*
 * The copies of functions that make paths optimisable, and what is saved.  Rows
 * are changes of the program: the columns hits (of the saved stacks that need
 * the change), fraction, kind ("optimise", "copy" or "call"; "covered" for a
 * path that other ones save), plan (the path's number) and its hits alone, both
 * of "optimise" and "covered"; in (the version of a function that a call is
 * in), function, becomes (the copy's name; none: the function itself), detour,
 * given (the path asked for) and path (the shortest context, or the call).  An
 * error without stacks, for a path that is not canonical and for one without
 * hits.
 */
int view_specialise(const struct view_request *request,
                    const struct specialise_request *wanted,
                    struct table *table, struct error *error);

#endif
