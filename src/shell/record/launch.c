/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.c -- runs a program with the collector in it.
 *
 * While the program runs this process only waits.  SIGINT and SIGQUIT come
 * from the terminal to both, and the program decides what they mean.
 */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"
#include "src/base/clock.h"

static volatile sig_atomic_t child;	/* 0: none */

static void
pass_on(int number)
{
	if (child != 0)
		kill((pid_t)child, number);
}

/* The signals whose action is different while the program runs. */
static const struct {
	int number;
	void (*handler)(int);
} signals[] = {
	{ SIGINT, SIG_IGN },
	{ SIGQUIT, SIG_IGN },
	{ SIGTERM, pass_on },
	{ SIGHUP, pass_on },
	{ SIGUSR1, pass_on },
	{ SIGUSR2, pass_on },
	{ SIGCHLD, SIG_DFL },	/* if it is ignored, wait4 fails */
};

enum { N_SIGNALS = sizeof signals / sizeof signals[0] };

struct saved_signals {
	struct sigaction actions[N_SIGNALS];
	sigset_t mask;
};

/* Signals to pass on stay blocked until the child exists. */
static void
change_signals(struct saved_signals *saved)
{
	sigset_t held;

	sigemptyset(&held);
	for (int i = 0; i < N_SIGNALS; i++)
		if (signals[i].handler == pass_on)
			sigaddset(&held, signals[i].number);
	sigprocmask(SIG_BLOCK, &held, &saved->mask);
	for (int i = 0; i < N_SIGNALS; i++) {
		struct sigaction action = { .sa_handler = signals[i].handler };

		sigaction(signals[i].number, NULL, &saved->actions[i]);
		/* A signal that is ignored, as by nohup, stays ignored. */
		if (saved->actions[i].sa_handler != SIG_IGN ||
		    signals[i].number == SIGCHLD)
			sigaction(signals[i].number, &action, NULL);
	}
}

static void
launch_restore_signals(const struct saved_signals *saved)
{
	for (int i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i].number, &saved->actions[i], NULL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

/* Appends words to a variable that is a list. */
static int
append_variable(const char *name, char separator, const char *words)
{
	const char *had = getenv(name);
	char *list;
	int result;

	if (had == NULL || *had == '\0')
		return setenv(name, words, 1);
	if (asprintf(&list, "%s%c%s", had, separator, words) < 0)
		return -1;
	result = setenv(name, list, 1);
	free(list);
	return result;
}

/*
 * In front of the program's own libraries, such as another allocator: of several
 * definitions, the program calls the first, and the collector's functions call
 * the next.
 */
static int
preload_first(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *list;
	int result;

	if (others == NULL || *others == '\0')
		return setenv("LD_PRELOAD", library, 1);
	if (asprintf(&list, "%s:%s", library, others) < 0)
		return -1;
	result = setenv("LD_PRELOAD", list, 1);
	free(list);
	return result;
}

/* Sets a variable, or removes it if the value is NULL. */
static int
set_variable(const char *name, const char *value)
{
	return value != NULL ? setenv(name, value, 1) : unsetenv(name);
}

static int
set_flag(const char *name, bool is_set)
{
	return set_variable(name, is_set ? "1" : NULL);
}

/*
 * The variables that load the library and tell it what to do.
 * AddressSanitizer refuses to start after any preloaded library, because that
 * could replace its functions; this library does not.
 */
static int
set_environment(const struct launch *launch)
{
	char launcher[24], size[24], origin[48];

	snprintf(origin, sizeof origin, "%" PRIu64 ":%" PRIu64,
	         clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC));
	snprintf(launcher, sizeof launcher, "%ld", (long)getppid());
	snprintf(size, sizeof size, "%" PRIu64, launch->max_size);
	if (preload_first(launch->library) != 0 ||
	    append_variable("ASAN_OPTIONS", ':',
	                    "verify_asan_link_order=0") != 0 ||
	    setenv(CPPROF_ENVIRONMENT_LAUNCHER, launcher, 1) != 0 ||
	    setenv(CPPROF_ENVIRONMENT_ORIGIN, origin, 1) != 0 ||
	    setenv(CPPROF_ENVIRONMENT_RESOURCES, launch->resources, 1) != 0 ||
	    set_flag(CPPROF_ENVIRONMENT_RANDOM, launch->is_random) != 0 ||
	    set_flag(CPPROF_ENVIRONMENT_ALONE, launch->is_alone) != 0 ||
	    set_flag(CPPROF_ENVIRONMENT_RETURNS,
	             launch->counts_returns) != 0 ||
	    set_flag(CPPROF_ENVIRONMENT_KERNEL, launch->wants_kernel) != 0 ||
	    set_variable(CPPROF_ENVIRONMENT_CALLS, launch->calls) != 0 ||
	    set_variable(CPPROF_ENVIRONMENT_MAX_SIZE,
	                 launch->max_size != 0 ? size : NULL) != 0 ||
	    set_variable(CPPROF_ENVIRONMENT_SHARED,
	                 *launch->shared != '\0' ? launch->shared : NULL) != 0)
		return -1;
	return setenv(CPPROF_ENVIRONMENT_OUTPUT, launch->output, 1);
}

/*
 * A word that begins with a quote ends with the next one; there is no way to
 * write that quote itself.
 */
static int
set_java(const struct launch *launch)
{
	char *words;
	int result;

	if (launch->java_agent == NULL || strchr(launch->output, '\'') != NULL)
		return append_variable("JAVA_TOOL_OPTIONS", ' ',
		                       "-XX:+UnlockDiagnosticVMOptions "
		                       "-XX:+DumpPerfMapAtExit "
		                       "-XX:+PreserveFramePointer");
	if (asprintf(&words, "-XX:+UnlockDiagnosticVMOptions "
	             "-XX:+DebugNonSafepoints -XX:+PreserveFramePointer "
	             "'-agentpath:%s=%s'", launch->java_agent,
	             launch->output) < 0)
		return -1;
	result = append_variable("JAVA_TOOL_OPTIONS", ' ', words);
	free(words);
	return result;
}

