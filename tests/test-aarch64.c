/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-aarch64.c -- frames of AArch64 without rules, or without enough of them.
 *
 * The files are made here, instruction by instruction.  tests/aarch64.py has
 * whole stacks of real programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/symbols/unwind/stack_unwinder.h"

enum {
	TEXT = 0x1000, X86_SIGRETURN = TEXT + 0x10, PLT = 0x2000, EH_FRAME = 0x3000,
	SIGRETURN = TEXT + 0x44,
	FRAMED = TEXT + 0x80,		/* sp + 48, a record at its start */
	UNFRAMED = TEXT + 0x90,		/* sp + 48, only x30 is saved */
	TRAMPOLINE = TEXT + 0xa0,	/* marked as one for signals */
	RULELESS = TEXT + 0xc0,
	REVERSED = TEXT + 0xd0,		/* sp + 48, x30 is saved before x29 */
	STACK = 0x7000,
	CONTEXT = STACK + 312,		/* registers in an rt_sigframe */
};

/* ---- the file ---- */

struct file_part {
	const char *name;
	uint64_t address;
	const void *bytes;
	size_t size;
};

static const uint32_t mov_x8_139 = 0xd2801168, svc_0 = 0xd4000001,
    push_x16_x30 = 0xa9bf7bf0, bti_c = 0xd503245f;

static char path[] = "/tmp/cpprof-aarch64-XXXXXX";

static void
write_file(uint16_t machine, const struct file_part *parts, size_t n)
{
	static const char names[] = "\0.text\0.plt\0.eh_frame\0.shstrtab";
	Elf64_Shdr sections[6] = { 0 };
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
		ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
		.e_machine = machine, .e_version = EV_CURRENT,
		.e_ehsize = sizeof header, .e_shentsize = sizeof *sections,
		.e_shnum = (uint16_t)(n + 2), .e_shstrndx = (uint16_t)(n + 1),
		.e_shoff = sizeof header };
	uint64_t at = sizeof header + (n + 2) * sizeof *sections;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (size_t i = 0; i <= n; i++) {
		const struct file_part names_part = { ".shstrtab", 0, names,
			sizeof names };
		const struct file_part *part = i < n ? &parts[i] : &names_part;
		size_t name = 0;

		while (strcmp(names + name, part->name) != 0)
			name++;
		sections[i + 1] = (Elf64_Shdr){ .sh_name = (uint32_t)name,
			.sh_type = i < n ? SHT_PROGBITS : SHT_STRTAB,
			.sh_flags = strcmp(part->name, ".eh_frame") != 0 &&
			    i < n ? SHF_EXECINSTR | SHF_ALLOC : 0,
			.sh_addr = part->address, .sh_offset = at,
			.sh_size = part->size };
		at += part->size;
	}
	fwrite(&header, sizeof header, 1, file);
	fwrite(sections, sizeof *sections, n + 2, file);
	for (size_t i = 0; i < n; i++)
		fwrite(parts[i].bytes, 1, parts[i].size, file);
	fwrite(names, 1, sizeof names, file);
	assert_int_equal(fclose(file), 0);
}

static size_t
put_entry(unsigned char *section, size_t at, uint32_t id, const void *bytes,
          size_t n)
{
	const uint32_t size = (uint32_t)(4 + n);

	memcpy(section + at, &size, 4);
	memcpy(section + at + 4, &id, 4);
	memcpy(section + at + 8, bytes, n);
	return at + 8 + n;
}

/* The range, and its program: sp + 48, and what is saved. */
static size_t
put_function(unsigned char *section, size_t at, size_t cie, uint64_t start,
             const void *rules, size_t n)
{
	const uint64_t range[] = { start, 16 };
	unsigned char bytes[16 + 1 + 16] = { 0 };

	memcpy(bytes, range, sizeof range);
	memcpy(bytes + 17, rules, n);
	return put_entry(section, at, (uint32_t)(at + 4 - cie), bytes, 17 + n);
}

