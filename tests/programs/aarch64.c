/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aarch64.c -- stacks of an AArch64 program, as perf records them and as libgcc
 * sees them.
 *
 *	aarch64 SAMPLES >perf.data 2>stacks
 *
 * A timer interrupts functions of difficult shapes.  Its handler writes a
 * sample as `perf record --call-graph dwarf` does, and a line with the addresses
 * that _Unwind_Backtrace finds.  Under qemu-user with -singlestep it comes
 * between any two instructions.
 */
#include <alloca.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { COPY_MAX = 32768, FRAMES_MAX = 64, N_REGISTERS = 33, PERIOD_US = 700,
	ATTR_RECORD = 64, USER = 2 };

extern void *__libc_stack_end;

static volatile sig_atomic_t n_left;
static volatile unsigned sink;
static uintptr_t interrupted;		/* where */

/* ---- perf.data ---- */

static unsigned char record[65536];
static size_t record_size;

static void
put(const void *bytes, size_t n)
{
	memcpy(record + record_size, bytes, n);
	record_size += n;
}

static void
put_number(uint64_t number, size_t size)
{
	put(&number, size);
}

static void
begin_record(uint32_t type)
{
	record_size = 0;
	put_number(type, 4);
	put_number(USER, 2);
	put_number(0, 2);
}

static void
end_record(void)
{
	const uint16_t size = (uint16_t)record_size;

	memcpy(record + 6, &size, sizeof size);
	if (write(1, record, record_size) != (ssize_t)record_size)
		_exit(1);
}

static void
write_event(void)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		    PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = ((uint64_t)1 << N_REGISTERS) - 1,
		.sample_stack_user = COPY_MAX,
	};
	static const char head[16] = "PERFILE2\x10";

	if (write(1, head, sizeof head) != sizeof head)
		_exit(1);
	begin_record(ATTR_RECORD);
	put(&attr, sizeof attr);
	put_number(1, 8);
	end_record();
}

/*
 * qemu has the kernel's sigreturn at the start of a page without a name.  The
 * vdso has other code before it.
 */
static void
write_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], path[256], mode[8];
	unsigned long start, end, offset;

	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end,
		           mode, &offset, path) < 4 || mode[2] != 'x')
			continue;
		if (*path == '\0') {
			strcpy(path, "[vdso]");
			start -= 4;
		}
		begin_record(PERF_RECORD_MMAP2);
		put_number((uint64_t)getpid(), 4);
		put_number((uint64_t)getpid(), 4);
		put_number(start, 8);
		put_number(end - start, 8);
		put_number(offset, 8);
		for (int i = 0; i < 4; i++)	/* inode, mode */
			put_number(0, 8);
		put(path, (strlen(path) + 8) & ~(size_t)7);
		end_record();
	}
	if (maps != NULL)
		fclose(maps);
}

static void
write_sample(const mcontext_t *registers)
{
	const unsigned char *stack = (const unsigned char *)registers->sp;
	size_t size = (size_t)((unsigned char *)__libc_stack_end - stack) / 8 *
	    8;

	if (size > COPY_MAX)
		size = COPY_MAX;
	begin_record(PERF_RECORD_SAMPLE);
	put_number(1, 8);
	put_number(registers->pc, 8);
	put_number((uint64_t)getpid(), 4);
	put_number((uint64_t)getpid(), 4);
	put_number(0, 8);
	put_number(PERF_SAMPLE_REGS_ABI_64, 8);
	put(registers->regs, sizeof registers->regs);
	put_number(registers->sp, 8);
	put_number(registers->pc, 8);
	put_number(size, 8);
	put(stack, size);
	put_number(size, 8);
	end_record();
}

/* ---- libgcc ---- */

struct line {
	char text[FRAMES_MAX * 20];
	size_t n;
};

static _Unwind_Reason_Code
take_frame(struct _Unwind_Context *context, void *argument)
{
	struct line *line = argument;
	int is_exact = 0;
	const uintptr_t ip = _Unwind_GetIPInfo(context, &is_exact);

	/* From the frame that was interrupted on. */
	if (ip != 0 && (line->n > 0 || (is_exact && ip == interrupted)) &&
	    line->n < sizeof line->text - 24)
		line->n += (size_t)sprintf(line->text + line->n, " %lx",
		                           (unsigned long)(ip - !is_exact));
	return _URC_NO_REASON;
}

