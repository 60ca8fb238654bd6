/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.c -- a program whose code runs on various stacks: `stacks KIND N PAGES`.
 *
 * KIND is own, foreign (made by makecontext) or growing (MAP_GROWSDOWN).  Each
 * round fills PAGES pages of that stack with frames, then uses a bit of what
 * there is to be sampled: N rounds, each of CALLS system calls beside what else
 * it does.  The output is the same however it is sampled.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define PAGE 4096
#define CALLS 20
#define STACK_PAGES 512

static volatile unsigned long sum;
static volatile double zero;
static unsigned char *touched;
static int null, zeros;
static long n_rounds, n_pages;
static ucontext_t outside, inside;

static NOINLINE void
call_system(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		sum += (unsigned long)syscall(SYS_getppid) > 0;
}

/* What else there is; system calls only with `more`. */
static NOINLINE void
use_the_rest(void)
{
	char buffer[64] = "";
	volatile double quotient;
	void *block;
	int i;

	madvise(touched, 8 * PAGE, MADV_DONTNEED);
	for (i = 0; i < 8; i++)
		sum += touched[i * PAGE] += 1;
	for (i = 0; i < 4; i++) {
		block = malloc(100);
		sum += block != NULL;
		free(block);
	}
	sum += (unsigned long)read(zeros, buffer, sizeof buffer);
	sum += (unsigned long)write(null, buffer, sizeof buffer);
	quotient = 1 / zero;
	(void)quotient;
	sched_yield();
}

static NOINLINE void
recurse(long depth, void (*work)(void))
{
	volatile char frame[PAGE - 64];

	frame[0] = 1;
	if (depth == 0)
		work();
	else
		recurse(depth - 1, work);
	sum += (unsigned long)frame[0];
}

static NOINLINE void
run(void)
{
	long i;

	for (i = 0; i < n_rounds; i++) {
		recurse(n_pages, call_system);
		if (getenv("STACKS_REST") != NULL)
			recurse(n_pages, use_the_rest);
	}
}

static void *
map(size_t pages, int flags)
{
	void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED)
		exit(2);
	return memory;
}

/* Just room for the first frames, where nothing else is to be in its way. */
static void *
map_growing(size_t *size)
{
	void *const there = (void *)(UINTPTR_MAX >> 23);
	void *top = mmap(there, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);

	if (top == MAP_FAILED)
		exit(2);
	*size = PAGE;
	return top;
}

static void
run_on(void *stack, size_t size)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = size;
	inside.uc_link = &outside;
	makecontext(&inside, run, 0);
	swapcontext(&outside, &inside);
}

int
main(int argc, char **argv)
{
	size_t size = STACK_PAGES * PAGE;

	if (argc != 4)
		return 2;
	n_rounds = atol(argv[2]);
	n_pages = atol(argv[3]);
	null = open("/dev/null", O_WRONLY);
	zeros = open("/dev/zero", O_RDONLY);
	touched = map(8, 0);
	if (strcmp(argv[1], "own") == 0)
		run();
	else if (strcmp(argv[1], "foreign") == 0)
		run_on(map(STACK_PAGES, 0), size);
	else if (strcmp(argv[1], "growing") == 0) {
		void *stack = map_growing(&size);

		run_on(stack, size);
	} else
		return 2;
	printf("%lu\n", sum);
	return 0;
}
