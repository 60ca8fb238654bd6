/* SPDX-License-Identifier: MIT */
/* memory.c -- wrappers of allocators: `alloc-bytes`, `allocs` and `live`.
 *
 * Every successful call counts as one allocation of the bytes requested.
 * realloc counts the whole new size, as other counters of allocated bytes do.
 * mmap counts anonymous mappings that are accessible (PROT_NONE reserves only
 * address space), and mremap counts the bytes it adds.
 *
 * Allocators call each other: operator new calls malloc, the C library's
 * reallocarray calls realloc, another allocator's malloc calls mmap.
 * `alloc-bytes` and `allocs` count only the outermost function of this file.
 * Blocks come from the real allocator.
 *
 * `live` follows sampled blocks to their free (lib/store/live.h).  Each byte
 * that is allocated has the same probability of making its block a sampled one,
 * 1 / R, whatever came before.  So a block of n bytes is sampled with a
 * probability of 1 - exp(-n / R), and stands for the inverse of that many of
 * its kind (Horvitz and Thompson 1952).  A block that is not sampled costs a
 * subtraction, and its free a look at the filter.  Both then jump to the real
 * function, where what an allocator calls passes again through the wrappers
 * here.  An allocator other than the C library's may call these as well, such as
 * malloc for its calloc, or map blocks.  So its functions do not jump but return
 * here, and what they call meanwhile is not followed.
 *
 * With `live`, the columns of `alloc-bytes` and `allocs` have sampled blocks
 * only.  realloc frees the old block and allocates a new one, and so does mremap
 * if the mapping grows, unless it is a file's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/meter.h"
#include "lib/base/sampling.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/store/live.h"
#include "lib/unwind/rules.h"
#include "lib/wrap/wrapped.h"

#define NEXT_ROWS "lib/wrap/memory.def"
#define NEXT_LOOK_UP memory_look_up
#define ALLOCATION(type, name, parameters, arguments, is_allocated, size, \
    block, old)								\
	NEXT(type, name, parameters, arguments)
#define MAPPING(name, parameters, arguments) \
	NEXT(void *, name, parameters, arguments)
#define FREE(name, parameters, arguments) \
	NEXT(void, name, parameters, arguments)
#define OTHER(type, name, parameters, arguments) \
	NEXT(type, name, parameters, arguments)
#include "lib/base/next.def"
#undef ALLOCATION
#undef MAPPING
#undef FREE
#undef OTHER

/*
 * At the default interval, sampling blocks may cost this part of a thread's time,
 * and so much at once.  A sample that took longer was interrupted, or has
 * created the file.
 */
#define BLOCKS_PART 100
#define BLOCKS_ALLOWANCE_NS 2000000
#define BLOCK_MOST_NS 50000
#define THRIFT_MAX 10

static enum gate gate;
static __thread bool is_inside;		/* in a function of this file */

/*
 * The module of an allocator that is not the C library's; size 0: none, or blocks
 * are not followed.
 */
static uintptr_t allocator_start, allocator_size;

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

/*
 * Blocks that are followed.
 */

static __thread struct {
	struct meter meter;	/* of bytes, to the next sampled block */
	uint64_t last_ns;	/* when the last was sampled */
	int64_t allowance_ns;	/* what sampling blocks may still cost */
	unsigned thrift;	/* by how many powers of two they are sampled
				   more rarely for that */
} follow;

static inline bool
memory_follows(void)
{
	return live_filter != NULL;
}

/* Whether a block of so many bytes is not sampled; counts its bytes. */
static inline bool
follow_passes(size_t size)
{
	uint64_t beyond;

	return !meter_reaches(&follow.meter, size, &beyond);
}

/*
 * 1 - exp(-x).  Of x / 2^k by its series, and from there by
 * 1 - exp(-2x) = f (2 - f), where f = 1 - exp(-x).
 */
static double
follow_probability(double x)
{
	unsigned k = 0;
	double f;

	if (x > 40)
		return 1;
	for (; x > 1e-3; k++)
		x /= 2;
	f = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
	for (; k > 0; k--)
		f *= 2 - f;
	return f;
}

/* A whole number whose mean is x. */
static uint64_t
follow_round(double x, uint64_t random)
{
	const uint64_t whole = (uint64_t)x;

	return whole + ((double)(random >> 11) * 0x1p-53 <
	    x - (double)whole);
}

/* The next distance; how far, depends on room and cost. */
static void
follow_draw(void)
{
	follow.meter.interval = resources.live_interval <<
	    (live_shortage() + follow.thrift);
	follow.meter.left = meter_draw(&follow.meter);
}

