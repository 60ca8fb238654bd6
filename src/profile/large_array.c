/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large_array.c -- arrays with an item per node.
 *
 * A header before the items holds the size of the block; below a few megabytes
 * the block is on the heap.  Some mappings that are no longer needed are kept
 * for the next arrays: steps and views need the same ones again and again, and
 * the kernel would clear each page before it can be used.
 */
#include "src/profile/large_array.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Untouched pages cost nothing, so a mapping begins with room for most
 * profiles and is rarely moved.
 */
enum {
	LARGE_PAGE = 2 << 20,
	FIRST_MAPPED = 2 * LARGE_PAGE,
	LEAST_MAPPED = 32 * LARGE_PAGE,
};

struct large_array_header {
	_Alignas(max_align_t) size_t size;	/* of the block, header
						 * included */
	size_t used;		/* bytes that were asked for, at most */
};

/*
 * Mappings to use again, the one freed last at the end, without the parts that
 * were never asked for.  The kernel may take their pages while they are here.
 * A thread that finds them in use by another does without.  To keep more makes
 * steps hardly faster, and the first view of a large profile slower.
 */
enum { MOST_SPARE = 16, MOST_SPARE_BYTES = 48 << 20 };

static struct {
	atomic_flag is_in_use;
	struct spare {
		struct large_array_header *block;
		size_t size;
	} blocks[MOST_SPARE];
	size_t n;
	size_t n_bytes;
} spares = { .is_in_use = ATOMIC_FLAG_INIT };

static bool
is_mapped(size_t size)
{
	return size >= FIRST_MAPPED;
}

static size_t
whole_pages(size_t size)
{
	return (size + LARGE_PAGE - 1) & ~(size_t)(LARGE_PAGE - 1);
}

/* Address space of that size, aligned to a huge page, or NULL. */
static void *
map_aligned(size_t size)
{
	char *map = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (map == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)map & (LARGE_PAGE - 1);
	if (before > 0)
		munmap(map, before);
	munmap(map + before + size, LARGE_PAGE - before);
	madvise(map + before, size, MADV_HUGEPAGE);
	return map + before;
}

static struct large_array_header *
move_mapping(struct large_array_header *old, size_t old_size, size_t size)
{
	void *place = map_aligned(size);
	void *moved;

	if (place == NULL)
		return NULL;
	moved = mremap(old, old_size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
	               place);
	if (moved == MAP_FAILED) {
		munmap(place, size);
		return NULL;
	}
	return moved;
}

/* Takes one out of the spares, which the caller is using. */
static struct spare
remove_spare(size_t i)
{
	const struct spare spare = spares.blocks[i];

	spares.n--;
	spares.n_bytes -= spare.size;
	memmove(&spares.blocks[i], &spares.blocks[i + 1],
	        (spares.n - i) * sizeof spare);
	return spare;
}

/* The smallest spare mapping of at least that size, or else the largest. */
static struct spare
take_spare(size_t size)
{
	struct spare best = { 0 };
	size_t place = 0;

	if (atomic_flag_test_and_set(&spares.is_in_use))
		return best;
	for (size_t i = spares.n; i-- > 0;) {
		const struct spare *spare = &spares.blocks[i];

		if (best.size < size ? spare->size > best.size :
		    spare->size >= size && spare->size < best.size) {
			best = *spare;
			place = i;
		}
	}
	if (best.block != NULL)
		remove_spare(place);
	atomic_flag_clear(&spares.is_in_use);
	return best;
}

/* Gives up the oldest ones for it, if there are too many. */
static void
keep_spare(struct spare spare)
{
	while (spares.n == MOST_SPARE ||
	       spares.n_bytes + spare.size > MOST_SPARE_BYTES) {
		const struct spare oldest = remove_spare(0);

		munmap(oldest.block, oldest.size);
	}
	spares.blocks[spares.n++] = spare;
	spares.n_bytes += spare.size;
	madvise(spare.block, spare.size, MADV_FREE);
}

static void
free_mapping(struct large_array_header *block)
{
	const size_t size = block->size, used = whole_pages(block->used);

	if (used > MOST_SPARE_BYTES ||
	    atomic_flag_test_and_set(&spares.is_in_use)) {
		munmap(block, size);
		return;
	}
	if (used < size)
		munmap((char *)block + used, size - used);
	keep_spare((struct spare){ block, used });
	atomic_flag_clear(&spares.is_in_use);
}

