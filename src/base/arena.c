/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.c -- many small allocations that die together.
 *
 * Blocks are chained; the newest one is filled from the front.  A request
 * larger than a block gets one of its own, linked after the newest, so that
 * the rest of that one is not lost.
 */
#include "src/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024, ALIGNMENT = _Alignof(max_align_t) };

struct arena_block {
	struct arena_block *next;
	_Alignas(ALIGNMENT) char bytes[];
};

static struct arena_block *
new_block(size_t size, struct error *error)
{
	struct arena_block *block = NULL;

	if (size <= SIZE_MAX - sizeof *block)
		block = calloc(1, sizeof *block + size);
	if (block == NULL)
		error_out_of_memory(error);
	return block;
}

static void *
alloc_large(struct arena *arena, size_t size, struct error *error)
{
	struct arena_block *block = new_block(size, error);

	if (block == NULL)
		return NULL;
	if (arena->blocks == NULL) {
		arena->blocks = block;
	} else {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	}
	return block->bytes;
}

static void *
alloc_unaligned(struct arena *arena, size_t size, struct error *error)
{
	char *bytes;

	if (size > arena->left || arena->next == NULL) {
		struct arena_block *block;

		if (size > BLOCK_SIZE / 4)
			return alloc_large(arena, size, error);
		block = new_block(BLOCK_SIZE, error);
		if (block == NULL)
			return NULL;
		block->next = arena->blocks;
		arena->blocks = block;
		arena->next = block->bytes;
		arena->left = BLOCK_SIZE;
	}
	bytes = arena->next;
	arena->next += size;
	arena->left -= size;
	return bytes;
}

void *
arena_alloc(struct arena *arena, size_t size, struct error *error)
{
	size_t skip = -(uintptr_t)arena->next & (ALIGNMENT - 1);

	if (skip > arena->left)
		skip = arena->left;
	if (skip > 0)
		arena->next += skip;	/* never to NULL */
	arena->left -= skip;
	return alloc_unaligned(arena, size, error);
}

char *
arena_text(struct arena *arena, const char *text, size_t length,
           struct error *error)
{
	char *copy = alloc_unaligned(arena, length + 1, error);

	if (copy != NULL) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *
arena_format(struct arena *arena, struct error *error, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length >= 0)
		text = alloc_unaligned(arena, (size_t)length + 1, error);
	if (text != NULL) {
		va_start(arguments, format);
		vsnprintf(text, (size_t)length + 1, format, arguments);
		va_end(arguments);
	}
	return text;
}

void
arena_free(struct arena *arena)
{
	while (arena->blocks != NULL) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	*arena = (struct arena){ 0 };
}
