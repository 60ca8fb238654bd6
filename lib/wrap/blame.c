/* SPDX-License-Identifier: MIT */
/* blame.c -- waits and who is to blame, with times and paths.
 *
 * A path is found before the thread waits, so that a woken thread runs on at
 * once, and after it has left a lock, so that nobody waits for that.
 */
#include "lib/wrap/blame.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/run/sample.h"
#include "lib/signals/signals.h"
#include "lib/store/datafile.h"
#include "lib/store/pairs.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/unwinder.h"
#include "lib/wrap/wrapped.h"

#define BLAME_SPINS 1000

struct contention blame_contention WIPED_TABLE;
bool blame_is_on, blame_keeps_takes;
bool blame_was_waited_for[1 << CONTENTION_FILTER_BITS] BIG_TABLE;

static atomic_flag blame_lock WIPED;

/*
 * The waits of this thread, the outermost first: a signal handler may wait, too.
 * And the paths by which it has taken locks, by the locks' hash; one that was
 * left while nobody waited stays until the lock is taken again.  Those of the
 * parent are not a forked child's.
 */
#define WAITS_MAX 4
#define TAKES 8

static __thread struct {
	uint32_t pid;
	unsigned n;
	struct blame_own {
		struct contention_wait *wait;
		uintptr_t frame;
	} waits[WAITS_MAX];
	struct blame_own_take {
		const void *lock;		/* NULL: none */
		struct contention_path path;
	} takes[TAKES];
} own;

static const char being_written;	/* in place of a lock */

/* Names in place of a path, as phases. */
static const char *const blame_names[] = {
	[CONTENTION_WAKE_UP] = "wake-up",
	[CONTENTION_NOT_SEEN] = "not-seen",
	[CONTENTION_NOT_WOKEN] = "gave-up",
	[CONTENTION_OWNER_DIED] = "owner-died",
	[CONTENTION_NOT_ENDED] = "not-ended",
};

#define N_CAUSES (sizeof blame_names / sizeof *blame_names)

static uint32_t blame_phases[N_CAUSES];

/*
 * The lock.
 */

static void
blame_set_mask(const uint64_t *mask, uint64_t *old)
{
	if (thread_self != NULL)
		thread_made_call(thread_self);
	arch_system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask,
	    (long)old, sizeof *mask);
}

/* False if a holder seems to have been killed, as a child of vfork can be. */
static bool
blame_take_lock(void)
{
	unsigned i;

	for (i = 0; atomic_flag_test_and_set_explicit(&blame_lock,
	    memory_order_acquire); i++) {
		if (i > BLAME_SPINS)
			process_pause();
		else
			__builtin_ia32_pause();
		if (i > BLAME_SPINS + PROCESS_LONG_WAITS)
			return false;
	}
	return true;
}

static void
blame_leave_lock(void)
{
	atomic_flag_clear_explicit(&blame_lock, memory_order_release);
}

/* Not in a child of vfork, whose memory is its parent's. */
static bool
blame_enter(uint64_t *mask)
{
	const uint64_t blocked = signals_blocked_for_work();

	if (!blame_is_on || thread_self == NULL || thread_self->is_sampling ||
	    sampling_is_stopped() || !sampling_check_process() ||
	    !sampling_is_own_process())
		return false;
	blame_set_mask(&blocked, mask);
	if (blame_take_lock())
		return true;
	blame_set_mask(mask, NULL);
	return false;
}

static void
blame_leave(const uint64_t *mask)
{
	blame_leave_lock();
	blame_set_mask(mask, NULL);
}

static uint64_t
blame_now_ns(void)
{
	return process_clock(CLOCK_MONOTONIC);
}

/*
 * Paths.
 */

static struct contention_path
blame_path(const void *function, const void *frame)
{
	struct node node = TREE_ROOT;

	if (thread_self != NULL)
		waits_find_node(thread_self, (uintptr_t)frame, function,
		    blame_now_ns(), &node);
	return (struct contention_path){ node.twin, node.number };
}

/* The node that stands for a cause.  With signals blocked. */
static struct pair_node
blame_node_of_cause(enum contention_cause cause)
{
	struct node node;

	if (thread_self == NULL || sample_node_apart(thread_self,
	    blame_phases[cause], NULL, &node) != STORE_OK)
		node = TREE_ROOT;
	return (struct pair_node){ node.twin, node.number };
}

static struct pair_node
blame_node(const struct contention_path *path)
{
	return (struct pair_node){ path->twin, path->number };
}

/*
 * The locks that this thread has taken.
 */

