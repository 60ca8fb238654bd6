/* SPDX-License-Identifier: MIT */
/* sampling.c -- whether this process is sampled, and what its children inherit.
 */
#include "lib/base/sampling.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/cpprofdata.h"

__thread struct thread *thread_self;
__thread bool thread_is_in_fork;

volatile uint32_t sampling_same_process WIPED;
static bool is_on;
static _Atomic bool is_stopped;
static uint32_t n_recordings;
static atomic_uint n_working;	/* only if process.is_inside */
static void (*set_up_forked)(void);

bool
sampling_is_on(void)
{
	return is_on;
}

void
sampling_turn(bool on)
{
	if (on)
		n_recordings++;
	__atomic_store_n(&is_on, on, __ATOMIC_RELEASE);
}

uint32_t
sampling_recording(void)
{
	return n_recordings;
}

bool
sampling_work_begins(void)
{
	if (!process.is_inside)
		return true;
	atomic_fetch_add(&n_working, 1);
	if (__atomic_load_n(&is_on, __ATOMIC_SEQ_CST))
		return true;
	sampling_work_ends();
	return false;
}

void
sampling_work_ends(void)
{
	if (process.is_inside)
		atomic_fetch_sub(&n_working, 1);
}

void
sampling_forget_work(void)
{
	n_working = 0;
}

bool
sampling_has_work(void)
{
	return n_working != 0;
}

bool
sampling_await_work(void)
{
	unsigned i;

	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < PROCESS_LONG_WAITS && n_working != 0; i++)
		process_pause();
	return n_working == 0;
}

bool
sampling_is_stopped(void)
{
	return atomic_load_explicit(&is_stopped, memory_order_acquire);
}

void
sampling_stop(bool stopped)
{
	atomic_store(&is_stopped, stopped);
}

bool
sampling_is_own_memory(void)
{
	return sampling_same_process != 0;
}

bool
sampling_is_own_process(void)
{
	if (sampling_same_process == 0 || process_id() != process_own.pid)
		return false;
	if (thread_self != NULL)
		thread_made_call(thread_self);
	return true;
}

void
sampling_on_fork(void (*set_up_child)(void))
{
	set_up_forked = set_up_child;
}

bool
sampling_check_process(void)
{
	if (!is_on)
		return false;
	if (sampling_same_process == 0)
		set_up_forked();
	return true;
}

/*
 * Memory that is zeroed in forked children.
 */

#define END(part) __attribute__((section(".bss.cpprof_wiped." part), \
    aligned(CPPROFDATA_PAGE), used))

static char wiped_start[1] END("0");
static char wiped_end[0] END("9");

/*
 * If the linker has not sorted the sections, nothing lies between the bounds.
 */
static bool
is_between(const volatile void *variable)
{
	return (uintptr_t)wiped_end > (uintptr_t)wiped_start &&
	    (uintptr_t)variable - (uintptr_t)wiped_start <
	    (uintptr_t)wiped_end - (uintptr_t)wiped_start;
}

bool
sampling_wipe_children(const volatile void *one, const volatile void *other)
{
	errno = ENOSYS;
	return is_between(one) && is_between(other) && files_advise(wiped_start,
	    (size_t)(wiped_end - wiped_start), MADV_WIPEONFORK) == 0;
}

void
sampling_wipe_here(void)
{
	memset(wiped_start, 0, (size_t)(wiped_end - wiped_start));
}
