/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-stack-unwinder.c -- stacks unwound by tables, and the tables' rules.
 *
 * Code of difficult shapes runs under the processor's trace flag, which raises
 * SIGTRAP after every instruction.  The handler saves the registers, a copy of
 * the stack and the result of _Unwind_Backtrace; walking the copy must give
 * the same.  Rules are compared with libdw's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "src/symbols/unwind/stack_unwinder.h"
#include "tests/programs/shapes.h"
#include "tests/single-step.h"

extern void *__libc_stack_end;

enum { STACK_MAX = 16384, FRAMES_MAX = 48, SNAPSHOTS_MAX = 10000 };

struct snapshot {
	uint64_t registers[X86_64_REGISTERS];
	uint64_t frames[FRAMES_MAX];	/* libgcc's, the handler's among them */
	size_t n_frames, stack_size;
	unsigned char *stack;
};

/* As musl's and Go's: the program's own, and without unwind tables. */
__asm__(".text\n\tnop\n"
        ".type own_sigreturn, @function\n"
        "own_sigreturn:\n\tmov $15, %rax\n\tsyscall\n"
        ".size own_sigreturn, . - own_sigreturn\n");
extern void own_sigreturn(void);

static struct snapshot *snapshots;
static size_t n_snapshots;

/* ---- what libgcc says ---- */

static _Unwind_Reason_Code
take_frame(struct _Unwind_Context *context, void *argument)
{
	struct snapshot *snapshot = argument;
	int is_exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(context, &is_exact);

	/* It counts an end marked by 0 as one more frame. */
	if (ip != 0 && snapshot->n_frames < FRAMES_MAX)
		snapshot->frames[snapshot->n_frames++] = ip - !is_exact;
	return _URC_NO_REASON;
}

/* Copies byte by byte, across the red zones of sanitizers. */
__attribute__((no_sanitize("address"))) static void
copy_stack(unsigned char *to, const volatile unsigned char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static void
handle(int number, siginfo_t *info, void *context)
{
	static const int from[X86_64_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX,
		REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
		REG_RIP };
	const greg_t *registers =
	    ((const ucontext_t *)context)->uc_mcontext.gregs;
	struct snapshot *snapshot = &snapshots[n_snapshots];
	uintptr_t begin = (uintptr_t)registers[REG_RSP];

	(void)number;
	(void)info;
	if (n_snapshots == SNAPSHOTS_MAX)
		return;
	n_snapshots++;
	for (int i = 0; i < X86_64_REGISTERS; i++)
		snapshot->registers[i] = (uint64_t)registers[from[i]];
	snapshot->n_frames = 0;
	_Unwind_Backtrace(take_frame, snapshot);
	snapshot->stack_size = (uintptr_t)__libc_stack_end - begin;
	if (snapshot->stack_size > STACK_MAX)
		snapshot->stack_size = STACK_MAX;
	copy_stack(snapshot->stack, (const unsigned char *)begin,
	           snapshot->stack_size);
}

static int
begin(void **state)
{
	unsigned char *stacks;

	(void)state;
	snapshots = calloc(SNAPSHOTS_MAX, sizeof *snapshots);
	stacks = calloc(SNAPSHOTS_MAX, STACK_MAX);
	if (snapshots == NULL || stacks == NULL)
		return -1;
	for (size_t i = 0; i < SNAPSHOTS_MAX; i++)
		snapshots[i].stack = stacks + i * STACK_MAX;
	return 0;
}

static int
end(void **state)
{
	(void)state;
	free(snapshots[0].stack);
	free(snapshots);
	return 0;
}

/* ---- what walking the copy says ---- */

/* The module of an address, and the address in it. */
static bool
find_module(uint64_t address, struct module_file *module, uint32_t *number,
            uint64_t *in_module)
{
	static struct link_map *known[64];
	struct link_map *map = NULL;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)address, &info, (void **)&map,
	            RTLD_DL_LINKMAP) == 0)
		return false;
	for (*number = 0; known[*number] != NULL; ++*number)
		if (known[*number] == map)
			break;
	known[*number] = map;
	*module = (struct module_file){ .path = map->l_name[0] == '\0' ?
		"/proc/self/exe" : map->l_name };
	*in_module = address - map->l_addr;
	return true;
}

