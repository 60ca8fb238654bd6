/* SPDX-License-Identifier: MIT */
/* contention.h -- who waits for what, and who makes them wait.
 *
 * Each wait is cut into pieces, and each piece is charged once:
 *
 *  - A lock has a hold at a time.  Whoever ends it is charged with the time
 *   that each waiter has waited since the hold began, also those that gave up
 *   meanwhile.
 *  - In a queue (a condition variable, a semaphore, a barrier, a thread that is
 *   joined), whoever wakes a waiter is charged with its whole wait.
 *  - At a futex, which may be a lock, whoever wakes a waiter is charged with what
 *   each waiter has waited since the one who was woken before began to run; or, if
 *   that one has only waited again, since it was woken.
 *  - What passes from then on until the waiter runs, or until another thread
 *   takes the lock, is its wake-up.
 *
 * So the pieces of a wait add up to it, to the nanosecond:
 *
 *	waiter	|-------- wait ---------------------------------|
 *	lock	 held by A  |       | held by B     |
 *	charged	 A's release|wake-up| B's release   | wake-up   |
 *
 * Only what somebody waits for has an entry.  A byte of the filter counts those
 * of the addresses that share it, so a thread that takes or leaves a lock finds
 * out by one load that nobody waits.
 *
 * The state is one structure of fixed size.  All zero, it is empty, as it is in
 * a forked child.  The caller knows the time, serialises the calls, and says
 * which path (a node of the tree) is charged.
 *
 * All functions: async-signal-safe.
 */
#ifndef CPPROF_CONTENTION_H
#define CPPROF_CONTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENTION_FILTER_BITS 13
#define CONTENTION_BUCKETS 4096		/* a power of two */
#define CONTENTION_ENTRIES 4096
#define CONTENTION_WAITS 8192
#define CONTENTION_CHARGES 32
#define CONTENTION_ALL UINT32_MAX	/* waiters */

/* A call path, by which waits and charges are told apart. */
struct contention_path {
	void *twin;			/* of the node; not used here */
	uint32_t number;
};

/* Objects of different kinds never share an entry. */
enum contention_kind {
	CONTENTION_LOCK,
	CONTENTION_CONDITION,
	CONTENTION_SEMAPHORE,
	CONTENTION_BARRIER,
	CONTENTION_THREAD,
	CONTENTION_FUTEX,
	CONTENTION_FILE		/* waits that nobody is seen to end, such as
				   those for other processes, do not count */
};

/* Who is charged with a piece of a wait. */
enum contention_cause {
	CONTENTION_BY_CALLER,		/* the one who calls the function */
	CONTENTION_BY_OTHER,		/* charge.by */
	CONTENTION_WAKE_UP,
	CONTENTION_NOT_SEEN,		/* its end was not seen */
	CONTENTION_NOT_WOKEN,		/* the waiter gave up */
	CONTENTION_OWNER_DIED,
	CONTENTION_NOT_ENDED		/* it lasts until the process ends */
};

struct contention_charge {
	enum contention_cause cause;
	struct contention_path waiter, by;
	uint64_t ns;
};

/*
 * What a function charges; empty when it is called.  Wake-ups of equal waiters
 * are added up, and other pieces of them if there is no room for one more; a
 * piece that has no room even so stays with its wait.
 */
struct contention_charges {
	unsigned n;
	struct contention_charge items[CONTENTION_CHARGES];
};

struct contention_entry;

struct contention_wait {
	enum contention_state {
		CONTENTION_UNUSED,
		CONTENTION_WAITS_NOW,
		CONTENTION_GAVE_UP	/* and has waited for the present hold */
	} state;
	bool is_released;	/* what follows is its wake-up */
	bool is_woken;		/* of a futex: this is the one to run */
	bool is_shared;		/* waits to read; set by the caller */
	uint32_t bits;		/* of a futex; likewise, all by default */
	const void *thread;	/* of a futex; see contention_set_thread */
	struct contention_wait *next, *previous;
	struct contention_entry *entry;
	struct contention_path path;
	struct contention_path by;	/* who has woken it, */
	uint64_t woken_ns;		/* and when */
	uint64_t since_ns;	/* what comes before is charged */
	uint64_t debt_ns;	/* of waits that gave up */
	const void *mutex;	/* that the waiter for a condition takes again;
				   likewise, NULL by default */
	struct contention_wait *again;	/* its wait for that */
};

