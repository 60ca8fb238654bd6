/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-base.c -- errors, memory, names, bytes, tables, tasks. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/bytes.h"
#include "src/base/index.h"
#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/base/progress.h"
#include "src/base/table.h"
#include "src/base/task.h"
#include "src/base/text_buffer.h"

static void
error_keeps_the_first_text(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(error_set(&error, "line %d", 7), -1);
	assert_int_equal(error_set(&error, "later"), -1);
	assert_string_equal(error.text, "line 7");
}

static void
error_cuts_a_long_text(void **state)
{
	struct error error = { 0 };
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	error_set(&error, "%s", text);
	assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void
memory_array_refuses_an_overflowing_product(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_null(memory_array(SIZE_MAX / 2, 3, &error));
	assert_true(error.is_set);
}

static void
memory_text_ends_in_a_nul(void **state)
{
	struct error error = { 0 };
	char *text = memory_text("abc", 2, &error);
	char *empty = memory_text(NULL, 0, &error);

	(void)state;
	assert_string_equal(text, "ab");
	assert_string_equal(empty, "");
	free(text);
	free(empty);
}

static void
memory_grow_keeps_items(void **state)
{
	struct error error = { 0 };
	size_t capacity = 0;
	int *items = NULL;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(memory_grow(&items, &capacity, (size_t)i + 1,
		                             sizeof *items, &error), 0);
		items[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	assert_int_equal(memory_grow(&items, &capacity, SIZE_MAX,
	                             sizeof *items, &error), -1);
	assert_int_equal(items[999], 999);
	free(items);
}

static void
arena_gives_zeroed_aligned_memory(void **state)
{
	struct arena arena = { 0 };
	struct error error = { 0 };

	(void)state;
	for (size_t size = 1; size < 40000; size = size * 3 / 2 + 1) {
		char *bytes = arena_alloc(&arena, size, &error);

		assert_non_null(bytes);
		assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(bytes[i], 0);
		memset(bytes, 0xff, size);
		assert_string_equal(arena_text(&arena, "abc", 2, &error), "ab");
	}
	arena_free(&arena);
	assert_non_null(arena_alloc(&arena, 0, &error));
	arena_free(&arena);
}

static void
names_number_each_string_once(void **state)
{
	struct error error = { 0 };
	struct names *names = names_new(&error);
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 20000; i++) {
			int length = sprintf(text, "f%u", i);

			assert_int_equal(names_add(names, text,
			                           (size_t)length, &error), i);
		}
	assert_int_equal(names_count(names), 20000);
	assert_string_equal(names_text(names, 777), "f777");
	assert_int_equal(names_find(names, "f19999", 6), 19999);
	assert_int_equal(names_find(names, "g", 1), NO_NAME);
	names_free(names);
}

static void
names_take_what_a_format_makes(void **state)
{
	struct error error = { 0 };
	struct names *names = names_new(&error);
	uint32_t name = names_add_format(names, &error, "%s:%d", "f", 7);

	(void)state;
	assert_int_equal(name, names_find(names, "f:7", 3));
	assert_int_equal(name, names_add_format(names, &error, "f:%d", 7));
	names_free(names);
}

static void
names_tell_pairs_apart(void **state)
{
	struct error error = { 0 };
	struct names *names = names_new(&error);
	uint32_t pair = names_add_pair(names, "ab", 2, "\0c", 2, &error);

	(void)state;
	assert_int_equal(names_add_pair(names, "abc", 2, "\0c", 2, &error),
	                 pair);
	assert_int_not_equal(names_add_pair(names, "a", 1, "b\0c", 3, &error),
	                     pair);
	assert_int_not_equal(names_add_pair(names, "ab", 2, NULL, 0, &error),
	                     names_add(names, "ab", 2, &error));
	names_free(names);
}

static void
names_hold_any_bytes(void **state)
{
	struct error error = { 0 };
	struct names *names = names_new(&error);
	uint32_t empty = names_add(names, "", 0, &error);
	uint32_t nul = names_add(names, "a\0b", 3, &error);
	uint32_t a = names_add(names, "a", 1, &error);

	(void)state;
	assert_int_not_equal(nul, a);
	assert_int_equal(names_length(names, nul), 3);
	assert_true(names_compare(names, a, nul) < 0);
	assert_true(names_compare(names, empty, a) < 0);
	assert_true(names_compare(names, nul, nul) == 0);
	names_free(names);
}

static bool
is_number(const void *numbers, uint32_t i, const void *key)
{
	return ((const uint32_t *)numbers)[i] == *(const uint32_t *)key;
}

static void
index_finds_things_whose_hashes_are_equal(void **state)
{
	enum { N = 3000, N_HASHES = 70 };
	static uint32_t numbers[N];
	struct error error = { 0 };
	struct index index = { 0 };

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t number = i * 7 + 1, hash = number % N_HASHES;
		struct index_slot *slot;

		assert_int_equal(index_find(&index, hash, is_number, numbers,
		                            &number), NO_INDEX);
		slot = index_seek(&index, hash, is_number, numbers, &number,
		                  &error);
		assert_non_null(slot);
		assert_int_equal(slot->number, 0);
		numbers[i] = number;
		index_fill(&index, slot, hash, i);
	}
	assert_int_equal(index.n, N);
	assert_true(index.n_slots >= 2 * N);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t hash = numbers[i] % N_HASHES, other = numbers[i] + 1;

		assert_int_equal(index_find(&index, hash, is_number, numbers,
		                            &numbers[i]), i);
		assert_int_equal(index_seek(&index, hash, is_number, numbers,
		                            &numbers[i], &error)->number,
		                 i + 1);
		assert_int_equal(index_find(&index, hash, is_number, numbers,
		                            &other), NO_INDEX);
	}
	index_free(&index);
	assert_int_equal(index_find(&index, 0, is_number, numbers,
	                            &numbers[0]), NO_INDEX);
}

