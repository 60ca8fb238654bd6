/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hostile.c -- a program that uses what the collector uses: `hostile MODE`.
 *
 * Each mode does something that programs may do with signals, stacks,
 * descriptors, permissions and processes, and prints what it sees.  The output
 * must be the same whether it is sampled or not.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noinline, noclone))
#define OURS (SIGRTMAX - 1)	/* the collector uses it, too */

extern char **environ;
static volatile sig_atomic_t n_caught;

/* New call paths make the file grow. */
static NOINLINE void
recurse(unsigned depth, long ms)
{
	if (depth == 0)
		spin(ms);
	else
		recurse(depth - 1, ms);
	sink++;
}

static NOINLINE void
grow(void)
{
	unsigned i;

	for (i = 0; i < 40; i++)
		recurse(i * 25, 3);
}

static void
count(int number)
{
	(void)number;
	n_caught++;
}

static void
handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(number, &action, NULL);
}

/* Uses most of a small stack. */
static void
use_stack_for(long ms, int number)
{
	volatile char used[1800];

	memset((char *)used, number, sizeof used);
	spin(ms);
	n_caught += used[17];
}

static void
use_stack(int number)
{
	use_stack_for(60, number);
}

/* Three of the kernel's ticks. */
static void
use_stack_in_crowd(int number)
{
	use_stack_for(12, number);
}

static void
use_stack_briefly(int number)
{
	use_stack_for(3, number);
}

static int
on_alternate_stack(size_t size, bool before)
{
	stack_t stack = { .ss_sp = malloc(size), .ss_size = size };
	struct sigaction seen;

	if (before)
		handle(SIGUSR1, use_stack, SA_ONSTACK);
	printf("%d ", sigaltstack(&stack, NULL));
	if (!before)
		handle(SIGUSR1, use_stack, SA_ONSTACK);
	raise(SIGUSR1);
	spin(50);
	sigaction(SIGUSR1, NULL, &seen);
	printf("caught %d, mask %d\n", n_caught,
	    sigismember(&seen.sa_mask, OURS));
	return 0;
}

static int
run_small_alternate_stack(void)
{
	return on_alternate_stack(8192, false);
}

static int
run_later_alternate_stack(void)
{
	return on_alternate_stack(8192, true);
}

/* Too small for any signal, but no signal comes that would use it. */
static int
run_tiny_alternate_stack(void)
{
	size_t size = 2048;
	stack_t stack = { .ss_sp = malloc(size), .ss_size = size };

	printf("%d\n", sigaltstack(&stack, NULL));
	handle(SIGUSR1, use_stack, 0);
	raise(SIGUSR1);
	spin(50);
	return n_caught;
}

static void *
fill_stack(void *argument)
{
	volatile char used[7000];

	memset((char *)used, 1, sizeof used);
	spin(60);
	sink += (unsigned)used[77];
	return argument;
}

static int
run_tiny_stacks(void)
{
	pthread_t threads[4];
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	printf("%d\n", pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN));
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], &attr, fill_stack, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void *
join_crowd(void *argument)
{
	stack_t stack = { .ss_sp = argument, .ss_size = 8192 };

	if (argument != NULL) {
		sigaltstack(&stack, NULL);
		raise(SIGUSR1);
	}
	spin(8);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return argument;
}

/*
 * Many threads at once on the smallest stacks, every second one with an
 * alternate stack.
 */
static int
run_crowd(void)
{
	pthread_t threads[64];
	void *stacks[64], *result;
	pthread_attr_t attr;
	int i, ended = 0;

	handle(SIGUSR1, use_stack_in_crowd, SA_ONSTACK);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (i = 0; i < 64; i++) {
		stacks[i] = i % 2 != 0 ? malloc(8192) : NULL;
		pthread_create(&threads[i], &attr, join_crowd, stacks[i]);
	}
	for (i = 0; i < 64; i++)
		ended += pthread_join(threads[i], &result) == 0 &&
		    result == stacks[i];
	printf("%d\n", ended);
	return 0;
}

static _Atomic int n_ready;

/* Gets a small alternate stack in the same moment as the other thread. */
static void *
use_stack_at_once(void *argument)
{
	stack_t stack = { .ss_sp = malloc(8192), .ss_size = 8192 };

	n_ready++;
	while (n_ready < 2)
		sched_yield();
	sigaltstack(&stack, NULL);
	raise(SIGUSR1);
	return argument;
}

