/* SPDX-License-Identifier: MIT */
/* live.c -- a table of sampled blocks by their addresses.
 *
 * An address has two buckets, each a cache line of four places, and a block is
 * in any of these eight.  It never moves, so a free looks for it without the
 * lock; only blocks that are found take it.  Nobody else can remove a block
 * while the program is freeing it.
 *
 * The counts of frees belong to nodes of any thread's tree.  They are counted
 * under the lock, and have slices of their own.
 */
#include "lib/store/live.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/meter.h"
#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/signals/signals.h"
#include "lib/store/datafile.h"

#define BUCKETS ((size_t)1 << 14)
#define PLACES 4
#define BLOCKS_MAX (BUCKETS * PLACES * 3 / 4)
#define POOL_SIZE ((size_t)64 << 10)
#define FILTER_SIZE ((size_t)1 << LIVE_FILTER_BITS)
#define SPINS 1000

struct live_block {
	struct live_block *next;	/* free, or of the mappings */
	uintptr_t address;
	size_t size;			/* of a mapping; else 0 */
	struct tree_node *twin;
	struct cpprofdata_block *record;	/* the private copy, */
	struct cpprofdata_block *mapped;	/* and in the file */
	uint32_t node;
	uint64_t since_ns;
	uint64_t hits[LIVE_PARTS];
};

struct bucket {
	_Atomic uintptr_t addresses[PLACES];	/* 0: an empty place */
	struct live_block *blocks[PLACES];
};

const uint8_t *live_filter;
static uint8_t *filter;
static struct bucket *buckets;
static struct live_columns live_columns;

static atomic_flag live_lock WIPED;
static struct {
	struct live_block *unused;
	struct live_block *pool;	/* the next of n_pool that were never
					   used */
	size_t n_pool;
	_Atomic size_t n_blocks;
	struct live_block *_Atomic mappings;
	struct slices freed;
} live WIPED;

/*
 * The lock.
 */

struct live_guard {
	uint64_t mask;
};

static void
live_set_mask(const uint64_t *mask, uint64_t *old)
{
	if (thread_self != NULL)
		thread_made_call(thread_self);
	arch_system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask,
	    (long)old, sizeof *mask);
}

/*
 * False if a holder seems to have been killed, as a child of vfork can be, whose
 * memory is its parent's.
 */
static bool
live_take_lock(void)
{
	unsigned i;

	for (i = 0; atomic_flag_test_and_set_explicit(&live_lock,
	    memory_order_acquire); i++) {
		if (i > SPINS)
			process_pause();
		if (i > SPINS + PROCESS_LONG_WAITS)
			return false;
	}
	return true;
}

static bool
live_enter(struct live_guard *guard)
{
	const uint64_t blocked = signals_blocked_for_work();

	live_set_mask(&blocked, &guard->mask);
	if (live_take_lock())
		return true;
	live_set_mask(&guard->mask, NULL);
	return false;
}

static void
live_leave(const struct live_guard *guard)
{
	atomic_flag_clear_explicit(&live_lock, memory_order_release);
	live_set_mask(&guard->mask, NULL);
}

/*
 * The table.
 */

bool
live_begin(const struct live_columns *columns)
{
	const size_t size = BUCKETS * sizeof *buckets + FILTER_SIZE;
	void *memory;

	if (buckets == NULL) {
		memory = files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (memory == MAP_FAILED)
			return false;
		if (files_advise(memory, size, MADV_WIPEONFORK) != 0) {
			files_unmap(memory, size);
			return false;
		}
		buckets = memory;
		filter = (uint8_t *)(buckets + BUCKETS);
	}
	live_columns = *columns;
	live_filter = filter;
	return true;
}

void
live_end(void)
{
	live_filter = NULL;
}

/* From half of the blocks on, one step for each eighth. */
unsigned
live_shortage(void)
{
	const size_t n = atomic_load_explicit(&live.n_blocks,
	    memory_order_relaxed);

	return n < BLOCKS_MAX / 2 ? 0 :
	    (unsigned)((n - BLOCKS_MAX / 2) / (BLOCKS_MAX / 8)) + 1;
}

static struct bucket *
live_bucket(uintptr_t address, unsigned choice)
{
	const uint64_t hash = meter_random(address);

	return &buckets[(choice == 0 ? hash : hash >> 32) & (BUCKETS - 1)];
}

/* Its place, or NULL; with 0, an empty place where `home` may be. */
static struct live_block **
live_find(uintptr_t home, uintptr_t address, struct bucket **where,
    unsigned *place)
{
	unsigned choice;

	for (choice = 0; choice < 2; choice++) {
		*where = live_bucket(home, choice);
		for (*place = 0; *place < PLACES; ++*place)
			if (atomic_load_explicit(&(*where)->addresses[*place],
			    memory_order_acquire) == address)
				return &(*where)->blocks[*place];
	}
	return NULL;
}

