/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inject_call.c -- makes a stopped thread call a function.
 *
 * On the thread's stack, below what it uses, lies a frame as the kernel makes it
 * for a signal handler, with all registers as they were:
 *
 *	sp of the thread
 *	  128 bytes	which functions may use without moving sp
 *	  floating point	as XSAVE stores it
 *	  text		an argument
 *	  ucontext	registers, and the mask of signals
 *	  address	-> mov $15, %eax; syscall, in the C library
 *	  word
 *	  return address	-> mov %rax, (%rbx); pop %rbx; ret
 *
 * A called function returns there, its result is stored in the text's place, and
 * rt_sigreturn restores all.  (Without such code in the process, it returns to
 * the second address, and its result is not known.)  While this
 * process lives, the thread stops before that, for its result or another call,
 * and at last is given its registers directly.  Only that way can the kernel
 * continue a system call with a timeout: after rt_sigreturn it fails with EINTR.
 *
 * Registers are changed first, and then the mask of signals, which the frame
 * restores, too.
 */
#include "src/inject/inject.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "src/base/clock.h"

#ifdef __x86_64__

#include <cpuid.h>

enum {
	RED_ZONE = 128,
	RETURN_SIZE = 3 * 8,		/* addresses below the context */
	STATE_MAGIC_AT = 464,		/* software-reserved bytes of XSAVE */
	STATE_USED_AT = 512,		/* features that are not in their
					 * initial state */
	LONGEST_CALL_MS = 10000,
	RESTART_SYS = 512,		/* the kernel's, for stopped calls */
	RESTART_NOINTR = 513,
	RESTART_NOHAND = 514,
	RESTART_BLOCK = 516,
};

/* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS */
#define CONTEXT_FLAGS 7

/* glibc's own signals: one of them changes users in all threads at once. */
#define NEVER_BLOCKED ((uint64_t)3 << 31)

#define TILES ((uint64_t)3 << 17)	/* of AMX, among the features */

#define DIRECTION_AND_TRAP 0x40500	/* of the flags: DF, TF, AC */

static const unsigned char return_code[] = {
	0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05
};

/* As a compiler ends a function that stores what another has returned. */
static const unsigned char store_code[] = { 0x48, 0x89, 0x03, 0x5b, 0xc3 };

/* Finds instructions in the code of a file that is mapped; 0: none. */
static uint64_t
inject_find_code(const struct inject_process *process,
                 const struct inject_mapping *module,
                 const unsigned char *code, size_t code_size)
{
	static unsigned char block[65536 + 16];

	for (size_t i = 0; i < process->n; i++) {
		const struct inject_mapping *mapping = &process->mappings[i];
		uint64_t at = mapping->start;

		if (!mapping->is_code || mapping->inode != module->inode ||
		    strcmp(mapping->path, module->path) != 0)
			continue;
		while (at < mapping->end) {
			const size_t left = (size_t)(mapping->end - at);
			const size_t size = left < sizeof block ? left :
			    sizeof block;
			const unsigned char *found;

			if (!inject_read(process->pid, at, block, size))
				break;
			found = memmem(block, size, code, code_size);
			if (found != NULL)
				return at + (uint64_t)(found - block);
			at += 65536;
		}
	}
	return 0;
}

static bool
inject_is_in_call(const struct user_regs_struct *registers)
{
	return (int64_t)registers->orig_rax >= 0;
}

/*
 * The registers with which a stopped system call begins anew, where the kernel
 * itself cannot continue it any more.
 */
static struct user_regs_struct
inject_registers_after(const struct user_regs_struct *before)
{
	struct user_regs_struct registers = *before;
	const int64_t result = (int64_t)before->rax;

	if (inject_is_in_call(before) && result == -RESTART_BLOCK) {
		registers.rax = (uint64_t)-EINTR;
	} else if (inject_is_in_call(before) && (result == -RESTART_SYS ||
	           result == -RESTART_NOINTR || result == -RESTART_NOHAND)) {
		registers.rax = before->orig_rax;
		registers.rip -= 2;
	}
	registers.orig_rax = (uint64_t)-1;
	return registers;
}

