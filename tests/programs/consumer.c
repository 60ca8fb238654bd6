/* SPDX-License-Identifier: GPL-3.0-or-later */
/* consumer.c -- uses resources that the kernel counts: `consumer MODE
 * [NUMBER]`.
 *
 * Each mode spends a known amount of something along two paths.  It prints the
 * kernel's count for the process, one number for each path, on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noinline, noclone))
#define PAGE 4096

static void
print_usage(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%ld %ld %ld %ld\n", usage.ru_minflt, usage.ru_majflt,
	    usage.ru_nvcsw, usage.ru_nivcsw);
}

/* Causes that many page faults, one in each page. */
static NOINLINE void
touch(size_t pages)
{
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		((volatile char *)memory)[i * PAGE] = 1;
	munmap(memory, pages * PAGE);
}

static NOINLINE void
touch_few(void)
{
	touch(100);
	sink++;
}

static NOINLINE void
touch_many(void)
{
	touch(300);
	sink++;
}

static int
run_faults(long n)
{
	while (n-- > 0) {
		touch_few();
		touch_many();
	}
	return 0;
}

static NOINLINE void
touch_one(volatile char *at)
{
	*at = 1;
}

static NOINLINE void
touch_rest(volatile char *at, unsigned n)
{
	while (n-- > 0)
		at[n * PAGE] = 1;
}

