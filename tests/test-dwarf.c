/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-dwarf.c -- call frame information and expressions, byte by byte.
 *
 * Whole stacks are compared with libgcc's by test-unwind (the collector) and
 * test-stack-unwinder (the program).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "dwarf/cfi.h"
#include "dwarf/step.h"

/* ---- numbers ---- */

static void
leb128_has_at_most_ten_bytes(void **state)
{
	static const struct {
		unsigned char bytes[12];
		size_t n;
		uint64_t value;
		int64_t signed_value;
		bool fails;
	} numbers[] = {
		{ { 0x00 }, 1, 0, 0, false },
		{ { 0x3f }, 1, 63, 63, false },
		{ { 0x40 }, 1, 64, -64, false },
		{ { 0xe5, 0x8e, 0x26 }, 3, 624485, 624485, false },
		{ { 0x80, 0x7f }, 2, 16256, -128, false },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX,
		  -1, false },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10,
		  (uint64_t)1 << 63, INT64_MIN, false },
		{ "\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, 0, 0,
		  true },
		{ { 0x80 }, 1, 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		const unsigned char *start = numbers[i].bytes;
		struct dwarf_input in = { .at = start,
		    .end = start + numbers[i].n }, other = in;

		assert_int_equal(dwarf_take_uleb(&in), numbers[i].value);
		assert_int_equal(dwarf_take_sleb(&other),
		    numbers[i].signed_value);
		assert_int_equal(in.failed, numbers[i].fails);
		assert_int_equal(other.failed, numbers[i].fails);
		if (!in.failed)
			assert_true(in.at == in.end && other.at == in.end);
	}
}

static void
reading_beyond_the_end_sticks(void **state)
{
	static const unsigned char bytes[] = { 1, 2, 3, 4 };
	struct dwarf_input in = { .at = bytes, .end = bytes + 4 };

	(void)state;
	assert_int_equal(dwarf_take_unsigned(&in, 2), 0x201);
	assert_int_equal(dwarf_take_unsigned(&in, 4), 0);
	assert_true(in.failed);
	assert_int_equal(dwarf_take_unsigned(&in, 1), 0);
	assert_true(in.at == bytes + 2);
}

/* ---- sections ---- */

/* A section being built. */
struct making {
	unsigned char bytes[512];
	size_t n;
};

static void
put(struct making *making, const void *bytes, size_t n)
{
	if (n > 0)
		memcpy(making->bytes + making->n, bytes, n);
	making->n += n;
}

static void
put_number(struct making *making, uint64_t number, size_t n)
{
	put(making, &number, n);
}

static struct cfi_section
section_of(const unsigned char *bytes, size_t n, bool is_debug_frame)
{
	return (struct cfi_section){ .arch = &dwarf_x86_64,
	    .start = bytes, .end = bytes + n, .pointer_size = 8,
	    .is_debug_frame = is_debug_frame };
}

/* One CIE with rsp + 8 and the return address at CFA - 8, and one FDE. */
static struct cfi_section
make_section(struct making *making, bool is_debug_frame, const void *rules,
    size_t n)
{
	static const unsigned char common[] = { 1, 0x78, 16,
		0x0c, 7, 8, 0x80 | 16, 1 };
	size_t before = is_debug_frame ? 4 + 1 + 1 + 2 : 4 + 1 + 1;

	making->n = 0;
	put_number(making, before + sizeof common, 4);
	put_number(making, is_debug_frame ? UINT32_MAX : 0, 4);
	put_number(making, is_debug_frame ? 4 : 1, 1);
	put_number(making, 0, 1);
	if (is_debug_frame)
		put_number(making, 8, 2);	/* no segments */
	put(making, common, sizeof common);
	put_number(making, 4 + 16 + n, 4);
	put_number(making, is_debug_frame ? 0 : making->n, 4);
	put_number(making, 0x1000, 8);
	put_number(making, 0x100, 8);
	put(making, rules, n);
	return section_of(making->bytes, making->n, is_debug_frame);
}

/* The row of the first FDE, with a scratch that knows nothing. */
static struct cfi_scratch scratch;
static const struct cfi_row *const row = &scratch.row;

static enum cfi_result
find_row(const struct cfi_section *section, uint64_t address)
{
	const unsigned char *next = section->start;
	struct cfi_fde fde;

	memset(&scratch, 0, sizeof scratch);
	if (cfi_next_fde(section, &next, &scratch.cie, &fde) == NULL)
		return CFI_NO_TABLE;
	return cfi_find_row(section, &fde, address, &scratch);
}

static bool
has_row(const struct cfi_section *section, uint64_t address)
{
	return find_row(section, address) == CFI_FOUND;
}

static void
assert_rule(unsigned number, enum cfi_kind kind, int64_t offset)
{
	assert_int_equal(row->kinds[number], kind);
	if (kind != CFI_UNSPECIFIED)
		assert_int_equal(row->operands[number].offset, offset);
}

static void
assert_cfa(unsigned reg, int64_t offset)
{
	assert_int_equal(row->kinds[CFI_CFA], CFI_REGISTER);
	assert_int_equal(row->cfa_register, reg);
	assert_int_equal(row->operands[CFI_CFA].offset, offset);
}

static void
assert_range(uint64_t start, uint64_t end)
{
	assert_int_equal(scratch.row_start, start);
	assert_int_equal(scratch.row_end, end);
}

static const unsigned char all_rules[] = {
	0x0a,				/* remember_state */
	0x0e, 16, 0x83, 2,		/* def_cfa_offset, offset rbx */
	0x80 | 17, 1, 0xc0 | 17,	/* offset, restore: of no register */
	0x41,				/* advance_loc 1 */
	0x0d, 6,			/* def_cfa_register */
	0x05, 12, 3, 0x11, 13, 0x7e,	/* offset_extended, and signed: -2 */
	0x14, 14, 1, 0x15, 15, 0x7f,	/* val_offset, and signed: -1 */
	0x09, 0, 1,			/* register: rax is in rdx */
	0x07, 2, 0x08, 3,		/* undefined, same_value */
	0x2f, 8, 2, 0x2e, 24,		/* GNU: negative offset, args_size */
	0x05, 99, 1,			/* of no register that is known */
	0x05, 16, 5,			/* offset_extended rip */
	0x02, 1,			/* advance_loc1 */
	0xc0 | 16, 0x06, 12,		/* restore, restore_extended */
	0x03, 1, 0,			/* advance_loc2 */
	0x07, 16, 0x0b,			/* restore_state */
	0x04, 1, 0, 0, 0,		/* advance_loc4 */
	0x12, 6, 0x7c, 0x10, 3, 1, 0x9c, /* def_cfa_sf, expression */
	0x16, 12, 2, 0x08, 5,		/* val_expression */
	0x01, 0x08, 0x10, 0, 0, 0, 0, 0, 0, /* set_loc 0x1008 */
	0x13, 0x7b, 0x0f, 2, 0x77, 8,	/* def_cfa_offset_sf, _expression */
};

