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

#include "lib/base/attributes.h"
#include "lib/store/tree.h"

#define LIVE_FILTER_SIZE ((size_t)1 << 16)

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
RUNS_ONCE void live_end(void);

/*
 * Before another recording of this process: nothing of the earlier one is known.
 * Sampling is off.
 */
void live_forget(void);

/*
 * By how many powers of two blocks should be sampled more rarely, so that there
 * is room for them.
 */
unsigned live_shortage(void);

/* A block of memory that has been allocated. */
struct live_allocation {
	uintptr_t address;
	size_t size;
	bool is_mapping;
	uint64_t hits[LIVE_PARTS];
	uint64_t now_ns;		/* CLOCK_MONOTONIC */
};

/*
 * Follows a block that was allocated at the node `leaf` of the thread's tree,
 * and counts its hits there.  A mapping is found again by any part of it, any
 * other block by its address.  False if there is no room; then it is not
 * counted.  On the tree's thread, with all signals blocked.
 */
bool live_add(struct tree *tree, const struct node *leaf,
    const struct live_allocation *allocation);

/*
 * Stops following a block that is about to be freed.  NULL: it is not followed.
 * Then live_freed counts it as freed, or live_put_back follows it again.
 */
struct live_block *live_take(uintptr_t address);

/*
 * The same for what [address, address + size) has of followed mappings, which
 * are whole pages, like what the kernel unmaps.  Bounded by their number there;
 * otherwise by the logarithm of the number of all.
 */
struct live_block *live_take_mappings(uintptr_t address, size_t size);

/* What became of taken blocks.  NULL: nothing happens. */
void live_freed(struct live_block *taken);
void live_put_back(struct live_block *taken);

/* They are so many bytes further on. */
void live_moved(struct live_block *taken, uintptr_t by);

/* A block is about to be freed: the same as live_freed(live_take(address)). */
void live_free(uintptr_t address);

static inline size_t
live_filter_index(uintptr_t address)
{
	return (address >> 10 ^ address >> 26) & (LIVE_FILTER_SIZE - 1);
}

/* Whether the block may be followed. */
static inline bool
live_may_have(const uint8_t *filter, const void *address)
{
	return filter[live_filter_index((uintptr_t)address)] != 0;
}

/* The kernel maps and unmaps whole pages. */
static inline size_t
live_whole_pages(size_t size)
{
	return (size + CPPROFDATA_PAGE - 1) & -(size_t)CPPROFDATA_PAGE;
}

#endif
