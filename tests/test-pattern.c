/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-pattern.c -- which names a pattern means. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#include "src/base/pattern.h"
#include "src/base/progress.h"

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
}

static void
bytes_that_are_no_characters_match_nothing(void **state)
{
	(void)state;
	assert_fits("/b$/", "a\xff" "b");
	assert_fits("/^a/", "a\xff" "b");
	assert_not_fits("/a.b/", "a\xff" "b");
	assert_fits("/\xff" "b/", "a\xff" "b");	/* of bytes itself */
	assert_not_fits("/\xff" "b/", "a\xfe" "b");
}

/* What differs between POSIX and PCRE2 and is kept as it was. */
static void
expressions_are_those_of_posix(void **state)
{
	static const struct {
		const char *expression, *name;
		bool is_match;
	} known[] = {
		{ "/t)/", "f(int)", true }, { "/t)/", "f(int", false },
		{ "/^(f))$/", "f)", true },
		{ "/^a{,2}$/", "aa", true }, { "/^a{,2}$/", "aaa", false },
		{ "/^[\\d]$/", "\\", true }, { "/^[\\d]$/", "7", false },
		{ "/^[a\\]b]$/", "ab]", true }, { "/[]x]/", "]", true },
		{ "/[^]x]/", "]", false }, { "/[[.-.]]/", "-", true },
		{ "/^[[=a=][.].]]+$/", "a]", true }, { "/[[:x]/", ":", true },
		{ "/\\<get/", "a get", true }, { "/\\<get/", "aget", false },
		{ "/get\\>/", "get:", true }, { "/get\\>/", "gets", false },
		{ "/\\`a/", "a", true }, { "/\\`a/", "ba", false },
		{ "/a\\'/", "a", true }, { "/a\\'/", "ab", false },
		{ "/^(a)\\10$/", "aa0", true }, { "/^.$/", "\n", true },
		{ "/a$/", "a\n", false }, { "/(a)(b)?\\2/", "a", false },
		/* and what PCRE2 adds */
		{ "/^(?i)MAIN$/", "main", true }, { "/\\d/", "7", true },
		{ "/^a(?!b)/", "ab", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (fits(known[i].expression, known[i].name,
		         strlen(known[i].name)) != known[i].is_match)
			fail_msg("%s on %s", known[i].expression,
			         known[i].name);
}

static uint64_t seed = 7;

static uint64_t
random_below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

static void add_expression(char *text, int depth);

static void
add_atom(char *text, int depth)
{
	static const char *const atoms[] = {
		"a", "b", ".", "[ab]", "[^a]", "[[:alpha:]]", "[]b]", "^",
		"$", "\\.", "\\w", "\\b",
	};
	const uint64_t kind = random_below(depth > 0 ? 16 : 12);

	if (kind < 12) {
		strcat(text, atoms[kind]);
		return;
	}
	strcat(text, "(");
	add_expression(text, depth - 1);
	strcat(text, ")");
}

static void
add_expression(char *text, int depth)
{
	static const char *const repeats[] = {
		"*", "+", "?", "{2}", "{1,3}", "{,2}",
	};
	const uint64_t n = 1 + random_below(3);

	for (uint64_t i = 0; i < n; i++) {
		const size_t begin = strlen(text);
		const uint64_t repeat = random_below(12);

		add_atom(text, depth);
		/* An anchor cannot be repeated. */
		if (repeat < 6 && strpbrk(text + begin, "^$") == NULL &&
		    strcmp(text + begin, "\\b") != 0)
			strcat(text, repeats[repeat]);
	}
	if (random_below(4) == 0) {
		strcat(text, "|");
		add_atom(text, depth);
	}
}

/* The C library's own matcher is the witness. */
static void
random_expressions_match_what_posix_says(void **state)
{
	int n_matches = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		char text[4000] = "/", name[9] = "";
		size_t length = random_below(8);
		struct error error = { 0 };
		struct pattern *pattern;
		regex_t witness;
		bool is_match;

		add_expression(text, 3);
		assert_int_equal(regcomp(&witness, text + 1, REG_EXTENDED |
		                         REG_NOSUB), 0);
		strcat(text, "/");
		pattern = pattern_new(text, &error);
		if (pattern == NULL)
			fail_msg("%s", error.text);
		for (int k = 0; k < 5; k++) {
			for (size_t j = 0; j < length; j++)
				name[j] = "ab.]"[random_below(4)];
			is_match = regexec(&witness, name, 0, NULL, 0) == 0;
			if (pattern_matches(pattern, name, length) != is_match)
				fail_msg("%s on %s", text, name);
			n_matches += is_match;
		}
		regfree(&witness);
		pattern_free(pattern);
	}
	assert_in_range(n_matches, 3000, 14000);
}

static void
hostile_expressions_are_refused(void **state)
{
	static char deep[100003], flat[100003];
	const char *const hostile[] = {
		"/((a{1,100}){1,100}){1,100}/", "/(a/", "/a{9,3}/", "/[a/",
		"/\\2(a)/", "/a\\/", deep, flat,
	};

	(void)state;
	for (int i = 0; i < 50000; i++) {
		deep[1 + i] = flat[1 + 2 * i] = '(';
		deep[50001 + i] = flat[2 + 2 * i] = ')';
	}
	deep[0] = deep[100001] = flat[0] = flat[100001] = '/';
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		struct error error = { 0 };

		assert_null(pattern_new(hostile[i], &error));
		assert_int_equal(strncmp(error.text, hostile[i], 4), 0);
		assert_null(strchr(error.text, '\n'));
	}
}

