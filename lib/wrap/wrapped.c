/* SPDX-License-Identifier: MIT */
/* wrapped.c -- which calls are measured, and their time.
 *
 * Time in a measured call is charged to the call's caller when the call returns;
 * until then the file records when it began (lib/run/sample.h).  For the time
 * between calls, see wall.c.
 */
#include "lib/wrap/wrapped.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "lib/base/sampling.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/sources/resource.h"
#include "lib/unwind/unwinder.h"

/*
 * In a process into which the library was loaded, calls are led here by import
 * tables, which a program does not have for functions of its own.
 */
bool
wrapped_is_ours(const char *name)
{
	const uintptr_t found = (uintptr_t)dlsym(RTLD_DEFAULT, name);
	struct dl_find_object object;
	void *first;
	size_t n;

	if (found >= process.own_start && found < process.own_end)
		return true;
	first = process.is_inside ? lookup_first(name) : NULL;
	return first != NULL && _dl_find_object(first, &object) == 0 &&
	    object.dlfo_link_map != lookup_loaded(&n);
}

bool
wrapped_exists(const char *name)
{
	const bool exists = dlsym(RTLD_DEFAULT, name) != NULL;

	if (!exists)
		dlerror();	/* clears the message: dlerror is for the
				   program's own errors */
	return exists;
}

bool
wrapped_is_preloaded(void)
{
	return wrapped_is_ours("vmsplice");
}

bool
wrapped_pass(enum gate gate, const void *return_address)
{
	return gate == GATE_OPEN && (uintptr_t)return_address -
	    process.own_start >= process.own_end - process.own_start &&
	    (process.is_inside ? control_begin_here() : thread_self != NULL);
}

static uint64_t
wrapped_now_ns(void)
{
	return process_clock(CLOCK_MONOTONIC);
}

/*
 * Needs a frame pointer: waits_find_node compares the stack from here outwards.
 */
void
wrapped_enter(struct wrapped_call *call, const void *function,
    enum wrapped_kind kind)
{
	struct thread *thread = thread_self;
	uint64_t gathered_ns = 0;
	uint32_t columns = 0;
	int saved = errno;

	call->function = function;
	call->recording = sampling_recording();
	call->outer = current_call(call);
	if (call->outer != NULL)
		return;
	/* From here on, ticks charge no time. */
	wall_enter_wrapper();
	current_begin(call);
	if (thread != NULL && resource_is_wanted(RESOURCE_REAL))
		columns |= 1u << (resources.place[RESOURCE_REAL] - 1);
	if (thread != NULL && kind == WRAPPED_IO &&
	    resource_is_wanted(RESOURCE_IO_TIME))
		columns |= 1u << (resources.place[RESOURCE_IO_TIME] - 1);
	call->start_ns = wrapped_now_ns();
	if (columns != 0)
		call->start_ns = waits_find_node(thread,
		    (uintptr_t)__builtin_frame_address(0), function,
		    call->start_ns, &thread->waits->node);
	if (resource_is_wanted(RESOURCE_REAL))
		gathered_ns = wall_begin_call(call->start_ns);
	if (columns != 0)
		waits_begin(thread, columns, call->start_ns, gathered_ns);
	errno = saved;
}

void
wrapped_leave_uncounted(struct wrapped_call *call)
{
	int saved = errno;

	if (call->outer != NULL)
		return;
	if (call->recording != sampling_recording()) {
		current_end(call);
		return;
	}
	if (resource_is_wanted(RESOURCE_REAL))
		wall_end_call(call->function);
	else if (resource_is_wanted(RESOURCE_IO_TIME) && thread_self != NULL)
		waits_end(thread_self, 0, 0);
	current_end(call);
	errno = saved;
}

void
wrapped_leave(struct wrapped_call *call)
{
	wrapped_leave_uncounted(call);
	if (call->outer == NULL)
		wrapped_count_call(call->function);
}

bool
wrapped_counts_calls(void)
{
	const unsigned place = resources.place[RESOURCE_SYSCALLS];

	return place != 0 &&
	    resources.columns[place - 1].source->is_of_wrappers;
}

void
wrapped_count_call(const void *function)
{
	if (wrapped_counts_calls())
		resource_spend_in(RESOURCE_SYSCALLS, 1, function);
}

uint64_t
wrapped_elapsed(const struct wrapped_call *call)
{
	return call->outer == NULL ? wrapped_now_ns() - call->start_ns : 0;
}

void
wrapped_end_thread(struct thread *thread)
{
	uint64_t now;

	if (thread->waits->columns == 0)
		return;
	now = wrapped_now_ns();
	waits_charge_last(thread, now);
	wall_is_charged(now);
}
