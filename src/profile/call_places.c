/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_places.c -- where in the source a call graph's hits were spent. */
#include "src/profile/call_graph.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct call_places *
call_places_new(uint32_t n_resources, struct error *error)
{
	struct call_places *places = memory_array(1, sizeof *places, error);

	if (places != NULL)
		places->n_resources = n_resources;
	return places;
}

void
call_places_free(struct call_places *places)
{
	if (places == NULL)
		return;
	free(places->items);
	free(places->hits);
	index_free(&places->index);
	free(places);
}

void
call_places_close(struct call_places *places)
{
	index_free(&places->index);
}

static bool
is_place(const void *items, uint32_t number, const void *key)
{
	const struct call_place *a = (const struct call_place *)items + number;
	const struct call_place *b = key;

	return a->node == b->node && a->arc == b->arc && a->file == b->file &&
	    a->line == b->line;
}

/*
 * Lines of one function, and the calls from them, are looked up one after the
 * other, so they get neighbouring slots.
 */
static uint32_t
call_places_hash_of(const struct call_place *place)
{
	uint64_t key = ((uint64_t)place->node << 32 | place->file) *
	               UINT64_C(0x9e3779b97f4a7c15);

	key ^= key >> 32;
	return (uint32_t)key + place->line + 8 * (place->arc + 1);
}

static int
call_places_make_room(struct call_places *places, struct error *error)
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
	return 0;
}

uint32_t
call_places_at(struct call_places *places, struct call_place place,
               struct error *error)
{
	uint32_t hash = call_places_hash_of(&place);
	struct index_slot *slot = index_seek(&places->index, hash, is_place,
	                                     places->items, &place, error);

	if (slot == NULL)
		return UINT32_MAX;
	if (slot->number != 0)
		return slot->number - 1;
	if (call_places_make_room(places, error) != 0)
		return UINT32_MAX;
	place.calls = 0;
	places->items[places->n] = place;
	index_fill(&places->index, slot, hash, places->n);
	return places->n++;
}
