/* SPDX-License-Identifier: GPL-3.0-or-later */
/* locks.c -- threads that wait for each other in many ways, and say how long.
 *
 * locks MODE: prints "waited NS", the time that the program itself has measured
 * around calls that can wait, all threads together, and "late NS", how long they
 * waited for a processor.  In most modes others wait for a function called
 * culprit, and hardly for anything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone))

static _Atomic uint64_t waited, late;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static _Atomic int word;
static volatile int turns;
static volatile unsigned spent;

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A call that can wait. */
#define WAITED(call)							\
	do {								\
		const uint64_t begin_ = now_ns();			\
									\
		call;							\
		waited += now_ns() - begin_;				\
	} while (0)

static void
rest(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&time, &time) != 0)
		continue;
}

static struct timespec
in_ms(clockid_t clock, int ms)
{
	struct timespec time;

	clock_gettime(clock, &time);
	time.tv_nsec += (long)ms * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void
check(int result)
{
	if (result != 0) {
		fprintf(stderr, "%s\n", strerror(result));
		_exit(2);
	}
}

/* What this thread waited for a processor. */
static void
note_late(void)
{
	char text[80];
	unsigned long long ns;
	const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%*s %llu", &ns) == 1)
		late += ns;
}

static void *
alone(void *routine)
{
	void *result = ((void *(*)(void *))(uintptr_t)routine)(NULL);

	note_late();
	return result;
}

/* Starts a function on a thread. */
static pthread_t
begin(void *(*routine)(void *))
{
	pthread_t id;

	check(pthread_create(&id, NULL, alone, (void *)(uintptr_t)routine));
	return id;
}

static atomic_int n_together;

/* Runs a function once both threads are there. */
static void *
together(void *routine)
{
	void *result;

	atomic_fetch_add(&n_together, 1);
	while (atomic_load(&n_together) < 2)
		rest(1);
	result = (*(void *(**)(void *))routine)(NULL);
	note_late();
	return result;
}

/*
 * Two threads that begin at the same time, however busy the machine is.  Ends
 * them without waiting for them in the C library.
 */
static void
run(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t a, b;

	check(pthread_create(&a, NULL, together, &one));
	check(pthread_create(&b, NULL, together, &other));

	while (pthread_tryjoin_np(a, NULL) == EBUSY)
		rest(2);
	while (pthread_tryjoin_np(b, NULL) == EBUSY)
		rest(2);
}

static void
make_mutex(int type, int is_robust)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	if (is_robust)
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	check(pthread_mutex_init(&mutex, &attributes));
}

/* ---- a mutex ---- */