static size_t
walk(struct stack_unwinder *unwinder, const struct snapshot *snapshot,
     uint64_t frames[FRAMES_MAX])
{
	struct stack_frame frame = { .arch = &dwarf_x86_64,
		.is_interrupted = true, .stack = snapshot->stack,
		.stack_size = snapshot->stack_size,
		.stack_start = snapshot->registers[X86_64_RSP] };
	struct error error = { 0 };
	int found = 1;
	size_t n = 0;

	memcpy(frame.registers.value, snapshot->registers,
	       sizeof snapshot->registers);
	frame.registers.known = UINT64_MAX;
	while (found > 0 && n < FRAMES_MAX) {
		uint64_t address = stack_frame_address(&frame), in_module;
		struct module_file module;
		uint32_t number;

		frames[n++] = address;
		if (!find_module(address, &module, &number, &in_module))
			return n;
		found = stack_unwinder_step(unwinder, &module, number,
		                            in_module, &frame, &error);
		assert_int_not_equal(found, -1);
	}
	return n;
}

/* A thread that is in the kernel for its last system call is behind that. */
static void
compare_in_kernel(struct stack_unwinder *unwinder,
                  const struct snapshot *snapshot, const uint64_t *frames,
                  size_t n)
{
	struct snapshot behind = *snapshot;
	uint64_t own[FRAMES_MAX];

	behind.registers[X86_64_RIP] += 2;
	assert_int_equal(walk(unwinder, &behind, own), n);
	assert_memory_equal(own + 1, frames + 1, (n - 1) * sizeof *own);
}

static void
compare(struct stack_unwinder *unwinder, const struct snapshot *snapshot)
{
	/* libgcc has no way from the system call itself. */
	const uint64_t call = (uint64_t)(uintptr_t)own_sigreturn + 7;
	uint64_t own[FRAMES_MAX];
	size_t n = walk(unwinder, snapshot, own), first = 0;

	while (first < snapshot->n_frames && snapshot->frames[first] != own[0])
		first++;
	if (own[0] == call && n > 3) {
		compare_in_kernel(unwinder, snapshot, own, n);
		return;
	}
	if (n == snapshot->n_frames - first &&
	    memcmp(own, snapshot->frames + first, n * sizeof *own) == 0)
		return;
	for (size_t i = 0; i < n; i++)
		print_message("own %2zu %#lx\n", i, (unsigned long)own[i]);
	for (size_t i = first; i < snapshot->n_frames; i++)
		print_message("gcc %2zu %#lx\n", i - first,
		              (unsigned long)snapshot->frames[i]);
	fail_msg("%zu frames, libgcc %zu", n, snapshot->n_frames - first);
}

static void
step_through(unsigned (*shape)(unsigned), unsigned n)
{
	struct sigaction action = { .sa_sigaction = handle,
	    .sa_flags = SA_SIGINFO };
	struct error error = { 0 };
	struct stack_unwinder *unwinder = stack_unwinder_new(&error);

	assert_non_null(unwinder);
	shape(n);		/* so that the linker has bound its calls */
	n_snapshots = 0;
	sigaction(SIGTRAP, &action, NULL);
	set_trace_flag(true);
	shape(n);
	set_trace_flag(false);
	for (size_t i = 0; i < n_snapshots; i++)
		compare(unwinder, &snapshots[i]);
	print_message("%zu stacks\n", n_snapshots);
	assert_true(n_snapshots > 200);
	stack_unwinder_free(unwinder);
}

#define STEPPED(shape, n) \
	static void \
	unwinding_agrees_with_libgcc_in_##shape(void **state) \
	{ \
		(void)state; \
		step_through(shape_##shape, n); \
	}

STEPPED(recursion, 15)
STEPPED(callback, 12)
STEPPED(variable, 6)
STEPPED(realigned, 4)
STEPPED(library, 2)
STEPPED(jump, 3)

/* ---- signals ---- */

/* The kernel has cleared the flag, and sets it again when this has returned. */
static void
handle_stepped(int number)
{
	set_trace_flag(true);
	shape_recursion((unsigned)number % 3);
}

__attribute__((noinline)) static unsigned
shape_handled(unsigned n)
{
	/* The kernel's structure. */
	const struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} own = { handle_stepped, 0x04000000, own_sigreturn, 0 };

	syscall(SYS_rt_sigaction, SIGUSR1, &own, NULL, 8);
	for (unsigned i = 0; i < n; i++)
		raise(SIGUSR1);
	return n;
}