/* A process has its first small stacks once. */
static int
run_first_small_stacks(void)
{
	pthread_t thread;
	int i, status, failed = 0;
	pid_t child;

	handle(SIGUSR1, use_stack_briefly, SA_ONSTACK);
	for (i = 0; i < 30; i++) {
		child = fork();
		if (child == 0) {
			pthread_create(&thread, NULL, use_stack_at_once, NULL);
			use_stack_at_once(NULL);
			pthread_join(thread, NULL);
			_exit(0);
		}
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	return failed;
}

/* The program must see the masks and actions that it has set. */
static int
run_views(void)
{
	struct sigaction action, old;
	sigset_t mask, seen;
	int number, wrong = 0;

	memset(&action, 0, sizeof action);
	for (number = 1; number < 65; number++) {
		if (number == SIGKILL || number == SIGSTOP ||
		    number == 32 || number == 33)
			continue;
		action.sa_handler = count;
		action.sa_flags = SA_RESTART;
		sigfillset(&action.sa_mask);
		sigaction(number, &action, NULL);
		spin(1);
		sigemptyset(&action.sa_mask);
		sigaction(number, &action, &old);
		wrong += old.sa_handler != count ||
		    sigismember(&old.sa_mask, OURS) != 1;
		sigaction(number, NULL, &old);
		wrong += sigismember(&old.sa_mask, OURS) != 0;
		signal(number, SIG_DFL);
	}
	sigemptyset(&mask);
	sigaddset(&mask, OURS);
	sigprocmask(SIG_BLOCK, &mask, &seen);
	wrong += sigismember(&seen, OURS) != 0;
	spin(20);
	sigprocmask(SIG_SETMASK, NULL, &seen);
	wrong += sigismember(&seen, OURS) != 1;
	sigpending(&seen);
	wrong += sigismember(&seen, OURS) != 0;
	pthread_sigmask(SIG_UNBLOCK, &mask, &seen);
	wrong += sigismember(&seen, OURS) != 1;
	printf("wrong %d\n", wrong);
	return 0;
}

/* A thread that takes all signals must not receive the collector's. */
static int
run_waiting(void)
{
	struct timespec timeout = { 0, 30000000 };
	struct signalfd_siginfo info;
	sigset_t all;
	int fd, number, i;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	spin(40);
	printf("%d ", read(fd, &info, sizeof info) < 0 && errno == EAGAIN);
	for (i = 0; i < 5; i++) {
		spin(10);
		printf("%d ", sigtimedwait(&all, NULL, &timeout));
	}
	kill(getpid(), SIGUSR2);
	sigwait(&all, &number);
	printf("%d\n", number == SIGUSR2);
	return 0;
}

static volatile bool has_come;

static void *
spin_until_it_comes(void *argument)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	__atomic_fetch_add(&n_caught, sigismember(&mask, OURS),
	    __ATOMIC_SEQ_CST);
	while (!has_come)
		spin(1);
	return argument;
}

static void *
wait_for_ours(void *argument)
{
	siginfo_t info;

	printf("%d ", sigwaitinfo(argument, &info) == OURS);
	printf("%d ", info.si_pid == getpid());
	has_come = true;
	return NULL;
}

/*
 * A signal for the process, which one thread waits for and no other may
 * receive.
 */
static int
run_waiting_thread(void)
{
	pthread_t threads[4];
	sigset_t set;
	int i;

	sigemptyset(&set);
	sigaddset(&set, OURS);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, spin_until_it_comes, NULL);
	pthread_create(&threads[3], NULL, wait_for_ours, &set);
	spin(50);
	kill(getpid(), OURS);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", n_caught);
	return 0;
}

/*
 * A wait that the program's own handler interrupts, although SA_RESETHAND has
 * removed the handler by then.
 */
static int
run_interrupted_wait(void)
{
	struct itimerval soon = { .it_value = { 0, 300000 } };
	struct timespec long_time = { 20, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, OURS);
	sigprocmask(SIG_BLOCK, &set, NULL);
	handle(SIGALRM, count, SA_RESETHAND);
	spin(50);
	setitimer(ITIMER_REAL, &soon, NULL);
	printf("%d ", sigtimedwait(&set, NULL, &long_time) == -1 &&
	    errno == EINTR);
	printf("%d\n", (int)n_caught);
	return 0;
}

static void
block_behind(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	sigfillset(&((ucontext_t *)context)->uc_sigmask);
}

