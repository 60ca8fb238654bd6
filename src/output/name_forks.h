/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_forks.h -- in which words names with the same last identifier differ.
 *
 * A name that is too wide is cut to its last identifier.  Of names that then
 * would be the same, each can show the words in which it differs from another
 * one, too: "…sort<…shared_ptr…", "…sort<…double…".
 */
#ifndef CPPROF_OUTPUT_NAME_FORKS_H
#define CPPROF_OUTPUT_NAME_FORKS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/short_name.h"

/* The bytes [begin, end) of a name; at: the first one that differs. */
struct name_word {
	uint32_t begin, end;
	uint32_t at;
};

struct name_forks {
	struct name_word *words;
	size_t n_words, capacity;
	struct {
		size_t first, n;	/* in words */
	} *of;				/* [n] of each name; NULL: not made */
};

/*
 * Finds the words of the texts of n names; those of one name are in order and
 * do not overlap.  Time is that of sorting the texts, and of their lengths.
 * Start with `{ 0 }`.  0, or -1 with *error set for want of memory.
 */
int name_forks_make(struct name_forks *forks, const struct short_name *names,
                    size_t n, struct error *error);
void name_forks_free(struct name_forks *forks);

#endif
