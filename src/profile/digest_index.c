/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest_index.c -- finds the number of some bytes by their hash alone. */
#include "src/profile/tree_builder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

enum {
	FIRST_SLOTS = 1 << 12,
	SLOTS_FOR_EACH = 16,	/* that are kept when the index is cleared */
};

struct digest_slot {
	uint64_t low;
	uint32_t high;
	uint32_t number;	/* + 1; 0: empty */
};

struct digest_index {
	struct digest_slot *slots;
	size_t n_slots, n;	/* at most half are in use */
	uint64_t seed;
};

struct digest_index *
digest_index_new(struct error *error)
{
	struct digest_index *index = memory_array(1, sizeof *index, error);

	if (index == NULL)
		return NULL;
	if (getrandom(&index->seed, sizeof index->seed, GRND_NONBLOCK) < 0)
		index->seed = (uintptr_t)index;
	index->n_slots = FIRST_SLOTS;
	if (large_array_zeroed(&index->slots, FIRST_SLOTS,
	                       sizeof *index->slots, error) == 0)
		return index;
	free(index);
	return NULL;
}

void
digest_index_free(struct digest_index *index)
{
	if (index == NULL)
		return;
	large_array_free(index->slots);
	free(index);
}

void
digest_index_clear(struct digest_index *index)
{
	/* After a large input, small ones should not pay for its slots. */
	while (index->n_slots > FIRST_SLOTS &&
	       index->n_slots / SLOTS_FOR_EACH > index->n)
		index->n_slots /= 2;
	index->n = 0;
	memset(index->slots, 0, index->n_slots * sizeof *index->slots);
}

XXH128_hash_t
digest_index_hash(const struct digest_index *index, const void *bytes,
                  size_t n)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, n, index->seed);

	__builtin_prefetch(&index->slots[hash.low64 & (index->n_slots - 1)]);
	return hash;
}

/* The slot of the hash, or the empty one where it belongs. */
static struct digest_slot *
digest_index_find_slot(const struct digest_index *index,
                       const XXH128_hash_t *hash)
{
	size_t mask = index->n_slots - 1, i = hash->low64 & mask;

	while (index->slots[i].number != 0 &&
	       (index->slots[i].low != hash->low64 ||
	        index->slots[i].high != (uint32_t)hash->high64))
		i = (i + 1) & mask;
	return &index->slots[i];
}

uint32_t
digest_index_find(const struct digest_index *index, const XXH128_hash_t *hash)
{
	return digest_index_find_slot(index, hash)->number - 1;
}

/* Doubles the slots. */
static int
digest_index_grow(struct digest_index *index, struct error *error)
{
	struct digest_index larger = *index;

	larger.slots = NULL;
	larger.n_slots *= 2;
	if (large_array_zeroed(&larger.slots, larger.n_slots,
	                       sizeof *larger.slots, error) != 0)
		return -1;
	for (size_t i = 0; i < index->n_slots; i++) {
		const struct digest_slot *old = &index->slots[i];
		const XXH128_hash_t hash = { old->low, old->high };

		if (old->number != 0)
			*digest_index_find_slot(&larger, &hash) = *old;
	}
	large_array_free(index->slots);
	*index = larger;
	return 0;
}

int
digest_index_enter(struct digest_index *index, const XXH128_hash_t *hash,
                  uint32_t number, struct error *error)
{
	struct digest_slot *slot;

	if (2 * (index->n + 1) > index->n_slots &&
	    digest_index_grow(index, error) != 0)
		return -1;
	slot = digest_index_find_slot(index, hash);
	index->n += slot->number == 0;
	*slot = (struct digest_slot){ hash->low64, (uint32_t)hash->high64,
		number + 1 };
	return 0;
}
