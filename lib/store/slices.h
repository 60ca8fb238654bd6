/* SPDX-License-Identifier: MIT */
/* slices.h -- when a node's hits were counted, in slices of the run's time.
 *
 * lib/cpprofdata.h says what slices are and how wide.  How wide depends on the
 * time alone, so nothing happens when they double.  A node notices when it is
 * next counted that its records are too narrow, and folds them.
 *
 * A record in the file has a twin in private memory, as a node has
 * (lib/store/tree.h).  The twins of a node's records of one resource form a
 * list, newest slice first.  Usually the first one is the present slice's, and
 * counting takes one comparison.
 *
 * The file is valid at every instant: a record that is new, or used again, gets
 * its counts first and then, by a single store, what it counts.  A fold writes
 * the wider record before it frees the narrower ones, which readers ignore
 * once the wider one is there.  One record is always kept in reserve for that.
 *
 * Between two samples the program has filled the caches with its own data, and
 * what a new record costs is mostly the memory that it touches.  So records
 * are prepared by the page and published as free ones, and the next one is
 * prefetched while the stack is walked.
 *
 * All functions: async-signal-safe, on the tree's thread.
 */
#ifndef CPPROF_SLICES_H
#define CPPROF_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"

/* The first 8 bytes of a record. */
union slice_key {
	struct {
		uint32_t node;
		uint8_t resource;
		uint8_t doublings;
		uint16_t slice;
	};
	uint64_t all;
};

/* The twin of a record. */
struct slice {
	union slice_key key;
	struct cpprofdata_count count;
	struct cpprofdata_slice *record;	/* only written */
	struct slice *older;	/* of the same node and resource; or the next
				   free one */
};

/*
 * The records of a node and resource: the newest, and in the 16 bits above a
 * pointer its place in time (slice_place).  So what the record says is not read
 * only to find that it is not the present slice's, which is usual in the first
 * seconds of a run and a cache miss each time.  All 0: no records.
 */
struct slice_list {
	uint64_t newest;
};

#define SLICE_POINTER_BITS 48	/* user space ends there */
#define SLICE_NUMBER_BITS 6	/* of the slice in its width */

/* The records of a tree. */
struct slices {
	struct slice_chunk *chunk;	/* the newest; NULL: none */
	struct slice *next;	/* the first of n_next that were never used, */
	struct cpprofdata_slice *next_record;	/* and its record */
	size_t n_next;
	struct slice *free;
	struct slice *reserve;	/* for folding; NULL: none yet */
	/* The slice of the last sample: */
	uint64_t begin_ns, width_ns;	/* CLOCK_MONOTONIC; width 0: none */
	union slice_key present;	/* of no node and resource */
};

/* Makes a record's counts these. */
static inline void
slice_set(struct slice *slice, uint64_t hits, uint64_t samples)
{
	slice->count.hits = hits;
	slice->count.samples = samples;
	__atomic_store_n(&slice->record->count.hits, hits, __ATOMIC_RELAXED);
	__atomic_store_n(&slice->record->count.samples, samples,
	    __ATOMIC_RELAXED);
}

/* Says what a record counts. */
static inline void
slice_set_key(struct slice *slice, union slice_key key)
{
	slice->key = key;
	__atomic_store_n((uint64_t *)(void *)slice->record, key.all,
	    __ATOMIC_RELEASE);
}

/* A record that was never used; there is one. */
static inline struct slice *
slices_take_next(struct slices *slices)
{
	slices->n_next--;
	slices->next_record++;
	return slices->next++;
}

/* Greater for a wider slice, and for a later one as wide. */
static inline uint64_t
slice_place(union slice_key key)
{
	return (uint64_t)key.doublings << SLICE_NUMBER_BITS | key.slice;
}

static inline struct slice *
slice_list_newest(const struct slice_list *list)
{
	return (struct slice *)(uintptr_t)(list->newest &
	    ((UINT64_C(1) << SLICE_POINTER_BITS) - 1));
}

static inline void
slice_list_set(struct slice_list *list, const struct slice *newest,
    union slice_key key)
{
	list->newest = slice_place(key) << SLICE_POINTER_BITS |
	    (uint64_t)(uintptr_t)newest;
}

/*
 * A record for the first sample of a node in the present slice.  This is here
 * because most samples of a run's first seconds need it, and code that is not
 * in the caches costs more than what it does.
 */
static inline void
slices_begin(struct slices *slices, struct slice_list *list, uint32_t node,
    unsigned resource, uint64_t hits)
{
	struct slice *slice = slices_take_next(slices);
	union slice_key key = slices->present;

	key.node = node;
	key.resource = (uint8_t)resource;
	slice_set(slice, hits, 1);
	slice->older = slice_list_newest(list);
	slice_set_key(slice, key);
	slice_list_set(list, slice, key);
}

/*
 * The same as slices_count if the node has no record for the present slice, or
 * several hits have to be spread.
 */
void slices_count_anew(struct slices *slices, struct slice_list *list,
    const struct cpprofdata_slice *what, uint32_t owner, uint64_t step_ns,
    uint64_t now_ns);

/*
 * Counts one raw sample with `hits` hits at the time now_ns (CLOCK_MONOTONIC).
 * If a hit stands for step_ns of time, the hits are that far apart, and the
 * last one is now; step_ns 0: they are all now.  *list: that of this node and
 * resource.  If there is no room, or the file's lock is taken, the hits are in
 * no slice.
 */
static inline void
slices_count(struct slices *slices, struct slice_list *list, uint32_t owner,
    uint32_t node, unsigned resource, uint64_t hits, uint64_t step_ns,
    uint64_t now_ns)
{
	const bool is_one = now_ns - slices->begin_ns < slices->width_ns &&
	    (hits <= 1 || step_ns == 0);
	const uint64_t place = list->newest >> SLICE_POINTER_BITS;
	const uint64_t present = slice_place(slices->present);

	if (is_one && place == present && list->newest != 0) {
		struct slice *slice = slice_list_newest(list);

		slice_set(slice, slice->count.hits + hits,
		    slice->count.samples + 1);
	} else if (is_one && slices->n_next > 0 && slices->reserve != NULL &&
	    (list->newest == 0 || (place < present &&
	    place >> SLICE_NUMBER_BITS == present >> SLICE_NUMBER_BITS)))
		slices_begin(slices, list, node, resource, hits);
	else
		slices_count_anew(slices, list,
		    &(struct cpprofdata_slice){ .node = node,
		    .resource = (uint8_t)resource, .count.hits = hits },
		    owner, step_ns, now_ns);
}

/* Prefetches what a new record needs; to be called early in a sample. */
static inline void
slices_prefetch(const struct slices *slices)
{
	__builtin_prefetch(slices->next, 1);
	__builtin_prefetch((const char *)(slices->next + 1) - 1, 1);
	__builtin_prefetch(slices->next_record, 1);
	__builtin_prefetch((const char *)(slices->next_record + 1) - 1, 1);
}

/* A measure of their memory that changes whenever it grows. */
size_t slices_memory(const struct slices *slices);

#endif
