/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inject.c -- from the process to the recording, and its end.
 *
 * What stops threads runs in a child process, which writes its answer to a pipe.
 */
#include "src/inject/inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"
#include "src/base/memory.h"
#include "src/base/task.h"
#include "src/symbols/elf/elf_file.h"

enum {
	BEGIN_MS = 10000,	/* how long the collector may take to begin, */
	END_MS = 20000,		/* and to end */
	LOOK_MS = 5,
	RTLD_FLAGS = 2,		/* RTLD_NOW, RTLD_LOCAL */
};

/* ---- what can be seen from outside ---- */

static ssize_t
inject_read_file(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* The number after "NAME:\t" in /proc/PID/status; -1: there is none. */
static long
inject_status_number(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at != NULL ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* Whether its C library can load the collector. */
static int
inject_check_library(const struct inject_process *process, struct error *error)
{
	const long pid = process->pid;
	const struct inject_mapping *module;

	if (inject_process_module(process, "ld-musl-") != NULL)
		return error_set(error, "process %ld uses musl, and the "
		                 "collector needs glibc: sample it from "
		                 "outside, without --inside", pid);
	module = inject_process_module(process, "libc.so.6");
	if (module == NULL)
		module = inject_process_module(process, "libc-2.");
	if (module == NULL)
		return error_set(error, "process %ld is statically linked, or "
		                 "does not use glibc, and cannot load a "
		                 "library: sample it from outside, without "
		                 "--inside", pid);
	if (inject_process_symbol(process, module, "dlopen") == 0 &&
	    inject_process_symbol(process, module,
	                          "__libc_dlopen_mode") == 0)
		return error_set(error, "process %ld: no dlopen in %s: sample "
		                 "it from outside, without --inside", pid,
		                 module->path);
	return 0;
}

int
inject_check(pid_t pid, struct error *error)
{
	struct inject_process process = { .pid = pid };
	char path[64], status[4096];
	long tracer;
	int result;

#ifndef __x86_64__
	return error_set(error, "--inside: only on x86-64 so far; sample the "
	                 "process from outside, without --inside");
#endif
	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	inject_read_file(path, status, sizeof status);
	tracer = inject_status_number(status, "\nTracerPid:\t");
	if (tracer > 0)
		return error_set(error, "process %ld is traced by process %ld, "
		                 "a debugger or strace: end that, or sample "
		                 "the process from outside, without --inside",
		                 (long)pid, tracer);
	if (strstr(status, "\nState:\tT") != NULL)
		return error_set(error, "process %ld is stopped: let it go on "
		                 "with kill -CONT %ld", (long)pid, (long)pid);
	if (inject_status_number(status, "\nSeccomp:\t") == 1)
		return error_set(error, "process %ld may only read, write and "
		                 "exit (seccomp): sample it from outside, "
		                 "without --inside", (long)pid);
	if (task_of_process(pid) != pid)
		return error_set(error, "the first thread of process %ld has "
		                 "ended: sample it from outside, without "
		                 "--inside", (long)pid);
	result = inject_process_read(&process, error);
	if (result == 0)
		result = inject_check_library(&process, error);
	inject_process_free(&process);
	return result;
}

/* When a process began; 0: it is gone. */
static uint64_t
inject_start_of(pid_t pid)
{
	struct task task;

	return task_read(pid, &task) && task.state != 'Z' &&
	    task.state != 'X' ? task.start : 0;
}

static bool
inject_is_same_process(const struct inject_target *target)
{
	return inject_start_of(target->pid) == target->start;
}

/* ---- the collector's variable ---- */

static enum cpprof_inside_state
inject_state(const struct inject_target *target)
{
	uint32_t words[2];

	if (!inject_read(target->pid, target->variable, words, sizeof words) ||
	    words[0] != CPPROF_INSIDE_MAGIC)
		return CPPROF_INSIDE_FAILED;
	return words[1];
}

static void
inject_pause(void)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };

	nanosleep(&pause, NULL);
}

/* Waits while the collector is in a state. */
static enum cpprof_inside_state
inject_await(const struct inject_target *target,
             enum cpprof_inside_state passing, unsigned for_ms)
{
	enum cpprof_inside_state state = inject_state(target);

	for (unsigned i = 0; state == passing && i < for_ms / LOOK_MS; i++) {
		inject_pause();
		state = inject_state(target);
	}
	return state;
}

/* ---- in the child process ---- */

#ifdef __x86_64__

static long
inject_ptrace_scope(void)
{
	char text[16];

	return inject_read_file("/proc/sys/kernel/yama/ptrace_scope", text,
	                        sizeof text) > 0 ? strtol(text, NULL, 10) : 0;
}

