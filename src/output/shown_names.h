/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shown_names.h -- the names of a table, as its text shows them. */
#ifndef CPPROF_OUTPUT_SHOWN_NAMES_H
#define CPPROF_OUTPUT_SHOWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/base/table.h"
#include "src/output/name_forks.h"

/* Start with `{ 0 }`, in which every name is whole; free it. */
struct shown_names {
	const struct names *names;	/* those that it knows, or NULL */
	uint32_t *number;		/* [names_count] into texts; 0: whole */
	struct short_name *texts;	/* [n_texts + 1], from 1 on */
	uint32_t n_texts;
	struct short_name *inner;	/* [n_inner] in texts, in order */
	size_t n_inner, inner_capacity;
	struct arena arena;
	struct name_forks forks;	/* of texts from 1 on */
};

/*
 * Makes texts of all names in the rows, fields and header of a table: whole, or
 * short and no two the same (src/base/short_name.h); those in texts likewise,
 * apart from the others.  0, or -1 with *error set, also when interrupted.
 */
int shown_names_make(struct shown_names *shown, const struct table *table,
                     bool are_short, struct error *error);

/* Finds where these texts differ, if that is not known yet; likewise. */
int shown_names_find_forks(struct shown_names *shown, struct error *error);

/* The words in which a name differs from others, *n of them; or NULL. */
const struct name_word *shown_name_words(const struct shown_names *shown,
                                         const struct names *names,
                                         uint32_t name, size_t *n);

void shown_names_free(struct shown_names *shown);

/* The name in a cell's text, whole and as it is shown; likewise. */
struct short_name shown_inner_name(const struct shown_names *shown,
                                   const struct cell *cell);

/* The text of a name, *n bytes; lives as long as the names and `shown`. */
const char *shown_name(const struct shown_names *shown,
                       const struct names *names, uint32_t name, size_t *n);

#endif
