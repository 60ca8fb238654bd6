/* SPDX-License-Identifier: MIT */
/* readable.h -- reads the program's stack without ever faulting.
 *
 * A thread's own stack, from the lowest address seen so far to its start, stays
 * mapped while the thread runs on it.  So a range found readable is remembered,
 * and reads in it are plain loads.  All other memory (signal stacks,
 * coroutines, wild pointers) is probed page by page, and remembered for one
 * sample only.
 *
 * All functions: async-signal-safe, on the thread that owns the structure.
 */
#ifndef CPPROF_READABLE_H
#define CPPROF_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define READABLE_PAGE 4096u

struct readable {
	uintptr_t low, high;		/* the thread's own stack */
	uintptr_t other_low, other_high;	/* this sample's other memory */
};

/*
 * Sets the thread's own stack: from the page of `low` to the end of that of
 * `high`.
 */
void readable_init(struct readable *readable, uintptr_t low, uintptr_t high);

/* Forgets what is valid for one sample only. */
void readable_forget(struct readable *readable);

/* Whether [address, address + size) can be read.  May ask the kernel. */
bool readable_range(struct readable *readable, uintptr_t address,
    uintptr_t size);

/*
 * How many of the `size` bytes that begin at an address, or that end before it,
 * can be read from there on without a gap.  `size` is at most READABLE_PAGE.
 */
size_t readable_after(struct readable *readable, uintptr_t address,
    size_t size);
size_t readable_before(struct readable *readable, uintptr_t address,
    size_t size);

/*
 * As readable_range, for memory that the program passes to a call.  If it is
 * unreadable, the real call will fail.  Any thread.
 */
bool readable_now(const void *address, size_t size);

/* Whether a word lies in the thread's own stack as known so far. */
static inline bool
readable_own(const struct readable *readable, uintptr_t address)
{
	return address >= readable->low &&
	    address <= readable->high - sizeof address;
}

/* Reads the word at `address`, of any alignment.  False if it is unreadable. */
static inline bool
readable_word(struct readable *readable, uintptr_t address, uint64_t *word)
{
	if (!readable_own(readable, address) &&
	    !readable_range(readable, address, sizeof *word))
		return false;
	memcpy(word, (const void *)address, sizeof *word);
	return true;
}

#endif
