/* SPDX-License-Identifier: MIT */
/* live.c -- a table of sampled blocks by their addresses.
 *
 * An address has two buckets, each a cache line of four places, and a block is
 * in one of these eight: where more places are empty, so that all eight are
 * hardly ever taken before there are BLOCKS_MAX.  It never moves, so a free
 * looks for it without the lock; only blocks that are found take it.  Nobody
 * else can remove a block while the program is freeing it.
 *
 * Mappings are in a tree by their addresses, which no two share: a treap, whose
 * shape depends on nothing that a program chooses.  A part that is unmapped or
 * moved becomes a block of its own first.
 *
 * The counts of frees belong to nodes of any thread's tree.  They are counted
 * under the lock, and have slices of their own.
 */
#include "lib/store/live.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/meter.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/thread.h"
#include "lib/signals/signals.h"
#include "lib/store/datafile.h"

#define BUCKETS ((size_t)1 << 15)
#define PLACES 4
#define BLOCKS_MAX (BUCKETS * PLACES * 3 / 8)
#define POOL_SIZE ((size_t)64 << 10)
#define SPINS 1000
#define MAPPINGS_AT_ONCE 64	/* while signals are blocked */

struct live_block {
	struct live_block *next;	/* free, or taken with it */
	struct live_block *below, *above;	/* mappings of lower and of
						   higher addresses */
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
static struct live_table {
	struct bucket buckets[BUCKETS];
	uint8_t filter[LIVE_FILTER_SIZE];
} *table;
static struct live_columns live_columns;

static atomic_flag live_lock WIPED;
static atomic_bool live_lock_is_lost WIPED;	/* to a killed holder */
static struct {
	struct live_block *unused;
	struct live_block *pool;	/* the next of n_pool that were never
					   used */
	size_t n_pool;
	_Atomic size_t n_blocks;
	struct live_block *mappings;	/* the root of their tree; changed only
					   by a single store */
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
 * memory is its parent's.  After that, nobody waits again.
 */
static bool
live_take_lock(void)
{
	unsigned i;

	for (i = 0; atomic_flag_test_and_set_explicit(&live_lock,
	    memory_order_acquire); i++) {
		if (live_lock_is_lost)
			return false;
		if (i > SPINS)
			process_pause();
		if (i > SPINS + PROCESS_LONG_WAITS) {
			live_lock_is_lost = true;
			datafile_flag(CPPROFDATA_LIVE_LOST);
			return false;
		}
	}
	if (live_lock_is_lost)
		live_lock_is_lost = false;	/* it was only very slow */
	return true;
}

static bool
live_enter(struct live_guard *guard)
{
	const uint64_t blocked = signals_blocked_for_work();

	if (!sampling_work_begins())
		return false;
	live_set_mask(&blocked, &guard->mask);
	if (live_take_lock())
		return true;
	live_set_mask(&guard->mask, NULL);
	sampling_work_ends();
	return false;
}

static void
live_leave(const struct live_guard *guard)
{
	atomic_flag_clear_explicit(&live_lock, memory_order_release);
	live_set_mask(&guard->mask, NULL);
	sampling_work_ends();
}

/*
 * The table.
 */

bool
live_begin(const struct live_columns *columns)
{
	void *memory;

	if (table == NULL) {
		memory = files_map(sizeof *table, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1);
		if (memory == MAP_FAILED)
			return false;
		if (files_advise(memory, sizeof *table, MADV_WIPEONFORK) != 0) {
			files_unmap(memory, sizeof *table);
			return false;
		}
		table = memory;
	}
	live_columns = *columns;
	live_filter = table->filter;
	return true;
}

void
live_end(void)
{
	live_filter = NULL;
}

void
live_forget(void)
{
	if (table != NULL)
		memset(table, 0, sizeof *table);
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

	return &table->buckets[(choice == 0 ? hash : hash >> 32) &
	    (BUCKETS - 1)];
}

/* Its place, or NULL. */
static struct live_block **
live_find(uintptr_t address, struct bucket **where, unsigned *place)
{
	unsigned choice;

	for (choice = 0; choice < 2; choice++) {
		*where = live_bucket(address, choice);
		for (*place = 0; *place < PLACES; ++*place)
			if (atomic_load_explicit(&(*where)->addresses[*place],
			    memory_order_acquire) == address)
				return &(*where)->blocks[*place];
	}
	return NULL;
}

static unsigned
live_count_empty(const struct bucket *bucket, unsigned *place)
{
	unsigned n = 0, i;

	for (i = 0; i < PLACES; i++)
		if (atomic_load_explicit(&bucket->addresses[i],
		    memory_order_relaxed) == 0) {
			*place = i;
			n++;
		}
	return n;
}

/* Lock held.  False if there is no place. */
static bool
live_insert(struct live_block *block)
{
	uint8_t *const in_filter =
	    &table->filter[live_filter_index(block->address)];
	struct bucket *bucket = live_bucket(block->address, 0);
	struct bucket *const other = live_bucket(block->address, 1);
	unsigned i = 0, in_other = 0;

	if (live_count_empty(bucket, &i) <
	    live_count_empty(other, &in_other)) {
		bucket = other;
		i = in_other;
	} else if (atomic_load_explicit(&bucket->addresses[i],
	    memory_order_relaxed) != 0) {
		return false;
	}
	bucket->blocks[i] = block;
	/* A count that is full stays so. */
	if (*in_filter < UINT8_MAX)
		__atomic_store_n(in_filter, *in_filter + 1, __ATOMIC_RELAXED);
	atomic_store_explicit(&bucket->addresses[i], block->address,
	    memory_order_release);
	return true;
}

/* Lock held.  NULL: it is not there. */
static struct live_block *
live_remove(uintptr_t address)
{
	uint8_t *const in_filter = &table->filter[live_filter_index(address)];
	struct live_block **place;
	struct bucket *bucket;
	unsigned i;

	place = live_find(address, &bucket, &i);
	if (place == NULL)
		return NULL;
	atomic_store_explicit(&bucket->addresses[i], 0, memory_order_release);
	if (*in_filter < UINT8_MAX)
		__atomic_store_n(in_filter, *in_filter - 1, __ATOMIC_RELAXED);
	(*place)->next = NULL;
	return *place;
}

/*
 * The tree of mappings.  Lock held.
 */

static uint64_t
live_rank(const struct live_block *block)
{
	return meter_random((uintptr_t)block);
}

/* The last mapping that begins below the address, and the first of the others. */
static void
live_neighbours(uintptr_t address, struct live_block **below,
                struct live_block **above)
{
	struct live_block *block = live.mappings;

