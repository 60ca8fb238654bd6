/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shapes.c -- see shapes.h. */
#include "tests/programs/shapes.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE unsigned
mix(unsigned x)
{
	x ^= x >> 15;
	x *= 0x2c1b3c6du;
	x ^= x >> 12;
	return x;
}

NOINLINE unsigned
shape_recursion(unsigned depth)
{
	unsigned below;

	if (depth == 0)
		return mix(1);
	below = shape_recursion(depth - 1);
	return mix(below + depth) + below;
}

static int
compare(const void *a, const void *b)
{
	unsigned x = mix(*(const unsigned *)a), y = mix(*(const unsigned *)b);

	return x < y ? -1 : x > y;
}

NOINLINE unsigned
shape_callback(unsigned n)
{
	unsigned *numbers = calloc(n, sizeof *numbers), i, sum = 0;

	if (numbers == NULL)
		return 0;
	for (i = 0; i < n; i++)
		numbers[i] = i;
	qsort(numbers, n, sizeof *numbers, compare);
	for (i = 0; i < n; i++)
		sum = mix(sum + numbers[i]);
	free(numbers);
	return sum;
}

static NOINLINE unsigned
use(const char *text, size_t size)
{
	unsigned sum = 0;

	while (size-- > 0)
		sum = mix(sum + (unsigned char)text[size]);
	return sum;
}

NOINLINE unsigned
shape_variable(unsigned n)
{
	unsigned sum = 0, i;

	for (i = 1; i <= n; i++) {
		char *text = alloca(i % 40 + 1);

		memset(text, (int)i, i % 40 + 1);
		sum += use(text, i % 40 + 1);
	}
	return sum;
}

NOINLINE unsigned
shape_realigned(unsigned n)
{
	_Alignas(128) unsigned block[64];
	unsigned i, *more = alloca(n % 7 * sizeof *more + 64);

	memset(block, (int)n, sizeof block);
	memset(more, 1, 64);
	for (i = 0; i < n; i++)
		block[i % 64] += use((const char *)block, 16) + more[i % 8];
	return use((const char *)block, sizeof block);
}

NOINLINE unsigned
shape_library(unsigned n)
{
	char text[64];
	unsigned sum = 0, i;

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%u %g", mix(i), i / 3.0);
		sum += (unsigned)strtoul(text, NULL, 10);
		sum += (unsigned)(strchr(text, ' ') - text);
		sum += (unsigned)atoi(text);
	}
	return sum;
}

static volatile unsigned handled;

static void
work_in_handler(int number)
{
	handled += shape_recursion((unsigned)number) + mix(handled);
}

NOINLINE unsigned
shape_alternate_stack(unsigned n)
{
	static char memory[65536];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory }, saved;
	struct sigaction action = { .sa_handler = work_in_handler,
	    .sa_flags = SA_ONSTACK }, old;

	handled = 0;
	sigaltstack(&stack, &saved);
	sigaction(SIGUSR1, &action, &old);
	while (n-- > 0)
		raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	sigaltstack(&saved, NULL);
	return handled;
}

static jmp_buf back;

static NOINLINE unsigned
deep_jump(unsigned depth)
{
	if (handled == depth + 1)
		return 0;	/* never: the recursion could end */
	if (depth == 0)
		longjmp(back, 1);
	return mix(deep_jump(depth - 1)) + depth;
}

NOINLINE unsigned
shape_jump(unsigned n)
{
	volatile unsigned i, sum = 0;

	for (i = 0; i < n; i++)
		if (setjmp(back) == 0)
			sum += deep_jump(i % 30 + 1);
		else
			sum += mix(i);
	return sum;
}