/* A handler that changes the mask for the time after it. */
static int
run_masks_behind(void)
{
	struct sigaction action = { .sa_sigaction = block_behind,
		.sa_flags = SA_SIGINFO };
	sigset_t mask;
	int i;

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	for (i = 0; i < 100; i++)
		getppid();
	spin(50);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("%d\n", sigismember(&mask, SIGUSR2));
	return 0;
}

static void
tell(long result)
{
	printf("%ld %d ", result, result < 0 ? errno : 0);
}

/*
 * The last bytes of a page, which a page without rights follows: not a hole,
 * which the collector may map something into.
 */
static char *
end_of_memory(size_t size, int protection)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory + page, page, PROT_NONE);
	mprotect(memory, page, protection);
	return memory + page - size;
}

/* Arguments of which only a part can be read, or that cannot be written. */
static void
try_parts(void)
{
	char *part = end_of_memory(8, PROT_READ | PROT_WRITE);
	char *constant = end_of_memory(64, PROT_READ);
	struct timespec soon = { 0, 1000000 };

	tell(syscall(SYS_rt_sigaction, SIGSYS, part, NULL, 8L));
	tell(syscall(SYS_rt_sigaction, SIGSYS, NULL, part, 8L));
	tell(syscall(SYS_rt_sigaction, SIGSYS, NULL, constant, 8L));
	tell(syscall(SYS_rt_sigaction, SIGUSR1, part, NULL, 8L));
	tell(syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &soon, part));
}

/* Masks in raw system calls, valid and invalid. */
static int
run_raw_masks(void)
{
	unsigned long all = ~0ul;
	struct timespec soon = { 0, 1000000 };
	struct {
		const void *mask;
		size_t size;
	} pair = { &all, sizeof all };
	const void *bad = (const void *)1;
	int i;

	tell(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8L));
	for (i = 0; i < 50; i++)
		syscall(SYS_getppid);
	spin(50);
	tell(syscall(SYS_ppoll, NULL, 0L, &soon, &all, 8L));
	tell(syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &soon, &pair));
	printf("%d ", pair.mask == &all && all == ~0ul);
	tell(syscall(SYS_ppoll, NULL, 0L, &soon, bad, 8L));
	tell(syscall(SYS_pselect6, 0L, NULL, NULL, NULL, &soon, bad));
	tell(syscall(SYS_rt_sigaction, SIGSYS, bad, NULL, 8L));
	tell(syscall(SYS_rt_sigprocmask, SIG_SETMASK, bad, NULL, 8L));
	try_parts();
	puts("");
	return 0;
}

/* What an executed program inherits. */
static int
run_inherited(void)
{
	struct sigaction action;
	sigset_t mask;

	spin(20);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigaction(OURS, NULL, &action);
	printf("blocked %d, ignored %d\n", sigismember(&mask, OURS),
	    action.sa_handler == SIG_IGN);
	return 0;
}

/*
 * The number of expiries follows from the timer's clock.  On a busy machine,
 * ticks find the process more often than it has run.
 */
static int
run_interval_timers(void)
{
	struct itimerval ten = { { 0, 10000 }, { 0, 10000 } }, seen;
	struct itimerval none = { { 0, 0 }, { 0, 0 } };
	clock_t start = clock();

	handle(SIGPROF, count, SA_RESTART);
	setitimer(ITIMER_PROF, &ten, NULL);
	while (n_caught < 10)
		spin(10);
	getitimer(ITIMER_PROF, &seen);
	setitimer(ITIMER_PROF, &none, NULL);
	printf("prof %d, every %ld\n",
	    n_caught <= 10 + 4 * (clock() - start) / (CLOCKS_PER_SEC / 100),
	    (long)seen.it_interval.tv_usec);
	n_caught = 0;
	handle(SIGALRM, count, 0);
	setitimer(ITIMER_REAL, &ten, NULL);
	while (n_caught < 5)
		pause();
	setitimer(ITIMER_REAL, &none, NULL);
	puts("real 5");
	return 0;
}

static volatile sig_atomic_t values;

static void
take_value(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	values += info->si_code == SI_TIMER ? info->si_value.sival_int : 1000;
}

/* The program's own timers that send the collector's signal. */
static int
run_own_timers(void)
{
	struct itimerspec when = { { 0, 5000000 }, { 0, 5000000 } };
	struct sigevent event;
	struct sigaction action;
	timer_t timer;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = OURS;
	event.sigev_value.sival_int = 3;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = take_value;
	action.sa_flags = SA_SIGINFO;
	sigaction(OURS, &action, NULL);
	printf("%d ", timer_create(CLOCK_MONOTONIC, &event, &timer));
	timer_settime(timer, 0, &when, NULL);
	while (values < 30)
		spin(1);
	timer_delete(timer);
	printf("%d\n", values >= 30 && values < 600);
	return 0;
}