static void
check_all_rules(const struct cfi_section *section)
{
	size_t size;

	assert_true(has_row(section, 0x1000));
	assert_cfa(X86_64_RSP, 16);
	assert_rule(3, CFI_OFFSET, -16);
	assert_rule(X86_64_RIP, CFI_OFFSET, -8);
	assert_range(0x1000, 0x1001);
	assert_true(has_row(section, 0x1001));
	assert_cfa(X86_64_RBP, 16);
	assert_rule(12, CFI_OFFSET, -24);
	assert_rule(13, CFI_OFFSET, 16);
	assert_rule(14, CFI_VALUE_OFFSET, -8);
	assert_rule(15, CFI_VALUE_OFFSET, 8);
	assert_rule(0, CFI_REGISTER, 1);
	assert_rule(2, CFI_UNDEFINED, 0);
	assert_rule(3, CFI_SAME, 0);
	assert_rule(8, CFI_OFFSET, 16);
	assert_rule(X86_64_RIP, CFI_OFFSET, -40);
	assert_range(0x1001, 0x1002);
	assert_true(has_row(section, 0x1002));
	assert_rule(12, CFI_UNSPECIFIED, 0);
	assert_rule(X86_64_RIP, CFI_OFFSET, -8);
	assert_range(0x1002, 0x1003);
	assert_true(has_row(section, 0x1003));
	assert_cfa(X86_64_RSP, 8);
	assert_rule(3, CFI_UNSPECIFIED, 0);
	assert_true(has_row(section, 0x1004));
	assert_cfa(X86_64_RBP, 32);
	assert_int_equal(row->kinds[3], CFI_EXPRESSION);
	assert_int_equal(row->kinds[12], CFI_VALUE_EXPRESSION);
	assert_int_equal(cfi_expression(row, 12, &size)[1], 5);
	assert_int_equal(size, 2);
	assert_range(0x1004, 0x1008);
	assert_true(has_row(section, 0x1008));
	assert_int_equal(row->kinds[CFI_CFA], CFI_VALUE_EXPRESSION);
	assert_range(0x1008, 0x1100);
	assert_int_equal(find_row(section, 0x0fff), CFI_NO_TABLE);
	assert_int_equal(find_row(section, 0x1100), CFI_NO_TABLE);
}

static void
rows_follow_every_instruction(void **state)
{
	struct cfi_section section;
	struct making making;

	(void)state;
	section = make_section(&making, false, all_rules, sizeof all_rules);
	check_all_rules(&section);
	section = make_section(&making, true, all_rules, sizeof all_rules);
	check_all_rules(&section);
}

/* In memory of just that size, so that a tool sees a byte too much read. */
static void
sections_cut_at_every_byte_give_no_row(void **state)
{
	struct making making;

	(void)state;
	for (int is_debug = 0; is_debug < 2; is_debug++) {
		size_t size = (make_section(&making, is_debug, all_rules,
		    sizeof all_rules), making.n);

		for (size_t n = 0; n <= size; n++) {
			unsigned char *exact = malloc(n > 0 ? n : 1);
			struct cfi_section section = section_of(exact, n,
			    is_debug);

			memcpy(exact, making.bytes, n);
			assert_int_equal(has_row(&section, 0x1008), n == size);
			free(exact);
		}
	}
}

/* Likewise where the entry, too, ends within its program. */
static void
programs_cut_at_every_byte_read_nothing_after(void **state)
{
	struct making making;

	(void)state;
	for (size_t n = 0; n < sizeof all_rules; n++) {
		unsigned char *exact;
		struct cfi_section section;

		make_section(&making, false, all_rules, n);
		exact = malloc(making.n);
		memcpy(exact, making.bytes, making.n);
		section = section_of(exact, making.n, false);
		has_row(&section, 0x10ff);
		free(exact);
	}
}

static void
malformed_programs_give_no_row(void **state)
{
	static const struct {
		unsigned char rules[24];
		size_t n;
	} wrong[] = {
		{ { 0x0b }, 1 },		/* nothing is remembered */
		{ { 0x3f }, 1 },		/* no instruction */
		{ { 0x0d, 17 }, 2 },		/* no register */
		{ { 0x10, 3, 9, 0x9c }, 4 },	/* an expression cut off */
		{ { 0x0f, 1, 0x9c, 0x0e, 8 }, 5 },	/* no offset to set, */
		{ { 0x0f, 1, 0x9c, 0x0d, 6 }, 5 },	/* nor register, */
		{ { 0x0f, 1, 0x9c, 0x13, 8 }, 5 },	/* nor offset */
		{ "\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"
		  "\x0a\x0a\x0a\x0a", 17 },
	};
	struct cfi_section section;
	struct making making;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		section = make_section(&making, false, wrong[i].rules,
		    wrong[i].n);
		assert_int_equal(find_row(&section, 0x1080), CFI_BAD);
	}
}

static void
programs_have_a_limit(void **state)
{
	const size_t n = CFI_INSTRUCTIONS_MAX + 1;
	struct making making;
	unsigned char *bytes;

	(void)state;
	make_section(&making, false, NULL, 0);
	bytes = calloc(making.n + n, 1);	/* DW_CFA_nop */
	assert_non_null(bytes);
	memcpy(bytes, making.bytes, making.n);
	for (size_t n_nops = n; n_nops >= n - 1; n_nops--) {
		const uint32_t length = 4 + 16 + (uint32_t)n_nops;
		const struct cfi_section section = section_of(bytes,
		    making.n + n_nops, false);

		memcpy(bytes + making.n - 24, &length, 4);
		assert_int_equal(find_row(&section, 0x1000),
		    n_nops == n ? CFI_BAD : CFI_FOUND);
	}
	free(bytes);
}

