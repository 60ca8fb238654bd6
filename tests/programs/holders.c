/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holders.c -- threads that hold a lock for different times, and know for how
 * long others have waited for each.
 *
 * holders KIND MS: for MS milliseconds, threads take a lock in one of three
 * functions, drawn at random, and keep it for 2, 5 or 10 ms.  KIND is what the
 * lock is made of:
 *
 *	pthread		the C library's mutex
 *	futex		a futex, of which each release wakes one waiter, if any
 *	ticket		a futex, of which each release wakes all waiters, and the
 *			one whose turn it is goes on
 *
 * Prints one line of JSON: how long each function has held others up, by the
 * clock of those who held and waited; how long threads have waited in all; and
 * how long while nobody held the lock, since who was woken did not run yet:
 *
 *	{"held_up": {"hold_short": NS, ..}, "waited_ns": NS, "late_ns": NS}
 *
 * tests/programs/holders.rs does the same with Rust's mutex.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline, noclone))

enum { N_THREADS = 5, N_PARTS = 3, MOST_TURNS = 1 << 14 };

static const char *const part_names[N_PARTS] = {
	"hold_short", "hold_middle", "hold_long"
};

/* Of one turn of a thread: when it asked for the lock, had it and left it. */
struct turn {
	uint64_t asked, got, left;
	unsigned part;
};

static struct turns {
	struct turn turns[MOST_TURNS];
	size_t n;
} books[N_THREADS];

static uint64_t end_ns;

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
rest(unsigned ms)
{
	struct timespec time = { 0, (long)ms * 1000000 };

	while (nanosleep(&time, &time) != 0)
		continue;
}

/*
 * Locks.
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void
pthread_take(void)
{
	pthread_mutex_lock(&mutex);
}

static void
pthread_leave(void)
{
	pthread_mutex_unlock(&mutex);
}

/* 0: free; 1: held; 2: held, and others may wait. */
static atomic_uint word;

static void
futex_take(void)
{
	unsigned seen = 0;

	if (atomic_compare_exchange_strong(&word, &seen, 1))
		return;
	while (atomic_exchange(&word, 2) != 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL,
		    0);
}

static void
futex_leave(void)
{
	if (atomic_exchange(&word, 0) == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
		    0);
}

static atomic_uint next_ticket, served;

static void
ticket_take(void)
{
	const unsigned own = atomic_fetch_add(&next_ticket, 1);
	unsigned seen;

	while ((seen = atomic_load(&served)) != own)
		syscall(SYS_futex, &served, FUTEX_WAIT_PRIVATE, seen, NULL,
		    NULL, 0);
}

static void
ticket_leave(void)
{
	atomic_fetch_add(&served, 1);
	syscall(SYS_futex, &served, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL,
	    0);
}

static const struct lock {
	const char *name;
	void (*take)(void), (*leave)(void);
} locks[] = {
	{ "pthread", pthread_take, pthread_leave },
	{ "futex", futex_take, futex_leave },
	{ "ticket", ticket_take, ticket_leave },
};

static const struct lock *lock;

/*
 * What threads do.
 */

static inline __attribute__((always_inline)) void
hold(struct turn *turn, unsigned part, unsigned ms)
{
	turn->asked = now_ns();
	lock->take();
	turn->got = now_ns();
	rest(ms);
	turn->left = now_ns();
	lock->leave();
	turn->part = part;	/* last, so that the caller stays on the stack */
}

static NOT_INLINED void
hold_short(struct turn *turn)
{
	hold(turn, 0, 2);
}

static NOT_INLINED void
hold_middle(struct turn *turn)
{
	hold(turn, 1, 5);
}

static NOT_INLINED void
hold_long(struct turn *turn)
{
	hold(turn, 2, 10);
}

static void *
run(void *book)
{
	static void (*const parts[N_PARTS])(struct turn *) = {
		hold_short, hold_middle, hold_long
	};
	struct turns *turns = book;
	unsigned seed = (unsigned)(turns - books) + 1;

	while (now_ns() < end_ns && turns->n < MOST_TURNS) {
		parts[rand_r(&seed) % N_PARTS](&turns->turns[turns->n++]);
		rest((unsigned)rand_r(&seed) % 8);
	}
	return NULL;
}

/*
 * The books.
 */

static uint64_t
common(const struct turn *waiter, const struct turn *holder)
{
	const uint64_t from = waiter->asked > holder->got ? waiter->asked :
	    holder->got;
	const uint64_t to = waiter->got < holder->left ? waiter->got :
	    holder->left;

	return to > from ? to - from : 0;
}

/* Adds how long a thread's turns were held up by those of another one. */
static void
add_common(const struct turns *waiter, const struct turns *holder,
    uint64_t held_up[N_PARTS])
{
	size_t i, k, first = 0;

	for (i = 0; i < waiter->n; i++) {
		while (first < holder->n &&
		    holder->turns[first].left <= waiter->turns[i].asked)
			first++;
		for (k = first; k < holder->n &&
		    holder->turns[k].got < waiter->turns[i].got; k++)
			held_up[holder->turns[k].part] += common(
			    &waiter->turns[i], &holder->turns[k]);
	}
}

static void
print_books(void)
{
	uint64_t held_up[N_PARTS] = { 0 }, waited = 0, late;
	unsigned i, k;
	size_t turn;

	for (i = 0; i < N_THREADS; i++) {
		for (turn = 0; turn < books[i].n; turn++)
			waited += books[i].turns[turn].got -
			    books[i].turns[turn].asked;
		for (k = 0; k < N_THREADS; k++)
			if (k != i)
				add_common(&books[i], &books[k], held_up);
	}
	late = waited;
	printf("{\"held_up\": {");
	for (i = 0; i < N_PARTS; i++) {
		printf("%s\"%s\": %llu", i == 0 ? "" : ", ", part_names[i],
		    (unsigned long long)held_up[i]);
		late -= held_up[i];
	}
	printf("}, \"waited_ns\": %llu, \"late_ns\": %llu}\n",
	    (unsigned long long)waited, (unsigned long long)late);
}

int
main(int argc, char **argv)
{
	pthread_t ids[N_THREADS];
	unsigned i;

	for (i = 0; argc == 3 && i < sizeof locks / sizeof *locks; i++)
		if (strcmp(argv[1], locks[i].name) == 0)
			lock = &locks[i];
	if (lock == NULL)
		return 2;
	end_ns = now_ns() + strtoull(argv[2], NULL, 10) * 1000000;
	for (i = 0; i < N_THREADS; i++)
		pthread_create(&ids[i], NULL, run, &books[i]);
	for (i = 0; i < N_THREADS; i++)
		pthread_join(ids[i], NULL);
	print_books();
	return 0;
}
