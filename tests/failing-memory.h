/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failing-memory.h -- what the program does when memory is short, or the user
 * presses Ctrl-C.
 *
 * A test that includes this is linked with $(failing_memory), which sends the
 * program's own allocations here, not those of libraries, and its calls of
 * progress_step.  An attempt must then fail with "out of memory" or
 * "interrupted", or have the usual result, and leak nothing, which a build with
 * sanitizers notices.  One that fails must end soon: a failure that a function
 * took for success would be noticed only later, since the error stays set.
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
#include "src/base/progress.h"

/* The allocation that brings this to 0 fails. */
static long allocations_left = LONG_MAX;
/* All after it fail, too. */
static bool memory_stays_short;
/* So many an attempt may make after one that made it fail. */
enum { ALLOCATIONS_TO_END = 20 };
static long allocations_to_end = ALLOCATIONS_TO_END;
/* The step that brings this to 0 is interrupted. */
static long steps_left = LONG_MAX;

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
int __real_progress_step(const struct progress *progress, uint64_t done,
                         uint64_t total, struct error *error);
int __wrap_progress_step(const struct progress *progress, uint64_t done,
                         uint64_t total, struct error *error);

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

int
__wrap_progress_step(const struct progress *progress, uint64_t done,
                     uint64_t total, struct error *error)
{
	if (__atomic_sub_fetch(&steps_left, 1, __ATOMIC_RELAXED) == 0)
		interrupt_requested = 1;
	return __real_progress_step(progress, done, total, error);
}

/* Attempts the same with an interrupt at each step, or the first of them. */
static inline void
sweep_interrupts(const char *what,
                 uint64_t (*attempt)(void *data, struct error *error),
                 void *data, long n_attempts, long n_steps, uint64_t wanted)
{
	for (long i = 0; i < n_attempts && i < n_steps; i++) {
		struct error error = { 0 };
		uint64_t digest;

		steps_left = i + 1;
		digest = attempt(data, &error);
		steps_left = LONG_MAX;
		interrupt_requested = 0;
		if (error.is_set ? strstr(error.text, "interrupted") == NULL :
		    digest != wanted)
			fail_msg("%s: interrupted at step %ld of %ld: %s", what,
			         i + 1, n_steps, error.is_set ? error.text :
			         "another result");
	}
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
	long n_allocations, n_after, n_steps;

	allocations_left = steps_left = LONG_MAX;
	wanted = attempt(data, &first_error);
	if (first_error.is_set)
		fail_msg("%s: %s", what, first_error.text);
	n_allocations = LONG_MAX - allocations_left;
	n_steps = LONG_MAX - steps_left;
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
		n_after = -allocations_left;
		allocations_left = LONG_MAX;
		if (error.is_set ? !error.is_out_of_memory : digest != wanted)
			fail_msg("%s: allocation %ld of %ld failed: %s", what,
			         which + 1, n_allocations, error.is_set ?
			         error.text : "another result");
		if (error.is_set && n_after > allocations_to_end)
			fail_msg("%s: allocation %ld of %ld failed, and %ld "
			         "came after it", what, which + 1,
			         n_allocations, n_after);
	}
	steps_left = LONG_MAX;
	sweep_interrupts(what, attempt, data, n_attempts / 4, n_steps, wanted);
}

#endif
