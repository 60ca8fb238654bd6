/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-stack-unwinder.c -- stacks unwound by tables, and the tables' rules.
 *
 * Code of hard shapes runs under the processor's trace flag, which raises
 * SIGTRAP after every instruction.  The handler keeps registers, a copy of the
 * stack and what _Unwind_Backtrace says of it; walking the copy must give the
 * same.  Rules are compared with libdw's.
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
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "src/symbols/stack_unwinder.h"
#include "src/symbols/unwind_expression.h"
#include "src/symbols/unwind_table.h"
#include "tests/programs/shapes.h"
#include "tests/single-step.h"

extern void *__libc_stack_end;

enum { STACK_MAX = 16384, FRAMES_MAX = 48, SNAPSHOTS_MAX = 10000 };

struct snapshot {
	uint64_t registers[STACK_REGISTERS];
	uint64_t frames[FRAMES_MAX];	/* libgcc's, the handler's among them */
	size_t n_frames, stack_size;
	unsigned char *stack;
};

static struct snapshot *snapshots;
static size_t n_snapshots;

/* ---- what libgcc says ---- */

static _Unwind_Reason_Code
take_frame(struct _Unwind_Context *context, void *argument)
{
	struct snapshot *snapshot = argument;
	int is_exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(context, &is_exact);

	/* It takes an end that is marked by 0 for one more. */
	if (ip != 0 && snapshot->n_frames < FRAMES_MAX)
		snapshot->frames[snapshot->n_frames++] = ip - !is_exact;
	return _URC_NO_REASON;
}