/* Alternates between one fault here and 49 there: a period of 50. */
static int
run_period(long n)
{
	while (n-- > 0) {
		char *memory = mmap(NULL, 5000 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		unsigned i;

		madvise(memory, 5000 * PAGE, MADV_NOHUGEPAGE);
		for (i = 0; i < 5000; i += 50) {
			touch_one(memory + i * PAGE);
			touch_rest(memory + (i + 1) * PAGE, 49);
		}
		munmap(memory, 5000 * PAGE);
	}
	return 0;
}

/* Allocates 64 KiB and writes 8 KiB. */
static NOINLINE void
use_power(int fd)
{
	static const char bytes[8192];
	void *volatile block = malloc(65536);

	free(block);
	if (write(fd, bytes, sizeof bytes) != sizeof bytes)
		exit(1);
	sink++;
}

static NOINLINE void
use_one(int fd)
{
	use_power(fd);
	sink++;
}

static NOINLINE void
use_seven(int fd)
{
	for (int i = 0; i < 7; i++)
		use_power(fd);
	sink++;
}

/* Alternates between one here and seven there: together 2^19 and 2^16 bytes. */
static int
run_powers(long n)
{
	const int fd = open("/dev/null", O_WRONLY);

	while (n-- > 0) {
		use_one(fd);
		use_seven(fd);
	}
	return 0;
}

/* Reads pages of a file that are not in memory. */
static int
run_major(long pages)
{
	char name[] = "consumer-XXXXXX", page[PAGE] = "";
	int fd = mkstemp(name);
	char *memory;
	long i;

	unlink(name);
	for (i = 0; i < pages; i++)
		if (write(fd, page, sizeof page) != sizeof page)
			return 1;
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	madvise(memory, (size_t)pages * PAGE, MADV_RANDOM);
	for (i = 0; i < pages; i++)
		sink += ((volatile unsigned char *)memory)[i * PAGE];
	return 0;
}

static NOINLINE void
nap(void)
{
	struct timespec while_ = { .tv_nsec = 1000 };

	nanosleep(&while_, NULL);
	sink++;
}

static NOINLINE void
nap_once(void)
{
	nap();
	sink++;
}

static NOINLINE void
nap_thrice(void)
{
	nap();
	nap();
	nap();
	sink++;
}

static int
run_naps(long n)
{
	while (n-- > 0) {
		nap_once();
		nap_thrice();
	}
	return 0;
}

/* Prints how often this thread has left its processor since then. */
static struct rusage
print_switches(const struct rusage *since)
{
	struct rusage now;

	getrusage(RUSAGE_THREAD, &now);
	if (since != NULL)
		printf("%ld %ld\n", now.ru_nvcsw - since->ru_nvcsw,
		    now.ru_nivcsw - since->ru_nivcsw);
	return now;
}

static NOINLINE void
give_way(long n)
{
	while (n-- > 0)
		sched_yield();
	sink++;
}

static NOINLINE void
wait_often(long n)
{
	while (n-- > 0)
		nap_once();
	sink++;
}

static volatile sig_atomic_t has_rival;

static void *
be_rival(void *unused)
{
	while (has_rival)
		sched_yield();
	return unused;
}

/* Naps, and gives way to a thread on the same processor. */
static int
run_turns(long n)
{
	cpu_set_t one;
	pthread_t rival;
	struct rusage since;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	has_rival = sched_setaffinity(0, sizeof one, &one) == 0;
	if (!has_rival || pthread_create(&rival, NULL, be_rival, NULL) != 0)
		return 1;
	since = print_switches(NULL);
	wait_often(n);
	since = print_switches(&since);
	give_way(n);
	print_switches(&since);
	has_rival = 0;
	return pthread_join(rival, NULL) != 0;
}

static NOINLINE void
call_once(void)
{
	syscall(SYS_getppid);
	sink++;
}

static NOINLINE void
call_thrice(void)
{
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	sink++;
}

static int
run_calls(long n)
{
	while (n-- > 0) {
		call_once();
		call_thrice();
	}
	return 0;
}

/* Closes all descriptors but the standard ones, and continues. */
static int
run_close(long n)
{
	closefrom(3);
	run_faults(n);
	return open("/dev/null", O_RDONLY) - 3;
}

static void *
fault_in_thread(void *n)
{
	run_faults(*(long *)n);
	return n;
}

/* One after the other, so that the order of faults is fixed. */
static int
run_threads(long n)
{
	pthread_t thread;
	long i, faults = 1;

	for (i = 0; i < n; i++) {
		if (pthread_create(&thread, NULL, fault_in_thread, &faults))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

static int
run_fork(long n)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		run_faults(n);
		_exit(7);
	}
	run_faults(n);
	if (waitpid(child, &status, 0) != child)
		return 1;
	return WEXITSTATUS(status) - 7;
}

/* Replaces itself after a failed attempt. */
static int
run_exec(long n)
{
	const char *program = getenv("CONSUMER_EXEC");

	run_faults(n);
	execl("/nonexistent/program", "program", (char *)NULL);
	run_faults(n);
	execlp(program, program, "one", "two", (char *)NULL);
	return errno;
}

static volatile sig_atomic_t n_traps, last_code;

static void
trapped(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	n_traps++;
	last_code = info->si_code;
}

static void
trap(void)
{
#if defined(__x86_64__)
	__asm__ volatile ("int3");
#else
	raise(SIGTRAP);
#endif
}

/* The program's own traps while ours come. */
static int
run_traps(long n)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO }, seen;
	sigset_t set, old, pending;

	run_faults(n);
	sigaction(SIGTRAP, NULL, &seen);
	printf("default %d\n", seen.sa_handler == SIG_DFL);
	action.sa_sigaction = trapped;
	sigaction(SIGTRAP, &action, NULL);
	trap();
	printf("int3 %d %d\n", (int)n_traps, last_code > 0);
	raise(SIGTRAP);
	printf("raise %d %d\n", (int)n_traps, last_code <= 0);
	run_faults(n);
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, &old);
	run_faults(n);
	sigpending(&pending);
	printf("none %d\n", sigismember(&pending, SIGTRAP));
	raise(SIGTRAP);
	sigpending(&pending);
	printf("blocked %d %d\n", (int)n_traps,
	    sigismember(&pending, SIGTRAP));
	sigprocmask(SIG_SETMASK, NULL, &set);
	printf("mask %d %d\n", sigismember(&set, SIGTRAP),
	    sigismember(&old, SIGTRAP));
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("unblocked %d\n", (int)n_traps);
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	printf("ignored %d\n", (int)n_traps);
	fflush(stdout);
	trap();
	puts("not reached");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long);
} modes[] = {
	{ "faults", run_faults },
	{ "powers", run_powers },
	{ "period", run_period },
	{ "major", run_major },
	{ "naps", run_naps },
	{ "turns", run_turns },
	{ "calls", run_calls },
	{ "close", run_close },
	{ "threads", run_threads },
	{ "fork", run_fork },
	{ "exec", run_exec },
	{ "traps", run_traps },
};

int
main(int argc, char **argv)
{
	size_t i;
	int status;

	for (i = 0; i < sizeof modes / sizeof *modes && argc > 2; i++) {
		if (strcmp(modes[i].name, argv[1]) != 0)
			continue;
		status = modes[i].run(atol(argv[2]));
		print_usage();
		return status;
	}
	fprintf(stderr, "usage: consumer MODE NUMBER\n");
	return 2;
}
