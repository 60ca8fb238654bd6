/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_space.c -- the mappings of one process, by address. */
#include "src/formats/perf/perf_space.h"

#include <string.h>

#include "src/base/memory.h"

/* The first mapping that ends behind an address. */
static size_t
first_behind(const struct perf_space *space, uint64_t address)
{
	size_t low = 0, high = space->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct perf_map *
perf_space_find(const struct perf_space *space, uint64_t address)
{
	size_t i = first_behind(space, address);

	return i < space->n && space->maps[i].start <= address ?
	    &space->maps[i] : NULL;
}

/* Puts a mapping in the place of number i, moving n of them from there. */
static void
replace_maps(struct perf_space *space, size_t i, size_t n,
             const struct perf_map *by, size_t n_by)
{
	memmove(space->maps + i + n_by, space->maps + i + n,
	        (space->n - i - n) * sizeof *space->maps);
	memcpy(space->maps + i, by, n_by * sizeof *by);
	space->n = space->n - n + n_by;
}

int
perf_space_insert(struct perf_space *space, const struct perf_map *map,
                  struct error *error)
{
	struct perf_map by[3];
	size_t i = first_behind(space, map->start), n = 0, n_by = 0;

	if (memory_grow(&space->maps, &space->capacity, space->n + 2,
	                sizeof *space->maps, error) != 0)
		return -1;
	if (i < space->n && space->maps[i].start < map->start) {
		by[n_by] = space->maps[i];
		by[n_by++].end = map->start;
	}
	by[n_by++] = *map;
	while (i + n < space->n && space->maps[i + n].end <= map->end)
		n++;
	if (i + n < space->n && space->maps[i + n].start < map->end) {
		struct perf_map *last = &by[n_by++];

		*last = space->maps[i + n++];
		last->offset += map->end - last->start;
		last->start = map->end;
	}
	replace_maps(space, i, n, by, n_by);
	return 0;
}