/* ---- entries ---- */

/* What a CIE says after its length and identification, and its one FDE. */
struct form {
	const char *what;
	const char *cie;
	size_t n_cie;
	const char *fde;		/* range, augmentation and program */
	size_t n_fde;
	uint64_t start, end;		/* 0: no such FDE; 1, 0: 16 before it
					 * and 16 after */
};

#define BYTES(text) text, sizeof text - 1
#define RULES "\x0c\x07\x08\x90\x01"

static const struct form forms[] = {
	{ "absolute", BYTES("\1\0\1\x78\x10" RULES),
	  BYTES("\0\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0"), 0x1000, 0x1020 },
	{ "version 3", BYTES("\3\0\1\x78\x10" RULES),
	  BYTES("\0\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0"), 0x1000, 0x1020 },
	{ "version 4 is .debug_frame's", BYTES("\4\0\x08\0\1\x78\x10" RULES),
	  BYTES("\0\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0"), 0, 0 },
	{ "8 bytes", BYTES("\1zR\0\1\x78\x10\1\x04" RULES),
	  BYTES("\0\x10\0\0\0\0\0\x80" "\x20\0\0\0\0\0\0\0\0"),
	  0x8000000000001000, 0x8000000000001020 },
	{ "signed, 8 bytes", BYTES("\1zR\0\1\x78\x10\1\x0c" RULES),
	  BYTES("\0\x10\0\0\0\0\0\x80" "\x20\0\0\0\0\0\0\0\0"),
	  0x8000000000001000, 0x8000000000001020 },
	{ "relative, signed, 4 bytes", BYTES("\1zR\0\1\x78\x10\1\x1b" RULES),
	  BYTES("\xf0\xff\xff\xff" "\x20\0\0\0\0"), 1, 0 },
	{ "unsigned, 4 bytes", BYTES("\1zR\0\1\x78\x10\1\x03" RULES),
	  BYTES("\xf0\xff\xff\xff" "\x20\0\0\0\0"), 0xfffffff0, 0x100000010 },
	{ "2 bytes", BYTES("\1zR\0\1\x78\x10\1\x02" RULES),
	  BYTES("\xf0\xff" "\x20\0\0"), 0xfff0, 0x10010 },
	{ "size is unsigned", BYTES("\1zR\0\1\x78\x10\1\x0b" RULES),
	  BYTES("\0\x10\0\0" "\0\0\0\x80\0"), 0x1000, 0x80001000 },
	{ "personality and LSDA",
	  BYTES("\1zPLR\0\1\x78\x10\7\x1b\1\2\3\4\x1b\x03" RULES),
	  BYTES("\0\x10\0\0" "\x20\0\0\0\4\1\2\3\4"), 0x1000, 0x1020 },
	{ "no personality", BYTES("\1zPR\0\1\x78\x10\2\xff\x03" RULES),
	  BYTES("\0\x10\0\0" "\x20\0\0\0\0"), 0x1000, 0x1020 },
	{ "unknown letter after R",
	  BYTES("\1zRx\0\1\x78\x10\4\x03\1\2\3" RULES),
	  BYTES("\0\x10\0\0" "\x20\0\0\0\0"), 0x1000, 0x1020 },
	{ "unknown letter before R",
	  BYTES("\1zxR\0\1\x78\x10\4\x03\1\2\x03" RULES),
	  BYTES("\0\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0\0"), 0, 0 },
	{ "letter without its data", BYTES("\1zR\0\1\x78\x10\0" RULES),
	  BYTES("\0\x10\0\0\0\0\0\0\0\0\0\0" "\x20\0\0\0\0"), 0, 0 },
	{ "CIE cut off", BYTES("\1\0\1\x78"),
	  BYTES("\0\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0\0"), 0, 0 },
	{ "augmentation without size", BYTES("\1eh\0\1\x78\x10" RULES),
	  BYTES("\0\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0"), 0, 0 },
	{ "many letters", BYTES("\1zRLSBLSB\0\1\x78\x10\3\x03\1\1" RULES),
	  BYTES("\0\x10\0\0" "\x20\0\0\0\0"), 0x1000, 0x1020 },
	{ "too many letters",
	  BYTES("\1zRLSBLSBB\0\1\x78\x10\3\x03\1\1" RULES),
	  BYTES("\0\x10\0\0" "\x20\0\0\0\0\0\0\0\0\0\0\0"), 0, 0 },
	{ "indirect", BYTES("\1zR\0\1\x78\x10\1\x9b" RULES),
	  BYTES("\0\x10\0\0" "\x20\0\0\0\0"), 0, 0 },
	{ "LEB128", BYTES("\1zR\0\1\x78\x10\1\x01" RULES),
	  BYTES("\x80\x20\0\0" "\x20\0\0\0\0"), 0, 0 },
	{ "beyond the address space", BYTES("\1\0\1\x78\x10" RULES),
	  BYTES("\0\0\0\0\0\0\0\xf0" "\0\0\0\0\0\0\0\x10"), 0, 0 },
};

static struct cfi_section
make_form(struct making *making, const struct form *form, size_t length_size)
{
	making->n = 0;
	for (int i = 0; i < 2; i++) {
		const size_t n = 4 + (i == 0 ? form->n_cie : form->n_fde);

		if (length_size == 8) {
			put_number(making, UINT32_MAX, 4);
			put_number(making, n, 8);
		} else {
			put_number(making, n, 4);
		}
		put_number(making, i == 0 ? 0 : making->n, 4);
		if (i == 0)
			put(making, form->cie, form->n_cie);
		else
			put(making, form->fde, form->n_fde);
	}
	return section_of(making->bytes, making->n, false);
}