/* Jumps out of handlers, restoring the mask. */
static sigjmp_buf out;

static void
jump(int number)
{
	siglongjmp(out, number);
}

static int
run_jumps(void)
{
	struct itimerval tick = { { 0, 2000 }, { 0, 2000 } };
	struct itimerval none = { { 0, 0 }, { 0, 0 } };
	volatile int n = 0;

	handle(SIGVTALRM, jump, 0);
	setitimer(ITIMER_VIRTUAL, &tick, NULL);
	while (n < 20) {
		if (sigsetjmp(out, 1) == 0)
			for (;;)
				recurse(20, 1);
		n++;
	}
	setitimer(ITIMER_VIRTUAL, &none, NULL);
	printf("jumped %d\n", n);
	return 0;
}

static int
n_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	int n = 0;

	while (list != NULL && readdir(list) != NULL)
		n++;
	closedir(list);
	return n;
}

static int
run_descriptors(void)
{
	int fd = open("/dev/null", O_RDONLY);

	printf("%d ", fd);
	spin(50);
	printf("%d ", close_range(3, ~0u, 0));
	printf("%d ", n_descriptors());
	printf("%d ", open("/dev/null", O_RDONLY));
	grow();
	closefrom(3);
	grow();
	printf("%d\n", open("/dev/null", O_RDONLY));
	return 0;
}

/* Below the open descriptors, and no spare one. */
static int
run_no_descriptors(void)
{
	struct rlimit limit;
	int fd, n = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 16;
	setrlimit(RLIMIT_NOFILE, &limit);
	closefrom(3);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		n++;
	grow();
	printf("%d %d\n", n, errno == EMFILE);
	return 0;
}

static int
run_vanished_folder(void)
{
	char name[] = "/tmp/cpprof-hostile-XXXXXX";

	if (mkdtemp(name) == NULL || chdir(name) != 0 || rmdir(name) != 0)
		return 1;
	grow();
	closefrom(3);
	grow();
	puts("gone");
	return 0;
}

static void *
spin_in_thread(void *ms)
{
	spin(*(const long *)ms);
	return NULL;
}

static int
run_setuid(void)
{
	long ms = 100;
	pthread_t thread;

	pthread_create(&thread, NULL, spin_in_thread, &ms);
	spin(50);
	if (getuid() == 0)
		printf("%d %d\n", setgid(65534), setuid(65534));
	grow();
	closefrom(3);
	grow();
	pthread_join(thread, NULL);
	printf("%d\n", (int)getuid());
	return 0;
}