/* Switches by which runtimes write the names of the code that they make. */
static int
set_runtimes(const struct launch *launch)
{
	return (launch->names_node &&
	        append_variable("NODE_OPTIONS", ' ', "--perf-basic-prof "
	                        "--interpreted-frames-native-stack") != 0) ||
	    (launch->names_java && set_java(launch) != 0) ? -1 : 0;
}

/*
 * Whether a file that the kernel cannot execute is no shell script either.
 * Like shells, looks for a NUL in the first line.
 */
static bool
is_binary(const char *path)
{
	char head[256];
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = file >= 0 ? read(file, head, sizeof head) : 0;
	const char *end;

	if (file >= 0)
		close(file);
	if (size <= 0)
		return false;
	end = memchr(head, '\n', (size_t)size);
	return memchr(head, '\0', end != NULL ? (size_t)(end - head) :
	              (size_t)size) != NULL;
}

/* Executes the program; returns why that is impossible. */
static int
execute(const struct launch *launch)
{
	int why;

	if (launch->resets_sigpipe)
		signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, launch->on_limit);
	if (set_runtimes(launch) == 0 &&
	    (launch->library == NULL || set_environment(launch) == 0))
		execv(launch->program, launch->words);
	why = errno;
	if (why == ENOEXEC && !is_binary(launch->program)) {
		execvp(launch->program, launch->words);	/* runs /bin/sh */
		why = errno;
	}
	return why;
}

/* ENOENT is not about the program, which was found before. */
static const char *
why_not(int error)
{
	switch (error) {
	case ENOEXEC:
		return "neither a program for this machine nor a script";
	case ENOENT:
		return "the interpreter that it names was not found";
	default:
		return strerror(error);
	}
}

static uint64_t
nanoseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 +
	    (uint64_t)time->tv_usec * 1000;
}

static int
launch_wait_for(pid_t pid, struct file_watch *watch, int *status,
                uint64_t *cpu_ns, struct error *error)
{
	struct rusage usage;
	int how;

	/* Signals go to its number, so forget that before it is reaped. */
	file_watch_wait(watch, pid);
	child = 0;
	while (wait4(pid, &how, 0, &usage) < 0)
		if (errno != EINTR)
			return error_set(error, "waiting for the program: %s",
			                 strerror(errno));
	*cpu_ns = nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
	*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return 0;
}

/* Lets the child run, once its follower is ready. */
static int
launch_permit(const struct launch *launch, pid_t pid, int permit,
              struct error *error)
{
	if (launch->prepare == NULL)
		return 0;
	if (launch->prepare(launch->follower, pid, error) != 0)
		return -1;
	return write(permit, "", 1) == 1 ? 0 :
	    error_set(error, "%s: %s", launch->program, strerror(errno));
}

int
launch_program(const struct launch *launch, int *status, struct error *error)
{
	struct file_watch watch = { .fd = -1 };
	struct saved_signals saved;
	int report[2], permit[2] = { -1, -1 }, why = 0, result = 0;
	bool is_permitted;
	char may_run;
	ssize_t size = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) != 0)
		return error_set(error, "pipe: %s", strerror(errno));
	if (launch->prepare != NULL && pipe2(permit, O_CLOEXEC) != 0) {
		error_set(error, "pipe: %s", strerror(errno));
		close(report[0]);
		close(report[1]);
		return -1;
	}
	fflush(NULL);
	if (launch->library != NULL)
		file_watch_begin(&watch, launch->output);
	change_signals(&saved);
	pid = fork();
	if (pid == 0) {
		/* If the program cannot start, the pipe gets errno. */
		launch_restore_signals(&saved);
		/* Whoever is to follow the program is ready then. */
		if (permit[1] >= 0)
			close(permit[1]);
		if (permit[0] >= 0 && read(permit[0], &may_run, 1) != 1)
			_exit(127);
		why = execute(launch);
		_exit(write(report[1], &why, sizeof why) < 0 ? 126 : 127);
	}
	child = pid > 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &saved.mask, NULL);
	close(report[1]);
	if (pid < 0) {
		result = error_set(error, "%s: %s", launch->program,
		                   strerror(errno));
	} else {
		result = launch_permit(launch, pid, permit[1], error);
		is_permitted = result == 0;
		if (permit[1] >= 0)
			close(permit[1]);
		permit[1] = -1;
		do
			size = read(report[0], &why, sizeof why);
		while (size < 0 && errno == EINTR);
		if (result == 0 && size != (ssize_t)sizeof why &&
		    launch->started != NULL)
			launch->started(launch->context);
		if (result == 0 && launch->follow != NULL)
			launch->follow(launch->follower);
		if (launch_wait_for(pid, &watch, status, launch->cpu_ns,
		                    error) != 0)
			result = -1;
		if (!is_permitted)
			*status = 0;	/* of a program that never ran */
		if (size == (ssize_t)sizeof why)
			result = error_set(error, "%s: %s", launch->program,
			                   why_not(why));
	}
	launch_restore_signals(&saved);
	file_watch_end(&watch);
	close(report[0]);
	for (int i = 0; i < 2; i++)
		if (permit[i] >= 0)
			close(permit[i]);
	return result;
}

int
launch_in_place(const struct launch *launch, struct error *error)
{
	int why;

	fflush(NULL);
	why = execute(launch);
	signal(SIGXFSZ, SIG_IGN);
	return error_set(error, "%s: %s", launch->program, why_not(why));
}
