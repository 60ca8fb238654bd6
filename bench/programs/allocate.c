/* SPDX-License-Identifier: GPL-3.0-or-later */
/* allocate.c [TIMES] -- two threads that allocate and free blocks of many
 * sizes, TIMES times each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 4096

static unsigned times = 15000000;

static void *
allocate(void *argument)
{
	static _Thread_local char *blocks[BLOCKS];
	unsigned *seed = argument;
	unsigned i, at, size;

	for (i = 0; i < times; i++) {
		*seed = *seed * 1103515245 + 12345;
		at = *seed >> 16 & (BLOCKS - 1);
		size = 16 + (*seed >> 8 & 2047);
		free(blocks[at]);
		blocks[at] = malloc(size);
		if (blocks[at] == NULL)
			return NULL;
		memset(blocks[at], (int)i, 16);
	}
	return argument;
}

int
main(int argc, char **argv)
{
	unsigned seeds[2] = { 1, 2 };
	pthread_t threads[2];
	int i;

	if (argc > 1)
		times = atoi(argv[1]);
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, allocate, &seeds[i]) != 0)
			return 1;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%u %u\n", seeds[0], seeds[1]);
	return 0;
}
