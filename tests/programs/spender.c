/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spender.c -- spends known amounts of resources in named functions.
 *
 *	spender MODE ARGUMENT
 *
 * What tests/test-wrappers.py looks for in the profile is spent in functions of
 * their own.  Each mode prints values that show that nothing else has changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Keeps the function's frame until its last call. */
#define NOINLINE __attribute__((noipa, optimize("no-optimize-sibling-calls")))

static NOINLINE void
keep(void *block)
{
	__asm__ volatile ("" : : "r" (block) : "memory");
	free(block);
}

/*
 * Memory: `n` blocks of 100 bytes by each function.
 */

static NOINLINE void
by_malloc(long n)
{
	while (n-- > 0)
		keep(malloc(100));
}

static NOINLINE void
by_calloc(long n)
{
	while (n-- > 0)
		keep(calloc(10, 10));
}

static NOINLINE void
by_realloc(long n)
{
	while (n-- > 0)
		keep(realloc(NULL, 100));
}

static NOINLINE void
by_reallocarray(long n)
{
	while (n-- > 0)
		keep(reallocarray(NULL, 25, 4));
}

static NOINLINE void
by_aligned(long n)
{
	void *block;

	for (; n > 0; n -= 4) {
		keep(memalign(64, 100));
		keep(aligned_alloc(64, 100));
		keep(valloc(100));
		if (posix_memalign(&block, 64, 100) == 0)
			keep(block);
	}
}

static NOINLINE void
by_strdup(long n)
{
	char text[100];

	memset(text, 'x', sizeof text);
	text[99] = '\0';
	while (n-- > 0)
		keep(strdup(text));
}

static NOINLINE void
by_mmap(long n)
{
	void *block = mmap(NULL, (size_t)n * 100, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(block, (size_t)n * 100);
	block = mmap(NULL, (size_t)n * 100, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);	/* not counted */
	munmap(block, (size_t)n * 100);
}

static int
run_memory(long n)
{
	by_malloc(n);
	by_calloc(n);
	by_realloc(n);
	by_reallocarray(n);
	by_aligned(n);
	by_strdup(n);
	by_mmap(n);
	printf("failed %d\n", malloc(PTRDIFF_MAX) == NULL);
	return 0;
}

/* As fast as possible, for timing. */
static int
run_malloc(long n)
{
	struct timespec start, end;
	long i;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (i = 0; i < n; i++) {
		void *block = malloc(32);

		__asm__ volatile ("" : : "r" (block) : "memory");
		free(block);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.2f ns\n", ((double)(end.tv_sec - start.tv_sec) * 1e9 +
	    (double)(end.tv_nsec - start.tv_nsec)) / (double)n);
	return 0;
}

/*
 * Bytes: `n` KiB by each function.
 */

static char buffer[1 << 16];

static NOINLINE void
by_read(int fd, long n)
{
	while (n-- > 0)
		if (read(fd, buffer, 1024) != 1024)
			abort();
}

static NOINLINE void
by_pread(int fd, long n)
{
	while (n-- > 0)
		if (pread(fd, buffer, 1024, 0) != 1024)
			abort();
}

static NOINLINE void
by_readv(int fd, long n)
{
	struct iovec parts[2] = { { buffer, 1000 }, { buffer + 1000, 24 } };

	while (n-- > 0)
		if (readv(fd, parts, 2) != 1024)
			abort();
}

static NOINLINE void
by_fread(FILE *file, long n)
{
	for (n *= 8; n > 0; n--)
		if (fread(buffer, 1, 128, file) != 128)
			abort();
}

static NOINLINE void
by_fgets(FILE *file, long n)
{
	for (n *= 16; n > 0; n--)	/* lines of 64 bytes */
		if (fgets(buffer, 4096, file) == NULL)
			abort();
}

static NOINLINE void
by_getline(FILE *file, long n)
{
	char *line = NULL;
	size_t size = 0;

	for (n *= 16; n > 0; n--)
		if (getline(&line, &size, file) != 64)
			abort();
	free(line);
}

static NOINLINE void
by_getc(FILE *file, long n)
{
	for (n *= 1024; n > 0; n--)
		if (getc(file) == EOF)
			abort();
}

static NOINLINE void
by_fscanf(FILE *file, long n)
{
	for (n *= 16; n > 0; n--)
		if (fscanf(file, "%99s", buffer) != 1)
			abort();
}

static NOINLINE void
by_write(int fd, long n)
{
	while (n-- > 0)
		if (write(fd, buffer, 1024) != 1024)
			abort();
}