static void
make_file(uint16_t machine, bool has_bti)
{
	static const unsigned char
	    common[] = { 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0, 0x0c, 31, 0 },
	    trampoline[] = { 1, 'z', 'R', 'S', 0, 4, 0x78, 30, 1, 0,
		0x0c, 29, 0, 0x9d, 0, 0x05, 30, 1 },
	    framed[] = { 0x0e, 48, 0x80 | 29, 6, 0x80 | 30, 5 },
	    unframed[] = { 0x0e, 48, 0x80 | 30, 6 },
	    reversed[] = { 0x0e, 48, 0x80 | 30, 6, 0x80 | 29, 5 };
	uint32_t text[64] = { 0 }, plt[16] = { 0 };
	unsigned char section[256] = { 0 };
	size_t cie, n;

	text[(SIGRETURN - TEXT) / 4] = text[(TRAMPOLINE - TEXT) / 4] =
	    mov_x8_139;
	text[(SIGRETURN - TEXT) / 4 + 1] = text[(TRAMPOLINE - TEXT) / 4 + 1] =
	    svc_0;
	memcpy((char *)text + X86_SIGRETURN - TEXT, dwarf_x86_64.sigreturn,
	       dwarf_x86_64.sigreturn_size);
	plt[0] = has_bti ? bti_c : push_x16_x30;
	plt[1] = has_bti ? push_x16_x30 : 0;
	n = put_entry(section, 0, 0, common, sizeof common);
	n = put_function(section, n, 0, FRAMED, framed, sizeof framed);
	n = put_function(section, n, 0, UNFRAMED, unframed, sizeof unframed);
	n = put_function(section, n, 0, REVERSED, reversed, sizeof reversed);
	cie = n;
	n = put_entry(section, n, 0, trampoline, sizeof trampoline);
	n = put_function(section, n, cie, TRAMPOLINE - 4, "", 0);
	write_file(machine, (struct file_part[]){
		{ ".text", TEXT, text, sizeof text },
		{ ".plt", PLT, plt, sizeof plt },
		{ ".eh_frame", EH_FRAME, section, n },
	}, 3);
}

/* ---- a step ---- */

static uint64_t stack[256];
static struct stack_frame frame;

static void
set_word(uint64_t address, uint64_t value)
{
	stack[(address - STACK) / 8] = value;
}

/* All registers have a value of their own. */
static void
stand_at(uint64_t pc, bool is_interrupted)
{
	frame = (struct stack_frame){ .arch = &dwarf_aarch64,
		.registers.known = UINT64_MAX,
		.is_interrupted = is_interrupted,
		.stack = (const unsigned char *)stack,
		.stack_start = STACK, .stack_size = sizeof stack };
	for (unsigned i = 0; i < AARCH64_REGISTERS; i++)
		frame.registers.value[i] = 0x9000 + i;
	frame.registers.value[AARCH64_SP] = STACK;
	frame.registers.value[AARCH64_PC] = pc;
}

static int
step_in(const char *module_path)
{
	static uint32_t number;
	const struct module_file module = { .path = module_path };
	struct error error = { 0 };
	struct stack_unwinder *unwinder = stack_unwinder_new(&error);
	int found = stack_unwinder_step(unwinder, &module, number++,
	    stack_frame_address(&frame), &frame, &error);

	stack_unwinder_free(unwinder);
	return found;
}

static int
begin(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	/* As compilers make it: a profile that has no more than its name may only
	 * lead to files that everyone may read. */
	if (fd >= 0 && fchmod(fd, 0644) == 0)
		close(fd);
	make_file(EM_AARCH64, false);
	return fd >= 0 ? 0 : -1;
}

static int
end(void **state)
{
	(void)state;
	return unlink(path);
}

