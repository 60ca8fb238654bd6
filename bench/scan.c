/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scan.c -- how fast this machine can read every byte of a file.
 *
 * scan lines FILE		memchr for every end of line
 * scan hash FILE		split lines at each ';' and hash the parts: the
 *			least that interning names takes
 *
 * Maps the file and prints seconds.  The first run may read the disk.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t
scan_lines(const char *text, size_t size)
{
	const char *end = text + size;
	uint64_t n = 0;

	while ((text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
		n++;
		text++;
	}
	return n;
}

static uint64_t
hash_frame(const char *text, size_t length)
{
	uint64_t hash = 0, word = 0;

	for (; length >= 8; text += 8, length -= 8) {
		memcpy(&word, text, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
	}
	word = 0;
	memcpy(&word, text, length);
	return (hash ^ word) * 0x9e3779b97f4a7c15;
}

static uint64_t
hash_line(const char *line, const char *end)
{
	uint64_t sum = 0;

	while (line < end) {
		const char *stop = memchr(line, ';', (size_t)(end - line));

		if (stop == NULL)
			stop = end;
		sum += hash_frame(line, (size_t)(stop - line)) >> 60;
		line = stop + 1;
	}
	return sum;
}

static uint64_t
scan_hash(const char *text, size_t size)
{
	const char *end = text + size;
	uint64_t sum = 0;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		if (stop == NULL)
			stop = end;
		sum += hash_line(text, stop);
		text = stop + 1;
	}
	return sum;
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	struct stat status;
	uint64_t result;
	double start;
	char *text;
	int fd;

	if (argc != 3 || (strcmp(argv[1], "lines") != 0 &&
	                  strcmp(argv[1], "hash") != 0))
		errx(2, "usage: scan lines|hash FILE");
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0)
		err(1, "%s", argv[2]);
	start = now();
	text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd,
	            0);
	if (text == MAP_FAILED)
		err(1, "%s", argv[2]);
	madvise(text, (size_t)status.st_size, MADV_SEQUENTIAL);
	result = (strcmp(argv[1], "lines") == 0 ? scan_lines : scan_hash)(
	    text, (size_t)status.st_size);
	printf("%.3f s (%llu)\n", now() - start, (unsigned long long)result);
	return 0;
}