/* libgcc has no way from there if that was interrupted itself. */
static bool
is_sigreturn(const uint32_t *code)
{
	enum { MOV_X8_139 = 0xd2801168 };

	return code[0] == (uint32_t)MOV_X8_139 ||
	    code[-1] == (uint32_t)MOV_X8_139;
}

static void
arm(void)
{
	const struct itimerval soon = { .it_value.tv_usec = PERIOD_US };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void
take_sample(int number, siginfo_t *info, void *context)
{
	const mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
	static struct line line;

	(void)number, (void)info;
	if (n_left <= 0)
		return;
	interrupted = registers->pc;
	if (is_sigreturn((const uint32_t *)interrupted)) {
		arm();
		return;
	}
	n_left--;
	line.n = 0;
	_Unwind_Backtrace(take_frame, &line);
	write_sample(registers);
	line.text[line.n++] = '\n';
	if (write(2, line.text, line.n) != (ssize_t)line.n)
		_exit(1);
	arm();
}

/* ---- shapes ---- */

#define SHAPE __attribute__((noinline, noclone)) static unsigned

SHAPE
leaf(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * n;
	return sink;
}

SHAPE
large(unsigned n)
{
	volatile char room[9000];

	room[n % sizeof room] = 1;
	return leaf(n) + (unsigned)room[n % sizeof room];
}

SHAPE
recursion(unsigned n)
{
	return n == 0 ? large(9) : recursion(n - 1) * 3 + leaf(n);
}

SHAPE
variable(unsigned n)
{
	volatile char *room = alloca(16 + n * 8);

	room[n] = (char)n;
	return leaf(n) + (unsigned)room[n] + (n > 0 ? variable(n - 1) : 0);
}

static int
compare(const void *left, const void *right)
{
	return (int)(leaf(*(const unsigned *)left % 8) & 1) +
	    (*(const unsigned *)left > *(const unsigned *)right);
}

SHAPE
callback(unsigned n)
{
	unsigned items[8];

	for (unsigned i = 0; i < 8; i++)
		items[i] = (i * 7 + n) % 8;
	qsort(items, 8, sizeof *items, compare);
	return items[0];
}

SHAPE
library(unsigned n)
{
	char text[64], other[64];

	snprintf(text, sizeof text, "%u %s", n, "of many");
	memmove(other, text, sizeof other);
	return (unsigned)strlen(other);
}

static void
handle(int number)
{
	sink += leaf(20 + (unsigned)number);
}

SHAPE
handled(unsigned n)
{
	return n + (unsigned)raise(SIGUSR1);
}

SHAPE
returned(unsigned n)
{
	return n + (unsigned)raise(SIGUSR2);
}

/* As musl's and Go's: the program's own, and without unwind tables. */
__asm__(".text\n\tnop\n"
        ".type own_sigreturn, %function\n"
        "own_sigreturn:\n\tmov x8, #139\n\tsvc #0\n"
        ".size own_sigreturn, . - own_sigreturn\n");
extern void own_sigreturn(void);

static void
handle_signals(void)
{
	const struct sigaction sampling = { .sa_sigaction = take_sample,
		.sa_flags = SA_SIGINFO | SA_RESTART };
	const struct sigaction plain = { .sa_handler = handle };
	/* The kernel's structure. */
	const struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} own = { handle, 0x04000000, own_sigreturn, 0 };

	sigaction(SIGALRM, &sampling, NULL);
	sigaction(SIGUSR1, &plain, NULL);
	syscall(SYS_rt_sigaction, SIGUSR2, &own, NULL, 8);
}

int
main(int n_arguments, char **arguments)
{
	struct line none = { .n = 0 };

	n_left = n_arguments > 1 ? atoi(arguments[1]) : 100;
	_Unwind_Backtrace(take_frame, &none);	/* so that it is bound */
	write_event();
	write_mappings();
	handle_signals();
	arm();
	for (unsigned n = 0; n_left > 0; n++)
		sink += recursion(n % 9) + variable(n % 7) + callback(n) +
		    library(n) + handled(n) + returned(n);
	return 0;
}
