/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_text.h -- the names of a path cell, fetched once and written often. */
#ifndef CPPROF_OUTPUT_PATH_TEXT_H
#define CPPROF_OUTPUT_PATH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/table.h"
#include "src/base/text_buffer.h"

/* Start with `{ 0 }`; reused from cell to cell. */
struct path_names {
	const struct names *names;
	uint32_t *path;			/* [n], outermost first */
	size_t n, capacity;
	struct text_buffer word;	/* scratch */
};

void path_names_free(struct path_names *path);

/* The names of a CELL_PATH or CELL_NAME.  0, or -1 with *error set. */
int path_names_get(struct path_names *path, const struct cell *cell,
                   struct error *error);

/*
 * Adds the path as the shell reads it: names separated by blanks, between bars
 * where needed, with "..." for names in the middle when it would take more
 * than `width` columns (0: no limit).  The last name, to which the number
 * belongs, is put between `before` and `after`.
 */
void text_add_path(struct text_buffer *text, struct path_names *path,
                   size_t width, const char *before, const char *after);

/* Adds the name of a CELL_NAME without bars; shortened likewise. */
void text_add_bare_name(struct text_buffer *text, struct path_names *path,
                        size_t width);

/*
 * Adds the names as in collapsed stacks, joined by semicolons.  A name that
 * holds a semicolon or an unprintable character, or begins with a bar, is put
 * between bars.
 */
void text_add_collapsed(struct text_buffer *text,
                        const struct path_names *path);

#endif
