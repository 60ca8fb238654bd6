/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.h -- who used it: threads, processes, labels. */
#ifndef CPPROF_VIEWS_SECTIONS_H
#define CPPROF_VIEWS_SECTIONS_H

#include "src/profile/sections.h"
#include "src/views/view.h"

/* What is shown of the profile's sections (profile/sections.h).  Borrowed. */
struct section_request {
	const struct section_total *totals;	/* [n_sections + 1] what the
						 * refinement left of each;
						 * NULL: no stacks */
	/* [n_columns] the same of each of the request's columns. */
	const struct section_total *const *columns;
	bool is_each;		/* threads, processes: a row for each, not for
				 * each name */
	const char *label_key;	/* labels: the one to show; NULL: all */
};

/*
 * Fills an empty table as view.h says, but rows have no path.  They sum to the
 * hits that the set's stacks have, except that a stack with two values of a
 * label counts for both.  0, or -1 with *error set, also if the profile has no
 * stacks or none of what is asked for.
 */
typedef int section_view(const struct view_request *request,
                         const struct section_request *wanted,
                         struct table *table, struct error *error);

section_view view_threads, view_processes, view_labels;

#endif
