/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_places.h -- where in the source a call graph's hits were spent.
 *
 * A place is a line of a node: the node's own hits there, or the calls along
 * one of its arcs that were made from there.  The places of a node sum to its
 * own hits, those of an arc to its calls and hits.
 */
#ifndef CPPROF_PROFILE_CALL_PLACES_H
#define CPPROF_PROFILE_CALL_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"

#define NO_ARC UINT32_MAX

struct call_place {
	uint32_t node;		/* whose code it is */
	uint32_t arc;		/* of the calls; NO_ARC: its own hits */
	uint32_t file;		/* a name; NO_NAME: unknown */
	uint32_t line;		/* 0: unknown */
	uint64_t calls;		/* made from there */
};


struct call_places {
	uint32_t n_resources, n;
	struct call_place *items;
	uint64_t *hits;		/* [n][n_resources] */

	/* Used while places are entered. */
	size_t items_capacity, hits_capacity;
	struct index index;
};

/* Empty; freed with call_places_free, NULL with *error set. */
struct call_places *call_places_new(uint32_t n_resources,
                                    struct error *error);
void call_places_free(struct call_places *places);

/*
 * The number of a place, entered with no hits and no calls if it is new;
 * ignores place.calls.  UINT32_MAX with *error set if memory runs out.
 * Expected O(1).
 */
uint32_t call_places_at(struct call_places *places, struct call_place place,
                        struct error *error);

/* Ends entering; afterwards the places themselves may be changed. */
void call_places_close(struct call_places *places);

/* A row of counters, valid until the next place is entered. */
static inline uint64_t *
call_places_hits(const struct call_places *places, uint32_t place)
{
	return places->hits + (size_t)place * places->n_resources;
}

#endif
