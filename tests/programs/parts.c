/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.c -- measures its own parts: `parts MILLISECONDS [PART...]`.
 *
 * Each part uses CPU time in a different way, in a function of its own, some
 * hundred microseconds at a time, and `long` tens of milliseconds.  Order and
 * lengths are random, so that they keep step with nothing.  The thread's CPU
 * clock is read before and after each, and the total of each part is printed at
 * the end, with what the kernel's ticks counted for it in user mode and in the
 * kernel; at last what the main thread has used, and before main, which may
 * include programs that executed this one.  A profile must show the same totals.
 * Whatever a profiler costs within a part is in both.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/futex.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noinline, noclone))
#define PAGE 4096
#define LONG_READ (128 << 20)
#define PART_NS 200000		/* what a part uses at a time, roughly */
#define MOST_TIMES 64		/* what is written below, at most */

static NOINLINE void
part_user(long n)
{
	spin_round(n);
	sink++;
}

static int zeros, null;

static NOINLINE void
part_read(long n)
{
	static char buffer[1 << 15];

	while (n-- > 0 && read(zeros, buffer, sizeof buffer) > 0)
		sink++;
}

/* Long stays in the kernel, in memory that is there. */
static long n_long_reads;
static int64_t longest_read_ns;

static NOINLINE void
part_long(long n)
{
	static char *buffer;
	int64_t begin, ns;

	if (buffer == NULL) {
		buffer = malloc(LONG_READ);
		if (buffer == NULL)
			abort();
		memset(buffer, 1, LONG_READ);
	}
	for (begin = thread_ns(); n-- > 0 &&
	    read(zeros, buffer, LONG_READ) > 0; begin += ns) {
		n_long_reads++;
		ns = thread_ns() - begin;
		if (ns > longest_read_ns)
			longest_read_ns = ns;
	}
}

static NOINLINE void
part_faults(long n)
{
	size_t size = (size_t)n * PAGE, i;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, size, MADV_NOHUGEPAGE);
	for (i = 0; i < size; i += PAGE)
		((volatile char *)memory)[i] = 1;
	munmap(memory, size);
	sink++;
}

static NOINLINE void
part_calls(long n)
{
	for (; n > 0; n--) {
		syscall(SYS_getppid);
		sink += (unsigned)write(null, "x", 1);
	}
}

static NOINLINE void
part_naps(long n)
{
	const struct timespec shortest = { .tv_nsec = 1 };

	for (; n > 0; n--)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
	sink++;
}

/* Two threads wake each other; whose turn it is. */
static _Atomic uint32_t turn;
static int64_t partner_ns;

static void
wait_for(uint32_t wanted)
{
	uint32_t seen;

	while ((seen = atomic_load(&turn)) != wanted && seen != 2)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL);
}

static void
hand_over(uint32_t to)
{
	atomic_store(&turn, to);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1);
}

static NOINLINE void *
part_partner(void *argument)
{
	for (;;) {
		wait_for(1);
		if (atomic_load(&turn) == 2)
			break;
		hand_over(0);
	}
	partner_ns = thread_ns();
	return argument;
}

static NOINLINE void
part_futex(long n)
{
	for (; n > 0; n--) {
		hand_over(1);
		wait_for(0);
	}
	sink++;
}

static struct part {
	const char *name;
	void (*run)(long n);
	long n;			/* for about PART_NS */
	int64_t ns;		/* used so far */
	struct ticks {
		int64_t user_ns, all_ns;
	} ticks;		/* by the kernel's ticks */
	int is_wanted;
} parts[] = {
	{ .name = "user", .run = part_user, .n = 2000 },
	{ .name = "read", .run = part_read, .n = 8 },
	{ .name = "long", .run = part_long, .n = 1 },
	{ .name = "faults", .run = part_faults, .n = 16 },
	{ .name = "calls", .run = part_calls, .n = 50 },
	{ .name = "naps", .run = part_naps, .n = 4 },
	{ .name = "futex", .run = part_futex, .n = 4 },
};

#define N_PARTS (sizeof parts / sizeof *parts)

static uint32_t
draw(uint32_t below)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

/* A clock of this thread, by its number in linux/posix-timers.h. */
static int64_t
tick_clock_ns(unsigned number)
{
	struct timespec now;

	if (clock_gettime((clockid_t)(~0u << 3 | 4 | number), &now) != 0)
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct ticks
read_ticks(void)
{
	return (struct ticks){ .user_ns = tick_clock_ns(1),
	    .all_ns = tick_clock_ns(0) };
}

static int64_t
run_part(struct part *part, long n)
{
	const struct ticks before = read_ticks();
	int64_t start = thread_ns(), ns;
	struct ticks after;

	part->run(n);
	ns = thread_ns() - start;
	after = read_ticks();
	part->ns += ns;
	part->ticks.user_ns += after.user_ns - before.user_ns;
	part->ticks.all_ns += after.all_ns - before.all_ns;
	return ns;
}

/*
 * The fastest of several attempts, which nothing has disturbed.  Where the CPU
 * clock goes in steps, it may have stood still meanwhile.
 */
static void
calibrate(struct part *part)
{
	const long most = MOST_TIMES * part->n;
	int64_t best = INT64_MAX, ns;
	int i;

	for (i = 0; i < 8; i++) {
		ns = run_part(part, part->n);
		if (ns < best)
			best = ns;
	}
	if (best > part->n * PART_NS / most)
		part->n = 1 + (long)((double)part->n * PART_NS / (double)best);
	else
		part->n = most;
}

static void
run_parts(int64_t until)
{
	struct part *part;

	while (thread_ns() < until) {
		part = &parts[draw(N_PARTS)];
		if (part->is_wanted)
			run_part(part, 1 + (long)draw(2 * (uint32_t)part->n));
	}
}

int
main(int argc, char **argv)
{
	const int64_t start = thread_ns();
	const char *programs = argc > 2 ? "" : "all";
	pthread_t partner;
	size_t i;
	int k;

	if (argc < 2) {
		fprintf(stderr, "usage: parts MILLISECONDS [PART...]\n");
		return 2;
	}
	zeros = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	for (i = 0; i < N_PARTS; i++) {
		parts[i].is_wanted = *programs != '\0';
		for (k = 2; k < argc; k++)
			parts[i].is_wanted |=
			    strcmp(argv[k], parts[i].name) == 0;
	}
	if (pthread_create(&partner, NULL, part_partner, NULL) != 0)
		return 1;
	for (i = 0; i < N_PARTS; i++)
		if (parts[i].is_wanted)
			calibrate(&parts[i]);
	run_parts(start + atol(argv[1]) * INT64_C(1000000));
	hand_over(2);
	pthread_join(partner, NULL);
	for (i = 0; i < N_PARTS; i++)
		printf("part_%s %lld\n", parts[i].name,
		    (long long)parts[i].ns);
	for (i = 0; i < N_PARTS; i++)
		printf("ticks part_%s %lld %lld\n", parts[i].name,
		    (long long)parts[i].ticks.user_ns,
		    (long long)(parts[i].ticks.all_ns -
		    parts[i].ticks.user_ns));
	if (n_long_reads > 0)
		printf("long_reads %ld %lld\n", n_long_reads,
		    (long long)longest_read_ns);
	printf("part_partner %lld\nmain %lld %lld\n", (long long)partner_ns,
	    (long long)thread_ns(), (long long)start);
	return 0;
}