/* What forbids ptrace, after a failed attempt. */
static int
inject_explain(pid_t pid, int number, struct error *error)
{
	const long scope = inject_ptrace_scope();

	if (number == ESRCH)
		return error_set(error, "process %ld has ended", (long)pid);
	if (geteuid() != 0 && scope == 1)
		return error_set(error, "process %ld may not be traced: "
		                 "kernel.yama.ptrace_scope is 1, so only its "
		                 "parent and root may: run cpprof as root, or "
		                 "sysctl kernel.yama.ptrace_scope=0", (long)pid);
	if (scope >= 2)
		return error_set(error, "process %ld may not be traced: "
		                 "kernel.yama.ptrace_scope is %ld%s", (long)pid,
		                 scope, scope == 2 ? ": run cpprof as root with "
		                 "CAP_SYS_PTRACE" : ", which forbids it to all "
		                 "until the next boot; sample it from outside, "
		                 "without --inside");
	return error_set(error, "process %ld may not be traced (%s): it runs "
	                 "with other rights than yours, or a filter of "
	                 "system calls forbids ptrace here, as in containers "
	                 "without --cap-add SYS_PTRACE: run cpprof outside the "
	                 "container as root, or sample it from outside, "
	                 "without --inside", (long)pid, strerror(number));
}

/* The library as a file, and where its symbols are. */
struct inject_library {
	char path[PATH_MAX];	/* as the process sees it */
	uint64_t variable, function;	/* in the file */
	unsigned char head[4096];	/* of the file */
};

static int
inject_library_open(struct inject_library *library, const char *path,
                    struct error *error)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const bool is_read = fd >= 0 && read(fd, library->head,
	    sizeof library->head) == sizeof library->head;
	struct elf_file file;
	uint64_t size;
	bool ok;

	if (fd >= 0)
		close(fd);
	snprintf(library->path, sizeof library->path, "%s", path);
	if (!is_read || elf_file_open(&file, path) != ELF_FILE_OPEN)
		return error_set(error, "%s: cannot be read", path);
	ok = elf_symbols_lookup(&file, SHT_DYNSYM, CPPROF_INSIDE_VARIABLE,
	                        &library->variable, &size) &&
	    elf_symbols_lookup(&file, SHT_DYNSYM, CPPROF_INSIDE_FUNCTION,
	                       &library->function, &size);
	elf_file_close(&file);
	return ok ? 0 : error_set(error, "%s: an older version of the "
	                          "collector", path);
}

/*
 * Where the process has the library, perhaps since an earlier recording and by
 * another path; 0: nowhere.  The first bytes have the build-id.
 */
static uint64_t
inject_find_library(struct inject_process *process,
                    const struct inject_library *library, struct error *error)
{
	unsigned char head[sizeof library->head];

	if (inject_process_read(process, error) != 0)
		return 0;
	for (size_t i = 0; i < process->n; i++) {
		const struct inject_mapping *mapping = &process->mappings[i];

		if (mapping->offset == 0 &&
		    inject_mapping_is(mapping, CPPROF_LIBRARY) &&
		    inject_read(process->pid, mapping->start, head,
		                sizeof head) &&
		    memcmp(head, library->head, sizeof head) == 0)
			return mapping->start;
	}
	return 0;
}

/* The message of the loader, for which the thread calls dlerror. */
static int
inject_loader_error(struct inject_caller *caller,
                    const struct inject_process *process,
                    const struct inject_mapping *libc,
                    const struct inject_library *library, struct error *error)
{
	const uint64_t dlerror = inject_process_symbol(process, libc,
	                                               "dlerror");
	char text[512] = "";
	uint64_t at = 0;

	if (dlerror != 0 && inject_call(caller, dlerror, 0, 0, &at,
	                                error) != 0)
		return -1;
	if (at != 0 && at != INJECT_UNKNOWN)
		for (size_t i = 0; i < sizeof text - 1; i++)
			if (!inject_read(process->pid, at + i, text + i, 1) ||
			    text[i] == '\0')
				break;
	text[sizeof text - 1] = '\0';
	return error_set(error, "process %ld cannot load the collector: %s",
	                 (long)process->pid, *text != '\0' ? text :
	                 library->path);
}

/* Makes the thread call dlopen. */
static int
inject_open_library(struct inject_caller *caller,
                    struct inject_process *process,
                    const struct inject_library *library, uint64_t *bias,
                    struct error *error)
{
	const struct inject_mapping *libc;
	uint64_t function, result, flags = RTLD_FLAGS;

