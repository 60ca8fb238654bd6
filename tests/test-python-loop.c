/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-python-loop.c -- code of CPython's evaluation loop that lies apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpython/layout.h"
#include "dwarf/cfi.h"

/* Functions, in the index relative to it. */
enum { INDEX = 0x9000, A = 0x1000, B = 0x2000, LOOP = 0x3000, C = 0x4000,
       D = 0x5000, LENGTH = 256 };

struct fixture {
	unsigned char code[LENGTH];
	struct {
		unsigned char header[CFI_INDEX_HEADER];
		int32_t rows[5][2];
	} index;
	size_t at;		/* of the next jump */
	struct python_runtime runtime;
};

static struct fixture
fixture(void)
{
	const int32_t n = 5;
	struct fixture f = {
		.index = { { 1, 0x1b, 0x03, 0x3b }, { { A - INDEX },
		    { B - INDEX }, { LOOP - INDEX }, { C - INDEX },
		    { D - INDEX } } },
		.runtime = { .loop = LOOP, .loop_end = LOOP + LENGTH },
	};

	memcpy(f.index.header + 8, &n, sizeof n);
	memset(f.code, 0x90, sizeof f.code);
	return f;
}

static void
jump(struct fixture *f, int is_conditional, int64_t to)
{
	const size_t size = is_conditional ? 6 : 5;
	const int32_t distance = (int32_t)(to - (int64_t)(LOOP + f->at + size));

	memcpy(f->code + f->at, is_conditional ? "\x0f\x85" : "\xe9",
	       size - 4);
	memcpy(f->code + f->at + size - 4, &distance, 4);
	f->at += 8;
}

static void
look(struct fixture *f)
{
	python_find_cold(&f->runtime, f->code, f->index.header,
	                 sizeof f->index, INDEX);
}

static void
part_in_which_jumps_end_is_found(void **state)
{
	struct fixture f = fixture();

	(void)state;
	jump(&f, 1, B + 8);
	jump(&f, 0, B + 40);
	jump(&f, 0, C + 16);
	jump(&f, 1, B + 0xfff);
	jump(&f, 0, B + 1);
	look(&f);
	assert_int_equal(f.runtime.cold, B);
	assert_int_equal(f.runtime.cold_end, LOOP);
}

static void
few_jumps_may_be_other_bytes(void **state)
{
	struct fixture f = fixture();

	(void)state;
	for (int i = 0; i < 3; i++) {
		jump(&f, i % 2, B + 8 + i);
		jump(&f, 1, LOOP + 20 + i);
		jump(&f, 1, D + 20 + i);	/* may end anywhere */
		jump(&f, 1, A - 20);
	}
	look(&f);
	assert_int_equal(f.runtime.cold_end, 0);
}

static void
calls_of_functions_are_none(void **state)
{
	struct fixture f = fixture();

	(void)state;
	for (int i = 0; i < 8; i++)
		jump(&f, i % 2, C);
	look(&f);
	assert_int_equal(f.runtime.cold_end, 0);
}

static void
index_of_another_kind_is_not_read(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct fixture f = fixture();

		(void)state;
		for (int k = 0; k < 8; k++)
			jump(&f, 1, B + 4);
		if (i < 3)
			f.index.header[(int[]){ 0, 2, 3 }[i]]++;
		else
			f.index.header[8] = 6;	/* more rows than there are */
		look(&f);
		assert_int_equal(f.runtime.cold_end, 0);
	}
}

/* A stripped interpreter: any address in the loop shows it. */
static void
function_of_an_address_is_the_loop(void **state)
{
	struct fixture f = fixture();
	const unsigned char *index = f.index.header;

	(void)state;
	assert_true(python_set_loop(&f.runtime, C + 5, index, sizeof f.index,
	                            INDEX));
	assert_int_equal(f.runtime.loop, C);
	assert_int_equal(f.runtime.loop_end, D);
	assert_false(python_set_loop(&f.runtime, A - 1, index, sizeof f.index,
	                             INDEX));
	/* Where the last one ends is not known. */
	assert_false(python_set_loop(&f.runtime, D + 5, index, sizeof f.index,
	                             INDEX));
	assert_int_equal(f.runtime.loop, C);
}

/* It may have shown the part that lies apart: the loop saves registers. */
static void
part_that_begins_like_a_function_is_the_loop(void **state)
{
	static const struct {
		unsigned char loop[PYTHON_BEGIN_SIZE], cold[PYTHON_BEGIN_SIZE];
		bool is_exchanged;
	} cases[] = {
		{ "\x48\x8b\x45\x10", "\x55\x48\x89\xe5", true },
		{ "\x48\x8b\x45\x10", "\x41\x57\x41\x56", true },
		{ "\x48\x8b\x45\x10", "\xf3\x0f\x1e\xfa", true },
		{ "\x55\x48\x89\xe5", "\x48\x8b\x45\x10", false },
		{ "\x55\x48\x89\xe5", "\x55\x48\x89\xe5", false },
		{ "\x48\x8b\x45\x10", "\x41\x89\x45\x10", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct python_runtime runtime = { .loop = B, .loop_end = LOOP,
			.cold = C, .cold_end = D };

		python_order_loop(&runtime, cases[i].loop, cases[i].cold);
		assert_int_equal(runtime.loop, cases[i].is_exchanged ? C : B);
		assert_int_equal(runtime.loop_end,
		                 cases[i].is_exchanged ? D : LOOP);
		assert_int_equal(runtime.cold, cases[i].is_exchanged ? B : C);
		assert_int_equal(runtime.cold_end,
		                 cases[i].is_exchanged ? LOOP : D);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part_in_which_jumps_end_is_found),
		cmocka_unit_test(few_jumps_may_be_other_bytes),
		cmocka_unit_test(calls_of_functions_are_none),
		cmocka_unit_test(index_of_another_kind_is_not_read),
		cmocka_unit_test(function_of_an_address_is_the_loop),
		cmocka_unit_test(part_that_begins_like_a_function_is_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
