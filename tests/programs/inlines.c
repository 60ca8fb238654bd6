/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlines.c -- inlined calls, a nested function and a call that recurses.
 *
 * test-debug-lines compiles this with optimisation and never runs it.
 */
#include <stdlib.h>

volatile int source = 3;

static inline int
innermost(int n)
{
	return source * n + source;
}

static inline int
inner(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += innermost(i) + innermost(n);
	return sum;
}

static inline int
recurses(int n)
{
	return n < 2 ? inner(n) : recurses(n - 1) + inner(n);
}

#ifndef __clang__
int holds_another(int n);

__attribute__((noinline)) int
holds_another(int n)
{
	__attribute__((noinline)) int nested(int m)
	{
		return inner(m) + n;
	}

	return nested(n) + nested(source);
}
#else
#define holds_another inner
#endif

int
main(int argc, char **argv)
{
	(void)argv;
	if (argc > 5)
		return recurses(argc);
	return inner(argc) + holds_another(argc);
}