static void
index_is_as_it_was_if_nothing_is_filled(void **state)
{
	const uint32_t numbers[] = { 5, 6 };
	struct error error = { 0 };
	struct index index = { 0 };
	struct index_slot *slot;

	(void)state;
	slot = index_seek(&index, 9, is_number, numbers, &numbers[0], &error);
	index_fill(&index, slot, 9, 0);
	slot = index_seek(&index, 9, is_number, numbers, &numbers[1], &error);
	assert_int_equal(slot->number, 0);
	assert_int_equal(index.n, 1);
	assert_int_equal(index_find(&index, 9, is_number, numbers,
	                            &numbers[1]), NO_INDEX);
	assert_int_equal(index_find(&index, 9, is_number, numbers,
	                            &numbers[0]), 0);
	index_free(&index);
}

static void
bytes_stick_at_the_first_underflow(void **state)
{
	struct bytes bytes = bytes_of("\x01\x02\x03\x04\x05", 5);

	(void)state;
	assert_int_equal(bytes_number(&bytes, 4), 0x04030201);
	assert_false(bytes_failed(&bytes));
	assert_int_equal(bytes_number(&bytes, 2), 0);
	assert_true(bytes_failed(&bytes));
	assert_int_equal(bytes.offset, 4);
	assert_null(bytes_take(&bytes, 1));
}

static void
call_paths_walk_either_way(void **state)
{
	static const uint32_t parent[] = { NO_RECORD, 0, 1 };
	static const uint32_t name[] = { 10, 11, 12 };
	struct call_paths down = { .parent = parent, .name = name };
	struct call_paths up = down;
	uint32_t got[3];

	(void)state;
	up.is_innermost_first = true;
	assert_int_equal(call_paths_length(&down, 2), 3);
	call_paths_get(&down, 2, got);
	assert_int_equal(got[0], 10);
	assert_int_equal(got[2], 12);
	call_paths_get(&up, 2, got);
	assert_int_equal(got[0], 12);
	assert_int_equal(got[2], 10);
}

static void
table_keeps_rows_fields_and_lines(void **state)
{
	struct error error = { 0 };
	struct table table = { 0 };
	struct cell cells[2], got[2];

	(void)state;
	table_add_column(&table, "hits", "#hits", CELL_COUNT);
	table_add_column(&table, "what", "what", CELL_TEXT);
	for (uint64_t i = 0; i < 100; i++) {
		cells[0] = cell_count(i);
		cells[1] = cell_text(table_text(&table, &error, "row %d",
		                                (int)i));
		assert_int_equal(table_add_row(&table, cells, &error), 0);
	}
	assert_int_equal(table_add_field(&table, "total", NULL, cell_count(3),
	                                 &error), 0);
	assert_int_equal(table_add_header(&table, &error, "%s", "head"), 0);
	assert_int_equal(table_add_footer(&table, &error, "%s", "foot"), 0);
	table_get_row(&table, 42, got);
	assert_int_equal(got[0].count, 42);
	assert_string_equal(got[1].text, "row 42");
	assert_string_equal(table.footer[0], "foot");
	table_free(&table);
	assert_int_equal(table.n_rows, 0);
}

static void
progress_stops_when_asked(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_int_equal(progress_step(NULL, 1, 2, &error), 0);
	interrupt_requested = 1;
	assert_int_equal(progress_step(NULL, 1, 2, &error), -1);
	interrupt_requested = 0;
	assert_string_equal(error.text, "interrupted");
}

static int
compare_tens(const void *a, const void *b, void *context)
{
	int x = *(const int *)a / 10, y = *(const int *)b / 10;

	++*(size_t *)context;
	return (x > y) - (x < y);
}