static int
clear(void **state)
{
	(void)state;
	memset(stack, 0, sizeof stack);
	return 0;
}

/* ---- signals ---- */

/* A context with values of its own, whose stack is above. */
static void
put_context(void)
{
	for (unsigned i = 0; i < AARCH64_REGISTERS; i++)
		set_word(CONTEXT + 8 * i, 0xa000 + i);
	set_word(CONTEXT + 8 * AARCH64_SP, STACK + 0x600);
	set_word(CONTEXT + 8 * AARCH64_PC, RULELESS);
}

static void
assert_interrupted(void)
{
	assert_true(frame.is_interrupted);
	for (unsigned i = 0; i <= AARCH64_X30; i++)
		assert_int_equal(frame.registers.value[i], 0xa000 + i);
	assert_int_equal(stack_frame_sp(&frame), STACK + 0x600);
	assert_int_equal(stack_frame_pc(&frame), RULELESS);
	assert_int_equal(frame.return_at, CONTEXT + 8 * AARCH64_PC);
	assert_true(frame.registers.known & CFI_BIT(AARCH64_X30));
}

static void
handlers_return_to_code_that_is_recognised(void **state)
{
	(void)state;
	put_context();
	stand_at(SIGRETURN, false);
	assert_int_equal(step_in(path), 1);
	assert_interrupted();
	stand_at(SIGRETURN, true);	/* before the call, and at it */
	assert_int_equal(step_in(path), 1);
	assert_interrupted();
	stand_at(SIGRETURN + 4, true);
	assert_int_equal(step_in(path), 1);
	assert_interrupted();
	stand_at(SIGRETURN - 4, true);
	assert_int_equal(step_in(path), 0);
	stand_at(SIGRETURN + 8, true);	/* in the kernel */
	assert_int_equal(step_in(path), 1);
	assert_interrupted();
	stand_at(SIGRETURN + 12, true);
	assert_int_equal(step_in(path), 0);
}

/* Those of older kernels' vdso give x30 where the pc is needed. */
static void
rules_of_trampolines_are_not_enough(void **state)
{
	(void)state;
	put_context();
	stand_at(TRAMPOLINE, false);
	assert_int_equal(step_in(path), 1);
	assert_interrupted();
}

/* Of another machine, the vdso is not to be had. */
static void
handlers_return_to_the_vdso(void **state)
{
	(void)state;
	put_context();
	stand_at(0x5000, false);
	assert_int_equal(step_in("[vdso]"), 1);
	assert_interrupted();
	stand_at(0x5000, true);		/* some other function there */
	frame.registers.value[AARCH64_X29] = STACK + 32;
	set_word(STACK + 40, 0x1234);
	assert_int_equal(step_in("[vdso]"), 1);
	assert_int_equal(stack_frame_pc(&frame), 0x1234);
}

/* ---- stubs ---- */

static void
stubs_return_to_who_called_them(void **state)
{
	(void)state;
	stand_at(PLT + 0x24, true);
	assert_int_equal(step_in(path), 1);
	assert_int_equal(stack_frame_pc(&frame), 0x9000 + AARCH64_X30);
	assert_int_equal(stack_frame_sp(&frame), STACK);
	assert_int_equal(frame.return_at, 0);
	assert_false(frame.was_guessed);
}

static void
lazy_binding_has_pushed_the_return_address(void **state)
{
	(void)state;
	for (unsigned has_bti = 0; has_bti < 2; has_bti++) {
		const uint64_t push = PLT + 4 * has_bti;

		make_file(EM_AARCH64, has_bti);
		set_word(STACK + 8, 0x4567);
		stand_at(push, true);
		assert_int_equal(step_in(path), 1);
		assert_int_equal(stack_frame_pc(&frame),
		                 0x9000 + AARCH64_X30);
		for (uint64_t at = push + 4; at < PLT + 32; at += 4) {
			stand_at(at, true);
			assert_int_equal(step_in(path), 1);
			assert_int_equal(stack_frame_pc(&frame), 0x4567);
			assert_int_equal(stack_frame_sp(&frame), STACK + 16);
		}
	}
	make_file(EM_AARCH64, false);
}

