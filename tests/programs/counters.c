/* SPDX-License-Identifier: GPL-3.0-or-later */
/* counters.c -- runs a program as on a processor that has counters.
 *
 * counters PROGRAM ARGUMENT...
 *
 * Hardware events that the program opens are events of the kernel instead:
 * cycles are nanoseconds of CPU time, all others are page faults.  A filter
 * lets this program change what is asked for before the kernel sees it (a
 * program that is traced would not be sampled).  The program's LD_PRELOAD is
 * $COUNTERS_PRELOAD, so that this one has none.  Ends with its exit status,
 * and with 127 if there is no such filter.
 */
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 127 };

/* A descriptor at which calls of perf_event_open wait for an answer, or -1. */
static int
stop_at_events(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

/* Runs the program once the other side has taken the descriptor. */
static void
run(int peer, char **command)
{
	const char *preload = getenv("COUNTERS_PRELOAD");
	int calls = stop_at_events();

	if (write(peer, &calls, sizeof calls) != sizeof calls ||
	    read(peer, &calls, sizeof calls) != sizeof calls)
		_exit(CANNOT);
	close(peer);
	if (preload != NULL)
		setenv("LD_PRELOAD", preload, 1);
	execvp(command[0], command);
	_exit(CANNOT);
}

/* That descriptor of the program, as one of this process. */
static int
take_calls(int peer, pid_t program)
{
	int theirs, calls = -1;
	int process = (int)syscall(SYS_pidfd_open, program, 0);

	if (read(peer, &theirs, sizeof theirs) == sizeof theirs && theirs >= 0)
		calls = (int)syscall(SYS_pidfd_getfd, process, theirs, 0);
	close(process);
	if (calls >= 0 && write(peer, &calls, sizeof calls) != sizeof calls)
		return -1;
	return calls;
}

static void
imitate(pid_t thread, uint64_t at)
{
	struct perf_event_attr attr;
	/* As much of it as any size has. */
	const size_t size = offsetof(struct perf_event_attr, sample_period);
	struct iovec here = { &attr, size };
	struct iovec there = { (void *)(uintptr_t)at, size };

	if (process_vm_readv(thread, &here, 1, &there, 1, 0) != (ssize_t)size ||
	    attr.type != PERF_TYPE_HARDWARE)
		return;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = attr.config == PERF_COUNT_HW_CPU_CYCLES ?
	    PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_PAGE_FAULTS;
	process_vm_writev(thread, &here, 1, &there, 1, 0);
}

static void
answer(int calls)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp go_on = {
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
	};

	if (ioctl(calls, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
		return;
	imitate((pid_t)call.pid, call.data.args[0]);
	go_on.id = call.id;
	ioctl(calls, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
}

int
main(int argc, char **argv)
{
	struct pollfd calls = { .events = POLLIN };
	int ends[2], status;
	pid_t program;

	if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    ends) != 0)
		return CANNOT;
	program = fork();
	if (program == 0) {
		close(ends[0]);
		run(ends[1], argv + 1);
	}
	close(ends[1]);
	calls.fd = program > 0 ? take_calls(ends[0], program) : -1;
	close(ends[0]);
	if (calls.fd < 0)
		fprintf(stderr, "counters: system calls cannot be changed\n");
	/* It hangs up when no process is left. */
	while (calls.fd >= 0 && (poll(&calls, 1, -1) < 0 ||
	    (calls.revents & POLLHUP) == 0))
		if ((calls.revents & POLLIN) != 0)
			answer(calls.fd);
	if (waitpid(program, &status, 0) != program || !WIFEXITED(status))
		return CANNOT;
	return WEXITSTATUS(status);
}