/* Byte by byte, past what a sanitizer puts between variables. */
__attribute__((no_sanitize("address"))) static void
copy_stack(unsigned char *to, const volatile unsigned char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static void
handle(int number, siginfo_t *info, void *context)
{
	static const int from[STACK_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX,
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
	for (int i = 0; i < STACK_REGISTERS; i++)
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
	struct stack_frame frame = { .is_interrupted = true,
		.stack = snapshot->stack, .stack_size = snapshot->stack_size,
		.stack_start = snapshot->registers[STACK_RSP] };
	struct error error = { 0 };
	int found = 1;
	size_t n = 0;

	memcpy(frame.registers, snapshot->registers, sizeof frame.registers);
	while (found > 0 && n < FRAMES_MAX) {
		uint64_t address = frame.registers[STACK_RIP] -
		                   !frame.is_interrupted, in_module;
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

static void
compare(struct stack_unwinder *unwinder, const struct snapshot *snapshot)
{
	uint64_t own[FRAMES_MAX];
	size_t n = walk(unwinder, snapshot, own), first = 0;

	while (first < snapshot->n_frames && snapshot->frames[first] != own[0])
		first++;
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

/* ---- rules ---- */

/* Whether libdw's rule for a register is ours. */
static void
compare_rule(Dwarf_Frame *frame, int number, const struct unwind_rule *rule)
{
	Dwarf_Op place[3], *ops;
	size_t n;

	assert_int_equal(dwarf_frame_register(frame, number, place, &ops, &n),
	                 0);
	if (n == 0) {
		assert_true(rule->kind <= UNWIND_SAME);
		return;
	}
	if (number == STACK_RSP && rule->kind == UNWIND_UNSPECIFIED) {
		assert_int_equal(ops[n - 1].atom, DW_OP_stack_value);
		return;
	}
	if (ops[0].atom == DW_OP_call_frame_cfa &&
	    (n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		assert_int_equal(rule->kind, UNWIND_SAVED);
		assert_int_equal(rule->offset, n == 2 ? ops[1].number : 0);
		return;
	}
	assert_true(rule->kind > UNWIND_VALUE);
}

static void
compare_row(Dwarf_Frame *frame, const struct unwind_row *row)
{
	bool is_signal = false;
	Dwarf_Op *ops;
	size_t n;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &n), 0);
	if (row->cfa.kind == UNWIND_REGISTER) {
		assert_int_equal(n, 1);
		assert_int_equal(ops->atom, DW_OP_bregx);
		assert_int_equal(ops->number, row->cfa.cfa_register);
		assert_int_equal(ops->number2, row->cfa.offset);
	} else {
		assert_int_equal(row->cfa.kind, UNWIND_COMPUTED);
		assert_true(n > 0);
	}
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		compare_rule(frame, i, &row->rules[i]);
	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	assert_int_equal(is_signal, row->is_signal);
}

static void
unwind_rules_are_libdws_all_over_libc(void **state)
{
	struct link_map *map = dlopen("libc.so.6", RTLD_NOW);
	struct error error = { 0 };
	struct unwind_table *table;
	struct elf_file file;
	GElf_Shdr text;
	Dwarf_CFI *cfi;
	size_t n = 0;

	(void)state;
	assert_non_null(map);
	assert_int_equal(elf_file_open(&file, map->l_name), ELF_FILE_OPEN);
	assert_non_null(elf_file_named_section(&file, ".text", &text));
	table = unwind_table_read(&(struct module_file){ .path =
	                          map->l_name }, &error);
	assert_non_null(table);
	cfi = dwarf_getcfi_elf(file.elf);
	for (uint64_t i = 0; i < text.sh_size; i += 5) {
		uint64_t address = text.sh_addr + i;
		Dwarf_Frame *frame = NULL;
		struct unwind_row row;

		if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
			assert_false(unwind_table_find(table, address, &row));
			continue;
		}
		assert_true(unwind_table_find(table, address, &row));
		compare_row(frame, &row);
		free(frame);
		n++;
	}
	assert_true(n > text.sh_size / 10);
	unwind_table_free(table);
	dwarf_cfi_end(cfi);
	elf_file_close(&file);
	dlclose(map);
}

/* A section in the making. */
struct making {
	unsigned char bytes[512];
	size_t n;
};

static void
put(struct making *making, const void *bytes, size_t n)
{
	memcpy(making->bytes + making->n, bytes, n);
	making->n += n;
}

static void
put_number(struct making *making, uint64_t number, size_t n)
{
	put(making, &number, n);
}

/* One CIE with rsp + 8 and the return address at CFA - 8, and one FDE. */
static struct unwind_section
make_section(struct making *making, bool is_debug, const void *rules,
             size_t n)
{
	static const unsigned char common[] = { 1, 0x78, 16,
		0x0c, 7, 8, 0x80 | 16, 1 };
	size_t before = is_debug ? 4 + 1 + 1 + 2 : 4 + 1 + 1;

	making->n = 0;
	put_number(making, before + sizeof common, 4);
	put_number(making, is_debug ? UINT32_MAX : 0, 4);
	put_number(making, is_debug ? 4 : 1, 1);
	put_number(making, 0, 1);
	if (is_debug)
		put_number(making, 8, 2);	/* no segments */
	put(making, common, sizeof common);
	put_number(making, 4 + 16 + n, 4);
	put_number(making, is_debug ? 0 : making->n, 4);
	put_number(making, 0x1000, 8);
	put_number(making, 0x100, 8);
	put(making, rules, n);
	return (struct unwind_section){ .bytes = bytes_of(making->bytes,
		making->n), .pointer_size = 8, .is_debug = is_debug };
}

static bool
find_rules(const struct unwind_section *section, uint64_t address,
           struct unwind_row *row)
{
	struct unwind_entry entry = { 0 };
	size_t offset = 0;

	return unwind_entries_next(section, &offset, &entry, NULL) &&
	    unwind_rules_at(section, &entry, address, row);
}

static void
assert_rule(const struct unwind_row *row, unsigned number,
            enum unwind_rule_kind kind, int64_t offset)
{
	assert_int_equal(row->rules[number].kind, kind);
	assert_int_equal(row->rules[number].offset, offset);
}

static const unsigned char all_rules[] = {
	0x0a,				/* remember_state */
	0x0e, 16, 0x83, 2,		/* def_cfa_offset, offset rbx */
	0x41,				/* advance_loc 1 */
	0x0d, 6,			/* def_cfa_register */
	0x05, 12, 3, 0x11, 13, 0x7e,	/* offset_extended, and signed: -2 */
	0x14, 14, 1, 0x15, 15, 0x7f,	/* val_offset, and signed: -1 */
	0x09, 0, 1,			/* register: rax is in rdx */
	0x07, 2, 0x08, 3,		/* undefined, same_value */
	0x2f, 8, 2, 0x2e, 24,		/* GNU: negative offset, args_size */
	0x05, 99, 1,			/* of no register that is known */
	0x02, 1,			/* advance_loc1 */
	0xc0 | 16, 0x06, 12, 0x07, 16,	/* restore, restore_extended */
	0x03, 1, 0,			/* advance_loc2 */
	0x0b,				/* restore_state */
	0x04, 1, 0, 0, 0,		/* advance_loc4 */
	0x12, 6, 0x7c, 0x10, 3, 1, 0x9c, /* def_cfa_sf, expression */
	0x16, 12, 2, 0x08, 5,		/* val_expression */
	0x01, 0x08, 0x10, 0, 0, 0, 0, 0, 0, /* set_loc 0x1008 */
	0x13, 0x7b, 0x0f, 2, 0x77, 8,	/* def_cfa_offset_sf, _expression */
};

static void
check_all_rules(const struct unwind_section *section)
{
	struct unwind_row row;

	assert_true(find_rules(section, 0x1000, &row));
	assert_int_equal(row.cfa.cfa_register, STACK_RSP);
	assert_int_equal(row.cfa.offset, 16);
	assert_rule(&row, 3, UNWIND_SAVED, -16);
	assert_rule(&row, STACK_RIP, UNWIND_SAVED, -8);
	assert_true(find_rules(section, 0x1001, &row));
	assert_int_equal(row.cfa.cfa_register, STACK_RBP);
	assert_rule(&row, 12, UNWIND_SAVED, -24);
	assert_rule(&row, 13, UNWIND_SAVED, 16);
	assert_rule(&row, 14, UNWIND_VALUE, -8);
	assert_rule(&row, 15, UNWIND_VALUE, 8);
	assert_rule(&row, 0, UNWIND_REGISTER, 1);
	assert_rule(&row, 2, UNWIND_UNDEFINED, 0);
	assert_rule(&row, 3, UNWIND_SAME, 0);
	assert_rule(&row, 8, UNWIND_SAVED, 16);
	assert_true(find_rules(section, 0x1002, &row));
	assert_rule(&row, 12, UNWIND_UNSPECIFIED, 0);
	assert_rule(&row, STACK_RIP, UNWIND_UNDEFINED, 0);
	assert_true(find_rules(section, 0x1003, &row));
	assert_int_equal(row.cfa.offset, 8);
	assert_rule(&row, 3, UNWIND_UNSPECIFIED, 0);
	assert_true(find_rules(section, 0x1004, &row));
	assert_int_equal(row.cfa.offset, 32);
	assert_int_equal(row.rules[3].kind, UNWIND_SAVED_AT);
	assert_int_equal(row.rules[12].kind, UNWIND_COMPUTED);
	assert_int_equal(row.rules[12].size, 2);
	assert_true(find_rules(section, 0x1008, &row));
	assert_int_equal(row.cfa.kind, UNWIND_COMPUTED);
}

static void
unwind_rules_know_every_instruction(void **state)
{
	struct unwind_section section;
	struct making making;

	(void)state;
	section = make_section(&making, false, all_rules, sizeof all_rules);
	check_all_rules(&section);
	section = make_section(&making, true, all_rules, sizeof all_rules);
	check_all_rules(&section);
}

/* In memory of just that size, so that a tool sees a byte too much read. */
static void
unwind_rules_cut_at_every_byte_read_nothing_behind(void **state)
{
	struct making making;

	(void)state;
	for (int is_debug = 0; is_debug < 2; is_debug++) {
		struct unwind_section section = make_section(&making, is_debug,
		    all_rules, sizeof all_rules);
		size_t size = making.n;

		for (size_t n = 0; n <= size; n++) {
			unsigned char *exact = malloc(n > 0 ? n : 1);
			struct unwind_row row;

			memcpy(exact, making.bytes, n);
			section.bytes = bytes_of(exact, n);
			assert_int_equal(find_rules(&section, 0x1008, &row),
			                 n == size);
			free(exact);
		}
	}
}

static void
unwind_rules_end_where_they_are_too_many_or_wrong(void **state)
{
	static const struct {
		unsigned char rules[24];
		size_t n;
	} wrong[] = {
		{ { 0x0b }, 1 },		/* nothing is remembered */
		{ { 0x3f }, 1 },		/* no instruction */
		{ { 0x0d, 17 }, 2 },		/* no register */
		{ { 0x10, 3, 9, 0x9c }, 4 },	/* an expression cut off */
		{ { 0x0f, 1, 0x9c, 0x0e, 8 }, 5 },	/* no offset to set */
		{ "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"
		  "\x0a\x0a\x0a\x0a", 17 },
	};
	struct unwind_section section;
	struct unwind_row row;
	struct making making;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		section = make_section(&making, false, wrong[i].rules,
		                       wrong[i].n);
		assert_false(find_rules(&section, 0x1080, &row));
	}
}

/* ---- expressions ---- */

struct computed {
	unsigned char expression[16];
	size_t n;
	uint64_t value;
};

static const struct computed computations[] = {
	{ { 0x77, 8 }, 2, 0x2008 },		/* breg7 + 8 */
	{ { 0x92, 7, 0x78 }, 3, 0x1ff8 },	/* bregx 7, -8 */
	{ { 0x77, 8, 0x06 }, 3, 0x8877665544332211 },	/* deref */
	{ { 0x77, 8, 0x94, 2 }, 4, 0x2211 },	/* deref_size */
	{ { 0x35, 0x33, 0x1c }, 3, 2 },		/* 5 - 3 */
	{ { 0x35, 0x33, 0x16, 0x1c }, 4, UINT64_C(-2) },	/* swap */
	{ { 0x35, 0x33, 0x14, 0x22, 0x22 }, 5, 13 },	/* over, plus */
	{ { 0x35, 0x12, 0x1e }, 3, 25 },	/* dup, mul */
	{ { 0x35, 0x33, 0x15, 1, 0x13, 0x21 }, 6, 7 },	/* pick, drop, or */
	{ { 0x35, 0x1f, 0x19 }, 3, 5 },		/* neg, abs */
	{ { 0x30, 0x20 }, 2, UINT64_MAX },	/* not */
	{ { 0x35, 0x33, 0x1a }, 3, 1 },		/* and */
	{ { 0x35, 0x33, 0x27 }, 3, 6 },		/* xor */
	{ { 0x31, 0x3f, 0x24 }, 3, 0x8000 },	/* shl */
	{ { 0x09, 0x80, 0x34, 0x26 }, 4, UINT64_C(-8) },	/* shra */
	{ { 0x09, 0x80, 0x08, 60, 0x25 }, 5, 15 },	/* shr */
	{ { 0x0b, 0xfe, 0xff, 0x30, 0x2d }, 5, 1 },	/* -2 < 0 */
	{ { 0x35, 0x35, 0x2a }, 3, 1 },		/* ge */
	{ { 0x10, 0x80, 1, 0x23, 2 }, 5, 130 },	/* constu, plus_uconst */
	{ { 0x11, 0x7f }, 2, UINT64_MAX },	/* consts */
	{ { 0x31, 0x28, 1, 0, 0x96, 0x39 }, 6, 9 },	/* bra, nop */
	{ { 0x2f, 2, 0, 0x06, 0x06, 0x32 }, 6, 2 },	/* skip */
	{ { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 11,
	  0x2008 + 8 },				/* .plt's */
};

static struct stack_frame
made_frame(void)
{
	static const unsigned char stack[16] = { 0, 0, 0, 0, 0, 0, 0, 0,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };

	return (struct stack_frame){ .registers = { [STACK_RSP] = 0x2000,
		[STACK_RIP] = 0x100b }, .stack = stack, .stack_size = 16,
		.stack_start = 0x2000 };
}

static void
unwind_expression_computes(void **state)
{
	const struct stack_frame frame = made_frame();

	(void)state;
	for (size_t i = 0; i < sizeof computations / sizeof *computations;
	     i++) {
		const struct computed *computed = &computations[i];
		const struct unwind_rule rule = {
			.size = (uint32_t)computed->n,
			.expression = computed->expression };
		uint64_t value;

		assert_true(unwind_expression_evaluate(&rule, &frame, NULL,
		                                       &value));
		assert_int_equal(value, computed->value);
	}
}

static void
unwind_expression_gives_up(void **state)
{
	static const struct computed wrong[] = {
		{ { 0x22 }, 1, 0 },		/* nothing to add */
		{ { 0x30, 0x06 }, 2, 0 },	/* memory that is not there */
		{ { 0x77, 9, 0x06 }, 3, 0 },	/* nor at the end */
		{ { 0x77, 0, 0x94, 9 }, 4, 0 },
		{ { 0x2f, 0xfd, 0xff }, 3, 0 },	/* for ever */
		{ { 0x2f, 0xfc, 0xff }, 3, 0 },	/* out of it */
		{ { 0x30, 0x2f, 0xfc, 0xff }, 4, 0 },	/* too deep */
		{ { 0x08 }, 1, 0 },
		{ { 0xff }, 1, 0 },
		{ { 0 }, 0, 0 },
	};
	const struct stack_frame frame = made_frame();

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const struct unwind_rule rule = {
			.size = (uint32_t)wrong[i].n,
			.expression = wrong[i].expression };
		uint64_t value;

		assert_false(unwind_expression_evaluate(&rule, &frame, NULL,
		                                        &value));
	}
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
		cmocka_unit_test(unwind_rules_are_libdws_all_over_libc),
		cmocka_unit_test(unwind_rules_know_every_instruction),
		cmocka_unit_test(
		    unwind_rules_cut_at_every_byte_read_nothing_behind),
		cmocka_unit_test(
		    unwind_rules_end_where_they_are_too_many_or_wrong),
		cmocka_unit_test(unwind_expression_computes),
		cmocka_unit_test(unwind_expression_gives_up),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
