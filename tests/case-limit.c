/* SPDX-License-Identifier: GPL-3.0-or-later */
/* case-limit.c -- a time limit for each case of a unit test.
 *
 * The tests call the function here instead of cmocka's (see tests/local.mk).
 * It starts each case with two limits: one of CPU time, so that it does not
 * matter how busy the machine is, and a larger one of real time, for cases
 * that wait.  A case that reaches a limit ends the program with a line of TAP
 * that has its name.  CASE_TIME_LIMIT: seconds of CPU time, 120 by default.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CPU_SECONDS = 120, REAL_FACTOR = 3 };

int limited_run_group_tests(const char *name, const struct CMUnitTest *tests,
                            size_t n, CMFixtureFunction set_up,
                            CMFixtureFunction tear_down);

static const struct CMUnitTest *all;
static size_t n_begun;
static int cpu_seconds = CPU_SECONDS;

static void
print(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void
give_up(int number)
{
	print("Bail out! ");
	print(all[n_begun - 1].name);
	print(number == SIGPROF ? " used more CPU time than its limit\n" :
	      " went on for longer than its limit\n");
	_exit(1);
}

static void
set_limits(int seconds)
{
	const struct itimerval cpu = { .it_value.tv_sec = seconds };
	struct sigaction action = { .sa_handler = give_up };

	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm((unsigned)seconds * REAL_FACTOR);
}

/* The setup of the next case; cmocka runs them in order. */
static int
begin(void **state)
{
	const struct CMUnitTest *test = &all[n_begun++];

	set_limits(cpu_seconds);
	return test->setup_func != NULL ? test->setup_func(state) : 0;
}

int
limited_run_group_tests(const char *name, const struct CMUnitTest *tests,
                        size_t n, CMFixtureFunction set_up,
                        CMFixtureFunction tear_down)
{
	const char *text = getenv("CASE_TIME_LIMIT");
	struct CMUnitTest *limited = malloc(n * sizeof *limited);
	int n_failed;

	if (limited == NULL)
		return 1;
	if (text != NULL && atoi(text) > 0)
		cpu_seconds = atoi(text);
	memcpy(limited, tests, n * sizeof *limited);
	for (size_t i = 0; i < n; i++)
		limited[i].setup_func = begin;
	all = tests;
	n_begun = 0;
	/* Whatever was printed is kept, however the program ends. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	n_failed = _cmocka_run_group_tests(name, limited, n, set_up,
	                                   tear_down);
	set_limits(0);
	free(limited);
	return n_failed;
}
