/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tableless.c -- functions of difficult shapes, to be compiled without unwind
 * tables.  Without a number of rounds it raises SIGTRAP when it begins: see
 * tests/stepped.py.
 */
#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;

NOINLINE static unsigned
leaf(unsigned n)
{
	for (unsigned i = 0; i < 4; i++)
		n = n * 31 + i;
	return n;
}

/* A part that is hardly ever executed, and does not return. */
NOINLINE static unsigned
guarded(unsigned n)
{
	if (n == 12345) {
		printf("%u\n", leaf(n));
		abort();
	}
	return leaf(n) + leaf(n + 1);
}

/* A jump by a table. */
NOINLINE static unsigned
choose(unsigned n)
{
	switch (n % 9) {
	case 0: return guarded(n) + 1;
	case 1: sink = leaf(n); return sink * 3;
	case 2: return guarded(n + 5) ^ 2;
	case 3: sink += n; return leaf(sink) - 7;
	case 4: return guarded(leaf(n)) + 11;
	case 5: sink ^= leaf(3); return sink;
	case 6: return leaf(leaf(n)) + 13;
	case 7: return guarded(n) * guarded(n + 1);
	default: return n;
	}
}

NOINLINE static unsigned
recurse(unsigned n)
{
	char text[64];

	snprintf(text, sizeof text, "%u", n);
	return n == 0 ? (unsigned)strlen(text) :
	    recurse(n - 1) + choose(n) + (unsigned)text[0];
}

/* Ends by a jump to another function. */
NOINLINE static unsigned
tail(unsigned n)
{
	sink = n;
	return recurse(n % 7);
}

/* The stack pointer moves by as much as is asked for. */
NOINLINE static unsigned
variable(unsigned n)
{
	char *text = alloca(n % 50 + 1);

	memset(text, (int)n, n % 50 + 1);
	return leaf((unsigned)(unsigned char)text[n % 50]) + tail(n);
}

/* More arguments than registers. */
NOINLINE static unsigned
many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
    unsigned g, unsigned h, unsigned i)
{
	return leaf(a + b) + leaf(c + d) + e + f + guarded(g) + h + i;
}

static int
compare(const void *left, const void *right)
{
	const unsigned *a = left, *b = right;

	return (leaf(*a) > leaf(*b)) - (leaf(*a) < leaf(*b));
}

static void
handle(int number)
{
	sink += guarded((unsigned)number);
}

int main(int argc, char **argv);	/* has another name in test-tableless */

int
main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
	unsigned numbers[40], sum = 0;

	if (argc == 1)
		raise(SIGTRAP);
	signal(SIGUSR1, handle);
	for (unsigned round = 0; round < rounds; round++) {
		raise(SIGUSR1);
		for (unsigned i = 0; i < 40; i++)
			numbers[i] = i * 7919 % 41 + round;
		qsort(numbers, 40, sizeof *numbers, compare);
		for (unsigned i = 0; i < 12; i++)
			sum += choose(numbers[i]) + variable(i) +
			    many(i, 1, 2, 3, 4, 5, 6, 7, sum);
	}
	printf("%u\n", sum);
	return 0;
}
