/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort.c -- an interruptible qsort_r for as many items as a file may have.
 *
 * A merge sort.  Short runs are sorted by insertion, then merged in pairs,
 * back and forth between the items and a copy of them.
 */
#include "src/base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/progress.h"

enum { FIRST_RUN = 16, ITEMS_A_STEP = 1 << 14 };

struct sorting {
	size_t n, size;
	int (*compare)(const void *a, const void *b, void *context);
	void *context;
};

/* Sorts a short run; scratch has room for one item. */
static void
insert_items(const struct sorting *sorting, char *items, size_t n,
             char *scratch)
{
	size_t size = sorting->size;

	for (size_t i = 1; i < n; i++) {
		size_t at = i;

		while (at > 0 && sorting->compare(items + (at - 1) * size,
		           items + i * size, sorting->context) > 0)
			at--;
		if (at == i)
			continue;
		memcpy(scratch, items + i * size, size);
		memmove(items + (at + 1) * size, items + at * size,
		        (i - at) * size);
		memcpy(items + at * size, scratch, size);
	}
}

/* Merges two adjacent sorted runs at from[begin] into to[]. */
static int
merge_runs(const struct sorting *sorting, const char *from, char *to,
           size_t begin, size_t width, struct error *error)
{
	size_t size = sorting->size, left = sorting->n - begin;
	size_t middle = begin + (width < left ? width : left);
	size_t end = begin + (2 * width < left ? 2 * width : left);
	size_t a = begin, b = middle;

	for (size_t i = begin; i < end; i++) {
		bool takes_a = a < middle && (b == end ||
		    sorting->compare(from + a * size, from + b * size,
		                     sorting->context) <= 0);

		memcpy(to + i * size, from + (takes_a ? a++ : b++) * size,
		       size);
		if (i % ITEMS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
	}
	return 0;
}

int
sort_items(void *items, size_t n, size_t size,
           int (*compare)(const void *a, const void *b, void *context),
           void *context, struct error *error)
{
	const struct sorting sorting = { n, size, compare, context };
	char *from = items, *other = memory_array(n + 1, size, error);
	char *to = other;
	int result = other != NULL ? 0 : -1;

	for (size_t i = 0; result == 0 && i < n; i += FIRST_RUN)
		insert_items(&sorting, from + i * size,
		             n - i < FIRST_RUN ? n - i : FIRST_RUN, to);
	for (size_t width = FIRST_RUN; result == 0 && width < n; width *= 2) {
		char *done = from;

		for (size_t i = 0; result == 0 && i < n; i += 2 * width)
			result = merge_runs(&sorting, from, to, i, width,
			                    error);
		from = to;
		to = done;
	}
	if (result == 0 && from != items)
		memcpy(items, from, n * size);
	free(other);
	return result;
}
