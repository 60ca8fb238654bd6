/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h -- allocation with checked sizes, failing as a value. */
#ifndef CPPROF_BASE_MEMORY_H
#define CPPROF_BASE_MEMORY_H

#include <stddef.h>

#include "src/base/error.h"

/*
 * n zeroed items of size bytes; the caller frees with free().  n may be 0 (the
 * result is then still not NULL).  NULL with *error set when the product
 * overflows or memory runs out.
 */
void *memory_array(size_t n, size_t size, struct error *error);

/* A copy of n items, owned by the caller; likewise. */
void *memory_copy(const void *items, size_t n, size_t size,
                  struct error *error);

/*
 * A copy of text[length] followed by a NUL; likewise.  text may be NULL where
 * length is 0.
 */
char *memory_text(const char *text, size_t length, struct error *error);

/* A copy of a string, owned by the caller; likewise. */
char *memory_string(const char *text, struct error *error);

/*
 * Makes room for at least `needed` items in the growing array *items (a
 * pointer variable's address, NULL at first) of *capacity items; doubles, and
 * leaves new items uninitialised.  0, or -1 with *error set, the array intact.
 */
int memory_grow(void *items, size_t *capacity, size_t needed, size_t size,
                struct error *error);

#endif