static void
entries_have_many_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		for (size_t size = 4; size <= 8; size += 4) {
			const struct form *form = &forms[i];
			struct making making;
			struct cfi_section section = make_form(&making, form,
			    size);
			const unsigned char *next = section.start;
			struct cfi_cie cie = { 0 };
			struct cfi_fde fde;
			uint64_t start = form->start, end = form->end;
			bool is_found;

			section.address = 0x7000;
			is_found = cfi_next_fde(&section, &next, &cie, &fde) !=
			    NULL;
			if (is_found != (start != 0))
				fail_msg("%s: %d", form->what, is_found);
			if (!is_found)
				continue;
			if (end == 0) {	/* relative to where it is written */
				start = 0x7000 - 0x10 + making.n -
				    form->n_fde;
				end = start + 0x20;
			}
			if (fde.start != start || fde.start + fde.size != end)
				fail_msg("%s: %#lx, %#lx", form->what,
				    (unsigned long)fde.start,
				    (unsigned long)fde.size);
			assert_int_equal(cfi_find_row(&section, &fde, start,
			    &(struct cfi_scratch){ .cie = cie }), CFI_FOUND);
		}
}

static void
pointers_of_four_bytes_wrap_at_four(void **state)
{
	static const struct form form = { "", BYTES("\1zR\0\1\x7c\x08\1\x10"),
	    BYTES("\0\0\0\xf0" "\x20\0\0\0\0"), 0, 0 };
	struct making making;
	struct cfi_section section = make_form(&making, &form, 4);
	const unsigned char *next = section.start;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;

	(void)state;
	section.pointer_size = 4;
	section.address = 0x20000000;
	assert_non_null(cfi_next_fde(&section, &next, &cie, &fde));
	assert_int_equal(fde.start, 0x10000000 + making.n - form.n_fde);
	assert_int_equal(fde.size, 0x20);
	/* It is not x86-64's. */
	assert_int_equal(cfi_find_row(&section, &fde, fde.start,
	    &(struct cfi_scratch){ .cie = cie }), CFI_BAD);
}

static void
empty_entries_are_passed_over(void **state)
{
	struct making making, with_empty = { .n = 4 };
	struct cfi_section section = make_section(&making, false, NULL, 0);
	const unsigned char *next;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;

	(void)state;
	assert_false(cfi_read_fde(&section, section.start, &cie, &fde));
	put(&with_empty, making.bytes, making.n);
	section = section_of(with_empty.bytes, with_empty.n, false);
	next = section.start;
	assert_non_null(cfi_next_fde(&section, &next, &cie, &fde));
	assert_int_equal(fde.start, 0x1000);
	assert_true(next == section.end);
	assert_null(cfi_next_fde(&section, &next, &cie, &fde));
}

/* The bytes change where a CIE was; only a new generation sees that. */
static void
cies_are_kept_for_a_generation(void **state)
{
	struct making making;
	struct cfi_section section = make_section(&making, false, NULL, 0);
	const unsigned char *fde_at = section.end - 24;
	struct cfi_fde fde;

	(void)state;
	assert_true(has_row(&section, 0x1000));
	for (unsigned i = 0; i < 6; i++) {
		making.bytes[15] = (unsigned char)(24 + i);
		section.generation = i / 2;
		assert_true(cfi_read_fde(&section, fde_at, &scratch.cie,
		    &fde));
		assert_int_equal(cfi_find_row(&section, &fde, 0x1000,
		    &scratch), CFI_FOUND);
		assert_cfa(X86_64_RSP, i < 2 ? 8 : 24 + i / 2 * 2);
	}
}

static size_t
put_cie(struct making *making, const void *bytes, size_t n)
{
	const size_t at = making->n;

	put_number(making, 4 + n, 4);
	put_number(making, 0, 4);
	put(making, bytes, n);
	return at;
}

/* Of a CIE at an offset, maybe beyond the section. */
static void
put_fde(struct making *making, size_t cie, const void *bytes, size_t n)
{
	put_number(making, 4 + n, 4);
	put_number(making, making->n - cie, 4);
	put(making, bytes, n);
}

#define RANGE(start) start "\x10\0\0" "\x20\0\0\0"
#define LONG_RANGE(start) start "\x10\0\0\0\0\0\0" "\x20\0\0\0\0\0\0\0"

/*
 * Entries that refer to this CIE and to that, to none, and to one that is
 * damaged: each is read as if it were the only one.
 */
static void
cies_do_not_mix(void **state)
{
	struct making making = { .n = 0 };
	struct cfi_section section;
	const unsigned char *next;
	struct cfi_fde fde;
	size_t signal, plain, damaged, like_cie;
	static const struct {
		uint64_t start;
		bool is_signal;
		int64_t cfa_offset, rbx;
	} expected[] = {
		{ 0x1001, true, 8, 0 }, { 0x1002, false, 16, -24 },
		{ 0x1003, true, 8, 0 }, { 0x1004, true, 24, 0 },
		{ 0x1005, true, 8, 0 }, { 0x1006, true, 8, 0 },
		{ 0x78010001, true, 8, 0 }, { 0x1009, false, 16, 0 },
	};

	(void)state;
	signal = put_cie(&making,
	    BYTES("\1zRS\0\1\x78\x10\1\x03\x0c\x07\x08\x90\x01"));
	plain = put_cie(&making,
	    BYTES("\1\0\2\x7c\x10\x0c\x07\x10\x90\x01"));
	damaged = put_cie(&making, BYTES("\1zRx\0\3\x74\x10\x7f\x1b"));
	put_fde(&making, signal, BYTES(RANGE("\1") "\0"));
	put_fde(&making, plain, BYTES(LONG_RANGE("\2") "\x83\x06"));
	put_fde(&making, signal, BYTES(RANGE("\3") "\0"));
	put_fde(&making, signal, BYTES(RANGE("\4") "\3\x0b\x0b\x0b\x0e\x18"));
	put_fde(&making, signal, BYTES(RANGE("\5") "\0"));
	put_fde(&making, damaged, BYTES(RANGE("\5") "\0"));
	put_fde(&making, signal, BYTES(RANGE("\6") "\0"));
	like_cie = making.n;
	put_fde(&making, signal, BYTES("\1\0\1\x78" "\x10\x0c\x07\x08"
	    "\0\x90\x01"));
	put_fde(&making, like_cie, BYTES(LONG_RANGE("\7")));
	put_fde(&making, making.n + 100, BYTES(RANGE("\7") "\0"));
	put_fde(&making, making.n, BYTES(RANGE("\x8") "\0"));
	put_fde(&making, plain, BYTES(LONG_RANGE("\x9")));
	section = section_of(making.bytes, making.n, false);
	next = section.start;
	memset(&scratch, 0, sizeof scratch);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		assert_non_null(cfi_next_fde(&section, &next, &scratch.cie,
		    &fde));
		assert_int_equal(fde.start, expected[i].start);
		assert_int_equal(cfi_find_row(&section, &fde, fde.start,
		    &scratch), CFI_FOUND);
		assert_cfa(X86_64_RSP, expected[i].cfa_offset);
		assert_int_equal(row->is_signal, expected[i].is_signal);
		assert_rule(X86_64_RBX, expected[i].rbx != 0 ? CFI_OFFSET :
		    CFI_UNSPECIFIED, expected[i].rbx);
	}
	assert_null(cfi_next_fde(&section, &next, &scratch.cie, &fde));
}

