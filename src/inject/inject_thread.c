/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inject_thread.c -- stops threads, and chooses the one that calls.
 *
 * A thread that is stopped anywhere may hold a lock of malloc or of the loader,
 * and a call that needs it would wait for ever.  So the thread's stack is
 * unwound: it must either be in a system call that waits, and not on behalf of
 * malloc or the loader, or in code of the program outside the C library.
 *
 * Threads are stopped one after the other, and only for the time of this look.
 */
#include "src/inject/inject.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/task.h"
#include "src/symbols/unwind/stack_unwinder.h"

#ifdef __x86_64__

enum {
	FRAMES_MAX = 512,
	COPY_SIZE = 65536,	/* of a stack */
	STOP_MS = 300,		/* how long to wait for a thread's stop, which
				 * needs a processor */
	MASKS_MS = 3000,	/* how long to wait for all threads' masks */
	CHOOSE_MS = 1000,
	PARTIAL_MS = 400,	/* from then on, stacks need not be whole */
	RESTART_NOINTR = 513,	/* the kernel's ERESTARTNOINTR */
	USER_CODE = 0x33,	/* the code segment of 64-bit programs */
};

/* Numbers 32 and 33, by which glibc cancels threads and sets their ids. */
#define SIGNALS_OF_LIBRARY ((uint64_t)3 << 31)

/* ---- stopping ---- */

/*
 * Calls that fail with EINTR when a thread is stopped, although no signal is
 * handled (signal(7)).
 */
static const int fragile_calls[] = {
	SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop,
	SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents,
	SYS_io_pgetevents, SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg,
	SYS_recvmmsg, SYS_accept, SYS_accept4, SYS_sendto, SYS_sendmsg,
	SYS_mq_timedreceive, SYS_mq_timedsend,
};

void
inject_thread_mend_call(pid_t tid, struct user_regs_struct *registers)
{
	if ((int64_t)registers->orig_rax < 0 ||
	    (int64_t)registers->rax != -EINTR)
		return;
	for (size_t i = 0; i < sizeof fragile_calls / sizeof *fragile_calls;
	     i++)
		if ((int)registers->orig_rax == fragile_calls[i]) {
			registers->rax = (uint64_t)-RESTART_NOINTR;
			ptrace(PTRACE_SETREGS, tid, 0, registers);
			return;
		}
}

bool
inject_thread_stop(pid_t tid)
{
	const int64_t until_ms = clock_ms() + STOP_MS;
	const struct timespec pause = { .tv_nsec = 50000 };
	struct user_regs_struct registers;
	int status, number;
	pid_t found;

	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) != 0)
		return false;
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	for (;;) {
		found = waitpid(tid, &status, WNOHANG | __WALL);
		if (found == 0 && clock_ms() < until_ms) {
			nanosleep(&pause, NULL);
			continue;
		}
		if (found != tid || !WIFSTOPPED(status)) {
			errno = EAGAIN;
			return false;
		}
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		/* A signal came first: its handler is about to run. */
		number = WSTOPSIG(status);
		ptrace(PTRACE_CONT, tid, 0, number);
	}
	/* A process that SIGSTOP has stopped would have to run. */
	if (WSTOPSIG(status) != SIGTRAP) {
		inject_thread_release(tid);
		errno = EAGAIN;
		return false;
	}
	if (ptrace(PTRACE_GETREGS, tid, 0, &registers) == 0)
		inject_thread_mend_call(tid, &registers);
	return true;
}

void
inject_thread_release(pid_t tid)
{
	ptrace(PTRACE_DETACH, tid, 0, 0);
}

/* Threads that stopped later than they were waited for run on. */
static void
inject_release_late(void)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, 0, status >> 16 != 0 ? 0 :
			       WSTOPSIG(status));
}

/* ---- its stack ---- */

/* Why threads could not call, each time that one was tried. */
struct inject_refusals {
	unsigned n_running;	/* it did not stop in time */
	unsigned n_small;	/* no room on its stack, or on another's */
	unsigned n_in_call;	/* in a system call that may be malloc's */
	int64_t call;		/* the last of them */
	unsigned n_inside;	/* in the C library, the loader, malloc */
	unsigned n_partial;	/* its stack could not be unwound */
};

