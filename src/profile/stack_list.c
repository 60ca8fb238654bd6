/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_list.c -- the stacks of one input, one after the other. */
#include "src/profile/stack_list.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

void
stack_list_free(struct stack_list *list)
{
	free(list->first);
	free(list->labels);
	free(list->first_byte);
	free(list->keys);
	free(list->rows);
	free(list->hits);
	free(list->total);
	free(list->frames);
	index_free(&list->stack_index);
	index_free(&list->row_index);
}

int
stack_list_begin(struct stack_list *list, uint32_t n_columns,
                 struct error *error)
{
	if (memory_grow(&list->first, &list->first_capacity, 1,
	                sizeof *list->first, error) != 0 ||
	    memory_grow(&list->first_byte, &list->first_byte_capacity, 1,
	                sizeof *list->first_byte, error) != 0 ||
	    memory_grow(&list->total, &list->total_capacity, n_columns,
	                sizeof *list->total, error) != 0)
		return -1;
	list->n = list->n_rows = list->n_frames = 0;
	list->n_columns = n_columns;
	list->first[0] = 0;
	list->first_byte[0] = 0;
	memset(list->total, 0, n_columns * sizeof *list->total);
	index_clear(&list->stack_index);
	index_clear(&list->row_index);
	return 0;
}

struct stack_key {
	const unsigned char *bytes;
	size_t n;
};

static bool
is_stack(const void *things, uint32_t number, const void *sought)
{
	const struct stack_list *list = things;
	const struct stack_key *key = sought;
	size_t first = list->first_byte[number];

	return list->first_byte[number + 1] - first == key->n &&
	    (key->n == 0 ||
	     memcmp(list->keys + first, key->bytes, key->n) == 0);
}

static uint32_t
hash_key(const unsigned char *key, size_t n)
{
	return (uint32_t)XXH3_64bits(key, n);
}

uint32_t
stack_list_find(const struct stack_list *list, const unsigned char *key,
                size_t n)
{
	const struct stack_key sought = { key, n };

	return index_find(&list->stack_index, hash_key(key, n), is_stack, list,
	                  &sought);
}

uint32_t
stack_list_add(struct stack_list *list, const unsigned char *key,
               size_t key_size, const uint32_t *labels, uint32_t n,
               struct error *error)
{
	const struct stack_key sought = { key, key_size };
	uint32_t hash = hash_key(key, key_size), stack = list->n;
	uint32_t begin = list->first[stack];
	size_t begin_byte = list->first_byte[stack];
	struct index_slot *slot;

	if (memory_grow(&list->first, &list->first_capacity,
	                (size_t)stack + 2, sizeof *list->first, error) != 0 ||
	    memory_grow(&list->labels, &list->labels_capacity,
	                (size_t)begin + n, sizeof *labels, error) != 0 ||
	    memory_grow(&list->first_byte, &list->first_byte_capacity,
	                (size_t)stack + 2, sizeof *list->first_byte,
	                error) != 0 ||
	    memory_grow(&list->keys, &list->keys_capacity,
	                begin_byte + key_size + 1, 1, error) != 0)
		return NO_INDEX;
	slot = index_seek(&list->stack_index, hash, is_stack, list, &sought,
	                  error);
	if (slot == NULL)
		return NO_INDEX;
	memcpy(list->labels + begin, labels, n * sizeof *labels);
	list->first[stack + 1] = begin + n;
	if (key_size > 0)
		memcpy(list->keys + begin_byte, key, key_size);
	list->first_byte[stack + 1] = begin_byte + key_size;
	index_fill(&list->stack_index, slot, hash, stack);
	return list->n++;
}

static bool
is_row(const void *things, uint32_t number, const void *key)
{
	const struct stack_list *list = things;
	const struct stack_row *row = &list->rows[number], *sought = key;

	return row->stack == sought->stack && row->set == sought->set;
}

/* The number of the row, entered if new; NO_INDEX with *error set. */
static uint32_t
add_row(struct stack_list *list, const struct stack_row *row,
        struct error *error)
{
	uint32_t hash = index_hash((uint64_t)row->set << 32 | row->stack);
	uint32_t n = list->n_rows;
	struct index_slot *slot = index_seek(&list->row_index, hash, is_row,
	                                     list, row, error);

	if (slot == NULL)
		return NO_INDEX;
	if (slot->number != 0)
		return slot->number - 1;
	if (memory_grow(&list->rows, &list->rows_capacity, (size_t)n + 1,
	                sizeof *list->rows, error) != 0 ||
	    memory_grow(&list->hits, &list->hits_capacity,
	                ((size_t)n + 1) * list->n_columns, sizeof *list->hits,
	                error) != 0)
		return NO_INDEX;
	memset(list->hits + (size_t)n * list->n_columns, 0,
	       list->n_columns * sizeof *list->hits);
	list->rows[n] = *row;
	index_fill(&list->row_index, slot, hash, n);
	return list->n_rows++;
}

