/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_stacks.c -- the nodes of whole stacks in a fleet. */
#include "src/profile/fleet.h"

enum { STEP = 8, DEEPEST_STEP = 256 };

/*
 * The node of a stack that is not known, found or entered frame by frame.
 * Every STEP frames, down to DEEPEST_STEP, a node is known as that of a stack,
 * too, so that most of the way can be skipped.
 */
static uint32_t
fleet_stacks_walk(struct fleet *fleet, const uint32_t *frames, uint32_t n,
                  struct error *error)
{
	struct digest_index *stacks = fleet->stacks;
	uint32_t depth = (n - 1) / STEP * STEP, node = NO_NODE;

	if (depth > DEEPEST_STEP)
		depth = DEEPEST_STEP;
	for (; depth > 0; depth -= STEP) {
		XXH128_hash_t hash = digest_index_hash(stacks,
		    frames + n - depth, depth * sizeof *frames);

		node = digest_index_find(stacks, &hash);
		if (node != NO_NODE)
			break;
	}
	while (depth < n) {
		XXH128_hash_t hash;

		node = fleet_add_node(fleet, node, frames[n - 1 - depth++],
		                      error);
		if (node == UINT32_MAX)
			return UINT32_MAX;
		if (depth < n && (depth % STEP != 0 || depth > DEEPEST_STEP))
			continue;
		hash = digest_index_hash(stacks, frames + n - depth,
		                         depth * sizeof *frames);
		if (digest_index_enter(stacks, &hash, node, error) != 0)
			return UINT32_MAX;
	}
	return node;
}

int
fleet_find_stacks(struct fleet *fleet, const uint32_t *frames,
                  const uint32_t *lengths, uint32_t n, uint32_t *nodes,
                  struct error *error)
{
	XXH128_hash_t hashes[FLEET_STACKS_MAX];
	const uint32_t *at = frames;

	if (fleet->stacks == NULL)
		fleet->stacks = digest_index_new(error);
	if (fleet->stacks == NULL)
		return -1;
	for (uint32_t i = 0; i < n; at += lengths[i++])
		hashes[i] = digest_index_hash(fleet->stacks, at,
		                              lengths[i] * sizeof *at);
	at = frames;
	for (uint32_t i = 0; i < n; at += lengths[i++]) {
		nodes[i] = digest_index_find(fleet->stacks, &hashes[i]);
		if (nodes[i] == NO_NODE)
			nodes[i] = fleet_stacks_walk(fleet, at, lengths[i],
			                             error);
		if (nodes[i] == UINT32_MAX)
			return -1;
	}
	return 0;
}