/* Looks at stacks of one process. */
struct inject_looker {
	const struct inject_process *process;
	struct stack_unwinder *unwinder;
	pid_t tid;		/* of the present stack */
	unsigned char copy[COPY_SIZE];
	uint64_t allocator;	/* inode of the file that has malloc; 0: it is
				 * the C library's */
	bool is_program_allocator;	/* it is the program's own file */
	struct inject_refusals refusals;
};

/* What is to be known of a frame. */
enum inject_code {
	CODE_PROGRAM,		/* or any library that holds no such lock */
	CODE_LIBC,
	CODE_VDSO,		/* reads a clock, mostly for the C library */
	CODE_FORBIDDEN		/* the loader, and an allocator */
};

static bool
inject_looker_read(void *context, uint64_t address, size_t size,
                   uint64_t *number)
{
	const struct inject_looker *looker = context;

	*number = 0;
	return size <= sizeof *number &&
	    inject_read(looker->tid, address, number, size);
}

static enum inject_code
inject_looker_code(const struct inject_looker *looker, uint64_t address)
{
	const struct inject_mapping *mapping =
	    inject_process_find(looker->process, address);

	if (mapping == NULL)
		return CODE_PROGRAM;
	if (strcmp(mapping->path, "[vdso]") == 0)
		return CODE_VDSO;
	if (inject_mapping_is(mapping, "ld-linux") ||
	    inject_mapping_is(mapping, "ld-2."))
		return CODE_FORBIDDEN;
	if (inject_mapping_is(mapping, "libc.so") ||
	    inject_mapping_is(mapping, "libc-2."))
		return CODE_LIBC;
	if (looker->allocator != 0 && !looker->is_program_allocator &&
	    mapping->inode == looker->allocator)
		return CODE_FORBIDDEN;
	return CODE_PROGRAM;
}

/*
 * System calls in which a thread waits, or that programs make so often that a
 * thread is hardly ever found elsewhere (to read a clock).  Neither the loader
 * nor malloc makes them, but for futex.  A wait with a timeout that was stopped
 * before is restart_syscall; malloc's have no timeout.
 */
static const int harmless_calls[] = {
	SYS_restart_syscall, SYS_clock_gettime, SYS_clock_getres,
	SYS_gettimeofday, SYS_time, SYS_times, SYS_getrusage, SYS_getcpu,
	SYS_sched_yield, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid,
	SYS_geteuid, SYS_getgid, SYS_getegid,
	SYS_read, SYS_poll, SYS_select, SYS_pselect6, SYS_ppoll,
	SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_accept, SYS_accept4, SYS_recvfrom,
	SYS_recvmsg, SYS_recvmmsg, SYS_wait4, SYS_waitid, SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend, SYS_pause, SYS_msgrcv, SYS_semop, SYS_semtimedop,
	SYS_io_getevents, SYS_io_pgetevents, SYS_futex, SYS_sendto,
	SYS_sendmsg, SYS_io_uring_enter, SYS_write, SYS_writev,
};

static bool
inject_is_harmless(int64_t call)
{
	for (size_t i = 0; i < sizeof harmless_calls / sizeof *harmless_calls;
	     i++)
		if (call == harmless_calls[i])
			return true;
	return false;
}