/* This function is not wrapped. */
static NOINLINE void
by_system_call(int fd, long n)
{
	while (n-- > 0)
		if (syscall(SYS_write, fd, buffer, 1024) != 1024)
			abort();
}

static NOINLINE void
by_pwritev(int fd, long n)
{
	struct iovec parts[2] = { { buffer, 1000 }, { buffer + 1000, 24 } };

	while (n-- > 0)
		if (pwritev(fd, parts, 2, 0) != 1024)
			abort();
}

static NOINLINE void
by_fwrite(FILE *file, long n)
{
	for (n *= 8; n > 0; n--)
		if (fwrite(buffer, 1, 128, file) != 128)
			abort();
	fflush(file);
}

static NOINLINE void
by_fprintf(FILE *file, long n)
{
	for (n *= 64; n > 0; n--)
		fprintf(file, "%015ld\n", n);
	fflush(file);
}

static NOINLINE void
by_putc(FILE *file, long n)
{
	for (n *= 1024; n > 0; n--)
		putc('x', file);
	fflush(file);
}

static NOINLINE void
by_fclose(FILE *file, long n)
{
	setvbuf(file, NULL, _IOFBF, (size_t)n * 1024 + 1024);
	while (n-- > 0)
		fwrite(buffer, 1, 1024, file);
	fclose(file);
}

static NOINLINE void
by_sendfile(int out, int in, long n)
{
	off_t at = 0;

	while (n-- > 0)
		if (sendfile(out, in, &at, 1024) != 1024)
			abort();
}

/* The kernel's count of bytes read and written before this call. */
static void
kernel_counts(unsigned long counts[2])
{
	char text[512];
	int fd = open("/proc/thread-self/io", O_RDONLY);
	long n = syscall(SYS_read, fd, text, sizeof text - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "rchar: %lu wchar: %lu", &counts[0], &counts[1]) != 2)
		abort();
}

static FILE *
lines(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);

	if (file == NULL)
		abort();
	return file;
}

static int
run_bytes(long n)
{
	unsigned long before[2], after[2];
	char name[] = "/tmp/cpprof-spender-XXXXXX";
	int fd = mkstemp(name), zero = open("/dev/zero", O_RDONLY);
	int null = open("/dev/null", O_WRONLY);
	FILE *file;
	size_t i;

	kernel_counts(before);
	by_read(zero, n);
	by_pread(zero, n);
	by_readv(zero, n);
	for (i = 0; i < sizeof buffer; i++)
		buffer[i] = i % 64 == 63 ? '\n' : 'x';
	by_write(fd, n);
	by_pwritev(fd, n);
	by_sendfile(null, fd, n);
	file = lines(name, "r");
	by_fread(file, n);
	rewind(file);
	by_fgets(file, n);
	rewind(file);
	by_getline(file, n);
	rewind(file);
	by_getc(file, n);
	fclose(file);
	file = lines(name, "w");
	by_fwrite(file, n);
	by_fprintf(file, n);
	by_putc(file, n);
	fclose(file);
	by_fclose(lines(name, "w"), n);
	kernel_counts(after);
	unlink(name);
	printf("read %lu written %lu\n", after[0] - before[0],
	    after[1] - before[1]);
	return 0;
}

/* Bytes that pass through no wrapper. */
static int
run_unseen_bytes(long n)
{
	unsigned long before[2], after[2];
	char name[] = "/tmp/cpprof-spender-XXXXXX";
	int fd = mkstemp(name);
	FILE *file;
	size_t i;

	kernel_counts(before);
	for (i = 0; i < sizeof buffer; i++)
		buffer[i] = i % 64 == 63 ? '\n' : 'x';
	by_system_call(fd, n);
	file = lines(name, "r");
	by_fscanf(file, n);
	fclose(file);
	kernel_counts(after);
	unlink(name);
	printf("read %lu written %lu\n", after[0] - before[0],
	    after[1] - before[1]);
	return 0;
}

/* Both directions.  The kernel does not count the bytes of these calls. */
static int
run_sockets(long n)
{
	struct iovec part = { buffer, 1024 };
	struct mmsghdr messages[2] = {
		{ .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } },
	};
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) != 0)
		return 1;
	for (; n > 0; n--)
		if (send(fds[0], buffer, 1024, 0) != 1024 ||
		    recv(fds[1], buffer, sizeof buffer, 0) != 1024 ||
		    sendmmsg(fds[0], messages, 2, 0) != 2 ||
		    recvmmsg(fds[1], messages, 2, 0, NULL) != 2)
			return 1;
	puts("received");
	return 0;
}

