/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_nodes.c -- finds the node of a whole stack in one step. */
#include "src/profile/stack_nodes.h"

#include <stdlib.h>
#include <sys/random.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

enum { FIRST_SLOTS = 1 << 12 };

struct slot {
	uint64_t low, high;
	uint32_t node;		/* + 1; 0: empty */
};

struct stack_nodes {
	struct slot *slots;
	size_t n_slots, n;	/* at most half are in use */
	uint64_t seed;
};

struct stack_nodes *
stack_nodes_new(struct error *error)
{
	struct stack_nodes *nodes = memory_array(1, sizeof *nodes, error);

	if (nodes == NULL)
		return NULL;
	if (getrandom(&nodes->seed, sizeof nodes->seed, GRND_NONBLOCK) < 0)
		nodes->seed = (uintptr_t)nodes;
	nodes->n_slots = FIRST_SLOTS;
	if (large_array_zeroed(&nodes->slots, FIRST_SLOTS,
	                       sizeof *nodes->slots, error) == 0)
		return nodes;
	free(nodes);
	return NULL;
}

void
stack_nodes_free(struct stack_nodes *nodes)
{
	if (nodes == NULL)
		return;
	large_array_free(nodes->slots);
	free(nodes);
}

XXH128_hash_t
stack_nodes_hash(const struct stack_nodes *nodes, const uint32_t *frames,
                 uint32_t n)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(frames, n * sizeof *frames,
	                                           nodes->seed);

	__builtin_prefetch(&nodes->slots[hash.low64 & (nodes->n_slots - 1)]);
	return hash;
}

/* The slot of the hash, or the empty one where it belongs. */
static struct slot *
find_slot(const struct stack_nodes *nodes, const XXH128_hash_t *hash)
{
	size_t mask = nodes->n_slots - 1, i = hash->low64 & mask;

	while (nodes->slots[i].node != 0 &&
	       (nodes->slots[i].low != hash->low64 ||
	        nodes->slots[i].high != hash->high64))
		i = (i + 1) & mask;
	return &nodes->slots[i];
}

uint32_t
stack_nodes_find(const struct stack_nodes *nodes, const XXH128_hash_t *hash)
{
	return find_slot(nodes, hash)->node - 1;
}

/* Doubles the slots. */
static int
grow(struct stack_nodes *nodes, struct error *error)
{
	struct stack_nodes larger = *nodes;

	larger.slots = NULL;
	larger.n_slots *= 2;
	if (large_array_zeroed(&larger.slots, larger.n_slots,
	                       sizeof *larger.slots, error) != 0)
		return -1;
	for (size_t i = 0; i < nodes->n_slots; i++) {
		const struct slot *old = &nodes->slots[i];
		const XXH128_hash_t hash = { old->low, old->high };

		if (old->node != 0)
			*find_slot(&larger, &hash) = *old;
	}
	large_array_free(nodes->slots);
	*nodes = larger;
	return 0;
}

int
stack_nodes_enter(struct stack_nodes *nodes, const XXH128_hash_t *hash,
                  uint32_t node, struct error *error)
{
	struct slot *slot;

	if (2 * (nodes->n + 1) > nodes->n_slots && grow(nodes, error) != 0)
		return -1;
	slot = find_slot(nodes, hash);
	nodes->n += slot->node == 0;
	*slot = (struct slot){ hash->low64, hash->high64, node + 1 };
	return 0;
}
