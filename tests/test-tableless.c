/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-tableless.c -- the collector's stacks in code without unwind tables, at
 * each instruction.
 *
 * The code is that of tests/stepped.py, linked into this program.  The rules are
 * made as `record` makes them, and read as the collector reads them.  Under the
 * processor's trace flag, SIGTRAP comes after each instruction; its handler
 * keeps the true stack by watching calls and returns, and compares.  No stack may
 * have a frame that is not there, and hardly any may be partial.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/base/process.h"
#include "lib/cpprof-code.h"
#include "lib/unwind/rules.h"
#include "lib/unwind/unwinder.h"
#include "src/symbols/unwind/code_rules.h"
#include "tests/random-numbers.h"
#include "tests/single-step.h"

enum { DEPTH_MAX = 256, SHOWN_MAX = 4 };

extern void *__libc_stack_end;
struct process_facts process;
volatile uint32_t sampling_same_process = 1;

void
process_pause(void)
{
	sched_yield();
}

uint64_t
process_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the rules ---- */

static char directory[] = "/tmp/cpprof-test-XXXXXX";
static char rules_path[PATH_MAX];
static unsigned char *rules_bytes;
static size_t rules_size;

static bool
never(void *context)
{
	(void)context;
	return false;
}

/* What the collector finds out about this program. */
static struct cpprof_code_module
own_module(void)
{
	struct cpprof_code_module own = { 0 };
	unsigned char id[BUILD_ID_MAX];
	struct elf_file file;
	struct stat status;

	assert_true(strlen(process_names.executable) < sizeof own.path);
	strcpy(own.path, process_names.executable);
	assert_int_equal(elf_file_open(&file, own.path), ELF_FILE_OPEN);
	own.build_id_size = (uint32_t)elf_file_build_id(&file, id);
	elf_file_close(&file);
	assert_true(own.build_id_size <= sizeof own.build_id);
	memcpy(own.build_id, id, own.build_id_size);
	if (own.build_id_size > 0)
		return own;
	assert_int_equal(stat(own.path, &status), 0);
	own.file_size = (uint64_t)status.st_size;
	own.file_mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)status.st_mtim.tv_nsec;
	return own;
}

static void
write_rules(const unsigned char *bytes, size_t size)
{
	const int file = open(rules_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, size), size);
	close(file);
}

static int
make_rules(void **state)
{
	static char name[CPPROF_CODE_NAME_SIZE];
	struct error error = { 0 };
	struct cpprof_code_module own;
	struct module_file module;
	ssize_t length;

	(void)state;
	length = readlink("/proc/self/exe", process_names.executable,
	    sizeof process_names.executable - 1);
	if (length <= 0 || mkdtemp(directory) == NULL)
		return -1;
	process.has_executable = true;
	own = own_module();
	module = (struct module_file){ .path = own.path,
		.build_id = own.build_id, .build_id_size = own.build_id_size,
		.size = own.file_size, .mtime_ns = own.file_mtime_ns };
	cpprof_code_name(cpprof_code_key(&own), name);
	snprintf(rules_path, sizeof rules_path, "%s/%s", directory, name);
	return code_file_make(&module, never, NULL, &rules_bytes, &rules_size,
	                      &error);
}

static int
remove_rules(void **state)
{
	(void)state;
	unlink(rules_path);
	free(rules_bytes);
	return rmdir(directory);
}

/* ---- the true stack ---- */

struct truth {
	uint64_t pc, slot;
};

static struct truth truths[DEPTH_MAX];
static size_t n_truths;
static uint64_t base[DEPTH_MAX];	/* frames further out, innermost
					 * first */
static size_t n_base;
static uint64_t last_pc, last_sp;	/* of the trap before; 0: none */
static bool is_lost;

static void
truth_follow(uint64_t pc, uint64_t sp)
{
	static const unsigned char enter[] = { 0x0f, 0x05 };	/* syscall */
	struct x86_instruction i;
	bool is_call;

	/* The trap comes after the instruction behind it. */
	if (memcmp((const void *)(uintptr_t)last_pc, enter,
	           sizeof enter) == 0 && pc != last_pc + sizeof enter)
		last_pc += sizeof enter;
	if (!x86_decode((const unsigned char *)(uintptr_t)last_pc,
	                X86_SIZE_MAX, last_pc, &i)) {
		is_lost = true;
		return;
	}
	is_call = (i.flow == X86_CALL || i.flow == X86_CALL_INDIRECT) &&
	    sp == last_sp - 8;
	if (is_call || i.flow == X86_RETURN || i.flow == X86_JUMP ||
	    i.flow == X86_JUMP_INDIRECT || sp > last_sp + 64)
		while (n_truths > 0 &&
		       truths[n_truths - 1].slot < sp + (is_call ? 8 : 0))
			n_truths--;
	if (is_call && pc != last_pc + i.size && n_truths < DEPTH_MAX)
		truths[n_truths++] = (struct truth){ last_pc + i.size, sp };
}

