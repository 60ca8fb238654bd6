/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failing-memory.h -- what the program does when memory is short.
 *
 * A test that includes this is linked with $(failing_memory), which has the
 * program's own allocations come here; those of libraries do not.  Whatever is
 * attempted must then fail with "out of memory", or give the same result as
 * ever, and leak nothing, which a build with sanitizers notices.
 */
#ifndef TESTS_FAILING_MEMORY_H
#define TESTS_FAILING_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "src/base/error.h"

/* The allocation that brings this to 0 fails. */
static long allocations_left = LONG_MAX;
/* All after it fail, too. */
static bool memory_stays_short;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool
may_allocate(void)
{
	long left = __atomic_sub_fetch(&allocations_left, 1, __ATOMIC_RELAXED);

	return left > 0 || (left < 0 && !memory_stays_short);
}

void *
__wrap_malloc(size_t size)
{
	return may_allocate() ? __real_malloc(size) : NULL;
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return may_allocate() ? __real_calloc(n, size) : NULL;
}

void *
__wrap_realloc(void *old, size_t size)
{
	return may_allocate() ? __real_realloc(old, size) : NULL;
}

void *
__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return may_allocate() ? __real_reallocarray(old, n, size) : NULL;
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return may_allocate() ? __real_aligned_alloc(alignment, size) : NULL;
}

/*
 * Attempts the same again and again, with one allocation failing each time:
 * with every one of them, if there are no more than n_attempts; else with the
 * first of them, and with some of the others, not the same in the next sweep.
 * attempt returns a digest of its result, or sets *error.  what: for messages.
 */
static inline void
sweep_memory(const char *what,
             uint64_t (*attempt)(void *data, struct error *error), void *data,
             long n_attempts)
{
	static long n_sweeps;
	struct error first_error = { 0 };
	uint64_t wanted;
	long n_allocations;

	allocations_left = LONG_MAX;
	wanted = attempt(data, &first_error);
	if (first_error.is_set)
		fail_msg("%s: %s", what, first_error.text);
	n_allocations = LONG_MAX - allocations_left;
	n_sweeps++;
	for (long i = 0; i < n_attempts && i < n_allocations; i++) {
		long which = i, n_others = n_allocations - n_attempts / 2;
		struct error error = { 0 };
		uint64_t digest;

		if (n_allocations > n_attempts && i >= n_attempts / 2)
			which = n_attempts / 2 +
			        (n_sweeps * 7919 + i * (n_others / n_attempts +
			                                1)) % n_others;
		allocations_left = which + 1;
		memory_stays_short = (n_sweeps + i) % 4 == 0;
		digest = attempt(data, &error);
		allocations_left = LONG_MAX;
		if (error.is_set ? strstr(error.text, "out of memory") == NULL :
		    digest != wanted)
			fail_msg("%s: allocation %ld of %ld failed: %s", what,
			         which + 1, n_allocations, error.is_set ?
			         error.text : "another result");
	}
}

#endif
