/* SPDX-License-Identifier: MIT */
/* heap.c -- allocates and frees, and says itself what it has in use.
 *
 *	heap MODE INTERVAL SEED
 *
 * Each line of standard output is
 *
 *	FUNCTION BYTES BLOCKS VARIANCE
 *
 * what that function has in use, and the variance of an estimate of these bytes
 * from blocks of n bytes that are sampled with a probability p of
 * 1 - exp(-n / INTERVAL) and weigh n / p, rounded at random to a multiple of
 * INTERVAL.  Lines "at BEGIN END MALLINFO" begin a point: that was so from BEGIN
 * to END (ns since 1970), and the C library says it has MALLINFO bytes in use.
 */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_BLOCKS 20000
#define N_POINTS 20
#define POINT_NS 140000000

enum site { SMALL, MEDIUM, LARGE, GROWN, ALIGNED, N_SITES };

static const char *const names[N_SITES] = { "keep_small", "keep_medium",
	"keep_large", "keep_grown", "keep_aligned" };

struct block {
	void *address;
	size_t size;
	enum site site;
};

static struct block blocks[N_BLOCKS];
static struct use {
	double bytes, variance;
	long blocks;
} uses[N_SITES];
static double interval;
static uint64_t state;

static uint64_t
draw(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static double
variance(size_t size)
{
	const double n = (double)size, p = -expm1(-n / interval);
	const double w = n / p / interval, fraction = w - floor(w);

	return n * n * (1 - p) / p +
	    p * fraction * (1 - fraction) * interval * interval;
}

static void
count(const struct block *block, int sign)
{
	uses[block->site].bytes += sign * (double)block->size;
	uses[block->site].variance += sign * variance(block->size);
	uses[block->site].blocks += sign;
}

#define KEEP(name, expression)						\
static __attribute__((noipa)) void *					\
name(size_t size, void *old)						\
{									\
	void *block = (expression);					\
									\
	(void)old;							\
	if (block == NULL)						\
		abort();						\
	memset(block, 1, size);						\
	return block;							\
}
KEEP(keep_small, malloc(size))
KEEP(keep_medium, calloc(size / 8 + 1, 8))
KEEP(keep_large, malloc(size))
KEEP(keep_grown, realloc(old, size))
KEEP(keep_aligned, aligned_alloc(4096, size))

static __attribute__((noipa)) void
churn(void)
{
	void *block = malloc(1 + draw(20000));

	memset(block, 1, 1);
	free(block);
}

static void
drop(struct block *block)
{
	if (block->address == NULL)
		return;
	count(block, -1);
	free(block->address);
	block->address = NULL;
}

static void
fill(struct block *block)
{
	const enum site site = draw(N_SITES);
	size_t size = 0;

	if (site != GROWN || block->site != GROWN)
		drop(block);
	else if (block->address != NULL)
		count(block, -1);
	block->site = site;
	switch (site) {
	case SMALL:
		size = 1 + draw(400);
		block->address = keep_small(size, NULL);
		break;
	case MEDIUM:
		size = 1 + draw(20000);
		block->address = keep_medium(size, NULL);
		size = (size / 8 + 1) * 8;
		break;
	case LARGE:
		if (draw(10) > 0)
			return;
		size = 100000 + draw(100000);
		block->address = keep_large(size, NULL);
		break;
	case GROWN:
		size = 1 + draw(10000);
		block->address = keep_grown(size, block->address);
		break;
	default:
		size = 4096 * (1 + draw(4));
		block->address = keep_aligned(size, NULL);
		break;
	}
	block->size = size;
	count(block, 1);
}

static void
report(void)
{
	for (int i = 0; i < N_SITES; i++)
		printf("%s %.0f %ld %.0f\n", names[i], uses[i].bytes,
		    uses[i].blocks, uses[i].variance);
}

static uint64_t
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static size_t
in_use(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* More and more, then less, with a pause at each point. */
static void
points(void)
{
	for (int point = 0; point < N_POINTS; point++) {
		const int n = 100 + (int)draw(1000);
		const bool grows = point < N_POINTS / 2 || draw(2) == 0;
		uint64_t begin;

		for (int i = 0; i < n; i++) {
			struct block *block = &blocks[draw(N_BLOCKS)];

			churn();
			if (grows)
				fill(block);
			else
				for (int k = 0; k < 20; k++)
					drop(&blocks[draw(N_BLOCKS)]);
		}
		begin = now();
		nanosleep(&(struct timespec){ .tv_nsec = POINT_NS }, NULL);
		printf("at %llu %llu %zu\n", (unsigned long long)begin,
		    (unsigned long long)now(), in_use());
		report();
	}
}

/* Arrays that grow and shrink by a few bytes at a time. */
static void
storm(void)
{
	for (int i = 0; i < 300; i++) {
		struct block *block = &blocks[i];
		const size_t most = 1 + draw(5000);

		block->site = GROWN;
		for (size_t size = 1; size < most; size += 1 + draw(16)) {
			block->address = keep_grown(size, block->address);
			block->size = size;
		}
		if (i % 3 == 0)
			for (size_t size = block->size; size > 8;
			    size -= 1 + draw(7)) {
				block->address = keep_grown(size,
				    block->address);
				block->size = size;
			}
		if (block->address != NULL)
			count(block, 1);
		if (i % 7 == 0)
			drop(block);
	}
	report();
}

/*
 * As many blocks as the collector's filter has bytes, again and again: so NULL,
 * which has one of these bytes, is freed while a sampled block has the same.
 */
static void
many(void)
{
	enum { ROUNDS = 8, MANY = 60000 };
	static void *all[MANY], *volatile nothing;	/* NULL */

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < MANY; i++) {
			all[i] = keep_small(1000, NULL);
			free(nothing);
		}
		for (int i = 0; i < MANY; i++) {
			free(all[i]);
			free(nothing);
		}
	}
	report();
}

