/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large_array.c -- arrays with an item per node.
 *
 * A header before the items holds the size of the block; below a few megabytes
 * the block is on the heap.
 */
#include "src/profile/large_array.h"

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

struct header {
	_Alignas(max_align_t) size_t size;	/* of the block, header
						 * included */
};

static bool
is_mapped(size_t size)
{
	return size >= FIRST_MAPPED;
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

static struct header *
move_mapping(struct header *old, size_t size)
{
	void *place = map_aligned(size);
	void *moved;

	if (place == NULL)
		return NULL;
	moved = mremap(old, old->size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
	               place);
	if (moved == MAP_FAILED) {
		munmap(place, size);
		return NULL;
	}
	return moved;
}

/*
 * Resizes the block: the header in its new place, or NULL with the old one
 * intact.
 */
static struct header *
resize(struct header *old, size_t size)
{
	struct header *moved;

	if (!is_mapped(size))
		return realloc(old, size);
	if (old != NULL && is_mapped(old->size))
		return move_mapping(old, size);
	moved = map_aligned(size);
	if (moved != NULL && old != NULL) {
		memcpy(moved, old, old->size);
		free(old);
	}
	return moved;
}

int
large_array_reserve(void *items, size_t n, size_t size, struct error *error)
{
	struct header *header;
	size_t needed;
	void *old;

	if (__builtin_mul_overflow(n, size, &needed) ||
	    needed > SIZE_MAX / 4)
		return error_out_of_memory(error);
	needed += sizeof *header;
	if (is_mapped(needed) && needed < LEAST_MAPPED)
		needed = LEAST_MAPPED;
	if (is_mapped(needed))
		needed = (needed + LARGE_PAGE - 1) &
		         ~(size_t)(LARGE_PAGE - 1);
	memcpy(&old, items, sizeof old);
	header = old != NULL ? (struct header *)old - 1 : NULL;
	if (header != NULL && header->size >= needed)
		return 0;
	header = resize(header, needed);
	if (header == NULL)
		return error_out_of_memory(error);
	header->size = needed;
	header++;
	memcpy(items, &header, sizeof header);
	return 0;
}

int
large_array_zeroed(void *items, size_t n, size_t size, struct error *error)
{
	const struct header *header;
	void *bytes;

	if (large_array_reserve(items, n, size, error) != 0)
		return -1;
	memcpy(&bytes, items, sizeof bytes);
	header = (const struct header *)bytes - 1;
	/* Fresh mappings are zero, and parts of them may never be touched. */
	if (!is_mapped(header->size))
		memset(bytes, 0, n * size);
	return 0;
}

void
large_array_free(void *items)
{
	struct header *header;

	if (items == NULL)
		return;
	header = (struct header *)items - 1;
	if (is_mapped(header->size))
		munmap(header, header->size);
	else
		free(header);
}
