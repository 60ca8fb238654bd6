/* SPDX-License-Identifier: GPL-3.0-or-later */
/* told-paths.c -- functions whose names tell the only path that leads to them.
 *
 * w2_1 is only called by w2, and that by paths_run.  So a stack can be judged by
 * the names in it.  tests/tableless.py compiles this without unwind tables, as a
 * program or, with LIBRARY, as a library that a program calls.
 *
 *	told-paths MS [DIRECTORY N]	works so long, in milliseconds of CPU time;
 *					before that, in `warm`, until the
 *					directory has N files of rules, or for
 *					60 seconds
 */
#include <alloca.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

void paths_run(int milliseconds, const char *directory, unsigned n);

#ifndef PROGRAM

static volatile unsigned sink;

/* Works, and in no other function. */
static inline __attribute__((always_inline)) void
spin(unsigned n)
{
	for (n *= 4000; n > 0; n--)
		__asm__ volatile("" : "+r" (n));
}

NOINLINE static unsigned
w1_1_1(unsigned n)
{
	spin(3);
	return n + 1;
}

/* Its frame has no fixed size. */
NOINLINE static unsigned
w1_1(unsigned n)
{
	char *text = alloca(n % 60 + 20);

	memset(text, (int)n, n % 60 + 20);
	spin(1);
	return w1_1_1((unsigned)text[n % 20]) + (unsigned)text[3];
}

/* Uses all registers, rbp as well. */
NOINLINE static unsigned
w1_2(unsigned n)
{
	unsigned a = n, b = n * 3, c = n ^ 7, d = n + 5, e = n * n, f = ~n,
	    g = n >> 3;

	for (unsigned i = 0; i < 300; i++) {
		a += b ^ g;
		b = b * 5 + c;
		c ^= d + i;
		d += e;
		e = e * 3 + f;
		f -= a;
		g += f ^ b;
		__asm__ volatile("" : "+r" (a), "+r" (b), "+r" (c), "+r" (d),
		                 "+r" (e), "+r" (f), "+r" (g));
	}
	return a + b + c + d + e + f + g;
}

NOINLINE static unsigned
w1(unsigned n)
{
	const unsigned sum = w1_1(n) + w1_2(n);

	spin(1);
	return sum;
}

NOINLINE static unsigned
w2_1_1(const unsigned *numbers)
{
	spin(2);
	return numbers[3];
}

/* Its frame is aligned. */
NOINLINE static unsigned
w2_1(unsigned n)
{
	_Alignas(64) unsigned numbers[16];

	for (unsigned i = 0; i < 16; i++)
		numbers[i] = n + i;
	spin(1);
	return w2_1_1(numbers) + numbers[n % 16];
}

static unsigned (*volatile w2_pointer)(unsigned) = w2_1;

NOINLINE static unsigned
w2(unsigned n)
{
	return w2_pointer(n) + 1;
}

NOINLINE static unsigned
w3(unsigned n)
{
	spin(1);
	return n % 7;
}

/* Its own frame is gone when it goes on to the next. */
NOINLINE static unsigned
hop(unsigned n)
{
	sink = n;
	return w3(n + 1);
}

NOINLINE static unsigned
w8_1(unsigned n)
{
	spin(2);
	return n + 1;
}

NOINLINE static unsigned
w8(unsigned n)
{
	const unsigned more = w8_1(n);

	spin(1);
	return more * 3;
}

static unsigned (*volatile hop_pointer)(unsigned) = w8;

NOINLINE static unsigned
hop_anywhere(unsigned n)
{
	sink = n;
	return hop_pointer(n + 1);
}

NOINLINE static void
w4_1_1(unsigned n)
{
	spin(2);
	sink += n;
}

/* The kernel calls it. */
NOINLINE static void
w4_1(int number)
{
	w4_1_1((unsigned)number);
	spin(1);
}

NOINLINE static void
w4(void)
{
	raise(SIGUSR1);
	spin(1);
}