static bool
inject_begins(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/*
 * Whether a thread that waits may call, by the function of the C library that
 * its program has called.
 */
static bool
inject_may_wait_in(int64_t call, const char *function)
{
	static const char *const allowed[] = { "pthread_", "__pthread_",
		"sem_", "cnd_", "mtx_", "thrd_", "syscall" };

	if (call != SYS_futex)
		return true;
	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
		if (inject_begins(function, allowed[i]))
			return !inject_begins(function, "pthread_create");
	return false;
}

enum inject_answer {
	ANSWER_NO,
	ANSWER_PERHAPS,		/* what could be unwound allows it */
	ANSWER_YES
};

/* The walk of a stack, and what it has met. */
struct inject_walk {
	int64_t call;		/* -1: the thread is in none */
	bool reads_clock;	/* its innermost frame is in the vdso */
	unsigned n;		/* frames */
	uint64_t entry;		/* the outermost of the C library's frames at
				 * the innermost end */
	bool is_past_libc;	/* the walk has left these */
	unsigned n_libc;	/* frames of the C library farther out ... */
	unsigned n_after;	/* ... and others outside those */
};

/* Whether the frame may be there. */
static bool
inject_walk_take(struct inject_walk *walk, enum inject_code place,
                 uint64_t address)
{
	walk->n++;
	if (place == CODE_FORBIDDEN)
		return false;
	if (place == CODE_VDSO && walk->n == 1) {
		walk->reads_clock = true;
		return true;
	}
	if (place == CODE_PROGRAM || place == CODE_VDSO) {
		walk->is_past_libc = true;
		walk->n_after += walk->n_libc > 0;
		/* A program's _start is outside the C library's start. */
		return walk->n_after <= 1;
	}
	if (walk->is_past_libc) {
		walk->n_libc++;
		return walk->n_after == 0;
	}
	walk->entry = address;
	return walk->call >= 0 || walk->reads_clock;
}

static enum inject_answer
inject_walk_answer(const struct inject_looker *looker,
                   const struct inject_walk *walk, bool is_whole)
{
	char function[64];

	if (walk->entry != 0) {
		inject_process_function(looker->process, walk->entry,
		                        function, sizeof function);
		if (!inject_may_wait_in(walk->call, function))
			return ANSWER_NO;
	}
	return is_whole ? ANSWER_YES : ANSWER_PERHAPS;
}

static void
inject_set_frame(struct stack_frame *frame,
                 const struct user_regs_struct *registers)
{
	const uint64_t values[X86_64_REGISTERS] = {
		[X86_64_RAX] = registers->rax, [X86_64_RBX] = registers->rbx,
		[X86_64_RCX] = registers->rcx, [X86_64_RDX] = registers->rdx,
		[X86_64_RSI] = registers->rsi, [X86_64_RDI] = registers->rdi,
		[X86_64_RBP] = registers->rbp, [X86_64_RSP] = registers->rsp,
		[X86_64_R8] = registers->r8, [X86_64_R9] = registers->r9,
		[X86_64_R10] = registers->r10, [X86_64_R11] = registers->r11,
		[X86_64_R12] = registers->r12, [X86_64_R13] = registers->r13,
		[X86_64_R14] = registers->r14, [X86_64_R15] = registers->r15,
		[X86_64_RIP] = registers->rip,
	};

	frame->arch = &dwarf_x86_64;
	memcpy(frame->registers.value, values, sizeof values);
	frame->registers.known = CFI_BIT(X86_64_REGISTERS) - 1;
}

/* Which file is mapped there, for the unwinder. */
static struct module_file
inject_module_file(const struct inject_process *process,
                   const struct inject_mapping *mapping)
{
	return (struct module_file){ .path = mapping->path,
		.search.root = process->root };
}

/* The number of the file: of its first mapping. */
static uint32_t
inject_module_number(const struct inject_process *process,
                     const struct inject_mapping *mapping)
{
	uint32_t i = 0;

	while (process->mappings[i].inode != mapping->inode ||
	       strcmp(process->mappings[i].path, mapping->path) != 0)
		i++;
	return i;
}

/* Goes to the caller; 1, 0 at the end, or -1. */
static int
inject_step(struct inject_looker *looker, uint64_t address,
            struct stack_frame *frame, struct error *error)
{
	const struct inject_mapping *mapping =
	    inject_process_find(looker->process, address);
	struct module_file file;

	if (mapping == NULL || *mapping->path == '\0')
		return stack_unwinder_step(looker->unwinder, NULL, 0, 0, frame,
		                           error);
	file = inject_module_file(looker->process, mapping);
	return stack_unwinder_step(looker->unwinder, &file,
	    inject_module_number(looker->process, mapping),
	    module_file_address(&file, address - mapping->start +
	                        mapping->offset), frame, error);
}

/* Whether a thread may call, stopped with these registers. */
static enum inject_answer
inject_look(struct inject_looker *looker, pid_t tid,
            const struct user_regs_struct *registers)
{
	const uint64_t sp = registers->rsp;
	const struct inject_mapping *stack =
	    inject_process_find(looker->process, sp);
	struct inject_walk walk = { .call = (int64_t)registers->orig_rax };
	struct stack_frame frame = { .is_interrupted = true,
		.stack = looker->copy, .stack_start = sp,
		.read_outside = inject_looker_read, .context = looker };
	struct error error = { 0 };
	enum inject_answer answer;
	int found = 1;

	if (registers->cs != USER_CODE || stack == NULL ||
	    !inject_call_has_room(looker->process, registers)) {
		looker->refusals.n_small++;
		return ANSWER_NO;
	}
	if (walk.call >= 0 && !inject_is_harmless(walk.call)) {
		looker->refusals.n_in_call++;
		looker->refusals.call = walk.call;
		return ANSWER_NO;
	}
	looker->refusals.n_inside++;
	if (looker->is_program_allocator && walk.call < 0)
		return ANSWER_NO;
	frame.stack_size = stack->end - sp < COPY_SIZE ? stack->end - sp :
	    COPY_SIZE;
	looker->tid = tid;
	inject_set_frame(&frame, registers);
	if (!inject_read(tid, sp, looker->copy, frame.stack_size))
		return ANSWER_NO;
	while (found > 0 && walk.n < FRAMES_MAX) {
		const uint64_t address = stack_frame_address(&frame);

		if (!inject_walk_take(&walk, inject_looker_code(looker,
		                                                 address),
		                      address))
			return ANSWER_NO;
		found = inject_step(looker, address, &frame, &error);
	}
	answer = inject_walk_answer(looker, &walk, found == 0 &&
	                            frame.end == STACK_END_OUTERMOST);
	if (answer == ANSWER_NO)
		return answer;
	looker->refusals.n_inside--;
	looker->refusals.n_partial += answer == ANSWER_PERHAPS;
	return answer;
}

/* ---- choosing ---- */

/* Finds the file whose malloc the process uses. */
static void
inject_find_allocator(struct inject_looker *looker)
{
	const struct inject_process *process = looker->process;
	uint64_t inode = 0;

	for (size_t i = 0; i < process->n; i++) {
		const struct inject_mapping *mapping = &process->mappings[i];

		if (*mapping->path != '/' || mapping->inode == inode)
			continue;
		inode = mapping->inode;
		if (inject_looker_code(looker, mapping->start) !=
		        CODE_PROGRAM ||
		    inject_process_symbol(process, mapping, "malloc") == 0)
			continue;
		looker->allocator = mapping->inode;
		/* Programs are mapped below their libraries. */
		looker->is_program_allocator = mapping->inode ==
		    process->mappings[0].inode;
		return;
	}
}

/* Tries one thread.  True: it is stopped, and may call. */
static bool
inject_try(struct inject_looker *looker, pid_t tid, bool is_patient)
{
	struct user_regs_struct registers;
	enum inject_answer answer = ANSWER_NO;

	if (!inject_thread_stop(tid)) {
		looker->refusals.n_running += errno == EAGAIN;
		return false;
	}
	if (ptrace(PTRACE_GETREGS, tid, 0, &registers) == 0)
		answer = inject_look(looker, tid, &registers);
	if (answer == ANSWER_YES || (answer == ANSWER_PERHAPS && !is_patient))
		return true;
	inject_thread_release(tid);
	return false;
}

/*
 * Reads what unwinding needs, by a look at a thread's stack that does not have
 * to be true, before threads are stopped for it.
 */
static void
inject_prepare(struct inject_looker *looker, pid_t tid)
{
	const struct inject_refusals before = looker->refusals;
	struct user_regs_struct registers;
	const bool has_stopped = inject_thread_stop(tid);
	const bool ok = has_stopped &&
	    ptrace(PTRACE_GETREGS, tid, 0, &registers) == 0;

	if (has_stopped)
		inject_thread_release(tid);
	if (ok)
		inject_look(looker, tid, &registers);
	looker->refusals = before;
}

/* Tries all threads once; 0: none may call. */
static pid_t
inject_try_all(struct inject_looker *looker, bool are_asleep, bool prepares,
               bool is_patient)
{
	const pid_t pid = looker->process->pid;
	const struct dirent *entry;
	pid_t chosen = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
	tasks = opendir(path);
	while (chosen == 0 && tasks != NULL &&
	       (entry = readdir(tasks)) != NULL) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct task task;

		/* Those that sleep do first, as they seldom hold a lock. */
		if (tid <= 0 || (task_read(tid, &task) && task.state == 'S') !=
		    are_asleep)
			continue;
		if (prepares)
			inject_prepare(looker, tid);
		if (inject_try(looker, tid, is_patient))
			chosen = tid;
		else
			inject_release_late();
	}
	if (tasks != NULL)
		closedir(tasks);
	return chosen;
}

