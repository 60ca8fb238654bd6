/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-python-layout.c -- CPython's tables of offsets, and what cannot be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpython/layout.h"

#define COOKIE UINT64_C(0x7970677562656478)	/* "xdebugpy" */

/* As Debian's interpreters, and pyenv's 3.13.0, begin their _PyRuntime. */
static const uint64_t table_3_13[PYTHON_TABLE_SIZE / 8] = {
	COOKIE, 0x30d00f0, 0, 283320, 608, 632, 194968, 7272, 7264, 7344, 7400,
	7656, 7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160,
	232, 32, 80, 8, 0, 56, 72, 70, 208, 112, 120, 128, 136, 68, 52, 96,
	104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16, 48, 32, 40,
	24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200, 0
};

static const uint64_t table_3_14[PYTHON_TABLE_SIZE / 8] = {
	COOKIE, 0x30e0af0, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360,
	7408, 7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8,
	16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120,
	128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416, 24, 88, 168, 40, 32, 16,
	40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16,
	32, 64, 32, 16, 40, 264, 192, 160, 24, 72, 67
};

static const uint64_t table_3_15[PYTHON_TABLE_SIZE / 8] = {
	COOKIE, 0x30f02f0, 0, 346568, 912, 936, 226240, 7272, 7264, 7336, 7352,
	7400, 7592, 7576, 7584, 16, 7736, 0, 7752, 7744, 7944, 0, 888, 0, 8,
	16, 72, 80, 88, 96, 176, 184, 256, 32, 36, 40, 136, 288, 0, 88, 8, 0,
	56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0,
	16, 8, 424, 24, 88, 168, 32, 288, 944, 888, 40, 32, 16, 40, 24, 16,
	200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32,
	16, 40, 56, 176, 112, 120, 1120, 104, 160, 24, 72, 67
};

enum { COOKIE_WORD, VERSION_WORD, FREE_THREADED_WORD };

static const struct {
	const uint64_t *table;
	size_t n;		/* words that are the interpreter's */
} tables[] = {
	{ table_3_13, 74 }, { table_3_14, 87 }, { table_3_15, 103 }
};

#define N_TABLES (sizeof tables / sizeof *tables)

/* A copy in which one word is another. */
static bool
finds_with(size_t k, size_t word, uint64_t value, struct python_layout *layout)
{
	uint64_t table[PYTHON_TABLE_SIZE / 8];

	memcpy(table, tables[k].table, sizeof table);
	table[word] = value;
	return python_layout_find((uint32_t)tables[k].table[VERSION_WORD],
	                          table, layout);
}

/* Whether what the walk reads of structures has the fields that it uses. */
static bool
is_within(const struct python_layout *layout)
{
	return layout->previous <= PYTHON_FRAME_SIZE - 8 &&
	    layout->code <= PYTHON_FRAME_SIZE - 8 &&
	    layout->instruction <= PYTHON_FRAME_SIZE - 8 &&
	    layout->owner <= PYTHON_FRAME_SIZE - 1 &&
	    layout->type <= layout->code_size - 8 &&
	    layout->units <= layout->code_size - 8 &&
	    layout->file <= layout->code_size - 8 &&
	    layout->name <= layout->code_size - 8 &&
	    layout->lines <= layout->code_size - 8 &&
	    layout->first_line <= layout->code_size - 4 &&
	    layout->mark <= layout->code_size - 16 &&
	    layout->length <= layout->compact - 8 &&
	    layout->state <= layout->compact - 4 &&
	    layout->size <= layout->bytes - 8 &&
	    layout->code_size < 4096 && layout->compact < 4096;
}

