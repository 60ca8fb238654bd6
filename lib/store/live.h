/* SPDX-License-Identifier: MIT */
/* live.h -- sampled blocks of memory from their allocation to their free.
 *
 * A block is counted at the node that allocated it: once when it is allocated,
 * in the columns of allocations, and with the same hits when it is freed, in
 * those of frees.  So for each node the difference is what is in use.
 *
 * Most blocks are not sampled, so a free must find that out at the price of one
 * load: live_filter has a byte for the 1 KiB of memory that a block begins in,
 * which counts the sampled blocks that begin in memory of the same byte.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.  They
 * block all signals while they hold the lock of the table.
 */
#ifndef CPPROF_LIVE_H
#define CPPROF_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/store/tree.h"

#define LIVE_FILTER_BITS 16

/* What is counted of a block, and by which columns. */
enum live_part {
	LIVE_BYTES,
	LIVE_BLOCKS,
	LIVE_PARTS
};

struct live_columns {
	unsigned char allocated[LIVE_PARTS], freed[LIVE_PARTS];
};

struct live_block;

/* NULL: no blocks are followed. */
extern const uint8_t *live_filter;

/*
 * Makes the table, empty also in every forked child, which has another file: it
 * does not know the blocks of its parent.  False if there is no memory.  From
 * the constructor or cpprof_start.
 */
bool live_begin(const struct live_columns *columns);

/* From now on no block is followed. */
void live_end(void);

/*
 * By how many powers of two blocks should be sampled more rarely, so that there
 * is room for them.
 */
unsigned live_shortage(void);

/*
 * Follows a block of `size` bytes that was allocated at the node `leaf` of the
 * thread's tree, and counts these hits there.  A mapping is found again by
 * live_unmap, any other block by its address.  False if there is no room; then
 * it is not counted.  On the tree's thread, with all signals blocked.
 */
struct live_birth {
	uintptr_t address;
	size_t size;
	bool is_mapping;
	uint64_t hits[LIVE_PARTS];
	uint64_t now_ns;		/* CLOCK_MONOTONIC */
};

bool live_add(struct tree *tree, const struct node *leaf,
    const struct live_birth *birth);

/*
 * Stops following a block that is about to be freed.  NULL: it is not followed.
 * Then live_freed counts it as freed, or live_put_back follows it again.
 */
struct live_block *live_take(uintptr_t address);
void live_freed(struct live_block *block);
void live_put_back(struct live_block *block);

/* Whether the block may be followed. */
static inline bool
live_may_have(const uint8_t *filter, const void *address)
{
	const uintptr_t at = (uintptr_t)address;

	return filter[(at >> 10 ^ at >> 26) & ((1u << LIVE_FILTER_BITS) - 1)] !=
	    0;
}

/* A block is about to be freed. */
void live_free(uintptr_t address);

/* Whether any mapping is followed. */
bool live_has_mappings(void);

/*
 * Memory is about to be unmapped: counts as freed what it has of followed
 * mappings.
 */
void live_unmap(uintptr_t address, size_t size);

/* The same as live_take for a mapping of that address and size. */
struct live_block *live_take_mapping(uintptr_t address, size_t size);

/*
 * Follows a mapping again that was taken, and has that address and size now: not
 * more than before.
 */
void live_moved(struct live_block *block, uintptr_t address, size_t size);

#endif