static void
inject_add_refusals(struct text_buffer *text, unsigned n, const char *what)
{
	if (n > 0)
		text_add_format(text, "%s%s (%u times)", text->length > 0 ?
		                "; " : "", what, n);
}

/* Why no thread could call. */
static void
inject_refuse(const struct inject_looker *looker, struct error *error)
{
	const struct inject_refusals *refusals = &looker->refusals;
	struct text_buffer text = { 0 };
	char call[80];

	snprintf(call, sizeof call, "one was in system call %" PRId64
	         ", which malloc or the loader may have made", refusals->call);
	inject_add_refusals(&text, refusals->n_running,
	                    "one did not stop within 0.3 s, perhaps for want "
	                    "of a processor");
	inject_add_refusals(&text, refusals->n_small,
	                    "one had too little room on its stack");
	inject_add_refusals(&text, refusals->n_in_call, call);
	inject_add_refusals(&text, refusals->n_inside,
	                    "one was in the C library, its malloc or the "
	                    "loader");
	inject_add_refusals(&text, refusals->n_partial,
	                    "one had a stack that could not be unwound");
	error_set(error, "no thread of process %ld could be made to load the "
	          "collector, for a second: %s: try again later, or record it "
	          "from outside, without --inside",
	          (long)looker->process->pid, text.length > 0 ?
	          text_string(&text) : "all have ended");
	text_free(&text);
}

