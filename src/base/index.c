/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index.c -- finds things by their keys. */
#include "src/base/index.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum {
	FIRST_SLOTS = 256,
	SLOTS_FOR_EACH = 16,	/* that are kept when the index is cleared */
};

void
index_free(struct index *index)
{
	free(index->slots);
	*index = (struct index){ 0 };
}

void
index_clear(struct index *index)
{
	if (index->n == 0)
		return;
	/* After large contents, small ones should not pay for their slots. */
	while (index->n_slots > FIRST_SLOTS &&
	       index->n_slots / SLOTS_FOR_EACH > index->n)
		index->n_slots /= 2;
	memset(index->slots, 0, index->n_slots * sizeof *index->slots);
	index->n = 0;
}

int
index_grow(struct index *index, struct error *error)
{
	size_t n = index->n_slots > 0 ? 2 * index->n_slots : FIRST_SLOTS;
	struct index_slot *slots = memory_array(n, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (size_t k = 0; k < index->n_slots; k++) {
		size_t i = index->slots[k].hash & (n - 1);

		if (index->slots[k].number == 0)
			continue;
		while (slots[i].number != 0)
			i = (i + 1) & (n - 1);
		slots[i] = index->slots[k];
	}
	free(index->slots);
	index->slots = slots;
	index->n_slots = n;
	return 0;
}
