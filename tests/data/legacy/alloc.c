/* alloc.c -- allocates in a few functions: tcmalloc.heap, jemalloc.heap.
 *
 * gcc -O1 -g -fno-omit-frame-pointer -o alloc alloc.c
 * HEAPPROFILE=tc HEAP_PROFILE_ALLOCATION_INTERVAL=9000000 \
 *     LD_PRELOAD=libtcmalloc.so.4 ./alloc
 * MALLOC_CONF=prof:true,prof_final:true,lg_prof_sample:14,prof_prefix:je \
 *     LD_PRELOAD=libjemalloc.so.2 ./alloc
 */
#include <stdlib.h>
#include <string.h>

static void *kept[3000];

static __attribute__((noinline)) void *
make_small(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

static __attribute__((noinline)) void *
make_large(size_t size)
{
	void *block = malloc(size);

	memset(block, 2, size);
	return block;
}

static __attribute__((noinline)) void
fill(int n)
{
	for (int i = 0; i < n; i++)
		kept[i] = i % 3 == 0 ? make_large(20000) : make_small(100);
}

static __attribute__((noinline)) void
empty(int n)
{
	for (int i = 0; i < n; i += 2) {
		free(kept[i]);
		kept[i] = NULL;
	}
}

int
main(void)
{
	fill(3000);
	empty(1500);
	return kept[2999] == NULL;
}
