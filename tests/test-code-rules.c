/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-code-rules.c -- rules from code are those that compilers write.
 *
 * libc has unwind tables for nearly all of its code.  The rules that are made
 * without looking at them must be the same.  tests/stepped.py tries the rules on
 * code that has no tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprof-code.h"
#include "src/symbols/names/code_decoder.h"
#include "src/symbols/unwind/code_rules.h"
#include "src/symbols/unwind/stack_unwinder.h"
#include "tests/random-numbers.h"
#include "tests/skip.h"

static unsigned
below(unsigned n)
{
	return (unsigned)(uniform() * n);
}

static const char *
libc_path(void)
{
	static char path[4096];
	struct link_map *map = dlopen("libc.so.6", RTLD_NOW);

	assert_non_null(map);
	snprintf(path, sizeof path, "%s", map->l_name);
	dlclose(map);
	return path;
}

/* ---- instructions ---- */

static void
instructions_have_the_lengths_that_capstone_knows(void **state)
{
	struct module_file module = { .path = libc_path() };
	struct code_decoder decoder;
	struct error error = { 0 };
	struct code_map map;
	size_t n = 0;

	(void)state;
	if (!code_decoder_open(&decoder, CS_ARCH_X86, CS_MODE_64, false))
		skip_since("capstone is not installed");
	assert_int_equal(code_map_read(&map, &module, &error), 0);
	for (size_t i = 0; i < map.n_sections; i++) {
		const uint8_t *at = map.sections[i].bytes;
		uint64_t address = map.sections[i].start;
		size_t left = (size_t)(map.sections[i].end - address);

		while (map.sections[i].is_code && left > 0) {
			const uint8_t *before = at;
			struct x86_instruction own;
			const bool is_own = x86_decode(at, left, address, &own);

			/* It does not know all of them. */
			if (!code_decoder_next(&decoder, &at, &left,
			                       &address)) {
				at += is_own ? own.size : 1;
				left -= is_own ? own.size : 1;
				address += is_own ? own.size : 1;
				continue;
			}
			assert_true(is_own);
			assert_int_equal(own.size, at - before);
			n++;
		}
	}
	assert_true(n > 100000);
	code_map_free(&map);
	code_decoder_close(&decoder);
}

static void
no_byte_beyond_the_end_is_read(void **state)
{
	(void)state;
	seed = 7;
	for (unsigned round = 0; round < 200000; round++) {
		const size_t size = below(X86_SIZE_MAX + 1);
		unsigned char *code = malloc(size + (size == 0));
		struct x86_instruction i;

		assert_non_null(code);
		for (size_t k = 0; k < size; k++)
			code[k] = (unsigned char)below(256);
		if (x86_decode(code, size, round, &i)) {
			assert_in_range(i.size, 1, size);
			assert_int_equal(x86_written(&i) >> 16, 0);
		}
		assert_true(x86_padding(code, size) <= size);
		free(code);
	}
}

/* ---- rules ---- */

struct agreement {
	size_t n_same, n_none, n_other;
};

/* Whether a row of a table can be compared. */
static bool
is_plain(const struct cfi_row *row)
{
	return !row->is_signal && row->kinds[CFI_CFA] == CFI_REGISTER &&
	    row->kinds[X86_64_RIP] == CFI_OFFSET;
}

/* Bases may differ, as rsp and rbp do, and say the same. */
static bool
is_same_row(const struct cfi_row *table, const struct cfi_row *code)
{
	if (code->kinds[X86_64_RIP] == CFI_UNDEFINED)
		return false;
	if (table->cfa_register == code->cfa_register &&
	    table->operands[CFI_CFA].offset != code->operands[CFI_CFA].offset)
		return false;
	for (unsigned i = 0; i < X86_64_REGISTERS; i++)
		if (table->cfa_register == code->cfa_register &&
		    table->kinds[i] == CFI_OFFSET &&
		    code->kinds[i] == CFI_OFFSET &&
		    table->operands[i].offset != code->operands[i].offset)
			return false;
	return true;
}

static void
compare_section(const struct code_section *section,
                const struct module_file *module, struct unwind_table *table,
                struct code_rules *rules, struct agreement *agreement)
{
	static struct cfi_scratch scratch;
	struct error error = { 0 };

	for (uint64_t address = section->start; address < section->end;) {
		struct x86_instruction i;
		struct cfi_row row;
		int found;

		if (!x86_decode(section->bytes + (address - section->start),
		                (size_t)(section->end - address), address,
		                &i)) {
			address++;
			continue;
		}
		if (unwind_table_find(table, module, address, &scratch) &&
		    is_plain(&scratch.row)) {
			found = code_rules_find(rules, address, &row, &error);
			assert_int_not_equal(found, -1);
			if (found == 0)
				agreement->n_none++;
			else if (is_same_row(&scratch.row, &row))
				agreement->n_same++;
			else
				agreement->n_other++;
		}
		address += i.size;
	}
}

