/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near.h -- similar words for "did you mean".
 *
 * Words that begin with what was typed come first: most people stop typing
 * where they think that it is clear.
 */
#ifndef CPPROF_BASE_NEAR_H
#define CPPROF_BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/name_parts.h"
#include "src/base/text_buffer.h"

enum { NEAR_MOST = 5 };

/* The nearest of the words offered so far, best first. */
struct near {
	const char *wanted;
	size_t length;
	bool is_part;
	struct near_word {
		const char *text;
		size_t length;
		unsigned distance;
		uint64_t hits;
	} words[NEAR_MOST];
	size_t n;
	struct name_parts parts;	/* scratch, freed by near_add */
};

/*
 * Both texts are borrowed for as long as the struct is used, which ends with
 * near_add.
 */
void near_start(struct near *near, const char *wanted, size_t length);

/* The same for a part of words, such as the literal text of a glob. */
void near_start_part(struct near *near, const char *wanted, size_t length);

/*
 * Offers a word, which is kept if it contains the wanted one, or differs (of a
 * part: if something in it differs) in at most a third of its letters
 * (insertions, deletions, replacements, swaps of neighbours, ignoring case).
 * Words that begin with the wanted one come first, then those whose last
 * identifier does (name_begins), then the others, the nearest first.
 * Of equally near words the first one wins.
 */
void near_offer(struct near *near, const char *text, size_t length);

/* The same for a function; of equally near ones that with most hits wins. */
void near_offer_function(struct near *near, const char *text, size_t length,
                         uint64_t hits);

/*
 * Adds "; did you mean a, b or c?", or nothing if no word is near.  If words
 * are very long, only the first ones are in it, at least one.
 */
void near_add(struct near *near, struct text_buffer *text);

#endif
