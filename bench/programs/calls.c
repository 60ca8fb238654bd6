/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.c [TREES] -- trees of calls, 29 deep: the stack changes all the time.
 */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;

__attribute__((noinline, noclone)) static unsigned
visit(unsigned depth, unsigned seed)
{
	unsigned left, right;

	if (depth == 0)
		return seed * 2654435761u;
	left = visit(depth - 1, seed * 2);
	right = depth > 1 ? visit(depth - 2, seed * 2 + 1) : seed;
	return left ^ right;
}

int
main(int argc, char **argv)
{
	unsigned i, n = argc > 1 ? atoi(argv[1]) : 400;

	for (i = 0; i < n; i++)
		sink += visit(29, i);
	printf("%u\n", sink);
	return 0;
}