static void
layout_is_that_of_the_table(void **state)
{
	struct python_layout layout;

	(void)state;
	assert_true(python_layout_find(0x030e0af0, table_3_14, &layout));
	assert_int_equal(layout.interpreters, 808);
	assert_int_equal(layout.threads, 7344);
	assert_int_equal(layout.current, 72);
	assert_int_equal(layout.base, PYTHON_NO_FIELD);
	assert_int_equal(layout.tid, 160);
	assert_int_equal(layout.owner, 74);
	assert_int_equal(layout.name, 128);
	assert_int_equal(layout.first_line, 68);
	assert_int_equal(layout.instructions, 208);
	assert_int_equal(layout.type_name, 24);
	assert_int_equal(layout.ascii, 40);
	assert_int_equal(layout.tasks.frame, 72);
	assert_int_equal(layout.tasks.state, 67);
	assert_int_equal(layout.tasks.locals, 80);
	assert_int_equal(layout.tasks.stack, 64);
	assert_true(python_layout_find(0x030f02f0, table_3_15, &layout));
	assert_int_equal(layout.interpreters, 936);
	assert_int_equal(layout.base, 80);
	assert_int_equal(layout.tid, 184);
	assert_int_equal(layout.tasks.frame, 72);
	assert_int_equal(layout.tasks.state, 67);
	assert_int_equal(layout.tasks.suspended_to, 2);
	for (size_t k = 0; k < N_TABLES; k++) {
		assert_true(python_layout_find(
		    (uint32_t)tables[k].table[VERSION_WORD], tables[k].table,
		    &layout));
		assert_true(is_within(&layout));
	}
}

static void
layout_of_a_stripped_interpreter_has_the_version_of_its_table(void **state)
{
	const uint64_t none[PYTHON_TABLE_SIZE / 8] = { 0 };
	struct python_layout layout;

	(void)state;
	for (size_t k = 0; k < N_TABLES; k++)
		assert_true(python_layout_find(0, tables[k].table, &layout));
	assert_false(python_layout_find(0, none, &layout));
}

static void
layout_of_other_versions_is_not_known(void **state)
{
	static const uint32_t versions[] = {
		0x02071df0, 0x03070000, 0x030a0df0, 0x031000f0, 0x040b0000,
		0xffffffff
	};
	struct python_layout layout;

	(void)state;
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		uint64_t table[PYTHON_TABLE_SIZE / 8];

		memcpy(table, table_3_15, sizeof table);
		assert_false(python_layout_find(versions[i], table, &layout));
		table[VERSION_WORD] = versions[i];
		assert_false(python_layout_find(versions[i], table, &layout));
		assert_false(python_layout_find(0, table, &layout));
	}
	/* A table is that of its interpreter. */
	assert_false(python_layout_find(0x030e0bf0, table_3_14, &layout));
	assert_false(python_layout_find(0x030e0af0, table_3_15, &layout));
}

static void
layout_refuses_what_is_no_table(void **state)
{
	struct python_layout layout;

	(void)state;
	for (size_t k = 0; k < N_TABLES; k++) {
		assert_false(finds_with(k, COOKIE_WORD, COOKIE ^ 1, &layout));
		assert_false(finds_with(k, FREE_THREADED_WORD, 1, &layout));
		assert_false(finds_with(k, VERSION_WORD,
		    UINT64_C(1) << 32 | tables[k].table[VERSION_WORD],
		    &layout));
	}
	/* The field `interpreters` beyond the end of _PyRuntime. */
	assert_false(finds_with(1, 5, 316616, &layout));
	assert_true(finds_with(1, 5, 316616 - 8, &layout));
	assert_false(finds_with(1, 5, 812, &layout));
}

/* Whatever a word is, no field that is used lies outside of what is read. */
static void
layout_has_no_field_outside_of_its_structure(void **state)
{
	static const uint64_t odd[] = {
		0, 1, 3, 7, 8, 56, 60, 72, 73, 79, 80, 81, 200, 4096, 65535, 65536,
		UINT32_MAX - 23, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63,
		UINT64_MAX - 7, UINT64_MAX
	};
	size_t n_refused = 0;

	(void)state;
	for (size_t k = 0; k < N_TABLES; k++)
		for (size_t word = 3; word < tables[k].n; word++)
			for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
				struct python_layout layout;

				if (!finds_with(k, word, odd[i], &layout))
					n_refused++;
				else
					assert_true(is_within(&layout));
			}
	assert_true(n_refused > 500);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_is_that_of_the_table),
		cmocka_unit_test(
		    layout_of_a_stripped_interpreter_has_the_version_of_its_table),
		cmocka_unit_test(layout_of_other_versions_is_not_known),
		cmocka_unit_test(layout_refuses_what_is_no_table),
		cmocka_unit_test(layout_has_no_field_outside_of_its_structure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