pid_t
inject_thread_choose(const struct inject_process *process, struct error *error)
{
	const int64_t since_ms = clock_ms();
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct inject_looker *looker = memory_array(1, sizeof *looker, error);
	int64_t passed_ms;
	pid_t chosen = 0;

	if (looker == NULL)
		return -1;
	looker->process = process;
	looker->unwinder = stack_unwinder_new(error);
	if (looker->unwinder != NULL) {
		inject_find_allocator(looker);
		for (unsigned i = 0; chosen == 0; i++) {
			passed_ms = clock_ms() - since_ms;
			if (i >= 4 && passed_ms > CHOOSE_MS)
				break;
			/* The first of each kind prepare. */
			chosen = inject_try_all(looker, i % 2 == 0, i < 2,
			                        passed_ms < PARTIAL_MS);
			if (chosen == 0)
				nanosleep(&pause, NULL);
		}
		if (chosen == 0)
			inject_refuse(looker, error);
	}
	stack_unwinder_free(looker->unwinder);
	free(looker);
	return chosen != 0 ? chosen : -1;
}

/* ---- masks of signals ---- */

/* The signals that a thread blocks. */
static uint64_t
inject_blocked(pid_t pid, pid_t tid)
{
	uint64_t blocked = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/task/%ld/status", (long)pid,
	         (long)tid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL &&
	       sscanf(line, "SigBlk: %" SCNx64, &blocked) != 1)
		;
	if (file != NULL)
		fclose(file);
	return blocked;
}

