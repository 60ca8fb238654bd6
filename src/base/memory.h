/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h -- memory: what is allocated at once, arenas, and sorting. */
#ifndef CPPROF_BASE_MEMORY_H
#define CPPROF_BASE_MEMORY_H

#include <stddef.h>

#include "src/base/error.h"

/* ---- memory.c ---- */

/* Allocation with checked sizes, failing as a value. */

/*
 * n zeroed items of size bytes; the caller frees with free().  n may be 0 (the
 * result is then still not NULL).  NULL with *error set when the product
 * overflows or memory runs out.
 */
void *memory_array(size_t n, size_t size, struct error *error);

/* A copy of n items, owned by the caller; likewise. */
void *memory_copy(const void *items, size_t n, size_t size,
                  struct error *error);

/*
 * A copy of text[length] followed by a NUL; likewise.  text may be NULL where
 * length is 0.
 */
char *memory_text(const char *text, size_t length, struct error *error);

/* A copy of a string, owned by the caller; likewise. */
char *memory_string(const char *text, struct error *error);

/* A copy of n strings, owned by the caller; likewise. */
char **memory_strings(const char *const *texts, size_t n, struct error *error);

/* Frees that; NULL is allowed. */
void memory_strings_free(char **texts, size_t n);

/*
 * Makes room for at least `needed` items in the growing array *items (a
 * pointer variable's address, NULL at first) of *capacity items; doubles, and
 * leaves new items uninitialised.  0, or -1 with *error set, the array intact.
 */
int memory_grow(void *items, size_t *capacity, size_t needed, size_t size,
                struct error *error);

/* ---- arena.c ---- */

/* Many small allocations that die together. */

struct arena_block;

/* Start with `{ 0 }`; arena_free makes it empty again. */
struct arena {
	struct arena_block *blocks;
	char *next;
	size_t left;
};

/*
 * size zeroed bytes, aligned for any object, that live until arena_free; NULL
 * with *error set if memory runs out.
 */
void *arena_alloc(struct arena *arena, size_t size, struct error *error);

/* A copy of text[length] followed by a NUL, unaligned; likewise. */
char *arena_text(struct arena *arena, const char *text, size_t length,
                 struct error *error);

/* The formatted text, in the arena; likewise. */
char *arena_format(struct arena *arena, struct error *error,
                   const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void arena_free(struct arena *arena);

/* ---- sort.c ---- */

/*
 * An interruptible qsort_r for as many items as a file may have.
 *
 * Sorting millions takes seconds, during which qsort_r cannot be interrupted.
 */

/*
 * Sorts n items of that size; equal ones keep their order.  0; or -1 with
 * *error set if memory runs out or the user interrupts, the items then in any
 * order.
 */
int sort_items(void *items, size_t n, size_t size,
               int (*compare)(const void *a, const void *b, void *context),
               void *context, struct error *error);

/*
 * The number of items at the beginning of n sorted ones for which a condition
 * on i, the number of an item, is true; it must be false for all after them.
 * So the last item at or below x is that before
 *
 *	partition_point(n, i, items[i].start <= x)
 *
 * and the first one at or above x is at
 *
 *	partition_point(n, i, items[i].start < x).
 *
 * Evaluates the condition at most log2(n) + 1 times; a macro, so that this is
 * as fast as written out.
 */
#define partition_point(n, i, condition) __extension__ ({ \
	size_t partition_low = 0, partition_high = (n); \
	while (partition_low < partition_high) { \
		const size_t i = partition_low + \
		                 (partition_high - partition_low) / 2; \
		if (condition) \
			partition_low = i + 1; \
		else \
			partition_high = i; \
	} \
	partition_low; \
})

#endif