static int
child_of(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/*
 * With all signals blocked, what is pending when the program ends must not
 * remain.
 */
static int
run_exec(void)
{
	char *const words[] = { (char *)"hostile", (char *)"inherited", NULL };
	char *const missing[] = { (char *)"missing", NULL };
	sigset_t all;
	pid_t child;
	int i;

	signal(OURS, SIG_IGN);
	sigfillset(&all);
	for (i = 0; i < 30; i++) {
		child = fork();
		if (child == 0) {
			sigprocmask(SIG_BLOCK, &all, NULL);
			if (i % 10 == 0)
				printf("%d\n", execv("/missing", missing));
			fflush(stdout);
			spin(i % 3);
			_exit(execv("/proc/self/exe", words));
		}
		printf("%d\n", child_of(child));
		fflush(stdout);
	}
	return 0;
}

/* Signals that the collector uses, too. */
#define N_SHARED 4

static int
shared_number(size_t i)
{
	static const int numbers[N_SHARED] = { SIGBUS, SIGTRAP, SIGFPE };

	return i + 1 < N_SHARED ? numbers[i] : OURS;
}

/* How many of these have that handler, and how many are blocked. */
static int
n_as(void (*handler)(int))
{
	struct sigaction action;
	sigset_t mask;
	size_t i;
	int n = 0;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (i = 0; i < N_SHARED; i++) {
		sigaction(shared_number(i), NULL, &action);
		n += 10 * (action.sa_handler == handler);
		n += sigismember(&mask, shared_number(i));
	}
	return n;
}

static void
set_shared(void (*handler)(int), int how)
{
	sigset_t all;
	size_t i;

	sigfillset(&all);
	for (i = 0; i < N_SHARED; i++)
		handle(shared_number(i), handler, 0);
	sigprocmask(how, &all, NULL);
}

/*
 * A child that shares its parent's memory sets its own actions and mask, and
 * executes a program with them.
 */
static void
set_in_vfork(void (*handler)(int), int how)
{
	char *const words[] = { (char *)"hostile", (char *)"inherited", NULL };
	pid_t child = vfork();
	int seen;

	if (child == 0) {
		seen = n_as(count);
		set_shared(handler, how);
		seen += n_as(handler);
		_exit(seen);
	}
	printf("%d ", child_of(child));
	child = vfork();
	if (child == 0) {
		set_shared(handler, how);
		_exit(execv("/proc/self/exe", words));
	}
	child_of(child);
	printf("%d\n", n_as(count));
	fflush(stdout);
}

static int
run_vfork_signals(void)
{
	size_t i;

	spin(50);
	set_shared(count, SIG_UNBLOCK);
	set_in_vfork(SIG_DFL, SIG_BLOCK);
	set_in_vfork(SIG_IGN, SIG_BLOCK);
	for (i = 0; i < N_SHARED; i++)
		kill(getpid(), shared_number(i));
	printf("caught %d\n", n_caught);
	set_shared(count, SIG_BLOCK);
	set_in_vfork(SIG_IGN, SIG_UNBLOCK);
	set_shared(SIG_IGN, SIG_UNBLOCK);
	set_in_vfork(SIG_DFL, SIG_UNBLOCK);
	return 0;
}

static void
try_exec(const char *path, char *const *words, char *const *variables)
{
	pid_t child;

	printf("%d ", execve(path, words, variables) == -1 ? errno : 0);
	/* The C library counts the arguments itself. */
	if ((uintptr_t)words > 4096)
		printf("%d ", posix_spawn(&child, path, NULL, NULL, words,
		    variables));
	child = vfork();
	if (child == 0)
		_exit(execve(path, words, variables) == -1 ? errno : 0);
	printf("%d\n", child_of(child));
}

/* An address that the kernel cannot read. */
static int
run_bad_addresses(void)
{
	void *const nowhere = (void *)8;
	struct timespec soon = { 0, 1000 };

	spin(50);
	printf("%d ", sigaltstack(nowhere, NULL));
	printf("%d ", errno);
	printf("%d ", sigtimedwait(nowhere, NULL, &soon));
	printf("%d ", errno);
	printf("%d ", signalfd(-1, nowhere, 0));
	printf("%d ", errno);
	printf("%d ", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nowhere));
	printf("%d\n", errno);
	return 0;
}

/* Invalid addresses, and valid ones that end before an invalid page. */
static int
run_bad_exec(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *const nowhere = (char *)8, *const missing = (char *)"/none/such";
	char *good[] = { (char *)"A=b", NULL }, *bad[] = { *good, nowhere, NULL };
	char *endless[] = { NULL, NULL }, *memory, **last;

	spin(50);
	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Not a hole, as in end_of_memory. */
	mprotect(memory + page, page, PROT_NONE);
	endless[0] = memcpy(memory + page - 4, "LD_P", 4);
	last = (char **)(memory + page) - 2;
	try_exec(nowhere, good, good);
	try_exec(missing, (char **)nowhere, good);
	try_exec(missing, good, (char **)nowhere);
	try_exec("/bin/true", good, bad);
	try_exec("/bin/true", bad, good);
	try_exec("/bin/true", good, endless);
	last[0] = last[1] = good[0];
	try_exec("/bin/true", good, last);
	try_exec(missing, good, NULL);
	return 0;
}

/*
 * Programs that are executed by syscall: a trap of the collector's that is due by
 * then would kill them.
 */
static int
run_called_exec(void)
{
	char *words[] = { (char *)"true", NULL };
	int failed = 0, status;
	pid_t child;

	spin(50);
	for (int i = 0; i < 60; i++) {
		child = fork();
		if (child == 0) {
			spin(1 + i % 3);
			if (i % 2 == 0)
				syscall(SYS_execve, "/bin/true", words, environ);
			syscall(SYS_execveat, -1, "/bin/true", words, environ,
			    0);
			_exit(9);
		}
		waitpid(child, &status, 0);
		failed += status != 0;
	}
	printf("%d\n", failed);
	return 0;
}

static int
in_new_process(void *argument)
{
	long ms = 5;

	if (argument != NULL)
		spin(ms);
	_exit(9);
}

