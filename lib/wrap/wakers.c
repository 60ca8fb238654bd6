/* SPDX-License-Identifier: MIT */
/* wakers.c -- which descriptors wake whom: pipes, socket pairs, eventfds.
 *
 * Each object that can be read has a number, which it keeps when its descriptor
 * is duplicated or the process forks.  A table has for each descriptor the
 * object that is read by it, and the one that writing to it makes readable.  So
 * a call that writes finds out by two loads that nobody waits for it.
 *
 * An epoll instance that watches some of them is not known: servers wait for it
 * so often that noting each wait would cost too much.
 *
 * Descriptors that were not made by the wrapped functions are not known.  Of one
 * that the C library closes itself (fclose), what was known remains until its
 * number is used again by a wrapped function.
 */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/wrap/blame.h"
#include "lib/wrap/wrapped.h"

#define WAKER_FDS 4096		/* descriptors with higher numbers, */
#define WAKER_OBJECTS 16384	/* and later objects, are not known */
#define WAKER_POLLED 64		/* nor descriptors at the end of a long list */

/* Numbers of objects; 0: none. */
static struct waker_fd {
	uint32_t reads, writes;
} waker_fds[WAKER_FDS] BIG_TABLE;

static uint32_t n_objects;

static struct waker_fd *
waker_of(int fd)
{
	return fd >= 0 && fd < WAKER_FDS ? &waker_fds[fd] : NULL;
}

static uint32_t
waker_new_object(void)
{
	const uint32_t n = __atomic_add_fetch(&n_objects, 1, __ATOMIC_RELAXED);

	return n < WAKER_OBJECTS ? n : 0;
}

/* In place of an address, which only needs to be its own. */
static const void *
waker_address(uint32_t object)
{
	return (const void *)((uintptr_t)object << 3);
}

static void
waker_set(int fd, uint32_t reads, uint32_t writes)
{
	struct waker_fd *const waker = waker_of(fd);

	if (waker != NULL)
		*waker = (struct waker_fd){ reads, writes };
}

bool
wakers_are_own(void)
{
	const int saved = errno;
	const bool are_own = !sampling_is_own_memory() ||
	    sampling_is_own_process();

	errno = saved;
	return are_own;
}

void
wakers_note_pair(const int fds[2], bool both_ways)
{
	const uint32_t first = waker_new_object();
	const uint32_t second = both_ways ? waker_new_object() : 0;

	waker_set(fds[0], first, second);
	waker_set(fds[1], second, first);
}

void
wakers_note_event(int fd)
{
	const uint32_t object = waker_new_object();

	waker_set(fd, object, object);
}

void
wakers_forget(int fd, unsigned last)
{
	for (; fd >= 0 && (unsigned)fd <= last && fd < WAKER_FDS; fd++)
		waker_set(fd, 0, 0);
}

void
wakers_note_copy(int from, int to)
{
	const struct waker_fd *const waker = waker_of(from);

	waker_set(to, waker != NULL ? waker->reads : 0,
	    waker != NULL ? waker->writes : 0);
}

/* Whether a call that waits for it need not wait; asked of a known one only. */
static bool
waker_is_ready(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	const struct timespec at_once = { 0, 0 };

	if (process.never_polls)
		return false;
	if (thread_self != NULL)
		thread_made_call(thread_self);
	return arch_system_call(SYS_ppoll, (long)&polled, 1, (long)&at_once,
	    0) > 0;
}

const void *
wakers_awaited(int fd)
{
	const struct waker_fd *const waker = waker_of(fd);

	return waker == NULL || waker->reads == 0 || waker_is_ready(fd) ?
	    NULL : waker_address(waker->reads);
}

const void *
wakers_awaited_by_poll(const struct pollfd *fds, unsigned long n)
{
	const void *object = NULL;
	unsigned long i;

	for (i = 0; i < n && i < WAKER_POLLED && object == NULL; i++)
		if ((fds[i].events & POLLIN) != 0)
			object = wakers_awaited(fds[i].fd);
	return object;
}

static __attribute__((noinline)) void
waker_wake(uint32_t object, const void *function, const void *frame)
{
	struct contention_wake wake = { .kind = CONTENTION_FILE,
	    .object = waker_address(object), .n = 1, .bits = UINT32_MAX };

	if (blame_may_wait(wake.object))
		blame_wake(&wake, function, frame);
}

void
wakers_wake(int fd, const void *function, const void *frame)
{
	const struct waker_fd *const waker = waker_of(fd);

	if (waker == NULL || waker->writes == 0)
		return;
	waker_wake(waker->writes, function, frame);
}
