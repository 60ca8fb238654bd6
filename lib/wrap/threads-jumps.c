/* SPDX-License-Identifier: MIT */
/* threads-jumps.c -- wrappers for threads, unloading, jumps and tracing.
 *
 * Threads: a new thread begins in a routine of ours, which sets up its
 * sampling.  Unloading: dlclose begins a new epoch of modules.  dlopen is not
 * wrapped, because it examines its caller; modules that it loads are found when
 * they are sampled.  Jumps: before a jump, the stack's mark
 * (lib/unwind/trampoline.h) is removed.  Tracing: a process that asks to be
 * traced is no longer sampled, since the tracer would see all of our signals.
 *
 * If the collector is off, each wrapper only calls the real function.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>

#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/signals/signals.h"
#include "lib/sources/dispatch.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"
#include "lib/wrap/wrapped.h"

#define SMALL_STACK ((size_t)128 << 10)
#define STACK_OF_TICKS ((size_t)16 << 10)

/*
 * Threads.
 */

static void *
begin_posix(void *argument)
{
	struct thread *thread = argument;

	void *(*routine)(void *);

	start_thread_sampling(thread);
	memcpy(&routine, &thread->routine, sizeof routine);
	return routine(thread->run->argument);
}

static int
begin_c11(void *argument)
{
	struct thread *thread = argument;

	int (*routine)(void *);

	start_thread_sampling(thread);
	memcpy(&routine, &thread->routine, sizeof routine);
	return routine(thread->run->argument);
}

static struct thread *
take_state(const void *start, void *argument)
{
	struct thread *thread = NULL;

	if (sampling_check_process() && !sampling_is_stopped()) {
		thread_hold_off();
		thread = threads_take(start, argument);
		thread_resume();
	}
	if (thread != NULL)
		thread->run->program_mask = signals_program_mask();
	return thread;
}

static void
give_back_state(struct thread *thread)
{
	thread_hold_off();
	threads_give_back(thread);
	thread_resume();
}

/*
 * Attributes with room for a tick on a stack that the program has made as small
 * as possible.  The copy shares what the original points to.
 */
static const pthread_attr_t *
with_room(const pthread_attr_t *attr, pthread_attr_t *copy)
{
	void *start;
	size_t size;

	/* If no stack address was set, the stack ends at address 0. */
	if (attr == NULL || pthread_attr_getstack(attr, &start, &size) != 0 ||
	    (uintptr_t)start + size != 0 || size == 0 || size >= SMALL_STACK)
		return attr;
	memcpy(copy, attr, sizeof *copy);
	return pthread_attr_setstacksize(copy, size + STACK_OF_TICKS) == 0 ?
	    copy : attr;
}

EXPORTED int
pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
    void *(*start)(void *), void *restrict argument)
{
	struct thread *thread = take_state((const void *)start, argument);
	pthread_attr_t roomy;
	int failed;

	dispatch_check_caller(__builtin_return_address(0));
	if (thread == NULL)
		return real()->pthread_create(id, attr, start, argument);
	failed = real()->pthread_create(id, with_room(attr, &roomy),
	    begin_posix, thread);
	if (failed != 0)
		give_back_state(thread);
	return failed;
}

EXPORTED int
thrd_create(thrd_t *id, thrd_start_t start, void *argument)
{
	struct thread *thread = take_state((const void *)start, argument);
	int result;

	if (thread == NULL)
		return real()->thrd_create(id, start, argument);
	result = real()->thrd_create(id, begin_c11, thread);
	if (result != thrd_success)
		give_back_state(thread);
	return result;
}

/*
 * Modules.
 */

EXPORTED int
dlclose(void *handle)
{
	int result = real()->dlclose(handle);

	if (result == 0 && sampling_check_process()) {
		thread_hold_off();
		modules_unloaded();
		thread_resume();
	}
	return result;
}

/*
 * Jumps.  The C library has four names for two functions.
 */

void __longjmp_chk(jmp_buf, int) __attribute__((noreturn));

static __attribute__((noreturn)) void
threads_jumps_jump(jmp_buf buffer, int value)
{
	trampoline_before_jump();
	real()->longjmp(buffer, value);
}

EXPORTED void
longjmp(jmp_buf buffer, int value)
{
	threads_jumps_jump(buffer, value);
}

EXPORTED void
_longjmp(jmp_buf buffer, int value)
{
	threads_jumps_jump(buffer, value);
}

EXPORTED void
siglongjmp(sigjmp_buf buffer, int value)
{
	threads_jumps_jump(buffer, value);
}

EXPORTED void
__longjmp_chk(jmp_buf buffer, int value)
{
	trampoline_before_jump();
	real()->checked_longjmp(buffer, value);
}

/*
 * Tracing.  The function has another name here because <sys/ptrace.h> declares
 * ptrace with an ellipsis.
 */

EXPORTED long ptrace_any(int, long, void *, void *) __asm__("ptrace");

long
ptrace_any(int request, long pid, void *address, void *data)
{
	shared_count_tracer();
	if (request == PTRACE_TRACEME && sampling_check_process() &&
	    sampling_is_own_process())
		control_end(0);
	return real()->ptrace(request, pid, address, data);
}