/*
 * Charges a sample to the allowance.  A thread that has used it up samples half
 * as many blocks from then on, and twice as many when it has saved all of it
 * again.
 */
static void
follow_charge(uint64_t now_ns, uint64_t cost_ns)
{
	follow.allowance_ns += (int64_t)((now_ns - follow.last_ns) /
	    BLOCKS_PART) - (int64_t)(cost_ns < BLOCK_MOST_NS ? cost_ns :
	    BLOCK_MOST_NS);
	follow.last_ns = now_ns;
	if (!resources.live_is_paced)
		return;
	if (follow.allowance_ns < 0) {
		follow.allowance_ns = BLOCKS_ALLOWANCE_NS / 2;
		if (follow.thrift < THRIFT_MAX)
			follow.thrift++;
	} else if (follow.allowance_ns > BLOCKS_ALLOWANCE_NS) {
		follow.allowance_ns = BLOCKS_ALLOWANCE_NS / 2;
		if (follow.thrift > 0)
			follow.thrift--;
	}
}

/* A block of a sampled distance was allocated, or the thread's first. */
static __attribute__((noinline)) void
memory_follow(const void *block, size_t size, bool is_mapping,
    const void *function)
{
	const int saved = errno;
	struct live_allocation allocation = { .address = (uintptr_t)block,
	    .size = size, .is_mapping = is_mapping };
	uint64_t cost;
	double chance;

	/* The collector's own thread, or one that was not found yet. */
	if (process.is_inside && !control_begin_here()) {
		follow_draw();
		errno = saved;
		return;
	}
	if (follow.meter.random == 0) {
		follow.last_ns = process_clock(CLOCK_MONOTONIC);
		follow.allowance_ns = BLOCKS_ALLOWANCE_NS / 2;
		meter_start_without_memory(&follow.meter,
		    resources.live_interval, follow.last_ns ^
		    (uint64_t)(uintptr_t)&follow << 20);
		if (follow_passes(size))
			return;
	}
	chance = follow_probability((double)size /
	    (double)follow.meter.interval);
	if (chance > 0) {
		allocation.hits[LIVE_BYTES] = follow_round((double)size /
		    chance / (double)resources.live_interval,
		    meter_random(follow.meter.random));
		allocation.hits[LIVE_BLOCKS] = follow_round(1 / chance,
		    meter_random(follow.meter.random + 1));
		cost = sample_block(thread_self, &allocation, function);
		if (cost > 0)
			follow_charge(allocation.now_ns + cost, cost);
	}
	follow_draw();
	errno = saved;
}

/*
 * A call that may have freed what was taken before it, in that recording.
 */
static void
memory_freed(struct live_block *taken, bool is_freed, uint32_t recording)
{
	const int saved = errno;

	if (taken == NULL || recording != sampling_recording())
		return;
	if (is_freed)
		live_freed(taken);
	else
		live_put_back(taken);
	errno = saved;
}

/* Whether a mapping by this call is an allocator's own. */
static bool
is_of_allocator(const void *return_address)
{
	return is_inside || (uintptr_t)return_address - allocator_start <
	    allocator_size;
}

/* A mapping has been made. */
static void
memory_mapped(const void *address, size_t size, const void *function,
              const void *return_address)
{
	if (!memory_follows())
		memory_leave(true, size, function);
	else if (!is_of_allocator(return_address) && !follow_passes(size))
		memory_follow(address, size, true, function);
}

/*
 * The wrappers.
 */

#define UNWRAPPED(...) __VA_ARGS__

/*
 * What most calls do comes first and needs no stack frame.  A call that may
 * sample a block, or free one, is continued by a function of its own.
 */
#define ALLOCATION(type, name, parameters, arguments, is_allocated, size, \
    block, old)								\
static __attribute__((noinline)) type					\
measure_##name(UNWRAPPED parameters, const void *return_address)	\
{									\
	const uint32_t recording = sampling_recording();		\
	struct live_block *taken = NULL;				\
	bool passes;							\
	type result;							\
									\
	if (!memory_follows()) {					\
		if (is_inside || !wrapped_pass(gate, return_address))	\
			return next.name arguments;			\
		is_inside = true;					\
		result = next.name arguments;				\
		memory_leave(is_allocated, size,			\
		    (const void *)next.name);				\
		return result;						\
	}								\
	if (is_inside)							\
		return next.name arguments;				\
	passes = follow_passes(size);					\
	if ((old) != NULL)						\
		taken = live_take((uintptr_t)(old));			\
	is_inside = allocator_size != 0;				\
	result = next.name arguments;					\
	is_inside = false;						\
	if (taken != NULL)						\
		memory_freed(taken, (is_allocated) || (size) == 0,	\
		    recording);						\
	if (!passes && (is_allocated))					\
		memory_follow(block, size, false,			\
		    (const void *)next.name);				\
	return result;							\
}									\
									\
