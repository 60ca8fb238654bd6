/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check-stacks.c -- every stack of a real program, walked by two unwinders.
 *
 * A library to be preloaded.  A timer interrupts each thread STACKS_HZ times a
 * second.  The handler walks the stack as the collector does, by an unwinder
 * that remembers the last stack and by one that does not, and compares both
 * with libgcc's (tests/unwind-oracle.h).  With STACKS_MARKS set it leaves
 * marks on the stack (lib/unwind/trampoline.h), so that the program returns
 * through the stub.  A file in the directory STACKS_OUTPUT always holds the
 * results so far, a struct oracle_tally as text.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/base/process.h"
#include "lib/cpprofdata.h"
#include "lib/store/tree.h"
#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline.h"
#include "tests/unwind-oracle.h"

#define EXPORTED __attribute__((visibility("default")))
#define LINE_SIZE 1024

/* With own_start at the end, no address is the library's own. */
struct process_facts process;

void
process_pause(void)
{
	sched_yield();
}

uint64_t
process_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

extern void *__libc_stack_end;

struct stopped_thread {
	struct unwinder remembering, forgetting;
};

static __thread struct stopped_thread *self;
static struct oracle_tally tally;
static struct cpprofdata_node record;
/* The node of all frames. */
static struct tree_node node = { .returns.copy = &record.returns };
static char *report;			/* LINE_SIZE bytes of the file */
static bool sets_marks;
static long interval_ns;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

static void
tell(void)
{
	snprintf(report, LINE_SIZE, "%lu %lu %lu %lu %lu %lu %zu %s %s\n",
	    tally.n_stacks, tally.n_frames, tally.n_kept, tally.n_guessed,
	    tally.n_faults, tally.n_wrong, tally.deepest,
	    program_invocation_short_name, tally.first_wrong);
}

static void
set_mark(struct unwinder *unwinder)
{
	size_t i;

	for (i = unwinder->n_kept; i < unwinder->stack.n; i++)
		unwinder->stack.frames[i].at.returns = &node.returns;
	trampoline_place(unwinder);
}

static void
check(struct stopped_thread *thread, const ucontext_t *context)
{
	struct unwinder *remembering = &thread->remembering;
	struct unwinder *forgetting = &thread->forgetting;

	if (!unwind(remembering, context))
		return;
	tally.n_stacks++;
	unwind_remember(forgetting, 0);
	unwind(forgetting, context);
	if (oracle_ask(oracle_pc(context))) {
		/* Walk again only if the first walk is right. */
		if (oracle_compare(remembering, "remembering", &tally))
			oracle_compare(forgetting, "forgetting", &tally);
		tally.n_frames += oracle_depth();
		tally.n_kept += remembering->n_kept;
		if (oracle_depth() > tally.deepest)
			tally.deepest = oracle_depth();
	} else {
		tally.n_faults++;
	}
	if (sets_marks)
		set_mark(remembering);
	else
		unwind_remember(remembering, remembering->stack.n);
	tell();
}

static void
handle(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)number, (void)info;
	if (self != NULL && !atomic_flag_test_and_set(&is_busy)) {
		check(self, context);
		atomic_flag_clear(&is_busy);
	}
	errno = saved;
}

/* Starts this thread's timer. */
static void
begin(uintptr_t stack_end)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
	    .sigev_signo = SIGRTMAX - 1 };
	struct itimerspec when = { { 0, interval_ns }, { 0, interval_ns } };
	struct stopped_thread *thread = mmap(NULL, sizeof *thread,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	timer_t timer;

	if (thread == MAP_FAILED)
		return;
	readable_init(&thread->remembering.readable,
	    (uintptr_t)__builtin_frame_address(0), stack_end);
	thread->forgetting.readable = thread->remembering.readable;
	trampoline_attach(&thread->remembering);
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	self = thread;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &when, NULL);
}

static void
end(void *unused)
{
	(void)unused;
	self = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	trampoline_attach(NULL);
}

static bool
open_report(void)
{
	const char *directory = getenv("STACKS_OUTPUT");
	char path[4096];
	int fd;

	if (directory == NULL)
		return false;
	snprintf(path, sizeof path, "%s/%ld.%ld", directory, (long)getpid(),
	    (long)clock());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, LINE_SIZE) != 0)
		return false;
	report = mmap(NULL, LINE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	close(fd);
	return report != MAP_FAILED;
}

/* A child has no timers, and its own report. */
static void
begin_child(void)
{
	memset(&tally, 0, sizeof tally);
	atomic_flag_clear(&is_busy);
	if (self != NULL)
		trampoline_withdraw(&self->remembering);
	if (open_report())
		begin((uintptr_t)__libc_stack_end);
}

struct start {
	void *(*routine)(void *);
	void *argument;
};

static void *
run(void *memory)
{
	struct start start = *(struct start *)memory;
	void *result;

	free(memory);
	pthread_cleanup_push(end, NULL);
	begin((uintptr_t)pthread_self());
	result = start.routine(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORTED int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
    void *(*routine)(void *), void *argument)
{
	static int (*real)(pthread_t *, const pthread_attr_t *,
	    void *(*)(void *), void *);
	struct start *start = malloc(sizeof *start);

	if (real == NULL) {
		void *symbol = dlsym(RTLD_NEXT, "pthread_create");

		memcpy(&real, &symbol, sizeof real);
	}
	if (start == NULL || interval_ns == 0) {
		free(start);
		return real(thread, attributes, routine, argument);
	}
	*start = (struct start){ routine, argument };
	return real(thread, attributes, run, start);
}

__attribute__((constructor)) static void
start(void)
{
	struct sigaction action = { .sa_sigaction = handle,
	    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	const char *hz = getenv("STACKS_HZ");

	if (hz == NULL || atol(hz) <= 0 || !open_report())
		return;
	traits_begin();
	sets_marks = getenv("STACKS_MARKS") != NULL &&
	    trampoline_begin(TRAMPOLINE_ALWAYS);
	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGSEGV);	/* see oracle_ask */
	sigaction(SIGRTMAX - 1, &action, NULL);
	interval_ns = 1000000000 / atol(hz);
	pthread_atfork(NULL, NULL, begin_child);
	begin((uintptr_t)__libc_stack_end);
}
