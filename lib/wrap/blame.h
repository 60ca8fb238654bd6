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

/* Around the real call that leaves a lock. */
struct blame_release {
	bool is_counted;
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
void blame_begin_counting(bool is_counted);

#endif
