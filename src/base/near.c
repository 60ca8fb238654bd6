/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near.c -- similar words for "did you mean".
 *
 * Optimal string alignment distance, three rows of the dynamic program kept.
 * Words that begin with the wanted one have distances below those of all
 * others, whose distances are FIRST more than the number of edits.
 * Long names are not compared letter by letter, since hardly anyone types
 * them.
 */
#include "src/base/short_name.h"

#include <string.h>
#include <strings.h>

#include "src/base/text_buffer.h"

enum {
	LONGEST = 64, FAR = 1000, HOLDS = 3,
	SAME = 0, BEGINS, BEGINS_IN_OTHER_CASE, BEGINS_LAST, FIRST,
	PART_LEAST = 3,		/* bytes of a part, */
	PART_MOST = 256,	/* and of its word */
	SHOWN_MOST = 200,	/* bytes of words in a message, but one */
};

void
near_start(struct near *near, const char *wanted, size_t length)
{
	*near = (struct near){ .wanted = wanted, .length = length };
}

void
near_start_part(struct near *near, const char *wanted, size_t length)
{
	near_start(near, wanted, length);
	near->is_part = true;
}

static unsigned char
near_fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned
near_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * The distance of a and b.  in_a: the least distance of any part of a, whose
 * length then may be any, from b.
 */
static unsigned
distance(const char *a, size_t n_a, const char *b, size_t n_b, bool in_a)
{
	unsigned rows[3][LONGEST + 1], best = (unsigned)n_b;

	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];

		row[0] = in_a ? 0 : (unsigned)i;
		for (size_t j = 1; j <= n_b; j++) {
			bool same = near_fold(a[i - 1]) == near_fold(b[j - 1]);

			row[j] = near_least(above[j], row[j - 1]) + 1;
			row[j] = near_least(row[j], above[j - 1] + !same);
			if (i > 1 && j > 1 &&
			    near_fold(a[i - 1]) == near_fold(b[j - 2]) &&
			    near_fold(a[i - 2]) == near_fold(b[j - 1]))
				row[j] = near_least(row[j],
				                    rows[(i - 2) % 3][j - 2] +
				                        1);
		}
		best = near_least(best, row[n_b]);
	}
	return in_a ? best : rows[n_a % 3][n_b];
}

static bool
holds(const char *text, size_t length, const char *part, size_t n_part)
{
	for (size_t at = 0; at + n_part <= length; at++)
		if (strncasecmp(text + at, part, n_part) == 0)
			return true;
	return false;
}

/* The number of edits within a word. */
static unsigned
rate_part(const struct near *near, const char *text, size_t length)
{
	size_t n = near->length;
	unsigned edits;

	if (n < PART_LEAST)
		return FAR;
	if (n > LONGEST || length > PART_MOST)
		return holds(text, length, near->wanted, n) ? 0 : FAR;
	edits = distance(text, length, near->wanted, n, true);
	return edits <= n / 3 ? edits : FAR;
}

/* The number of edits, or HOLDS for a word that merely contains it. */
static unsigned
rate(const struct near *near, const char *text, size_t length)
{
	size_t n = near->length, longer = n > length ? n : length;
	size_t difference = longer - (n < length ? n : length);
	unsigned most = (unsigned)(longer + 2) / 3, edits = FAR;

	if (near->is_part)
		return rate_part(near, text, length);
	if (n == 0)
		return FAR;
	if (longer <= LONGEST && difference <= most)
		edits = distance(near->wanted, n, text, length, false);
	/* A word with all letters changed is not near. */
	if (edits > most || edits >= longer)
		edits = FAR;
	if (n >= 3 && edits > HOLDS && holds(text, length, near->wanted, n))
		edits = HOLDS;
	return edits;
}

/* One of SAME, but for its case, to BEGINS_LAST, or FIRST: none of these. */
static unsigned
rate_beginning(struct near *near, const char *text, size_t length)
{
	enum name_beginning beginning;

	if (near->is_part || near->length == 0)
		return FIRST;
	if (near->length == length &&
	    strncasecmp(text, near->wanted, length) == 0)
		return SAME;
	beginning = name_begins(&near->parts, text, length, near->wanted,
	                        near->length);
	if (beginning == NAME_BEGINS_WHOLE)
		return BEGINS;
	if (near->length <= length &&
	    strncasecmp(text, near->wanted, near->length) == 0)
		return BEGINS_IN_OTHER_CASE;
	return beginning == NAME_BEGINS_LAST ? BEGINS_LAST : FIRST;
}

static bool
is_nearer(const struct near_word *word, const struct near_word *other)
{
	return word->distance != other->distance ?
	    word->distance < other->distance : word->hits > other->hits;
}

void
near_offer(struct near *near, const char *text, size_t length)
{
	near_offer_function(near, text, length, 0);
}

void
near_offer_function(struct near *near, const char *text, size_t length,
                    uint64_t hits)
{
	struct near_word word = { text, length, 0, hits };
	size_t at = near->n;

	word.distance = rate_beginning(near, text, length);
	if (word.distance == FIRST)
		word.distance += rate(near, text, length);
	if (word.distance >= FAR)
		return;
	while (at > 0 && is_nearer(&word, &near->words[at - 1]))
		at--;
	if (at == NEAR_MOST)
		return;
	if (near->n == NEAR_MOST)
		near->n--;
	memmove(&near->words[at + 1], &near->words[at],
	        (near->n - at) * sizeof *near->words);
	near->words[at] = word;
	near->n++;
}

void
near_add(struct near *near, struct text_buffer *text)
{
	size_t n = 0, length = 0;

	/* Names of C++ can fill a screen. */
	while (n < near->n && (n == 0 ||
	       length + near->words[n].length <= SHOWN_MOST))
		length += near->words[n++].length;
	for (size_t i = 0; i < n; i++) {
		text_add_string(text, i == 0 ? "; did you mean " :
		                i + 1 < n ? ", " : " or ");
		text_add_word(text, near->words[i].text,
		              near->words[i].length);
	}
	if (n > 0)
		text_add_char(text, '?');
	name_parts_free(&near->parts);
}
