/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h -- many small allocations that die together. */
#ifndef CPPROF_BASE_ARENA_H
#define CPPROF_BASE_ARENA_H

#include <stddef.h>

#include "src/base/error.h"

struct arena_block;

/* Start with `{ 0 }`; arena_free makes it empty again. */
struct arena {
	struct arena_block *blocks;
	char *next;
	size_t left;
};

/*
 * size zeroed bytes, aligned for any object, that live until arena_free; NULL
 * with *error set if memory runs out.
 */
void *arena_alloc(struct arena *arena, size_t size, struct error *error);

/* A copy of text[length] followed by a NUL, unaligned; likewise. */
char *arena_text(struct arena *arena, const char *text, size_t length,
                 struct error *error);

/* The formatted text, in the arena; likewise. */
char *arena_format(struct arena *arena, struct error *error,
                   const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void arena_free(struct arena *arena);

#endif
