/* SPDX-License-Identifier: GPL-3.0-or-later */
/* id_table.h -- small numbers for ids that a file may choose as it likes.
 *
 * Most files count from 1, and some use addresses: small ids index an array,
 * others go through an index.
 */
#ifndef CPPROF_FORMATS_ID_TABLE_H
#define CPPROF_FORMATS_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"

#define NO_ID UINT32_MAX

/* Start with `{ 0 }`. */
struct id_table {
	uint32_t n;		/* ids so far */
	uint64_t *ids;		/* [n], by number */
	size_t ids_capacity;
	uint32_t *dense;	/* number + 1 of each small id; 0: none */
	size_t n_dense;
	struct index others;
};

void id_table_free(struct id_table *table);

/*
 * The number of an id, which is entered if new: they count from 0 in order of
 * entry.  NO_ID with *error set for want of memory.  Expected O(1).
 */
uint32_t id_table_enter(struct id_table *table, uint64_t id,
                        struct error *error);

/* The number of an id, or NO_ID when it was never entered. */
uint32_t id_table_find(const struct id_table *table, uint64_t id);

/* id_table_enter where it can be had without a call. */
static inline uint32_t
id_table_add(struct id_table *table, uint64_t id, struct error *error)
{
	if (id < table->n_dense && table->dense[id] != 0)
		return table->dense[id] - 1;
	return id_table_enter(table, id, error);
}

#endif
