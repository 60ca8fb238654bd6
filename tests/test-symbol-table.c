/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-symbol-table.c -- symbol tables made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/symbols/elf/elf_file.h"

static struct symbol_table *
table_of(const struct symbol *symbols, size_t n)
{
	struct error error = { 0 };
	struct symbol_table *table = symbol_table_new(&error);

	assert_non_null(table);
	for (size_t i = 0; i < n; i++) {
		struct symbol symbol = symbols[i];

		if (symbol.limit == 0)
			symbol.limit = 0x1000;
		assert_int_equal(symbol_table_add(table, &symbol, &error), 0);
	}
	assert_int_equal(symbol_table_sort(table, &error), 0);
	return table;
}

static const char *
name_at(const struct symbol_table *table, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(table, address);

	return symbol != NULL ? symbol->name : "none";
}

static void
symbol_table_knows_nothing_outside_symbols(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = 16, .name = "a" },
		{ .start = 0x200, .size = 16, .name = "b" },
	};
	struct symbol_table *table = table_of(symbols, 2);

	(void)state;
	assert_string_equal(name_at(table, 0xff), "none");
	assert_string_equal(name_at(table, 0x100), "a");
	assert_string_equal(name_at(table, 0x10f), "a");
	assert_string_equal(name_at(table, 0x110), "none");
	assert_string_equal(name_at(table, 0x200), "b");
	assert_string_equal(name_at(table, UINT64_MAX), "none");
	symbol_table_free(table);
}

static void
symbol_table_prefers_the_inner_of_nested_functions(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = 0x100, .name = "outer" },
		{ .start = 0x140, .size = 0x20, .name = "inner" },
		{ .start = 0x150, .size = 0x30, .name = "across" },
	};
	struct symbol_table *table = table_of(symbols, 3);

	(void)state;
	assert_string_equal(name_at(table, 0x13f), "outer");
	assert_string_equal(name_at(table, 0x140), "inner");
	assert_string_equal(name_at(table, 0x150), "across");
	assert_string_equal(name_at(table, 0x17f), "across");
	assert_string_equal(name_at(table, 0x180), "outer");
	assert_string_equal(name_at(table, 0x1ff), "outer");
	assert_string_equal(name_at(table, 0x200), "none");
	symbol_table_free(table);
}

static void
symbol_table_extends_unsized_symbols_to_the_next(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .name = "_init", .limit = 0x110 },
		{ .start = 0x200, .name = "start" },
		{ .start = 0x280, .size = 0x10, .name = "sized" },
		{ .start = 0x300, .name = "label", .is_label = true },
	};
	struct symbol_table *table = table_of(symbols, 4);

	(void)state;
	assert_string_equal(name_at(table, 0x10f), "_init");
	assert_string_equal(name_at(table, 0x110), "none");
	assert_string_equal(name_at(table, 0x27f), "start");
	assert_string_equal(name_at(table, 0x290), "none");
	assert_string_equal(name_at(table, 0xfff), "label");
	assert_string_equal(name_at(table, 0x1000), "none");
	symbol_table_free(table);
}

static void
symbol_table_prefers_functions_over_labels_inside_them(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = 0x40, .name = "function" },
		{ .start = 0x120, .name = "loop", .is_label = true },
		{ .start = 0x100, .name = "a", .is_label = true },
	};
	struct symbol_table *table = table_of(symbols, 3);

	(void)state;
	assert_string_equal(name_at(table, 0x100), "function");
	assert_string_equal(name_at(table, 0x130), "function");
	symbol_table_free(table);
}

static void
symbol_table_chooses_one_alias_in_any_order(void **state)
{
	struct symbol symbols[] = {
		{ .start = 0x100, .size = 8, .name = "x", .is_local = true },
		{ .start = 0x100, .size = 8, .name = "__read" },
		{ .start = 0x100, .size = 8, .name = "read_it" },
		{ .start = 0x100, .size = 8, .name = "reae" },
		{ .start = 0x100, .size = 8, .name = "read" },
	};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct symbol first = symbols[0];
		struct symbol_table *table = table_of(symbols, 5);

		assert_string_equal(name_at(table, 0x104), "read");
		symbol_table_free(table);
		memmove(symbols, symbols + 1, 4 * sizeof *symbols);
		symbols[4] = first;
	}
}

static void
symbol_table_bounds_sizes_by_the_section(void **state)
{
	const struct symbol symbols[] = {
		{ .start = 0x100, .size = UINT64_MAX, .name = "huge" },
		{ .start = 0x1000, .size = 8, .name = "beyond" },
	};
	struct symbol_table *table = table_of(symbols, 2);

	(void)state;
	assert_string_equal(name_at(table, 0xfff), "huge");
	assert_string_equal(name_at(table, 0x1000), "none");
	symbol_table_free(table);
}

/* Quadratic work would take hours here. */
static void
symbol_table_sorts_deep_nesting_fast(void **state)
{
	enum { N = 300000 };
	struct error error = { 0 };
	struct symbol_table *table = symbol_table_new(&error);

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		struct symbol symbol = { .start = i, .size = 2 * N - 2 * i,
			.limit = 2 * N, .name = i % 2 ? "odd" : "even" };

		assert_int_equal(symbol_table_add(table, &symbol, &error), 0);
	}
	assert_int_equal(symbol_table_sort(table, &error), 0);
	assert_string_equal(name_at(table, 5), "odd");
	assert_string_equal(name_at(table, N - 1), "odd");
	assert_string_equal(name_at(table, N + 1), "even");
	assert_string_equal(name_at(table, 2 * N - 1), "even");
	symbol_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbol_table_knows_nothing_outside_symbols),
		cmocka_unit_test(
		    symbol_table_prefers_the_inner_of_nested_functions),
		cmocka_unit_test(
		    symbol_table_extends_unsized_symbols_to_the_next),
		cmocka_unit_test(
		    symbol_table_prefers_functions_over_labels_inside_them),
		cmocka_unit_test(symbol_table_chooses_one_alias_in_any_order),
		cmocka_unit_test(symbol_table_bounds_sizes_by_the_section),
		cmocka_unit_test(symbol_table_sorts_deep_nesting_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
