/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-copying.c -- the collector's own functions for memory, strings and sets of
 * signals.
 *
 * The program is linked with them, and with the C library's by dlsym.  Random
 * texts of two letters, so that they often agree, must give the same.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 20000, ROOM = 32 };

static struct {
	void *(*memcpy)(void *to, const void *from, size_t n);
	void *(*memmove)(void *to, const void *from, size_t n);
	void *(*memset)(void *to, int byte, size_t n);
	void *(*memchr)(const void *memory, int byte, size_t n);
	int (*memcmp)(const void *left, const void *right, size_t n);
	size_t (*strlen)(const char *text);
	size_t (*strnlen)(const char *text, size_t most);
	int (*strcmp)(const char *left, const char *right);
	int (*strncmp)(const char *left, const char *right, size_t n);
	char *(*strrchr)(const char *text, int byte);
	char *(*strstr)(const char *text, const char *part);
	char *(*stpcpy)(char *to, const char *from);
	char *(*strcpy)(char *to, const char *from);
	char *(*stpncpy)(char *to, const char *from, size_t n);
	char *(*strncpy)(char *to, const char *from, size_t n);
	int (*sigemptyset)(sigset_t *set);
	int (*sigaddset)(sigset_t *set, int number);
	int (*sigdelset)(sigset_t *set, int number);
	int (*sigismember)(const sigset_t *set, int number);
} libc;

static int
find_libc(void **state)
{
	static const struct {
		const char *name;
		void *place;
	} all[] = {
		{ "memcpy", &libc.memcpy }, { "memmove", &libc.memmove },
		{ "memchr", &libc.memchr }, { "memcmp", &libc.memcmp },
		{ "strlen", &libc.strlen }, { "strnlen", &libc.strnlen },
		{ "strcmp", &libc.strcmp }, { "strncmp", &libc.strncmp },
		{ "strrchr", &libc.strrchr }, { "stpcpy", &libc.stpcpy },
		{ "strcpy", &libc.strcpy }, { "stpncpy", &libc.stpncpy },
		{ "strncpy", &libc.strncpy }, { "strstr", &libc.strstr },
		{ "memset", &libc.memset },
		{ "sigemptyset", &libc.sigemptyset },
		{ "sigaddset", &libc.sigaddset },
		{ "sigdelset", &libc.sigdelset },
		{ "sigismember", &libc.sigismember },
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		*(void **)all[i].place = dlsym(RTLD_NEXT, all[i].name);
		if (*(void **)all[i].place == NULL)
			return -1;
	}
	return 0;
}

static int
sign(int number)
{
	return (number > 0) - (number < 0);
}

/* A text of up to ROOM - 1 letters, some beyond 127. */
static void
make_text(char *text)
{
	const size_t n = (size_t)rand() % (ROOM - 1);

	for (size_t i = 0; i < ROOM; i++)
		text[i] = rand() % 8 == 0 ? (char)0xe4 : (char)('a' + rand() % 2);
	text[n] = '\0';
	text[ROOM - 1] = '\0';
}

static void
texts_are_searched_and_compared_alike(void **state)
{
	char left[ROOM], right[ROOM];

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const size_t n = (size_t)rand() % ROOM;
		const char *begin = left + rand() % ROOM;
		const int byte = (int[]){ 'a', 0xe4, -0x1c, 0, 'c' }[rand() % 5];

		make_text(left);
		make_text(right);
		if (i % 4 == 0)
			libc.strcpy(right, left);
		assert_int_equal(strlen(begin), libc.strlen(begin));
		assert_int_equal(strnlen(left, n), libc.strnlen(left, n));
		assert_ptr_equal(memchr(left, byte, n),
		                 libc.memchr(left, byte, n));
		assert_ptr_equal(strrchr(begin, byte),
		                 libc.strrchr(begin, byte));
		right[rand() % 4] = '\0';
		assert_ptr_equal(strstr(begin, right),
		                 libc.strstr(begin, right));
		assert_int_equal(sign(strcmp(left, right)),
		                 sign(libc.strcmp(left, right)));
		assert_int_equal(sign(strncmp(left, right, n)),
		                 sign(libc.strncmp(left, right, n)));
		assert_int_equal(sign(memcmp(left, right, n)),
		                 sign(libc.memcmp(left, right, n)));
	}
}

/* What is around the copy stays, too. */
static void
texts_are_copied_alike(void **state)
{
	char from[ROOM], ours[3 * ROOM], theirs[3 * ROOM];

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const size_t n = (size_t)rand() % ROOM;
		const size_t at = (size_t)rand() % ROOM;
		const size_t shift = (size_t)rand() % ROOM;
		ptrdiff_t ours_end, theirs_end;

		make_text(from);
		for (size_t k = 0; k < sizeof ours; k++)
			ours[k] = theirs[k] = (char)rand();
		switch (i % 7) {
		case 0:
			ours_end = (char *)memcpy(ours + at, from, n) - ours;
			theirs_end = (char *)libc.memcpy(theirs + at, from,
			                                 n) - theirs;
			break;
		case 1:
			ours_end = (char *)memmove(ours + at, ours + shift,
			                           n) - ours;
			theirs_end = (char *)libc.memmove(theirs + at,
			    theirs + shift, n) - theirs;
			break;
		case 2:
			ours_end = stpcpy(ours + at, from) - ours;
			theirs_end = libc.stpcpy(theirs + at, from) - theirs;
			break;
		case 3:
			ours_end = strcpy(ours + at, from) - ours;
			theirs_end = libc.strcpy(theirs + at, from) - theirs;
			break;
		case 4:
			ours_end = stpncpy(ours + at, from, n) - ours;
			theirs_end = libc.stpncpy(theirs + at, from, n) -
			             theirs;
			break;
		case 5:
			ours_end = (char *)memset(ours + at, from[0], n) - ours;
			theirs_end = (char *)libc.memset(theirs + at, from[0],
			                                 n) - theirs;
			break;
		default:
			ours_end = strncpy(ours + at, from, n) - ours;
			theirs_end = libc.strncpy(theirs + at, from, n) -
			             theirs;
		}
		assert_int_equal(ours_end, theirs_end);
		assert_memory_equal(ours, theirs, sizeof ours);
	}
}

/* A number that the C library does not keep for itself. */
static int
signal_number(void)
{
	static const int some[] = { 1, 31, 34, 63, 64 };

	return some[(size_t)rand() % (sizeof some / sizeof *some)];
}

static void
sets_of_signals_change_alike(void **state)
{
	sigset_t ours, theirs;

	(void)state;
	sigfillset(&ours);
	sigfillset(&theirs);
	for (int i = 0; i < ROUNDS; i++) {
		const int number = signal_number();

		if (i % 50 == 0) {
			sigemptyset(&ours);
			libc.sigemptyset(&theirs);
		} else if (rand() % 3 == 0) {
			sigdelset(&ours, number);
			libc.sigdelset(&theirs, number);
		} else {
			sigaddset(&ours, number);
			libc.sigaddset(&theirs, number);
		}
		/* The C library fills the first word only, which has all. */
		assert_memory_equal(&ours, &theirs, sizeof(uint64_t));
		assert_int_equal(sigismember(&ours, number),
		                 libc.sigismember(&theirs, number));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_searched_and_compared_alike),
		cmocka_unit_test(texts_are_copied_alike),
		cmocka_unit_test(sets_of_signals_change_alike),
	};

	return cmocka_run_group_tests(tests, find_libc, NULL);
}