static NOT_INLINED void
culprit(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	rest(10);
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static NOT_INLINED void
quick(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	spent++;
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static void *
slow_thread(void *unused)
{
	for (int i = 0; i < 20; i++) {
		culprit();
		rest(1);
	}
	return unused;
}

static void *
quick_thread(void *unused)
{
	for (int i = 0; i < 200; i++) {
		quick();
		rest(1);
	}
	return unused;
}

static void
play_mutex(void)
{
	run(slow_thread, quick_thread);
}

static void
play_convoy(void)
{
	pthread_t slow = begin(slow_thread), others[4];

	for (int i = 0; i < 4; i++)
		others[i] = begin(quick_thread);
	while (pthread_tryjoin_np(slow, NULL) == EBUSY)
		rest(2);
	for (int i = 0; i < 4; i++)
		while (pthread_tryjoin_np(others[i], NULL) == EBUSY)
			rest(2);
}

static void
play_error_checking(void)
{
	make_mutex(PTHREAD_MUTEX_ERRORCHECK, 0);
	WAITED(check(pthread_mutex_lock(&mutex)));
	/* These do not wait, however long they take. */
	for (int i = 0; i < 20000; i++)
		if (pthread_mutex_lock(&mutex) != EDEADLK)
			abort();
	check(pthread_mutex_unlock(&mutex));
	if (pthread_mutex_unlock(&mutex) != EPERM)
		abort();
	play_mutex();
}

/* One function leaves the lock for two that take it. */
static NOT_INLINED void
culprit_takes(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	spent++;
}

static NOT_INLINED void
quickly_takes(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	spent += 2;
}

static NOT_INLINED void
leaves(void)
{
	check(pthread_mutex_unlock(&mutex));
	spent += 2;		/* so that it is no function's twin */
}

static void *
slow_taker(void *unused)
{
	for (int i = 0; i < 20; i++) {
		culprit_takes();
		rest(10);
		leaves();
		rest(1);
	}
	return unused;
}

static void *
quick_taker(void *unused)
{
	for (int i = 0; i < 200; i++) {
		quickly_takes();
		leaves();
		rest(1);
	}
	return unused;
}

static void
play_handed(void)
{
	run(slow_taker, quick_taker);
}

/* A lock held over a write that blocks. */
static int pipes[2];

static void *
drain(void *unused)
{
	char bytes[4096];
	ssize_t n;

	do {
		rest(5);
		WAITED(n = read(pipes[0], bytes, sizeof bytes));
	} while (n > 0);
	return unused;
}

static NOT_INLINED void
culprit_writes(void)
{
	static const char bytes[4096];

	WAITED(check(pthread_mutex_lock(&mutex)));
	if (write(pipes[1], bytes, sizeof bytes) < 0)
		abort();
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static void *
writing_thread(void *unused)
{
	for (int i = 0; i < 60; i++)
		culprit_writes();
	close(pipes[1]);
	return unused;
}

static void
play_io(void)
{
	if (pipe(pipes) != 0 || fcntl(pipes[1], F_SETPIPE_SZ, 4096) < 0)
		abort();
	begin(drain);
	run(writing_thread, quick_thread);
}

/* A recursive mutex, which the inner function does not leave. */
static NOT_INLINED void
innocent(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static NOT_INLINED void
culprit_recursive(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	for (int i = 0; i < 5; i++) {
		rest(2);
		innocent();
	}
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static void *
recursive_thread(void *unused)
{
	for (int i = 0; i < 20; i++) {
		culprit_recursive();
		rest(1);
	}
	return unused;
}

static void
play_recursive(void)
{
	make_mutex(PTHREAD_MUTEX_RECURSIVE, 0);
	run(recursive_thread, quick_thread);
}

/* Waiters that give up before the holder is done: it waits for four of them. */
static atomic_int n_given_up;
static atomic_bool is_held_long;

static NOT_INLINED void
impatient(void)
{
	struct timespec until = in_ms(CLOCK_REALTIME, 15);
	int result;

	WAITED(result = pthread_mutex_timedlock(&mutex, &until));
	n_given_up += result != 0;
	if (result == 0)
		check(pthread_mutex_unlock(&mutex));
	until = in_ms(CLOCK_MONOTONIC, 15);
	WAITED(result = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC,
	                                        &until));
	n_given_up += result != 0;
	if (result == 0)
		check(pthread_mutex_unlock(&mutex));
}

static NOT_INLINED void
culprit_long(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	is_held_long = true;
	do
		rest(20);
	while (n_given_up < 4);
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static void *
long_thread(void *unused)
{
	culprit_long();
	rest(5);
	culprit_long();
	return unused;
}

static void *
impatient_thread(void *unused)
{
	while (!is_held_long)
		rest(1);
	for (int i = 0; i < 8; i++)
		impatient();
	return unused;
}

static void
play_timeouts(void)
{
	run(long_thread, impatient_thread);
}

/* A robust mutex whose owner ends. */
static void *
dying_thread(void *unused)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	rest(100);
	return unused;
}

static void *
heir_thread(void *unused)
{
	int result;

	rest(20);
	WAITED(result = pthread_mutex_lock(&mutex));
	if (result != EOWNERDEAD)
		abort();
	check(pthread_mutex_consistent(&mutex));
	check(pthread_mutex_unlock(&mutex));
	return unused;
}

static void
play_robust(void)
{
	make_mutex(PTHREAD_MUTEX_NORMAL, 1);
	run(dying_thread, heir_thread);
}

/* ---- readers and writers ---- */

static NOT_INLINED void
culprit_reads(void)
{
	WAITED(check(pthread_rwlock_rdlock(&rwlock)));
	rest(10);
	check(pthread_rwlock_unlock(&rwlock));
	spent++;
}

static NOT_INLINED void
writes(void)
{
	WAITED(check(pthread_rwlock_wrlock(&rwlock)));
	spent++;
	check(pthread_rwlock_unlock(&rwlock));
	spent++;
}

static void *
reading_thread(void *unused)
{
	for (int i = 0; i < 20; i++)
		culprit_reads();
	return unused;
}

static void *
writer_thread(void *unused)
{
	for (int i = 0; i < 10; i++) {
		writes();
		rest(1);
	}
	return unused;
}

/* Readers that let a writer starve, since their times overlap. */
static void
play_readers(void)
{
	pthread_t other = begin(reading_thread);

	rest(5);
	run(reading_thread, writer_thread);
	while (pthread_tryjoin_np(other, NULL) == EBUSY)
		rest(2);
}

static NOT_INLINED void
culprit_writes_lock(void)
{
	WAITED(check(pthread_rwlock_wrlock(&rwlock)));
	rest(10);
	check(pthread_rwlock_unlock(&rwlock));
	spent++;
}

static NOT_INLINED void
reads(void)
{
	struct timespec until = in_ms(CLOCK_REALTIME, 10000);

	WAITED(check(pthread_rwlock_rdlock(&rwlock)));
	check(pthread_rwlock_unlock(&rwlock));
	WAITED(check(pthread_rwlock_timedrdlock(&rwlock, &until)));
	check(pthread_rwlock_unlock(&rwlock));
	spent++;
}

static void *
slow_writer(void *unused)
{
	for (int i = 0; i < 20; i++) {
		culprit_writes_lock();
		rest(1);
	}
	return unused;
}

static void *
quick_reader(void *unused)
{
	for (int i = 0; i < 100; i++) {
		reads();
		rest(1);
	}
	return unused;
}

static void
play_writer(void)
{
	run(slow_writer, quick_reader);
}

/* ---- other locks ---- */

static NOT_INLINED void
culprit_spins(void)
{
	WAITED(check(pthread_spin_lock(&spin)));
	rest(10);
	check(pthread_spin_unlock(&spin));
	spent++;
}

static NOT_INLINED void
spins(void)
{
	WAITED(check(pthread_spin_lock(&spin)));
	check(pthread_spin_unlock(&spin));
	spent++;
}

static void *
slow_spinner(void *unused)
{
	for (int i = 0; i < 10; i++) {
		culprit_spins();
		rest(1);
	}
	return unused;
}

static void *
quick_spinner(void *unused)
{
	for (int i = 0; i < 20; i++) {
		rest(2);
		spins();
	}
	return unused;
}

static void
play_spin(void)
{
	check(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	run(slow_spinner, quick_spinner);
}

static NOT_INLINED void
culprit_c11(void)
{
	WAITED(check(mtx_lock(&c11_mutex)));
	rest(10);
	check(mtx_unlock(&c11_mutex));
	spent++;
}

static NOT_INLINED void
locks_c11(void)
{
	WAITED(check(mtx_lock(&c11_mutex)));
	check(mtx_unlock(&c11_mutex));
	spent++;
}

static void *
slow_c11(void *unused)
{
	for (int i = 0; i < 20; i++) {
		culprit_c11();
		rest(1);
	}
	return unused;
}

static void *
quick_c11(void *unused)
{
	for (int i = 0; i < 100; i++) {
		locks_c11();
		rest(1);
	}
	return unused;
}

static void
play_c11(void)
{
	check(mtx_init(&c11_mutex, mtx_timed));
	run(slow_c11, quick_c11);
}

/* ---- conditions ---- */

static NOT_INLINED void
culprit_signals(void)
{
	rest(10);
	WAITED(check(pthread_mutex_lock(&mutex)));
	turns++;
	check(pthread_cond_signal(&condition));
	check(pthread_mutex_unlock(&mutex));
}

static NOT_INLINED void
waits_for_signal(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	while (turns == 0)
		WAITED(check(pthread_cond_wait(&condition, &mutex)));
	turns--;
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static void *
signaller(void *unused)
{
	for (int i = 0; i < 20; i++)
		culprit_signals();
	return unused;
}

static void *
sleeper(void *unused)
{
	for (int i = 0; i < 20; i++)
		waits_for_signal();
	return unused;
}

static void
play_signal(void)
{
	run(signaller, sleeper);
}

static NOT_INLINED void
culprit_broadcasts(void)
{
	WAITED(check(mtx_lock(&c11_mutex)));
	turns = 1;
	check(cnd_broadcast(&c11_condition));
	check(mtx_unlock(&c11_mutex));
	spent++;
}

static void *
sleeper_c11(void *unused)
{
	WAITED(check(mtx_lock(&c11_mutex)));
	while (turns == 0)
		WAITED(check(cnd_wait(&c11_condition, &c11_mutex)));
	check(mtx_unlock(&c11_mutex));
	return unused;
}

static void *
broadcaster(void *unused)
{
	rest(100);
	culprit_broadcasts();
	return unused;
}

static void
play_broadcast(void)
{
	pthread_t others[5];

	check(mtx_init(&c11_mutex, mtx_plain));
	check(cnd_init(&c11_condition));
	for (int i = 0; i < 5; i++)
		others[i] = begin(sleeper_c11);
	run(broadcaster, sleeper_c11);
	for (int i = 0; i < 5; i++)
		while (pthread_tryjoin_np(others[i], NULL) == EBUSY)
			rest(2);
}

/* ---- descriptors ---- */

enum { N_SENT = 20 };

static int from_fd, to_fd;
static bool polls;

static NOT_INLINED void
culprit_sends(void)
{
	static const uint64_t one = 1;

	rest(10);
	if (write(to_fd, &one, sizeof one) != sizeof one)
		abort();
	spent++;
}

static void *
sender(void *unused)
{
	for (int i = 0; i < N_SENT; i++)
		culprit_sends();
	return unused;
}

/* Not counted: no thread ends it. */
static void
wait_for_nobody(void)
{
	struct pollfd fd = { from_fd, POLLIN, 0 };

	if (poll(&fd, 1, 20) != 0)
		abort();
}

static void *
receiver(void *unused)
{
	struct pollfd fd = { from_fd, POLLIN, 0 };
	uint64_t value;

	for (int i = 0; i < N_SENT; i++) {
		if (polls)
			WAITED(check(poll(&fd, 1, -1) != 1));
		WAITED(check(read(from_fd, &value, sizeof value) !=
		    sizeof value));
	}
	wait_for_nobody();
	return unused;
}

/* What a child of vfork does with its descriptors changes nothing here. */
static void
close_in_child(void)
{
	const pid_t child = vfork();

	if (child == 0) {
		close(from_fd);
		close(to_fd);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void
play_pipe(void)
{
	if (pipe(pipes) != 0)
		abort();
	from_fd = pipes[0];
	to_fd = dup(pipes[1]);
	close(pipes[1]);
	close_in_child();
	run(sender, receiver);
}

static void
play_poll(void)
{
	polls = true;
	play_pipe();
}

static void
play_socketpair(void)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pipes) != 0)
		abort();
	from_fd = pipes[0];
	to_fd = pipes[1];
	run(sender, receiver);
}

static void
play_eventfd(void)
{
	from_fd = to_fd = eventfd(0, EFD_SEMAPHORE);
	run(sender, receiver);
}

/* The signal comes at once, but then the signaller keeps the mutex. */
static NOT_INLINED void
culprit_keeps(void)
{
	check(pthread_mutex_unlock(&mutex));
	spent++;
}

static NOT_INLINED void
signals_early(void)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	turns++;
	check(pthread_cond_signal(&condition));
	rest(10);
	culprit_keeps();
}

static void *
early_signaller(void *unused)
{
	for (int i = 0; i < 20; i++) {
		rest(1);
		signals_early();
	}
	return unused;
}

static void
play_keeps(void)
{
	run(early_signaller, sleeper);
}

/* While one waits for the condition, another may take the mutex. */
static void *
late_broadcaster(void *unused)
{
	slow_thread(NULL);
	WAITED(check(pthread_mutex_lock(&mutex)));
	turns = 1;
	check(pthread_cond_broadcast(&condition));
	check(pthread_mutex_unlock(&mutex));
	return unused;
}

static void *
single_sleeper(void *unused)
{
	const struct timespec until = in_ms(CLOCK_REALTIME, 60000);

	WAITED(check(pthread_mutex_lock(&mutex)));
	while (turns == 0)
		WAITED(check(pthread_cond_timedwait(&condition, &mutex,
		                                    &until)));
	check(pthread_mutex_unlock(&mutex));
	return unused;
}

static void
play_gives_up_mutex(void)
{
	pthread_t others[3];

	for (int i = 0; i < 3; i++)
		others[i] = begin(quick_thread);
	run(late_broadcaster, single_sleeper);
	for (int i = 0; i < 3; i++)
		while (pthread_tryjoin_np(others[i], NULL) == EBUSY)
			rest(2);
}

static void *
timed_sleeper(void *unused)
{
	for (int i = 0; i < 5; i++) {
		const struct timespec until = in_ms(CLOCK_MONOTONIC, 20);
		int result;

		WAITED(check(pthread_mutex_lock(&mutex)));
		WAITED(result = pthread_cond_clockwait(&condition, &mutex,
		                                       CLOCK_MONOTONIC,
		                                       &until));
		if (result != ETIMEDOUT)
			abort();
		check(pthread_mutex_unlock(&mutex));
	}
	return unused;
}

static void
play_time_out(void)
{
	run(timed_sleeper, timed_sleeper);
}

/* ---- semaphores, barriers, threads, futexes ---- */

static NOT_INLINED void
culprit_posts(void)
{
	rest(10);
	check(sem_post(&semaphore));
	spent++;
}

static void *
poster(void *unused)
{
	for (int i = 0; i < 40; i++)
		culprit_posts();
	return unused;
}

static void *
taker(void *unused)
{
	const struct timespec until = in_ms(CLOCK_REALTIME, 60000);

	for (int i = 0; i < 20; i++) {
		WAITED(check(sem_wait(&semaphore)));
		WAITED(check(sem_timedwait(&semaphore, &until)));
	}
	return unused;
}

static void
play_semaphore(void)
{
	check(sem_init(&semaphore, 0, 0));
	run(poster, taker);
}

static NOT_INLINED void
culprit_comes_last(void)
{
	rest(10);
	/* The others may come later, all the same. */
	WAITED(pthread_barrier_wait(&barrier));
	spent++;
}

static void *
last_one(void *unused)
{
	for (int i = 0; i < 20; i++)
		culprit_comes_last();
	return unused;
}

static void *
early_one(void *unused)
{
	for (int i = 0; i < 20; i++)
		WAITED(pthread_barrier_wait(&barrier));
	return unused;
}

static void
play_barrier(void)
{
	pthread_t third;

	check(pthread_barrier_init(&barrier, NULL, 3));
	third = begin(early_one);
	run(last_one, early_one);
	while (pthread_tryjoin_np(third, NULL) == EBUSY)
		rest(2);
	check(pthread_barrier_destroy(&barrier));
}

static void *
culprit_ends_late(void *unused)
{
	rest(100);
	return unused;
}

static int
culprit_ends_late_c11(void *unused)
{
	(void)unused;
	rest(100);
	thrd_exit(0);
}

static void
play_join(void)
{
	pthread_t id = begin(culprit_ends_late);
	thrd_t other;

	WAITED(check(pthread_join(id, NULL)));
	check(thrd_create(&other, culprit_ends_late_c11, NULL));
	WAITED(check(thrd_join(other, NULL)));
}

static NOT_INLINED void
culprit_wakes(void)
{
	rest(10);
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL,
	        NULL, 0);
	spent++;
}

static void *
waker(void *unused)
{
	for (int i = 0; i < 20; i++) {
		culprit_wakes();
		while (word != 0)
			rest(1);
	}
	return unused;
}

static void *
futex_sleeper(void *unused)
{
	for (int i = 0; i < 20; i++) {
		while (word == 0)
			WAITED(syscall(SYS_futex, &word, FUTEX_WAIT |
			               FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0));
		word = 0;
	}
	return unused;
}

static void
play_futex(void)
{
	run(waker, futex_sleeper);
}

/* ---- waits that end otherwise ---- */

static void
unlock_mutex(void *unused)
{
	(void)unused;
	check(pthread_mutex_unlock(&mutex));
	/* What follows is no wait. */
	rest(50);
}

static _Atomic uint64_t cancelled_since;

static void *
cancelled_thread(void *unused)
{
	WAITED(check(pthread_mutex_lock(&mutex)));
	pthread_cleanup_push(unlock_mutex, NULL);
	cancelled_since = now_ns();
	for (;;)
		check(pthread_cond_wait(&condition, &mutex));
	pthread_cleanup_pop(0);
	return unused;
}

/* Threads are cancelled while they wait; others take what they held. */
static void
play_cancel(void)
{
	for (int i = 0; i < 5; i++) {
		pthread_t id;
		uint64_t begin_ns;

		cancelled_since = 0;
		id = begin(cancelled_thread);
		while (cancelled_since == 0)
			rest(1);
		rest(50);
		begin_ns = now_ns();
		check(pthread_cancel(id));
		waited += now_ns() - cancelled_since;
		WAITED(check(pthread_join(id, NULL)));
		quick();
		/* What it took until the thread ran. */
		waited += now_ns() - begin_ns;
	}
}

/* The process ends while one waits for a mutex that nobody leaves. */
static void *
waits_for_ever(void *unused)
{
	check(pthread_mutex_lock(&mutex));
	return unused;
}

static void
play_exit(void)
{
	uint64_t begin_ns;

	WAITED(check(pthread_mutex_lock(&mutex)));
	begin_ns = now_ns();
	begin(waits_for_ever);
	begin(waits_for_ever);
	rest(100);
	/* Until the process ends, and that twice. */
	waited = 2 * (now_ns() - begin_ns) + 2000000000;
}

/* A child has waits of its own, also when it is forked while others wait. */
static void
play_fork(void)
{
	pthread_t slow = begin(slow_thread), other = begin(quick_thread);

	for (int i = 0; i < 10; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			pthread_mutex_t *fresh = &mutex;
			pthread_t id;

			*fresh = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
			WAITED(check(pthread_mutex_lock(&mutex)));
			id = begin(waits_for_ever);
			rest(10);
			check(pthread_mutex_unlock(&mutex));
			check(pthread_join(id, NULL));
			exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status != 0)
			abort();
		/* The child's. */
		waited += 2000000000;
	}
	check(pthread_join(slow, NULL));
	check(pthread_join(other, NULL));
	waited += 2000000000;
}

/* A handler jumps out of a wait, and another one waits inside one. */
static sigjmp_buf place;

static void
jump(int number)
{
	(void)number;
	siglongjmp(place, 1);
}

static void
post_and_wait(int number)
{
	(void)number;
	WAITED(sem_wait(&semaphore));
}

static void *
late_poster(void *unused)
{
	rest(50);
	check(sem_post(&semaphore));
	rest(50);
	check(sem_post(&semaphore));
	return unused;
}

static void
play_jump(void)
{
	struct itimerspec soon = { .it_value.tv_nsec = 20000000 };
	timer_t timer;
	pthread_t id;

	check(sem_init(&semaphore, 0, 0));
	check(timer_create(CLOCK_MONOTONIC, NULL, &timer));
	signal(SIGALRM, jump);
	for (volatile int i = 0; i < 5; i++) {
		const uint64_t begin_ns = now_ns();

		check(timer_settime(timer, 0, &soon, NULL));
		if (sigsetjmp(place, 1) == 0)
			sem_wait(&semaphore);
		waited += now_ns() - begin_ns;
		culprit();
		/* Its end is noted with the thread's next wait. */
		waited += now_ns() - begin_ns;
	}
	signal(SIGALRM, post_and_wait);
	id = begin(late_poster);
	check(timer_settime(timer, 0, &soon, NULL));
	while (sem_wait(&semaphore) != 0)
		continue;
	waited += 200000000;
	WAITED(check(pthread_join(id, NULL)));
}

/* Many threads, many locks, at random: only sums are known. */
enum { N_RANDOM = 8, RANDOM_LOCKS = 4, RANDOM_TURNS = 20000 };
static pthread_mutex_t random_locks[RANDOM_LOCKS];

static NOT_INLINED void
random_turn(unsigned *seed)
{
	pthread_mutex_t *lock = &random_locks[rand_r(seed) % RANDOM_LOCKS];
	const unsigned choice = (unsigned)rand_r(seed) % 16;
	const struct timespec until = { 0, 0 };

	if (choice == 0) {
		if (pthread_mutex_trylock(lock) != 0)
			return;
	} else if (choice == 1) {
		int result;

		WAITED(result = pthread_mutex_timedlock(lock, &until));
		if (result != 0)
			return;
	} else {
		WAITED(check(pthread_mutex_lock(lock)));
	}
	if (choice == 2)
		sched_yield();
	for (unsigned i = rand_r(seed) % 256; i > 0; i--)
		spent++;
	check(pthread_mutex_unlock(lock));
}

static void *
random_thread(void *unused)
{
	unsigned seed = (unsigned)(uintptr_t)&seed;

	for (int i = 0; i < RANDOM_TURNS; i++)
		random_turn(&seed);
	return unused;
}

static void
play_random(void)
{
	pthread_t ids[N_RANDOM];

	for (int i = 0; i < RANDOM_LOCKS; i++)
		check(pthread_mutex_init(&random_locks[i], NULL));
	for (int i = 0; i < N_RANDOM; i++)
		ids[i] = begin(random_thread);
	for (int i = 0; i < N_RANDOM; i++)
		WAITED(check(pthread_join(ids[i], NULL)));
}

static const struct {
	const char *name;
	void (*play)(void);
} modes[] = {
	{ "mutex", play_mutex }, { "convoy", play_convoy }, { "io", play_io },
	{ "handed", play_handed }, { "pipe", play_pipe }, { "poll", play_poll },
	{ "socketpair", play_socketpair }, { "eventfd", play_eventfd },
	{ "error-checking", play_error_checking },
	{ "recursive", play_recursive }, { "timeouts", play_timeouts },
	{ "robust", play_robust }, { "readers", play_readers },
	{ "writer", play_writer }, { "spin", play_spin }, { "c11", play_c11 },
	{ "signal", play_signal }, { "broadcast", play_broadcast },
	{ "keeps", play_keeps }, { "gives-up", play_gives_up_mutex },
	{ "time-out", play_time_out }, { "semaphore", play_semaphore },
	{ "barrier", play_barrier }, { "join", play_join },
	{ "futex", play_futex }, { "cancel", play_cancel },
	{ "exit", play_exit }, { "fork", play_fork }, { "jump", play_jump },
	{ "random", play_random },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name) != 0)
			continue;
		modes[i].play();
		note_late();
		printf("waited %llu late %llu\n", (unsigned long long)waited,
		    (unsigned long long)late);
		return 0;
	}
	fprintf(stderr, "usage: locks MODE\n");
	return 2;
}
