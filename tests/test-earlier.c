/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-earlier.c -- numbering of earlier recordings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/shell/record/recording.h"

static const char name[] = "calc.cpprof";

/* Makes a directory that holds a mark by which it is recognised. */
static void
make(const char *path, const char *mark)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chdir(path), 0);
	assert_int_equal(mkdir(mark, 0700), 0);
	assert_int_equal(chdir(".."), 0);
}

static bool
is_available(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Removes a directory that has the mark in it. */
static void
take_away(const char *path, const char *mark)
{
	assert_int_equal(chdir(path), 0);
	assert_int_equal(rmdir(mark), 0);
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(rmdir(path), 0);
}

static void
numbers_stand_before_the_suffix(void **state)
{
	char text[32];

	(void)state;
	assert_int_equal(earlier_name(name, 0, text, sizeof text), 11);
	assert_string_equal(text, "calc.cpprof");
	assert_int_equal(earlier_name(name, 12, text, sizeof text), 14);
	assert_string_equal(text, "calc.12.cpprof");
	assert_true(earlier_name(name, 1, text, 5) >= 5);
}

static void
all_move_up_to_the_first_free_number(void **state)
{
	struct error error = { 0 };

	(void)state;
	make("calc.cpprof", "newest");
	make("calc.1.cpprof", "before");
	make("calc.3.cpprof", "other");
	assert_int_equal(earlier_move(name, &error), 2);
	assert_false(is_available("calc.cpprof"));
	assert_true(is_available("calc.1.cpprof/newest"));
	assert_true(is_available("calc.2.cpprof/before"));
	earlier_move_back(name, 2);
	take_away("calc.cpprof", "newest");
	take_away("calc.1.cpprof", "before");
	take_away("calc.3.cpprof", "other");
}

/* The same, when there is no newest one. */
static void
what_cannot_be_moved_leaves_all_as_it_was(void **state)
{
	struct error error = { 0 };

	(void)state;
	make("calc.1.cpprof", "before");
	make("calc.2.cpprof", "first");
	assert_int_equal(earlier_move(name, &error), 0);
	assert_true(error.is_set);
	assert_false(is_available("calc.3.cpprof"));
	take_away("calc.1.cpprof", "before");
	take_away("calc.2.cpprof", "first");
}

/* rename() would replace an empty directory. */
static void
nothing_is_replaced(void **state)
{
	(void)state;
	make("calc.cpprof", "newest");
	assert_int_equal(mkdir("empty", 0700), 0);
	assert_int_equal(earlier_rename("calc.cpprof", "empty"), EEXIST);
	assert_int_equal(rmdir("empty"), 0);
	take_away("calc.cpprof", "newest");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stand_before_the_suffix),
		cmocka_unit_test(all_move_up_to_the_first_free_number),
		cmocka_unit_test(what_cannot_be_moved_leaves_all_as_it_was),
		cmocka_unit_test(nothing_is_replaced),
	};
	char directory[] = "/tmp/cpprof-earlier-XXXXXX";
	int result;

	if (mkdtemp(directory) == NULL || chdir(directory) != 0)
		return 1;
	result = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(directory) != 0 || result != 0;
}
