/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near.c -- similar words for "did you mean".
 *
 * Optimal string alignment distance, three rows of the dynamic program kept.
 * Words that begin with the wanted one have distances below those of all
 * others, whose distances are FIRST more than the number of edits.
 * Long names are not compared letter by letter, since hardly anyone types
 * them.
 *
 * There can be a million functions.  So a function's identifiers are found and
 * compared only if it has enough pairs of letters of the wanted ones: an edit
 * changes one letter and two pairs, a swap three pairs.
 */
#include "src/base/short_name.h"

#include <string.h>
#include <strings.h>

#include "src/base/text_buffer.h"

enum {
	LONGEST = NEAR_LONGEST, FAR = 1000, HOLDS = 3,
	SAME = 0, BEGINS, BEGINS_IN_OTHER_CASE, BEGINS_LAST, FIRST,
	PART_LEAST = 3,		/* bytes of a part, */
	PART_MOST = 256,	/* and of its word */
	SHOWN_MOST = 200,	/* bytes of words in a message, but one */
	EDITS_MOST = 3,		/* of identifiers */
};

static unsigned char
near_fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/*
 * The letters and pairs of letters of a text, by a hash, in either case.  No
 * dots: other names have other separators in their place.
 */
static struct near_letters
near_letters_of(const char *text, size_t length)
{
	struct near_letters found = { 0 };
	unsigned before = 0;

	for (size_t i = 0; i < length; i++) {
		const unsigned c = near_fold(text[i]);
		const unsigned pair = before * 37 + c;

		if (c == '.') {
			before = 0;
			continue;
		}
		found.single |= UINT64_C(1) << (c & 63);
		if (before != 0)
			found.pairs[pair >> 6 & 3] |=
			    UINT64_C(1) << (pair & 63);
		before = c;
	}
	return found;
}

/* Whether so many edits can make text[length] contain the wanted letters. */
static bool
near_is_possible(const struct near_letters *wanted, const char *text,
                 size_t length, unsigned edits)
{
	const struct near_letters found = near_letters_of(text, length);
	unsigned n_pairs = 0;

	for (int i = 0; i < 4; i++)
		n_pairs += (unsigned)__builtin_popcountll(wanted->pairs[i] &
		                                          ~found.pairs[i]);
	return n_pairs <= 3 * edits &&
	    (unsigned)__builtin_popcountll(wanted->single & ~found.single) <=
	        edits;
}

void
near_start(struct near *near, const char *wanted, size_t length)
{
	*near = (struct near){ .wanted = wanted, .length = length };
	near->n_path = typed_name_path(wanted, length, near->path,
	                               sizeof near->path,
	                               &near->n_identifiers);
	near->letters = near_letters_of(near->path, near->n_path);
}

void
near_start_part(struct near *near, const char *wanted, size_t length)
{
	near_start(near, wanted, length);
	near->is_part = true;
}

static unsigned
near_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * The distance of a and b, or FAR if it is more than `most`.  in_a: the least
 * distance of any part of a, whose length then may be any, from b.
 */
static unsigned
distance(const char *a, size_t n_a, const char *b, size_t n_b, bool in_a,
         unsigned most)
{
	unsigned rows[3][LONGEST + 1], best = (unsigned)n_b, least = 0;

	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3];
		const unsigned least_above = least;

		row[0] = least = in_a ? 0 : (unsigned)i;
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
			least = near_least(least, row[j]);
		}
		best = near_least(best, row[n_b]);
		if (least > most && least_above > most)
			return FAR;
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
	edits = distance(text, length, near->wanted, n, true, (unsigned)n / 3);
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
		edits = distance(near->wanted, n, text, length, false, most);
	/* A word with all letters changed is not near. */
	if (edits > most || edits >= longer)
		edits = FAR;
	if (n >= 3 && edits > HOLDS && holds(text, length, near->wanted, n))
		edits = HOLDS;
	return edits;
}

/* The last identifier of a path. */
static const char *
near_last(const char *path, size_t *n)
{
	const char *dot = memrchr(path, '.', *n);

	if (dot == NULL)
		return path;
	*n -= (size_t)(dot + 1 - path);
	return dot + 1;
}

/*
 * The number of edits between the identifiers of functions, or HOLDS if only
 * the last ones are the same.
 */
static unsigned
rate_identifiers(struct near *near, const char *text, size_t length)
{
	size_t n = near->n_path, n_last = n, n_other;
	const char *last = near_last(near->path, &n_last), *other;
	const unsigned most = n < 8 ? 1 : near_least((unsigned)n / 4,
	                                             EDITS_MOST);
	char path[LONGEST];
	unsigned edits = FAR;

	if (n == 0 ||
	    (!near_is_possible(&near->letters, text, length, most) &&
	     (n_last < HOLDS || memmem(text, length, last, n_last) == NULL)))
		return FAR;
	n = typed_name_path_of(text, length, near->n_identifiers, &near->parts,
	                       path, sizeof path);
	if (n == 0)
		return FAR;
	if (n <= near->n_path + most && near->n_path <= n + most)
		edits = distance(near->path, near->n_path, path, n, false,
		                 most);
	if (edits <= most && edits < n && edits < near->n_path)
		return edits;
	n_other = n;
	other = near_last(path, &n_other);
	return n_last >= HOLDS && n_other == n_last &&
	    memcmp(other, last, n_last) == 0 ? HOLDS : FAR;
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

/* Keeps a word if it is nearer than the others. */
static void
near_keep(struct near *near, struct near_word word)
{
	size_t at = near->n;

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
near_offer(struct near *near, const char *text, size_t length)
{
	struct near_word word = { text, length, 0, 0 };

	word.distance = rate_beginning(near, text, length);
	if (word.distance == FIRST)
		word.distance += rate(near, text, length);
	near_keep(near, word);
}

void
near_offer_function(struct near *near, const char *text, size_t length,
                    uint64_t hits)
{
	struct near_word word = { text, length, 0, hits };

	word.distance = rate_beginning(near, text, length);
	if (word.distance == FIRST) {
		const unsigned edits = rate(near, text, length);

		word.distance += edits == 0 || near->is_part ? edits :
		    near_least(edits, rate_identifiers(near, text, length));
	}
	near_keep(near, word);
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