NOINLINE static int
w5_1(const void *left, const void *right)
{
	const unsigned *a = left, *b = right;

	spin(1);
	return (*a > *b) - (*a < *b);
}

/* Code with tables lies between. */
NOINLINE static unsigned
w5(unsigned n)
{
	unsigned numbers[6];

	for (unsigned i = 0; i < 6; i++)
		numbers[i] = (n + i * 7) % 11;
	qsort(numbers, 6, sizeof *numbers, w5_1);
	return numbers[2];
}

NOINLINE static unsigned
w6(unsigned n)
{
	char frame[120];

	snprintf(frame, sizeof frame, "%u", n);
	spin(1);
	return n == 0 ? 1 : w6(n - 1) + (unsigned)frame[0];
}

#ifdef __x86_64__
unsigned w7(unsigned n);
unsigned w7_1_1(unsigned n);

__attribute__((used, noinline)) unsigned
w7_1_1(unsigned n)
{
	spin(2);
	return n + 3;
}

/* By hand: a frame by mov, a copy of the stack pointer, a leaf. */
__asm__(".text\n"
        ".type w7, @function\n"
        "w7:\tpush %r12\n"
        "\tmov %rsp, %r12\n"
        "\tsub $72, %rsp\n"
        "\tmov %rbp, 8(%rsp)\n"
        "\tmov $77, %ebp\n"
        "\tcall w7_1\n"
        "\tmov $20000, %ecx\n"
        "1:\tdec %ecx\n"
        "\tjnz 1b\n"
        "\tmov 8(%rsp), %rbp\n"
        "\tmov %r12, %rsp\n"
        "\tpop %r12\n"
        "\tret\n"
        ".size w7, . - w7\n"
        ".type w7_1, @function\n"
        "w7_1:\tpush %rdi\n"
        "\tcall w7_1_1\n"
        "\tcall w7_1_2\n"
        "\tpop %rdi\n"
        "\tret\n"
        ".size w7_1, . - w7_1\n"
        ".type w7_1_2, @function\n"
        "w7_1_2:\tmov $20000, %ecx\n"
        "1:\tloop 1b\n"
        "\tret\n"
        ".size w7_1_2, . - w7_1_2\n");
#else
static unsigned
w7(unsigned n)
{
	return n;
}
#endif

NOINLINE static void
warm(const char *directory, unsigned n)
{
	char pattern[4096];
	const time_t end = time(NULL) + 60;
	glob_t found;

	snprintf(pattern, sizeof pattern, "%s/code.????????????????",
	         directory);
	while (time(NULL) < end) {
		const unsigned n_found = glob(pattern, 0, NULL, &found) == 0 ?
		    (unsigned)found.gl_pathc : 0;

		globfree(&found);
		if (n_found >= n)
			return;
		spin(100);
	}
}

NOINLINE static void
paths_round(unsigned n)
{
	sink += w1(n) + w2(n) + hop(n) + hop_anywhere(n) + w5(n) + w6(n % 9) +
	    w7(n);
	w4();
	sink++;
}

__attribute__((noinline)) void
paths_run(int milliseconds, const char *directory, unsigned n_files)
{
	clock_t end;

	signal(SIGUSR1, w4_1);
	if (directory != NULL)
		warm(directory, n_files);
	end = clock() + (clock_t)milliseconds * (CLOCKS_PER_SEC / 1000);
	for (unsigned n = 0; clock() < end; n++)
		paths_round(n);
}

#endif

#ifndef LIBRARY
/* In code with tables, which has left its frame. */
NOINLINE static void
begin(int milliseconds, const char *directory, unsigned n)
{
	paths_run(milliseconds, directory, n);
}

int
main(int argc, char **argv)
{
	begin(argc > 1 ? atoi(argv[1]) : 100, argc > 2 ? argv[2] : NULL,
	      argc > 3 ? (unsigned)atoi(argv[3]) : 1);
	puts("done");
	return 0;
}
#endif
