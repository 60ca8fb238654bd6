/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exceptions.c -- raises known numbers of floating-point exceptions.
 *
 *	exceptions MODE N
 *
 * Each kind is raised in a function of its own.  The output, results as bits
 * and flags, must not depend on sampling.
 */
#include <fenv.h>
#include <immintrin.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noipa, optimize("no-optimize-sibling-calls")))

extern char **environ;
static volatile double one = 1, zero = 0, big = 1e308, least = 0x1p-1022;
static volatile int integer_zero;
static uint64_t sum;
static sigjmp_buf place;
static volatile sig_atomic_t n_signals;

static void
keep(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	sum = sum * 1000003 + bits;
}

#define RAISE(name, expression)				\
static NOINLINE void					\
name(long n)						\
{							\
	for (; n > 0; n--)				\
		keep(expression);			\
}
RAISE(by_division, one / zero)
RAISE(by_invalid, zero / zero)
RAISE(by_overflow, big * big)
RAISE(by_underflow, least * least)
RAISE(by_tiny, least * 0.5)		/* underflows, but is exact */
RAISE(by_inexact, one / 3)
RAISE(by_denormal, 0x1p-1070 + zero)
RAISE(by_float, (double)((float)one / (float)zero))
RAISE(by_conversion, (double)(int)(big * one))

/* Only x87 traps these, and only later. */
static NOINLINE void
by_x87(long n)
{
	volatile long double x = 1, y = 0;

	for (; n > 0; n--)
		keep((double)(x / y));
}

/* One instruction raises one or several exceptions. */
__attribute__((target("avx"))) static NOINLINE void
by_vector(long n)
{
	volatile __m256d x = { 1, 0, 1e308, 4 };
	const __m256d y = { 0, 0, 1e-308, 2 };
	double results[4];
	int i;

	for (; n > 0; n--) {
		_mm256_storeu_pd(results, _mm256_div_pd(x, y));
		for (i = 0; i < 4; i++)
			keep(results[i]);
	}
}

static void
tell(const char *what)
{
	printf("%s %016" PRIx64 " %x\n", what, sum,
	    fetestexcept(FE_ALL_EXCEPT));
	feclearexcept(FE_ALL_EXCEPT);
}

static int
run_kinds(long n)
{
	static void (*const kinds[])(long) = { by_division, by_invalid,
	    by_overflow, by_underflow, by_tiny, by_inexact, by_denormal,
	    by_float, by_conversion, by_x87 };
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		kinds[i](n * (long)(i + 1));
		tell("kind");
	}
	if (__builtin_cpu_supports("avx")) {
		by_vector(n);
		tell("vector");
	}
	return 0;
}

static void *
run_thread(void *n)
{
	by_invalid((long)n);
	return NULL;
}

static int
run_threads(long n)
{
	pthread_t threads[4];
	long i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_thread, (void *)n);
	by_division(n);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int
run_children(long n)
{
	char *const words[] = { (char *)"true", NULL };
	int status;
	pid_t pid;

	by_division(n);
	pid = fork();
	if (pid == 0) {
		by_invalid(n);
		tell("child");
		return 0;
	}
	waitpid(pid, &status, 0);
	printf("status %d\n", status);
	if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) == 0)
		waitpid(pid, &status, 0);
	printf("status %d\n", status);
	by_division(n);
	tell("parent");
	return 0;
}

static int
run_integer(long n)
{
	by_division(n);
	puts("dies");
	fflush(stdout);
	return (int)n / integer_zero;
}

static void
jump_out(int number)
{
	n_signals++;
	siglongjmp(place, number);
}

/* The program's own traps, and what is counted during and after them. */
static int
run_own(long n)
{
	volatile long i;

	printf("action %d\n", signal(SIGFPE, jump_out) == SIG_DFL);
	by_division(n);
	printf("enabled %x\n", feenableexcept(FE_DIVBYZERO | FE_INVALID));
	by_overflow(n);
	for (i = 0; i < 10; i++)
		if (sigsetjmp(place, 1) == 0) {
			feenableexcept(FE_DIVBYZERO | FE_INVALID);
			by_division(1);
		}
	for (i = 0; i < 10; i++)
		if (sigsetjmp(place, 1) == 0)
			printf("%d\n", (int)i / integer_zero);
	if (sigsetjmp(place, 1) == 0)
		raise(SIGFPE);
	printf("signals %d\n", (int)n_signals);
	printf("enabled %x\n", fedisableexcept(FE_ALL_EXCEPT));
	by_division(n);
	tell("own");
	return 0;
}

/* All of the four together, without an action. */
static int
run_enabled(long n)
{
	by_division(n);
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
	by_inexact(n);
	puts("dies");
	fflush(stdout);
	by_division(1);
	return 0;
}

/* Everything that a program may do to its environment and masks. */
static int
run_environment(long n)
{
	sigset_t all, old;
	fenv_t saved;

	by_division(n);
	feholdexcept(&saved);
	by_invalid(n);
	printf("held %x\n", fetestexcept(FE_ALL_EXCEPT));
	feupdateenv(&saved);
	by_invalid(n);
	_MM_SET_EXCEPTION_MASK(_MM_GET_EXCEPTION_MASK() | _MM_MASK_UNDERFLOW);
	by_underflow(n);
	by_overflow(n);
	fedisableexcept(FE_INVALID);
	by_overflow(n);
	fesetround(FE_UPWARD);
	by_overflow(n);
	fesetenv(FE_DFL_ENV);
	by_overflow(n);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	printf("blocked %d %d\n", sigismember(&old, SIGFPE),
	    sigismember(&old, SIGTRAP));
	by_division(n);
	sigprocmask(SIG_SETMASK, &old, &all);
	printf("blocked %d %d\n", sigismember(&all, SIGFPE),
	    sigismember(&all, SIGTRAP));
	by_division(n);
	_mm_setcsr(_mm_getcsr() | _MM_FLUSH_ZERO_ON);
	by_underflow(n);
	by_tiny(n);
	tell("environment");
	return 0;
}

static void
divide(int number)
{
	(void)number;
	n_signals++;
	by_division(1);
}

/* A timer's handler that interrupts anywhere jumps out, or divides itself. */
static int
run_alarms(long n)
{
	const struct itimerval soon = { { 0, 500 }, { 0, 500 } };
	volatile long i;

	signal(SIGALRM, jump_out);
	if (sigsetjmp(place, 1) == 0)
		setitimer(ITIMER_REAL, &soon, NULL);
	while (n_signals < n)
		by_division(10);
	signal(SIGALRM, divide);
	while (n_signals < 2 * n)
		by_invalid(10);
	signal(SIGALRM, SIG_IGN);
	sum = 0;
	for (i = 0; i < n; i++)
		by_underflow(10);
	tell("alarms");
	return 0;
}

/* Leaves time for ticks in between. */
static int
run_again(long n)
{
	by_division(n);
	fesetenv(FE_DFL_ENV);
	spin(100);
	by_invalid(n);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long);
} modes[] = {
	{ "kinds", run_kinds },
	{ "threads", run_threads },
	{ "children", run_children },
	{ "integer", run_integer },
	{ "own", run_own },
	{ "enabled", run_enabled },
	{ "environment", run_environment },
	{ "alarms", run_alarms },
	{ "again", run_again },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 2 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(atol(argv[2]));
	return 2;
}
