/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_words.h -- numbers and keys in the lines of callgrind's files. */
#ifndef CPPROF_FORMATS_CALLGRIND_WORDS_H
#define CPPROF_FORMATS_CALLGRIND_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The line "desc:" that cpprof writes where costs of calls are estimates. */
#define CALLGRIND_ESTIMATES "Calls: counted, their costs are estimates"

/*
 * Likewise where calls have costs but were not counted; each has the count 1.
 */
#define CALLGRIND_UNCOUNTED "Calls: not counted, 1 stands for any number"

/* What is wrong with the costs of cg_diff's files. */
#define CALLGRIND_IS_DIFFERENCE "differences of two profiles, as cg_diff " \
	"writes them, are no profile; open the two instead"

static inline const char *
callgrind_skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/*
 * Reads digits, or 0x and hexadecimal digits, up to another character.
 * Returns the position after them; NULL if they are no number of 64 bits.
 */
const char *callgrind_number(const char *at, uint64_t *number);

/* Removes blanks from both ends of text[length]. */
void callgrind_trim(const char **text, size_t *length);

/*
 * Moves to the next word, which ends at a blank; returns its length, 0 at the
 * end.
 */
size_t callgrind_next_word(const char **text, size_t *length);

/* Whether text[length] is that word. */
bool callgrind_is_key(const char *text, size_t length, const char *key);

#endif