/*
 * Wall time: `ms` in each function, and the time by the clock, in
 * microseconds, on standard error.
 */

static long long
clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static void
tell(const char *name, long long start)
{
	fprintf(stderr, "%s %lld\n", name, clock_us() - start);
}

static void
tell_call(const char *name, void (*call)(long), long ms)
{
	const long long start = clock_us();

	call(ms);
	tell(name, start);
}

static struct timespec
in(long ms)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += ms % 1000 * 1000000;
	now.tv_sec += ms / 1000 + now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

static NOINLINE void
by_usleep(long ms)
{
	long i;

	for (i = 0; i < 10; i++)
		usleep((useconds_t)ms * 100);
}

static NOINLINE void
by_poll(long ms)
{
	if (poll(NULL, 0, (int)ms) != 0)
		abort();
}

static NOINLINE void
by_epoll(long ms)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	if (epoll_wait(fd, &event, 1, (int)ms) != 0)
		abort();
	close(fd);
}

static NOINLINE void
by_condition(long ms)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec until = in(ms);

	pthread_mutex_lock(&mutex);
	if (pthread_cond_timedwait(&condition, &mutex, &until) != ETIMEDOUT)
		abort();
	pthread_mutex_unlock(&mutex);
}

static NOINLINE void
by_semaphore(long ms)
{
	struct timespec until = in(ms);
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	if (sem_timedwait(&semaphore, &until) != -1 || errno != ETIMEDOUT)
		abort();
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *
hold(void *argument)
{
	const long long start = clock_us();

	pthread_mutex_lock(&held);
	sem_post(argument);
	usleep(300000);
	pthread_mutex_unlock(&held);
	tell("hold", start);
	return NULL;
}

static NOINLINE void
by_mutex(void)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
}

static NOINLINE void
by_pipe(long ms)
{
	int fds[2], status;
	pid_t child;

	if (pipe(fds) != 0)
		abort();
	child = fork();
	if (child == 0) {
		usleep((useconds_t)ms * 1000);
		if (write(fds[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	if (read(fds[0], buffer, 1) != 1)
		abort();
	waitpid(child, &status, 0);
	close(fds[0]);
	close(fds[1]);
}

static NOINLINE void
by_work(long ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000 +
	    (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static int
run_real(long ms)
{
	pthread_t thread;
	long long start;
	sem_t is_held;

	tell_call("by_usleep", by_usleep, ms);
	tell_call("by_poll", by_poll, ms);
	tell_call("by_epoll", by_epoll, ms);
	tell_call("by_condition", by_condition, ms);
	tell_call("by_semaphore", by_semaphore, ms);
	tell_call("by_pipe", by_pipe, ms);
	tell_call("by_work", by_work, ms);
	sem_init(&is_held, 0, 0);
	pthread_create(&thread, NULL, hold, &is_held);
	while (sem_wait(&is_held) != 0)
		;
	start = clock_us();
	by_mutex();
	tell("by_mutex", start);
	pthread_join(thread, NULL);
	puts("waited");
	return 0;
}

/*
 * System calls: `n` by each function.
 */

static NOINLINE void
ask(long n)
{
	while (n-- > 0)
		getppid();
}

static NOINLINE void
in_the_middle(long n)
{
	ask(n);
}

static void *
in_thread(void *n)
{
	ask(*(long *)n);
	return NULL;
}

static volatile sig_atomic_t n_caught, n_system;

static void
on_signal(int number)
{
	(void)number;
	getppid();	/* the program might think that SIGSYS is blocked */
	n_caught++;
}

static void
on_system(int number)
{
	(void)number;
	n_system++;
}

/*
 * Everything that is done with masks and actions; prints how many calls
 * succeeded.
 */
static int
use_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	sigset_t all, none, mask;
	int n = 0;

	sigfillset(&all);
	sigemptyset(&none);
	action.sa_mask = all;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	n += n_caught == 1;
	sigprocmask(SIG_SETMASK, &all, NULL);
	raise(SIGUSR1);
	getppid();
	sigpending(&mask);
	n += sigismember(&mask, SIGUSR1) == 1 && n_caught == 1;
	mask = all;
	sigdelset(&mask, SIGUSR1);
	n += sigsuspend(&mask) == -1 && errno == EINTR && n_caught == 2;
	raise(SIGUSR1);
	n += ppoll(NULL, 0, NULL, &mask) == -1 && n_caught == 3;
	raise(SIGUSR1);
	n += pselect(0, NULL, NULL, NULL, NULL, &mask) == -1 && n_caught == 4;
	sigprocmask(SIG_SETMASK, &none, &mask);
	n += sigismember(&mask, SIGUSR2) == 1;
	action.sa_handler = on_system;
	sigaction(SIGSYS, &action, NULL);
	raise(SIGSYS);
	sigaction(SIGSYS, NULL, &old);
	n += n_system == 1 && old.sa_handler == on_system;
	return n;
}

static int
run_calls(long n)
{
	int status = 0, good;
	pthread_t thread;
	pid_t child;

	in_the_middle(n);
	pthread_create(&thread, NULL, in_thread, &n);
	pthread_join(thread, NULL);
	good = use_signals();
	child = fork();
	if (child == 0) {
		ask(n);
		_exit(7);
	}
	good += waitpid(child, &status, 0) == child &&
	    WEXITSTATUS(status) == 7;
	child = vfork();
	if (child == 0)
		_exit(8);
	good += waitpid(child, &status, 0) == child &&
	    WEXITSTATUS(status) == 8;
	good += system("exit 9") >> 8 == 9;
	printf("good %d\n", good);
	return 0;
}

/* Behaviour that must not change. */

static void
on_alarm(int number)
{
	(void)number;
}

/* The program's own signals must still interrupt its calls. */
static int
run_interrupted(long ms)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value = { 0, ms * 1000 } };
	struct timespec second = { 1, 0 };
	int fds[2], n = 0;

	sigaction(SIGALRM, &action, NULL);
	if (pipe(fds) != 0)
		return 1;
	setitimer(ITIMER_REAL, &timer, NULL);
	n += read(fds[0], buffer, 1) == -1 && errno == EINTR;
	setitimer(ITIMER_REAL, &timer, NULL);
	n += poll(NULL, 0, 1000) == -1 && errno == EINTR;
	setitimer(ITIMER_REAL, &timer, NULL);
	n += nanosleep(&second, NULL) == -1 && errno == EINTR;
	setitimer(ITIMER_REAL, &timer, NULL);
	n += clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL) == EINTR;
	errno = 77;
	keep(malloc(100));
	n += errno == 77;
	printf("interrupted %d\n", n);
	return 0;
}

/* Whether a process waits for bytes of a descriptor, or for a child. */
static int
is_in_wait(pid_t process, int fd)
{
	char path[64];
	long number = -1, of = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)process);
	file = fopen(path, "r");
	if (file == NULL || fscanf(file, "%ld %lx", &number, &of) != 2)
		number = -1;
	if (file != NULL)
		fclose(file);
	return (number == SYS_read && of == fd) || number == SYS_wait4;
}

