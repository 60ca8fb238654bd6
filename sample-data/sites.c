/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sites.c -- one function called from two places of another, at very different
 * cost, and with a function in it that is inlined.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_SIZE = 65536, HEADER_SIZE = 8192 };

struct record {
	unsigned sum;
	unsigned char bytes[RECORD_SIZE];
};

static inline unsigned
mix(unsigned sum, unsigned char byte)
{
	return (sum << 5 | sum >> 27) ^ byte * 0x9e3779b1u;
}

static __attribute__((noinline)) unsigned
checksum(const unsigned char *bytes, size_t n)
{
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = mix(sum, bytes[i]);
	return sum;
}

static __attribute__((noinline)) void
copy_record(struct record *to, const struct record *from)
{
	unsigned whole = checksum(from->bytes, RECORD_SIZE);
	unsigned header = checksum(from->bytes, HEADER_SIZE);

	memcpy(to->bytes, from->bytes, RECORD_SIZE);
	to->sum = whole ^ header;
}

int
main(int argc, char **argv)
{
	struct record *records = calloc(2, sizeof *records);
	int n = argc > 1 ? atoi(argv[1]) : 20000;

	if (records == NULL)
		return 1;
	for (int i = 0; i < n; i++) {
		records[0].bytes[i % RECORD_SIZE]++;
		copy_record(&records[1], &records[0]);
	}
	printf("%u\n", records[1].sum);
	free(records);
	return 0;
}
