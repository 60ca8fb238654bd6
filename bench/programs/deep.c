/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deep.c [DEPTH [TIMES]] -- works DEPTH calls deep, in a leaf that is called
 * TIMES times.
 */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;

__attribute__((noinline, noclone)) static void
work(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		sink = sink * 31 + i;
}

__attribute__((noinline, noclone)) static void
descend(unsigned depth, unsigned times)
{
	unsigned i;

	if (depth > 0)
		descend(depth - 1, times);
	else
		for (i = 0; i < times; i++)
			work(20000);
	sink++;
}

int
main(int argc, char **argv)
{
	descend(argc > 1 ? atoi(argv[1]) : 10000,
	        argc > 2 ? atoi(argv[2]) : 30000);
	printf("%u\n", sink);
	return 0;
}
