/* SPDX-License-Identifier: MIT */
/* alternate.c -- alternate stacks with room for stopped system calls.
 *
 * System calls on behalf of the program are made by the C library's function.
 * Those of the collector are made here, where they are not stopped.
 */
#include "lib/signals/signals.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/lookup.h"
#include "lib/base/readable.h"

#define LEAST_SIZE 2048		/* the kernel refuses smaller ones */

static __thread struct {
	bool is_wanted;
	void *memory;		/* our stack; NULL: none */
	stack_t programs;	/* the one that ours replaces */
} ours;

static bool
alternate_ask_kernel(const stack_t *stack, stack_t *old)
{
	return arch_system_call(SYS_sigaltstack, (long)stack, (long)old, 0,
	    0) == 0;
}

static bool
is_to_be_replaced(const stack_t *stack)
{
	return ours.is_wanted && (stack->ss_flags & ~SS_ONSTACK) == 0 &&
	    stack->ss_size >= LEAST_SIZE && action_is_small(stack->ss_size);
}

/*
 * Gets our stack, which is allocated when it is first needed.  False: no
 * memory.
 */
static bool
get_ours(stack_t *larger)
{
	const size_t size = action_size_for_calls();

	if (ours.memory == NULL)
		ours.memory = files_map(size,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1);
	if (ours.memory == MAP_FAILED)
		ours.memory = NULL;
	*larger = (stack_t){ .ss_sp = ours.memory, .ss_size = size };
	return ours.memory != NULL;
}

/* Makes the program see its own stack where the kernel has ours. */
static void
alternate_show(stack_t *stack)
{
	const int flags = stack->ss_flags;

	if (ours.memory == NULL || stack->ss_sp != ours.memory)
		return;
	*stack = ours.programs;
	stack->ss_flags = flags;
}

void
alternate_fit(size_t size)
{
	if (!action_fit_stack(size))
		signals_avoid_alternate_stack();
}

int
alternate_set(const stack_t *stack, stack_t *old)
{
	stack_t larger, before;
	int result;

	if (stack != NULL && !readable_now(stack, sizeof *stack))
		return real()->sigaltstack(stack, old);
	if (stack != NULL && is_to_be_replaced(stack) && get_ours(&larger)) {
		result = real()->sigaltstack(&larger, &before);
		if (result != 0)
			return result;
		alternate_show(&before);
		ours.programs = *stack;
		if (old != NULL)
			*old = before;
		return 0;
	}
	if (stack != NULL && (stack->ss_flags & SS_DISABLE) == 0)
		alternate_fit(stack->ss_size);
	result = real()->sigaltstack(stack, old);
	if (result == 0 && old != NULL)
		alternate_show(old);
	return result;
}

void
alternate_begin(void)
{
	stack_t now, larger;

	ours.is_wanted = true;
	if (alternate_ask_kernel(NULL, &now) && is_to_be_replaced(&now) &&
	    get_ours(&larger) && alternate_ask_kernel(&larger, NULL))
		ours.programs = now;
}

void
alternate_end(void)
{
	stack_t now;

	ours.is_wanted = false;
	if (ours.memory == NULL || !alternate_ask_kernel(NULL, &now))
		return;
	/* A thread that ends while running on our stack keeps it. */
	if (now.ss_sp == ours.memory &&
	    !alternate_ask_kernel(&ours.programs, NULL))
		return;
	files_unmap(ours.memory, action_size_for_calls());
	ours.memory = NULL;
}
