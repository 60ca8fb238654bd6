/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near.h -- what the user may have meant. */
#ifndef CPPROF_BASE_NEAR_H
#define CPPROF_BASE_NEAR_H

#include <stddef.h>

#include "src/base/text_buffer.h"

enum { NEAR_MOST = 5 };

/* The nearest of the words shown to it so far, best first. */
struct near {
	const char *wanted;
	size_t length;
	struct near_word {
		const char *text;
		size_t length;
		unsigned distance;
	} words[NEAR_MOST];
	size_t n;
};

/* Both texts are borrowed for as long as the struct is used. */
void near_start(struct near *near, const char *wanted, size_t length);

/*
 * Offers a word: kept when it is within a third of its letters of what is
 * wanted (insertions, deletions, exchanges, swaps of neighbours, whatever the
 * case), or holds it.  Of equally near ones the first offered wins.
 */
void near_offer(struct near *near, const char *text, size_t length);

/* Adds "; did you mean a, b or c?", or nothing when nothing is near. */
void near_add(const struct near *near, struct text_buffer *text);

#endif
