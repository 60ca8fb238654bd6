/* SPDX-License-Identifier: MIT */
/* locks.c -- wrappers of calls by which threads wait for each other: `real`,
 * `blame` and `lock-waits`.
 *
 * Locks are rarely contended.  A lock is tried first: if that succeeds, or fails
 * for another reason than "busy", the call would have returned the same.  Only
 * otherwise the clock is read and the wait noted.  Then the lock is tried again,
 * since it may have been left before the wait was noted, and its holder does not
 * know of it.  A thread that leaves a lock, or signals, does nothing unless
 * somebody may wait (blame_may_wait).  For `blame-taken`, the path that takes a
 * lock is found before that, so that nobody waits for it.
 *
 * What the C library does itself, such as the locks of its streams and its
 * allocator, passes no wrapper.
 *
 * Two fields of the C library's own are read: how often a recursive mutex is
 * held, and how many readers a lock has.  Both are parts of structures that
 * programs have inside, so they cannot change.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "lib/wrap/blame.h"
#include "lib/wrap/wrapped.h"

#define LOCKS_LIST(...) __VA_ARGS__

#define NEXT_ROWS "lib/wrap/locks.def"
#define NEXT_LOOK_UP locks_look_up
#define LOCK(type, name, parameters, arguments, try_name, busy, is_shared, \
    is_direct)								\
	NEXT(int, name, parameters, arguments)
#define LOCK_TRY(type, name, is_shared)					\
	NEXT(int, name, (type *lock), (lock))
#define LOCK_LEAVE(type, name, ends_hold)				\
	NEXT(int, name, (type *lock), (lock))
#define LOCK_CONDITION(name, parameters, arguments, is_mutex_left)	\
	NEXT(int, name, parameters, arguments)
#define LOCK_SIGNAL(type, name, n)					\
	NEXT(int, name, (type *condition), (condition))
#define LOCK_SEMAPHORE(name, parameters, arguments, is_direct)		\
	NEXT(int, name, parameters, arguments)
#define LOCK_JOIN(type, name, parameters, arguments)			\
	NEXT(int, name, parameters, arguments)
#define LOCK_BY_HAND NEXT
#include "lib/base/next.def"
#undef LOCK
#undef LOCK_TRY
#undef LOCK_LEAVE
#undef LOCK_CONDITION
#undef LOCK_SIGNAL
#undef LOCK_SEMAPHORE
#undef LOCK_JOIN
#undef LOCK_BY_HAND

static enum gate gate;
static bool locks_measures;	/* for `real`, or `syscalls` */

/*
 * What the C library knows of its objects.
 */

#define MUTEX_TYPE 3		/* bits of a mutex's kind */

static bool
locks_is_own_mutex(const void *lock)
{
	const pthread_mutex_t *const mutex = lock;

	return thread_self != NULL &&
	    (uint32_t)mutex->__data.__owner == thread_self->tid;
}

/* Whether the next unlock leaves the mutex: a recursive one may be held twice. */
static bool
locks_ends_mutex(const void *lock)
{
	const pthread_mutex_t *const mutex = lock;
	const bool is_own = locks_is_own_mutex(lock);

	switch (mutex->__data.__kind & MUTEX_TYPE) {
	case PTHREAD_MUTEX_RECURSIVE:
		return is_own && mutex->__data.__count <= 1;
	case PTHREAD_MUTEX_ERRORCHECK:
		return is_own;
	default:
		return true;
	}
}

static bool
locks_mutex_is_held(const void *lock)
{
	return __atomic_load_n(&((const pthread_mutex_t *)lock)->__data.__lock,
	    __ATOMIC_RELAXED) != 0;
}

#define READER_SHIFT 3		/* of the number of readers */

/* Whether the next unlock leaves the lock to others, as the last reader's. */
static bool
locks_ends_rwlock(const pthread_rwlock_t *lock)
{
	return __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) !=
	    0 || __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED) >>
	    READER_SHIFT <= 1;
}