	*below = *above = NULL;
	while (block != NULL)
		if (block->address < address) {
			*below = block;
			block = block->above;
		} else {
			*above = block;
			block = block->below;
		}
}

/* All of one tree are below all of the other. */
static struct live_block *
live_join(struct live_block *low, struct live_block *high)
{
	struct live_block *root, **link = &root;

	while (low != NULL && high != NULL)
		if (live_rank(low) < live_rank(high)) {
			*link = low;
			link = &low->above;
			low = low->above;
		} else {
			*link = high;
			link = &high->below;
			high = high->below;
		}
	*link = low != NULL ? low : high;
	return root;
}

static void
live_split(struct live_block *root, uintptr_t address, struct live_block **low,
           struct live_block **high)
{
	while (root != NULL)
		if (root->address < address) {
			*low = root;
			low = &root->above;
			root = root->above;
		} else {
			*high = root;
			high = &root->below;
			root = root->below;
		}
	*low = *high = NULL;
}

/* Where nothing is. */
static void
live_insert_mapping(struct live_block *block)
{
	struct live_block *low, *high;

	live_split(live.mappings, block->address, &low, &high);
	block->below = block->above = NULL;
	__atomic_store_n(&live.mappings, live_join(live_join(low, block), high),
	    __ATOMIC_RELAXED);
}

static void
live_remove_mapping(struct live_block *block)
{
	struct live_block **link = &live.mappings;

	while (*link != block)
		link = (*link)->address < block->address ? &(*link)->above :
		    &(*link)->below;
	__atomic_store_n(link, live_join(block->below, block->above),
	    __ATOMIC_RELAXED);
	block->next = NULL;
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
		live.pool = store_memory(POOL_SIZE);
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

/*
 * Makes sure that no mapping extends across an address.  If there is no room for
 * the part from there on, it is not followed further.
 */
static void
live_cut(uintptr_t address)
{
	uint64_t hits[LIVE_PARTS] = { 0 };
	struct live_block *block, *rest;
	size_t size;

	live_neighbours(address, &block, &rest);
	if (block == NULL || block->address + block->size <= address)
		return;
	size = block->address + block->size - address;
	/*
	 * Its share, rounded at random, so that many small parts have theirs,
	 * too.  The first part stands for the mapping among `allocs`.
	 */
	hits[LIVE_BYTES] = (uint64_t)(((unsigned __int128)
	    block->hits[LIVE_BYTES] * size + meter_random(block->since_ns +
	    address) % block->size) / block->size);
	rest = live_new_block();
	if (rest != NULL) {
		rest->address = address;
		rest->size = size;
		rest->twin = block->twin;
		rest->node = block->node;
		rest->since_ns = block->since_ns;
		memcpy(rest->hits, hits, sizeof hits);
		live_insert_mapping(rest);
		live_write_record(rest);
	} else {
		live_count_freed(block, hits);
		datafile_count_drop(CPPROFDATA_NOT_FOLLOWED, 1,
		    hits[LIVE_BYTES]);
	}
	block->hits[LIVE_BYTES] -= hits[LIVE_BYTES];
	block->size -= size;
	live_write_record(block);
}

/* The first mapping in a range that none extends into, or NULL. */
static struct live_block *
live_first_mapping(uintptr_t start, uintptr_t end)
{
	struct live_block *below, *block;

	live_neighbours(start, &below, &block);
	return block != NULL && block->address < end ? block : NULL;
}

/* Whatever was there is gone, although that was not seen. */
static void
live_add_mapping(struct live_block *block)
{
	const uintptr_t end = block->address + block->size;
	struct live_block *stale;

	live_cut(block->address);
	live_cut(end);
	while ((stale = live_first_mapping(block->address, end)) != NULL) {
		live_remove_mapping(stale);
		live_end_block(stale);
	}
	live_insert_mapping(block);
}

/* Lock held.  Follows a block that has its address and size; false: no place. */
static bool
live_place(struct live_block *block)
{
	if (block->size == 0)
		return live_insert(block);
	live_add_mapping(block);
	return true;
}

bool
live_add(struct tree *tree, const struct node *leaf,
    const struct live_allocation *allocation)
{
	struct live_block *block = NULL, *stale;
	unsigned part;

	if (!live_take_lock())
		return false;
	/* If it is known already, its free was not seen. */
	stale = allocation->is_mapping ? NULL :
	    live_remove(allocation->address);
	if (stale != NULL)
		live_end_block(stale);
	block = live_new_block();
	if (block != NULL) {
		block->address = allocation->address;
		block->size = allocation->is_mapping ?
		    live_whole_pages(allocation->size) : 0;
		block->twin = leaf->twin;
		block->node = leaf->number;
		block->since_ns = allocation->now_ns;
		for (part = 0; part < LIVE_PARTS; part++)
			block->hits[part] = allocation->hits[part];
		if (live_place(block)) {
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
		    allocation->hits[part], allocation->now_ns);
	return true;
}

static bool
live_has(uintptr_t address)
{
	struct bucket *bucket;
	unsigned i;

	/* NULL can be freed, and would be found in an empty place. */
	return address != 0 &&
	    live_find(address, &bucket, &i) != NULL;
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

/* Takes the next of the taken blocks. */
static struct live_block *
live_pop(struct live_block **taken)
{
	struct live_block *const block = *taken;

	*taken = block->next;
	return block;
}

void
live_freed(struct live_block *taken)
{
	struct live_guard guard;
	unsigned n;

	while (taken != NULL && live_enter(&guard)) {
		for (n = 0; taken != NULL && n < MAPPINGS_AT_ONCE; n++)
			live_end_block(live_pop(&taken));
		live_leave(&guard);
	}
}

void
live_moved(struct live_block *taken, uintptr_t by)
{
	struct live_guard guard;
	struct live_block *block;
	unsigned n;

	while (taken != NULL && live_enter(&guard)) {
		for (n = 0; taken != NULL && n < MAPPINGS_AT_ONCE; n++) {
			block = live_pop(&taken);
			block->address += by;
			/* Its place may be another block's now. */
			if (!live_place(block))
				live_end_block(block);
		}
		live_leave(&guard);
	}
}

void
live_put_back(struct live_block *taken)
{
	live_moved(taken, 0);
}

static bool
live_has_mappings(void)
{
	return __atomic_load_n(&live.mappings, __ATOMIC_RELAXED) != NULL;
}

struct live_block *
live_take_mappings(uintptr_t address, size_t size)
{
	const uintptr_t end = address + live_whole_pages(size);
	struct live_block *taken = NULL, *block;
	struct live_guard guard;
	unsigned n;

	do {
		block = NULL;
		/* A range that wraps around is refused by the kernel, too. */
		if (end <= address || !live_has_mappings() ||
		    !live_enter(&guard))
			break;
		live_cut(address);
		live_cut(end);
		for (n = 0; n < MAPPINGS_AT_ONCE && (block =
		    live_first_mapping(address, end)) != NULL; n++) {
			live_remove_mapping(block);
			block->next = taken;
			taken = block;
		}
		live_leave(&guard);
	} while (block != NULL);
	return taken;
}
