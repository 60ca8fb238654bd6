/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-pattern.c -- which names a pattern means. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/pattern.h"

static bool
fits(const char *text, const char *name, size_t length)
{
	struct error error = { 0 };
	struct pattern *pattern = pattern_new(text, &error);
	bool matches;

	assert_non_null(pattern);
	matches = pattern_matches(pattern, name, length);
	pattern_free(pattern);
	return matches;
}

#define assert_fits(text, name) \
	assert_true(fits(text, name, sizeof name - 1))
#define assert_not_fits(text, name) \
	assert_false(fits(text, name, sizeof name - 1))

static void
a_plain_word_is_only_itself(void **state)
{
	(void)state;
	assert_fits("main", "main");
	assert_not_fits("main", "main2");
	assert_not_fits("main", "mai");
	assert_not_fits("", "x");
}

static void
globs_cover_the_whole_name(void **state)
{
	(void)state;
	assert_fits("db_*", "db_read_record");
	assert_not_fits("db_*", "adb_read");
	assert_fits("*", "");
	assert_fits("*record", "db_read_record");
	assert_fits("a*b*c", "aXbXbXc");
	assert_not_fits("a*b*c", "aXbXbX");
	assert_fits("?", "x");
	assert_not_fits("?", "");
	assert_not_fits("?", "xy");
	assert_fits("**a**", "bab");
}

static void
a_question_mark_is_one_character_of_several_bytes(void **state)
{
	(void)state;
	assert_fits("?", "\xc3\xa9");
	assert_fits("a?b", "a\xe2\x82\xac" "b");
	assert_not_fits("??", "\xc3\xa9");
	assert_fits("?", "\xff");
}

static void
brackets_and_backslashes_are_themselves(void **state)
{
	(void)state;
	assert_fits("operator[]*", "operator[](int)");
	assert_not_fits("[ab]*", "a");
	assert_fits("a\\*", "a\\b");
}

static void
expressions_are_found_anywhere(void **state)
{
	(void)state;
	assert_fits("/read|write/", "db_write_x");
	assert_fits("/^db_.*d$/", "db_read");
	assert_not_fits("/^db_.*d$/", "xdb_read");
	assert_fits("//", "//");
	assert_not_fits("//", "x");
}

static void
names_may_hold_nul_bytes(void **state)
{
	(void)state;
	assert_fits("a*c", "a\0c");
	assert_fits("/c$/", "a\0c");
	assert_not_fits("/a$/", "a\0c");
}

static void
a_bad_expression_says_what_is_wrong(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_null(pattern_new("/a(/", &error));
	assert_non_null(strstr(error.text, "/a(/: "));
}

static void
an_exact_pattern_has_no_wildcards(void **state)
{
	struct error error = { 0 };
	struct pattern *pattern = pattern_new_exact("operator*", &error);

	(void)state;
	assert_false(pattern_is_general(pattern));
	assert_true(pattern_matches(pattern, "operator*", 9));
	assert_false(pattern_matches(pattern, "operator/", 9));
	pattern_free(pattern);
}

static bool
fits_function(const char *text, const char *name)
{
	struct error error = { 0 };
	struct pattern *pattern = pattern_new(text, &error);
	bool matches;

	assert_non_null(pattern);
	matches = pattern_matches_function(pattern, name, strlen(name));
	pattern_free(pattern);
	return matches;
}

static void
a_return_type_may_be_left_out(void **state)
{
	static const char sort[] = "void std::sort<int>(int)";
	struct error error = { 0 };
	struct pattern *pattern = pattern_new("/^([a-z]+)::(sort)/", &error);
	struct capture captures[N_CAPTURES];

	(void)state;
	assert_true(fits_function("std::*", sort));
	assert_true(fits_function("void std::*", sort));
	assert_true(fits_function("/^void/", sort));
	assert_true(fits_function("/^std::/", sort));
	assert_false(fits_function("sort*", sort));
	assert_false(fits_function("std::sort<int>(int)", sort));
	assert_false(fits_function("new*", "operator new(unsigned long)"));
	assert_false(fits_function("b*", "a b"));
	assert_true(pattern_captures(pattern, sort, strlen(sort), captures));
	assert_int_equal(captures[1].begin, 5);
	assert_int_equal(captures[1].length, 3);
	assert_int_equal(captures[2].begin, 10);
	pattern_free(pattern);
}

static void
arguments_and_parameters_may_be_left_out(void **state)
{
	static const char put[] = "int Box<int>::put<char>(char) const";
	struct error error = { 0 };
	struct pattern *pattern = pattern_new("/::([a-z]+)$/", &error);
	struct capture captures[N_CAPTURES];

	(void)state;
	assert_true(fits_function("*_phase", "sort_phase()"));
	assert_true(fits_function("*_phase", "sort_phase[abi:new](int)"));
	assert_true(fits_function("*::put", put));
	assert_true(fits_function("Box<int>::pu?", put));
	assert_true(fits_function("*::operator<", "A::operator<(A const&) const"));
	assert_true(fits_function("*::operator()",
	                          "main::{lambda(int)#1}::operator()(int) const"));
	assert_true(fits_function("*::hidden",
	                          "(anonymous namespace)::hidden(unsigned)"));
	assert_true(fits_function("*::h*n", "f(int)::h<int>::hidden(unsigned)"));
	assert_true(fits_function("*.Map", "main.Map[...]"));
	assert_false(fits_function("Box", put));
	assert_false(fits_function("*Box", put));
	assert_false(fits_function("b*x", "box<int> f(int)"));
	assert_false(fits_function("*module", "<module>"));
	assert_false(fits_function("sort_phase", "sort_phase()"));
	assert_true(pattern_captures(pattern, put, strlen(put), captures));
	assert_int_equal(captures[1].begin, 14);
	assert_int_equal(captures[1].length, 3);
	pattern_free(pattern);
}

