/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.c -- the order of rows: by hits, then by names as bytes. */
#include "src/views/rows/rows.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS };

/* A name and its first bytes, so that most comparisons read no text. */
struct ranked_name {
	uint64_t start;
	uint32_t name;
};

static int
order_compare_names(const void *a, const void *b, void *names)
{
	const struct ranked_name *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return names_compare(names, x->name, y->name);
}

/* The first eight bytes as a number that orders like them. */
static uint64_t
name_start(const struct names *names, uint32_t name)
{
	size_t length = names_length(names, name);
	uint64_t start = 0;

	memcpy(&start, names_text(names, name), length < 8 ? length : 8);
	return be64toh(start);
}

/* Lists the distinct names; position[name] is 1 for these, else 0. */
static uint32_t
order_list_names(const struct names *names, const uint32_t *name, uint32_t n,
                 uint32_t *position, struct ranked_name *list)
{
	uint32_t n_list = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (position[name[i]] != 0)
			continue;
		position[name[i]] = 1;
		list[n_list].name = name[i];
		list[n_list++].start = name_start(names, name[i]);
	}
	return n_list;
}

uint32_t
order_rank_names(const struct names *names, const uint32_t *name, uint32_t n,
                 uint32_t *rank, struct error *error)
{
	uint32_t n_names = names_count(names), n_list = UINT32_MAX;
	uint32_t most = n < n_names ? n : n_names;
	uint32_t *position = memory_array(n_names, sizeof *position, error);
	struct ranked_name *list = memory_array(most, sizeof *list, error);

	if (position != NULL && list != NULL) {
		n_list = order_list_names(names, name, n, position, list);
		if (sort_items(list, n_list, sizeof *list, order_compare_names,
		               (void *)names, error) != 0)
			n_list = 0;
		for (uint32_t i = 0; i < n_list; i++)
			position[list[i].name] = i;
		for (uint32_t i = 0; i < n; i++)
			rank[i] = position[name[i]];
	}
	free(position);
	free(list);
	return error->is_set ? UINT32_MAX : n_list;
}

int
order_ascending(uint32_t *items, uint32_t n, const uint32_t *key,
                uint32_t n_keys, struct error *error)
{
	uint32_t *place = memory_array((size_t)n_keys + 1, sizeof *place,
	                               error);
	uint32_t *from = memory_copy(items, n, sizeof *items, error);
	int status = -1;

	if (place != NULL && from != NULL &&
	    progress_step(NULL, 0, 0, error) == 0) {
		for (uint32_t i = 0; i < n; i++)
			place[key[from[i]] + 1]++;
		for (uint32_t k = 0; k < n_keys; k++)
			place[k + 1] += place[k];
		status = progress_step(NULL, 0, 0, error);
		for (uint32_t i = 0; status == 0 && i < n; i++)
			items[place[key[from[i]]]++] = from[i];
	}
	free(place);
	free(from);
	return status;
}

/* One pass of the radix sort, by the digit above `shift` bits. */
static void
sort_by_digit(const uint32_t *from, uint32_t *to, uint32_t n,
              const uint64_t *key, int shift)
{
	uint32_t place[DIGIT_VALUES] = { 0 };
	uint32_t before = 0;

	for (uint32_t i = 0; i < n; i++)
		place[key[from[i]] >> shift & (DIGIT_VALUES - 1)]++;
	for (int digit = DIGIT_VALUES; digit-- > 0;) {
		uint32_t here = place[digit];

		place[digit] = before;
		before += here;
	}
	for (uint32_t i = 0; i < n; i++)
		to[place[key[from[i]] >> shift & (DIGIT_VALUES - 1)]++] =
		    from[i];
}

int
order_descending(uint32_t *items, uint32_t n, const uint64_t *key,
                 struct error *error)
{
	uint32_t *other = memory_array(n, sizeof *other, error);
	uint32_t *from = items, *to = other;
	uint64_t varying = 0;

	if (other == NULL)
		return -1;
	for (uint32_t i = 1; i < n; i++)
		varying |= key[items[i]] ^ key[items[0]];
	for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
		uint32_t *emptied = from;

		if ((varying >> shift & (DIGIT_VALUES - 1)) == 0)
			continue;
		if (progress_step(NULL, 0, 0, error) != 0)
			break;
		sort_by_digit(from, to, n, key, shift);
		from = to;
		to = emptied;
	}
	if (from != items)
		memcpy(items, from, n * sizeof *items);
	free(other);
	return error->is_set ? -1 : 0;
}

/*
 * Links children in the order of items: goes backwards, and adds each at the
 * front.
 */
