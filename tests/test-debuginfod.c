/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-debuginfod.c -- which servers there are, who named them, and what is a
 * build-id.  (tests/debuginfod.py has the rest, with servers.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/symbols/elf/debuginfod.h"

static void
write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static const char *
servers_of(const char *variable, const char *directory)
{
	static char urls[200];

	if (variable == NULL)
		unsetenv("DEBUGINFOD_URLS");
	else
		setenv("DEBUGINFOD_URLS", variable, 1);
	return debuginfod_servers(urls, sizeof urls, directory) ? urls : NULL;
}

static bool
is_users(const char *variable, const char *directory)
{
	servers_of(variable, directory);
	return debuginfod_is_set_by_user(directory);
}

static void
servers_are_those_of_the_user_or_of_the_machine(void **state)
{
	char directory[] = "/tmp/cpprof-debuginfod-XXXXXX";
	char path[60], other[60], text[300] = "https://";

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/machine.urls", directory);
	snprintf(other, sizeof other, "%s/machine.txt", directory);
	assert_null(servers_of(NULL, directory));
	assert_null(servers_of("", directory));
	assert_null(servers_of(" \n", directory));
	assert_null(servers_of(NULL, "/nonexistent"));
	write_text(path, "https://one.test \n\nhttps://two.test");
	write_text(other, "https://three.test");
	assert_string_equal(servers_of(NULL, directory),
	                    "https://one.test https://two.test");
	assert_string_equal(servers_of(" ", directory),
	                    "https://one.test https://two.test");
	assert_string_equal(servers_of("\thttps://own.test  x ", directory),
	                    "https://own.test x");
	/* What does not fit is left out, and nothing is cut. */
	memset(text + 8, 'x', 250);
	assert_null(servers_of(text, "/nonexistent"));

	assert_false(is_users(NULL, directory));
	assert_false(is_users("", directory));
	assert_false(is_users("https://one.test", directory));
	assert_false(is_users("https://two.test\nhttps://one.test ",
	                      directory));
	assert_true(is_users("https://one.test https://own.test", directory));
	assert_true(is_users("https://one.tes", directory));
	assert_true(is_users("https://one.test", "/nonexistent"));
	unlink(path);
	unlink(other);
	rmdir(directory);
}

static void
build_ids_have_a_sane_size_and_are_no_filling(void **state)
{
	unsigned char id[80];

	(void)state;
	for (size_t i = 0; i < sizeof id; i++)
		id[i] = (unsigned char)(i * 7);
	assert_false(debuginfod_is_build_id(id, 0));
	assert_false(debuginfod_is_build_id(id, 7));
	assert_true(debuginfod_is_build_id(id, 8));
	assert_true(debuginfod_is_build_id(id, 20));
	assert_true(debuginfod_is_build_id(id, 63));
	assert_false(debuginfod_is_build_id(id, 64));
	memset(id, 0xab, sizeof id);
	assert_false(debuginfod_is_build_id(id, 20));
	id[19] = 1;
	assert_true(debuginfod_is_build_id(id, 20));
}

static void
the_cache_is_where_libdebuginfod_has_it(void **state)
{
	static const unsigned char id[8] = { 1, 2, 3, 4, 0xab, 6, 7, 8 };
	char path[PATH_MAX];

	(void)state;
	unsetenv("DEBUGINFOD_CACHE_PATH");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "/nonexistent", 1);
	assert_true(debuginfod_cached_path(id, sizeof id, path));
	assert_string_equal(path, "/nonexistent/.cache/debuginfod_client/"
	                    "01020304ab060708/debuginfo");
	setenv("XDG_CACHE_HOME", "/c", 1);
	assert_true(debuginfod_cached_path(id, sizeof id, path));
	assert_string_equal(path, "/c/debuginfod_client/01020304ab060708/"
	                    "debuginfo");
	setenv("DEBUGINFOD_CACHE_PATH", "/d", 1);
	assert_true(debuginfod_cached_path(id, sizeof id, path));
	assert_string_equal(path, "/d/01020304ab060708/debuginfo");
	assert_false(debuginfod_cached_path(id, 4, path));
	unsetenv("DEBUGINFOD_CACHE_PATH");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_false(debuginfod_cached_path(id, sizeof id, path));
}

static void
what_is_no_build_id_is_not_asked_for(void **state)
{
	static const unsigned char id[80] = { 1 };
	struct debuginfod_request request = {
		.servers = "http://127.0.0.1:1",
		.build_id = id,
		.build_id_size = 80,
	};
	struct error why = { 0 };
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(debuginfod_fetch(&request, path, &why),
	                 DEBUGINFOD_ABSENT);
	request.build_id_size = 20;
	request.source = "relative.c";
	assert_int_equal(debuginfod_fetch(&request, path, &why),
	                 DEBUGINFOD_ABSENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    servers_are_those_of_the_user_or_of_the_machine),
		cmocka_unit_test(
		    build_ids_have_a_sane_size_and_are_no_filling),
		cmocka_unit_test(the_cache_is_where_libdebuginfod_has_it),
		cmocka_unit_test(what_is_no_build_id_is_not_asked_for),
	};

	return cmocka_run_group_tests_name("debuginfod", tests, NULL, NULL);
}
