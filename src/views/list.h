/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.h -- source lines with their hits. */
#ifndef CPPROF_VIEWS_LIST_H
#define CPPROF_VIEWS_LIST_H

#include "src/base/text_lines.h"
#include "src/views/code_hits.h"
#include "src/views/view.h"

/* A file of the listed code. */
struct listed_file {
	uint32_t file;			/* its name in the profile */
	const struct text_lines *text;	/* NULL: it was not found */
	uint32_t first, last;		/* the first and last line that the
					 * function has code for; 0: unknown */
	bool has_rows;			/* set by view_list: lines of it are
					 * shown */
};

/* Borrowed. */
struct listing {
	struct code_scope scope;
	uint32_t line;			/* the one asked for; 0: none */
	const struct code_hits *hits;
	bool has_hidden_copies;		/* the function was inlined where the
					 * set's names do not show it */
	struct listed_file *files;	/* [n_files] in the order of the hits'
					 * lines */
	uint32_t n_files;
};

/*
 * Fills an empty table with the lines of the listing, as view.h says, but
 * without a root; rows have the members of cpprof.lines/1 in doc/manual.md.
 *
 * Shown are the lines that have at least the threshold's share of what the
 * listed code has, at most `limit` of them, and with a text the lines around
 * them.  Runs of other lines are left out; table->group_lines has "..." for
 * each.  Threshold 0 without a limit shows all lines of a file, or of a
 * function of which is known where it begins and ends.  A line asked for is
 * shown with the lines around it instead.  Fields and notes of the files are
 * the caller's.  0, or -1 with *error set.
 */
int view_list(const struct view_request *request,
              const struct listing *listing, struct table *table,
              struct error *error);

#endif
