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

/*
 * Makes the event write the kernel's stack to its page at each end of a period,
 * newest first, with the registers by which perf-stack.c recognises the place
 * in the program.  Nobody waits for these records, so as few as possible wake
 * somebody.
 */
static void
perf_event_write_stacks(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = ARCH_PERF_REGISTERS;
	attr->write_backward = 1;
	attr->watermark = 1;
	attr->wakeup_watermark = UINT32_MAX;
}

/* Opens an event, disabled: its descriptor, or -errno. */
static int
open_event(const struct resource_source *source, uint64_t period,
    unsigned column, enum perf_view view)
{
	struct perf_event_attr attr;
	int fd, error;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = source->event_type;
	attr.config = source->event;
	if (attr.type == PERF_TYPE_TRACEPOINT)
		attr.config = syscall_tracepoint();
	attr.sample_period = period;
	attr.disabled = 1;
	attr.exclude_kernel = view == PERF_SEES_USER;
	attr.exclude_hv = view == PERF_SEES_USER;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	attr.sig_data = to_data(column);
	if (view == PERF_SEES_STACKS)
		perf_event_write_stacks(&attr);
	fd = (int)arch_system_call_6(SYS_perf_event_open, (long)&attr, 0, -1,
	    -1, PERF_FLAG_FD_CLOEXEC, 0);
	if (fd < 0 || attr.type != PERF_TYPE_TRACEPOINT)
		return fd;
	error = (int)arch_system_call(SYS_ioctl, fd, PERF_EVENT_IOC_SET_FILTER,
	    (long)no_return, 0);
	if (error == 0)
		return fd;
	files_close(fd);
	return error;
}

static bool
is_forbidden(int result)
{
	return result == -EACCES || result == -EPERM;
}

int
perf_event_open(const struct resource_source *source, uint64_t period,
    unsigned column, enum perf_view *view)
{
	int fd = -EACCES;

	if (source->event_type == PERF_TYPE_HARDWARE || source->is_user_time)
		*view = PERF_SEES_USER;
	if (*view == PERF_SEES_STACKS) {
		fd = open_event(source, period, column, PERF_SEES_STACKS);
		if (fd < 0 && !is_forbidden(fd))
			*view = PERF_SEES_ALL;
	}
	if (*view == PERF_SEES_ALL)
		fd = open_event(source, period, column, PERF_SEES_ALL);
	if (is_forbidden(fd) &&
	    source->usage < USAGE_CONTEXT_SWITCHES) {
		*view = PERF_SEES_USER;
		fd = open_event(source, period, column, PERF_SEES_USER);
	}
	return fd;
}

bool
perf_event_is_ours(const struct account *account)
{
	uint64_t id;

	return account->fd >= 0 &&
	    files_request(account->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
	    id == account->event_id;
}

bool
perf_event_time(struct thread *thread, unsigned column, uint64_t *us)
{
	const struct account *account = &thread->meters->accounts[column];
	uint64_t count;

	if (!perf_event_is_ours(account) ||
	    files_read(account->fd, &count, sizeof count) != sizeof count)
		return false;
	thread->own_bytes_read += sizeof count;
	*us = count / 1000;
	return true;
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
	enum perf_view view = PERF_SEES_ALL;
	int fd;

	if (source->event_type == PERF_TYPE_TRACEPOINT &&
	    syscall_tracepoint() == 0) {
		*why = "the kernel's tracing (tracefs) is not accessible";
		return false;
	}
	fd = perf_event_open(source, LONG_PERIOD, 0, &view);
	if (fd < 0) {
		switch (-fd) {
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
	if (with_kernel && view == PERF_SEES_USER)
		*why = "the kernel shows its own part to perf events of "
		    "privileged users only (kernel.perf_event_paranoid)";
	return !with_kernel || view != PERF_SEES_USER;
}
