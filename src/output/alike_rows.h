/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alike_rows.h -- rows whose shortened paths or names would look the same.
 *
 * On a terminal, paths are cut to its width, so that two of them may become the
 * same text.  All rows are drawn once to find these.  Paths then must show the
 * names in which they differ from each other, and names the words in which they
 * differ (src/output/name_forks.h); what still looks the same is not cut.  Paths
 * that show the same names look the same even if one of them has room for more
 * of a name's scopes.
 */
#ifndef CPPROF_OUTPUT_ALIKE_ROWS_H
#define CPPROF_OUTPUT_ALIKE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/table.h"

/* A row with a path or name that is cut. */
struct drawn_row {
	uint64_t hash;		/* of the text; 0: to be drawn again */
	uint64_t shown;		/* of the names and gaps; 0: not a path */
	uint32_t row;
	uint32_t record;	/* the path or name */
	bool is_forked;		/* its names show where they differ */
	bool is_wide;		/* it may take another line */
	bool is_uncut;
	size_t first_must, n_must;	/* in `must` */
};

/* Start with `{ 0 }`; free with alike_rows_free. */
struct alike_rows {
	struct drawn_row *rows;	/* [n], ordered by row */
	size_t n, capacity;
	uint32_t *must;		/* [n_must] offsets in paths */
	size_t n_must, must_capacity;
};

void alike_rows_free(struct alike_rows *alike);

/*
 * Notes the text of a row's path or name as it was drawn, and a hash of the
 * names that it shows (path_shown_hash) or 0; in the first round rows come in
 * order, later each may come again.  0, or -1 with *error set.
 */
int alike_rows_add(struct alike_rows *alike, uint32_t row,
                   const struct cell *cell, const char *text, size_t n,
                   uint64_t shown, struct error *error);

/* What was noted of a row, or NULL. */
struct drawn_row *alike_rows_find(const struct alike_rows *alike,
                                  uint32_t row);

enum alike_stage {
	ALIKE_NAMES,	/* paths that show the same names show more of them */
	ALIKE_TEXTS,	/* likewise rows of the same text, and their names
			 * show the words in which they differ */
	ALIKE_WIDE,	/* these may take another line */
	ALIKE_LAST,	/* these are not cut */
	ALIKE_STAGES
};

/*
 * Decides how rows that look the same are drawn; column of the table has their
 * paths or names.  *n_alike: how many they are; their hashes are 0 until they
 * are noted again.  0, or -1 with *error set.
 */
int alike_rows_part(struct alike_rows *alike, const struct table *table,
                    size_t column, enum alike_stage stage, size_t *n_alike,
                    struct error *error);

#endif