/* The last digit is the position among equal items. */
static void
sort_keeps_equal_items_in_order(void **state)
{
	static int items[100000], next[1000];
	static const size_t counts[] = { 0, 1, 2, 15, 16, 17, 100, 33333,
		100000 };

	(void)state;
	srand(5);
	for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
		struct error error = { 0 };
		size_t n = counts[k], n_compared = 0;

		memset(next, 0, sizeof next);
		for (size_t i = 0; i < n; i++) {
			int ten = rand() % 1000;

			items[i] = 10 * ten + next[ten];
			next[ten] += next[ten] < 9;
		}
		assert_int_equal(sort_items(items, n, sizeof *items,
		                            compare_tens, &n_compared,
		                            &error), 0);
		for (size_t i = 1; i < n; i++)
			assert_true(items[i - 1] <= items[i]);
		for (int ten = 0; ten < 1000; ten++)
			next[ten] = 0;
		assert_true(n_compared <= 24 * n);
	}
}

static void
sort_ends_when_interrupted(void **state)
{
	static int items[40000];
	struct error error = { 0 };
	size_t n_compared = 0;

	(void)state;
	interrupt_requested = 1;
	assert_int_equal(sort_items(items, 40000, sizeof *items, compare_tens,
	                            &n_compared, &error), -1);
	interrupt_requested = 0;
	assert_string_equal(error.text, "interrupted");
}

/* Compared with a walk along the items, some of which are equal. */
static void
partition_point_counts_what_a_walk_counts(void **state)
{
	unsigned items[40];

	(void)state;
	for (size_t n = 0; n <= sizeof items / sizeof *items; n++) {
		for (size_t i = 0; i < n; i++)
			items[i] = (unsigned)(i * i / 8);
		for (unsigned x = 0; x <= 200; x++) {
			size_t below = 0, at_or_below = 0;

			while (below < n && items[below] < x)
				below++;
			while (at_or_below < n && items[at_or_below] <= x)
				at_or_below++;
			assert_int_equal(partition_point(n, i, items[i] < x),
			                 below);
			assert_int_equal(partition_point(n, i, items[i] <= x),
			                 at_or_below);
		}
	}
}

static void
text_lines_end_in_all_ways(void **state)
{
	static const char text[] = "one\r\n\ntwo\rthree\nfour";
	struct error error = { 0 };
	struct text_lines lines;
	char *bytes = malloc(sizeof text);

	(void)state;
	memcpy(bytes, text, sizeof text);
	assert_int_equal(text_lines_split(&lines, bytes, sizeof text - 1,
	                                  &error), 0);
	assert_int_equal(lines.n, 4);
	assert_string_equal(lines.lines[0], "one");
	assert_string_equal(lines.lines[1], "");
	assert_string_equal(lines.lines[2], "two\rthree");
	assert_string_equal(lines.lines[3], "four");
	text_lines_free(&lines);
	assert_int_equal(text_lines_split(&lines, calloc(1, 1), 0, &error),
	                 0);
	assert_int_equal(lines.n, 0);
	text_lines_free(&lines);
}

/* Its name says the opposite. */
static void
task_of_a_child_that_sleeps_and_ends(void **state)
{
	struct task own, task = { 0 };
	struct timespec boot;
	const pid_t child = fork();

	(void)state;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a) Z 1 2 (b");
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	while (task_read(child, &task) && task.state != 'S')
		usleep(1000);
	assert_int_equal(task.state, 'S');
	assert_int_equal(task.parent, getpid());
	assert_int_equal(task.n_threads, 1);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	assert_true(task_read(getpid(), &own));
	assert_in_range(task.start, own.start, (uint64_t)(boot.tv_sec + 1) *
	                (uint64_t)sysconf(_SC_CLK_TCK));
	assert_true(own.start > 0);
	kill(child, SIGKILL);
	while (task_read(child, &task) && task.state != 'Z')
		usleep(1000);
	assert_int_equal(task.state, 'Z');
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(task_read(child, &task));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sort_keeps_equal_items_in_order),
		cmocka_unit_test(sort_ends_when_interrupted),
		cmocka_unit_test(error_keeps_the_first_text),
		cmocka_unit_test(error_cuts_a_long_text),
		cmocka_unit_test(memory_array_refuses_an_overflowing_product),
		cmocka_unit_test(memory_text_ends_in_a_nul),
		cmocka_unit_test(memory_grow_keeps_items),
		cmocka_unit_test(arena_gives_zeroed_aligned_memory),
		cmocka_unit_test(names_number_each_string_once),
		cmocka_unit_test(names_take_what_a_format_makes),
		cmocka_unit_test(names_tell_pairs_apart),
		cmocka_unit_test(names_hold_any_bytes),
		cmocka_unit_test(index_finds_things_whose_hashes_are_equal),
		cmocka_unit_test(index_is_as_it_was_if_nothing_is_filled),
		cmocka_unit_test(bytes_stick_at_the_first_underflow),
		cmocka_unit_test(call_paths_walk_either_way),
		cmocka_unit_test(table_keeps_rows_fields_and_lines),
		cmocka_unit_test(partition_point_counts_what_a_walk_counts),
		cmocka_unit_test(text_lines_end_in_all_ways),
		cmocka_unit_test(progress_stops_when_asked),
		cmocka_unit_test(task_of_a_child_that_sleeps_and_ends),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
