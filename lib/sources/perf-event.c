/* SPDX-License-Identifier: MIT */
/* perf-event.c -- opens perf events and recognises their signals. */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

#define LONG_PERIOD 1000000

/*
 * The kernel's siginfo of such a signal, which older C libraries do not
 * declare.
 */
struct trap_info {
	int number, error, code;
	void *address;
	unsigned long data;
};

static const char mark;		/* its address identifies our events' signals */

static uint64_t
to_data(unsigned column)
{
	return (uint64_t)(uintptr_t)&mark << 8 | column;
}

int
perf_event_sender(const siginfo_t *info)
{
	struct trap_info trap;
	unsigned column;

	memcpy(&trap, info, sizeof trap);
	column = trap.data & 255;
	return trap.code == TRAP_PERF && trap.data == to_data(column) ?
	    (int)column : -1;
}

/* The number of the tracepoint that every system call passes; 0: not known. */
static uint64_t
syscall_tracepoint(void)
{
	static uint64_t number;
	char digits[24];
	const char *at = digits;

	if (number == 0 && (files_read_start("/sys/kernel/tracing/events/"
	    "raw_syscalls/sys_enter/id", digits, sizeof digits) > 0 ||
	    files_read_start("/sys/kernel/debug/tracing/events/"
	    "raw_syscalls/sys_enter/id", digits, sizeof digits) > 0))
		number = files_take_number(&at);
	return number;
}

#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)

/*
 * Do not count the system call that returns from a handler, which each sample
 * makes.
 */
static char no_return[] = "id != " AS_TEXT(SYS_rt_sigreturn);

/* Opens an event, disabled. */
static int
open_event(const struct resource_source *source, uint64_t period,
    unsigned column, bool excludes_kernel)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = source->event_type;
	attr.config = source->event;
	if (attr.type == PERF_TYPE_TRACEPOINT)
		attr.config = syscall_tracepoint();
	attr.sample_period = period;
	attr.disabled = 1;
	attr.exclude_kernel = excludes_kernel;
	attr.exclude_hv = excludes_kernel;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = to_data(column);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
	    PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0 && attr.type == PERF_TYPE_TRACEPOINT &&
	    files_request(fd, PERF_EVENT_IOC_SET_FILTER, no_return) != 0) {
		files_close(fd);
		return -1;
	}
	return fd;
}

int
perf_event_open(const struct resource_source *source, uint64_t period,
    unsigned column, bool *had_to)
{
	int fd = -1;

	*had_to = false;
	if (source->event_type != PERF_TYPE_HARDWARE)
		fd = open_event(source, period, column, false);
	else
		errno = EACCES;
	if (fd < 0 && (errno == EACCES || errno == EPERM) &&
	    source->usage != USAGE_CONTEXT_SWITCHES) {
		*had_to = true;
		fd = open_event(source, period, column, true);
	}
	return fd;
}

/* Before 6.1 the kernel used the number for itself, for all that trap. */
bool
perf_event_can_trap_once(void)
{
	struct utsname names;
	const char *at = names.release;
	uint64_t major;

	if (arch_system_call(SYS_uname, (long)&names, 0, 0, 0) != 0)
		return false;
	major = files_take_number(&at);
	at += *at == '.';
	return major > 6 || (major == 6 && files_take_number(&at) >= 1);
}

bool
perf_event_is_available(const struct resource_source *source, bool with_kernel,
    const char **why)
{
	bool had_to;
	int fd;

	if (source->event_type == PERF_TYPE_TRACEPOINT &&
	    syscall_tracepoint() == 0) {
		*why = "the kernel's tracing (tracefs) is not accessible";
		return false;
	}
	fd = perf_event_open(source, LONG_PERIOD, 0, &had_to);
	if (fd < 0) {
		switch (errno) {
		case EACCES:
		case EPERM:
			*why = "the kernel forbids perf events "
			    "(kernel.perf_event_paranoid, seccomp)";
			break;
		case ENOENT:
		case ENODEV:
		case EOPNOTSUPP:
			*why = "this machine has no such event";
			break;
		case EINVAL:
		case E2BIG:
			*why = "this kernel's perf events cannot trap "
			    "(Linux 5.13 and later can)";
			break;
		case ENOSYS:
			*why = "this kernel has no perf events";
			break;
		default:
			*why = "no perf event could be opened";
		}
		return false;
	}
	files_close(fd);
	if (with_kernel && had_to)
		*why = "the kernel shows its own part to perf events of "
		    "privileged users only (kernel.perf_event_paranoid)";
	return !with_kernel || !had_to;
}