/* All ways to have a child. */
static int
run_children(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	char *const words[] = { (char *)"true", NULL };
	char *top = stack + sizeof stack;
	volatile int i;
	pid_t child;

	for (i = 0; i < 10; i++) {
		child = fork();
		if (child == 0) {
			spin(i % 5);
			exit(i % 2);
		}
		spin(2);
		printf("%d", child_of(child));
		child = vfork();
		if (child == 0) {
			execv("/bin/true", words);
			_exit(5);
		}
		printf("%d", child_of(child));
		child = vfork();
		if (child == 0)
			_exit(6);
		printf("%d", child_of(child));
		if (posix_spawn(&child, "/bin/true", NULL, NULL, words,
		    environ) == 0)
			printf("%d", child_of(child));
		child = clone(in_new_process, top,
		    CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
		printf("%d", child_of(child));
		child = clone(in_new_process, top, SIGCHLD, stack);
		printf("%d", child_of(child));
		child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL,
		    NULL);
		if (child == 0) {
			spin(5);
			exit(7);
		}
		printf("%d\n", child_of(child));
		fflush(stdout);
	}
	return system("exit 3") / 256;
}

static NOINLINE pid_t
fork_below(unsigned depth)
{
	pid_t child;

	if (depth > 0) {
		child = fork_below(depth - 1);
	} else {
		spin(20);
		for (sink = 0; sink < 10; sink++)
			free(malloc((size_t)sink + 1));
		child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL,
		    NULL);
	}
	sink++;
	return child;
}

/* A child unknown to the C library returns as its parent does. */
static int
run_raw_fork(void)
{
	pid_t child = fork_below(20);

	if (child == 0)
		_exit(7);
	printf("%d\n", child_of(child));
	return 0;
}

/* A child that the program traces, whose every signal it sees. */
static int
run_traced(void)
{
	int status, n_traps = 0;
	pid_t child;

	spin(50);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		spin(20);
		_exit(7);
	}
	waitpid(child, &status, 0);
	while (WIFSTOPPED(status)) {
		n_traps += WSTOPSIG(status) != SIGSTOP;
		ptrace(PTRACE_CONT, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	printf("%d %d\n", n_traps, WEXITSTATUS(status));
	return 0;
}

/* How a child ends that gets the signal twice, and is to be left by it. */
static void
raise_in_child(int number, void (*handler)(int), int flags)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		handle(number, handler, flags);
		raise(number);
		raise(number);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf(" %d", WTERMSIG(status));
}

/* Without a handler, SA_SIGINFO means nothing. */
static int
run_plain_actions(void)
{
	static const int numbers[] = { SIGBUS, SIGTRAP, SIGFPE, SIGUSR1, 0 };
	size_t i;

	spin(50);
	for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const int number = numbers[i] != 0 ? numbers[i] : OURS;

		printf("%d:", number);
		raise_in_child(number, SIG_DFL, SA_SIGINFO);
		raise_in_child(number, SIG_IGN, SA_SIGINFO);
		raise_in_child(number, count, SA_SIGINFO | (int)SA_RESETHAND);
		puts("");
		fflush(stdout);
	}
	return 0;
}

/* The older functions differ in what they make of the second signal. */
static int
run_older_functions(void)
{
	static const int numbers[] = { SIGBUS, SIGTRAP, SIGFPE, SIGUSR1, 0 };
	static __sighandler_t (*const functions[])(int, __sighandler_t) = {
		signal, sysv_signal,
	};
	enum { FLAGS = SA_SIGINFO | SA_RESTART | SA_NODEFER };
	struct sigaction seen;
	size_t i, k;

	spin(50);
	for (i = 0; i < 2 * sizeof numbers / sizeof *numbers; i++) {
		const int number = numbers[i / 2] != 0 ? numbers[i / 2] : OURS;
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
			functions[i % 2](number, count);
			sigaction(number, NULL, &seen);
			printf("%d: %#x %d", number, seen.sa_flags & FLAGS,
			    (seen.sa_flags & (int)SA_RESETHAND) != 0);
			fflush(stdout);
			for (k = 0; k < 2; k++)
				raise(number);
			printf(" %d", n_caught);
			fflush(stdout);
			_exit(0);
		}
		waitpid(child, &status, 0);
		printf(" %d\n", WTERMSIG(status));
		fflush(stdout);
	}
	return 0;
}

/*
 * Sends itself SIGBUS while it is sampled: the first is caught, the second
 * kills.
 */
