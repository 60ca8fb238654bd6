/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiter.c -- threads that wait for what never comes, each in a different way.
 *
 * waiter kinds		a thread for each way to wait; makes a file `fifo`
 * waiter deadlock	two threads, each wanting the other's lock
 * waiter leave HOW MS	some threads wait; after MS milliseconds the process
 *			ends: by exit, _exit, quick_exit, abort, exec (of
 *			true), or a thread is cancelled
 * waiter unseen		two threads wait in raw system calls, one now,
 *			one after a sleep
 * waiter storm N		N short waits, and then one that lasts
 *
 * Each wait is reported on standard output as "NAME NANOSECONDS" by
 * CLOCK_MONOTONIC right before the call, then "ready" when all have begun.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t locked = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlocked = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11_locked;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static cnd_t c11_condition;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int empty[2], sockets[2], listening, file;
static pthread_t sleeper;
static int word;
static _Atomic int n_told;

static void
tell(const char *name)
{
	struct timespec now;
	char line[64];
	int n;

	clock_gettime(CLOCK_MONOTONIC, &now);
	n = snprintf(line, sizeof line, "%s %lld\n", name,
	    now.tv_sec * 1000000000ll + now.tv_nsec);
	/* A call that is not measured. */
	if (syscall(SYS_write, STDOUT_FILENO, line, (size_t)n) != n)
		_exit(9);
	n_told++;
}

#define WAY(name, call)							\
static __attribute__((noinline)) void *					\
name(void *argument)							\
{									\
	tell(#name);							\
	call;								\
	tell("over");							\
	return argument;						\
}

static void *
sleep_on(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void
read_lock(void)
{
	pthread_rwlock_rdlock(&rwlocked);
}

static void
wait_on_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

static void
wait_on_c11_condition(void)
{
	mtx_t mutex;

	mtx_init(&mutex, mtx_plain);
	mtx_lock(&mutex);
	cnd_wait(&c11_condition, &mutex);
}

static void
select_one(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(empty[0], &set);
	select(empty[0] + 1, &set, NULL, NULL, NULL);
}

static void
epoll_one(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, empty[0], &event);
	epoll_wait(fd, &event, 1, -1);
}

static void
wait_for_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		/* No further process that would be sampled for long. */
		close(STDOUT_FILENO);
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(1);
	}
	tell("by_waitpid");
	waitpid(child, NULL, 0);
}

static void
wait_for_signal(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &number);
}

static void
lock_file(void)
{
	int other = open("/proc/self/exe", O_RDONLY);

	flock(other, LOCK_EX);
}

static void
lock_record(void)
{
	char name[] = "lock-XXXXXX";
	struct flock lock = { .l_type = F_WRLCK };
	int mine = mkstemp(name), other = open(name, O_RDWR);

	unlink(name);
	fcntl(mine, F_OFD_SETLKW, &lock);
	fcntl(other, F_OFD_SETLKW, &lock);
}

static void
open_fifo(void)
{
	if (mkfifo("fifo", 0600) != 0)
		_exit(8);
	open("fifo", O_RDONLY);
}

static void
scan_number(void)
{
	FILE *stream = fdopen(dup(empty[0]), "r");
	int number;

	if (stream == NULL || fscanf(stream, "%d", &number) != 1)
		_exit(6);
}

static void
wait_for_message(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[64], message[8];
	mqd_t queue;

	snprintf(name, sizeof name, "/cpprof-waiter-%ld", (long)getpid());
	queue = mq_open(name, O_CREAT | O_RDONLY, 0600, &attributes);
	if (queue < 0)			/* not on this machine */
		pause();
	mq_unlink(name);
	mq_receive(queue, message, sizeof message, NULL);
}

static char byte;
WAY(by_mutex, pthread_mutex_lock(&locked))
WAY(by_rwlock_read, read_lock())
WAY(by_rwlock_write, pthread_rwlock_wrlock(&rwlocked))
WAY(by_c11_mutex, mtx_lock(&c11_locked))
WAY(by_condition, wait_on_condition())
WAY(by_c11_condition, wait_on_c11_condition())
WAY(by_semaphore, sem_wait(&semaphore))
WAY(by_barrier, pthread_barrier_wait(&barrier))
WAY(by_join, pthread_join(sleeper, NULL))
WAY(by_poll, poll(&(struct pollfd){ empty[0], POLLIN, 0 }, 1, -1))
WAY(by_select, select_one())
WAY(by_epoll, epoll_one())
WAY(by_read, (void)!read(empty[0], &byte, 1))
WAY(by_recv, recv(sockets[0], &byte, 1, 0))
WAY(by_accept, accept(listening, NULL, NULL))
WAY(by_nanosleep, nanosleep(&(struct timespec){ 600, 0 }, NULL))
WAY(by_sleep, sleep(600))
WAY(by_waitpid, wait_for_child())
WAY(by_sigwait, wait_for_signal())
WAY(by_pause, pause())
WAY(by_flock, lock_file())
WAY(by_futex, syscall(SYS_futex, &word, 0, 0, NULL))
WAY(by_getchar, getchar())
WAY(by_fscanf, scan_number())
WAY(by_fcntl, lock_record())
WAY(by_open, open_fifo())
WAY(by_message, wait_for_message())