/* ---- frame pointers ---- */

/*
 * A frame without rules leads to its caller, which has some; that caller's
 * stack pointer is known by its own frame pointer.
 */
static void
frame_pointers_lead_back_to_rules(void **state)
{
	const uint64_t record = STACK + 64, framed = STACK + 128;

	(void)state;
	set_word(record, framed);
	set_word(record + 8, UINT64_C(0xbeef) << 48 | (FRAMED + 4));
	set_word(framed, 0x9999);
	set_word(framed + 8, UINT64_C(0x2a) << 48 | RULELESS);
	stand_at(RULELESS, true);
	frame.registers.value[AARCH64_X29] = record;
	assert_int_equal(step_in(path), 1);
	assert_true(frame.was_guessed);
	assert_int_equal(stack_frame_pc(&frame), FRAMED + 4);
	assert_int_equal(frame.return_at, record + 8);
	assert_false(frame.registers.known & CFI_BIT(AARCH64_SP));
	assert_int_equal(step_in(path), 1);
	assert_int_equal(stack_frame_pc(&frame), RULELESS);
	assert_int_equal(stack_frame_sp(&frame), framed + 48);
	assert_true(frame.registers.known & CFI_BIT(AARCH64_SP));
	assert_int_equal(frame.registers.value[AARCH64_X29], 0x9999);
	assert_int_equal(frame.return_at, framed + 8);
}

/* ... or not, and then the next one does. */
static void
frame_pointers_pass_over_rules_that_need_the_stack(void **state)
{
	const uint64_t record = STACK + 64, outer = STACK + 128;

	(void)state;
	set_word(record, outer);
	set_word(outer, 0x9999);
	set_word(outer + 8, 0x4321);
	for (int i = 0; i < 2; i++) {
		const uint64_t caller = i == 0 ? UNFRAMED + 4 : REVERSED + 4;

		set_word(record + 8, caller);
		stand_at(RULELESS, true);
		frame.registers.value[AARCH64_X29] = record;
		assert_int_equal(step_in(path), 1);
		assert_int_equal(stack_frame_pc(&frame), caller);
		assert_int_equal(step_in(path), 1);
		assert_int_equal(stack_frame_pc(&frame), 0x4321);
		/* With a stack pointer, these rules hold. */
		set_word(STACK, 0x8765);
		stand_at(caller, true);
		assert_int_equal(step_in(path), 1);
		assert_int_equal(stack_frame_pc(&frame), 0x8765);
		assert_int_equal(stack_frame_sp(&frame), STACK + 48);
	}
}

static void
rules_of_another_processor_are_not_used(void **state)
{
	(void)state;
	make_file(EM_X86_64, false);
	stand_at(X86_SIGRETURN, true);
	frame.registers.value[AARCH64_X29] = 0;
	assert_int_equal(step_in(path), 0);
	assert_int_equal(frame.end, STACK_END_OUTERMOST);
	make_file(EM_AARCH64, false);
	stand_at(FRAMED, true);
	set_word(STACK, 1);
	set_word(STACK + 8, 2);
	assert_int_equal(step_in(path), 1);
	assert_int_equal(stack_frame_pc(&frame), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup(name, clear)
		CASE(handlers_return_to_code_that_is_recognised),
		CASE(rules_of_trampolines_are_not_enough),
		CASE(handlers_return_to_the_vdso),
		CASE(stubs_return_to_who_called_them),
		CASE(lazy_binding_has_pushed_the_return_address),
		CASE(frame_pointers_lead_back_to_rules),
		CASE(frame_pointers_pass_over_rules_that_need_the_stack),
		CASE(rules_of_another_processor_are_not_used),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
