/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h -- strings kept once each and named by a small number. */
#ifndef CPPROF_BASE_NAMES_H
#define CPPROF_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct names;

#define NO_NAME UINT32_MAX

/* An empty set, freed with names_free; NULL with *error set. */
struct names *names_new(struct error *error);
void names_free(struct names *names);

/*
 * The number of the string text[length], which is entered if it is new.
 * Numbers count from 0 in order of entry.  The bytes are copied and may be
 * anything, including NUL.  NO_NAME with *error set if memory runs out.
 * Expected O(length).
 */
uint32_t names_add(struct names *names, const char *text, size_t length,
                   struct error *error);

/*
 * Likewise for a pair of texts, distinct from any other pair.  It is entered
 * as the first text, which must not hold a NUL, a NUL, and the second text,
 * which may hold any bytes.
 */
uint32_t names_add_pair(struct names *names, const char *first, size_t n_first,
                        const void *second, size_t n_second,
                        struct error *error);

/* Likewise for the formatted text. */
uint32_t names_add_format(struct names *names, struct error *error,
                          const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The number of a string, or NO_NAME when it was never entered; text may be
 * NULL where length is 0.
 */
uint32_t names_find(const struct names *names, const char *text,
                    size_t length);

/* Likewise for a pair of texts. */
uint32_t names_find_pair(const struct names *names, const char *first,
                         size_t n_first, const void *second, size_t n_second);

uint32_t names_count(const struct names *names);

/*
 * The string with that number, which must be below names_count.  It is
 * followed by a NUL, and stays in place as long as the set lives.
 */
const char *names_text(const struct names *names, uint32_t name);
size_t names_length(const struct names *names, uint32_t name);

/*
 * Compares two names by their bytes, a prefix before its extensions: less
 * than, equal to or more than zero, like memcmp.
 */
int names_compare(const struct names *names, uint32_t a, uint32_t b);

/* The same for sorting: a and b point to names, as numbers. */
int names_compare_items(const void *a, const void *b, void *names);

/* ---- call_paths.c ---- */

/*
 * Call paths kept as a trie, one record a path.
 *
 * A record is its parent record and one more name.  Only the path that is
 * being shown is ever built up in memory.
 */

#define NO_RECORD UINT32_MAX

/* Borrows its arrays; whoever makes it documents how long they live. */
struct call_paths {
	const struct names *names;
	const uint32_t *parent;		/* NO_RECORD: the path's first record */
	const uint32_t *name;
	bool is_innermost_first;	/* the walk up starts at the outermost
					 * name: upward profiles */
};

/* The number of names in the record's path. */
size_t call_paths_length(const struct call_paths *paths, uint32_t record);

/* Writes them to names[call_paths_length()], outermost first. */
void call_paths_get(const struct call_paths *paths, uint32_t record,
                    uint32_t *names);

#endif