enum inject_change {
	CHANGE_DONE,
	CHANGE_LATER,	/* not in the state in which the thread is now */
	CHANGE_NEVER,	/* it has ended, or may not be stopped */
};

/*
 * Changes a thread's mask to one with or without these signals.  Not while it
 * blocks the C library's own: no function of the library blocks those for the
 * program.  The collector does while it works, where a tick would destroy what it
 * works at, and the library itself does for moments.  Both then set back the mask
 * that they found.
 */
static enum inject_change
inject_change_mask(pid_t tid, uint64_t signals, bool is_blocked)
{
	uint64_t mask = 0;
	bool ok, is_own;

	if (!inject_thread_stop(tid)) {
		if (errno != EAGAIN)
			return CHANGE_NEVER;
		inject_release_late();
		return CHANGE_LATER;
	}
	ok = ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) == 0;
	is_own = (mask & SIGNALS_OF_LIBRARY) != 0;
	mask = is_blocked ? mask | signals : mask & ~signals;
	ok = ok && (is_own ||
	    ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask) == 0);
	inject_thread_release(tid);
	return !ok ? CHANGE_NEVER : is_own ? CHANGE_LATER : CHANGE_DONE;
}

/* The collector's own thread must stay as it is. */
static bool
inject_is_collectors(pid_t pid, const char *tid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/task/%.20s/comm", (long)pid,
	         tid);
	file = fopen(path, "re");
	if (file != NULL && fgets(name, sizeof name, file) == NULL)
		name[0] = '\0';
	if (file != NULL)
		fclose(file);
	return strcmp(name, CPPROF_INSIDE_THREAD "\n") == 0;
}

/* Notes all threads that seem to block some of the signals. */
static int
inject_find_blocking(struct inject_target *target, struct error *error)
{
	const struct dirent *entry;
	size_t capacity = 0;
	int result = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%ld/task", (long)target->pid);
	tasks = opendir(path);
	while (result == 0 && tasks != NULL &&
	       (entry = readdir(tasks)) != NULL) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 ||
		    (inject_blocked(target->pid, tid) & target->mask) == 0 ||
		    inject_is_collectors(target->pid, entry->d_name))
			continue;
		result = memory_grow(&target->threads, &capacity,
		                     target->n_threads + 1,
		                     sizeof *target->threads, error);
		if (result == 0)
			target->threads[target->n_threads++] =
			    (struct inject_thread_mask){ tid, 0, true };
	}
	if (tasks != NULL)
		closedir(tasks);
	return result;
}

/* Unblocks the signals in those that can be changed now. */
static void
inject_unblock_some(struct inject_target *target)
{
	target->n_unreached = 0;
	for (size_t i = 0; i < target->n_threads; i++) {
		struct inject_thread_mask *thread = &target->threads[i];
		uint64_t blocked;
		enum inject_change change;

		if (!thread->is_open)
			continue;
		blocked = inject_blocked(target->pid, thread->tid) &
		    target->mask;
		change = blocked == 0 ? CHANGE_NEVER :
		    inject_change_mask(thread->tid, blocked, false);
		thread->is_open = change == CHANGE_LATER;
		thread->blocked = change == CHANGE_DONE ? blocked : 0;
		target->n_unreached += thread->is_open;
	}
}

int
inject_threads_unblock(struct inject_target *target, struct error *error)
{
	const int64_t until_ms = clock_ms() + MASKS_MS;
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (inject_find_blocking(target, error) != 0)
		return -1;
	inject_unblock_some(target);
	while (target->n_unreached > 0 && clock_ms() < until_ms) {
		nanosleep(&pause, NULL);
		inject_unblock_some(target);
	}
	return 0;
}

void
inject_threads_block(const struct inject_target *target)
{
	const int64_t until_ms = clock_ms() + MASKS_MS;
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (size_t i = 0; i < target->n_threads; i++)
		while (target->threads[i].blocked != 0 &&
		       inject_change_mask(target->threads[i].tid,
		                          target->threads[i].blocked, true) ==
		       CHANGE_LATER && clock_ms() < until_ms)
			nanosleep(&pause, NULL);
}

#endif