static uint8_t *
live_filter_at(uintptr_t address)
{
	return &filter[(address >> 10 ^ address >> 26) & (FILTER_SIZE - 1)];
}

/* Lock held.  False if there is no place. */
static bool
live_insert(struct live_block *block)
{
	uint8_t *const at = live_filter_at(block->address);
	struct live_block **place;
	struct bucket *bucket;
	unsigned i;

	if (block->size > 0) {
		block->next = live.mappings;
		live.mappings = block;
		return true;
	}
	place = live_find(block->address, 0, &bucket, &i);
	if (place == NULL)
		return false;
	*place = block;
	/* A count that is full stays so. */
	if (*at < UINT8_MAX)
		__atomic_store_n(at, *at + 1, __ATOMIC_RELAXED);
	atomic_store_explicit(&bucket->addresses[i], block->address,
	    memory_order_release);
	return true;
}

/* Lock held.  NULL: it is not there. */
static struct live_block *
live_remove(uintptr_t address)
{
	uint8_t *const at = live_filter_at(address);
	struct live_block **place;
	struct bucket *bucket;
	unsigned i;

	place = live_find(address, address, &bucket, &i);
	if (place == NULL)
		return NULL;
	atomic_store_explicit(&bucket->addresses[i], 0, memory_order_release);
	if (*at < UINT8_MAX)
		__atomic_store_n(at, *at - 1, __ATOMIC_RELAXED);
	return *place;
}

/*
 * Blocks and their records in the file.
 */

/* Lock held.  NULL: there is no room. */
static struct live_block *
live_new_block(void)
{
	struct live_block *block = live.unused;
	struct cpprofdata_block *record, *mapped = NULL;
	uint32_t number;

	if (live.n_blocks >= BLOCKS_MAX)
		return NULL;
	if (block != NULL) {
		live.unused = block->next;
		live.n_blocks++;
		return block;
	}
	if (live.n_pool == 0) {
		live.pool = datafile_private_memory(POOL_SIZE);
		if (live.pool == NULL)
			return NULL;
		live.n_pool = POOL_SIZE / sizeof *block;
	}
	if (!datafile_lock())
		return NULL;
	record = datafile_add_records(CPPROFDATA_BLOCKS, sizeof *record, 1,
	    &number);
	if (record != NULL) {
		record->node = CPPROFDATA_NO_NODE;
		datafile_publish(CPPROFDATA_BLOCKS, 1);
		mapped = datafile_mapped(CPPROFDATA_BLOCKS, record);
	}
	datafile_unlock();
	if (mapped == NULL)
		return NULL;
	block = live.pool++;
	live.n_pool--;
	live.n_blocks++;
	block->record = record;
	block->mapped = mapped;
	return block;
}

/* Its node is written last, and first when it is freed. */
static void
live_write_record(const struct live_block *block)
{
	struct cpprofdata_block *const record = block->record;
	struct cpprofdata_block *const mapped = block->mapped;

	record->since_ns = mapped->since_ns = block->since_ns;
	record->bytes_hits = mapped->bytes_hits = block->hits[LIVE_BYTES];
	record->blocks_hits = mapped->blocks_hits = block->hits[LIVE_BLOCKS];
	record->node = block->node;
	__atomic_store_n(&mapped->node, block->node, __ATOMIC_RELEASE);
}

static void
live_free_record(const struct live_block *block)
{
	block->record->node = CPPROFDATA_NO_NODE;
	__atomic_store_n(&block->mapped->node, CPPROFDATA_NO_NODE,
	    __ATOMIC_RELEASE);
}

/* Lock held. */
static void
live_recycle(struct live_block *block)
{
	block->next = live.unused;
	live.unused = block;
	live.n_blocks--;
}

/* Counts hits of a block as freed.  Lock held. */
static void
live_count_freed(const struct live_block *block, const uint64_t *hits)
{
	const uint64_t now = process_clock(CLOCK_MONOTONIC);
	unsigned part;

	for (part = 0; part < LIVE_PARTS; part++)
		if (hits[part] > 0)
			tree_count_any(&live.freed, block->twin, block->node,
			    live_columns.freed[part], hits[part], now);
}

/* Lock held. */
static void
live_end_block(struct live_block *block)
{
	live_free_record(block);
	live_count_freed(block, block->hits);
	live_recycle(block);
}