	*bias = inject_find_library(process, library, error);
	if (*bias != 0 || error->is_set)
		return *bias != 0 ? 0 : -1;
	libc = inject_process_module(process, "libc.so.6");
	if (libc == NULL)
		libc = inject_process_module(process, "libc-2.");
	function = inject_process_symbol(process, libc, "dlopen");
	if (function == 0) {
		/* Before glibc 2.34 only a library of its own has dlopen. */
		function = inject_process_symbol(process, libc,
		                                 "__libc_dlopen_mode");
		flags |= 0x80000000;
	}
	if (!inject_write(process->pid, caller->text, library->path,
	                  strlen(library->path) + 1))
		return error_set(error, "process %ld has ended",
		                 (long)process->pid);
	if (inject_call(caller, function, caller->text, flags, &result,
	                error) != 0)
		return -1;
	if (result == 0)
		return inject_loader_error(caller, process, libc, library,
		                           error);
	*bias = inject_find_library(process, library, error);
	return *bias != 0 ? 0 : error_set(error, "process %ld cannot load %s",
	                                  (long)process->pid, library->path);
}

/* Loads the library, and calls its function; the thread is stopped. */
static int
inject_load(struct inject_caller *caller, struct inject_process *process,
            const struct inject_library *library, const char *settings,
            size_t size, struct inject_target *target, struct error *error)
{
	const size_t at = offsetof(struct cpprof_inside, settings);
	const uint32_t magic = CPPROF_INSIDE_MAGIC;
	enum cpprof_inside_state state;
	uint64_t bias, result;

	if (inject_open_library(caller, process, library, &bias, error) != 0)
		return -1;
	target->variable = bias + library->variable;
	if (!inject_write(target->pid, target->variable, &magic,
	                  sizeof magic))
		return error_set(error, "process %ld has ended",
		                 (long)target->pid);
	state = inject_state(target);
	if (state == CPPROF_INSIDE_STARTING || state == CPPROF_INSIDE_SAMPLING)
		return error_set(error, "process %ld is recorded already, by "
		                 "another cpprof: end that first",
		                 (long)target->pid);
	if (!inject_write(target->pid, target->variable + at, settings, size))
		return error_set(error, "process %ld has ended",
		                 (long)target->pid);
	return inject_call(caller, bias + library->function, 0, 0, &result,
	                   error);
}

static int
inject_load_by(pid_t tid, struct inject_process *process,
               const struct inject_library *library, const char *settings,
               size_t size, struct inject_target *target, struct error *error)
{
	static struct inject_caller caller;
	int result = inject_call_begin(&caller, process, tid, error);

	if (result == 0) {
		result = inject_load(&caller, process, library, settings, size,
		                     target, error);
		inject_call_end(&caller);
	}
	inject_thread_release(tid);
	return result;
}

/* Why the collector has not begun. */
static int
inject_explain_state(const struct inject_target *target,
                     enum cpprof_inside_state state, struct error *error)
{
	struct cpprof_inside inside;

	if (state != CPPROF_INSIDE_FAILED ||
	    !inject_read(target->pid, target->variable, &inside,
	                 offsetof(struct cpprof_inside, settings)))
		return error_set(error, "process %ld: the collector did not "
		                 "begin: the process has ended, or runs too "
		                 "seldom", (long)target->pid);
	inside.problem[sizeof inside.problem - 1] = '\0';
	return error_set(error, "process %ld: the collector cannot sample: "
	                 "%s%s%s", (long)target->pid, inside.problem,
	                 inside.error != 0 ? ": " : "", inside.error != 0 ?
	                 strerror((int)inside.error) : "");
}

static int
inject_do_begin(struct inject_target *target, const char *path,
                const struct inject_place *place, const char *settings,
                size_t size, struct error *error)
{
	struct inject_process process = { .pid = target->pid };
	struct inject_library library;
	enum cpprof_inside_state state;
	pid_t tid = -1;
	int result = inject_library_open(&library, path, error);

	if (place != NULL)
		snprintf(library.path, sizeof library.path,
		         "%s/" CPPROF_LIBRARY, place->path);
	if (result == 0)
		result = inject_process_read(&process, error);
	/* Whether that is allowed at all. */
	if (result == 0 && inject_thread_stop(target->pid))
		inject_thread_release(target->pid);
	else if (result == 0 && errno != EAGAIN)
		result = inject_explain(target->pid, errno, error);
	if (result == 0)
		result = (tid = inject_thread_choose(&process, error)) < 0 ?
		    -1 : inject_process_read(&process, error);
	if (result == 0)
		result = inject_load_by(tid, &process, &library, settings,
		                        size, target, error);
	inject_process_free(&process);
	if (result != 0)
		return -1;
	state = inject_await(target, CPPROF_INSIDE_STARTING, BEGIN_MS);
	if (state != CPPROF_INSIDE_SAMPLING)
		return inject_explain_state(target, state, error);
	if (!inject_read(target->pid, target->variable +
	                 offsetof(struct cpprof_inside, ticks_mask),
	                 &target->mask, sizeof target->mask))
		return error_set(error, "process %ld has ended",
		                 (long)target->pid);
	return inject_threads_unblock(target, error);
}