/*
 * The size of the state that a signal's frame of this thread may have.  It has
 * no tiles of AMX (features 17 and 18) if the thread has never used these.
 */
static size_t
inject_state_size(const struct inject_caller *caller)
{
	uint64_t features, used;
	size_t size = 576;		/* x87, SSE and the header */

	memcpy(&features, caller->state + STATE_MAGIC_AT, sizeof features);
	memcpy(&used, caller->state + STATE_USED_AT, sizeof used);
	if ((features & TILES) == 0 || (used & TILES) != 0)
		return caller->state_size;
	for (unsigned i = 2; i < 17; i++) {
		unsigned bytes, offset, c, d;

		if ((features >> i & 1) != 0 &&
		    __get_cpuid_count(0xd, i, &bytes, &offset, &c, &d) &&
		    offset + bytes > size)
			size = offset + bytes;
	}
	return size < caller->state_size ? size : caller->state_size;
}

bool
inject_call_has_room(const struct inject_process *process,
                     const struct user_regs_struct *registers)
{
	const uint64_t sp = registers->rsp, thread = registers->fs_base;
	const struct inject_mapping *mapping =
	    inject_process_find(process, sp);

	if (mapping == NULL)
		return false;
	if (strcmp(mapping->path, "[stack]") == 0)
		return sp - mapping->start > INJECT_STATE_SIZE + 2 * PATH_MAX;
	/* The C library has a thread's descriptor above its stack. */
	return thread > sp && thread < mapping->end &&
	    sp - mapping->start > INJECT_ROOM;
}

static void
inject_make_context(const struct inject_caller *caller, uint64_t state,
                    ucontext_t *context)
{
	const struct user_regs_struct r =
	    inject_registers_after(&caller->registers);
	greg_t *g = context->uc_mcontext.gregs;

	memset(context, 0, sizeof *context);
	context->uc_flags = CONTEXT_FLAGS;
	/* Not valid, so that the thread's alternate stack stays what it is. */
	context->uc_stack.ss_flags = 0x1234;
	g[REG_R8] = (greg_t)r.r8;
	g[REG_R9] = (greg_t)r.r9;
	g[REG_R10] = (greg_t)r.r10;
	g[REG_R11] = (greg_t)r.r11;
	g[REG_R12] = (greg_t)r.r12;
	g[REG_R13] = (greg_t)r.r13;
	g[REG_R14] = (greg_t)r.r14;
	g[REG_R15] = (greg_t)r.r15;
	g[REG_RDI] = (greg_t)r.rdi;
	g[REG_RSI] = (greg_t)r.rsi;
	g[REG_RBP] = (greg_t)r.rbp;
	g[REG_RBX] = (greg_t)r.rbx;
	g[REG_RDX] = (greg_t)r.rdx;
	g[REG_RAX] = (greg_t)r.rax;
	g[REG_RCX] = (greg_t)r.rcx;
	g[REG_RSP] = (greg_t)r.rsp;
	g[REG_RIP] = (greg_t)r.rip;
	g[REG_EFL] = (greg_t)r.eflags;
	g[REG_CSGSFS] = (greg_t)(r.cs | (r.ss << 48));
	context->uc_mcontext.fpregs = (fpregset_t)(uintptr_t)state;
	memcpy(&context->uc_sigmask, &caller->signals, sizeof caller->signals);
}

