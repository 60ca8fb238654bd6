/* SPDX-License-Identifier: MIT */
/* tree.h -- a thread's sample tree, in private memory and in the file.
 *
 * Nodes lie contiguously in the file, in chunks that belong to the thread, and
 * never move.  Others may be able to write to the file, so it is never read:
 * each node has a twin in private memory, which holds its key and its counts.
 * Each change is made to the twin and then written to the file.
 *
 * In a new path, all nodes from some frame on are new, so most nodes directly
 * follow their parents.  A child is looked for there first, and otherwise in a
 * hash table.
 *
 * All functions: async-signal-safe, on the tree's thread.
 */
#ifndef CPPROF_TREE_H
#define CPPROF_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/cpprofdata.h"
#include "lib/store/datafile.h"
#include "lib/unwind/unwinder.h"

/* ---- slices.c ---- */

/*
 * When a node's hits were counted, in slices of the run's time.
 *
 * lib/cpprofdata.h says what slices are and how wide.  How wide depends on the
 * time alone, so nothing happens when they double.  A node notices when it is
 * next counted that its records are too narrow, and folds them.
 *
 * A record in the file has a twin in private memory, as a node has (see tree.c
 * below).  The twins of a node's records of one resource form a list, newest
 * slice first.  Usually the first one is the present slice's, and
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
	bool is_full;			/* there is no room for another chunk */
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

/* Makes room for a sample of one resource.  If there is no more, it is OK, too. */
enum store_result slices_make_room(struct slices *slices, uint32_t owner);

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

/* ---- call-counts.c ---- */

/*
 * Counts in the file by a key of 16 bytes: how many calls were seen, by their
 * lengths, and which hits belong to calls (struct cpprofdata_calls and struct
 * cpprofdata_call_count, which begin with their keys and end with two numbers).
 *
 * All functions: async-signal-safe, on the tree's thread.
 */
union call_key {
	struct {
		uint32_t function;
		uint16_t kind, bin;
		uint16_t tail, without_wait, reserved[2];
	} calls;
	struct {
		uint32_t node, resource;
		uint16_t classes[CPPROFDATA_CALL_FUNCTIONS_MAX];
	} counts;
	uint64_t words[2];
};

static inline bool
call_key_equal(const union call_key *a, const union call_key *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static inline uint32_t
call_key_hash(const union call_key *key)
{
	const uint64_t hash = ((key->words[0] ^ key->words[0] >> 32) *
	    0x9e3779b97f4a7c15u ^ key->words[1]) * 0xff51afd7ed558ccdu;

	return (uint32_t)(hash >> 32);
}

struct call_counts {
	struct call_chunk *chunk;	/* the one being filled */
	struct call_slot *slots;
	size_t n_slots, n_used;		/* a power of two */
};

/* Makes room in the file for n keys that are not there yet. */
enum store_result call_counts_reserve(struct call_counts *counts,
    enum cpprofdata_chunk_type type, uint32_t owner, size_t n);

/*
 * Adds to the two numbers of a key, of records of that type.  False if there is
 * no room or, where none was reserved, the file is busy.
 */
bool call_counts_add(struct call_counts *counts, enum cpprofdata_chunk_type type,
    uint32_t owner, const union call_key *key, uint64_t one, uint64_t other);

/* ---- tree.c ---- */

/* A node's twin: what the collector needs of the record. */
struct tree_node {
	struct frame_returns returns;	/* its copy is in the node's record */
	uint64_t offset;
	uint32_t parent;
	uint32_t module;
	struct tree_count {
		struct cpprofdata_count count;
		struct slice_list slices;	/* when */
	} counts[];		/* one for each resource */
};

/* The node whose first member this is; NULL: none. */
static inline struct tree_node *
tree_node_of_returns(struct frame_returns *returns)
{
	return (struct tree_node *)returns;
}

/* A node's record in the file, which must only be written. */
static inline struct cpprofdata_node *
tree_record(const struct tree_node *node)
{
	return (struct cpprofdata_node *)((char *)node->returns.copy -
	    offsetof(struct cpprofdata_node, returns));
}

/*
 * A node's number, its twin, and a hash of its whole path.  Because the hash
 * covers the path, a frame's node can be looked up before its caller's node is
 * found, so the memory of many nodes can be fetched at once.
 */
struct node {
	uint32_t number;
	uint32_t path;
	struct tree_node *twin;	/* NULL: of TREE_ROOT */
	bool is_new;		/* just added, so it has no children yet */
};

/* The parent of outermost frames. */
#define TREE_ROOT ((struct node){ .number = CPPROFDATA_NO_NODE })

struct tree_slot {
	uint32_t number;
	uint32_t hash;
	struct tree_node *twin;	/* NULL: empty */
};

struct tree {
	uint32_t owner;		/* number of the thread's record */
	struct tree_chunk *chunk;	/* the one being filled */
	struct tree_slot *slots;
	size_t n_slots;		/* a power of two */
	size_t n_used;		/* slots in use */
	struct slices slices;
	struct call_counts calls, call_counts;
};

/* What distinguishes a node from its siblings. */
struct tree_place {
	uint64_t offset;
	uint32_t module;
};

/* The hash of a path extended by a place. */
static inline uint32_t
tree_path_hash(uint32_t path, const struct tree_place *place)
{
	uint64_t h = place->offset + ((uint64_t)path << 32 | place->module);

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	h = (h ^ place->offset) * 0xff51afd7ed558ccdu;
	return (uint32_t)(h >> 32);
}

/*
 * Prefetches the slots of n paths and then their nodes.  Any paths are valid.
 */
void tree_prefetch(const struct tree *tree, const uint32_t *paths, size_t n);

/* Finds or adds the child of `parent` at a place, and stores it in *child. */
enum store_result tree_child(struct tree *tree, const struct node *parent,
    const struct tree_place *place, struct node *child);

/*
 * Adds one raw sample with `hits` hits to a node's counts of a resource, and to
 * the slices up to now_ns (CLOCK_MONOTONIC).
 */
void tree_count(struct tree *tree, const struct node *node, unsigned resource,
    uint64_t hits, uint64_t now_ns);

/*
 * The same for the node with that number and twin of any tree, of a resource
 * that is only counted by this function, with these slices, and under one lock.
 * On any thread.
 */
void tree_count_any(struct slices *slices, struct tree_node *twin,
    uint32_t number, unsigned resource, uint64_t hits, uint64_t now_ns);

/* A measure of the tree's memory that changes whenever the tree grows. */
size_t tree_memory(const struct tree *tree);

/*
 * Begins an empty tree in a forked child, which has another file.  The old
 * tree's memory is not inherited (store_memory).
 */
static inline void
tree_forked(struct tree *tree)
{
	*tree = (struct tree){ 0 };
}

/* ---- insert.c ---- */

/*
 * Inserts the stack that the unwinder has walked into the tree.
 *
 * All functions: async-signal-safe, on the thread.  They return STORE_OK, or
 * why the stack could not be inserted completely.
 */

/*
 * Inserts the unwinder's new frames into the thread's tree.  *leaf becomes the
 * node of the innermost frame.  Frames without nodes are dropped from the
 * unwinder's memory.  Returns STORE_UNSAFE if all frames belong to this
 * library.
 */
enum store_result insert_stack(struct thread *thread, struct node *leaf);

/*
 * Inserts a frame of a function called by the code at *leaf.  *leaf becomes its
 * node.
 */
enum store_result insert_function(struct thread *thread, const void *function,
    struct node *leaf);

/* The node of stacks of which nothing is known. */
enum store_result insert_partial(struct thread *thread, struct node *node);

#endif
