/* SPDX-License-Identifier: MIT */
/* changes.c -- wrappers of calls that change what the collector relies on.
 *
 * A new thread begins in a routine of ours, which sets up its sampling.
 * dlclose begins a new epoch of modules.  dlopen is not wrapped, because it
 * examines its caller; modules that it loads are found when they are sampled.
 * Before a jump, the stack's mark (lib/unwind/trampoline.h) is removed.  A
 * process that asks to be traced is no longer sampled, since the tracer would
 * see all of our signals.
 *
 * After a change of its user, its root or its namespaces, a process may be
 * unable to open the recording's file.  The first sample creates the file, and
 * growing it opens it by name.  So before that, it is created if necessary and
 * a descriptor is kept open.
 *
 * If the collector is off, each wrapper only calls the real function.
 */
#include <dlfcn.h>
#include <fenv.h>
#include <sched.h>
#include <setjmp.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "lib/base/fpu.h"
#include "lib/base/lookup.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/signals/signals.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"
#include "lib/wrap/wrapped.h"

#define SMALL_STACK ((size_t)128 << 10)
#define STACK_OF_TICKS ((size_t)16 << 10)

/*
 * Threads.
 */

#define BEGIN(name, type)						\
static type								\
name(void *argument)							\
{									\
	struct thread *thread = argument;				\
	type (*routine)(void *);					\
									\
	start_thread_sampling(thread);					\
	memcpy(&routine, &thread->routine, sizeof routine);		\
	return routine(thread->run->argument);				\
}
BEGIN(begin_posix, void *)
BEGIN(begin_c11, int)

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

EXPORTED int
pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
    void *(*start)(void *), void *restrict argument)
{
	struct thread *thread = take_state((const void *)start, argument);
	pthread_attr_t roomy;
	void *stack;
	size_t size;
	int failed;

	dispatch_check_caller(__builtin_return_address(0));
	if (thread == NULL)
		return real()->pthread_create(id, attr, start, argument);
	/*
	 * Make room for a tick on a stack that the program has made as small as
	 * possible.  If no stack address was set, the stack ends at address 0.
	 * The copy shares what the original points to.
	 */
	if (attr != NULL && pthread_attr_getstack(attr, &stack, &size) == 0 &&
	    (uintptr_t)stack + size == 0 && size != 0 && size < SMALL_STACK) {
		memcpy(&roomy, attr, sizeof roomy);
		if (pthread_attr_setstacksize(&roomy,
		    size + STACK_OF_TICKS) == 0)
			attr = &roomy;
	}
	failed = real()->pthread_create(id, attr, begin_posix, thread);
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

#define JUMP(name, buffer_type, real_name)				\
EXPORTED void								\
name(buffer_type buffer, int value)					\
{									\
	trampoline_before_jump();					\
	real()->real_name(buffer, value);				\
	__builtin_unreachable();					\
}
JUMP(longjmp, jmp_buf, longjmp)
JUMP(_longjmp, jmp_buf, longjmp)
JUMP(siglongjmp, sigjmp_buf, longjmp)
JUMP(__longjmp_chk, jmp_buf, __longjmp_chk)

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

/*
 * Rights.
 */

static void
keep_file_open(void)
{
	if (!sampling_check_process() || !sampling_is_own_process())
		return;
	thread_hold_off();
	sample_prepare_file();
	datafile_keep_open();
	thread_resume();
}

#define RIGHTS(name, parameters, arguments)	\
EXPORTED int					\
name parameters					\
{						\
	keep_file_open();				\
	return real()->name arguments;		\
}

RIGHTS(setuid, (uid_t user), (user))
RIGHTS(seteuid, (uid_t user), (user))
RIGHTS(setreuid, (uid_t user, uid_t effective), (user, effective))
RIGHTS(setresuid, (uid_t user, uid_t effective, uid_t saved),
    (user, effective, saved))
RIGHTS(setfsuid, (uid_t user), (user))
RIGHTS(chroot, (const char *path), (path))
RIGHTS(unshare, (int flags), (flags))
RIGHTS(setns, (int fd, int flags), (fd, flags))

/*
 * The floating-point environment.
 */

EXPORTED int
feenableexcept(int exceptions)
{
	exceptions_program_enables();
	return fpu_enable(exceptions);
}

EXPORTED int
feclearexcept(int exceptions)
{
	fpu_clear(exceptions);
	exceptions_program_clears(exceptions);
	return 0;
}