static void
blame_forget_parents(void)
{
	if (own.pid != process_own.pid) {
		memset(&own, 0, sizeof own);
		own.pid = process_own.pid;
	}
}

static struct blame_own_take *
blame_place_of_take(const void *lock)
{
	return &own.takes[contention_hash(lock) % TAKES];
}

/* A handler that interrupts this finds the place in use. */
static void
blame_keep_take(const void *lock, const struct contention_path *path)
{
	struct blame_own_take *const take = blame_place_of_take(lock);

	blame_forget_parents();
	if (take->lock == &being_written)
		return;
	take->lock = &being_written;
	atomic_signal_fence(memory_order_seq_cst);
	take->path = *path;
	atomic_signal_fence(memory_order_seq_cst);
	take->lock = lock;
}

/* The node of the path that took the lock.  With signals blocked. */
static struct pair_node
blame_node_of_take(const void *lock)
{
	const struct blame_own_take *const take = blame_place_of_take(lock);

	return own.pid == process_own.pid && take->lock == lock &&
	    take->path.twin != NULL ? blame_node(&take->path) :
	    blame_node_of_cause(CONTENTION_NOT_SEEN);
}

void
blame_note_take(const void *lock, const void *function, const void *frame)
{
	const int saved = errno;
	const struct contention_path path = blame_path(function, frame);

	blame_keep_take(lock, &path);
	errno = saved;
}

/*
 * Counts charges, and has none then; `caller` is the path of the one who calls,
 * NULL: there is none.  `lock` is what it leaves, NULL: nothing.  Lock held.
 */
static void
blame_count(struct contention_charges *charges,
    const struct contention_path *caller, const void *lock, uint64_t now_ns)
{
	static const struct contention_path nobody = {
		.number = CPPROFDATA_NO_NODE };
	unsigned i;

	for (i = 0; i < charges->n; i++) {
		const struct contention_charge *charge = &charges->items[i];
		const struct pair_node waiter = blame_node(&charge->waiter);
		const struct pair_node holder =
		    charge->cause == CONTENTION_BY_CALLER ?
		    blame_node(caller != NULL ? caller : &nobody) :
		    charge->cause == CONTENTION_BY_OTHER ?
		    blame_node(&charge->by) :
		    blame_node_of_cause(charge->cause);
		const struct pair_node taken = lock != NULL &&
		    charge->cause == CONTENTION_BY_CALLER ?
		    blame_node_of_take(lock) : holder;

		pairs_count(&waiter, &holder, &taken, charge->ns, now_ns);
	}
	charges->n = 0;
}

/*
 * Waits.
 */

/* Ends the thread's innermost wait.  Lock held. */
static void
blame_end_innermost(enum contention_end how, uint64_t now_ns,
    struct contention_charges *charges)
{
	contention_end(&blame_contention, own.waits[--own.n].wait, how, now_ns,
	    charges);
	blame_count(charges, NULL, NULL, now_ns);
}

/*
 * Ends waits that were left by a jump.  The stack grows downwards, so these are
 * further in than `frame`; but an alternate stack above the thread's is not part
 * of it.  Lock held.
 */
static void
blame_end_left(uintptr_t frame, uint64_t now_ns,
    struct contention_charges *charges)
{
	blame_forget_parents();
	if (frame >= thread_self->unwinder->readable.high)
		return;
	while (own.n > 0 && own.waits[own.n - 1].frame <= frame)
		blame_end_innermost(CONTENTION_WITHOUT, now_ns, charges);
}

/* Lock held.  False: the wait is not known. */
static bool
blame_note(struct blame *blame, const struct blame_object *object,
    const struct contention_path *path, uint64_t now_ns)
{
	struct contention_wait *wait = NULL;

	if (own.n < WAITS_MAX)
		wait = contention_begin(&blame_contention, object->kind,
		    object->object, path, now_ns);
	if (wait == NULL) {
		datafile_count_drop(CPPROFDATA_NOT_FOLLOWED, 1, 0);
		return false;
	}
	contention_set_thread(wait, &own);
	wait->is_shared = object->is_shared;
	wait->mutex = object->mutex;
	if (object->bits != 0)
		wait->bits = object->bits;
	own.waits[own.n++] = (struct blame_own){ wait, (uintptr_t)blame };
	blame->wait = wait;
	return true;
}

/* From now on it is known who takes that lock; this thread will. */
static void
blame_note_lock(const struct blame_object *object,
    const struct contention_path *path)
{
	const void *const lock = object->kind == CONTENTION_LOCK ?
	    object->object : object->mutex;

	if (!blame_keeps_takes || lock == NULL)
		return;
	blame_was_waited_for[contention_hash(lock)] = true;
	blame_keep_take(lock, path);
}

