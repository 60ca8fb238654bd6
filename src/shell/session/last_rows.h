/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_rows.h -- the rows of the last view at the prompt, for %N.
 *
 * Holds the names as texts of its own, so that %3 means what the user saw even
 * after settings, the granularity or a refinement have changed the names that
 * views work on.
 */
#ifndef CPPROF_SHELL_SESSION_LAST_ROWS_H
#define CPPROF_SHELL_SESSION_LAST_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/table.h"

/* Start with { 0 }. */
struct last_rows {
	struct names *texts;	/* NULL: no view yet, or forgotten */
	bool was_reloaded;	/* forgotten, because a profile was loaded */
	size_t n;		/* rows that are held */
	size_t n_shown;		/* rows of the view, perhaps more */
	size_t *end;		/* [n] where a row's names end in `names` */
	uint32_t *far;		/* [n] among texts: the function that the row
				 * is about; NO_NAME: none */
	uint32_t *names;	/* paths, one after the other, among texts */
	size_t n_names, n_capacity, names_capacity, far_capacity;
};

/* Takes the rows of a table that has a handle column.  0, or -1 with *error set, and
 * nothing is held. */
int last_rows_keep(struct last_rows *rows, const struct table *table,
                   struct error *error);

/* A profile was loaded: what the rows said is no longer so. */
void last_rows_forget(struct last_rows *rows);
void last_rows_free(struct last_rows *rows);

/*
 * The names of row `number`, from 1, outermost first; *n of them, valid until
 * the next view is kept.  *far: the function that the row is about: the last
 * of a path from above, the first of one from below.  NULL with *error saying
 * why there is no such row.
 */
const uint32_t *last_rows_path(const struct last_rows *rows, size_t number,
                               size_t *n, uint32_t *far,
                               struct error *error);

#endif