/* Adds what the kernel expects around the state in a signal's frame. */
static void
inject_mark_state(unsigned char *state, size_t size)
{
	const uint32_t first = FP_XSTATE_MAGIC1, last = FP_XSTATE_MAGIC2;
	const uint32_t extended = (uint32_t)(size + sizeof last);
	const uint32_t plain = (uint32_t)size;
	uint64_t features, used;

	/* The kernel stores the enabled features there. */
	memcpy(&features, state + STATE_MAGIC_AT, sizeof features);
	memcpy(&used, state + STATE_USED_AT, sizeof used);
	if ((used & TILES) == 0)
		features &= ~TILES;
	memset(state + STATE_MAGIC_AT, 0, 48);
	memcpy(state + STATE_MAGIC_AT, &first, 4);
	memcpy(state + STATE_MAGIC_AT + 4, &extended, 4);
	memcpy(state + STATE_MAGIC_AT + 8, &features, 8);
	memcpy(state + STATE_MAGIC_AT + 16, &plain, 4);
	memcpy(state + size, &last, sizeof last);
}

static int
inject_read_state(struct inject_caller *caller)
{
	struct iovec state = { caller->state, sizeof caller->state - 64 };

	if (ptrace(PTRACE_GETREGS, caller->tid, 0, &caller->registers) != 0 ||
	    ptrace(PTRACE_GETSIGMASK, caller->tid, sizeof caller->signals,
	           &caller->signals) != 0 ||
	    ptrace(PTRACE_GETREGSET, caller->tid, NT_X86_XSTATE, &state) != 0)
		return -1;
	caller->state_size = state.iov_len;
	return state.iov_len < sizeof caller->state - 64 ? 0 : -1;
}

int
inject_call_begin(struct inject_caller *caller,
                  const struct inject_process *process, pid_t tid,
                  struct error *error)
{
	static unsigned char frame[INJECT_STATE_SIZE + 2 * PATH_MAX];
	static unsigned char state[INJECT_STATE_SIZE];
	const struct inject_mapping *libc =
	    inject_process_module(process, "libc.so.6");
	uint64_t at, top;
	ucontext_t context;
	size_t size;

	memset(caller, 0, sizeof *caller);
	caller->tid = tid;
	if (libc == NULL)
		libc = inject_process_module(process, "libc-2.");
	if (libc != NULL) {
		caller->to_return = inject_find_code(process, libc,
		    return_code, sizeof return_code);
		caller->to_store = inject_find_code(process, libc, store_code,
		                                    sizeof store_code);
	}
	if (caller->to_return == 0)
		return error_set(error, "the C library of process %ld is not "
		                 "known to cpprof", (long)process->pid);
	if (inject_read_state(caller) != 0)
		return error_set(error, "registers of thread %ld: %s",
		                 (long)tid, strerror(errno));
	if (!inject_call_has_room(process, &caller->registers))
		return error_set(error, "no room on the stack");
	size = inject_state_size(caller);
	memcpy(state, caller->state, size);
	inject_mark_state(state, size);
	top = caller->registers.rsp - RED_ZONE;
	at = (top - size - 4) & ~(uint64_t)63;
	caller->text = at - PATH_MAX;
	caller->result = caller->text - 8;
	caller->stack = ((caller->result - sizeof context - RETURN_SIZE) &
	                 ~(uint64_t)15) - 8;
	inject_make_context(caller, at, &context);
	if (top - caller->stack > sizeof frame)
		return error_set(error, "no room on the stack");
	memset(frame, 0, sizeof frame);
	memcpy(frame + RETURN_SIZE, &context, sizeof context);
	memcpy(frame + (at - caller->stack), state, size + 4);
	if (!inject_write(tid, caller->stack, frame,
	                  (size_t)(top - caller->stack)))
		return error_set(error, "stack of thread %ld: %s", (long)tid,
		                 strerror(errno));
	return 0;
}

/* Waits for the thread's next stop; false: it is gone, or that takes long. */
static bool
inject_await_stop(pid_t tid, int64_t until_ms, int *status)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	pid_t found;

	while ((found = waitpid(tid, status, WNOHANG | __WALL)) == 0 &&
	       clock_ms() < until_ms)
		nanosleep(&pause, NULL);
	return found == tid && WIFSTOPPED(*status);
}