static int
run_sent_bus_errors(void)
{
	int i, status, n_killed = 0;
	pid_t child;

	spin(50);
	for (i = 0; i < 30; i++) {
		child = fork();
		if (child == 0) {
			setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
			sysv_signal(SIGBUS, count);
			raise(SIGBUS);
			raise(SIGBUS);
			_exit(0);
		}
		waitpid(child, &status, 0);
		n_killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS;
	}
	printf("%d killed\n", n_killed);
	return 0;
}

/* Threads unknown to the C library. */
static volatile int raw_done;

static int
raw_thread(void *argument)
{
	volatile unsigned n = 0;

	(void)argument;
	while (n < 100000000)
		n++;
	raw_done = 1;
	syscall(SYS_exit, 0);
	return 0;
}

static int
run_raw_thread(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
	    CLONE_THREAD | CLONE_SYSVSEM;

	spin(20);
	printf("%d\n", clone(raw_thread, stack + sizeof stack, flags,
	    NULL) > 0);
	while (!raw_done)
		spin(5);
	spin(20);
	return 0;
}

static bool filters_by_number;

/* Only the system calls that a careful program would allow itself. */
static int
forbid_all_but_little(unsigned action)
{
	static const int allowed[] = { SYS_read, SYS_write, SYS_exit,
	    SYS_exit_group, SYS_rt_sigreturn, SYS_fstat, SYS_newfstatat,
	    SYS_brk };
	enum { N = sizeof allowed / sizeof *allowed };
	struct sock_filter code[2 * N + 2], *at = code;
	struct sock_fprog program = { .filter = code };
	size_t i;

	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    offsetof(struct seccomp_data, nr));
	for (i = 0; i < N; i++) {
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		    (unsigned)allowed[i], 0, 1);
		*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
		    SECCOMP_RET_ALLOW);
	}
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	program.len = (unsigned short)(at - code);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    (filters_by_number ? syscall(SYS_prctl, PR_SET_SECCOMP,
	        SECCOMP_MODE_FILTER, &program) :
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) != 0;
}

static NOINLINE void
spin_free(void)
{
	unsigned i;

	for (i = 0; i < 200000000; i++)
		sink = sink * 31 + i;
}

static int
run_filter(void)
{
	spin(50);
	puts("filtered");
	fflush(stdout);
	if (forbid_all_but_little(SECCOMP_RET_KILL_PROCESS) != 0)
		return 1;
	spin_free();
	puts("alive");
	return 0;
}

static int
run_filter_by_number(void)
{
	filters_by_number = true;
	return run_filter();
}

static void
not_allowed(int number)
{
	(void)number;
	n_caught++;
}

/* A filter that notifies the program of each call. */
static int
run_trapping_filter(void)
{
	handle(SIGSYS, not_allowed, 0);
	spin(50);
	if (forbid_all_but_little(SECCOMP_RET_TRAP) != 0)
		return 1;
	spin_free();
	printf("trapped %d\n", n_caught);
	return 0;
}

static int
forbid_by(unsigned long flags, unsigned number, unsigned other)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 5, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0;
}

static int
forbid(unsigned number, unsigned other)
{
	return forbid_by(0, number, other);
}

/* A filter under which the collector can continue. */
static int
run_mild_filter(void)
{
	if (forbid(SYS_ptrace, SYS_acct) != 0)
		return 1;
	spin(200);
	puts("mild");
	return 0;
}

static void *
nap(void *argument)
{
	usleep(1000);
	return argument;
}

