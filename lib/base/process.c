/* SPDX-License-Identifier: MIT */
/* process.c -- facts about this process, and clocks. */
#include "lib/base/process.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/big.h"
#include "lib/base/files.h"
#include "lib/base/wiped.h"

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

	syscall(SYS_nanosleep, &pause, NULL);
}

int
process_move_up(int fd)
{
	struct rlimit limit;
	int lowest, moved = -1;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		limit.rlim_cur = 256;
	lowest = limit.rlim_cur > 1100 ? 1000 : (int)limit.rlim_cur * 3 / 4;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	if (moved < 0)
		return fd;
	files_close(fd);
	return moved;
}

void
process_begin(void)
{
	process_own.pid = (uint32_t)arch_system_call(SYS_getpid, 0, 0, 0, 0);
	process_own.parent_pid = (uint32_t)arch_system_call(SYS_getppid, 0, 0,
	    0, 0);
	process_own.start_ns = process_ask_clock(CLOCK_REALTIME);
	process_own.start_mono_ns = process_ask_clock(CLOCK_MONOTONIC);
	process_own.start_cpu_ns = process_clock(CLOCK_PROCESS_CPUTIME_ID);
	process_own.is_given_up = false;
}

void
process_read_executable(void)
{
	long n;

	/* Not by looking at the name, whose page may be untouched. */
	if (process.has_executable)
		return;
	n = arch_system_call(SYS_readlink, (long)"/proc/self/exe",
	    (long)process_names.executable,
	    sizeof process_names.executable - 1, 0);
	process_names.executable[n > 0 ? n : 0] = '\0';
	process.has_executable = n > 0;
}

void
process_read_names(void)
{
	struct utsname names;

	process_read_executable();
	if (process_names.host[0] == '\0' && uname(&names) == 0)
		strncpy(process_names.host, names.nodename,
		    sizeof process_names.host - 1);
}