static uint32_t
link_children(const uint32_t *items, uint32_t n, const uint32_t *parent,
              uint32_t *first_child, uint32_t *next_brother)
{
	uint32_t first_root = UINT32_MAX;

	memset(first_child, 0xff, n * sizeof *first_child);
	for (uint32_t i = n; i-- > 0;) {
		uint32_t node = items[i];
		uint32_t *first = parent[node] == UINT32_MAX ? &first_root :
		                  &first_child[parent[node]];

		next_brother[node] = *first;
		*first = node;
	}
	return first_root;
}

int
order_preorder(uint32_t *items, uint32_t n, const uint32_t *parent,
               struct error *error)
{
	uint32_t *first_child = memory_array(n, sizeof *first_child, error);
	uint32_t *next_brother = memory_array(n, sizeof *next_brother, error);
	uint32_t node, i = 0;
	int status = -1;

	if (first_child != NULL && next_brother != NULL &&
	    progress_step(NULL, 0, 0, error) == 0) {
		node = link_children(items, n, parent, first_child,
		                     next_brother);
		while (node != UINT32_MAX) {
			items[i++] = node;
			if (first_child[node] != UINT32_MAX) {
				node = first_child[node];
				continue;
			}
			while (node != UINT32_MAX &&
			       next_brother[node] == UINT32_MAX)
				node = parent[node];
			if (node != UINT32_MAX)
				node = next_brother[node];
		}
		status = 0;
	}
	free(first_child);
	free(next_brother);
	return status;
}

/*
 * The state of prefix doubling for each walk; item n is the end of all walks.
 */
struct walks {
	uint32_t n;
	uint32_t *rank;		/* of its first 2^k names; 0: no names */
	uint32_t *jump;		/* the item 2^k names on */
	uint32_t *jump_rank, *next_rank, *next_jump;
};

static int
walks_begin(struct walks *walks, uint32_t n, const uint32_t *parent,
            const uint32_t *rank, struct error *error)
{
	size_t size = (size_t)n + 1;

	*walks = (struct walks){ .n = n };
	walks->rank = memory_array(size, sizeof *walks->rank, error);
	walks->jump = memory_array(size, sizeof *walks->jump, error);
	walks->jump_rank = memory_array(size, sizeof *walks->rank, error);
	walks->next_rank = memory_array(size, sizeof *walks->rank, error);
	walks->next_jump = memory_array(size, sizeof *walks->jump, error);
	if (walks->rank == NULL || walks->jump == NULL ||
	    walks->jump_rank == NULL || walks->next_rank == NULL ||
	    walks->next_jump == NULL)
		return -1;
	walks->jump[n] = n;
	for (uint32_t i = 0; i < n; i++) {
		walks->rank[i] = rank[i] + 1;
		walks->jump[i] = parent[i] == UINT32_MAX ? n : parent[i];
	}
	return 0;
}

static void
walks_free(struct walks *walks)
{
	free(walks->rank);
	free(walks->jump);
	free(walks->jump_rank);
	free(walks->next_rank);
	free(walks->next_jump);
}

static void
swap(uint32_t **a, uint32_t **b)
{
	uint32_t *kept = *a;

	*a = *b;
	*b = kept;
}

/*
 * Sorts by twice as many names, and ranks again.  n_ranks: ranks are below it.
 * Returns the new number of distinct ranks of items, UINT32_MAX on error.
 */
static uint32_t
walks_double(struct walks *walks, uint32_t *items, uint32_t n_ranks,
             struct error *error)
{
	uint32_t distinct = 0;

	for (uint32_t i = 0; i <= walks->n; i++) {
		walks->jump_rank[i] = walks->rank[walks->jump[i]];
		walks->next_jump[i] = walks->jump[walks->jump[i]];
	}
	if (order_ascending(items, walks->n, walks->jump_rank, n_ranks,
	                    error) != 0 ||
	    order_ascending(items, walks->n, walks->rank, n_ranks,
	                    error) != 0)
		return UINT32_MAX;
	for (uint32_t i = 0; i < walks->n; i++) {
		uint32_t item = items[i], before = i > 0 ? items[i - 1] : item;

		if (i == 0 || walks->rank[item] != walks->rank[before] ||
		    walks->jump_rank[item] != walks->jump_rank[before])
			distinct++;
		walks->next_rank[item] = distinct;
	}
	swap(&walks->rank, &walks->next_rank);
	swap(&walks->jump, &walks->next_jump);
	walks->rank[walks->n] = 0;
	return distinct;
}

int
order_by_walk(uint32_t *items, uint32_t n, const uint32_t *parent,
              const uint32_t *rank, uint32_t n_ranks, struct error *error)
{
	struct walks walks;
	uint32_t distinct = n_ranks;
	int status = walks_begin(&walks, n, parent, rank, error);

	if (status == 0 && n > 0)
		do
			distinct = walks_double(&walks, items, distinct + 1,
			                        error);
		while (distinct < n);
	if (distinct == UINT32_MAX)
		status = -1;
	walks_free(&walks);
	return status;
}
