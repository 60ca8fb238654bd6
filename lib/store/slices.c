/* SPDX-License-Identifier: MIT */
/* slices.c -- finds, adds and folds the records of a node's slices. */
#include "lib/store/tree.h"

#include <string.h>

#include "lib/base/process.h"
#include "lib/store/datafile.h"

#define SLICES_FIRST_CHUNK ((size_t)4 << 10)
#define SLICES_LAST_CHUNK ((size_t)256 << 10)
#define BATCH ((size_t)16 << 10)

_Static_assert(CPPROFDATA_N_SLICES == 1 << SLICE_NUMBER_BITS, "slices");
_Static_assert(sizeof(union slice_key) == 8 &&
    offsetof(struct cpprofdata_slice, count) == 8, "key");

/* A chunk of records and their twins, in the same order. */
struct slice_chunk {
	struct datafile_chunk file;
	size_t room;		/* records that fit */
	struct slice twins[];
};

static inline struct cpprofdata_slice *
slices_record_at(const struct slice_chunk *chunk, size_t i)
{
	return (struct cpprofdata_slice *)(chunk->file.mapped + 1) + i;
}

static void
copy_slices(const struct datafile_chunk *chunk, size_t i, size_t n, void *to)
{
	const struct slice_chunk *whole = (const struct slice_chunk *)chunk;
	struct cpprofdata_slice *record = to;

	for (; n > 0; n--, i++, record++) {
		memcpy(record, &whole->twins[i].key, sizeof(union slice_key));
		record->count = whole->twins[i].count;
	}
}

static enum store_result
slices_add_chunk(struct slices *slices, uint32_t owner)
{
	struct slice_chunk *chunk = slices->chunk;
	struct datafile_chunk *added;
	enum store_result result;
	const size_t size = chunk == NULL ? SLICES_FIRST_CHUNK :
	    chunk->file.size < SLICES_LAST_CHUNK ? chunk->file.size * 2 :
	    SLICES_LAST_CHUNK;
	const size_t room = (size - sizeof(struct cpprofdata_chunk)) /
	    sizeof(struct cpprofdata_slice);

	result = datafile_new_chunk(&(struct datafile_chunk){ .size = size,
	    .type = CPPROFDATA_SLICES, .owner = owner, .copy = copy_slices,
	    .record_size = sizeof(struct cpprofdata_slice) },
	    sizeof *chunk + room * sizeof *chunk->twins, &added);
	if (result == STORE_OK) {
		chunk = (struct slice_chunk *)added;
		chunk->room = room;
		slices->chunk = chunk;
	}
	slices->is_full = result == STORE_FULL;
	return result;
}

enum store_result
slices_make_room(struct slices *slices, uint32_t owner)
{
	const struct slice_chunk *chunk = slices->chunk;

	/* A wait has a record for each slice that it lasts. */
	return process.slice_ns == 0 || slices->is_full || slices->n_next +
	    (chunk != NULL ? chunk->room - chunk->file.count : 0) >=
	    CPPROFDATA_N_SLICES ? STORE_OK : slices_add_chunk(slices, owner);
}

/* Publishes records that are free.  False if there is no room. */
static __attribute__((noinline)) bool
add_batch(struct slices *slices, uint32_t owner)
{
	struct slice_chunk *chunk = slices->chunk;
	struct cpprofdata_slice *records;
	struct slice *twins;
	size_t n, i;

	if (chunk == NULL || chunk->file.count == chunk->room) {
		if (slices_add_chunk(slices, owner) != STORE_OK)
			return false;
		chunk = slices->chunk;
	}
	n = chunk->room - chunk->file.count;
	if (n > BATCH / sizeof *records)
		n = BATCH / sizeof *records;
	records = slices_record_at(chunk, chunk->file.count);
	twins = &chunk->twins[chunk->file.count];
	if (!disk_populate(records, n * sizeof *records) ||
	    !disk_populate(twins, n * sizeof *twins))
		return false;
	for (i = 0; i < n; i++) {
		twins[i].key.node = CPPROFDATA_NO_NODE;
		twins[i].record = &records[i];
		records[i].node = CPPROFDATA_NO_NODE;
	}
	datafile_publish_in(&chunk->file, n);
	slices->next = twins;
	slices->next_record = records;
	slices->n_next = n;
	return true;
}

/* A record that was never used; NULL: there is no room. */
static struct slice *
new_slice(struct slices *slices, uint32_t owner)
{
	if (slices->n_next == 0 && !add_batch(slices, owner))
		return NULL;
	return slices_take_next(slices);
}

/* A free record, which leaves the reserve; NULL: there is no room. */
static struct slice *
slices_take(struct slices *slices, uint32_t owner)
{
	struct slice *slice = slices->free;

	if (slices->reserve == NULL)
		slices->reserve = new_slice(slices, owner);
	if (slices->reserve == NULL)
		return NULL;
	if (slice == NULL)
		return new_slice(slices, owner);
	slices->free = slice->older;
	return slice;
}

/*
 * Replaces *first and the records after it that lie in the same wider slice
 * with one, which becomes *first.
 */
