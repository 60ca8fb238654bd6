/* SPDX-License-Identifier: GPL-3.0-or-later */
/* index.h -- finds things by their keys.
 *
 * The things are their owner's, in an array that only grows.  The index has
 * their numbers by a hash of their keys, and asks the owner whether a thing has
 * the key that is sought.  Open addressing, at most half full.  A slot holds
 * the hash, too: so a search looks almost only at the thing that it finds, and
 * growing looks at none.
 *
 * Three loops that see each frame of a large input have tables of their own:
 * src/formats/frame_names.c, src/profile/tree_children.c and
 * src/views/paths/path_trie.c say what these gain.
 */
#ifndef CPPROF_BASE_INDEX_H
#define CPPROF_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

#define NO_INDEX UINT32_MAX

/* Start with `{ 0 }`; free with index_free. */
struct index {
	struct index_slot {
		uint32_t hash;
		uint32_t number;	/* + 1; 0: empty */
	} *slots;
	size_t n_slots;		/* a power of two, or 0 */
	size_t n;
};

void index_free(struct index *index);

/* Empties it, and keeps its slots unless most of them were never in use. */
void index_clear(struct index *index);

/* Whether thing `number` has the key. */
typedef bool index_matches(const void *things, uint32_t number,
                           const void *key);

/* The slot of the key, or the empty one where it belongs; n_slots is not 0. */
static inline struct index_slot *
index_slot_of(const struct index *index, uint32_t hash,
              index_matches *matches, const void *things, const void *key)
{
	size_t mask = index->n_slots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct index_slot *slot = &index->slots[i];

		if (slot->number == 0 || (slot->hash == hash &&
		    matches(things, slot->number - 1, key)))
			return slot;
	}
}

/*
 * The number of the thing that has the key, or NO_INDEX.  hash: of the key; its
 * low bits say where the search begins, so keys with neighbouring hashes get
 * neighbouring slots.  Inline, so that `matches` is as well.  Expected O(1).
 */
static inline uint32_t
index_find(const struct index *index, uint32_t hash, index_matches *matches,
           const void *things, const void *key)
{
	return index->n_slots == 0 ? NO_INDEX :
	    index_slot_of(index, hash, matches, things, key)->number - 1;
}

/* Doubles the slots. */
int index_grow(struct index *index, struct error *error);

/*
 * The same for who adds the thing if there is none.  The slot has the thing's
 * number + 1, or 0: then the caller adds the thing, its number being below
 * NO_INDEX - 1, and calls index_fill; or fails, and nothing has changed.  NULL
 * with *error set for want of memory.
 */
static inline struct index_slot *
index_seek(struct index *index, uint32_t hash, index_matches *matches,
           const void *things, const void *key, struct error *error)
{
	if (2 * (index->n + 1) > index->n_slots &&
	    index_grow(index, error) != 0)
		return NULL;
	return index_slot_of(index, hash, matches, things, key);
}

/* Fills the empty slot that index_seek returned last. */
static inline void
index_fill(struct index *index, struct index_slot *slot, uint32_t hash,
           uint32_t number)
{
	*slot = (struct index_slot){ hash, number + 1 };
	index->n++;
}

/* A hash of 64 bits that may be anything, and one of two numbers. */
static inline uint32_t
index_hash(uint64_t key)
{
	key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(key >> 32);
}

#endif