/* The mapping of a spare, in that size; the spare is gone in any case. */
static struct large_array_header *
resize_spare(struct spare spare, size_t size)
{
	struct large_array_header *block = move_mapping(spare.block, spare.size,
	                                                size);

	if (block == NULL)
		munmap(spare.block, spare.size);
	return block;
}

/* A mapping with its header; is_zeroed: all else is zero.  Or NULL. */
static struct large_array_header *
new_mapping(size_t size, size_t used, bool is_zeroed)
{
	struct spare spare = { 0 };
	struct large_array_header *block;

	if (!is_zeroed)
		spare = take_spare(whole_pages(used));
	if (spare.size >= size)
		size = spare.size;
	block = spare.block == NULL ? map_aligned(size) :
	    spare.size == size ? spare.block : resize_spare(spare, size);
	if (block != NULL)
		*block = (struct large_array_header){ size, spare.size };
	return block;
}

/*
 * Resizes the block to have room for `used` bytes: the header in its new place,
 * or NULL with the old one intact.  is_zeroed: a new mapping is zero.
 */
static struct large_array_header *
resize(struct large_array_header *old, size_t size, size_t used, bool is_zeroed)
{
	struct large_array_header *moved;

	if (old != NULL && is_mapped(old->size)) {
		moved = move_mapping(old, old->size, size);
	} else if (is_mapped(size)) {
		moved = new_mapping(size, used, is_zeroed);
		if (moved != NULL && old != NULL) {
			memcpy(moved + 1, old + 1, old->size - sizeof *old);
			free(old);
		}
		return moved;
	} else {
		moved = realloc(old, size);
	}
	if (moved != NULL)
		moved->size = size;
	return moved;
}

/* As large_array_reserve; is_zeroed: a new mapping is zero. */
static int
large_array_reserve_items(void *items, size_t n, size_t size, bool is_zeroed,
                          struct error *error)
{
	struct large_array_header *header;
	size_t used, needed;
	void *old;

	if (__builtin_mul_overflow(n, size, &used) || used > SIZE_MAX / 4)
		return error_out_of_memory(error);
	used += sizeof *header;
	needed = used;
	if (is_mapped(needed) && needed < LEAST_MAPPED)
		needed = LEAST_MAPPED;
	if (is_mapped(needed))
		needed = whole_pages(needed);
	memcpy(&old, items, sizeof old);
	header = old != NULL ? (struct large_array_header *)old - 1 : NULL;
	if (header == NULL || header->size < needed)
		header = resize(header, needed, used, is_zeroed);
	if (header == NULL)
		return error_out_of_memory(error);
	if (!is_mapped(header->size) || header->used < used)
		header->used = used;
	header++;
	memcpy(items, &header, sizeof header);
	return 0;
}

int
large_array_reserve(void *items, size_t n, size_t size, struct error *error)
{
	return large_array_reserve_items(items, n, size, false, error);
}

int
large_array_zeroed(void *items, size_t n, size_t size, struct error *error)
{
	const struct large_array_header *header;
	void *bytes;

	if (large_array_reserve_items(items, n, size, true, error) != 0)
		return -1;
	memcpy(&bytes, items, sizeof bytes);
	header = (const struct large_array_header *)bytes - 1;
	/* Fresh mappings are zero, and parts of them may never be touched. */
	if (!is_mapped(header->size))
		memset(bytes, 0, n * size);
	return 0;
}

void
large_array_free(void *items)
{
	struct large_array_header *header;

	if (items == NULL)
		return;
	header = (struct large_array_header *)items - 1;
	if (is_mapped(header->size))
		free_mapping(header);
	else
		free(header);
}

void
large_array_free_each(uint64_t **arrays, uint32_t n)
{
	for (uint32_t i = 0; arrays != NULL && i < n; i++)
		large_array_free(arrays[i]);
	free(arrays);
}

void
large_array_drop(uint64_t **arrays, uint32_t n, uint32_t i)
{
	large_array_free(arrays[i]);
	memmove(&arrays[i], &arrays[i + 1], (n - i - 1) * sizeof *arrays);
}