struct contention_entry {
	struct contention_entry *next;	/* of the bucket, or unused */
	uintptr_t address;
	enum contention_kind kind;
	bool is_free;			/* a lock that was left by the last who
					   held it */
	uint32_t n_parties;		/* of a barrier; else 0 */
	const void *taker;		/* of a futex: the thread that was woken
					   last, while it may have it; */
	uint64_t taken_ns;		/* since when */
	struct contention_wait *first, *last;	/* the oldest first */
};

struct contention {
	uint8_t filter[1 << CONTENTION_FILTER_BITS];
	uint32_t n_entries, n_waits;	/* ever used */
	struct contention_entry *unused_entries;
	struct contention_wait *unused_waits;
	struct contention_entry *buckets[CONTENTION_BUCKETS];
	struct contention_entry entries[CONTENTION_ENTRIES];
	struct contention_wait waits[CONTENTION_WAITS];
};

static inline size_t
contention_hash(const void *object)
{
	const uintptr_t at = (uintptr_t)object;

	return (at >> 3 ^ at >> 16) & ((1u << CONTENTION_FILTER_BITS) - 1);
}

/* Whether the object may have an entry; without serialisation. */
static inline bool
contention_may_have(const struct contention *contention, const void *object)
{
	return __builtin_expect(__atomic_load_n(
	    &contention->filter[contention_hash(object)], __ATOMIC_RELAXED) !=
	    0, 0);
}

/* A thread begins to wait.  NULL: there is no room, and the wait is not known. */
struct contention_wait *contention_begin(struct contention *contention,
    enum contention_kind kind, const void *object,
    const struct contention_path *path, uint64_t now_ns);

/*
 * Says which thread waits, by any address of its own, directly after
 * contention_begin.  If it has just been woken from the same futex, another one
 * has been faster.
 */
void contention_set_thread(struct contention_wait *wait, const void *thread);

/* How a wait ends. */
enum contention_end {
	CONTENTION_GOT,		/* what it waited for */
	CONTENTION_GOT_AT_ONCE,	/* a lock, which somebody has left just before
				   the wait was noted */
	CONTENTION_GOT_DEAD,	/* a robust mutex, whose owner has died */
	CONTENTION_WITHOUT,	/* a timeout, a signal, a cancellation */
	CONTENTION_NOTHING	/* it has not waited: charge nothing */
};

/*
 * The wait ends, and is not valid any more.  For a lock, a thread that has got
 * it begins a hold.
 */
void contention_end(struct contention *contention,
    struct contention_wait *wait, enum contention_end how, uint64_t now_ns,
    struct contention_charges *charges);

/* The caller ends the hold of a lock. */
void contention_release(struct contention *contention, const void *object,
    uint64_t now_ns, struct contention_charges *charges);

/* A thread that has not waited takes the lock, perhaps with others (shared). */
void contention_take(struct contention *contention, const void *object,
    bool is_shared, uint64_t now_ns, struct contention_charges *charges);

/*
 * The caller, whose path is `by`, wakes n waiters, the oldest first, of those
 * that share one of the bits.  If there are none, and `renews`, the oldest that
 * was woken before is charged again: what it was woken for has been taken by
 * another thread.  is_held says of a mutex whether it is held now; NULL: there
 * is none.
 */
struct contention_wake {
	enum contention_kind kind;
	const void *object;
	uint32_t n, bits;
	bool renews;
	struct contention_path by;
	bool (*is_held)(const void *mutex);
};
void contention_wake(struct contention *contention,
    const struct contention_wake *wake, uint64_t now_ns,
    struct contention_charges *charges);

/* Up to n waiters on a futex, those not yet woken, now wait on another. */
void contention_move(struct contention *contention, const void *from,
    const void *to, uint32_t n);

/*
 * A barrier of that many threads begins to exist, or ends (0).
 */
void contention_set_barrier(struct contention *contention,
    const void *barrier, uint32_t n_parties);

/*
 * Whether the thread that now arrives is the last one; then contention_wake is
 * to be called.  False: it waits.
 */
bool contention_is_last(const struct contention *contention,
    const void *barrier);

/*
 * Charges all waits up to now, from the wait with number *at on, as not ended,
 * until there is no more room.  Whether that was all; else *at is the next.
 */
bool contention_charge_all(struct contention *contention, uint64_t now_ns,
    uint32_t *at, struct contention_charges *charges);

#endif