/*
 * More small blocks than the collector can follow, unless it samples fewer the
 * more it has: every eighth or a larger share.
 */
static void
crowded(void)
{
	enum { CROWD = 80000, SIZE = 100 };

	for (int i = 0; i < CROWD; i++)
		keep_small(SIZE, NULL);
	interval *= 8;
	printf("keep_small %d %d %.0f\n", CROWD * SIZE, CROWD,
	    CROWD * variance(SIZE));
}

/* More than it can follow, each so large that it is always sampled. */
static void
full(void)
{
	enum { CROWD = 60000, SIZE = 2000 };

	for (int i = 0; i < CROWD; i++)
		keep_small(SIZE, NULL);
	printf("keep_small %d %d 0\n", CROWD * SIZE, CROWD);
}

/* ---- threads: blocks pass from those that allocate to those that free ---- */

#define QUEUE 1024

static void *_Atomic queue[QUEUE];

static __attribute__((noipa)) void *
produce(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, 1);
	return block;
}

static void *
producer(void *seed)
{
	uint64_t x = (uint64_t)(uintptr_t)seed * 7919 + 1;

	for (int i = 0; i < 200000; i++) {
		void *old;

		x = x * 6364136223846793005u + 1442695040888963407u;
		old = __atomic_exchange_n((void **)&queue[(x >> 33) % QUEUE],
		    produce(1 + (x >> 40) % 3000), __ATOMIC_ACQ_REL);
		free(old);	/* another thread's, mostly */
	}
	return NULL;
}

static void
threads(void)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, producer,
		    (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	for (int i = 0; i < QUEUE; i++)
		free((void *)queue[i]);
	puts("produce 0 0 0");
}

static void *
forever(void *unused)
{
	uint64_t x = (uint64_t)(uintptr_t)&unused | 1;
	void *mine[64] = { NULL };

	(void)unused;
	for (;;) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		free(mine[x >> 58]);
		mine[x >> 58] = produce(1 + (x >> 40) % 30000);
	}
	return NULL;
}

static void
leave(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, forever, NULL);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	exit(0);
}

/* ---- fork ---- */

static __attribute__((noipa)) void *
child_keeps(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, 1);
	return block;
}

static void
forks(void)
{
	double bytes = 0, sum = 0;
	int status = 0;

	for (int i = 0; i < 2000; i++)
		fill(&blocks[i]);
	fflush(stdout);
	if (fork() == 0) {
		for (int i = 0; i < 2000; i++)
			free(blocks[i].address);
		for (int i = 0; i < 2000; i++) {
			const size_t size = 1 + draw(10000);

			child_keeps(size);
			bytes += (double)size;
			sum += variance(size);
		}
		printf("child_keeps %.0f 2000 %.0f\n", bytes, sum);
		exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		abort();
	report();
}

/* ---- mappings ---- */

static __attribute__((noipa)) char *
map(size_t size)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at[0] = 1;
	return at;
}

static __attribute__((noipa)) char *
remap(char *old, size_t old_size, size_t size)
{
	char *at = mremap(old, old_size, size, MREMAP_MAYMOVE);

	at[0] = 1;
	return at;
}

#define MIB ((size_t)1 << 20)