void
blame_begin(struct blame *blame, const struct blame_object *object,
    const void *function, const void *frame)
{
	const int saved = errno;
	struct contention_charges charges;
	struct contention_path path;
	uint64_t mask, now_ns;

	charges.n = 0;
	blame->wait = NULL;
	if (!blame_is_on)
		return;
	path = blame_path(function, frame);
	if (blame_enter(&mask)) {
		now_ns = blame_now_ns();
		blame_end_left((uintptr_t)blame, now_ns, &charges);
		/* Waiting for a condition, the thread leaves the mutex. */
		if (object->mutex != NULL) {
			contention_release(&blame_contention, object->mutex,
			    now_ns, &charges);
			blame_count(&charges, &path, object->mutex, now_ns);
		}
		blame_note(blame, object, &path, now_ns);
		blame_note_lock(object, &path);
		blame_leave(&mask);
	}
	errno = saved;
}

void
blame_end(struct blame *blame, enum contention_end how)
{
	const int saved = errno;
	struct contention_charges charges;
	uint64_t mask, now_ns;
	unsigned i;

	charges.n = 0;
	if (blame->wait == NULL || !blame_enter(&mask))
		return;
	now_ns = blame_now_ns();
	for (i = 0; i < own.n && own.pid == process_own.pid; i++)
		if (own.waits[i].wait == blame->wait &&
		    own.waits[i].frame == (uintptr_t)blame)
			break;
	if (i < own.n && own.pid == process_own.pid) {
		while (own.n > i + 1)
			blame_end_innermost(CONTENTION_WITHOUT, now_ns,
			    &charges);
		blame_end_innermost(how, now_ns, &charges);
		datafile_note_sample();
	}
	blame->wait = NULL;
	blame_leave(&mask);
	errno = saved;
}

void
blame_take(const void *lock, bool is_shared)
{
	const int saved = errno;
	struct contention_charges charges;
	uint64_t mask, now_ns;

	charges.n = 0;
	if (blame_enter(&mask)) {
		now_ns = blame_now_ns();
		contention_take(&blame_contention, lock, is_shared, now_ns,
		    &charges);
		blame_count(&charges, NULL, NULL, now_ns);
		blame_leave(&mask);
	}
	errno = saved;
}

/*
 * Releases and wake-ups.
 */

void
blame_release_begin(struct blame_release *release, const void *lock)
{
	const int saved = errno;

	release->charges.n = 0;
	release->lock = lock;
	release->is_counted = blame_enter(&release->mask);
	if (release->is_counted) {
		release->now_ns = blame_now_ns();
		contention_release(&blame_contention, lock, release->now_ns,
		    &release->charges);
		blame_leave_lock();
	}
	errno = saved;
}

void
blame_release_end(struct blame_release *release, const void *function,
    const void *frame)
{
	const int saved = errno;
	struct contention_path path;

	if (!release->is_counted)
		return;
	if (release->charges.n > 0) {
		path = blame_path(function, frame);
		if (blame_take_lock()) {
			blame_count(&release->charges, &path, release->lock,
			    release->now_ns);
			datafile_note_sample();
			blame_leave_lock();
		}
	}
	blame_set_mask(&release->mask, NULL);
	errno = saved;
}

void
blame_wake(struct contention_wake *wake, const void *function,
    const void *frame)
{
	const int saved = errno;
	struct contention_charges charges;
	uint64_t mask, now_ns;

	charges.n = 0;
	if (!blame_is_on)
		return;
	wake->by = blame_path(function, frame);
	if (blame_enter(&mask)) {
		now_ns = blame_now_ns();
		contention_wake(&blame_contention, wake, now_ns, &charges);
		blame_count(&charges, &wake->by, NULL, now_ns);
		blame_leave(&mask);
	}
	errno = saved;
}

void
blame_move(const void *from, const void *to, uint32_t n)
{
	const int saved = errno;
	uint64_t mask;

	if (blame_enter(&mask)) {
		contention_move(&blame_contention, from, to, n);
		blame_leave(&mask);
	}
	errno = saved;
}

void
blame_set_barrier(const void *barrier, uint32_t n_parties)
{
	const int saved = errno;
	uint64_t mask;

	if (blame_enter(&mask)) {
		contention_set_barrier(&blame_contention, barrier, n_parties);
		blame_leave(&mask);
	}
	errno = saved;
}

