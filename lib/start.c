/* SPDX-License-Identifier: MIT */
/* start.c -- begin and end of the process, forks, and threads' ends.
 *
 * The constructor is told to the linker as the first of all (initfirst), so
 * that threads and time of other libraries' constructors are sampled too.  The
 * C library's own has not run then: its environment, for one, is not there.
 * For the same reason the end is the last of all exit handlers.
 *
 * The library speaks at most once, on stderr, when it cannot sample; then it
 * stays out of the way.
 *
 * Forked children get timers of their own at once and a file at their first
 * tick.  Our signal is blocked while fork runs: it would restart the call, and
 * a fork that takes longer than an interval would never end.  A page that the
 * kernel wipes in children tells those whose fork did not go through the C
 * library.  A vfork child shares our memory and is left alone.
 */
#include "lib/start.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/datafile.h"
#include "lib/modules.h"
#include "lib/process.h"
#include "lib/real.h"
#include "lib/sampler.h"

extern void *__libc_stack_end;	/* ld.so: where the kernel put argc */
extern int __cxa_atexit(void (*)(void *), void *, void *);

static volatile uint32_t *is_same_process;	/* wiped to 0 in children */
static pthread_key_t end_key;
static bool has_warned;
static __thread bool was_unblocked;

/* One line, once.  Not from a handler: descriptor 2 is stderr early only. */
static void
warn(const char *what, int error)
{
	char line[512];
	char *at = line, *const end = line + sizeof line - 1;

	if (has_warned || !process.may_speak)
		return;
	has_warned = true;
	at = stpncpy(at, "cpprof: not sampling: ", (size_t)(end - at));
	at = stpncpy(at, what, (size_t)(end - at));
	if (error != 0) {
		at = stpncpy(at, ": ", (size_t)(end - at));
		at = stpncpy(at, strerrordesc_np(error), (size_t)(end - at));
	}
	*at++ = '\n';
	if (write(STDERR_FILENO, line, (size_t)(at - line)) < 0)
		return;		/* nobody to tell */
}

static sigset_t
our_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sampler_signal());
	return set;
}

bool
start_is_own_process(void)
{
	return *is_same_process != 0 && (uint32_t)getpid() == process.pid;
}

/*
 * Threads.
 */

/* On the thread: its last tick has come. */
static void
end_sampling(struct thread *thread)
{
	sampler_stop(thread);
	thread_self = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	resources_settle(thread);
	if (thread->is_announced) {
		threads_note_name(thread);
		thread->record->end_ns = process_now();
	}
}

/* Runs in a thread that returns, exits or is cancelled. */
static void
end_thread(void *state)
{
	if (!start_is_own_process())
		return;
	end_sampling(state);
	threads_give_back(state);
}

static void
begin_thread(struct thread *thread, const void *stack_end)
{
	int saved = errno;
	bool ok;

	threads_begin(thread, stack_end);
	ok = pthread_setspecific(end_key, thread) == 0 && sampler_start(thread);
	/* Later, descriptor 2 may be anything: the count must do. */
	if (!ok && thread->is_main)
		warn("no timer", errno);
	datafile_count_thread(ok);
	errno = saved;
}

void
start_thread_sampling(struct thread *thread)
{
	/* The C library keeps a thread's descriptor above its stack. */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t above = (uintptr_t)pthread_self();

	if (above < here || above - here > 1 << 20)
		above = here;
	begin_thread(thread, (const void *)above);
}

/*
 * Forks.
 */

/* Everything that the child must not share with its parent. */
static void
set_up_child(void)
{
	struct thread *self = thread_self;

	*is_same_process = 1;
	process_forked();
	datafile_forked();
	modules_forked();
	threads_forked();
	process.n_threads = process.n_threads_unsampled = 0;
	if (self != NULL)
		datafile_count_thread(sampler_start(self));
}

static void
before_fork(void)
{
	sigset_t ours = our_signal(), old;

	real()->pthread_sigmask(SIG_BLOCK, &ours, &old);
	was_unblocked = sigismember(&old, sampler_signal()) == 0;
}

static void
after_fork(void)
{
	sigset_t ours = our_signal();

	if (was_unblocked)
		real()->pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

static void
after_fork_in_child(void)
{
	int saved = errno;

	set_up_child();
	after_fork();
	errno = saved;
}

bool
start_check_process(void)
{
	if (!sampler_is_on())
		return false;
	if (*is_same_process == 0)
		set_up_child();
	return true;
}

/*
 * Processes.
 */

static bool
watch_forks(void)
{
	void *page = mmap(NULL, CPPROFDATA_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED ||
	    madvise(page, CPPROFDATA_PAGE, MADV_WIPEONFORK) != 0)
		return false;
	is_same_process = page;
	*is_same_process = 1;
	return pthread_atfork(before_fork, after_fork,
	    after_fork_in_child) == 0;
}

static bool
make_file(void)
{
	bool ok;

	datafile_lock_wait();
	ok = datafile_create();
	datafile_unlock();
	return ok;
}

/*
 * The last of the exit handlers, after all destructors.  Threads that still
 * run are sampled until the process is gone.  (A handler of the program that
 * calls exit may have interrupted who holds a lock.)
 */
static void
finish(void *unused)
{
	struct thread *self = thread_self;

	(void)unused;
	if (!start_is_own_process())
		return;
	if (self != NULL)
		end_sampling(self);
	if (datafile_lock_patiently()) {
		datafile_finish();
		datafile_unlock();
	}
}

__attribute__((constructor)) static void
start(int argc, char **argv, char **environment)
{
	int saved = errno;
	const char *problem;
	struct thread *thread;

	(void)argc, (void)argv;
	real();
	if (!process_init(environment, &problem)) {
		if (problem != NULL)
			warn(problem, 0);
	} else if (!make_file()) {
		warn(process.output, errno);
	} else if (!watch_forks() ||
	    __cxa_atexit(finish, NULL, NULL) != 0 ||
	    pthread_key_create(&end_key, end_thread) != 0 ||
	    (thread = threads_take(NULL, NULL)) == NULL ||
	    sampler_install() != 0) {
		warn("cannot set up", errno);
	} else {
		thread->is_main = true;
		begin_thread(thread, __libc_stack_end);
	}
	errno = saved;
}
