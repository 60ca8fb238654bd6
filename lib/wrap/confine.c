/* SPDX-License-Identifier: MIT */
/* confine.c -- runs a seccomp filter on the calls that sampling makes.
 *
 * The filter is a classic BPF program over struct seccomp_data.  Only the few
 * instructions that seccomp admits are implemented, since the kernel refuses
 * all others.  Jumps only go forwards, so every filter ends.
 */
#include "lib/wrap/wrapped.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/exported.h"
#include "lib/base/process.h"
#include "lib/base/readable.h"
#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"
#include "lib/run/start.h"
#include "lib/sources/perf.h"
#include "lib/sources/resource.h"
#include "lib/sources/timer.h"
#include "lib/store/datafile.h"

#define REFUSED SECCOMP_RET_KILL_PROCESS

/*
 * Needed for ticks, for growing the file, in children, and when a thread ends.
 */
static const int always_needed[] = {
	SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_mmap, SYS_munmap, SYS_mremap,
	SYS_madvise, SYS_fallocate, SYS_ftruncate, SYS_openat, SYS_close,
	SYS_fstat, SYS_newfstatat, SYS_fcntl, SYS_prlimit64, SYS_prctl,
	SYS_getpid, SYS_getppid, SYS_gettid, SYS_getcwd, SYS_nanosleep,
	SYS_clock_gettime, SYS_timer_create, SYS_timer_settime,
	SYS_timer_delete,
};

/* Needed for the names in a file, unless there is one. */
static const int needed_by_first_sample[] = { SYS_readlink, SYS_uname };

/*
 * Needed by some sources as well.  New threads open perf events of their own.
 */
static const int needed_by_sources[] = {
	SYS_getrusage, SYS_read, SYS_pread64,
};
static const int needed_by_events[] = {
	SYS_perf_event_open, SYS_ioctl, SYS_rt_sigpending,
};

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	const struct seccomp_data *data;
};

static uint32_t
load_data(const struct machine *machine, uint32_t at)
{
	uint32_t word = 0;

	if (at <= sizeof *machine->data - sizeof word)
		memcpy(&word, (const char *)machine->data + at, sizeof word);
	return word;
}

static void
confine_load(struct machine *machine, const struct sock_filter *code)
{
	const uint32_t cell = code->k % BPF_MEMWORDS;
	uint32_t *to = BPF_CLASS(code->code) == BPF_LD ? &machine->a :
	    &machine->x;

	switch (BPF_MODE(code->code)) {
	case BPF_ABS:
		*to = load_data(machine, code->k);
		break;
	case BPF_IMM:
		*to = code->k;
		break;
	case BPF_MEM:
		*to = machine->memory[cell];
		break;
	case BPF_LEN:
		*to = sizeof *machine->data;
		break;
	}
}

static uint32_t
operand(const struct machine *machine, const struct sock_filter *code)
{
	return BPF_SRC(code->code) == BPF_X ? machine->x : code->k;
}

/* Division by zero ends the filter with result 0, which kills. */
static bool
compute(struct machine *machine, const struct sock_filter *code)
{
	const uint32_t b = operand(machine, code);
	uint32_t *a = &machine->a;

	switch (BPF_OP(code->code)) {
	case BPF_ADD: *a += b; break;
	case BPF_SUB: *a -= b; break;
	case BPF_MUL: *a *= b; break;
	case BPF_OR: *a |= b; break;
	case BPF_AND: *a &= b; break;
	case BPF_XOR: *a ^= b; break;
	case BPF_LSH: *a <<= b & 31; break;
	case BPF_RSH: *a >>= b & 31; break;
	case BPF_NEG: *a = -*a; break;
	case BPF_DIV:
		if (b == 0)
			return false;
		*a /= b;
		break;
	default:
		return false;
	}
	return true;
}

/* The number of instructions to skip. */
static uint32_t
confine_jump(const struct machine *machine, const struct sock_filter *code)
{
	const uint32_t a = machine->a, b = operand(machine, code);
	bool is_true = false;

	switch (BPF_OP(code->code)) {
	case BPF_JA: return code->k;
	case BPF_JEQ: is_true = a == b; break;
	case BPF_JGT: is_true = a > b; break;
	case BPF_JGE: is_true = a >= b; break;
	case BPF_JSET: is_true = (a & b) != 0; break;
	}
	return is_true ? code->jt : code->jf;
}

/*
 * Executes one instruction other than a return.  False: the filter is invalid.
 */
