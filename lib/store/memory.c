/* SPDX-License-Identifier: MIT */
/* memory.c -- private memory of the recording, and what is mapped for it.
 *
 * A thread that maps memory keeps all others from mapping or touching new
 * memory, and one that has waited for that may then wait for a processor.  Where
 * many threads begin at once, each would wait for all.  So small pieces are parts
 * of large mappings, which are populated at once after the first.
 */
#include "lib/store/datafile.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"

#define PIECE_MAX ((size_t)32 << 10)
#define PIECE_UNIT 64
#define FIRST_SLAB ((size_t)128 << 10)
#define SLAB ((size_t)1 << 20)

/* A large mapping, and what is handed out of it from its beginning. */
struct slab {
	size_t size;
	_Atomic size_t used;
	bool is_populated;
};

static struct slab *_Atomic newest WIPED;

/*
 * What is mapped for a recording that may end while the process goes on, and
 * another follow.  Beyond that number, memory is not given back.
 */
#define REGIONS_MAX 8192

static struct {
	_Atomic(void *) address;	/* NULL: given back already */
	size_t size;
} regions[REGIONS_MAX] BIG_TABLE;
static _Atomic size_t n_regions WIPED;

void
store_note(void *memory, size_t size)
{
	size_t i;

	if (!process.is_inside || (i = atomic_fetch_add(&n_regions, 1)) >=
	    REGIONS_MAX)
		return;
	regions[i].size = size;
	atomic_store(&regions[i].address, memory);
}

void
store_unmap(void *memory, size_t size)
{
	size_t i = !process.is_inside ? 0 : n_regions < REGIONS_MAX ?
	    n_regions : REGIONS_MAX;

	/* First, since others may be given the same addresses at once. */
	while (i-- > 0)
		if (atomic_load(&regions[i].address) == memory)
			atomic_store(&regions[i].address, NULL);
	files_unmap(memory, size);
}

void
store_unmap_all(void)
{
	size_t i = n_regions < REGIONS_MAX ? n_regions : REGIONS_MAX;

	while (i-- > 0)
		if (atomic_load(&regions[i].address) != NULL)
			files_unmap(atomic_exchange(&regions[i].address, NULL),
			    regions[i].size);
	n_regions = 0;
	newest = NULL;
}

size_t
store_keep(void)
{
	return n_regions < REGIONS_MAX ? n_regions : REGIONS_MAX;
}

void
store_go_on(size_t kept)
{
	n_regions = kept;
}

static void *
store_map(size_t size)
{
	void *memory = files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (memory == MAP_FAILED)
		return NULL;
	files_advise(memory, size, MADV_DONTFORK);
	store_note(memory, size);
	return memory;
}

/* Puts another slab in the place of that one; false: there is no memory. */
static bool
store_add_slab(struct slab *last)
{
	const size_t size = last == NULL ? FIRST_SLAB : SLAB;
	struct slab *slab = store_map(size);

	if (slab == NULL)
		return false;
	slab->is_populated = last != NULL &&
	    files_advise(slab, size, MADV_POPULATE_WRITE) == 0;
	slab->size = size;
	slab->used = PIECE_UNIT;
	/* Another thread may have done the same. */
	if (!atomic_compare_exchange_strong(&newest, &last, slab))
		store_unmap(slab, size);
	return true;
}

static size_t
store_piece(size_t size)
{
	return (size + PIECE_UNIT - 1) & -(size_t)PIECE_UNIT;
}

void *
store_memory(size_t size)
{
	const size_t piece = store_piece(size);
	struct slab *slab;
	size_t at;

	if (size > PIECE_MAX)
		return store_map(size);
	do {
		slab = atomic_load(&newest);
		at = slab == NULL ? 0 : atomic_fetch_add(&slab->used, piece);
		if (slab != NULL && at + piece <= slab->size)
			return (unsigned char *)slab + at;
	} while (store_add_slab(slab));
	return store_map(size);
}

void
store_free(void *memory, size_t size)
{
	const size_t piece = store_piece(size);
	struct slab *slab = atomic_load(&newest);
	size_t at = (uintptr_t)memory - (uintptr_t)slab, end = at + piece;

	if (size > PIECE_MAX) {
		store_unmap(memory, size);
		return;
	}
	/* The last piece is handed out again, which must be zero. */
	if (slab == NULL || at >= slab->size ||
	    atomic_load(&slab->used) != end)
		return;
	memset(memory, 0, size);
	atomic_compare_exchange_strong(&slab->used, &end, at);
}

bool
store_is_populated(const void *address)
{
	const struct slab *slab = atomic_load(&newest);

	return slab != NULL && slab->is_populated &&
	    (uintptr_t)address - (uintptr_t)slab < slab->size;
}