static void *(*const ways[])(void *) = {
	by_mutex, by_rwlock_read, by_rwlock_write, by_c11_mutex, by_condition,
	by_c11_condition, by_semaphore, by_barrier, by_join, by_poll,
	by_select, by_epoll, by_read, by_recv, by_accept, by_nanosleep,
	by_sleep, by_waitpid, by_sigwait, by_pause, by_flock, by_futex,
	by_getchar, by_fscanf, by_fcntl, by_open, by_message,
};

enum { N_WAYS = sizeof ways / sizeof *ways };

static void
prepare(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_mutex_lock(&locked);
	pthread_rwlock_wrlock(&rwlocked);
	mtx_init(&c11_locked, mtx_plain);
	mtx_lock(&c11_locked);
	cnd_init(&c11_condition);
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	file = open("/proc/self/exe", O_RDONLY);
	if (pipe(empty) != 0 || flock(file, LOCK_EX) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
	    bind(listening, (struct sockaddr *)&name,
	        sizeof name.sun_family) != 0 ||
	    listen(listening, 1) != 0)
		_exit(7);
	pthread_create(&sleeper, NULL, sleep_on, NULL);
}

static int
run_kinds(char **words)
{
	pthread_t threads[N_WAYS];
	int i;

	(void)words;
	prepare();
	for (i = 0; i < N_WAYS; i++)
		pthread_create(&threads[i], NULL, ways[i], NULL);
	while (n_told < N_WAYS + 1)	/* one reports twice, by its child */
		usleep(1000);
	usleep(100000);
	tell("ready");
	for (;;)
		pause();
	return 0;
}

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER,
    second = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void
take(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	byte++;			/* not a tail call */
}

static void *
take_first(void *argument)
{
	take(&first);
	pthread_barrier_wait(&barrier);
	usleep(200000);
	tell("take_first");
	take(&second);
	return argument;
}

static void *
take_second(void *argument)
{
	take(&second);
	pthread_barrier_wait(&barrier);
	usleep(200000);
	tell("take_second");
	take(&first);
	return argument;
}

static int
run_deadlock(char **words)
{
	pthread_t threads[2];

	(void)words;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&threads[0], NULL, take_first, NULL);
	pthread_create(&threads[1], NULL, take_second, NULL);
	tell("main");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}

static int
run_leave(char **words)
{
	pthread_t threads[2];
	const char *how = words[0];

	sem_init(&semaphore, 0, 0);
	if (pipe(empty) != 0)
		return 7;
	pthread_create(&threads[0], NULL, by_semaphore, NULL);
	pthread_create(&threads[1], NULL, by_poll, NULL);
	while (n_told < 2)
		usleep(1000);
	usleep((useconds_t)atoi(words[1]) * 1000);
	tell("leaves");
	if (strcmp(how, "cancel") == 0) {
		pthread_cancel(threads[0]);
		pthread_cancel(threads[1]);
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
	}
	if (strcmp(how, "_exit") == 0)
		_exit(3);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(3);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "exec") == 0)
		execlp("sh", "sh", "-c", "exit 3", (char *)NULL);
	exit(3);
}

static void
park(void)
{
	register long timeout __asm__("r10") = 0;
	long result;

	do
		__asm__ volatile("syscall" : "=a" (result)
		    : "a" (SYS_futex), "D" (&word), "S" (0), "d" (0),
		    "r" (timeout) : "rcx", "r11", "memory");
	while (result != 0);
}

static void *
park_at_once(void *argument)
{
	tell("park_at_once");
	park();
	return argument;
}

static void *
park_later(void *argument)
{
	usleep(100000);
	tell("park_later");
	park();
	return argument;
}

static int
run_unseen(char **words)
{
	pthread_t threads[2];

	(void)words;
	pthread_create(&threads[0], NULL, park_at_once, NULL);
	pthread_create(&threads[1], NULL, park_later, NULL);
	pthread_join(threads[0], NULL);
	return 0;
}

/* Waits at many places of the stack, each time briefly; then for long. */
static __attribute__((noinline)) void
wait_below(int depth)
{
	if (depth > 0)
		wait_below(depth - 1);
	else
		poll(NULL, 0, 0);
	byte++;
}

static int
run_storm(char **words)
{
	long n = atol(words[0]);

	for (; n > 0; n--)
		wait_below((int)(n % 7));
	tell("ready");
	for (;;)
		pause();
	return 0;
}

static const struct {
	const char *name;
	int n_words;
	int (*run)(char **words);
} modes[] = {
	{ "kinds", 0, run_kinds },
	{ "deadlock", 0, run_deadlock },
	{ "leave", 2, run_leave },
	{ "unseen", 0, run_unseen },
	{ "storm", 1, run_storm },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc > 1 && strcmp(argv[1], modes[i].name) == 0 &&
		    argc == 2 + modes[i].n_words)
			return modes[i].run(argv + 2);
	return 2;
}
