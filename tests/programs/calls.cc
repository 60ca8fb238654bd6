// SPDX-License-Identifier: GPL-3.0-or-later
// calls.cc -- makes calls whose lengths it knows, for tests/calls.py.
//
//	calls naps N SEED	calls that sleep, log-normal
//	calls planted N SEED	calls that work; one in 100 waits for a lock
//	calls recursion N	recursive calls that sleep at each level
//	calls jumps N		left by longjmp
//	calls throws N		left by exceptions
//	calls own-jumps N	left by jumps that the C library does not see
//	calls short N		calls that work for a twentieth of a millisecond, and
//				each 400th for longer
//	calls apart N		calls that work, far from each other
//	calls exits N		threads that end inside of the call
//	calls threads N		a thread for each call
//	calls crowd N		100 threads at once, each makes a call and ends
//	calls killed N		killed in a function that makes N calls
//	calls forks N		forks inside of the call; both return
//	calls inner N		jumps and exceptions that do not leave it
//	calls kernel N		work in the kernel
//
// Prints the length of each call that returns, in ns, by its own clock.
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sink;
static jmp_buf outside;
static void *own_outside[5];

static int64_t
now_ns()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

extern "C" APART void
nap(double ms)
{
	struct timespec time = { (time_t)(ms / 1000),
		(long)(fmod(ms, 1000) * 1e6) };

	while (nanosleep(&time, &time) != 0)
		;
	sink++;
}

extern "C" APART void
work(long n)
{
	for (long i = 0; i < n; i++)
		sink += (unsigned long)i;
}

extern "C" APART void
wait_for_lock()
{
	nap(60 + 30 * drand48());
	sink++;
}

/* Reads for so many ms. */
extern "C" APART void
work_in_kernel(double ms)
{
	static char bytes[1 << 20];
	int64_t end = now_ns() + (int64_t)(ms * 1e6);
	int zeros = open("/dev/zero", O_RDONLY);

	while (zeros >= 0 && now_ns() < end)
		sink += (unsigned long)read(zeros, bytes, sizeof bytes);
	close(zeros);
}

enum how { SLEEPS, WORKS, WAITS, RECURS, JUMPS, OWN_JUMPS, THROWS, EXITS, FORKS,
	INNER, READS };

static APART void
inner()
{
	jmp_buf here;

	if (setjmp(here) == 0)
		longjmp(here, 1);
	try {
		throw 1;
	} catch (int) {
		sink++;
	}
}

extern "C" APART void
handle(enum how how, double amount)
{
	pid_t child;

	switch (how) {
	case SLEEPS:
		nap(amount);
		break;
	case WORKS:
		work((long)amount);
		break;
	case WAITS:
		wait_for_lock();
		break;
	case RECURS:
		nap(12);
		if (amount > 0)
			handle(RECURS, amount - 1);
		nap(12);
		break;
	case JUMPS:
		nap(amount);
		longjmp(outside, 1);
	case OWN_JUMPS:
		nap(amount);
		__builtin_longjmp(own_outside, 1);
	case THROWS:
		nap(amount);
		throw 1;
	case EXITS:
		nap(amount);
		pthread_exit(nullptr);
	case FORKS:
		nap(amount);
		child = fork();
		nap(amount);
		if (child != 0)
			waitpid(child, nullptr, 0);
		break;
	case INNER:
		nap(amount);
		inner();
		nap(amount);
		break;
	case READS:
		work_in_kernel(amount);
		break;
	}
	sink++;
}

static APART void
call(enum how how, double amount)
{
	int64_t begin = now_ns();

	handle(how, amount);
	printf("%lld\n", (long long)(now_ns() - begin));
}

/* Returns by a jump. */
static APART void
own_jump()
{
	if (__builtin_setjmp(own_outside) == 0)
		handle(OWN_JUMPS, 25);
	sink++;
}

static void *
ends_inside(void *)
{
	handle(EXITS, 25);
	return nullptr;
}

/* Never returns. */
extern "C" APART void
serve(long n)
{
	for (; n > 0; n--) {
		call(SLEEPS, 25);
		nap(6);
	}
	fflush(stdout);
	raise(SIGKILL);
	sink++;
}

static void *
calls_once(void *)
{
	call(SLEEPS, 25);
	return nullptr;
}

static void
start_crowd()
{
	pthread_t threads[100];
	int n = 0;

	while (n < 100 && pthread_create(&threads[n], nullptr, calls_once,
	    nullptr) == 0)
		n++;
	while (n > 0)
		pthread_join(threads[--n], nullptr);
}

static double
log_normal()
{
	double radius = sqrt(-2 * log(1 - drand48()));

	return 2 * exp(1.2 * radius * cos(2 * M_PI * drand48()));
}

static void
once(const char *mode)
{
	pthread_t thread;
	pid_t parent;

	if (strcmp(mode, "naps") == 0) {
		call(SLEEPS, log_normal());
	} else if (strcmp(mode, "planted") == 0) {
		bool waits = drand48() < 0.01;

		call(waits ? WAITS : WORKS, 50000 + 100000 * drand48());
		work(20000);
	} else if (strcmp(mode, "recursion") == 0) {
		call(RECURS, 2);
		nap(6);
	} else if (strcmp(mode, "jumps") == 0) {
		if (setjmp(outside) == 0)
			handle(JUMPS, 25);
		nap(6);
	} else if (strcmp(mode, "own-jumps") == 0) {
		own_jump();
	} else if (strcmp(mode, "short") == 0) {
		static long n;

		call(WORKS, ++n % 400 == 0 ? 40000000 : 200000);
	} else if (strcmp(mode, "apart") == 0) {
		nap(300);
		work_in_kernel(30);
		call(READS, 100);
	} else if (strcmp(mode, "throws") == 0) {
		try {
			handle(THROWS, 25);
		} catch (int) {
			nap(6);
		}
	} else if (strcmp(mode, "exits") == 0) {
		if (pthread_create(&thread, nullptr, ends_inside,
		    nullptr) == 0)
			pthread_join(thread, nullptr);
	} else if (strcmp(mode, "threads") == 0) {
		if (pthread_create(&thread, nullptr, calls_once,
		    nullptr) == 0)
			pthread_join(thread, nullptr);
	} else if (strcmp(mode, "crowd") == 0) {
		start_crowd();
	} else if (strcmp(mode, "forks") == 0) {
		parent = getpid();
		fflush(stdout);
		nap(6);
		call(FORKS, 15);
		fflush(stdout);
		if (getpid() != parent)
			_exit(0);
	} else if (strcmp(mode, "inner") == 0) {
		call(INNER, 15);
		nap(6);
	} else if (strcmp(mode, "kernel") == 0) {
		call(READS, 60);
		nap(6);
	}
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	srand48(argc > 3 ? atol(argv[3]) : 1);
	nap(20);
	if (strcmp(argv[1], "killed") == 0)
		serve(atol(argv[2]));
	for (long i = atol(argv[2]); i > 0; i--)
		once(argv[1]);
	nap(20);
	return 0;
}
