/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.h -- which values of a key use more or less than the others. */
#ifndef CPPROF_VIEWS_MEMBERS_H
#define CPPROF_VIEWS_MEMBERS_H

#include "src/profile/sections.h"
#include "src/views/view.h"

/* The stacks that are compared among the values of a key.  Borrowed. */
struct members_request {
	const char *key;	/* of labels, such as "host" */
	const char *step;	/* what selects the stacks, for people */
	/* [n_sections + 1] of each section of the profile
	 * (profile/sections.h): what the selected stacks have, and all. */
	const struct section_total *part, *whole;
};

/*
 * Fills an empty table as view.h says, but rows have no path: they are values
 * of the key, with the members of cpprof.members/1 in doc/manual.md.
 */
int view_members(const struct view_request *request,
                 const struct members_request *wanted, struct table *table,
                 struct error *error);

#endif
