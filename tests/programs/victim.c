/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * victim.c -- a program whose recording somebody else damages.
 *
 * 	victim MODE
 *
 * It works in ever new call paths until there is input or its end, and prints the
 * result.  MODE is what it does with SIGBUS.  Some modes cause such faults
 * themselves and print what they see of them.
 */
#include <poll.h>
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
#include <unistd.h>

#define PAGE 4096
#define OWN_FAULTS 20
#define NOINLINE __attribute__((noinline, noclone))

static __thread char *volatile sink;	/* so that the compiler keeps it */

static bool
is_told_to_end(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, 0) != 0;
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

/* Whether the result of some work is the same a second time. */
static bool
work_once(uint64_t *number)
{
	uint64_t first = 0, again = 0;
	unsigned i;

	for (i = 0; i < 1000; i++, ++*number)
		first += go(*number * 0x9e3779b97f4a7c15u >> 44, *number);
	*number -= 1000;
	for (i = 0; i < 1000; i++, ++*number)
		again += go(*number * 0x9e3779b97f4a7c15u >> 44, *number);
	return again == first;
}

/* The result does not depend on how much was done. */
static bool
work(void)
{
	uint64_t number = 1;
	bool ok;

	do
		ok = work_once(&number);
	while (ok && !is_told_to_end());
	return ok;
}

/*
 * The program's own faults: a page beyond the end of a file.
 */

static sigjmp_buf out;
static volatile sig_atomic_t n_caught;
static volatile char *volatile page;	/* faults happen where they are written */

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
	mmap((void *)(uintptr_t)page, PAGE, PROT_READ | PROT_WRITE,
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
own_faults(void)
{
	uint64_t number = 1;
	int n;

	set(jump_out, 0);
	page = cut_page();
	for (n = 0; n < OWN_FAULTS; n++) {
		if (sigsetjmp(out, 1) == 0)
			page[0] = 1;
		work_once(&number);
	}
	printf("jumped %d\n", n_caught == OWN_FAULTS);
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
work_in_thread(void *wrong)
{
	return work() ? NULL : wrong;
}

static bool
threads(void)
{
	pthread_t ids[4];
	void *wrong;
	bool ok = true;
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&ids[i], NULL, work_in_thread,
		    &ok) != 0)
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
		own_faults();
	else if (strcmp(mode, "pending") == 0)
		pending();
	else if (strcmp(mode, "reset") == 0)
		reset();
	ok = strcmp(mode, "threads") == 0 ? threads() : work();
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