/* A child waits for signals in read and wait in turn, and answers each. */
static int
answer(int number, long n)
{
	struct sigaction action = { .sa_handler = on_alarm };
	int never[2], answers[2], begun[2], lost = 0;
	struct pollfd ready;
	pid_t child;

	if (pipe(never) != 0 || pipe(answers) != 0 || pipe(begun) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		sigaction(number, &action, NULL);
		child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (write(begun[1], "", 1) == 1)
				pause();
			_exit(1);
		}
		/* Killed earlier, it may leave a file that it has just made. */
		if (read(begun[0], buffer, 1) != 1)
			_exit(1);
		for (; n > 0; n--)
			if ((n % 2 != 0 ? read(never[0], buffer, 1) :
			    waitpid(child, NULL, 0)) != -1 ||
			    errno != EINTR || write(answers[1], "", 1) != 1)
				_exit(1);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		_exit(0);
	}
	ready = (struct pollfd){ .fd = answers[0], .events = POLLIN };
	while (n-- > 0) {
		do {
			while (!is_in_wait(child, never[0]))
				sched_yield();
			kill(child, number);
			lost++;
		} while (poll(&ready, 1, 2000) == 0);
		lost--;
		if (read(answers[0], buffer, 1) != 1)
			return 1;
	}
	/* Until then it writes its recording. */
	waitpid(child, NULL, 0);
	printf("lost %d\n", lost);
	return 0;
}

static int
run_answers(long n)
{
	return answer(SIGALRM, n);
}

/* Of signals that the collector uses, too. */
static int
run_own_answers(long n)
{
	return answer(SIGRTMAX - 1, n) != 0 ? 1 : answer(SIGTRAP, n);
}

static sigjmp_buf out;

