/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recursion.c -- recursive functions that know what they take.
 *
 *	recursion ROUNDS
 *
 * walk calls itself; even and odd call each other; plain is not recursive.
 * Each burns CPU time in its own body, by the same loop.  The program reads its
 * CPU clock where the outermost call of a function begins and ends, so nothing
 * is counted twice, and prints the share that each has of the whole:
 *
 *	main -> plain
 *	     -> walk -> walk -> ... 8 levels; each calls leaf
 *	     -> even -> odd -> even -> ... 6 levels
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WALK_LEVELS = 8, TURNS = 6, UNIT = 200000 };

/* CPU time of the outermost calls. */
enum { PLAIN, WALK, WALK_WALK, LEAF, EVEN, ODD, EVEN_ODD_EVEN, N_CLOCKS };

static const char *const names[N_CLOCKS] = {
	"plain", "walk", "walk walk", "leaf", "even", "odd", "even odd even",
};
static double taken[N_CLOCKS];
static volatile unsigned sink;

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* In the caller's own body. */
#define BURN(units) \
	do { \
		for (unsigned i = 0; i < (units) * UNIT; i++) \
			sink = sink * 3 + i; \
	} while (0)

__attribute__((noinline)) static void
plain(void)
{
	BURN(12);
}

__attribute__((noinline)) static void
leaf(void)
{
	BURN(1);
}

__attribute__((noinline)) static void
walk(int level)
{
	double begin;

	BURN(1);
	begin = now();
	leaf();
	taken[LEAF] += now() - begin;
	if (level == WALK_LEVELS)
		return;
	begin = now();
	walk(level + 1);
	if (level == 1)
		taken[WALK_WALK] += now() - begin;
	sink++;
}

static void odd(int turn);

__attribute__((noinline)) static void
even(int turn)
{
	double begin;

	BURN(1);
	if (turn == TURNS)
		return;
	begin = now();
	odd(turn + 1);
	if (turn == 1)
		taken[ODD] += now() - begin;
	sink++;
}

__attribute__((noinline)) static void
odd(int turn)
{
	double begin;

	BURN(2);
	if (turn == TURNS)
		return;
	begin = now();
	even(turn + 1);
	if (turn == 2)
		taken[EVEN_ODD_EVEN] += now() - begin;
	sink++;
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 100;
	const double start = now();
	double begin, all;

	for (int i = 0; i < rounds; i++) {
		begin = now();
		plain();
		taken[PLAIN] += now() - begin;
		begin = now();
		walk(1);
		taken[WALK] += now() - begin;
		begin = now();
		even(1);
		taken[EVEN] += now() - begin;
	}
	all = now() - start;
	for (int i = 0; i < N_CLOCKS; i++)
		printf("%.4f\t%s\n", taken[i] / all, names[i]);
	fprintf(stderr, "%.2f s of CPU time\n", all);
	return 0;
}
