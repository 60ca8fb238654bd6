/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort.h -- an interruptible qsort_r for as many items as a file may have.
 *
 * Sorting millions takes seconds, during which qsort_r cannot be interrupted.
 */
#ifndef CPPROF_BASE_SORT_H
#define CPPROF_BASE_SORT_H

#include <stddef.h>

#include "src/base/error.h"

/*
 * Sorts n items of that size; equal ones keep their order.  0; or -1 with
 * *error set if memory runs out or the user interrupts, the items then in any
 * order.
 */
int sort_items(void *items, size_t n, size_t size,
               int (*compare)(const void *a, const void *b, void *context),
               void *context, struct error *error);

#endif