/*
 * What differs is nearly all in parts of functions that only tables of jumps or
 * exceptions lead to: there a rule is proved only by who calls it.
 */
static void
rules_are_those_of_tables_all_over_libc(void **state)
{
	struct module_file module = { .path = libc_path() };
	struct agreement agreement = { 0 };
	struct error error = { 0 };
	struct unwind_table *table = unwind_table_read(&module, &error);
	struct code_rules *rules = code_rules_new(&module, &error);
	struct code_map map;

	(void)state;
	assert_non_null(table);
	assert_non_null(rules);
	assert_int_equal(code_map_read(&map, &module, &error), 0);
	for (size_t i = 0; i < map.n_sections; i++)
		if (map.sections[i].is_code)
			compare_section(&map.sections[i], &module, table, rules,
			                &agreement);
	print_message("%zu same, %zu other, %zu none\n", agreement.n_same,
	              agreement.n_other, agreement.n_none);
	assert_true(agreement.n_same > 100000);
	assert_true(agreement.n_other < agreement.n_same / 200);
	assert_true(agreement.n_none < agreement.n_same / 10);
	code_map_free(&map);
	code_rules_free(rules);
	unwind_table_free(table);
}

/* ---- calls ---- */

/* Functions that are never called. */
__asm__(".text\n"
        ".type proof_callee, @function\n"
        "proof_callee:\n\tnop\n\tret\n"
        ".type proof_other, @function\n"
        "proof_other:\n\tnop\n\tret\n"
        ".type proof_tail, @function\n"
        "proof_tail:\n\tjmp proof_callee\n"
        ".type proof_caller, @function\n"
        "proof_caller:\n\tcall proof_tail\n"
        "proof_direct:\n\tcall *%rax\n"
        "proof_indirect:\n\tcall proof_other\n"
        "proof_second:\n\tret\n");
extern const char proof_callee[], proof_other[], proof_direct[],
    proof_indirect[], proof_second[];

static void
callers_have_called_what_they_are_left_for(void **state)
{
	const struct {
		const char *caller, *callee;
		bool is_other;
		enum code_answer answer;
	} cases[] = {
		{ proof_direct, proof_callee, false, CODE_YES },
		{ proof_direct, proof_callee + 1, false, CODE_YES },
		{ proof_direct, proof_other, false, CODE_NO },
		{ proof_direct, proof_callee, true, CODE_NO },
		{ proof_indirect, proof_other, false, CODE_YES },
		{ proof_indirect, proof_other, true, CODE_YES },
		{ proof_second, proof_other, false, CODE_YES },
		{ proof_second, proof_callee, false, CODE_NO },
		{ proof_other, proof_callee, false, CODE_NO },
	};
	struct module_file module = { .path = "/proc/self/exe" };
	struct error error = { 0 };
	struct code_rules *rules = code_rules_new(&module, &error);
	struct link_map *map;
	Dl_info info;

	(void)state;
	assert_non_null(rules);
	assert_int_not_equal(dladdr1(proof_callee, &info, (void **)&map,
	                             RTLD_DL_LINKMAP), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		print_message("case %zu\n", i);
		assert_int_equal(code_rules_is_called(rules,
		    (uintptr_t)cases[i].caller - map->l_addr,
		    (uintptr_t)cases[i].callee - map->l_addr,
		    cases[i].is_other, &error), cases[i].answer);
	}
	code_rules_free(rules);
}

/* ---- damaged files ---- */

/* A file of the user's own: it is known by its size and time. */
static struct module_file
module_of_file(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (struct module_file){ .path = path,
		.size = (uint64_t)status.st_size,
		.mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
		    (uint64_t)status.st_mtim.tv_nsec };
}

static bool
answer(void *is_over)
{
	return *(const bool *)is_over;
}

/* The file of rules for the collector, whose sizes must be those of its parts. */
static struct cpprof_code_header
check_file(const struct module_file *module, bool is_over)
{
	struct cpprof_code_header header;
	struct error error = { 0 };
	unsigned char *bytes;
	size_t size;

	assert_int_equal(code_file_make(module, answer, &is_over, &bytes,
	                                &size, &error), 0);
	assert_true(size >= sizeof header);
	memcpy(&header, bytes, sizeof header);
	assert_int_equal(header.magic, CPPROF_CODE_MAGIC);
	assert_int_equal(cpprof_code_size(&header), size);
	free(bytes);
	return header;
}