EXPORTED type								\
name parameters								\
{									\
	const uint8_t *const filter = live_filter;			\
									\
	if (GATE_IS_CLOSED(gate))					\
		return next.name arguments;				\
	if (filter != NULL && allocator_size == 0 &&			\
	    ((old) == NULL || !live_may_have(filter, old)) &&		\
	    follow_passes(size))					\
		return next.name arguments;				\
	return measure_##name(UNWRAPPED arguments,			\
	    __builtin_return_address(0));				\
}

#define MAPPING(name, parameters, arguments)				\
EXPORTED void *								\
name parameters								\
{									\
	const bool passes = GATE_LETS_PASS(gate) && !is_inside;		\
	const uint32_t recording = sampling_recording();		\
	struct live_block *over = NULL;					\
	void *result;							\
									\
	if ((flags & MAP_FIXED) != 0 && memory_follows())		\
		over = live_take_mappings((uintptr_t)address, size);	\
	result = next.name arguments;					\
	memory_freed(over, result != MAP_FAILED, recording);		\
	if (result != MAP_FAILED && is_memory(protection, flags) &&	\
	    (passes || memory_follows()))				\
		memory_mapped(result, size, (const void *)next.name,	\
		    __builtin_return_address(0));			\
	if (passes)							\
		wrapped_count_call((const void *)next.name);		\
	return result;							\
}

#define FREE(name, parameters, arguments)				\
EXPORTED void								\
name parameters								\
{									\
	const uint8_t *const filter = live_filter;			\
									\
	if (__builtin_expect(filter != NULL &&				\
	    live_may_have(filter, block), 0))				\
		live_free((uintptr_t)block);				\
	next.name arguments;						\
}

#define OTHER(type, name, parameters, arguments)
#include "lib/wrap/memory.def"

EXPORTED int
munmap(void *address, size_t size)
{
	const uint32_t recording = sampling_recording();
	struct live_block *taken = NULL;
	int result;

	if (memory_follows())
		taken = live_take_mappings((uintptr_t)address, size);
	result = next.munmap(address, size);
	memory_freed(taken, result == 0, recording);
	if (GATE_LETS_PASS(gate))
		wrapped_count_call((const void *)next.munmap);
	return result;
}

/* Of one that was not followed, only the list of mappings says if it is memory. */
static void
memory_grown(const void *address, size_t size, bool was_followed)
{
	if (was_followed || mappings_is_memory((uintptr_t)address))
		memory_follow(address, size, true, (const void *)next.mremap);
	else if (follow.meter.random != 0)
		follow_draw();
}

/* <sys/mman.h> declares mremap with an ellipsis. */
EXPORTED void *memory_mremap(void *, size_t, size_t, int, void *)
    __asm__("mremap");

/* One that does not grow stays the same, perhaps elsewhere. */
static void *
follow_mremap(void *old, size_t old_size, size_t size, int flags, void *address,
              bool is_allocators)
{
	const uintptr_t start = (uintptr_t)old;
	const size_t whole = live_whole_pages(size);
	const uint32_t recording = sampling_recording();
	const bool grows = size > old_size;
	struct live_block *kept, *over = NULL, *cut = NULL;
	void *result;
	bool was_followed;

	kept = live_take_mappings(start, grows ? old_size : size);
	was_followed = kept != NULL;
	if (whole < old_size)
		cut = live_take_mappings(start + whole, old_size - whole);
	if ((flags & MREMAP_FIXED) != 0)
		over = live_take_mappings((uintptr_t)address, size);
	result = next.mremap(old, old_size, size, flags, address);
	memory_freed(cut, result != MAP_FAILED, recording);
	memory_freed(over, result != MAP_FAILED, recording);
	if (result != MAP_FAILED && !grows) {
		if (recording == sampling_recording())
			live_moved(kept, (uintptr_t)result - start);
		return result;
	}
	memory_freed(kept, result != MAP_FAILED, recording);
	if (result != MAP_FAILED && !is_allocators && !follow_passes(size))
		memory_grown(result, size, was_followed);
	return result;
}