#else

static int
inject_do_begin(struct inject_target *target, const char *path,
                const struct inject_place *place, const char *settings,
                size_t size, struct error *error)
{
	(void)target, (void)path, (void)place, (void)settings, (void)size;
	return error_set(error, "--inside: only on x86-64");
}

void
inject_threads_block(const struct inject_target *target)
{
	(void)target;
}

#endif

/* ---- in cpprof ---- */

static bool
inject_write_all(int fd, const void *from, size_t size)
{
	const char *at = from;

	while (size > 0) {
		const ssize_t n = write(fd, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static bool
inject_read_all(int fd, void *to, size_t size)
{
	char *at = to;

	while (size > 0) {
		const ssize_t n = read(fd, at, size);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Begins a child that stops threads; it ends with its parent. */
static pid_t
inject_fork(pid_t parent)
{
	const pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		prctl(PR_SET_NAME, "cpprof-inject");
	}
	return child;
}

static void
inject_reap(pid_t child)
{
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The child's answer: what it has learnt, and the error, if any. */
static bool
inject_take_answer(int fd, struct inject_target *target, struct error *error)
{
	struct inject_target found;
	size_t size;

	if (!inject_read_all(fd, error, sizeof *error) ||
	    !inject_read_all(fd, &found, sizeof found))
		return false;
	target->variable = found.variable;
	target->mask = found.mask;
	target->n_unreached = found.n_unreached;
	size = found.n_threads * sizeof *target->threads;
	if (size == 0)
		return true;
	target->threads = malloc(size);
	if (target->threads == NULL)
		return false;
	target->n_threads = found.n_threads;
	return inject_read_all(fd, target->threads, size);
}

int
inject_begin(struct inject_target *target, pid_t pid, const char *library,
             const struct inject_place *place, const char *settings,
             size_t size, struct error *error)
{
	struct error answer = { 0 };
	int ends[2];
	pid_t child;
	bool ok;

	*target = (struct inject_target){ .pid = pid,
		.start = inject_start_of(pid) };
	if (size > sizeof ((struct cpprof_inside *)0)->settings)
		return error_set(error, "the paths are too long");
	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set(error, "pipe: %s", strerror(errno));
	fflush(NULL);
	child = inject_fork(getpid());
	if (child == 0) {
		inject_do_begin(target, library, place, settings, size,
		                &answer);
		ok = inject_write_all(ends[1], &answer, sizeof answer) &&
		    inject_write_all(ends[1], target, sizeof *target) &&
		    inject_write_all(ends[1], target->threads,
		        target->n_threads * sizeof *target->threads);
		_exit(!ok);
	}
	close(ends[1]);
	ok = child > 0 && inject_take_answer(ends[0], target, &answer);
	close(ends[0]);
	if (child > 0)
		inject_reap(child);
	if (!ok)
		return error_set(error, "process %ld: loading the collector "
		                 "was broken off", (long)pid);
	return answer.is_set ? error_pass(error, &answer) : 0;
}

bool
inject_goes_on(const struct inject_target *target)
{
	return inject_is_same_process(target) &&
	    inject_state(target) == CPPROF_INSIDE_SAMPLING;
}

bool
inject_end(struct inject_target *target)
{
	const uint32_t end = 1;
	bool ok = inject_is_same_process(target) && inject_write(target->pid,
	    target->variable + offsetof(struct cpprof_inside, wants_end),
	    &end, sizeof end);
	pid_t child;

	ok = ok && inject_await(target, CPPROF_INSIDE_SAMPLING, END_MS) ==
	    CPPROF_INSIDE_ENDED;
	if (ok && target->n_threads > 0) {
		child = inject_fork(getpid());
		if (child == 0) {
			inject_threads_block(target);
			_exit(0);
		}
		if (child > 0)
			inject_reap(child);
	}
	free(target->threads);
	target->threads = NULL;
	target->n_threads = 0;
	return ok;
}