static char *
reserve(size_t size)
{
	return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char *
move(char *from, size_t size, char *to)
{
	return mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

/* A file's mapping is no memory of the program, whatever its size. */
static __attribute__((noipa)) void
grow_file(void)
{
	const int fd = memfd_create("heap", 0);
	char *at;

	if (fd < 0 || ftruncate(fd, (off_t)(128 * MIB)) != 0)
		abort();
	at = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	at = mremap(at, 64 * MIB, 128 * MIB, MREMAP_MAYMOVE);
	if (at == MAP_FAILED)
		abort();
	puts("grow_file 0 0 0");
}

/*
 * Every other part of a mapping is unmapped, where parts are much smaller than
 * the interval.  The share of each is rounded at random, to a whole interval.
 */
static __attribute__((noipa)) void
map_small(void)
{
	const size_t part = 4 * 4096, size = 4 * MIB;
	double left = 0;

	for (int i = 0; i < 16; i++) {
		char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t k = 0; k < size; k += 2 * part)
			munmap(at + k, part);
		left += (double)(size / 2);
	}
	printf("map_small %.0f 16 %.0f\n", left, 16 * (1 + (double)(size /
	    part) / 4) * interval * interval);
}

enum { N_KINDS = 13 };

static void
mappings(void)
{
	double mapped = 0, remapped = 0;

	for (int i = 0; i < 8 * N_KINDS; i++) {
		char *at = map(64 * MIB);

		switch (i % N_KINDS) {
		case 0:		/* as it is */
			mapped += 64 * MIB;
			break;
		case 1:		/* all of it */
			munmap(at, 64 * MIB);
			break;
		case 2:		/* both ends */
			munmap(at, 8 * MIB);
			munmap(at + 48 * MIB, 16 * MIB);
			mapped += 40 * MIB;
			break;
		case 3:		/* something else lies over it */
			mmap(at, 32 * MIB, PROT_NONE, MAP_PRIVATE | MAP_FIXED |
			    MAP_ANONYMOUS, -1, 0);
			mapped += 32 * MIB;
			break;
		case 4:		/* its end, by mremap */
			mremap(at, 64 * MIB, 32 * MIB, 0);
			mapped += 32 * MIB;
			break;
		case 5:		/* moved */
			move(at, 64 * MIB, reserve(64 * MIB));
			mapped += 64 * MIB;
			break;
		case 6:		/* all of it, since pages are unmapped */
			munmap(at, 64 * MIB - 100);
			break;
		case 7:		/* grown */
			remap(at, 64 * MIB, 128 * MIB);
			remapped += 128 * MIB;
			break;
		case 8:		/* nothing: that is no page */
			munmap(at + 100, 64 * MIB);
			mapped += 64 * MIB;
			break;
		case 9:		/* nothing: that is no file */
			mmap(at, 64 * MIB, PROT_READ, MAP_PRIVATE | MAP_FIXED,
			    -1, 0);
			mapped += 64 * MIB;
			break;
		case 10:	/* a part that was moved, and where it was */
			munmap(move(at + 16 * MIB, 16 * MIB, reserve(16 * MIB)),
			    16 * MIB);
			munmap(at + 16 * MIB, 16 * MIB);
			mapped += 48 * MIB;
			break;
		case 11:	/* another lies over it */
			move(map(64 * MIB), 64 * MIB, at);
			mapped += 64 * MIB;
			break;
		default:	/* moved, which fails for lack of space */
			mremap(at, 64 * MIB, SIZE_MAX / 2, MREMAP_MAYMOVE);
			mapped += 64 * MIB;
			break;
		}
	}
	printf("map %.0f %d %.0f\n", mapped, 10 * 8,
	    13 * 8 * interval * interval);
	printf("remap %.0f 8 %.0f\n", remapped, 8 * interval * interval);
	grow_file();
	map_small();
}

/*
 * Mappings of whole units, each of which is sampled and stands for its size, in
 * any order.  `scrambled` are the units in use of some that lie anywhere,
 * `arena` those of an arena that has no holes, where others could map.
 */
enum { UNIT = 65536, N_REGIONS = 3000, UNITS = 32, ARENA = 2048 };

static double
scramble_regions(void)
{
	static struct {
		char *at;
		uint32_t units;
	} regions[N_REGIONS];
	double units = 0;

	for (int i = 0; i < 20 * N_REGIONS; i++) {
		const int k = (int)draw(N_REGIONS), from = (int)draw(UNITS);
		int to = from;

		if (regions[k].units == 0) {
			regions[k].at = map((size_t)UNITS * UNIT);
			regions[k].units = UINT32_MAX;
		}
		while (to < UNITS && (regions[k].units >> to & 1) != 0 &&
		    draw(8) > 0)
			regions[k].units &= ~(UINT32_C(1) << to++);
		if (to > from)
			munmap(regions[k].at + (size_t)from * UNIT,
			    (size_t)(to - from) * UNIT);
	}
	for (int k = 0; k < N_REGIONS; k++)
		units += __builtin_popcount(regions[k].units);
	return units;
}

static __attribute__((noipa)) char *
map_over(char *at, size_t size, int protection)
{
	char *const result = mmap(at, size, protection, MAP_PRIVATE |
	    MAP_FIXED | MAP_ANONYMOUS, -1, 0);

	__asm__ volatile("" ::: "memory");	/* no tail call */
	return result;
}

static double
scramble_arena(void)
{
	static bool is_used[ARENA];
	char *const arena = reserve((size_t)ARENA * UNIT);
	double units = 0;

	for (int i = 0; i < 20000; i++) {
		const size_t n = 1 + draw(20), from = draw(ARENA - n);
		const size_t to = draw(ARENA - n);
		char *const at = arena + from * UNIT;
		char *const other = arena + to * UNIT;

		switch (draw(3)) {
		case 0:
			map_over(at, n * UNIT, PROT_READ | PROT_WRITE);
			memset(is_used + from, true, n);
			break;
		case 1:
			map_over(at, n * UNIT, PROT_NONE);
			memset(is_used + from, false, n);
			break;
		default:
			if (from < to + n && to < from + n)
				continue;
			if (mremap(at, n * UNIT, n * UNIT, MREMAP_MAYMOVE |
			    MREMAP_FIXED | MREMAP_DONTUNMAP, other) != other)
				continue;
			memcpy(is_used + to, is_used + from, n);
			memset(is_used + from, false, n);
			map_over(at, n * UNIT, PROT_NONE);
			break;
		}
	}
	for (int i = 0; i < ARENA; i++)
		units += is_used[i];
	return units;
}

static void
scramble(void)
{
	printf("map %.0f 0 0\n", scramble_regions() * UNIT);
	printf("map_over %.0f 0 0\n", scramble_arena() * UNIT);
}

/* A child of vfork maps memory of its parent's; who has asked for it? */
static void
borrowed(void)
{
	if (vfork() == 0) {
		for (int i = 0; i < 10; i++)
			map(MIB);
		_exit(0);
	}
	puts("map 0 0 0");
}

/*
 * Children of vfork share the memory.  They move many mappings to and fro, and
 * are killed while they do.  (They would leave the C library's allocator
 * locked.)
 */

enum { N_CHILDREN = 20, N_SHARED = 320 };

static pid_t _Atomic victim;

static void *
killer(void *unused)
{
	for (;;) {
		const pid_t pid = victim;

		sched_yield();
		if (pid < 0)
			return unused;
		if (pid > 0) {
			nanosleep(&(struct timespec){ .tv_nsec = (long)
			    draw(500000) }, NULL);
			victim = 0;	/* the next comes after its end */
			kill(pid, SIGKILL);
		}
	}
}

static void
killed(void)
{
	const size_t size = N_SHARED * MIB;
	pthread_t thread;
	pid_t pid;

	pthread_create(&thread, NULL, killer, NULL);
	for (int i = 0; i < N_CHILDREN; i++) {
		char *places[2] = { reserve(size), reserve(size) };

		for (int k = 0; k < N_SHARED; k++)
			map_over(places[0] + k * MIB, MIB, PROT_READ |
			    PROT_WRITE);
		pid = vfork();
		if (pid == 0) {
			victim = getpid();
			for (int k = 0;; k = 1 - k)
				mremap(places[k], size, size, MREMAP_MAYMOVE |
				    MREMAP_FIXED | MREMAP_DONTUNMAP,
				    places[1 - k]);
		}
		waitpid(pid, NULL, 0);
		munmap(places[0], size);
		munmap(places[1], size);
	}
	victim = -1;
	pthread_join(thread, NULL);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	interval = argc > 2 ? atof(argv[2]) : 524288;
	state = (argc > 3 ? strtoull(argv[3], NULL, 10) : 1) *
	    0x9e3779b97f4a7c15u | 1;
	if (strcmp(mode, "points") == 0)
		points();
	else if (strcmp(mode, "storm") == 0)
		storm();
	else if (strcmp(mode, "many") == 0)
		many();
	else if (strcmp(mode, "threads") == 0)
		threads();
	else if (strcmp(mode, "leave") == 0)
		leave();
	else if (strcmp(mode, "forks") == 0)
		forks();
	else if (strcmp(mode, "mappings") == 0)
		mappings();
	else if (strcmp(mode, "scramble") == 0)
		scramble();
	else if (strcmp(mode, "crowded") == 0)
		crowded();
	else if (strcmp(mode, "full") == 0)
		full();
	else if (strcmp(mode, "borrowed") == 0)
		borrowed();
	else if (strcmp(mode, "killed") == 0)
		killed();
	return 0;
}