/* The i-th frame, innermost first; 0: there is none. */
static uint64_t
truth_frame(uint64_t pc, size_t i)
{
	if (i == 0)
		return pc;
	if (i <= n_truths)
		return truths[n_truths - i].pc - 1;
	i -= n_truths + 1;
	return i < n_base ? base[i] : 0;
}

/* ---- comparing ---- */

int tableless_main(int argc, char **argv);	/* of tableless.c */
void outer(void);				/* of tableless-hand.S */

static struct unwinder remembering, forgetting;
static unsigned long n_stacks, n_partial, n_other, n_wrong, n_in_code;
/* The first wrong stacks, and what they should be. */
static struct shown {
	uint64_t found[8], true_ones[8];
	enum unwind_end end;
} shown[SHOWN_MAX];

static void
compare(const struct unwinder *unwinder, uint64_t pc)
{
	const struct frames *stack = &unwinder->stack;
	const size_t n = n_truths + 1 + n_base;
	bool is_wrong = stack->n > n;
	unsigned kind;

	for (size_t i = 0; i < stack->n && !is_wrong; i++)
		is_wrong = stack->frames[stack->n - 1 - i].address !=
		    truth_frame(pc, i);
	is_wrong |= unwinder->end == UNWIND_COMPLETE && stack->n != n;
	for (size_t i = 0; i < 8 && is_wrong && n_wrong < SHOWN_MAX; i++) {
		shown[n_wrong].end = unwinder->end;
		shown[n_wrong].true_ones[i] = truth_frame(pc, i);
		shown[n_wrong].found[i] = i >= stack->n ? 0 :
		    stack->frames[stack->n - 1 - i].address;
	}
	n_wrong += is_wrong;
	kind = rules_find(&forgetting.scratch, pc).kind;
	n_in_code += kind < COMPACT_BAD;
	/* A return address in a register: such stacks are always partial. */
	if (kind == COMPACT_CODE_OTHER)
		n_other++;
	else if (!is_wrong && unwinder->end != UNWIND_COMPLETE)
		n_partial++;
	n_stacks++;
}

static void
handle(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	const uint64_t pc = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
	const uint64_t sp = (uint64_t)interrupted->uc_mcontext.gregs[REG_RSP];

	(void)number, (void)info;
	unwind_remember(&forgetting, 0);
	if (last_pc == 0) {
		unwind(&forgetting, context);
		n_base = forgetting.stack.n - 1;
		for (size_t i = 0; i < n_base && i < DEPTH_MAX; i++)
			base[i] = forgetting.stack.frames[n_base - 1 -
			    i].address;
		is_lost = forgetting.end != UNWIND_COMPLETE ||
		    n_base > DEPTH_MAX;
	} else {
		truth_follow(pc, sp);
		unwind(&forgetting, context);
		unwind(&remembering, context);
		/* What sets the flag moves the stack pointer by hand. */
		if (n_truths > 0) {
			compare(&forgetting, pc);
			compare(&remembering, pc);
		}
	}
	last_pc = pc;
	last_sp = sp;
}

