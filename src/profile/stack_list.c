/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_list.c -- the stacks of one input, one after the other. */
#include "src/profile/stack_list.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

void
stack_list_free(struct stack_list *list)
{
	free(list->first);
	free(list->labels);
	free(list->row);
	free(list->rows);
	free(list->hits);
	free(list->total);
	free(list->frames);
	digest_index_free(list->stacks);
	index_free(&list->row_index);
}

int
stack_list_begin(struct stack_list *list, uint32_t n_columns,
                 struct error *error)
{
	if (list->stacks == NULL)
		list->stacks = digest_index_new(error);
	if (list->stacks == NULL ||
	    memory_grow(&list->first, &list->first_capacity, 1,
	                sizeof *list->first, error) != 0 ||
	    memory_grow(&list->total, &list->total_capacity, n_columns,
	                sizeof *list->total, error) != 0)
		return -1;
	list->n = list->n_rows = list->n_frames = 0;
	list->n_columns = n_columns;
	list->first[0] = 0;
	memset(list->total, 0, n_columns * sizeof *list->total);
	digest_index_clear(list->stacks);
	index_clear(&list->row_index);
	return 0;
}

uint32_t
stack_list_add(struct stack_list *list, const XXH128_hash_t *digest,
               const uint32_t *labels, uint32_t n, struct error *error)
{
	uint32_t stack = list->n, begin = list->first[stack];

	if (memory_grow(&list->first, &list->first_capacity,
	                (size_t)stack + 2, sizeof *list->first, error) != 0 ||
	    memory_grow(&list->labels, &list->labels_capacity,
	                (size_t)begin + n, sizeof *labels, error) != 0 ||
	    memory_grow(&list->row, &list->row_capacity, (size_t)stack + 1,
	                sizeof *list->row, error) != 0 ||
	    digest_index_enter(list->stacks, digest, stack, error) != 0)
		return NO_INDEX;
	memcpy(list->labels + begin, labels, n * sizeof *labels);
	list->first[stack + 1] = begin + n;
	list->row[stack] = NO_INDEX;
	return list->n++;
}

static bool
is_row(const void *things, uint32_t number, const void *key)
{
	const struct stack_list *list = things;
	const struct stack_row *row = &list->rows[number], *sought = key;

	return row->stack == sought->stack && row->kind == sought->kind;
}

/* Enters a row; NO_INDEX with *error set. */
static uint32_t
stack_list_enter_row(struct stack_list *list, const struct stack_row *row,
                     struct error *error)
{
	uint32_t n = list->n_rows;

	if (memory_grow(&list->rows, &list->rows_capacity, (size_t)n + 1,
	                sizeof *list->rows, error) != 0 ||
	    memory_grow(&list->hits, &list->hits_capacity,
	                ((size_t)n + 1) * list->n_columns, sizeof *list->hits,
	                error) != 0)
		return NO_INDEX;
	memset(list->hits + (size_t)n * list->n_columns, 0,
	       list->n_columns * sizeof *list->hits);
	list->rows[n] = *row;
	return list->n_rows++;
}

/* A row of a stack that is not its first one, entered if new. */
static uint32_t
stack_list_add_row(struct stack_list *list, const struct stack_row *row,
                   struct error *error)
{
	uint32_t hash = index_hash((uint64_t)row->kind << 32 | row->stack);
	struct index_slot *slot = index_seek(&list->row_index, hash, is_row,
	                                     list, row, error);
	uint32_t n;

	if (slot == NULL)
		return NO_INDEX;
	if (slot->number != 0)
		return slot->number - 1;
	n = stack_list_enter_row(list, row, error);
	if (n != NO_INDEX)
		index_fill(&list->row_index, slot, hash, n);
	return n;
}

int
stack_list_count(struct stack_list *list, uint32_t kind, uint32_t stack,
                 const uint64_t *hits, struct error *error)
{
	const struct stack_row key = { kind, stack };
	uint32_t row = list->row[stack];
	uint64_t *to;

	/* Nearly all stacks have one row. */
	if (row == NO_INDEX)
		row = list->row[stack] = stack_list_enter_row(list, &key,
		                                              error);
	else if (list->rows[row].kind != kind)
		row = stack_list_add_row(list, &key, error);
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

/* A tree of n nodes without callers, with room for a row of each. */
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
	    node_numbers_reserve(&tree->parents, n, n, error) != 0 ||
	    large_array_reserve(&tree->label, n, sizeof(uint32_t),
	                        error) != 0 ||
	    node_numbers_reserve(&tree->rows, n, n, error) != 0) {
		sample_tree_free(tree);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		tree_add_parent(&tree->parents, NO_NODE);
		tree->label[i] = i;
	}
	if (sample_tree_find_ends(tree, error) == 0)
		return tree;
	sample_tree_free(tree);
	return NULL;
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
		tree_add_row(&tree->rows, any != 0 ? tree->n_rows++ : 0);
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
		to[sample_tree_row(sum, list->rows[i].stack)] +=
		    column[sample_tree_row(rows, i)];
	return to;
}

struct sample_tree *
stack_list_sum(const struct stack_list *list, const struct sample_tree *rows,
               struct error *error)
{
	struct sample_tree *sum = new_tree(list->n, rows->n_resources, error);
	bool *has_row = memory_array(list->n, sizeof *has_row, error);

	for (uint32_t i = 0; has_row != NULL && i < list->n_rows; i++)
		has_row[list->rows[i].stack] |= sample_tree_has_row(rows, i);
	for (uint32_t i = 0; !error->is_set && i < list->n; i++)
		tree_add_row(&sum->rows, has_row[i] ? sum->n_rows++ : 0);
	free(has_row);
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
