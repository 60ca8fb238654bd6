/* SPDX-License-Identifier: MIT */
/* memory.c -- wrappers of allocators: `alloc-bytes` and `allocs`.
 *
 * Every successful call counts as one allocation of the bytes requested.
 * realloc counts the whole new size, as other counters of allocated bytes do.
 * mmap counts anonymous mappings that are accessible (PROT_NONE reserves only
 * address space), and mremap counts the bytes it adds.
 *
 * Allocators call each other: operator new calls malloc, the C library's
 * reallocarray calls realloc, another allocator's malloc calls mmap.  Only the
 * outermost function of this file counts.  Blocks come from the real allocator,
 * so free needs no wrapper.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/wrap/wrapped.h"

#define NEXT_ROWS "lib/wrap/memory.def"
#define NEXT_LOOK_UP memory_look_up
#define ALLOCATION(type, name, parameters, arguments, is_allocated, size) \
	NEXT(type, name, parameters, arguments)
#define MAPPING(function, name, parameters, arguments, is_allocated, size) \
	NEXT(void *, name, parameters, arguments)
#include "lib/base/next.def"
#undef ALLOCATION
#undef MAPPING

static enum gate gate;
static __thread bool is_inside;		/* in a function of this file */

static void
memory_leave(bool is_allocated, size_t size, const void *function)
{
	int saved = errno;

	is_inside = false;
	if (is_allocated) {
		resource_spend_in(RESOURCE_ALLOC_BYTES, size, function);
		resource_spend_in(RESOURCE_ALLOCS, 1, function);
	}
	errno = saved;
}

static bool
is_memory(int protection, int flags)
{
	return (flags & MAP_ANONYMOUS) != 0 && protection != PROT_NONE;
}

/* <sys/mman.h> declares mremap with an ellipsis. */
EXPORTED void *memory_mremap(void *, size_t, size_t, int, void *)
    __asm__("mremap");

#define MEMORY_WRAPPER(type, function, name, parameters, arguments,	\
    is_allocated, size, last)						\
EXPORTED type								\
function parameters							\
{									\
	type result;							\
									\
	if (!GATE_LETS_PASS(gate) || is_inside)				\
		return next.name arguments;				\
	is_inside = true;						\
	result = next.name arguments;					\
	memory_leave(is_allocated, size, (const void *)next.name);	\
	last;								\
	return result;							\
}
#define ALLOCATION(type, name, parameters, arguments, is_allocated, size) \
MEMORY_WRAPPER(type, name, name, parameters, arguments, is_allocated,	\
    size, (void)0)
#define MAPPING(function, name, parameters, arguments, is_allocated, size) \
MEMORY_WRAPPER(void *, function, name, parameters, arguments,		\
    is_allocated, size, wrapped_count_call((const void *)next.name))
#include "lib/wrap/memory.def"

/*
 * A sanitizer's own operator new and strdup call its allocator directly and
 * bypass the functions here.
 */
static bool
has_sanitizer(void)
{
	static const char *const beginnings[] = {
		"__asan_init", "__tsan_init", "__lsan_init", "__msan_init",
		"__hwasan_init",
	};
	size_t i;

	for (i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (wrapped_exists(beginnings[i]))
			return true;
	return false;
}

static bool
memory_probe(const struct resource_row *row, uint64_t interval,
             const char **why)
{
	(void)row, (void)interval;
	*why = "";		/* the next source says why */
	return !wrapped_is_preloaded() ||
	    (wrapped_is_ours("malloc") && !has_sanitizer());
}

/* A program with a statically linked allocator does not call ours. */
static bool
probe_partly(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	*why = "the program has its own malloc";
	return wrapped_is_ours("malloc");
}

const struct resource_source source_memory = {
	.name = "library calls",
	.probe = memory_probe,
	.can_be_random = true,
};

const struct resource_source source_memory_partly = {
	.name = "library calls; a sanitizer hides some, such as operator new",
	.probe = probe_partly,
	.can_be_random = true,
};

const struct resource_source source_mappings = {
	.name = "library calls, mmap only: the program has its own malloc",
	.can_be_random = true,
};

void
memory_begin(bool is_sampled)
{
	gate = is_sampled && (resource_is_wanted(RESOURCE_ALLOC_BYTES) ||
	    resource_is_wanted(RESOURCE_ALLOCS) ||
	    wrapped_counts_calls()) ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		memory_look_up();
}
