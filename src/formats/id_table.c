/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id_table.c -- small numbers for ids that a file may choose as it likes. */
#include "src/formats/id_table.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { DENSE_MAX = 1 << 22, DENSE_FIRST = 1024, SLOTS_FIRST = 1024 };

struct id_slot {
	uint64_t id;
	uint32_t number;	/* + 1; 0: empty */
};

void
id_table_free(struct id_table *table)
{
	free(table->dense);
	free(table->slots);
}

/* The slot of the id, or the empty one where it belongs. */
static struct id_slot *
find_slot(const struct id_table *table, uint64_t id)
{
	size_t mask = table->n_slots - 1;
	uint64_t hash = (id ^ id >> 32) * 0x9e3779b97f4a7c15;
	size_t i = (size_t)(hash >> 32) & mask;

	while (table->slots[i].number != 0 && table->slots[i].id != id)
		i = (i + 1) & mask;
	return &table->slots[i];
}

static int
grow_slots(struct id_table *table, struct error *error)
{
	struct id_table larger = *table;

	larger.n_slots = table->n_slots > 0 ? 2 * table->n_slots :
	                 SLOTS_FIRST;
	larger.slots = memory_array(larger.n_slots, sizeof *larger.slots,
	                            error);
	if (larger.slots == NULL)
		return -1;
	for (size_t i = 0; i < table->n_slots; i++)
		if (table->slots[i].number != 0)
			*find_slot(&larger, table->slots[i].id) =
			    table->slots[i];
	free(table->slots);
	*table = larger;
	return 0;
}

static int
grow_dense(struct id_table *table, uint64_t id, struct error *error)
{
	size_t n = table->n_dense > 0 ? table->n_dense : DENSE_FIRST;
	uint32_t *dense;

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

static uint32_t
next_number(struct id_table *table, struct error *error)
{
	if (table->n >= NO_ID - 1) {
		error_set(error, "more than 4,294,967,294 ids");
		return 0;
	}
	return ++table->n;
}

static uint32_t
enter_dense(struct id_table *table, uint64_t id, struct error *error)
{
	if (id >= table->n_dense && grow_dense(table, id, error) != 0)
		return NO_ID;
	if (table->dense[id] == 0)
		table->dense[id] = next_number(table, error);
	return table->dense[id] - 1;
}

uint32_t
id_table_enter(struct id_table *table, uint64_t id, struct error *error)
{
	struct id_slot *slot;

	if (id < DENSE_MAX)
		return enter_dense(table, id, error);
	if (table->n_slots_used >= table->n_slots / 2 &&
	    grow_slots(table, error) != 0)
		return NO_ID;
	slot = find_slot(table, id);
	if (slot->number == 0) {
		*slot = (struct id_slot){ id, next_number(table, error) };
		table->n_slots_used++;
	}
	return slot->number - 1;
}

uint32_t
id_table_find(const struct id_table *table, uint64_t id)
{
	if (id < DENSE_MAX)
		return id < table->n_dense ? table->dense[id] - 1 : NO_ID;
	return table->n_slots > 0 ? find_slot(table, id)->number - 1 : NO_ID;
}

uint64_t *
id_table_ids(const struct id_table *table, struct error *error)
{
	uint64_t *ids = memory_array(table->n, sizeof *ids, error);

	if (ids == NULL)
		return NULL;
	for (size_t id = 0; id < table->n_dense; id++)
		if (table->dense[id] != 0)
			ids[table->dense[id] - 1] = id;
	for (size_t i = 0; i < table->n_slots; i++)
		if (table->slots[i].number != 0)
			ids[table->slots[i].number - 1] = table->slots[i].id;
	return ids;
}