int
stack_list_count(struct stack_list *list, uint32_t set, uint32_t stack,
                 const uint64_t *hits, struct error *error)
{
	const struct stack_row key = { set, stack };
	uint32_t row = add_row(list, &key, error);
	uint64_t *to;

	if (row == NO_INDEX)
		return -1;
	to = list->hits + (size_t)row * list->n_columns;
	for (uint32_t i = 0; i < list->n_columns; i++) {
		if (__builtin_add_overflow(list->total[i], hits[i],
		                           &list->total[i]))
			return error_set(error, "the sum of hits exceeds 64 "
			                 "bits");
		to[i] += hits[i];
	}
	return 0;
}

int
stack_list_set_frames(struct stack_list *list, const uint32_t *frames,
                      uint32_t n, struct error *error)
{
	if (memory_grow(&list->frames, &list->frames_capacity, n,
	                sizeof *frames, error) != 0)
		return -1;
	memcpy(list->frames, frames, n * sizeof *frames);
	list->n_frames = n;
	return 0;
}

/* ---- trees ---- */

/* A tree of n nodes without callers, which has no rows yet. */
static struct sample_tree *
new_tree(uint32_t n, uint32_t n_resources, struct error *error)
{
	struct sample_tree *tree = memory_array(1, sizeof *tree, error);

	if (tree == NULL)
		return NULL;
	tree->n_nodes = n;
	tree->n_rows = 1;
	tree->n_resources = n_resources;
	tree->hits = memory_array(n_resources, sizeof *tree->hits, error);
	tree->samples = memory_array(n_resources, sizeof *tree->samples,
	                             error);
	if (error->is_set ||
	    large_array_reserve(&tree->parent, n, sizeof(uint32_t),
	                        error) != 0 ||
	    large_array_reserve(&tree->end, n, sizeof(uint32_t), error) != 0 ||
	    large_array_reserve(&tree->label, n, sizeof(uint32_t),
	                        error) != 0 ||
	    large_array_zeroed(&tree->row, n, sizeof(uint32_t), error) != 0) {
		sample_tree_free(tree);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		tree->parent[i] = NO_NODE;
		tree->end[i] = i + 1;
		tree->label[i] = i;
	}
	return tree;
}

struct sample_tree *
stack_list_tree(const struct stack_list *list, struct error *error)
{
	struct sample_tree *tree = new_tree(list->n_rows, list->n_columns,
	                                    error);
	const uint64_t *hits = list->hits;

	for (uint32_t c = 0; tree != NULL && c < list->n_columns; c++) {
		if (large_array_reserve(&tree->hits[c],
		                        (size_t)list->n_rows + 1,
		                        sizeof *hits, error) != 0) {
			sample_tree_free(tree);
			return NULL;
		}
		tree->hits[c][0] = 0;
	}
	if (tree == NULL)
		return NULL;
	for (uint32_t i = 0; i < list->n_rows; i++, hits += list->n_columns) {
		uint64_t any = 0;

		for (uint32_t c = 0; c < list->n_columns; c++) {
			any |= hits[c];
			tree->hits[c][tree->n_rows] = hits[c];
		}
		/* As in a tree that is built, nothing counted is no row. */
		if (any != 0)
			tree->row[i] = tree->n_rows++;
	}
	return tree;
}

/* Adds up one column; NULL with *error set. */
static uint64_t *
sum_column(const struct stack_list *list, const struct sample_tree *rows,
           const struct sample_tree *sum, const uint64_t *column,
           struct error *error)
{
	uint64_t *to = NULL;

	if (large_array_zeroed(&to, sum->n_rows, sizeof *to, error) != 0)
		return NULL;
	for (uint32_t i = 0; i < list->n_rows; i++)
		to[sum->row[list->rows[i].stack]] += column[rows->row[i]];
	return to;
}

struct sample_tree *
stack_list_sum(const struct stack_list *list, const struct sample_tree *rows,
               struct error *error)
{
	struct sample_tree *sum = new_tree(list->n, rows->n_resources, error);

	if (sum == NULL)
		return NULL;
	for (uint32_t i = 0; i < list->n_rows; i++) {
		uint32_t *row = &sum->row[list->rows[i].stack];

		if (rows->row[i] != 0 && *row == 0)
			*row = sum->n_rows++;
	}
	for (uint32_t r = 0; !error->is_set && r < rows->n_resources; r++) {
		sum->hits[r] = sum_column(list, rows, sum, rows->hits[r],
		                          error);
		if (rows->samples[r] != NULL && sum->hits[r] != NULL)
			sum->samples[r] = sum_column(list, rows, sum,
			                             rows->samples[r], error);
	}
	if (!error->is_set)
		return sum;
	sample_tree_free(sum);
	return NULL;
}