enum { LONG_NAME = 100000 };

/* [LONG_NAME] bytes, freed with free(). */
static char *
long_name(void)
{
	char *name = malloc(LONG_NAME);

	assert_non_null(name);
	memset(name, 'a', LONG_NAME);
	return name;
}

/* No failure is taken for a name that does not match. */
static void
limits_of_a_match_are_reported(void **state)
{
	static const struct {
		const char *text;
		size_t length;
	} hostile[] = {
		{ "/(a|aa)+b?$[bc]/", LONG_NAME }, { "/(a|aa)+[bc]/", 60 },
		{ "/(.*)\\1(.*)\\2[bc]/", LONG_NAME },
		{ "/(a|b)*[bc]/", LONG_NAME }, { "/(a*)*(a*)*(a*)*[bc]/", 300 },
	};
	char *name = long_name();

	(void)state;
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		struct error error = { 0 };
		struct pattern *pattern = pattern_new(hostile[i].text,
		                                      &error);

		assert_non_null(pattern);
		assert_int_equal(pattern_check(pattern, &error), 0);
		assert_false(pattern_matches(pattern, name,
		                             hostile[i].length));
		assert_false(pattern_matches(pattern, "aac", 3));
		assert_int_equal(pattern_check(pattern, &error), -1);
		assert_int_equal(strncmp(error.text, hostile[i].text,
		                         strlen(hostile[i].text)), 0);
		assert_non_null(strstr(error.text, " on aaaaaaaa"));
		/* Said once; then it goes on. */
		assert_int_equal(pattern_check(pattern, &error), 0);
		assert_false(pattern_matches(pattern, "x", 1));
		assert_int_equal(pattern_check(pattern, &error), 0);
		pattern_free(pattern);
	}
	free(name);
}

/* Where a simple expression needs many steps, it has them. */
static void
long_names_are_matched(void **state)
{
	char *name = long_name();

	(void)state;
	memcpy(name + LONG_NAME - 3, "xyz", 3);
	assert_true(fits("/a+.*xy/", name, LONG_NAME));
	assert_true(fits("/(a|b)*xyz$/", name, LONG_NAME));
	assert_true(fits("/[^x]+x(y)z/", name, LONG_NAME));
	assert_false(fits("/^.*xa/", name, LONG_NAME));
	free(name);
}

static void
request_interrupt(int number)
{
	(void)number;
	interrupt_requested = 1;
}

/* The alarm comes long before the steps of the match are used up. */
static void
ctrl_c_ends_a_match(void **state)
{
	const struct itimerval soon = { .it_value.tv_usec = 1000 };
	char name[60];
	clock_t begin, interrupted;
	struct error error = { 0 };
	struct pattern *pattern = pattern_new("/(a|aa)+[bc]/", &error);

	(void)state;
	assert_non_null(pattern);
	memset(name, 'a', sizeof name);
	signal(SIGVTALRM, request_interrupt);
	setitimer(ITIMER_VIRTUAL, &soon, NULL);
	begin = clock();
	assert_false(pattern_matches(pattern, name, sizeof name));
	interrupted = clock() - begin;
	interrupt_requested = 0;
	assert_int_equal(pattern_check(pattern, &error), -1);
	assert_non_null(strstr(error.text, "interrupted"));
	begin = clock();
	assert_false(pattern_matches(pattern, name, sizeof name));
	assert_true(interrupted < (clock() - begin) / 2);
	pattern_free(pattern);
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
		cmocka_unit_test(bytes_that_are_no_characters_match_nothing),
		cmocka_unit_test(expressions_are_those_of_posix),
		cmocka_unit_test(random_expressions_match_what_posix_says),
		cmocka_unit_test(hostile_expressions_are_refused),
		cmocka_unit_test(limits_of_a_match_are_reported),
		cmocka_unit_test(long_names_are_matched),
		cmocka_unit_test(ctrl_c_ends_a_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
