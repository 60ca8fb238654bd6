/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alike_rows.h -- rows whose shortened paths or names would look the same.
 *
 * On a terminal, paths are cut to its width, so that two of them may become the
 * same text.  All rows are drawn once to find these.  Paths then must show the
 * names in which they differ from each other; what still looks the same is not
 * cut.
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
	uint64_t hash;		/* of the text */
	uint32_t row;
	uint32_t record;	/* the path or name */
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
 * Notes the text of a row's path or name as it was drawn; in the first round
 * rows come in order, later each may come again.  0, or -1 with *error set.
 */
int alike_rows_add(struct alike_rows *alike, uint32_t row,
                   const struct cell *cell, const char *text, size_t n,
                   struct error *error);

/* What was noted of a row, or NULL. */
struct drawn_row *alike_rows_find(const struct alike_rows *alike,
                                  uint32_t row);

/*
 * Decides how rows of the same text are drawn.  is_last: as they are, uncut;
 * before, column of the table has their paths or names.  *n_alike: how many
 * they are; their hashes are 0 until they are noted again.  0, or -1 with
 * *error set.
 */
int alike_rows_part(struct alike_rows *alike, const struct table *table,
                    size_t column, bool is_last, size_t *n_alike,
                    struct error *error);

#endif
