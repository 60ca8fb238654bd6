/* SPDX-License-Identifier: MIT */
/* process.c -- facts about this process, and clocks. */
#include "lib/base/process.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"

struct process_facts process;
struct process_own process_own WIPED;
struct process_names process_names BIG_TABLE;

void __tsan_init(void) __attribute__((weak));

bool
process_has_thread_sanitizer(void)
{
	return __builtin_expect(__tsan_init != NULL, 0);
}

int
process_read_clock(clockid_t clock, struct timespec *now)
{
	/* CPU time clocks need a system call in any case. */
	if (clock != CLOCK_PROCESS_CPUTIME_ID &&
	    clock != CLOCK_THREAD_CPUTIME_ID &&
	    !process_has_thread_sanitizer())
		return clock_gettime(clock, now);
	return (int)files_result(arch_system_call(SYS_clock_gettime, clock,
	    (long)now, 0, 0));
}

static uint64_t
to_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

uint64_t
process_ask_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	arch_system_call(SYS_clock_gettime, clock, (long)&now, 0, 0);
	return to_ns(&now);
}

/* The clocks are as the kernel numbers them. */
uint64_t
process_cpu_time_of(uint32_t pid)
{
	return process_ask_clock((clockid_t)(~pid << 3 | 2));
}

uint64_t
process_thread_cpu_time(uint32_t tid)
{
	return process_ask_clock((clockid_t)(~tid << 3 | 6));
}

uint64_t
process_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	process_read_clock(clock, &now);
	return to_ns(&now);
}

uint64_t
process_kernel_tick(void)
{
	static _Atomic uint64_t tick_ns;
	uint64_t ns = atomic_load_explicit(&tick_ns, memory_order_relaxed);
	struct timespec tick = { 0 };

	if (ns != 0)
		return ns;
	arch_system_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE,
	    (long)&tick, 0, 0);
	ns = tick.tv_nsec > 0 ? (uint64_t)tick.tv_nsec : 1;
	atomic_store_explicit(&tick_ns, ns, memory_order_relaxed);
	return ns;
}

uint32_t
process_id(void)
{
	return (uint32_t)arch_system_call(SYS_getpid, 0, 0, 0, 0);
}

uint32_t
process_thread_id(void)
{
	return (uint32_t)arch_system_call(SYS_gettid, 0, 0, 0, 0);
}

uint64_t
process_now(void)
{
	return process_clock(CLOCK_REALTIME);
}

uint64_t
process_cpu_time(void)
{
	return process_clock(CLOCK_PROCESS_CPUTIME_ID) -
	    process_own.start_cpu_ns;
}

void
process_pause(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };

	arch_system_call(SYS_nanosleep, (long)&pause, 0, 0, 0);
}

uint32_t
process_pid_namespace(void)
{
	struct stat status;

	return files_status_of("/proc/self/ns/pid", &status) == 0 ?
	    (uint32_t)status.st_ino : 0;
}

bool
process_thread_usage(struct rusage *usage)
{
	return arch_system_call(SYS_getrusage, RUSAGE_THREAD, (long)usage, 0,
	    0) == 0;
}

bool
process_limit(int resource, uint64_t *limit)
{
	struct rlimit both;

	if (arch_system_call(SYS_prlimit64, 0, resource, 0, (long)&both) != 0)
		return false;
	*limit = both.rlim_cur;
	return true;
}

int
process_move_up(int fd)
{
	uint64_t limit = 256;
	long lowest;
	int moved;

	process_limit(RLIMIT_NOFILE, &limit);
	lowest = limit > 1100 ? 1000 : (long)limit * 3 / 4;
	moved = (int)arch_system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest,
	    0);
	if (moved < 0)
		return fd;
	files_close(fd);
	return moved;
}

void
process_begin(void)
{
	process_own.pid = process_id();
	process_own.parent_pid = (uint32_t)arch_system_call(SYS_getppid, 0, 0,
	    0, 0);
	process_own.start_ns = process_ask_clock(CLOCK_REALTIME);
	process_own.start_mono_ns = process_ask_clock(CLOCK_MONOTONIC);
	process_own.start_cpu_ns = process_clock(CLOCK_PROCESS_CPUTIME_ID);
	arch_system_call(SYS_prctl, PR_GET_NAME, (long)process_own.start_name,
	    0, 0);
	process_own.is_given_up = false;
}

const char *
process_last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

void
process_read_title(char *title, size_t size)
{
	const char *name = process_last_component((const char *)
	    getauxval(AT_EXECFN));
	const bool is_overwritten = process.first_argument != NULL &&
	    strcmp(process.first_argument, process.arguments) != 0;
	size_t length;

	title[0] = '\0';
	if (is_overwritten)
		stpncpy(title, process.first_argument, size - 1)[0] = '\0';
	else if (process.is_forked && !process.reads_no_files)
		files_read_start("/proc/self/comm", title, size);
	length = strlen(title);
	while (length > 0 && (title[length - 1] == ' ' ||
	    title[length - 1] == '\n'))
		title[--length] = '\0';
	if (!is_overwritten &&
	    (strncmp(title, name, PROCESS_NAME_SIZE - 1) == 0 ||
	    strcmp(title, process_own.start_name) == 0))
		title[0] = '\0';
}

void
process_read_names(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	char *const path = process_names.started_as;
	struct stat named, run;
	struct utsname names;
	size_t length = 0;
	long n;

	/* Not by looking at the name, whose page may be untouched. */
	if (!process.has_executable) {
		n = arch_system_call(SYS_readlink, (long)"/proc/self/exe",
		    (long)process_names.executable,
		    sizeof process_names.executable - 1, 0);
		process_names.executable[n > 0 ? n : 0] = '\0';
		process.has_executable = n > 0;
	}
	/*
	 * execve was called with another name: that of a link, or of a script,
	 * which is another file than the executable.
	 */
	if (process.has_executable && strcmp(process_last_component(name),
	    process_last_component(process_names.executable)) != 0) {
		if (*name != '/') {
			length = strlen(process.directory);
			memcpy(path, process.directory, length);
			path[length++] = '/';
		}
		if (length + strlen(name) >= PATH_MAX)
			length = 0, name = "";
		strcpy(path + length, name);
		process_names.has_link = files_status_of(path, &named) == 0 &&
		    files_status_of("/proc/self/exe", &run) == 0 &&
		    named.st_ino == run.st_ino && named.st_dev == run.st_dev;
	}
	if (process_names.host[0] == '\0' &&
	    arch_system_call(SYS_uname, (long)&names, 0, 0, 0) == 0)
		strncpy(process_names.host, names.nodename,
		    sizeof process_names.host - 1);
}