STEPPED(handled, 4)

/* ---- rules ---- */

/* Whether libdw's rule for a register equals ours. */
static void
compare_rule(Dwarf_Frame *frame, unsigned number, const struct cfi_row *row)
{
	const unsigned kind = row->kinds[number];
	Dwarf_Op place[3], *ops;
	size_t n;

	assert_int_equal(dwarf_frame_register(frame, (int)number, place, &ops,
	                                      &n), 0);
	if (n == 0) {
		assert_true(kind <= CFI_SAME);
		return;
	}
	if (number == X86_64_RSP && kind == CFI_UNSPECIFIED) {
		assert_int_equal(ops[n - 1].atom, DW_OP_stack_value);
		return;
	}
	if (ops[0].atom == DW_OP_call_frame_cfa &&
	    (n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		assert_int_equal(kind, CFI_OFFSET);
		assert_int_equal(row->operands[number].offset,
		                 n == 2 ? ops[1].number : 0);
		return;
	}
	assert_true(kind > CFI_VALUE_OFFSET);
}

static void
compare_row(Dwarf_Frame *frame, const struct cfi_row *row)
{
	bool is_signal = false;
	Dwarf_Op *ops;
	size_t n;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	if (row->kinds[CFI_CFA] == CFI_REGISTER) {
		assert_int_equal(n, 1);
		assert_int_equal(ops->atom, DW_OP_bregx);
		assert_int_equal(ops->number, row->cfa_register);
		assert_int_equal(ops->number2, row->operands[CFI_CFA].offset);
	} else {
		assert_int_equal(row->kinds[CFI_CFA], CFI_VALUE_EXPRESSION);
		assert_true(n > 0);
	}
	for (unsigned i = 0; i < X86_64_REGISTERS; i++)
		compare_rule(frame, i, row);
	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	assert_int_equal(is_signal, row->is_signal);
}

/* Where a thread is seen that is in the kernel, which libdw does not know. */
static bool
is_behind_sigreturn(uint64_t address)
{
	const int size = dwarf_x86_64.sigreturn_size;

	return memcmp((const void *)(uintptr_t)(address - (uint64_t)size),
	              dwarf_x86_64.sigreturn, (size_t)size) == 0;
}

static void
unwind_rules_are_libdws_all_over_libc(void **state)
{
	struct link_map *map = dlopen("libc.so.6", RTLD_NOW);
	struct error error = { 0 };
	static struct cfi_scratch scratch;
	struct module_file module = { 0 };
	struct unwind_table *table;
	struct elf_file file;
	GElf_Shdr text;
	Dwarf_CFI *cfi;
	size_t n = 0;

	(void)state;
	assert_non_null(map);
	module.path = map->l_name;
	assert_int_equal(elf_file_open(&file, map->l_name), ELF_FILE_OPEN);
	assert_non_null(elf_file_named_section(&file, ".text", &text));
	table = unwind_table_read(&module, &error);
	assert_non_null(table);
	cfi = dwarf_getcfi_elf(file.elf);
	for (uint64_t i = 0; i < text.sh_size; i += 5) {
		uint64_t address = text.sh_addr + i;
		Dwarf_Frame *frame = NULL;

		if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
			assert_int_equal(unwind_table_find(table, &module,
			                                   address, &scratch),
			                 is_behind_sigreturn(map->l_addr +
			                                     address));
			continue;
		}
		assert_true(unwind_table_find(table, &module, address,
		                              &scratch));
		compare_row(frame, &scratch.row);
		free(frame);
		n++;
	}
	assert_true(n > text.sh_size / 10);
	unwind_table_free(table);
	dwarf_cfi_end(cfi);
	elf_file_close(&file);
	dlclose(map);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_recursion),
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_callback),
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_variable),
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_realigned),
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_library),
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_jump),
		cmocka_unit_test(unwinding_agrees_with_libgcc_in_handled),
		cmocka_unit_test(unwind_rules_are_libdws_all_over_libc),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