/* Threads are still beginning or ending when all of them are confined. */
static int
confine_threads(void)
{
	enum { N = 8 };
	pthread_t threads[2 * N];
	int i;

	for (i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, nap, NULL);
	usleep(500);
	for (; i < 2 * N; i++)
		pthread_create(&threads[i], NULL, nap, NULL);
	if (forbid_by(SECCOMP_FILTER_FLAG_TSYNC, SYS_timer_create,
	    SYS_timer_delete) != 0)
		return 1;
	for (i = 0; i < 2 * N; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int
run_threads_filter(void)
{
	int i, status, n_bad = 0;
	pid_t child;

	spin(50);
	for (i = 0; i < 20; i++) {
		child = fork();
		if (child == 0)
			_exit(confine_threads());
		waitpid(child, &status, 0);
		n_bad += status != 0;
	}
	printf("bad ends of confined threads: %d\n", n_bad);
	return 0;
}

/* The same, unless it still has to find the names for its file. */
static int
run_names_filter(void)
{
	if (forbid(SYS_readlink, SYS_uname) != 0)
		return 1;
	spin(200);
	puts("no names");
	return 0;
}

static void *
wait_long(void *argument)
{
	sleep(1000);
	return argument;
}

/* The same, unless it needs perf events or `real`. */
static int
run_events_filter(void)
{
	pthread_t waiting, other;
	long ms = 20;

	pthread_create(&waiting, NULL, wait_long, NULL);
	spin(50);
	if (forbid(SYS_perf_event_open, SYS_rt_tgsigqueueinfo) != 0)
		return 1;
	pthread_create(&other, NULL, spin_in_thread, &ms);
	pthread_join(other, NULL);
	puts("no events");
	return 0;
}

static int
run_strict(void)
{
	static const char line[] = "strict\n";

	spin(50);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		return 1;
	spin_free();
	if (write(1, line, sizeof line - 1) < 0)
		return 1;
	syscall(SYS_exit, 4);
	return 0;
}

/* Ends after work that must not be lost. */
static int
end_kill(void)
{
	spin(200);
	return kill(getpid(), SIGKILL);
}

static int
end_abort(void)
{
	spin(200);
	abort();
}

static int
end_exit(void)
{
	spin(200);
	_exit(5);
}

static int
end_quickly(void)
{
	spin(200);
	quick_exit(6);
}

static int
end_group(void)
{
	spin(200);
	return (int)syscall(SYS_exit_group, 7);
}

/* So deep that samples are deferred, which then never come. */
static NOINLINE void
allocate_below(unsigned depth, int signal)
{
	unsigned i;

	if (depth > 0)
		allocate_below(depth - 1, signal);
	for (i = 0; depth == 0 && i < 1000; i++)
		free(malloc(i + 1));
	if (depth == 0)
		syscall(signal == 0 ? SYS_exit_group : SYS_kill,
		    signal == 0 ? 7 : getpid(), signal);
	sink++;
}

static int
end_deep_group(void)
{
	allocate_below(50000, 0);
	return 0;
}

static int
end_deep_kill(void)
{
	allocate_below(50000, SIGKILL);
	return 0;
}

static int
end_trap(void)
{
	spin(200);
	__builtin_trap();
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "small-alternate-stack", run_small_alternate_stack },
	{ "later-alternate-stack", run_later_alternate_stack },
	{ "tiny-alternate-stack", run_tiny_alternate_stack },
	{ "tiny-stacks", run_tiny_stacks },
	{ "first-small-stacks", run_first_small_stacks },
	{ "crowd", run_crowd },
	{ "views", run_views },
	{ "waiting", run_waiting },
	{ "waiting-thread", run_waiting_thread },
	{ "interrupted-wait", run_interrupted_wait },
	{ "masks-behind", run_masks_behind },
	{ "raw-masks", run_raw_masks },
	{ "inherited", run_inherited },
	{ "exec", run_exec },
	{ "bad-addresses", run_bad_addresses },
	{ "bad-exec", run_bad_exec },
	{ "called-exec", run_called_exec },
	{ "vfork-signals", run_vfork_signals },
	{ "interval-timers", run_interval_timers },
	{ "own-timers", run_own_timers },
	{ "jumps", run_jumps },
	{ "descriptors", run_descriptors },
	{ "no-descriptors", run_no_descriptors },
	{ "vanished-folder", run_vanished_folder },
	{ "setuid", run_setuid },
	{ "children", run_children },
	{ "raw-fork", run_raw_fork },
	{ "traced", run_traced },
	{ "plain-actions", run_plain_actions },
	{ "older-functions", run_older_functions },
	{ "sent-bus-errors", run_sent_bus_errors },
	{ "raw-thread", run_raw_thread },
	{ "filter", run_filter },
	{ "filter-by-number", run_filter_by_number },
	{ "trapping-filter", run_trapping_filter },
	{ "mild-filter", run_mild_filter },
	{ "threads-filter", run_threads_filter },
	{ "names-filter", run_names_filter },
	{ "events-filter", run_events_filter },
	{ "strict", run_strict },
	{ "end-kill", end_kill },
	{ "end-abort", end_abort },
	{ "end-_exit", end_exit },
	{ "end-quick_exit", end_quickly },
	{ "end-exit-group", end_group },
	{ "end-deep-exit-group", end_deep_group },
	{ "end-deep-kill", end_deep_kill },
	{ "end-trap", end_trap },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc > 1 && strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run();
	for (i = 0; i < sizeof modes / sizeof *modes; i++)
		puts(modes[i].name);
	return argc > 1 ? 2 : 0;
}
