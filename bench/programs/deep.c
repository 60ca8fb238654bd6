/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deep.c -- works 10,000 calls deep, in a leaf that is called anew. */
#include <stdio.h>

static volatile unsigned sink;

__attribute__((noinline, noclone)) static void
work(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		sink = sink * 31 + i;
}

__attribute__((noinline, noclone)) static void
descend(unsigned depth)
{
	unsigned i;

	if (depth > 0)
		descend(depth - 1);
	else
		for (i = 0; i < 30000; i++)
			work(20000);
	sink++;
}

int
main(void)
{
	descend(10000);
	printf("%u\n", sink);
	return 0;
}
