/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_places.c -- where in the source a call graph's hits were spent.
 *
 * Places are found by a table of open addressing that is at most half full.
 */
#include "src/profile/call_places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { FIRST_SLOTS = 1024 };

struct call_places *
call_places_new(uint32_t n_resources, struct error *error)
{
	struct call_places *places = memory_array(1, sizeof *places, error);

	if (places == NULL)
		return NULL;
	places->n_resources = n_resources;
	places->n_slots = FIRST_SLOTS;
	places->slots = memory_array(FIRST_SLOTS, sizeof *places->slots,
	                             error);
	if (places->slots == NULL) {
		free(places);
		return NULL;
	}
	return places;
}

void
call_places_free(struct call_places *places)
{
	if (places == NULL)
		return;
	free(places->items);
	free(places->hits);
	free(places->slots);
	free(places);
}

void
call_places_close(struct call_places *places)
{
	free(places->slots);
	places->slots = NULL;
	places->n_slots = 0;
}

static bool
is_same(const struct call_place *a, const struct call_place *b)
{
	return a->node == b->node && a->arc == b->arc && a->file == b->file &&
	    a->line == b->line;
}

static uint32_t *
find_slot(const struct call_places *places, uint32_t *slots, size_t n_slots,
          const struct call_place *place)
{
	uint64_t key = ((uint64_t)place->node << 32 | place->arc) *
	               UINT64_C(0x9e3779b97f4a7c15);
	size_t i;

	key ^= ((uint64_t)place->file << 32 | place->line) *
	       UINT64_C(0xc2b2ae3d27d4eb4f);
	i = (size_t)(key ^ key >> 29) & (n_slots - 1);
	while (slots[i] != 0 && !is_same(&places->items[slots[i] - 1], place))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

static int
grow_slots(struct call_places *places, struct error *error)
{
	size_t n = places->n_slots * 2;
	uint32_t *slots = memory_array(n, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (uint32_t i = 0; i < places->n; i++)
		*find_slot(places, slots, n, &places->items[i]) = i + 1;
	free(places->slots);
	places->slots = slots;
	places->n_slots = n;
	return 0;
}

static int
make_room(struct call_places *places, struct error *error)
{
	size_t width = places->n_resources, n = places->n;

	if (n == UINT32_MAX - 1)
		return error_set(error, "more than 4,294,967,294 lines");
	if (memory_grow(&places->items, &places->items_capacity, n + 1,
	                sizeof *places->items, error) != 0 ||
	    memory_grow(&places->hits, &places->hits_capacity,
	                (n + 1) * width, sizeof *places->hits, error) != 0)
		return -1;
	if (width > 0)
		memset(places->hits + n * width, 0,
		       width * sizeof *places->hits);
	return 2 * (n + 1) > places->n_slots ? grow_slots(places, error) : 0;
}

uint32_t
call_places_at(struct call_places *places, struct call_place place,
               struct error *error)
{
	uint32_t *slot = find_slot(places, places->slots, places->n_slots,
	                           &place);

	if (*slot != 0)
		return *slot - 1;
	if (make_room(places, error) != 0)
		return UINT32_MAX;
	place.calls = 0;
	places->items[places->n] = place;
	/* The table may be another one now. */
	slot = find_slot(places, places->slots, places->n_slots, &place);
	*slot = ++places->n;
	return places->n - 1;
}
