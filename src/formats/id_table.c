/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id_table.c -- small numbers for ids that a file may choose as it likes. */
#include "src/formats/reader.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { DENSE_MAX = 1 << 22, DENSE_FIRST = 1024 };

void
id_table_free(struct id_table *table)
{
	free(table->ids);
	free(table->dense);
	index_free(&table->others);
}

static bool
has_id(const void *ids, uint32_t number, const void *id)
{
	return ((const uint64_t *)ids)[number] == *(const uint64_t *)id;
}

uint32_t
id_table_find(const struct id_table *table, uint64_t id)
{
	if (id < DENSE_MAX)
		return id < table->n_dense ? table->dense[id] - 1 : NO_ID;
	return index_find(&table->others, index_hash(id), has_id, table->ids,
	                  &id);
}

/* Room for a small id in the array. */
static int
grow_dense(struct id_table *table, uint64_t id, struct error *error)
{
	size_t n = table->n_dense > 0 ? table->n_dense : DENSE_FIRST;
	uint32_t *dense;

	if (id < table->n_dense)
		return 0;
	while (n <= id)
		n *= 2;
	dense = memory_array(n, sizeof *dense, error);
	if (dense == NULL)
		return -1;
	if (table->n_dense > 0)
		memcpy(dense, table->dense, table->n_dense * sizeof *dense);
	free(table->dense);
	table->dense = dense;
	table->n_dense = n;
	return 0;
}

uint32_t
id_table_enter(struct id_table *table, uint64_t id, struct error *error)
{
	uint32_t hash = index_hash(id);
	struct index_slot *slot = NULL;

	if (id >= DENSE_MAX)
		slot = index_seek(&table->others, hash, has_id, table->ids,
		                  &id, error);
	else if (grow_dense(table, id, error) != 0)
		return NO_ID;
	else if (table->dense[id] != 0)
		return table->dense[id] - 1;
	if (id >= DENSE_MAX && slot == NULL)
		return NO_ID;
	if (slot != NULL && slot->number != 0)
		return slot->number - 1;
	if (table->n >= NO_ID - 1) {
		error_set(error, "more than 4,294,967,294 ids");
		return NO_ID;
	}
	if (memory_grow(&table->ids, &table->ids_capacity,
	                (size_t)table->n + 1, sizeof *table->ids, error) != 0)
		return NO_ID;
	if (slot != NULL)
		index_fill(&table->others, slot, hash, table->n);
	else
		table->dense[id] = table->n + 1;
	table->ids[table->n] = id;
	return table->n++;
}
