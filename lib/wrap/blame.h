/* SPDX-License-Identifier: MIT */
/* blame.h -- counts waits for locks and their like: `blame`, `lock-waits`.
 *
 * A wrapper that finds a lock taken does this around the real call:
 *
 *	blame_begin(&blame, ...);
 *	result = next.lock(lock);
 *	blame_end(&blame, how);
 *
 * and one that leaves a lock, if somebody may wait for it (blame_may_wait):
 *
 *	blame_release_begin(&release, lock);
 *	result = next.unlock(lock);
 *	blame_release_end(&release, ...);
 *
 * The bookkeeping is contention.h's.  This adds the time, the paths and the
 * lock.  All signals are blocked while the lock is held.
 *
 * All functions: async-signal-safe, on a sampled thread, unless stated
 * otherwise.  They preserve errno.
 */
#ifndef CPPROF_BLAME_H
#define CPPROF_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/attributes.h"
#include "lib/base/thread.h"
#include "lib/sources/resource.h"
#include "lib/wrap/contention.h"

/* All zero unless blame is counted. */
extern struct contention blame_contention;

/* Whether anybody may wait for the object, or has waited for its hold. */
static inline bool
blame_may_wait(const void *object)
{
	return contention_may_have(&blame_contention, object);
}

/* Whether blame is counted. */
extern bool blame_is_on;

/* Whether the paths that take locks are kept. */
extern bool blame_keeps_takes;

/* Locks that somebody has waited for, by their hash, which others may share. */
extern bool blame_was_waited_for[1 << CONTENTION_FILTER_BITS];

/*
 * Whether to call blame_note_take before a lock is taken.  Nobody waits long for
 * most locks, so the path is not looked for until somebody has.
 */
static inline bool
blame_keeps_take(const void *lock)
{
	return __builtin_expect(blame_keeps_takes, 0) &&
	    blame_was_waited_for[contention_hash(lock)];
}

/* A wait: a local variable of the wrapper. */
struct blame {
	struct contention_wait *wait;	/* NULL: it is not counted */
};

/*
 * The thread begins to wait, in the real `function`.  `frame` as for
 * waits_find_node.
 */
struct blame_object {
	enum contention_kind kind;
	const void *object;
	bool is_shared;
	uint32_t bits;			/* 0: all */
	const void *mutex;
};
void blame_begin(struct blame *blame, const struct blame_object *object,
    const void *function, const void *frame);
void blame_end(struct blame *blame, enum contention_end how);

/* The thread has taken a lock without waiting, and somebody waits for it. */
void blame_take(const void *lock, bool is_shared);

/*
 * The thread is going to take a lock that it does not hold, by the real
 * `function`.  `frame` as for waits_find_node.
 */
void blame_note_take(const void *lock, const void *function,
    const void *frame);

/* Around the real call that leaves a lock. */
struct blame_release {
	bool is_counted;
	const void *lock;
	uint64_t mask, now_ns;
	struct contention_charges charges;
};
void blame_release_begin(struct blame_release *release, const void *lock);
void blame_release_end(struct blame_release *release, const void *function,
    const void *frame);

/* Before the real `function` wakes waiters; wake->by is filled in here. */
void blame_wake(struct contention_wake *wake, const void *function,
    const void *frame);

/* Waiters for a futex wait for another one from now on. */
void blame_move(const void *from, const void *to, uint32_t n);

void blame_set_barrier(const void *barrier, uint32_t n_parties);

/*
 * The thread arrives at a barrier.  If it is the last one, it is charged with
 * the others' waits and does not wait itself.
 */
void blame_arrive(struct blame *blame, const void *barrier,
    const void *function, const void *frame);

/* The thread ends: those who join it have waited for it. */
RUNS_ONCE void blame_end_thread(struct thread *thread);

/* Counts the waits that last.  Any thread. */
RUNS_ONCE void blame_finish(void);

/* From the constructor or cpprof_start. */
RUNS_ONCE void blame_begin_counting(bool is_counted);

/* ---- wakers.c ---- */

/*
 * Objects by whose descriptors threads wake each other.  Waits for them count
 * only if a thread of this process was seen to end them.
 */

/*
 * Whether what becomes of descriptors is to be noted: not in a child of vfork,
 * whose descriptors are its own, but not its memory.
 */
bool wakers_are_own(void);

/* New descriptors: a pipe's, or a socket pair's; an eventfd's; a duplicate. */
void wakers_note_pair(const int fds[2], bool both_ways);
void wakers_note_event(int fd);
void wakers_note_copy(int from, int to);

/* Descriptors that are closed now, from `fd` to `last`. */
void wakers_forget(int fd, unsigned last);

/*
 * What a thread waits for that reads from fd, or waits for one of fds[n], as a
 * blame_object of the kind CONTENTION_FILE; NULL: nothing that is known, or
 * nothing, as there is something to read.
 */
struct pollfd;
const void *wakers_awaited(int fd);
const void *wakers_awaited_by_poll(const struct pollfd *fds, unsigned long n);

/* Before the real `function` writes to fd.  `frame` as for waits_find_node. */
void wakers_wake(int fd, const void *function, const void *frame);

#endif