bool
live_add(struct tree *tree, const struct node *leaf,
    const struct live_birth *birth)
{
	struct live_block *block = NULL, *stale;
	unsigned part;

	if (!live_take_lock())
		return false;
	/* If it is known already, its free was not seen. */
	stale = birth->is_mapping ? NULL : live_remove(birth->address);
	if (stale != NULL)
		live_end_block(stale);
	block = live_new_block();
	if (block != NULL) {
		block->address = birth->address;
		block->size = birth->is_mapping ? birth->size : 0;
		block->twin = leaf->twin;
		block->node = leaf->number;
		block->since_ns = birth->now_ns;
		for (part = 0; part < LIVE_PARTS; part++)
			block->hits[part] = birth->hits[part];
		if (live_insert(block)) {
			live_write_record(block);
		} else {
			live_recycle(block);
			block = NULL;
		}
	}
	atomic_flag_clear_explicit(&live_lock, memory_order_release);
	if (block == NULL)
		return false;
	for (part = 0; part < LIVE_PARTS; part++)
		tree_count(tree, leaf, live_columns.allocated[part],
		    birth->hits[part], birth->now_ns);
	return true;
}

static bool
live_has(uintptr_t address)
{
	struct bucket *bucket;
	unsigned i;

	/* NULL can be freed, and would be found in an empty place. */
	return address != 0 &&
	    live_find(address, address, &bucket, &i) != NULL;
}

struct live_block *
live_take(uintptr_t address)
{
	struct live_block *block;
	struct live_guard guard;

	if (!live_has(address) || !live_enter(&guard))
		return NULL;
	block = live_remove(address);
	live_leave(&guard);
	return block;
}

void
live_freed(struct live_block *block)
{
	struct live_guard guard;

	if (!live_enter(&guard))
		return;
	live_end_block(block);
	live_leave(&guard);
}

void
live_put_back(struct live_block *block)
{
	struct live_guard guard;

	if (!live_enter(&guard))
		return;
	/* Its place may be another block's now. */
	if (!live_insert(block))
		live_end_block(block);
	live_leave(&guard);
}

void
live_free(uintptr_t address)
{
	struct live_block *block;
	struct live_guard guard;

	if (!live_has(address) || !live_enter(&guard))
		return;
	block = live_remove(address);
	if (block != NULL)
		live_end_block(block);
	live_leave(&guard);
}

/*
 * Mappings.
 */

bool
live_has_mappings(void)
{
	return atomic_load_explicit(&live.mappings, memory_order_relaxed) !=
	    NULL;
}

/*
 * Takes away the part of a mapping that lies in [start, end), and its share of
 * the hits.  Whether nothing is left.
 */
static bool
live_cut(struct live_block *block, uintptr_t start, uintptr_t end)
{
	const uintptr_t own_end = block->address + block->size;
	const uintptr_t from = start > block->address ? start : block->address;
	const uintptr_t to = end < own_end ? end : own_end;
	uint64_t hits[LIVE_PARTS] = { 0 };

	if (from >= to)
		return false;
	if (to - from == block->size)
		return true;
	hits[LIVE_BYTES] = (uint64_t)((unsigned __int128)
	    block->hits[LIVE_BYTES] * (to - from) / block->size);
	live_count_freed(block, hits);
	block->hits[LIVE_BYTES] -= hits[LIVE_BYTES];
	/* Of a part in the middle, only the size is remembered. */
	block->size -= to - from;
	if (from == block->address)
		block->address = to;
	live_write_record(block);
	return false;
}

/* The kernel maps and unmaps whole pages. */
static size_t
live_whole_pages(size_t size)
{
	return (size + CPPROFDATA_PAGE - 1) & -(size_t)CPPROFDATA_PAGE;
}

void
live_unmap(uintptr_t address, size_t size)
{
	struct live_block **link, *block;
	struct live_guard guard;

	if (!live_has_mappings() || !live_enter(&guard))
		return;
	link = (struct live_block **)&live.mappings;
	while ((block = *link) != NULL) {
		if (!live_cut(block, address,
		    address + live_whole_pages(size))) {
			link = &block->next;
			continue;
		}
		*link = block->next;
		live_end_block(block);
	}
	live_leave(&guard);
}

struct live_block *
live_take_mapping(uintptr_t address, size_t size)
{
	struct live_block **link, *block = NULL;
	struct live_guard guard;

	if (!live_has_mappings() || !live_enter(&guard))
		return NULL;
	for (link = (struct live_block **)&live.mappings;
	    (block = *link) != NULL; link = &block->next)
		if (block->address == address &&
		    live_whole_pages(block->size) == live_whole_pages(size))
			break;
	if (block != NULL)
		*link = block->next;
	live_leave(&guard);
	return block;
}

void
live_moved(struct live_block *block, uintptr_t address, size_t size)
{
	struct live_guard guard;

	if (!live_enter(&guard))
		return;
	live_cut(block, block->address + live_whole_pages(size), UINTPTR_MAX);
	block->address = address;
	live_insert(block);
	live_leave(&guard);
}