static bool
locks_has_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static bool
locks_is_time(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/*
 * How a wait ended, by the result of its call.  One that was refused, such as the
 * owner's own of an error-checking mutex, has not waited, even if it took long
 * because its thread waited for a processor.
 */
static enum contention_end
locks_end(int result)
{
	switch (result) {
	case 0:
		return CONTENTION_GOT;
	case EOWNERDEAD:
		return CONTENTION_GOT_DEAD;
	case EDEADLK:
	case EINVAL:
		return CONTENTION_NOTHING;
	default:
		return CONTENTION_WITHOUT;
	}
}

/* Whether the calling thread has it; only of mutexes. */
#define LOCKS_IS_OWN(lock) _Generic(*(lock),				\
    pthread_mutex_t: locks_is_own_mutex((const void *)(lock)),		\
    mtx_t: locks_is_own_mutex((const void *)(lock)),			\
    default: false)

static __attribute__((noinline)) void
locks_note_take(const void *lock, const void *function,
    const void *return_address)
{
	if (wrapped_pass(gate, return_address))
		blame_note_take(lock, function, __builtin_frame_address(0));
}

/* Before a wrapper takes a lock. */
#define LOCKS_NOTE_TAKE(lock, name)					\
	do {								\
		if (blame_keeps_take((const void *)(lock)) &&		\
		    !LOCKS_IS_OWN(lock))				\
			locks_note_take((const void *)(lock),		\
			    (const void *)next.name,			\
			    __builtin_return_address(0));		\
	} while (0)

/*
 * Waits.
 */

/* A wait: a local variable of the wrapper. */
struct locks_wait {
	struct wrapped_call call;
	struct blame blame;
};

/* Around a real call that waits, in a wrapper with a frame pointer. */
#define LOCKS_BEGIN(wait, object_, function)				\
	do {								\
		if (locks_measures)					\
			wrapped_enter(&(wait)->call,			\
			    (const void *)(function), WRAPPED_WAIT);	\
		blame_begin(&(wait)->blame, object_,			\
		    (const void *)(function),				\
		    __builtin_frame_address(0));			\
	} while (0)

static void
locks_leave(struct locks_wait *wait, enum contention_end how)
{
	blame_end(&wait->blame, how);
	if (locks_measures)
		wrapped_leave(&wait->call);
}

/* The thread is cancelled in a real call; wrapped_end_thread ends the call. */
static void
locks_cancelled(void *wait)
{
	blame_end(&((struct locks_wait *)wait)->blame, CONTENTION_WITHOUT);
}

#define LOCK(type, name, parameters, arguments, try_name, busy, shared, \
    is_direct)								\
static __attribute__((noinline)) int					\
wait_##name(LOCKS_LIST parameters, const void *return_address)		\
{									\
	const struct blame_object object = { .kind = CONTENTION_LOCK,	\
	    .object = (const void *)lock, .is_shared = shared };	\
	struct locks_wait wait;						\
	int result;							\
									\
	if (!wrapped_pass(gate, return_address))			\
		return next.name arguments;				\
	LOCKS_BEGIN(&wait, &object, next.name);				\
	if (wait.blame.wait != NULL &&					\
	    (result = next.try_name(lock)) != (busy)) {			\
		locks_leave(&wait, result == 0 ?			\
		    CONTENTION_GOT_AT_ONCE : locks_end(result));	\
		return result;						\
	}								\
	result = next.name arguments;					\
	locks_leave(&wait, locks_end(result));				\
	return result;							\
}									\
									\
EXPORTED int								\
name parameters								\
{									\
	int result;							\
									\
	if (GATE_IS_CLOSED(gate) || (is_direct))			\
		return next.name arguments;				\
	LOCKS_NOTE_TAKE(lock, name);					\
	result = next.try_name(lock);					\
	if (__builtin_expect(result == (busy), 0))			\
		return wait_##name(LOCKS_LIST arguments,			\
		    __builtin_return_address(0));			\
	if (blame_may_wait((const void *)lock) &&			\
	    (result == 0 || result == EOWNERDEAD))			\
		blame_take((const void *)lock, shared);			\
	return result;							\
}

