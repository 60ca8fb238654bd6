/* SPDX-License-Identifier: MIT */
/* readable.h -- reading a program's stack without ever faulting.
 *
 * A thread's own stack, from the lowest address seen so far up to its start,
 * stays mapped as long as the thread runs on it, so a range once found
 * readable is remembered and reads in it are plain loads.  Anything else
 * (signal stacks, coroutines, wild pointers) is asked of the kernel page by
 * page and remembered for one sample only.
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

/* Own stack: the page of `low` up to the end of the page of `high`. */
void readable_init(struct readable *readable, uintptr_t low, uintptr_t high);

/* Forgets what holds for one sample only. */
void readable_forget(struct readable *readable);

/* Whether [address, address + size) can be read; asks the kernel. */
bool readable_range(struct readable *readable, uintptr_t address,
    uintptr_t size);

/*
 * The same of memory that the program names, once: what cannot be read is the
 * kernel's to refuse.  Any thread.
 */
bool readable_now(const void *address, size_t size);

/* Whether the word lies in the thread's own stack as known so far. */
static inline bool
readable_own(const struct readable *readable, uintptr_t address)
{
	return address >= readable->low &&
	    address <= readable->high - sizeof address;
}

/* The word at `address` (of any alignment) into *word, or false. */
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
