/* SPDX-License-Identifier: MIT */
/* readable.c -- asks the kernel whether memory can be read.
 *
 * rt_sigprocmask with an invalid `how` first copies the set from user space.
 * EFAULT means that the address is bad, EINVAL that it is good.  The call
 * changes nothing, needs no descriptor, and no system call filter forbids it.
 */
#include "lib/base/readable.h"

#include <errno.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"

/* Limit of probing downwards from a thread's own stack at a time. */
#define LONGEST_EXTENSION ((uintptr_t)1 << 30)

/*
 * Going down from `high` to `low`, the lowest page before the first unreadable
 * one.
 */
static uintptr_t
readable_down_to(uintptr_t low, uintptr_t high)
{
	while (high > low && arch_system_call(SYS_rt_sigprocmask, ~0,
	    (long)(high - READABLE_PAGE), 0, 8) == -EINVAL)
		high -= READABLE_PAGE;
	return high;
}

void
readable_init(struct readable *readable, uintptr_t low, uintptr_t high)
{
	readable->low = low & -(uintptr_t)READABLE_PAGE;
	readable->high = (high | (READABLE_PAGE - 1)) + 1;
	readable_forget(readable);
}

void
readable_forget(struct readable *readable)
{
	readable->other_low = readable->other_high = 0;
}

bool
readable_range(struct readable *readable, uintptr_t address, uintptr_t size)
{
	uintptr_t low = address & -(uintptr_t)READABLE_PAGE, high;

	if (address < READABLE_PAGE || address > UINTPTR_MAX / 2 ||
	    size > LONGEST_EXTENSION)
		return false;
	high = (address + size + READABLE_PAGE - 1) & -(uintptr_t)READABLE_PAGE;
	if (low >= readable->low && high <= readable->high)
		return true;
	if (low >= readable->other_low && high <= readable->other_high)
		return true;
	if (low < readable->low && high <= readable->high &&
	    readable->low - low <= LONGEST_EXTENSION) {
		/*
		 * Keep what was found even if it is too little: stacks of
		 * coroutines may lie below the guard page, and are probed
		 * often.
		 */
		readable->low = readable_down_to(low, readable->low);
		if (readable->low == low)
			return true;
	}
	if (readable_down_to(low, high) != low)
		return false;
	if (low == readable->other_high) {
		readable->other_high = high;
	} else {
		readable->other_low = low;
		readable->other_high = high;
	}
	return true;
}

size_t
readable_after(struct readable *readable, uintptr_t address, size_t size)
{
	const size_t here = READABLE_PAGE - address % READABLE_PAGE;

	if (readable_range(readable, address, size))
		return size;
	return here < size && readable_range(readable, address, here) ? here :
	    0;
}

size_t
readable_before(struct readable *readable, uintptr_t address, size_t size)
{
	const size_t here = address % READABLE_PAGE;

	if (readable_range(readable, address - size, size))
		return size;
	return here != 0 && here < size &&
	    readable_range(readable, address - here, here) ? here : 0;
}

bool
readable_now(const void *address, size_t size)
{
	struct readable none = { 0 };

	return readable_range(&none, (uintptr_t)address, size);
}