#define LOCK_TRY(type, name, shared)					\
EXPORTED int								\
name(type *lock)							\
{									\
	int result;							\
									\
	LOCKS_NOTE_TAKE(lock, name);					\
	result = next.name(lock);					\
	if (blame_may_wait((const void *)lock) &&			\
	    (result == 0 || result == EOWNERDEAD))			\
		blame_take((const void *)lock, shared);			\
	return result;							\
}

#define LOCK_LEAVE(type, name, ends_hold)				\
static __attribute__((noinline)) int					\
leave_##name(type *lock, const void *return_address)			\
{									\
	struct blame_release release;					\
	int result;							\
									\
	if (!wrapped_pass(gate, return_address) || !(ends_hold))	\
		return next.name(lock);					\
	blame_release_begin(&release, (const void *)lock);		\
	result = next.name(lock);					\
	blame_release_end(&release, (const void *)next.name,		\
	    __builtin_frame_address(0));				\
	return result;							\
}									\
									\
EXPORTED int								\
name(type *lock)							\
{									\
	if (blame_may_wait((const void *)lock))				\
		return leave_##name(lock, __builtin_return_address(0)); \
	return next.name(lock);						\
}

/* Measures a call that waits for `object`, and returns what it returns. */
#define LOCKS_MEASURE(name, arguments)					\
	struct locks_wait wait;						\
	int result;							\
									\
	if (!GATE_LETS_PASS(gate))					\
		return next.name arguments;				\
	LOCKS_BEGIN(&wait, &object, next.name);				\
	pthread_cleanup_push(locks_cancelled, &wait);			\
	result = next.name arguments;					\
	pthread_cleanup_pop(0);						\
	locks_leave(&wait, locks_end(result));				\
	return result

#define LOCK_CONDITION(name, parameters, arguments, is_mutex_left)	\
EXPORTED int								\
name parameters								\
{									\
	const struct blame_object object = {				\
	    .kind = CONTENTION_CONDITION, .object = condition,		\
	    .mutex = (is_mutex_left) ? mutex : NULL };			\
	LOCKS_MEASURE(name, arguments);					\
}

#define LOCK_SIGNAL(type, name, n_)					\
static __attribute__((noinline)) int					\
wake_##name(type *condition, const void *return_address)		\
{									\
	struct contention_wake wake = { .kind = CONTENTION_CONDITION,	\
	    .object = condition, .n = n_, .bits = UINT32_MAX,		\
	    .is_held = locks_mutex_is_held };				\
									\
	if (wrapped_pass(gate, return_address))				\
		blame_wake(&wake, (const void *)next.name,		\
		    __builtin_frame_address(0));			\
	return next.name(condition);					\
}									\
									\
EXPORTED int								\
name(type *condition)							\
{									\
	if (blame_may_wait(condition))					\
		return wake_##name(condition,				\
		    __builtin_return_address(0));			\
	return next.name(condition);					\
}

/* What can be had at once is also had if the thread was cancelled before. */
#define LOCK_SEMAPHORE(name, parameters, arguments, is_direct)		\
static __attribute__((noinline)) int					\
wait_##name(LOCKS_LIST parameters, const void *return_address)		\
{									\
	const struct blame_object object = {				\
	    .kind = CONTENTION_SEMAPHORE, .object = semaphore };	\
	const int saved = errno;					\
	struct locks_wait wait;						\
	int result;							\
									\
	if (!wrapped_pass(gate, return_address))			\
		return next.name arguments;				\
	LOCKS_BEGIN(&wait, &object, next.name);				\
	if (wait.blame.wait != NULL && next.sem_trywait(semaphore) == 0) { \
		locks_leave(&wait, CONTENTION_NOTHING);			\
		return 0;						\
	}								\
	errno = saved;							\
	pthread_cleanup_push(locks_cancelled, &wait);			\
	result = next.name arguments;					\
	pthread_cleanup_pop(0);						\
	locks_leave(&wait, locks_end(result));				\
	return result;							\
}									\
									\
