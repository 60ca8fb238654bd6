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

static struct memory_next {
	__typeof__(malloc) *malloc;
	__typeof__(calloc) *calloc;
	__typeof__(realloc) *realloc;
	__typeof__(memalign) *memalign;
	__typeof__(aligned_alloc) *aligned_alloc;
	__typeof__(posix_memalign) *posix_memalign;
	__typeof__(valloc) *valloc;
	__typeof__(pvalloc) *pvalloc;
	__typeof__(mmap) *mmap;
	__typeof__(mmap64) *mmap64;
	void *(*mremap)(void *, size_t, size_t, int, void *);
} next;

FIRST(void *, malloc, (size_t size), (size))
FIRST(void *, calloc, (size_t n, size_t size), (n, size))
FIRST(void *, realloc, (void *old, size_t size), (old, size))
FIRST(void *, memalign, (size_t alignment, size_t size), (alignment, size))
FIRST(void *, aligned_alloc, (size_t alignment, size_t size),
    (alignment, size))
FIRST(int, posix_memalign, (void **block, size_t alignment, size_t size),
    (block, alignment, size))
FIRST(void *, valloc, (size_t size), (size))
FIRST(void *, pvalloc, (size_t size), (size))
FIRST(void *, mmap, (void *address, size_t size, int protection, int flags,
    int fd, off_t offset), (address, size, protection, flags, fd, offset))
FIRST(void *, mmap64, (void *address, size_t size, int protection, int flags,
    int fd, off64_t offset), (address, size, protection, flags, fd, offset))
FIRST(void *, mremap, (void *old, size_t old_size, size_t size, int flags,
    void *address), (old, old_size, size, flags, address))

static struct memory_next next = {
	.malloc = first_malloc,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.memalign = first_memalign,
	.aligned_alloc = first_aligned_alloc,
	.posix_memalign = first_posix_memalign,
	.valloc = first_valloc,
	.pvalloc = first_pvalloc,
	.mmap = first_mmap,
	.mmap64 = first_mmap64,
	.mremap = first_mremap,
};

static void
memory_look_up(void)
{
	lookup_real("malloc", &next.malloc);
	lookup_real("calloc", &next.calloc);
	lookup_real("realloc", &next.realloc);
	lookup_real("memalign", &next.memalign);
	lookup_real("aligned_alloc", &next.aligned_alloc);
	lookup_real("posix_memalign", &next.posix_memalign);
	lookup_real("valloc", &next.valloc);
	lookup_real("pvalloc", &next.pvalloc);
	lookup_real("mmap", &next.mmap);
	lookup_real("mmap64", &next.mmap64);
	lookup_real("mremap", &next.mremap);
}

static enum gate gate;
static __thread bool is_inside;		/* in a function of this file */

static bool
memory_enter(const void *return_address)
{
	if (!wrapped_pass(gate, return_address) || is_inside)
		return false;
	is_inside = true;
	return true;
}

/* Whether to count this call; if so, memory_leave() must follow. */
#define IS_COUNTED \
	(!GATE_IS_CLOSED(gate) && memory_enter(__builtin_return_address(0)))

static void
memory_leave(bool has_memory, size_t size, const void *function)
{
	int saved = errno;

	is_inside = false;
	if (has_memory) {
		resource_spend_in(RESOURCE_ALLOC_BYTES, size, function);
		resource_spend_in(RESOURCE_ALLOCS, 1, function);
	}
	errno = saved;
}

EXPORTED void *
malloc(size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.malloc(size);
	block = next.malloc(size);
	memory_leave(block != NULL, size, (const void *)next.malloc);
	return block;
}

EXPORTED void *
calloc(size_t n, size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.calloc(n, size);
	block = next.calloc(n, size);
	memory_leave(block != NULL, n * size, (const void *)next.calloc);
	return block;
}

EXPORTED void *
realloc(void *old, size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.realloc(old, size);
	block = next.realloc(old, size);
	memory_leave(block != NULL, size, (const void *)next.realloc);
	return block;
}

EXPORTED void *
memalign(size_t alignment, size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.memalign(alignment, size);
	block = next.memalign(alignment, size);
	memory_leave(block != NULL, size, (const void *)next.memalign);
	return block;
}

EXPORTED void *
aligned_alloc(size_t alignment, size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.aligned_alloc(alignment, size);
	block = next.aligned_alloc(alignment, size);
	memory_leave(block != NULL, size, (const void *)next.aligned_alloc);
	return block;
}

EXPORTED int
posix_memalign(void **block, size_t alignment, size_t size)
{
	int failed;

	if (!IS_COUNTED)
		return next.posix_memalign(block, alignment, size);
	failed = next.posix_memalign(block, alignment, size);
	memory_leave(failed == 0, size, (const void *)next.posix_memalign);
	return failed;
}

EXPORTED void *
valloc(size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.valloc(size);
	block = next.valloc(size);
	memory_leave(block != NULL, size, (const void *)next.valloc);
	return block;
}

EXPORTED void *
pvalloc(size_t size)
{
	void *block;

	if (!IS_COUNTED)
		return next.pvalloc(size);
	block = next.pvalloc(size);
	memory_leave(block != NULL, size, (const void *)next.pvalloc);
	return block;
}

static bool
is_memory(int protection, int flags)
{
	return (flags & MAP_ANONYMOUS) != 0 && protection != PROT_NONE;
}

EXPORTED void *
mmap(void *address, size_t size, int protection, int flags, int fd,
    off_t offset)
{
	void *block;

	if (!IS_COUNTED)
		return next.mmap(address, size, protection, flags, fd, offset);
	block = next.mmap(address, size, protection, flags, fd, offset);
	memory_leave(block != MAP_FAILED && is_memory(protection, flags), size,
	    (const void *)next.mmap);
	wrapped_count_call((const void *)next.mmap);
	return block;
}

EXPORTED void *
mmap64(void *address, size_t size, int protection, int flags, int fd,
    off64_t offset)
{
	void *block;

	if (!IS_COUNTED)
		return next.mmap64(address, size, protection, flags, fd,
		    offset);
	block = next.mmap64(address, size, protection, flags, fd, offset);
	memory_leave(block != MAP_FAILED && is_memory(protection, flags), size,
	    (const void *)next.mmap64);
	wrapped_count_call((const void *)next.mmap64);
	return block;
}

/*
 * The fifth argument is only used with some flags; always passing it does no
 * harm.  The function has another name here because <sys/mman.h> declares
 * mremap with an ellipsis.
 */
EXPORTED void *mremap_always(void *, size_t, size_t, int, void *)
    __asm__("mremap");

void *
mremap_always(void *old, size_t old_size, size_t size, int flags,
    void *address)
{
	void *block;

	if (!IS_COUNTED)
		return next.mremap(old, old_size, size, flags, address);
	block = next.mremap(old, old_size, size, flags, address);
	memory_leave(block != MAP_FAILED && size > old_size, size - old_size,
	    (const void *)next.mremap);
	wrapped_count_call((const void *)next.mremap);
	return block;
}

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