void *
memory_mremap(void *old, size_t old_size, size_t size, int flags, void *address)
{
	const bool passes = GATE_LETS_PASS(gate) && !is_inside;
	void *result;

	if (memory_follows()) {
		result = follow_mremap(old, old_size, size, flags, address,
		    is_of_allocator(__builtin_return_address(0)));
	} else {
		result = next.mremap(old, old_size, size, flags, address);
		if (passes && result != MAP_FAILED && size > old_size)
			memory_leave(true, size - old_size,
			    (const void *)next.mremap);
	}
	if (passes)
		wrapped_count_call((const void *)next.mremap);
	return result;
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

/*
 * Whether a library that is not the C++ library has an operator new, as other
 * allocators do.  That calls no malloc.  One of the program itself may.
 */
static bool
has_own_new(void)
{
	void *const found = dlsym(RTLD_DEFAULT, "_Znwm");
	struct dl_find_object object;
	struct lookup lookup;
	size_t n;

	if (found == NULL) {
		dlerror();	/* or the program would see the message */
		return false;
	}
	return _dl_find_object(found, &object) == 0 &&
	    object.dlfo_link_map != lookup_loaded(&n) &&
	    strstr(object.dlfo_link_map->l_name, "libc++") == NULL &&
	    lookup_open(object.dlfo_link_map, &lookup) &&
	    /* std::get_new_handler */
	    lookup_symbol(&lookup, "_ZSt15get_new_handlerv") == NULL;
}

static bool
memory_probe(const struct resource_row *row, uint64_t interval,
             const char **why)
{
	(void)row, (void)interval;
	*why = "";		/* the next source says why */
	return !wrapped_is_preloaded() ||
	    (wrapped_is_ours("malloc") && !has_sanitizer() && !has_own_new());
}

static bool
probe_without_new(const struct resource_row *row, uint64_t interval,
                  const char **why)
{
	(void)row, (void)interval;
	*why = "";
	return wrapped_is_ours("malloc") && !has_sanitizer();
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

const struct resource_source source_memory_without_new = {
	.name = "library calls; not operator new, which an allocator has itself",
	.probe = probe_without_new,
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

/*
 * A thread draws its first distance anew when it begins and in a forked child.
 * Otherwise all children of a process would sample the same of their blocks.
 */
static bool
follow_start(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	if (follow.meter.random != 0)
		follow.meter.random = follow.meter.left = 0;
	return true;
}

const struct resource_source source_live = {
	.name = "library calls, of blocks sampled at random",
	.probe = memory_probe,
	.start = follow_start,
};

const struct resource_source source_live_without_new = {
	.name = "library calls, of sampled blocks; not an allocator's own new",
	.probe = probe_without_new,
	.start = follow_start,
};

const struct resource_source source_live_partly = {
	.name = "library calls, of sampled blocks; a sanitizer hides some",
	.probe = probe_partly,
	.start = follow_start,
};

const struct resource_source source_live_mappings = {
	.name = "library calls, of mappings: the program has its own malloc",
	.start = follow_start,
};

static bool
refuse_part(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	*why = "-r live counts it";
	return false;
}

const struct resource_source source_live_part = {
	.name = "-r live",
	.probe = refuse_part,
};

/* The module that has the real malloc, unless it is the C library. */
static void
find_allocator(void)
{
	struct dl_find_object of_malloc, of_library;

	allocator_size = 0;
	if (_dl_find_object((void *)(uintptr_t)next.malloc, &of_malloc) != 0 ||
	    _dl_find_object((void *)(uintptr_t)lookup_next("getpid"),
	    &of_library) != 0 ||
	    of_malloc.dlfo_map_start == of_library.dlfo_map_start)
		return;
	allocator_start = (uintptr_t)of_malloc.dlfo_map_start;
	allocator_size = (uintptr_t)of_malloc.dlfo_map_end - allocator_start;
}

/* Follows blocks, unless they would never be found again. */
static void
begin_to_follow(void)
{
	const struct live_columns columns = {
		.allocated = {
			(unsigned char)(resources.place[RESOURCE_ALLOC_BYTES] -
			    1),
			(unsigned char)(resources.place[RESOURCE_ALLOCS] - 1),
		},
		.freed = {
			(unsigned char)(resources.place[RESOURCE_FREED_BYTES] -
			    1),
			(unsigned char)(resources.place[RESOURCE_FREES] - 1),
		},
	};

	if (!live_begin(&columns))
		gate = GATE_CLOSED;
	find_allocator();
}

void
memory_begin(bool is_sampled)
{
	const bool follows = is_sampled && resources.live_interval != 0;

	gate = is_sampled && (resource_is_wanted(RESOURCE_ALLOC_BYTES) ||
	    resource_is_wanted(RESOURCE_ALLOCS) ||
	    wrapped_counts_calls()) ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		memory_look_up();
	if (follows)
		begin_to_follow();
	else
		live_end();
}