EXPORTED int								\
name parameters								\
{									\
	const int saved = errno;					\
									\
	if (GATE_IS_CLOSED(gate) || (is_direct))			\
		return next.name arguments;				\
	pthread_testcancel();						\
	if (next.sem_trywait(semaphore) == 0)				\
		return 0;						\
	errno = saved;							\
	return wait_##name(LOCKS_LIST arguments,				\
	    __builtin_return_address(0));				\
}

#define LOCK_JOIN(type, name, parameters, arguments)			\
EXPORTED int								\
name parameters								\
{									\
	const struct blame_object object = { .kind = CONTENTION_THREAD, \
	    .object = (const void *)thread };				\
	LOCKS_MEASURE(name, arguments);					\
}

#define LOCK_BY_HAND(type, name, parameters, arguments)
#include "lib/wrap/locks.def"

/*
 * Semaphores and barriers.
 */

static __attribute__((noinline)) int
wake_sem_post(sem_t *semaphore, const void *return_address)
{
	struct contention_wake wake = { .kind = CONTENTION_SEMAPHORE,
	    .object = semaphore, .n = 1, .bits = UINT32_MAX };
	int value;

	if (wrapped_pass(gate, return_address)) {
		/* If it has no unit, one who was woken may still need one. */
		wake.renews = next.sem_getvalue(semaphore, &value) == 0 &&
		    value <= 0;
		blame_wake(&wake, (const void *)next.sem_post,
		    __builtin_frame_address(0));
	}
	return next.sem_post(semaphore);
}

EXPORTED int
sem_post(sem_t *semaphore)
{
	if (blame_may_wait(semaphore))
		return wake_sem_post(semaphore, __builtin_return_address(0));
	return next.sem_post(semaphore);
}

EXPORTED int
pthread_barrier_init(pthread_barrier_t *restrict barrier,
    const pthread_barrierattr_t *restrict attributes, unsigned n)
{
	const int result = next.pthread_barrier_init(barrier, attributes, n);

	if (result == 0 && blame_is_on)
		blame_set_barrier(barrier, n);
	return result;
}

EXPORTED int
pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	if (blame_may_wait(barrier))
		blame_set_barrier(barrier, 0);
	return next.pthread_barrier_destroy(barrier);
}

EXPORTED int
pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct locks_wait wait;
	int result;

	if (!GATE_LETS_PASS(gate))
		return next.pthread_barrier_wait(barrier);
	if (locks_measures)
		wrapped_enter(&wait.call,
		    (const void *)next.pthread_barrier_wait, WRAPPED_WAIT);
	blame_arrive(&wait.blame, barrier,
	    (const void *)next.pthread_barrier_wait,
	    __builtin_frame_address(0));
	result = next.pthread_barrier_wait(barrier);
	locks_leave(&wait, CONTENTION_GOT);
	return result;
}

/*
 * Futexes, and other system calls by number.
 */

struct system_call {
	long number, a, b, c, d, e, f;
};

static long
locks_make(const struct system_call *call)
{
	return next.syscall(call->number, call->a, call->b, call->c, call->d,
	    call->e, call->f);
}

/*
 * Whether a call only returns what the kernel has at hand.  Measuring it would
 * take longer than making it.
 */
static bool
locks_is_at_once(long number)
{
	switch (number) {
	case SYS_getpid:
	case SYS_getppid:
	case SYS_gettid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
	case SYS_getcpu:
	case SYS_clock_gettime:
	case SYS_gettimeofday:
	case SYS_getrusage:
	case SYS_sched_getaffinity:
		return true;
	default:
		return false;
	}
}