void
blame_arrive(struct blame *blame, const void *barrier, const void *function,
    const void *frame)
{
	const struct blame_object object = { .kind = CONTENTION_BARRIER,
	    .object = barrier };
	struct contention_wake wake = { .kind = CONTENTION_BARRIER,
	    .object = barrier, .n = CONTENTION_ALL, .bits = UINT32_MAX };
	const int saved = errno;
	struct contention_charges charges;
	uint64_t mask, now_ns;

	charges.n = 0;
	blame->wait = NULL;
	if (!blame_is_on)
		return;
	wake.by = blame_path(function, frame);
	if (blame_enter(&mask)) {
		now_ns = blame_now_ns();
		blame_end_left((uintptr_t)blame, now_ns, &charges);
		if (contention_is_last(&blame_contention, barrier)) {
			contention_wake(&blame_contention, &wake, now_ns,
			    &charges);
			blame_count(&charges, &wake.by, NULL, now_ns);
		} else {
			blame_note(blame, &object, &wake.by, now_ns);
		}
		blame_leave(&mask);
	}
	errno = saved;
}

/*
 * Ends.
 */

void
blame_end_thread(struct thread *thread)
{
	struct contention_wake wake = { .kind = CONTENTION_THREAD,
	    .object = (const void *)pthread_self(), .n = CONTENTION_ALL,
	    .bits = UINT32_MAX, .by.number = CPPROFDATA_NO_NODE };
	struct contention_charges charges;
	uint64_t mask, now_ns;
	struct node node;

	charges.n = 0;
	if (!blame_is_on || !blame_enter(&mask))
		return;
	now_ns = blame_now_ns();
	blame_end_left(0, now_ns, &charges);
	while (own.n > 0)
		blame_end_innermost(CONTENTION_WITHOUT, now_ns, &charges);
	if (blame_may_wait(wake.object) && thread->routine != NULL &&
	    sample_node_apart(thread, 0, thread->routine, &node) == STORE_OK)
		wake.by = (struct contention_path){ node.twin, node.number };
	contention_wake(&blame_contention, &wake, now_ns, &charges);
	blame_count(&charges, &wake.by, NULL, now_ns);
	blame_leave(&mask);
}

void
blame_finish(void)
{
	struct contention_charges charges;
	uint64_t mask, now_ns;
	uint32_t at = 0;
	bool is_all;

	charges.n = 0;
	if (!blame_is_on || !blame_enter(&mask))
		return;
	do {
		now_ns = blame_now_ns();
		is_all = contention_charge_all(&blame_contention, now_ns, &at,
		    &charges);
		blame_count(&charges, NULL, NULL, now_ns);
	} while (!is_all);
	pairs_end();
	blame_leave(&mask);
}

/*
 * The source.
 */

void
blame_begin_counting(bool is_counted)
{
	size_t i;

	if (is_counted) {
		pairs_begin(&(struct pair_columns){
			.blame = (unsigned char)
			    (resources.place[RESOURCE_BLAME] - 1),
			.waits = (unsigned char)
			    (resources.place[RESOURCE_LOCK_WAITS] - 1),
			.taken = (unsigned char)
			    (resources.place[RESOURCE_BLAME_TAKEN] - 1),
		});
		for (i = 0; i < N_CAUSES; i++)
			if (blame_names[i] != NULL)
				blame_phases[i] = phase_number(blame_names[i]);
	}
	blame_is_on = is_counted;
	blame_keeps_takes = is_counted &&
	    resource_is_wanted(RESOURCE_BLAME_TAKEN);
}

/* Functions without which waits or their ends would not be seen. */
static const char *
blame_missing(void)
{
	static const char *const names[] = {
		"pthread_mutex_lock", "pthread_mutex_unlock",
		"pthread_cond_wait", "pthread_cond_signal",
		"pthread_cond_broadcast", "pthread_rwlock_unlock",
		"sem_wait", "sem_post", "pthread_join", "syscall",
	};
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (!wrapped_is_ours(names[i]))
			return names[i];
	return NULL;
}

static bool
blame_probe(const struct resource_row *row, uint64_t interval,
            const char **why)
{
	(void)row, (void)interval;
	*why = "";		/* the next source says why */
	return !wrapped_is_preloaded() || blame_missing() == NULL;
}

static bool
blame_probe_partly(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	*why = "the program has lock functions of its own";
	return true;
}

const struct resource_source source_blame = {
	.name = "library calls",
	.probe = blame_probe,
};

const struct resource_source source_blame_partly = {
	.name = "library calls, but not those to the program's own lock "
	    "functions",
	.probe = blame_probe_partly,
};

static bool
blame_refuse_part(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	(void)row, (void)interval;
	*why = "-r blame counts it";
	return false;
}

const struct resource_source source_blame_part = {
	.name = "-r blame",
	.probe = blame_refuse_part,
};
