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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/readable.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"
#include "lib/run/start.h"
#include "lib/sources/sources.h"
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

/* What the filter returns for a call.  Division by zero and bad code kill. */
static uint32_t
confine_run(const struct sock_fprog *program, const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = { 0 };
	uint64_t at;

	for (at = 0; at < program->len; at++) {
		const struct sock_filter *code = &program->filter[at];
		const unsigned class = BPF_CLASS(code->code);
		const uint32_t cell = code->k % BPF_MEMWORDS;
		const uint32_t b = BPF_SRC(code->code) == BPF_X ? x : code->k;
		uint32_t value = class == BPF_LD ? a : x;
		bool is_true = false;

		switch (class) {
		case BPF_RET:
			return BPF_RVAL(code->code) == BPF_A ? a : code->k;
		case BPF_LD:
		case BPF_LDX:
			switch (BPF_MODE(code->code)) {
			case BPF_ABS:
				value = 0;
				if (code->k <= sizeof *data - sizeof value)
					memcpy(&value, (const char *)data +
					    code->k, sizeof value);
				break;
			case BPF_IMM: value = code->k; break;
			case BPF_MEM: value = memory[cell]; break;
			case BPF_LEN: value = sizeof *data; break;
			}
			if (class == BPF_LD)
				a = value;
			else
				x = value;
			break;
		case BPF_ST:
			memory[cell] = a;
			break;
		case BPF_STX:
			memory[cell] = x;
			break;
		case BPF_ALU:
			switch (BPF_OP(code->code)) {
			case BPF_ADD: a += b; break;
			case BPF_SUB: a -= b; break;
			case BPF_MUL: a *= b; break;
			case BPF_OR: a |= b; break;
			case BPF_AND: a &= b; break;
			case BPF_XOR: a ^= b; break;
			case BPF_LSH: a <<= b & 31; break;
			case BPF_RSH: a >>= b & 31; break;
			case BPF_NEG: a = -a; break;
			case BPF_DIV:
				if (b == 0)
					return REFUSED;
				a /= b;
				break;
			default:
				return REFUSED;
			}
			break;
		case BPF_JMP:
			switch (BPF_OP(code->code)) {
			case BPF_JA: at += code->k; continue;
			case BPF_JEQ: is_true = a == b; break;
			case BPF_JGT: is_true = a > b; break;
			case BPF_JGE: is_true = a >= b; break;
			case BPF_JSET: is_true = (a & b) != 0; break;
			}
			at += is_true ? code->jt : code->jf;
			break;
		case BPF_MISC:
			if (BPF_MISCOP(code->code) == BPF_TAX)
				x = a;
			else
				a = x;
			break;
		default:
			return REFUSED;
		}
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
is_filter(const struct sock_fprog *program)
{
	return readable_now(program, sizeof *program) && program->len != 0 &&
	    readable_now(program->filter,
	    program->len * sizeof *program->filter);
}

void
confine_expect(unsigned long operation, unsigned long flags,
    const void *filter)
{
	/* What is read now and then, and not needed. */
	static const int reading[] = { SYS_read, SYS_pread64, SYS_openat };
	static const int signalling[] = { SYS_rt_tgsigqueueinfo };
	static const int asking[] = { SYS_rt_sigpending, SYS_rt_sigaction };
	static const int waiting[] = { SYS_sched_yield, SYS_futex };
	static const int polling[] = { SYS_ppoll };
	const bool has_filter = operation == SECCOMP_SET_MODE_FILTER &&
	    is_filter(filter);
	const bool has_other_sources = resources.n > 1 ||
	    resources.columns[0].source != &source_timer;
	const bool must_end = has_filter ?
	    !LETS_PASS(filter, always_needed) ||
	    (!datafile_exists() && !LETS_PASS(filter, needed_by_first_sample)) ||
	    (has_other_sources && !LETS_PASS(filter, needed_by_sources)) ||
	    (perf_is_used() && !LETS_PASS(filter, needed_by_events)) :
	    operation == SECCOMP_SET_MODE_STRICT && flags == 0;

	if (must_end && sampling_is_on() && sampling_is_own_process()) {
		shared_report_cpu_time(0);
		shared_give_up(CPPROF_SHARED_CONFINED, 0);
		control_end(CPPROFDATA_CONFINED);
	} else if (has_filter) {
		process.reads_no_files |= !LETS_PASS(filter, reading);
		process.sends_no_signals |= !LETS_PASS(filter, signalling);
		process.asks_no_signals |= !LETS_PASS(filter, asking);
		process.never_waits |= !LETS_PASS(filter, waiting);
		process.never_polls |= !LETS_PASS(filter, polling);
	}
}

void
confine_expect_prctl(unsigned long mode, const void *filter)
{
	confine_expect(mode == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT :
	    mode == SECCOMP_MODE_FILTER ? SECCOMP_SET_MODE_FILTER : ~0ul, 0,
	    filter);
}

/* <sys/prctl.h> declares it with an ellipsis. */
EXPORTED int confine_prctl(int, unsigned long, unsigned long, unsigned long,
    unsigned long) __asm__("prctl");

int
confine_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
    unsigned long d)
{
	if (option == PR_SET_SECCOMP)
		confine_expect_prctl(a, (const void *)b);
	return real()->prctl(option, a, b, c, d);
}
