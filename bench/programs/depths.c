/* SPDX-License-Identifier: GPL-3.0-or-later */
/* depths.c DEPTH SECONDS -- allocations below a stack of DEPTH frames.
 *
 * After every ten of them the innermost five frames return and are called
 * again.
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

static __attribute__((noinline)) void
allocate(unsigned n)
{
	void *volatile block;

	for (; n > 0; n--) {
		block = malloc(8);
		free(block);
	}
}

static __attribute__((noinline)) unsigned
change(unsigned depth)
{
	unsigned below = 0;

	if (depth == 0)
		allocate(10);
	else
		below = change(depth - 1);
	return sink++ + below;
}

static __attribute__((noinline)) unsigned
descend(unsigned depth, clock_t end)
{
	unsigned below = 0, i;

	if (depth > 0)
		below = descend(depth - 1, end);
	else
		while (clock() < end)
			for (i = 0; i < 1000; i++)
				below += change(5);
	return sink++ + below;
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	descend((unsigned)atoi(argv[1]), atoi(argv[2]) * CLOCKS_PER_SEC);
	return 0;
}
