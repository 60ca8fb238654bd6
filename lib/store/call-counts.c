/* SPDX-License-Identifier: MIT */
/* call-counts.c -- counts by key, in chunks of a thread and in a hash table.
 *
 * Records never move.  A record has a twin in private memory with the same
 * contents, since the file is only written.  It is published with its counts.
 */
#include "lib/store/tree.h"

#include <string.h>

#include "lib/store/datafile.h"

#define CALLS_FIRST_CHUNK ((size_t)4 << 10)
#define CALLS_LAST_CHUNK ((size_t)256 << 10)
#define CALL_FIRST_SLOTS ((size_t)64)

/* What all records of these types look like. */
struct call_record {
	union call_key key;
	uint64_t numbers[2];
};

_Static_assert(sizeof(struct call_record) == sizeof(struct cpprofdata_calls) &&
    sizeof(struct call_record) == sizeof(struct cpprofdata_call_count),
    "records");

/* A chunk and the twins of its records. */
struct call_chunk {
	struct datafile_chunk file;
	size_t room;
	struct call_record twins[];
};

struct call_slot {
	struct call_record *twin;	/* NULL: empty */
	struct call_record *record;	/* only written */
};

static void
call_counts_copy(const struct datafile_chunk *chunk, size_t i, size_t n,
    void *to)
{
	memcpy(to, &((const struct call_chunk *)chunk)->twins[i],
	    n * sizeof(struct call_record));
}

static size_t
call_counts_room(size_t size)
{
	return (size - sizeof(struct cpprofdata_chunk)) /
	    sizeof(struct call_record);
}

enum store_result
call_counts_reserve(struct call_counts *counts,
    enum cpprofdata_chunk_type type, uint32_t owner, size_t n)
{
	const struct call_chunk *chunk = counts->chunk;
	size_t size = chunk == NULL ? CALLS_FIRST_CHUNK :
	    chunk->file.size < CALLS_LAST_CHUNK ? chunk->file.size * 2 :
	    CALLS_LAST_CHUNK;
	struct datafile_chunk *added;
	enum store_result result;

	if (chunk != NULL && chunk->room - chunk->file.count >= n)
		return STORE_OK;
	while (call_counts_room(size) < n)
		size *= 2;
	result = datafile_new_chunk(&(struct datafile_chunk){ .size = size,
	    .type = type, .owner = owner, .copy = call_counts_copy,
	    .record_size = sizeof(struct call_record) },
	    sizeof *chunk + call_counts_room(size) *
	    sizeof(struct call_record), &added);
	if (result == STORE_OK) {
		counts->chunk = (struct call_chunk *)added;
		counts->chunk->room = call_counts_room(size);
	}
	return result;
}

/* The slot that has a key, or the empty one where it belongs. */
static struct call_slot *
call_counts_find(struct call_slot *slots, size_t n, const union call_key *key)
{
	size_t at = call_key_hash(key) & (n - 1);

	while (slots[at].twin != NULL &&
	    !call_key_equal(&slots[at].twin->key, key))
		at = (at + 1) & (n - 1);
	return &slots[at];
}

/* Keeps the table at most half full. */
static bool
call_counts_grow(struct call_counts *counts)
{
	const size_t n = counts->n_slots != 0 ? counts->n_slots * 2 :
	    CALL_FIRST_SLOTS;
	struct call_slot *slots;
	size_t i;

	if (counts->n_used * 2 < counts->n_slots)
		return true;
	slots = store_memory(n * sizeof *slots);
	if (slots == NULL)
		return false;
	for (i = 0; i < counts->n_slots; i++)
		if (counts->slots[i].twin != NULL)
			*call_counts_find(slots, n,
			    &counts->slots[i].twin->key) = counts->slots[i];
	if (counts->slots != NULL)
		store_free(counts->slots, counts->n_slots * sizeof *slots);
	counts->slots = slots;
	counts->n_slots = n;
	return true;
}

bool
call_counts_add(struct call_counts *counts, enum cpprofdata_chunk_type type,
    uint32_t owner, const union call_key *key, uint64_t one, uint64_t other)
{
	struct call_record *record, *twin;
	struct call_slot *slot;
	bool is_new;

	if (!call_counts_grow(counts))
		return false;
	slot = call_counts_find(counts->slots, counts->n_slots, key);
	is_new = slot->twin == NULL;
	if (is_new) {
		struct call_chunk *chunk;

		if (call_counts_reserve(counts, type, owner, 1) != STORE_OK)
			return false;
		chunk = counts->chunk;
		record = (struct call_record *)(chunk->file.mapped + 1) +
		    chunk->file.count;
		if (((uintptr_t)record % CPPROFDATA_PAGE < sizeof *record ||
		    CPPROFDATA_PAGE - (uintptr_t)record % CPPROFDATA_PAGE <
		    sizeof *record) &&
		    !disk_populate(record, sizeof *record))
			return false;
		slot->record = record;
		slot->twin = &chunk->twins[chunk->file.count];
		slot->twin->key = record->key = *key;
		counts->n_used++;
	}
	record = slot->record;
	twin = slot->twin;
	twin->numbers[0] += one;
	twin->numbers[1] += other;
	__atomic_store_n(&record->numbers[0], twin->numbers[0],
	    __ATOMIC_RELAXED);
	__atomic_store_n(&record->numbers[1], twin->numbers[1],
	    __ATOMIC_RELAXED);
	if (is_new)
		datafile_publish_in(&counts->chunk->file, 1);
	return true;
}
