/* SPDX-License-Identifier: GPL-3.0-or-later */
/* large_array.h -- arrays with an item per node.
 *
 * Touching memory for the first time costs more than parsing what goes there,
 * above all on virtual machines.  So a large array lives in a mapping of its
 * own, with huge pages, and grows by moving that mapping: nothing is copied,
 * and no page is touched twice.  When it is freed, the next one may get its
 * pages: up to 48 MiB are kept, but the kernel may take them.
 */
#ifndef CPPROF_PROFILE_LARGE_ARRAY_H
#define CPPROF_PROFILE_LARGE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

/*
 * Makes room for n items of size bytes in the array *items (a pointer
 * variable's address; NULL at first), never fewer than it has.  New items are
 * not initialised.  0, or -1 with *error set, the array intact.
 */
int large_array_reserve(void *items, size_t n, size_t size,
                        struct error *error);

/* Likewise a new array of zeroed items; *items must be NULL. */
int large_array_zeroed(void *items, size_t n, size_t size,
                       struct error *error);

/* Frees such an array, for which free() must not be used; NULL is allowed. */
void large_array_free(void *items);

/*
 * Frees n arrays, one for each resource, and with free() the array of them; NULL
 * is allowed.
 */
void large_array_free_each(uint64_t **arrays, uint32_t n);

/* Frees array i of the n, one for each resource, and moves up the others. */
void large_array_drop(uint64_t **arrays, uint32_t n, uint32_t i);

#endif
