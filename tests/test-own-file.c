/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-own-file.c -- files that others exchange while they are opened.
 *
 * The openat of this file stands in front of that of the C library: before it
 * opens the file it lets another process, so to speak, do something.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/own_file.h"
#include "tests/skip.h"

enum { OTHER_USER = 12345 };

static char folder[] = "/tmp/cpprof-test-XXXXXX";

/* What another does each time before the file is opened, so many times. */
static void (*do_meanwhile)(void);
static int n_times;

int
openat(int directory, const char *name, int flags, ...)
{
	va_list more;
	mode_t mode = 0;

	if ((flags & O_CREAT) != 0) {
		va_start(more, flags);
		mode = va_arg(more, mode_t);
		va_end(more);
	}
	if (strcmp(name, "file") == 0 && n_times > 0) {
		n_times--;
		do_meanwhile();
	}
	return (int)syscall(SYS_openat, directory, name, flags, mode);
}

static void
make(const char *name)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs("old\n", file);
	assert_int_equal(fclose(file), 0);
}

static void
make_file(void)
{
	make("file");
}

static void
remove_file(void)
{
	assert_int_equal(unlink("file"), 0);
}

/* The new file is there before the old one goes, so they are two. */
static void
replace_file(void)
{
	make("new");
	assert_int_equal(rename("new", "file"), 0);
}

static void
replace_by_link(void)
{
	make("target");
	assert_int_equal(symlink("target", "new"), 0);
	assert_int_equal(rename("new", "file"), 0);
}

static void
replace_by_foreign_link(void)
{
	replace_by_link();
	assert_int_equal(lchown("file", OTHER_USER, OTHER_USER), 0);
}

static int
open_file(void (*meanwhile)(void), int times, struct error *error)
{
	struct own_place place;

	do_meanwhile = meanwhile;
	n_times = times;
	*error = (struct error){ 0 };
	return own_file_open(&place, "file", OWN_NOTHING, O_APPEND, 0600, error);
}

/* The bytes of the file that its name leads to, after one more was added. */
static off_t
size_with_one(int descriptor)
{
	struct stat status;

	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, "x", 1), 1);
	close(descriptor);
	assert_int_equal(stat("file", &status), 0);
	assert_int_equal(n_times, 0);
	unlink("file");
	return status.st_size;
}

static void
own_file_is_found_again_when_others_were_faster(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(size_with_one(open_file(make_file, 1, &error)), 5);
	make_file();
	assert_int_equal(size_with_one(open_file(replace_file, 1, &error)), 5);
	make_file();
	assert_int_equal(size_with_one(open_file(remove_file, 1, &error)), 1);
	make_file();
	assert_int_equal(size_with_one(open_file(replace_by_link, 1, &error)), 5);
}

static void
own_file_gives_up_when_it_changes_each_time(void **state)
{
	struct error error;

	(void)state;
	make_file();
	assert_int_equal(open_file(replace_file, 1000, &error), -1);
	assert_string_equal(error.text, "file: changed meanwhile; try again");
	n_times = 0;
	remove_file();
}

static void
own_file_asks_the_link_that_it_follows_for_its_owner(void **state)
{
	struct error error;

	(void)state;
	if (geteuid() != 0)
		skip_since("a link of another user needs root");
	make("target");
	assert_int_equal(symlink("target", "file"), 0);
	assert_int_equal(open_file(replace_by_foreign_link, 1, &error), -1);
	assert_non_null(strstr(error.text, "a link that another user made"));
	remove_file();
}

static int
enter_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL && chmod(folder, 01777) == 0 ?
	    chdir(folder) : -1;
}

static int
leave_folder(void **state)
{
	(void)state;
	unlink("target");
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_file_is_found_again_when_others_were_faster),
		cmocka_unit_test(own_file_gives_up_when_it_changes_each_time),
		cmocka_unit_test(
		    own_file_asks_the_link_that_it_follows_for_its_owner),
	};

	return cmocka_run_group_tests_name("own file", tests, enter_folder,
	                                   leave_folder);
}