static bool
confine_step(struct machine *machine, const struct sock_filter *code,
             uint32_t *skip)
{
	const uint32_t cell = code->k % BPF_MEMWORDS;

	*skip = 0;
	switch (BPF_CLASS(code->code)) {
	case BPF_LD:
	case BPF_LDX:
		confine_load(machine, code);
		return true;
	case BPF_ST:
		machine->memory[cell] = machine->a;
		return true;
	case BPF_STX:
		machine->memory[cell] = machine->x;
		return true;
	case BPF_ALU:
		return compute(machine, code);
	case BPF_JMP:
		*skip = confine_jump(machine, code);
		return true;
	case BPF_MISC:
		if (BPF_MISCOP(code->code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
		return true;
	}
	return false;
}

static uint32_t
confine_run(const struct sock_fprog *program, const struct seccomp_data *data)
{
	struct machine machine = { .data = data };
	uint32_t at, skip;

	for (at = 0; at < program->len; at += 1 + skip) {
		const struct sock_filter *code = &program->filter[at];

		if (BPF_CLASS(code->code) == BPF_RET)
			return BPF_RVAL(code->code) == BPF_A ? machine.a :
			    code->k;
		if (!confine_step(&machine, code, &skip) || skip > program->len)
			break;
	}
	return REFUSED;
}

/* Whether the filter allows the calls, or makes them fail with an errno. */
static bool
lets_pass(const struct sock_fprog *program, const int *numbers, size_t n)
{
	struct seccomp_data data = { .arch = ARCH_AUDIT };
	size_t i;

	for (i = 0; i < n; i++) {
		data.nr = numbers[i];
		data.args[2] = data.nr == SYS_mmap ? PROT_READ | PROT_WRITE :
		    0;
		switch (confine_run(program, &data) & SECCOMP_RET_ACTION_FULL) {
		case SECCOMP_RET_ALLOW:
		case SECCOMP_RET_LOG:
			break;
		case SECCOMP_RET_ERRNO:
			/* A handler that cannot return ends the program. */
			if (data.nr == SYS_rt_sigreturn)
				return false;
			break;
		default:
			return false;
		}
	}
	return true;
}

#define LETS_PASS(program, numbers) \
	lets_pass(program, numbers, sizeof (numbers) / sizeof *(numbers))

static bool
admits_sampling(const struct sock_fprog *program)
{
	const bool has_other_sources = resources.n > 1 ||
	    resources.columns[0].source != &source_timer;

	if (!readable_now(program, sizeof *program) || program->len == 0 ||
	    !readable_now(program->filter,
	    program->len * sizeof *program->filter))
		return true;
	return LETS_PASS(program, always_needed) &&
	    (datafile_exists() ||
	    LETS_PASS(program, needed_by_first_sample)) &&
	    (!has_other_sources || LETS_PASS(program, needed_by_sources)) &&
	    (!perf_is_used() || LETS_PASS(program, needed_by_events));
}

/* For what is read now and then, and not needed. */
static void
note_reading(const struct sock_fprog *program)
{
	static const int needed[] = { SYS_read, SYS_pread64, SYS_openat };

	if (readable_now(program, sizeof *program) && program->len != 0 &&
	    readable_now(program->filter,
	    program->len * sizeof *program->filter) &&
	    !LETS_PASS(program, needed))
		process.reads_no_files = true;
}

void
confine_expect(unsigned long operation, unsigned long flags,
    const void *filter)
{
	if (!sampling_is_on() || !sampling_is_own_process() ||
	    !((operation == SECCOMP_SET_MODE_STRICT && flags == 0) ||
	    (operation == SECCOMP_SET_MODE_FILTER &&
	    !admits_sampling(filter)))) {
		if (operation == SECCOMP_SET_MODE_FILTER)
			note_reading(filter);
		return;
	}
	shared_report_cpu_time(0);
	shared_give_up(CPPROF_SHARED_CONFINED, 0);
	control_end(CPPROFDATA_CONFINED);
}

EXPORTED int
prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;
	int i;

	va_start(list, option);
	for (i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_SECCOMP)
		confine_expect(arguments[0] == SECCOMP_MODE_STRICT ?
		    SECCOMP_SET_MODE_STRICT : arguments[0] ==
		    SECCOMP_MODE_FILTER ? SECCOMP_SET_MODE_FILTER : ~0ul, 0,
		    (const void *)arguments[1]);
	return real()->prctl(option, arguments[0], arguments[1], arguments[2],
	    arguments[3]);
}
