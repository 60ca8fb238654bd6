/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.c -- a program that samples itself and says what it is doing.
 *
 *	cc -O2 phases.c $(pkg-config --cflags --libs libcpprof) -o phases
 *	./phases
 *	cpprof -e tree phases.cpprof
 */
#include <cpprof.h>

#include <stdio.h>
#include <stdlib.h>

#define N 3000000

static int
compare(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void
sort(unsigned *numbers)
{
	qsort(numbers, N, sizeof *numbers, compare);
}

static void
generate(unsigned *numbers)
{
	unsigned x = 1;

	for (size_t i = 0; i < N; i++)
		numbers[i] = x = x * 1664525 + 1013904223;
}

int
main(void)
{
	unsigned *numbers = malloc(N * sizeof *numbers);

	if (numbers == NULL)
		return 1;
	generate(numbers);		/* not sampled */
	if (cpprof_start(NULL) != 0)
		perror("not sampled");
	cpprof_phase("random");
	sort(numbers);
	cpprof_phase("sorted");		/* the same function, other data */
	sort(numbers);
	cpprof_stop();
	printf("from %u to %u\n", numbers[0], numbers[N - 1]);
	free(numbers);
	return 0;
}