static void
jump_out(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

static NOINLINE void
deeper(long depth, long ms)
{
	char room[256];

	memset(room, (int)depth, sizeof room);
	__asm__ volatile ("" : : "r" (room) : "memory");
	if (depth == 0) {
		tell_call("by_poll", by_poll, ms);
		tell_call("by_work", by_work, ms);
	} else {
		deeper(depth - 1, ms);
	}
}

/* Jumps out of a call, then calls where that call was. */
static int
run_jumps(long ms)
{
	struct itimerval timer = { .it_value = { 0, 20000 } };
	struct sigaction action = { .sa_handler = jump_out };

	sigaction(SIGALRM, &action, NULL);
	if (sigsetjmp(out, 1) == 0) {
		setitimer(ITIMER_REAL, &timer, NULL);
		by_usleep(10000);
	}
	deeper(100, ms);
	puts("jumped");
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ends[2];

static void
unlock(void *argument)
{
	pthread_mutex_unlock(argument);
}

static int outer_pipe[2], inner_pipe[2];

static void
read_meanwhile(int number)
{
	char byte;

	(void)number;
	if (read(inner_pipe[0], &byte, 1) != 1)
		abort();
}

static NOINLINE void *
read_above(void *stack)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = 1 << 17 };
	const long long start = clock_us();
	char byte;

	if (sigaltstack(&alternate, NULL) != 0 ||
	    read(outer_pipe[0], &byte, 1) != 1)
		abort();
	tell("read_above", start);
	return NULL;
}

/* A handler during a call, on an alternate stack above the thread's. */
static int
run_above(long ms)
{
	struct sigaction action = { .sa_handler = read_meanwhile,
		.sa_flags = SA_ONSTACK | SA_RESTART };
	char stack[1 << 17];
	pthread_t thread;
	int i;

	if (pipe(outer_pipe) != 0 || pipe(inner_pipe) != 0)
		return 1;
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, read_above, stack);
	for (i = 0; i < 3; i++) {
		by_usleep(ms);
		if (i == 0)
			pthread_kill(thread, SIGUSR1);
		else if (write(i == 1 ? inner_pipe[1] : outer_pipe[1], "x",
		    1) != 1)
			return 1;
	}
	pthread_join(thread, NULL);
	puts("above");
	return 0;
}

static void *
wait_in_condition(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return argument;
}

static void *
wait_in_read(void *argument)
{
	while (read(ends[0], buffer, 1) >= 0)
		;
	return argument;
}

static void *
wait_in_sleep(void *argument)
{
	for (;;)
		sleep(100);
	return argument;
}

static void *
wait_in_getc(void *argument)
{
	FILE *file = fdopen(ends[0], "r");

	while (getc(file) != EOF)
		;
	return argument;
}

/* Cancels threads in calls, which must leave no lock locked. */
static int
run_cancelled(long n)
{
	void *(*const waits[])(void *) = { wait_in_condition, wait_in_read,
	    wait_in_sleep, wait_in_getc };
	unsigned i, cancelled = 0;
	pthread_t threads[4];
	void *result;

	if (pipe(ends) != 0)
		return 1;
	for (; n > 0; n--) {
		for (i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, waits[i], NULL);
		usleep(2000);
		for (i = 0; i < 4; i++)
			pthread_cancel(threads[i]);
		for (i = 0; i < 4; i++) {
			pthread_join(threads[i], &result);
			cancelled += result == PTHREAD_CANCELED;
		}
		cancelled += pthread_mutex_trylock(&mutex) == 0;
		pthread_mutex_unlock(&mutex);
	}
	printf("cancelled %u\n", cancelled);
	return 0;
}

static void *
wait_in_poll(void *argument)
{
	printf("polled %d\n", poll(NULL, 0, -1));
	return argument;
}

/* Ends while WAITERS threads wait in each way. */
static int
run_waiting(long ms)
{
	enum { WAITERS = 8 };
	pthread_t threads[2 * WAITERS];
	int i;

	for (i = 0; i < WAITERS; i++) {
		pthread_create(&threads[i], NULL, wait_in_condition, NULL);
		pthread_create(&threads[WAITERS + i], NULL, wait_in_poll, NULL);
	}
	by_usleep(ms);
	puts("ends");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(long);
} modes[] = {
	{ "memory", run_memory },
	{ "malloc", run_malloc },
	{ "bytes", run_bytes },
	{ "unseen-bytes", run_unseen_bytes },
	{ "sockets", run_sockets },
	{ "real", run_real },
	{ "calls", run_calls },
	{ "interrupted", run_interrupted },
	{ "answers", run_answers },
	{ "own-answers", run_own_answers },
	{ "waiting", run_waiting },
	{ "jumps", run_jumps },
	{ "above", run_above },
	{ "cancelled", run_cancelled },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 2 && i < sizeof modes / sizeof *modes; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(atol(argv[2]));
	fputs("spender: MODE NUMBER\n", stderr);
	return 2;
}
