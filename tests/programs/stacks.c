/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.c -- runs code on various stacks: `stacks KIND N PAGES`.
 *
 * KIND is own, foreign (made by makecontext), ending (a context a round),
 * growing (MAP_GROWSDOWN), or called or lost (its own stack, through generated
 * code whose next instructions show where it was called, or do not).  Each of N
 * rounds fills PAGES pages of that stack with frames, then uses a little of
 * every resource, among it CALLS system calls.  The output does not depend on
 * sampling.  With STACKS_FAULTS=FILE, it writes how many page faults the use of
 * the rest took, which depends on the kernel.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
static long n_rounds, n_pages, n_faults;
static ucontext_t outside, inside;

static NOINLINE void
call_system(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		sum += (unsigned long)syscall(SYS_getppid) > 0;
}

static long
count_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void
write_faults(void)
{
	const char *name = getenv("STACKS_FAULTS");
	FILE *file = name != NULL ? fopen(name, "w") : NULL;

	if (file == NULL)
		return;
	fprintf(file, "%ld\n", n_faults);
	fclose(file);
}

/* Uses the other resources. */
static NOINLINE void
use_the_rest(void)
{
	char buffer[64] = "";
	volatile double quotient;
	void *block;
	int i;

	madvise(touched, 8 * PAGE, MADV_DONTNEED);
	n_faults -= count_faults();
	for (i = 0; i < 8; i++)
		sum += touched[i * PAGE] += 1;
	n_faults += count_faults();
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

/* Just enough room for the first frames, with free address space below. */
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

/* Each round on a context of its own, which then ends. */
static void
run_on_many(void *stack, size_t size)
{
	long rounds = n_rounds;

	n_rounds = 1;
	for (; rounds > 0; rounds--)
		run_on(stack, size);
}

/*
 * Code that only makes a call, as CPython generates it for each function.  The
 * first uses the frame pointer's register for something else.
 */
typedef void caller(const void *a, const void *b, const void *frame,
    void (*function)(void));

static caller *made[2];

static caller *
make_caller(unsigned char *code, const unsigned char *bytes, size_t size)
{
	memcpy(code, bytes, size);
	return (caller *)(uintptr_t)code;
}

static NOINLINE void
call_further(void)
{
	made[1](NULL, NULL, NULL, run);
	sum++;
}

static NOINLINE void
run_called(bool is_lost)
{
	static const unsigned char pushes[] = {
		0x55, 0x48, 0x89, 0xd5,		/* push %rbp; mov %rdx, %rbp */
		0xff, 0xd1, 0x5d, 0xc3		/* call *%rcx; pop %rbp; ret */
	}, subtracts[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,	/* sub $8, %rsp; call */
		0x48, 0x83, 0xc4, 0x08, 0xc3		/* add $8, %rsp; ret */
	}, does_more[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
		0x31, 0xc0,				/* xor %eax, %eax */
		0x48, 0x83, 0xc4, 0x08, 0xc3
	};
	/* Nothing before it can be read. */
	unsigned char *code = (unsigned char *)map(2, 0) + PAGE;
	const uint64_t no_frame[2] = { 1, 0 };

	made[0] = make_caller(code, pushes, sizeof pushes);
	made[1] = is_lost ?
	    make_caller(code + 16, does_more, sizeof does_more) :
	    make_caller(code + 16, subtracts, sizeof subtracts);
	if (mprotect(code - PAGE, PAGE, PROT_NONE) != 0 ||
	    mprotect(code, PAGE, PROT_READ | PROT_EXEC) != 0)
		exit(2);
	made[0](NULL, NULL, no_frame, call_further);
	sum++;
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
	else if (strcmp(argv[1], "called") == 0)
		run_called(false);
	else if (strcmp(argv[1], "lost") == 0)
		run_called(true);
	else if (strcmp(argv[1], "foreign") == 0)
		run_on(map(STACK_PAGES, 0), size);
	else if (strcmp(argv[1], "ending") == 0)
		run_on_many(map(STACK_PAGES, 0), size);
	else if (strcmp(argv[1], "growing") == 0) {
		void *stack = map_growing(&size);

		run_on(stack, size);
	} else
		return 2;
	printf("%lu\n", sum);
	write_faults();
	return 0;
}
