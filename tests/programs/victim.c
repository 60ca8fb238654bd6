/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * victim.c -- a program whose recording somebody else damages.
 *
 * 	victim MODE SECONDS
 *
 * It works for that time in ever new call paths, prints the result, and waits
 * for the end of its input before it exits.  MODE is what it does with SIGBUS.
 * Some modes cause such faults themselves and print what they see of them.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define NOINLINE __attribute__((noinline, noclone))

static __thread char *volatile sink;	/* so that the compiler keeps it */

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A call path for each number: one frame per binary digit. */
static uint64_t left(uint64_t number, uint64_t sum);
static uint64_t right(uint64_t number, uint64_t sum);

static NOINLINE uint64_t
go(uint64_t number, uint64_t sum)
{
	if (number == 0) {
		sink = malloc(sum % 100 + 1);
		free(sink);
		return sum;
	}
	return ((number & 1) != 0 ? left(number >> 1, sum * 3 + 1) :
	    right(number >> 1, sum * 5 + 2)) + 1;
}

static NOINLINE uint64_t
left(uint64_t number, uint64_t sum)
{
	return go(number, sum) + 1;
}

static NOINLINE uint64_t
right(uint64_t number, uint64_t sum)
{
	return go(number, sum) + 2;
}

/* Works for a time; the result does not depend on how much was done. */
static bool
work(double seconds)
{
	const double end = now() + seconds;
	uint64_t number = 1, first = 0, again;
	unsigned i;

	while (now() < end) {
		for (i = 0; i < 1000; i++, number++)
			first += go(number * 0x9e3779b97f4a7c15u >> 44, number);
		number -= 1000;
		for (again = i = 0; i < 1000; i++, number++)
			again += go(number * 0x9e3779b97f4a7c15u >> 44, number);
		if (again != first)
			return false;
		first = 0;
	}
	return true;
}

/*
 * The program's own faults: a page beyond the end of a file.
 */

static sigjmp_buf out;
static volatile sig_atomic_t n_caught;
static char *page;

static char *
cut_page(void)
{
	FILE *file = tmpfile();
	char *at;

	if (file == NULL || ftruncate(fileno(file), PAGE) != 0)
		exit(3);
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
	    fileno(file), 0);
	if (at == MAP_FAILED || ftruncate(fileno(file), 0) != 0)
		exit(3);
	fclose(file);
	return at;
}

static void
jump_out(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	n_caught += info->si_code == BUS_ADRERR && info->si_addr == page;
	siglongjmp(out, 1);
}

static void
repair(int number, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)number, (void)context;
	sigemptyset(&mask);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	n_caught += info->si_code == BUS_ADRERR && info->si_addr == page &&
	    sigismember(&mask, SIGBUS) == 1 && sigismember(&mask, SIGUSR1) == 1;
	mmap(page, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void
count(int number)
{
	(void)number;
	n_caught++;
}

static void
set(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | flags }, seen;

	action.sa_sigaction = handler;
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGBUS, NULL, &seen);
	printf("action %d %x %d %d\n", seen.sa_sigaction == handler,
	    (unsigned)seen.sa_flags & ~0x04000000u, sigismember(&seen.sa_mask, SIGUSR1),
	    sigismember(&seen.sa_mask, SIGBUS));
}

static void
own_faults(double seconds)
{
	const double end = now() + seconds;
	long n = 0;

	set(jump_out, 0);
	page = cut_page();
	while (now() < end) {
		if (sigsetjmp(out, 1) == 0)
			page[0] = 1;
		n++;
		work(0.001);
	}
	printf("jumped %d\n", n_caught == n);
	set(repair, SA_ONSTACK);
	n_caught = 0;
	page[0] = 7;
	printf("repaired %d %d\n", (int)n_caught, page[0]);
	signal(SIGBUS, count);
	raise(SIGBUS);
	kill(getpid(), SIGBUS);
	printf("counted %d\n", (int)n_caught);
}

static void
block(void)
{
	sigset_t mask, seen;

	sigemptyset(&mask);
	sigaddset(&mask, SIGBUS);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sigprocmask(SIG_BLOCK, NULL, &seen);
	printf("blocked %d\n", sigismember(&seen, SIGBUS));
}

/* As a program whose own library handles SIGBUS. */
static void
block_by_kernel(void)
{
	uint64_t mask = (uint64_t)1 << (SIGBUS - 1);

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof mask);
}

static void
pending(void)
{
	sigset_t mask;

	signal(SIGBUS, count);
	block();
	raise(SIGBUS);
	sigpending(&mask);
	printf("pending %d %d\n", sigismember(&mask, SIGBUS), (int)n_caught);
	sigemptyset(&mask);
	sigaddset(&mask, SIGBUS);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	printf("came %d\n", (int)n_caught);
}

static void
reset(void)
{
	struct sigaction seen;

	set(repair, (int)SA_RESETHAND);
	page = cut_page();
	page[0] = 1;
	sigaction(SIGBUS, NULL, &seen);
	printf("reset %d %d\n", (int)n_caught, seen.sa_handler == SIG_DFL);
}

static void *
work_in_thread(void *seconds)
{
	return work(*(double *)seconds) ? NULL : seconds;
}

static bool
threads(double seconds)
{
	pthread_t ids[4];
	void *wrong;
	bool ok = true;
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, work_in_thread,
		    &seconds) != 0)
			exit(3);
	for (i = 0; i < 4; i++) {
		pthread_join(ids[i], &wrong);
		ok = ok && wrong == NULL;
	}
	return ok;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	double seconds = argc > 2 ? atof(argv[2]) : 1;
	bool ok;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(mode, "blocked") == 0)
		block();
	else if (strcmp(mode, "kernel") == 0)
		block_by_kernel();
	else if (strcmp(mode, "ignored") == 0)
		signal(SIGBUS, SIG_IGN);
	else if (strcmp(mode, "handled") == 0)
		signal(SIGBUS, count);
	else if (strcmp(mode, "own") == 0)
		own_faults(seconds / 2);
	else if (strcmp(mode, "pending") == 0)
		pending();
	else if (strcmp(mode, "reset") == 0)
		reset();
	ok = strcmp(mode, "threads") == 0 ? threads(seconds) : work(seconds);
	printf("%s %d\n", ok ? "right" : "wrong", (int)n_caught);
	while (getchar() != EOF)
		;
	if (strcmp(mode, "dies") == 0 || strcmp(mode, "ignored") == 0 ||
	    strcmp(mode, "blocked") == 0 || strcmp(mode, "reset") == 0) {
		page = cut_page();
		page[0] = 1;
		puts("not reached");
	}
	return 0;
}