static void
fold_into(struct slices *slices, struct slice **first, union slice_key key)
{
	const unsigned shift = key.doublings - (*first)->key.doublings;
	struct slice *narrow = *first, *wide = slices->reserve, *end;
	uint64_t hits = 0, samples = 0;

	if (narrow->older == NULL ||
	    narrow->older->key.slice >> shift != key.slice) {
		slice_set_key(narrow, key);
		return;
	}
	for (end = narrow; end != NULL && end->key.slice >> shift == key.slice;
	    end = end->older) {
		hits += end->count.hits;
		samples += end->count.samples;
	}
	slices->reserve = NULL;
	slice_set(wide, hits, samples);
	wide->older = end;
	slice_set_key(wide, key);
	*first = wide;
	while (narrow != end) {
		struct slice *next = narrow->older;

		/* Free it.  The reserve comes first. */
		slice_set_key(narrow,
		    (union slice_key){ .node = CPPROFDATA_NO_NODE });
		if (slices->reserve == NULL) {
			slices->reserve = narrow;
		} else {
			narrow->older = slices->free;
			slices->free = narrow;
		}
		narrow = next;
	}
}

/*
 * Gives a key and the records of its list the same width.  The key's slice is
 * the wider one, unless the clock has gone backwards.
 */
static void
make_equal(struct slices *slices, struct slice **newest, union slice_key *key)
{
	const unsigned old = *newest != NULL ? (*newest)->key.doublings :
	    key->doublings;
	const unsigned wide = key->doublings;
	struct slice **link;

	if (old > wide) {
		key->slice = (uint16_t)(key->slice >> (old - wide));
		key->doublings = (uint8_t)old;
	}
	for (link = newest; old < wide && *link != NULL;
	    link = &(*link)->older) {
		union slice_key folded = (*link)->key;

		folded.doublings = (uint8_t)wide;
		folded.slice = (uint16_t)(folded.slice >> (wide - old));
		fold_into(slices, link, folded);
	}
}

/*
 * Adds to the record of a key, from *link on.  Returns where it is, so that the
 * next older one is found from there.
 */
static struct slice **
slices_add(struct slices *slices, struct slice **link, uint32_t owner,
           union slice_key key, uint64_t hits, uint64_t samples)
{
	struct slice *slice;

	while (*link != NULL && (*link)->key.slice > key.slice)
		link = &(*link)->older;
	slice = *link;
	if (slice != NULL && slice->key.slice == key.slice) {
		slice_set(slice, slice->count.hits + hits,
		    slice->count.samples + samples);
		return link;
	}
	slice = slices_take(slices, owner);
	if (slice == NULL)
		return link;
	slice_set(slice, hits, samples);
	slice->older = *link;
	slice_set_key(slice, key);
	*link = slice;
	return link;
}

void
slices_count_anew(struct slices *slices, struct slice_list *list,
    const struct cpprofdata_slice *what, uint32_t owner, uint64_t step_ns,
    uint64_t now_ns)
{
	const uint64_t elapsed_ns = now_ns > process.origin_mono_ns ?
	    now_ns - process.origin_mono_ns : 0;
	const uint64_t hits = what->count.hits;
	struct slice *newest = slice_list_newest(list);
	uint64_t width, n, done, until, samples = 1;
	unsigned doublings = 0;
	struct slice **link;
	union slice_key key;

	if (process.slice_ns == 0)
		return;
	if (now_ns - slices->begin_ns >= slices->width_ns) {
		/* The slice of this moment, as narrow as it can be. */
		n = elapsed_ns / process.slice_ns;
		if (n >= CPPROFDATA_N_SLICES)
			doublings = 64 - SLICE_NUMBER_BITS -
			    (unsigned)__builtin_clzll(n);
		slices->present.doublings = (uint8_t)doublings;
		slices->present.slice = (uint16_t)(n >> doublings);
		slices->width_ns = process.slice_ns << doublings;
		slices->begin_ns = process.origin_mono_ns +
		    slices->present.slice * slices->width_ns;
	}
	key = slices->present;
	key.node = what->node;
	key.resource = what->resource;
	make_equal(slices, &newest, &key);
	if (hits > 1 && step_ns > 0) {
		/* They are step_ns apart, and the last one is now. */
		width = process.slice_ns << key.doublings;
		link = &newest;
		for (done = 0; done < hits; done = until, samples = 0) {
			until = key.slice == 0 ? hits :
			    (elapsed_ns - key.slice * width) / step_ns + 1;
			if (until > hits)
				until = hits;
			if (until > done)
				link = slices_add(slices, link, owner, key,
				    until - done, samples);
			key.slice--;
		}
	} else {
		slices_add(slices, &newest, owner, key, hits, 1);
	}
	if (newest != NULL)
		slice_list_set(list, newest, newest->key);
}

size_t
slices_memory(const struct slices *slices)
{
	return slices->chunk == NULL ? 0 :
	    (size_t)(slices->chunk->file.first + slices->chunk->file.count);
}
