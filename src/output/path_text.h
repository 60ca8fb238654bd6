/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_text.h -- the names of a path cell, fetched once and written often. */
#ifndef CPPROF_OUTPUT_PATH_TEXT_H
#define CPPROF_OUTPUT_PATH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/name_parts.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/output/shown_names.h"

/* Start with `{ 0 }`; reused from cell to cell. */
struct path_names {
	const struct shown_names *shown;	/* NULL: all names are whole */
	const struct names *names;
	uint32_t *path;			/* [n], outermost first */
	size_t n, capacity;
	const uint32_t *must;		/* [n_must] offsets, in order, of names
					 * that a shortened path must show */
	size_t n_must;
	bool is_forked;			/* a shortened name shows the words in
					 * which it differs from others */

	unsigned char *form;		/* scratch */
	size_t form_capacity;
	bool is_bare;
	size_t least;			/* columns of words that are cut */
	bool has_last_word;		/* of those that differ from others,
					 * shortened names show the last only */
	struct text_buffer word, cut;
	struct name_parts parts;
};

void path_names_free(struct path_names *path);

/* The names of a CELL_PATH or CELL_NAME.  0, or -1 with *error set. */
int path_names_get(struct path_names *path, const struct cell *cell,
                   struct error *error);

/*
 * Of each run of functions without symbols of one module, which are called
 * MODULE+0xOFFSET, keeps the last.  Whether any was left out.
 */
bool path_names_fold(struct path_names *path);

/*
 * Adds the path as the shell reads it: names separated by blanks, between bars
 * where needed.  If it would take more than `width` columns (0: no limit),
 * names lose their outer scopes, then names in the middle are left out; an
 * ellipsis marks both.  Names that it must show lose all but the words in which
 * they differ from others; where these do not fit, the outermost names are left
 * out as well.  The last name, to which the number belongs, is put between
 * `before` and `after`.
 */
void text_add_path(struct text_buffer *text, struct path_names *path,
                   size_t width, const char *before, const char *after);

/*
 * A hash of which names the path shows as text_add_path has just added it with
 * a width, and where some are left out; the same for two paths that show the
 * same ones, even if one shows more of their scopes.  Never 0.
 */
uint64_t path_shown_hash(const struct path_names *path);

/*
 * Adds the name of a CELL_NAME without bars.  If it is too wide it loses its
 * outer scopes, then what follows its last identifier.  An identifier that is
 * still too wide is cut in the middle.
 */
void text_add_bare_name(struct text_buffer *text, struct path_names *path,
                        size_t width);

/* Adds name[n], which is not a cell's, likewise; `path` is scratch. */
void text_add_name(struct text_buffer *text, struct path_names *path,
                   const char *name, size_t n, size_t width);

/*
 * Adds the names as in collapsed stacks, joined by semicolons.  A name that
 * holds a semicolon or an unprintable character, or begins with a bar, is put
 * between bars.
 */
void text_add_collapsed(struct text_buffer *text,
                        const struct path_names *path);

#endif
