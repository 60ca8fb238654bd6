/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_places.c -- where in the source a call graph's hits were spent.
 *
 * Places are found through an open-addressing table that is at most half full.
 * Most lookups are of a new place.  So slots hold hashes: a lookup of a new
 * place rarely reads another place, and growing the table reads none.
 */
#include "src/profile/call_places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { FIRST_SLOTS = 1024 };

struct place_slot {
	uint32_t hash;
	uint32_t place;		/* from 1; 0: empty */
};

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

/*
 * Lines of one function, and the calls from them, are looked up one after the
 * other, so they get neighbouring slots.
 */
static uint32_t
hash_of(const struct call_place *place)
{
	uint64_t key = ((uint64_t)place->node << 32 | place->file) *
	               UINT64_C(0x9e3779b97f4a7c15);

	key ^= key >> 32;
	return (uint32_t)key + place->line + 8 * (place->arc + 1);
}

/* The place's slot, or the empty one where it belongs. */
static struct place_slot *
find_slot(const struct call_places *places, const struct call_place *place,
          uint32_t hash)
{
	size_t i = hash & (places->n_slots - 1);

	while (places->slots[i].place != 0 &&
	       (places->slots[i].hash != hash ||
	        !is_same(&places->items[places->slots[i].place - 1], place)))
		i = (i + 1) & (places->n_slots - 1);
	return &places->slots[i];
}

static int
grow_slots(struct call_places *places, struct error *error)
{
	size_t n = places->n_slots * 2;
	struct place_slot *slots = memory_array(n, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (size_t k = 0; k < places->n_slots; k++) {
		size_t i = places->slots[k].hash & (n - 1);

		if (places->slots[k].place == 0)
			continue;
		while (slots[i].place != 0)
			i = (i + 1) & (n - 1);
		slots[i] = places->slots[k];
	}
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
	uint32_t hash = hash_of(&place);
	size_t n_slots = places->n_slots;
	struct place_slot *slot = find_slot(places, &place, hash);

	if (slot->place != 0)
		return slot->place - 1;
	if (make_room(places, error) != 0)
		return UINT32_MAX;
	if (places->n_slots != n_slots)
		slot = find_slot(places, &place, hash);
	place.calls = 0;
	places->items[places->n++] = place;
	*slot = (struct place_slot){ hash, places->n };
	return places->n - 1;
}