/* The last star alone is tried again: no exponential time. */
static void
many_stars_take_no_time(void **state)
{
	char glob[201], name[5001];

	(void)state;
	for (size_t i = 0; i < 200; i++)
		glob[i] = i % 2 ? '*' : 'a';
	glob[200] = '\0';
	memset(name, 'a', 5000);
	name[4999] = 'b';
	name[5000] = '\0';
	assert_true(fits(glob, name, 5000));
	glob[199] = 'c';
	assert_false(fits(glob, name, 5000));
}

/* What near names are looked for by. */
static const struct {
	const char *pattern, *literal;
} literals[] = {
	{ "main", "main" }, { "db_*read?x", "read" }, { "**", "" },
	{ "a*reader", "reader" },
	{ "/^(get|readx?)_y/", "read" }, { "/ab*c+d/", "a" },
	{ "/[a-z]+_end/", "_end" }, { "/[]abcd]x/", "x" },
	{ "/a\\.bc/", "bc" }, { "/abc{2}/", "ab" }, { NULL, NULL },
};

static void
the_longest_literal_run_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; literals[i].literal != NULL; i++) {
		struct error error = { 0 };
		struct pattern *pattern = pattern_new(literals[i].pattern,
		                                      &error);
		const char *literal;
		size_t n;

		assert_non_null(pattern);
		literal = pattern_literal(pattern, &n);
		assert_int_equal(n, strlen(literals[i].literal));
		assert_memory_equal(literal, literals[i].literal, n);
		pattern_free(pattern);
	}
}

/* As in main.c: names are mostly UTF-8, whose characters have several bytes. */
static void
expressions_know_characters_of_several_bytes(void **state)
{
	struct capture captures[N_CAPTURES];
	struct error error = { 0 };
	struct pattern *pattern;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_fits("/^a.b$/", "a\303\251b");
	assert_fits("/^a.b$/", "a-b");
	assert_fits("/^[\303\251-]b$/", "\303\251b");
	assert_fits("/^[\303\251-]b$/", "-b");
	assert_fits("/^[[:alpha:]]+$/", "\303\251t\303\251");
	assert_not_fits("/^[[:alpha:]]+$/", "t\303\227t");
	pattern = pattern_new("/(.)b(.)/", &error);
	assert_non_null(pattern);
	assert_true(pattern_captures(pattern, "x\303\251bc", 5, captures));
	assert_int_equal(captures[1].begin, 1);
	assert_int_equal(captures[1].length, 2);
	assert_true(pattern_captures(pattern, "xabc", 4, captures));
	assert_int_equal(captures[1].begin, 1);
	assert_int_equal(captures[1].length, 1);
	pattern_free(pattern);
	setlocale(LC_CTYPE, "C");
}

/* An alternative that is never there makes an expression one of UTF-8. */
static void
ascii_expressions_find_what_others_find(void **state)
{
	static const char *const expressions[] = {
		"/a|bc*/", "/(a+)(b?)$/", "/^.b/", "/[^a-c]/", "/[[:punct:]]/",
		"/\\bb/", "/\\w\\W/", "/(ab|a)(bc|c)?/", "/x{2}/", "/[B-b]/",
	};
	static const char *const names[] = {
		"", "a", "abc", "aab", "xxb", "b::c<a>", "operator[]", "Bx_B",
	};

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t e = 0; e < sizeof expressions / sizeof *expressions; e++)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			const char *name = names[i];
			char either[100];

			snprintf(either, sizeof either, "/%.*s|\303\251/",
			         (int)strlen(expressions[e]) - 2,
			         expressions[e] + 1);
			assert_int_equal(fits(expressions[e], name,
			                      strlen(name)),
			                 fits(either, name, strlen(name)));
		}
	setlocale(LC_CTYPE, "C");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_word_is_only_itself),
		cmocka_unit_test(globs_cover_the_whole_name),
		cmocka_unit_test(
		    a_question_mark_is_one_character_of_several_bytes),
		cmocka_unit_test(brackets_and_backslashes_are_themselves),
		cmocka_unit_test(expressions_are_found_anywhere),
		cmocka_unit_test(the_longest_literal_run_is_found),
		cmocka_unit_test(names_may_hold_nul_bytes),
		cmocka_unit_test(a_bad_expression_says_what_is_wrong),
		cmocka_unit_test(an_exact_pattern_has_no_wildcards),
		cmocka_unit_test(a_return_type_may_be_left_out),
		cmocka_unit_test(arguments_and_parameters_may_be_left_out),
		cmocka_unit_test(many_stars_take_no_time),
		cmocka_unit_test(expressions_know_characters_of_several_bytes),
		cmocka_unit_test(
		    ascii_expressions_find_what_others_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