/* A signal of a fault stops the call, which has failed. */
static bool
inject_is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL ||
	    number == SIGFPE || number == SIGABRT || number == SIGSYS;
}

/*
 * Lets the thread run until it has returned: it then stops before rt_sigreturn.
 */
static int
inject_await_return(struct inject_caller *caller, struct error *error)
{
	const int64_t until_ms = clock_ms() + LONGEST_CALL_MS;
	struct user_regs_struct registers;
	int number = 0, status;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, caller->tid, 0, number) != 0 ||
		    !inject_await_stop(caller->tid, until_ms, &status))
			return error_set(error, clock_ms() < until_ms ?
			                 "the process has ended" :
			                 "loading the collector takes more "
			                 "than 10 s: another thread may hold "
			                 "a lock of the C library; try again "
			                 "later");
		number = 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			if (status >> 16 == 0)
				number = WSTOPSIG(status);
			if (!inject_is_fault(number))
				continue;
			inject_call_end(caller);
			return error_set(error, "loading the collector failed "
			                 "with signal %d", number);
		}
		if (ptrace(PTRACE_GETREGS, caller->tid, 0, &registers) == 0 &&
		    registers.rip == caller->to_return + sizeof return_code &&
		    registers.rsp == caller->stack + RETURN_SIZE)
			return 0;
	}
}

int
inject_call(struct inject_caller *caller, uint64_t function, uint64_t first,
            uint64_t second, uint64_t *result, struct error *error)
{
	const uint64_t blocked = ~NEVER_BLOCKED;
	const uint64_t back[] = {
		caller->to_store != 0 ? caller->to_store : caller->to_return,
		0, caller->to_return
	};
	struct user_regs_struct registers = caller->registers;

	registers.rip = function;
	registers.rsp = caller->stack;
	if (caller->to_store == 0)
		registers.rsp += sizeof back - 8;
	registers.rdi = first;
	registers.rsi = second;
	registers.rbx = caller->result;
	registers.rax = 0;
	registers.orig_rax = (uint64_t)-1;	/* no system call to repeat */
	registers.eflags &= ~(uint64_t)DIRECTION_AND_TRAP;
	*result = INJECT_UNKNOWN;
	if (!inject_write(caller->tid, caller->stack, back, sizeof back) ||
	    !inject_write(caller->tid, caller->result, result,
	                  sizeof *result) ||
	    ptrace(PTRACE_SETREGS, caller->tid, 0, &registers) != 0)
		return error_set(error, "the process has ended");
	if (!caller->has_begun)
		ptrace(PTRACE_SETSIGMASK, caller->tid, sizeof blocked,
		       &blocked);
	caller->has_begun = true;
	if (inject_await_return(caller, error) != 0)
		return -1;
	inject_read(caller->tid, caller->result, result, sizeof *result);
	return 0;
}

void
inject_call_end(struct inject_caller *caller)
{
	struct user_regs_struct after =
	    inject_registers_after(&caller->registers);
	struct iovec state = { caller->state, caller->state_size };
	int status;

	if (!caller->has_begun)
		return;
	/*
	 * Before rt_sigreturn, which is left out.  Stopped once more, the kernel
	 * continues an interrupted system call as if nothing had happened.
	 */
	ptrace(PTRACE_SETREGSET, caller->tid, NT_X86_XSTATE, &state);
	ptrace(PTRACE_SETSIGMASK, caller->tid, sizeof caller->signals,
	       &caller->signals);
	ptrace(PTRACE_SETREGS, caller->tid, 0, &after);
	ptrace(PTRACE_INTERRUPT, caller->tid, 0, 0);
	ptrace(PTRACE_CONT, caller->tid, 0, 0);
	if (inject_await_stop(caller->tid, clock_ms() + LONGEST_CALL_MS,
	                      &status) && status >> 16 == PTRACE_EVENT_STOP)
		ptrace(PTRACE_SETREGS, caller->tid, 0, &caller->registers);
}

#endif
