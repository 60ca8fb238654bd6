/* SPDX-License-Identifier: MIT */
/* current.c -- the measured call that a thread is in. */
#include "lib/wrap/wrapped.h"

#include <stdatomic.h>

#include "lib/base/readable.h"
#include "lib/run/sample.h"
#include "lib/unwind/unwinder.h"

static __thread struct wrapped_call *current;

/*
 * Whether the variable of a call still holds it.  Its memory may even be
 * unmapped.
 */
static bool
is_call(const struct wrapped_call *call)
{
	struct thread *thread = thread_self;
	uint64_t word;
	bool ok;

	if (thread == NULL)
		return false;
	if (thread->held_off > 0 || thread->is_sampling)
		return true;		/* the memory cannot be checked now */
	thread_hold_off();
	ok = readable_word(&thread->unwinder->readable, (uintptr_t)&call->self,
	    &word) && word == (uintptr_t)call;
	thread_resume();
	return ok;
}

/* The thread is in no measured call any more. */
static void
current_forget(void)
{
	current = NULL;
	if (thread_self != NULL)
		thread_self->run->is_in_call = false;
}

/*
 * If a signal handler has left a call by a jump, the call is further in on the
 * stack, which grows downwards, than `frame`, or other frames have overwritten
 * it.  An alternate stack above the thread's stack is not part of it.
 */
struct wrapped_call *
current_call(const void *frame)
{
	const struct thread *thread = thread_self;
	const uintptr_t end = thread != NULL ?
	    thread->unwinder->readable.high : UINTPTR_MAX;

	if (current != NULL && (((uintptr_t)current <= (uintptr_t)frame &&
	    ((uintptr_t)frame < end || (uintptr_t)current >= end)) ||
	    !is_call(current)))
		current_forget();
	return current;
}

bool
current_is_inside(void)
{
	return current_call(__builtin_frame_address(0)) != NULL;
}

void
current_begin(struct wrapped_call *call)
{
	if (thread_self != NULL)
		thread_self->run->is_in_call = true;
	call->self = call;
	current = call;
	atomic_signal_fence(memory_order_seq_cst);
}

void
current_end(struct wrapped_call *call)
{
	atomic_signal_fence(memory_order_seq_cst);
	current_forget();
	call->self = NULL;
}