static void
step_begin(void)
{
	struct sigaction action = { .sa_sigaction = handle,
	    .sa_flags = SA_SIGINFO };

	unwind_free(&remembering);
	unwind_free(&forgetting);
	readable_init(&remembering.readable,
	    (uintptr_t)__builtin_frame_address(0),
	    (uintptr_t)__libc_stack_end);
	forgetting.readable = remembering.readable;
	n_stacks = n_partial = n_other = n_wrong = n_in_code = n_truths = 0;
	last_pc = 0;
	is_lost = false;
	sigfillset(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
}

static void
show_frames(const char *what, const uint64_t frames[8])
{
	Dl_info info;

	print_message("  %s:", what);
	for (size_t i = 0; i < 8 && frames[i] != 0; i++)
		print_message(" %s+%#lx",
		    dladdr((void *)(uintptr_t)frames[i], &info) == 0 ? "" :
		    info.dli_sname != NULL ? info.dli_sname :
		    strrchr(info.dli_fname, '/') + 1, (unsigned long)(frames[i] -
		    (uintptr_t)(info.dli_saddr != NULL ? info.dli_saddr :
		    info.dli_fbase)));
	print_message("\n");
}

static void
show(const struct shown *one)
{
	print_message("wrong, end %d\n", (int)one->end);
	show_frames("found", one->found);
	show_frames("true", one->true_ones);
}

static void
step_report(const char *name, bool has_rules)
{
	print_message("%s: %lu stacks, %lu from code without tables, %lu with "
	              "the return address elsewhere, %lu partial, %lu wrong\n",
	              name, n_stacks, n_in_code, n_other, n_partial, n_wrong);
	for (size_t i = 0; has_rules && i < n_wrong && i < SHOWN_MAX; i++)
		show(&shown[i]);
	assert_false(is_lost);
	assert_true(n_stacks > 1000 && n_in_code > 500);
}

/* ---- cases ---- */

static void
run_compiled(void)
{
	static char name[] = "tableless", rounds[] = "1";
	char *words[] = { name, rounds, NULL };

	set_trace_flag(true);
	tableless_main(2, words);
	set_trace_flag(false);
}

static void
run_assembly(void)
{
	set_trace_flag(true);
	for (int i = 0; i < 8; i++)
		outer();
	set_trace_flag(false);
}

static void
without_rules_stacks_are_partial(void **state)
{
	(void)state;
	process.output = NULL;
	step_begin();
	run_compiled();
	step_report("compiled, without rules", false);
	assert_true(n_partial * 4 > n_stacks);
}

static void
stacks_are_true_at_each_instruction_of_compiled_code(void **state)
{
	(void)state;
	process.output = directory;
	write_rules(rules_bytes, rules_size);
	step_begin();
	run_compiled();
	step_report("compiled", true);
	assert_int_equal(n_wrong, 0);
	assert_true(n_partial * 100 < n_stacks);
}

static void
stacks_are_true_at_each_instruction_of_assembly(void **state)
{
	(void)state;
	step_begin();
	run_assembly();
	step_report("assembly", true);
	assert_int_equal(n_wrong, 0);
	assert_true(n_partial * 100 < n_stacks);
}

/* Functions that are never called, and have no tables, either. */
__asm__(".text\n"
        ".type told_callee, @function\n"
        "told_callee:\n\tnop\n\tret\n"
        ".type told_other, @function\n"
        "told_other:\n\tnop\n\tret\n"
        ".type told_tail, @function\n"
        "told_tail:\n\tjmp told_callee\n"
        ".type told_anywhere, @function\n"
        "told_anywhere:\n\tjmp *%rax\n"
        ".type told_caller, @function\n"
        "told_caller:\n\tcall told_tail\n"
        "told_direct:\n\tcall *%rax\n"
        "told_indirect:\n\tcall told_other\n"
        "told_second:\n\tcall told_anywhere\n"
        "told_third:\n\tcall abort@plt\n"
        "told_fourth:\n\tret\n");
extern const char told_callee[], told_other[], told_direct[],
    told_indirect[], told_second[], told_third[], told_fourth[];

static void
callers_have_called_what_is_left(void **state)
{
	const struct {
		const char *caller, *callee;
		enum tableless_answer answer;
	} cases[] = {
		{ told_direct, told_callee, TABLELESS_YES },
		{ told_direct, told_callee + 1, TABLELESS_YES },
		{ told_direct, told_other, TABLELESS_NO },
		{ told_indirect, told_other, TABLELESS_YES },
		{ told_second, told_other, TABLELESS_YES },
		{ told_second, told_other + 1, TABLELESS_YES },
		{ told_second, told_callee, TABLELESS_NO },
		{ told_third, told_callee, TABLELESS_YES },
		{ told_fourth, told_callee, TABLELESS_YES },
		/* No call is there. */
		{ told_callee + 1, told_other, TABLELESS_YES },
	};
	struct readable readable = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		print_message("case %zu\n", i);
		assert_int_equal(tableless_is_called(&readable,
		    (uintptr_t)cases[i].caller, (uintptr_t)cases[i].callee),
		    cases[i].answer);
	}
}

/* In a child process, since what was read is kept. */
static void
survive(const unsigned char *bytes, size_t size, void (*run)(void))
{
	int status;
	pid_t child;

	write_rules(bytes, size);
	child = fork();
	if (child == 0) {
		process.output = directory;
		step_begin();
		run();
		_exit(n_stacks > 100 ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
damaged_rules_are_survived(void **state)
{
	const int n_rounds = getenv("CHECK_QUICK") != NULL ? 4 : 40;
	unsigned char *damaged = malloc(rules_size + 4096);

	(void)state;
	assert_non_null(damaged);
	seed = 5;
	/* stdout of the program, which is repeated. */
	fflush(stdout);
	for (int round = 0; round < n_rounds; round++) {
		memcpy(damaged, rules_bytes, rules_size);
		/* The header stays: the file would not be opened. */
		for (size_t i = 0; i < rules_size / 50; i++)
			damaged[sizeof(struct cpprof_code_header) +
			    (size_t)(uniform() * (double)(rules_size -
			    sizeof(struct cpprof_code_header)))] =
			    (unsigned char)(uniform() * 256);
		survive(damaged, rules_size, round % 4 == 0 ? run_compiled :
		        run_assembly);
	}
	for (size_t i = 0; i < sizeof(struct cpprof_code_header); i++) {
		memcpy(damaged, rules_bytes, rules_size);
		damaged[i] ^= (unsigned char)(1 + uniform() * 255);
		survive(damaged, rules_size, run_assembly);
		survive(rules_bytes, i, run_assembly);
	}
	survive(rules_bytes, rules_size - 1, run_assembly);
	memset(damaged + rules_size, 0, 4096);
	survive(damaged, rules_size + 4096, run_assembly);
	free(damaged);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rules_stacks_are_partial),
		cmocka_unit_test(damaged_rules_are_survived),
		cmocka_unit_test(
		    stacks_are_true_at_each_instruction_of_compiled_code),
		cmocka_unit_test(
		    stacks_are_true_at_each_instruction_of_assembly),
		cmocka_unit_test(callers_have_called_what_is_left),
	};

	return cmocka_run_group_tests(tests, make_rules, remove_rules);
}