/* Of other machines, of other sizes, or with a program that is damaged. */
static void
foreign_cies_give_no_row(void **state)
{
	static const struct {
		const char *cie;
		size_t n;
		enum cfi_result result;
	} cies[] = {
		{ BYTES("\4\0\x08\0\1\x78\x10" RULES), CFI_FOUND },
		{ BYTES("\4\0\x04\0\1\x78\x10" RULES), CFI_NO_TABLE },
		{ BYTES("\4\0\x08\2\1\x78\x10" RULES), CFI_NO_TABLE },
		{ BYTES("\5\0\x08\0\1\x78\x10" RULES), CFI_NO_TABLE },
		{ BYTES("\3\0\1\x78\x0f" RULES), CFI_BAD },
		{ BYTES("\3\0\1\x78\x10" "\x0b" RULES), CFI_BAD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cies / sizeof *cies; i++)
		for (size_t size = 4; size <= 8; size += 4) {
			struct making making = { .n = 0 };
			struct cfi_section section;

			if (size == 8)
				put_number(&making, UINT32_MAX, 4);
			put_number(&making, size + cies[i].n, size);
			put_number(&making, UINT64_MAX, size);
			put(&making, cies[i].cie, cies[i].n);
			if (size == 8)
				put_number(&making, UINT32_MAX, 4);
			put_number(&making, size + 16 + 3, size);
			put_number(&making, 0, size);
			put(&making, BYTES(LONG_RANGE("\0") "\x0c\7\x10"));
			section = section_of(making.bytes, making.n, true);
			assert_int_equal(find_row(&section, 0x1000),
			    cies[i].result);
		}
}

/* Sixteen of them nest, and no more. */
static void
states_nest(void **state)
{
	static const unsigned char rules[] = {
		0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
		0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0e, 99, 0x0b };
	struct making making;
	struct cfi_section section = make_section(&making, false, rules,
	    sizeof rules);

	(void)state;
	assert_true(has_row(&section, 0x1000));
	assert_cfa(X86_64_RSP, 8);
}

/* ---- expressions ---- */

static const unsigned char stack[16] = { 0, 0, 0, 0, 0, 0, 0, 0,
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 };

enum { STACK_START = 0x2000 };

static bool
read_stack(void *context, uint64_t address, size_t size, uint64_t *number)
{
	assert_ptr_equal(context, stack);
	assert_true(size >= 1 && size <= 8);
	if (address < STACK_START ||
	    address > STACK_START + sizeof stack - size)
		return false;
	*number = 0;
	memcpy(number, stack + (address - STACK_START), size);
	return true;
}

static struct cfi_machine machine = { .arch = &dwarf_x86_64,
	.read = read_stack, .context = (void *)(uintptr_t)stack };

static const struct cfi_registers registers = {
	.value = { [X86_64_RSP] = STACK_START, [X86_64_RIP] = 0x100b },
	.known = 1 << X86_64_RSP | 1 << X86_64_RIP,
};

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
	{ { 0x35, 0x33, 0x15, 1, 0x13, 0x1c }, 6, 2 },	/* pick, drop */
	{ { 0x35, 0x33, 0x39, 0x15, 2, 0x1c }, 6, 4 },
	{ { 0x35, 0x32, 0x21 }, 3, 7 },		/* or */
	{ { 0x35, 0x1f }, 2, UINT64_C(-5) },	/* neg */
	{ { 0x35, 0x1f, 0x19 }, 3, 5 },		/* abs */
	{ { 0x39, 0x35, 0x19, 0x1c }, 4, 4 },
	{ { 0x30, 0x20 }, 2, UINT64_MAX },	/* not */
	{ { 0x35, 0x33, 0x1a }, 3, 1 },		/* and */
	{ { 0x35, 0x33, 0x27 }, 3, 6 },		/* xor */
	{ { 0x31, 0x3f, 0x24 }, 3, 0x8000 },	/* shl */
	{ { 0x31, 0x08, 64, 0x24 }, 4, 0 },
	{ { 0x09, 0x80, 0x34, 0x26 }, 4, UINT64_C(-8) },	/* shra */
	{ { 0x09, 0x80, 0x08, 64, 0x26 }, 5, UINT64_MAX },
	{ { 0x09, 0x80, 0x08, 60, 0x25 }, 5, 15 },	/* shr */
	{ { 0x09, 0x80, 0x08, 64, 0x25 }, 5, 0 },
	{ { 0x0b, 0xfe, 0xff, 0x30, 0x2d }, 5, 1 },	/* -2 < 0 */
	{ { 0x35, 0x35, 0x2a }, 3, 1 },		/* ge */
	{ { 0x35, 0x35, 0x2b }, 3, 0 },		/* gt */
	{ { 0x35, 0x35, 0x2c }, 3, 1 },		/* le */
	{ { 0x35, 0x35, 0x2d }, 3, 0 },		/* lt */
	{ { 0x35, 0x35, 0x29 }, 3, 1 },		/* eq */
	{ { 0x35, 0x35, 0x2e }, 3, 0 },		/* ne */
	{ { 0x36, 0x35, 0x2b }, 3, 1 },
	{ { 0x08, 0xff }, 2, 255 },		/* const1u */
	{ { 0x09, 0xff }, 2, UINT64_MAX },	/* const1s */
	{ { 0x0a, 0xfe, 0xff }, 3, 0xfffe },
	{ { 0x0c, 0, 0, 0, 0x80 }, 5, 0x80000000 },
	{ { 0x0d, 0, 0, 0, 0x80 }, 5, 0xffffffff80000000 },
	{ { 0x03, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 9, 0x8000000000000001 },
	{ { 0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 9, 0x8000000000000001 },
	{ { 0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80 }, 9, 0x8000000000000001 },
	{ { 0x10, 0x80, 1, 0x23, 2 }, 5, 130 },	/* constu, plus_uconst */
	{ { 0x11, 0x7f }, 2, UINT64_MAX },	/* consts */
	{ { 0x31, 0x28, 1, 0, 0x96, 0x39 }, 6, 9 },	/* bra, nop */
	{ { 0x30, 0x28, 1, 0, 0x39 }, 5, 9 },	/* bra not taken */
	{ { 0x2f, 2, 0, 0x06, 0x06, 0x32 }, 6, 2 },	/* skip */
	{ { 0x4f }, 1, 31 },
	{ { 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, 11,
	  0x2008 + 8 },				/* .plt's */
};

static void
expressions_compute(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof computations / sizeof *computations;
	     i++) {
		const struct computed *computed = &computations[i];
		uint64_t value;

		assert_true(cfi_evaluate(computed->expression, computed->n,
		    &machine, &registers, NULL, &value));
		assert_int_equal(value, computed->value);
	}
}

static void
expressions_give_up(void **state)
{
	static const struct computed wrong[] = {
		{ { 0x22 }, 1, 0 },		/* nothing to add */
		{ { 0x30, 0x06 }, 2, 0 },	/* memory that is not there */
		{ { 0x77, 9, 0x06 }, 3, 0 },	/* nor at the end */
		{ { 0x77, 0, 0x94, 9 }, 4, 0 },
		{ { 0x77, 0, 0x94, 0 }, 4, 0 },
		{ { 0x2f, 0xfd, 0xff }, 3, 0 },	/* for ever */
		{ { 0x2f, 0xfc, 0xff }, 3, 0 },	/* out of it */
		{ { 0x30, 0x2f, 1, 0 }, 4, 0 },
		{ { 0x30, 0x2f, 0xfc, 0xff }, 4, 0 },	/* too deep */
		{ { 0x35, 0x15, 1 }, 3, 0 },	/* no value there to pick */
		{ { 0x35, 0x70, 0 }, 3, 0 },	/* rax is not known */
		{ { 0x35, 0x81, 0 }, 3, 0 },	/* no such register */
		{ { 0x08 }, 1, 0 },
		{ { 0xff }, 1, 0 },
		{ { 0x35, 0x33, 0xff }, 3, 0 },
		{ { 0 }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		uint64_t value;

		assert_false(cfi_evaluate(wrong[i].expression, wrong[i].n,
		    &machine, &registers, NULL, &value));
	}
}

/* n literals, and as many operations that do nothing. */
static bool
evaluates(size_t n_literals, size_t n_nops)
{
	unsigned char expression[1200];
	uint64_t value;

	memset(expression, 0x35, n_literals);
	memset(expression + n_literals, 0x96, n_nops);
	return cfi_evaluate(expression, n_literals + n_nops, &machine,
	    &registers, NULL, &value);
}

static void
expressions_have_limits(void **state)
{
	(void)state;
	assert_true(evaluates(CFI_VALUES_MAX, 0));
	assert_false(evaluates(CFI_VALUES_MAX + 1, 0));
	assert_true(evaluates(1, 999));
	assert_false(evaluates(1, 1000));
}

static void
expressions_begin_with_a_value(void **state)
{
	static const unsigned char plus_2[] = { 0x23, 2 };
	const uint64_t initial = 40;
	uint64_t value;

	(void)state;
	assert_true(cfi_evaluate(plus_2, sizeof plus_2, &machine, &registers,
	    &initial, &value));
	assert_int_equal(value, 42);
}

/* ---- steps ---- */

/* CFA = rsp + 16, the return address at CFA - 8; the other rules are *rules. */
static enum cfi_step_result
step(const struct cfi_row *rules, struct cfi_registers *caller)
{
	struct cfi_row whole = *rules;
	enum cfi_step_result result;
	uint64_t cfa = 0;

	whole.kinds[CFI_CFA] = CFI_REGISTER;
	whole.cfa_register = X86_64_RSP;
	whole.operands[CFI_CFA].offset = 16;
	if (whole.kinds[X86_64_RIP] == CFI_UNSPECIFIED) {
		whole.kinds[X86_64_RIP] = CFI_OFFSET;
		whole.operands[X86_64_RIP].offset = -8;
	}
	machine.preserved = 1 << X86_64_RBX | 1 << X86_64_RCX;
	*caller = registers;
	caller->value[X86_64_RBX] = 3;
	caller->value[X86_64_RDX] = 5;
	caller->known |= 1 << X86_64_RBX | 1 << X86_64_RDX;
	result = cfi_step(&whole, &machine, caller, &cfa);
	if (result == CFI_STEP_DONE)
		assert_int_equal(cfa, STACK_START + 16);
	return result;
}

static void
steps_restore_what_can_be_known(void **state)
{
	static const unsigned char at_start[] = { 2, 0x77, 0 };
	struct cfi_registers caller;

	(void)state;
	assert_int_equal(step(&(struct cfi_row){ 0 }, &caller), CFI_STEP_DONE);
	assert_int_equal(caller.value[X86_64_RIP], 0x8877665544332211);
	assert_int_equal(caller.value[X86_64_RSP], STACK_START + 16);
	/* rbx is preserved and known, rcx is not known, rdx not preserved. */
	assert_int_equal(caller.known, 1 << X86_64_RIP | 1 << X86_64_RSP |
	    1 << X86_64_RBX);
	assert_int_equal(caller.value[X86_64_RBX], 3);

	assert_int_equal(step(&(struct cfi_row){
	    .kinds = { [X86_64_RAX] = CFI_VALUE_OFFSET,
		[X86_64_RDX] = CFI_SAME, [X86_64_RBX] = CFI_OFFSET,
		[X86_64_RBP] = CFI_VALUE_OFFSET, [X86_64_R8] = CFI_REGISTER,
		[X86_64_R9] = CFI_EXPRESSION, [X86_64_R10] = CFI_UNDEFINED,
		[X86_64_R11] = CFI_VALUE_EXPRESSION,
		[X86_64_R12] = CFI_REGISTER, [X86_64_R13] = CFI_OFFSET,
		[X86_64_R14] = CFI_REGISTER },
	    .operands = { [X86_64_RBX] = { -16 }, [X86_64_RBP] = { -32 },
		[X86_64_R8] = { X86_64_RDX },
		[X86_64_R9] = { .expression = at_start },
		[X86_64_R11] = { .expression = at_start },
		[X86_64_R12] = { X86_64_RAX }, [X86_64_R13] = { 8 },
		[X86_64_R14] = { CFI_REGISTERS } } }, &caller), CFI_STEP_DONE);
	assert_int_equal(caller.known, 1 << X86_64_RIP | 1 << X86_64_RSP |
	    1 << X86_64_RAX | 1 << X86_64_RDX | 1 << X86_64_RBX | 1 << X86_64_RBP |
	    1 << X86_64_R8 | 1 << X86_64_R9 | 1 << X86_64_R11);
	assert_int_equal(caller.value[X86_64_RAX], STACK_START + 16);
	assert_int_equal(caller.value[X86_64_RDX], 5);
	assert_int_equal(caller.value[X86_64_RBX], 0);
	assert_int_equal(caller.value[X86_64_RBP], STACK_START - 16);
	assert_int_equal(caller.value[X86_64_R8], 5);
	assert_int_equal(caller.value[X86_64_R9], 0);
	assert_int_equal(caller.value[X86_64_R11], STACK_START);
}

/* An epilogue has popped rbx, and rbp, which is not known. */
static void
below_the_stack_pointer_registers_are_popped(void **state)
{
	struct cfi_registers caller;

	(void)state;
	assert_int_equal(step(&(struct cfi_row){
	    .kinds = { [X86_64_RBX] = CFI_OFFSET, [X86_64_RBP] = CFI_OFFSET },
	    .operands = { [X86_64_RBX] = { -24 }, [X86_64_RBP] = { -32 } } },
	    &caller), CFI_STEP_DONE);
	assert_int_equal(caller.known, 1 << X86_64_RIP | 1 << X86_64_RSP |
	    1 << X86_64_RBX);
	assert_int_equal(caller.value[X86_64_RBX], 3);
	assert_int_equal(step(&(struct cfi_row){
	    .kinds = { [X86_64_RIP] = CFI_OFFSET },
	    .operands = { [X86_64_RIP] = { -24 } } }, &caller),
	    CFI_STEP_FAILED);
}

/* ... and at it they are in memory, if at all. */
static void
at_the_stack_pointer_registers_are_saved(void **state)
{
	struct cfi_registers caller = registers;
	uint64_t cfa;

	(void)state;
	caller.value[X86_64_RSP] = 0x3000;
	caller.known |= 1 << X86_64_RBX;
	assert_int_equal(cfi_step(&(struct cfi_row){
	    .kinds = { [CFI_CFA] = CFI_REGISTER, [X86_64_RBX] = CFI_OFFSET,
		[X86_64_RIP] = CFI_VALUE_OFFSET },
	    .cfa_register = X86_64_RSP,
	    .operands = { [CFI_CFA] = { 16 }, [X86_64_RBX] = { -16 } } },
	    &machine, &caller, &cfa), CFI_STEP_DONE);
	assert_int_equal(caller.known, 1 << X86_64_RIP | 1 << X86_64_RSP);
}

static void
cfas_can_be_computed(void **state)
{
	static const unsigned char rbp_16[] = { 2, 0x76, 16 },
	    rax[] = { 2, 0x70, 0 };
	struct cfi_registers caller = { .value = { [X86_64_RBP] = STACK_START },
		.known = 1 << X86_64_RBP };
	struct cfi_row rules = { .kinds = {
		[CFI_CFA] = CFI_VALUE_EXPRESSION, [X86_64_RIP] = CFI_OFFSET },
		.operands = { [CFI_CFA] = { .expression = rbp_16 },
		[X86_64_RIP] = { -8 } } };
	uint64_t cfa = 0;

	(void)state;
	assert_int_equal(cfi_step(&rules, &machine, &caller, &cfa),
	    CFI_STEP_DONE);
	assert_int_equal(cfa, STACK_START + 16);
	assert_int_equal(caller.known, 1 << X86_64_RIP | 1 << X86_64_RSP);
	assert_int_equal(caller.value[X86_64_RSP], STACK_START + 16);
	rules.operands[CFI_CFA].expression = rax;
	assert_int_equal(cfi_step(&rules, &machine, &caller, &cfa),
	    CFI_STEP_FAILED);
}

static void
steps_end_without_return_address_or_stack(void **state)
{
	struct cfi_registers caller;

	(void)state;
	assert_int_equal(step(&(struct cfi_row){
	    .kinds = { [X86_64_RIP] = CFI_UNDEFINED } }, &caller),
	    CFI_STEP_OUTERMOST);
	assert_int_equal(step(&(struct cfi_row){
	    .kinds = { [X86_64_RIP] = CFI_SAME } }, &caller),
	    CFI_STEP_FAILED);
	assert_int_equal(step(&(struct cfi_row){
	    .kinds = { [X86_64_RSP] = CFI_UNDEFINED } }, &caller),
	    CFI_STEP_FAILED);
	assert_int_equal(cfi_step(&(struct cfi_row){
	    .kinds = { [CFI_CFA] = CFI_REGISTER } }, &machine, &caller,
	    &(uint64_t){ 0 }), CFI_STEP_FAILED);
}

/* ---- AArch64 ---- */

/* A CIE with sp + 0, of a return address in x30, and one FDE. */
static struct cfi_section
make_aarch64_section(struct making *making, const void *rules, size_t n)
{
	static const unsigned char common[] = { 1, 0, 4, 0x78, 30,
		0x0c, 31, 0 };
	struct cfi_section section;

	making->n = 0;
	put_number(making, 4 + sizeof common, 4);
	put_number(making, 0, 4);
	put(making, common, sizeof common);
	put_number(making, 4 + 16 + n, 4);
	put_number(making, making->n, 4);
	put_number(making, 0x1000, 8);
	put_number(making, 0x100, 8);
	put(making, rules, n);
	section = section_of(making->bytes, making->n, false);
	section.arch = &dwarf_aarch64;
	return section;
}

/* Twice from the row of an address: the registers, and how the second ends. */
static enum cfi_step_result
step_twice(const struct cfi_section *section, uint64_t address,
    struct cfi_registers *caller)
{
	struct cfi_machine aarch64 = { .arch = &dwarf_aarch64,
		.read = read_stack, .context = machine.context,
		.preserved = UINT64_MAX };
	struct cfi_registers outer;
	uint64_t cfa;

	*caller = (struct cfi_registers){
		.value = { [AARCH64_X29] = 29,
			[AARCH64_X30] = 0xabcd123456789abc,
			[AARCH64_SP] = STACK_START, [AARCH64_PC] = address },
		.known = UINT64_MAX };
	assert_true(has_row(section, address));
	assert_int_equal(cfi_step(row, &aarch64, caller, &cfa), CFI_STEP_DONE);
	outer = *caller;
	return cfi_step(row, &aarch64, &outer, &cfa);
}

/* Before a frame is made, it is in x30; a call overwrites that. */
static void
return_addresses_in_registers_last_for_one_frame(void **state)
{
	static const unsigned char rules[] = {
		0x2d, 0x41,			/* negate_ra_state, advance */
		0x0e, 16, 0x80 | 29, 2, 0x80 | 30, 1 };
	struct making making;
	const struct cfi_section section = make_aarch64_section(&making, rules,
	    sizeof rules);
	struct cfi_registers caller;

	(void)state;
	assert_int_equal(step_twice(&section, 0x1000, &caller),
	    CFI_STEP_FAILED);
	assert_int_equal(caller.value[AARCH64_PC], 0x123456789abc);
	assert_int_equal(caller.value[AARCH64_SP], STACK_START);
	assert_int_equal(caller.value[AARCH64_X29], 29);
	assert_false(caller.known & CFI_BIT(AARCH64_X30));

	/* Then in memory; beyond that, the stack is not known. */
	assert_int_equal(step_twice(&section, 0x1004, &caller),
	    CFI_STEP_FAILED);
	assert_int_equal(caller.value[AARCH64_PC], 0x665544332211);
	assert_int_equal(caller.value[AARCH64_SP], STACK_START + 16);
	assert_int_equal(caller.value[AARCH64_X29], 0);
	assert_false(caller.known & CFI_BIT(AARCH64_X30));
}

/* The instruction has another meaning elsewhere, and one for each processor. */
static void
rules_are_of_one_processor(void **state)
{
	static const unsigned char signs[] = { 0x2d }, with_pc[] = { 0x2c },
	    high[] = { 0x0d, 30 };
	struct making making;
	struct cfi_section section;

	(void)state;
	section = make_aarch64_section(&making, signs, sizeof signs);
	assert_int_equal(find_row(&section, 0x1000), CFI_FOUND);
	section.arch = &dwarf_x86_64;	/* whose return address has a column */
	assert_int_equal(find_row(&section, 0x1000), CFI_BAD);
	section = make_aarch64_section(&making, with_pc, sizeof with_pc);
	assert_int_equal(find_row(&section, 0x1000), CFI_FOUND);
	section = make_aarch64_section(&making, high, sizeof high);
	assert_int_equal(find_row(&section, 0x1000), CFI_FOUND);
	section = make_section(&making, false, signs, sizeof signs);
	assert_int_equal(find_row(&section, 0x1000), CFI_BAD);
	section.arch = &dwarf_aarch64;
	assert_int_equal(find_row(&section, 0x1000), CFI_BAD);
}

/* By the kernel's numbers: what perf asks for, and what it does not. */
static void
processors_are_told_by_their_registers(void **state)
{
	const uint64_t all_aarch64 = UINT64_C(0x1ffffffff);

	(void)state;
	assert_ptr_equal(dwarf_arch_of_perf(0xff0fff), &dwarf_x86_64);
	assert_ptr_equal(dwarf_arch_of_perf(0xff01ff), &dwarf_x86_64);
	assert_ptr_equal(dwarf_arch_of_perf(all_aarch64), &dwarf_aarch64);
	assert_ptr_equal(dwarf_arch_of_perf(all_aarch64 | UINT64_C(1) << 46),
	    &dwarf_aarch64);
	assert_null(dwarf_arch_of_perf(0));
	assert_null(dwarf_arch_of_perf(0xff0e7f));	/* x86-64 without sp */
	assert_null(dwarf_arch_of_perf(0xff1fff));	/* ds */
	assert_null(dwarf_arch_of_perf(0xffff));	/* 32-bit Arm */
	assert_null(dwarf_arch_of_perf(UINT64_C(0xffffffff)));	/* RISC-V */
	assert_null(dwarf_arch_of_perf(UINT64_C(0x3ffffffff)));	/* s390 */
	assert_ptr_equal(dwarf_arch_of_machine(62), &dwarf_x86_64);
	assert_ptr_equal(dwarf_arch_of_machine(183), &dwarf_aarch64);
	assert_null(dwarf_arch_of_machine(3));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leb128_has_at_most_ten_bytes),
		cmocka_unit_test(reading_beyond_the_end_sticks),
		cmocka_unit_test(rows_follow_every_instruction),
		cmocka_unit_test(sections_cut_at_every_byte_give_no_row),
		cmocka_unit_test(programs_cut_at_every_byte_read_nothing_after),
		cmocka_unit_test(malformed_programs_give_no_row),
		cmocka_unit_test(programs_have_a_limit),
		cmocka_unit_test(entries_have_many_forms),
		cmocka_unit_test(pointers_of_four_bytes_wrap_at_four),
		cmocka_unit_test(empty_entries_are_passed_over),
		cmocka_unit_test(cies_are_kept_for_a_generation),
		cmocka_unit_test(cies_do_not_mix),
		cmocka_unit_test(foreign_cies_give_no_row),
		cmocka_unit_test(states_nest),
		cmocka_unit_test(expressions_compute),
		cmocka_unit_test(expressions_give_up),
		cmocka_unit_test(expressions_have_limits),
		cmocka_unit_test(expressions_begin_with_a_value),
		cmocka_unit_test(steps_restore_what_can_be_known),
		cmocka_unit_test(below_the_stack_pointer_registers_are_popped),
		cmocka_unit_test(at_the_stack_pointer_registers_are_saved),
		cmocka_unit_test(cfas_can_be_computed),
		cmocka_unit_test(steps_end_without_return_address_or_stack),
		cmocka_unit_test(
		    return_addresses_in_registers_last_for_one_frame),
		cmocka_unit_test(rules_are_of_one_processor),
		cmocka_unit_test(processors_are_told_by_their_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