/* Asks about all code of a file. */
static void
ask_everything(const char *path)
{
	const struct module_file module = module_of_file(path);
	struct error error = { 0 };
	struct code_rules *rules = code_rules_new(&module, &error);
	struct code_map map;
	uint64_t last = 0;

	assert_non_null(rules);
	assert_int_equal(code_map_read(&map, &module, &error), 0);
	assert_int_not_equal(map.n_sections, 0);
	for (size_t i = 0; i < map.n_sections; i++) {
		const struct code_section *section = &map.sections[i];

		for (uint64_t address = section->start;
		     section->is_code && address < section->end;
		     address += 7) {
			struct cfi_row row;

			assert_int_not_equal(code_rules_find(rules, address,
			    &row, &error), -1);
			assert_int_not_equal(code_rules_is_called(rules,
			    address, last, address % 2 == 0, &error),
			    CODE_NO_MEMORY);
			assert_int_not_equal(code_rules_reaches(rules, last,
			    address, &error), CODE_NO_MEMORY);
			last = address;
		}
	}
	code_map_free(&map);
	code_rules_free(rules);
	check_file(&module, false);
}

/* libc has tables for nearly all, but many functions that lead anywhere. */
static void
files_have_what_no_table_covers(void **state)
{
	const struct module_file libc = { .path = libc_path() };
	const struct module_file none = { .path = "/nonexistent" };
	struct cpprof_code_header header = check_file(&libc, false);

	(void)state;
	assert_in_range(header.n_ranges, 1, 1000);
	assert_in_range(header.n_functions, 100, 10000);
	assert_true(header.is_complete);
	header = check_file(&libc, true);
	assert_int_equal(header.n_ranges, 0);
	assert_false(header.is_complete);
	header = check_file(&none, false);
	assert_int_equal(header.n_ranges + header.n_functions, 0);
	assert_false(header.is_complete);
}

static void
damaged_code_is_survived(void **state)
{
	const unsigned n_rounds = getenv("CHECK_QUICK") != NULL ? 2 : 10;
	char path[] = "/tmp/cpprof-test-XXXXXX";
	const int to = mkstemp(path);
	const int from = open("/proc/self/exe", O_RDONLY);
	static unsigned char bytes[8 << 20];
	ssize_t size;

	(void)state;
	seed = 11;
	assert_true(to >= 0 && from >= 0);
	size = pread(from, bytes, sizeof bytes, 0);
	assert_true(size > 4096);
	for (unsigned round = 0; round < n_rounds; round++) {
		/* The header stays: it would not be opened. */
		for (unsigned i = 0; i < 2000; i++)
			bytes[4096 + below((unsigned)size - 4096)] =
			    (unsigned char)below(256);
		assert_int_equal(pwrite(to, bytes, (size_t)size, 0), size);
		ask_everything(path);
	}
	close(from);
	close(to);
	unlink(path);
}

/* A file whose code is all one byte; the headers stay. */
static void
check_filled(unsigned char byte)
{
	char path[] = "/tmp/cpprof-test-XXXXXX";
	const int to = mkstemp(path);
	const int from = open("/proc/self/exe", O_RDONLY);
	static unsigned char bytes[8 << 20];
	struct module_file module;
	struct error error = { 0 };
	struct code_map map;
	Elf64_Ehdr header;
	size_t n_code = 0;
	ssize_t size;

	assert_true(to >= 0 && from >= 0);
	size = pread(from, bytes, sizeof bytes, 0);
	assert_true(size > 4096);
	memcpy(&header, bytes, sizeof header);
	assert_in_range(header.e_shoff, 4096, size);
	memset(bytes + 4096, byte, header.e_shoff - 4096);
	assert_int_equal(pwrite(to, bytes, (size_t)size, 0), size);
	module = module_of_file(path);
	assert_int_equal(code_map_read(&map, &module, &error), 0);
	for (size_t i = 0; i < map.n_sections; i++)
		if (map.sections[i].is_code)
			n_code += map.sections[i].end - map.sections[i].start;
	assert_true(n_code > 50000);
	/* Each look at padding ends some way further on. */
	assert_true(map.n_unreached < n_code / 1000);
	code_map_free(&map);
	close(from);
	close(to);
	unlink(path);
}

static void
long_padding_is_looked_at_once(void **state)
{
	(void)state;
	check_filled(0xcc);
	check_filled(0x90);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    instructions_have_the_lengths_that_capstone_knows),
		cmocka_unit_test(no_byte_beyond_the_end_is_read),
		cmocka_unit_test(rules_are_those_of_tables_all_over_libc),
		cmocka_unit_test(callers_have_called_what_they_are_left_for),
		cmocka_unit_test(files_have_what_no_table_covers),
		cmocka_unit_test(damaged_code_is_survived),
		cmocka_unit_test(long_padding_is_looked_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