static long
locks_make_measured(const struct system_call *call)
{
	struct wrapped_call measured;
	long result;

	if (!locks_measures)
		return locks_make(call);
	if (locks_is_at_once(call->number)) {
		result = locks_make(call);
		wrapped_count_call((const void *)next.syscall);
		return result;
	}
	wrapped_enter(&measured, (const void *)next.syscall, WRAPPED_WAIT);
	result = locks_make(call);
	wrapped_leave(&measured);
	return result;
}

static __attribute__((noinline)) long
locks_futex_wait(const struct system_call *call,
    const struct blame_object *object)
{
	struct locks_wait wait;
	long result;

	LOCKS_BEGIN(&wait, object, next.syscall);
	result = locks_make(call);
	locks_leave(&wait, result == 0 ? CONTENTION_GOT :
	    errno == EOWNERDEAD ? CONTENTION_GOT_DEAD :
	    errno == EAGAIN ? CONTENTION_NOTHING : CONTENTION_WITHOUT);
	return result;
}

static __attribute__((noinline)) long
locks_futex(const struct system_call *call)
{
	const void *const word = (const void *)call->a;
	struct blame_object object = { .kind = CONTENTION_FUTEX,
	    .object = word };
	struct contention_wake wake = { .kind = CONTENTION_FUTEX,
	    .object = word, .n = (uint32_t)call->c, .bits = UINT32_MAX };
	struct blame_release release;
	long result;

	switch (call->b & FUTEX_CMD_MASK) {
	case FUTEX_WAIT_BITSET:
		object.bits = (uint32_t)call->f;
		return locks_futex_wait(call, &object);
	case FUTEX_WAIT:
		return locks_futex_wait(call, &object);
	case FUTEX_LOCK_PI:
		object.kind = CONTENTION_LOCK;
		return locks_futex_wait(call, &object);
	case FUTEX_UNLOCK_PI:
		blame_release_begin(&release, word);
		result = locks_make_measured(call);
		blame_release_end(&release, (const void *)next.syscall,
		    __builtin_frame_address(0));
		return result;
	case FUTEX_WAKE_BITSET:
		wake.bits = (uint32_t)call->f;
		break;
	case FUTEX_WAKE:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		break;
	default:
		return locks_make_measured(call);
	}
	if (blame_may_wait(word))
		blame_wake(&wake, (const void *)next.syscall,
		    __builtin_frame_address(0));
	if ((call->b & FUTEX_CMD_MASK) == FUTEX_REQUEUE ||
	    (call->b & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE)
		blame_move(word, (const void *)call->e, (uint32_t)call->d);
	return locks_make_measured(call);
}

EXPORTED long locks_syscall(long, long, long, long, long, long, long)
    __asm__("syscall");

long
locks_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const struct system_call call = { number, a, b, c, d, e, f };

	if (number == SYS_execve)
		return execve((const char *)a, (char *const *)b,
		    (char *const *)c);
	if (number == SYS_execveat)
		return execveat((int)a, (const char *)b, (char *const *)c,
		    (char *const *)d, (int)e);
	if (number == SYS_seccomp)
		confine_expect((unsigned long)a, (unsigned long)b,
		    (const void *)c);
	if (number == SYS_prctl && a == PR_SET_SECCOMP)
		confine_expect_prctl((unsigned long)b, (const void *)c);
	if (number == SYS_io_uring_setup)
		io_note_ring();
	if (!GATE_LETS_PASS(gate))
		return next.syscall(number, a, b, c, d, e, f);
	return number == SYS_futex && blame_is_on ? locks_futex(&call) :
	    locks_make_measured(&call);
}

void
locks_begin(bool is_sampled)
{
	const bool is_blamed = is_sampled && resource_is_wanted(RESOURCE_BLAME);

	locks_measures = is_sampled && (resource_is_wanted(RESOURCE_REAL) ||
	    wrapped_counts_calls());
	gate = locks_measures || is_blamed ? GATE_OPEN : GATE_CLOSED;
	if (gate == GATE_OPEN)
		locks_look_up();
	blame_begin_counting(is_blamed);
}
