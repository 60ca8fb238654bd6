/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-line-table.c -- the line tables of CPython's code objects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/formats/cpprofdata/interpreted.h"

enum { MOST = 64 };

static void
line_table_has_lines_and_gaps(void **state)
{
	/*
	 * By CPython's Objects/locations.md: a short form of 2 units, one line
	 * further with columns, 3 lines back without, none, and a long form
	 * 70 lines further, whose number takes two bytes.
	 */
	static const unsigned char table[] = {
		0x80 | 0 << 3 | 1, 0x12,
		0x80 | 11 << 3 | 0, 4, 9,
		0x80 | 13 << 3 | 7, 3 << 1 | 1,
		0x80 | 15 << 3 | 0,
		0x80 | 14 << 3 | 2, 64 | (140 & 63), 140 >> 6, 0, 1, 2,
	};
	static const uint32_t want[][2] = {
		{ 0, 10 }, { 4, 11 }, { 6, 8 }, { 22, 0 }, { 24, 78 },
	};
	uint32_t begins[MOST], lines[MOST];
	size_t n;

	(void)state;
	n = line_table_decode(table, sizeof table, 10, begins, lines);
	assert_int_equal(n, sizeof want / sizeof *want);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(begins[i], want[i][0]);
		assert_int_equal(lines[i], want[i][1]);
	}
}

/* Nothing is read or written beyond the arrays, whatever a table holds. */
static void
line_table_takes_any_bytes(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		const size_t size = (unsigned)rand_r(&seed) % MOST;
		unsigned char *table = malloc(size + 1);
		uint32_t *begins = malloc((size + 1) * sizeof *begins);
		uint32_t *lines = malloc((size + 1) * sizeof *lines);
		size_t n;

		for (size_t i = 0; i < size; i++)
			table[i] = (unsigned char)rand_r(&seed);
		begins[size] = lines[size] = 0x5a5a5a5a;
		n = line_table_decode(table, size, (uint32_t)rand_r(&seed),
		                      begins, lines);
		assert_true(n <= size);
		for (size_t i = 0; i < n; i++) {
			assert_true(lines[i] <= INT32_MAX);
			assert_true(i == 0 ? begins[i] == 0 :
			            begins[i] > begins[i - 1]);
		}
		assert_int_equal(begins[size], 0x5a5a5a5a);
		assert_int_equal(lines[size], 0x5a5a5a5a);
		free(table);
		free(begins);
		free(lines);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_table_has_lines_and_gaps),
		cmocka_unit_test(line_table_takes_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
