/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-gmon.c -- the reader of gmon.out, on files made here.
 *
 * Their program is this test itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/formats/exporter.h"
#include "src/formats/format.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/program.h"
#include "tests/reading-again.h"
#include "tests/skip.h"

extern const struct format format_gmon, format_callgrind;
extern const struct exporter exporter_callgrind;

static const char self_path[] = "/proc/self/exe";

/* Two functions of some size, one right after the other. */
struct pair {
	uint64_t first, second, third;	/* third: the second's end */
	uint32_t first_number, second_number;
};

struct file {
	unsigned char bytes[4096];
	size_t size;
};

static void
put(struct file *file, uint64_t number, size_t n)
{
	for (size_t i = 0; i < n; i++, number >>= 8)
		file->bytes[file->size++] = (unsigned char)number;
}

static void
put_head(struct file *file)
{
	memcpy(file->bytes, "gmon\1\0\0\0", 8);
	file->size = 20;
}

/* Bins of four bytes. */
static void
put_histogram(struct file *file, uint64_t low, const uint16_t *bins,
              uint32_t n)
{
	put(file, 0, 1);
	put(file, low, 8);
	put(file, low + 4 * (uint64_t)n, 8);
	put(file, n, 4);
	put(file, 100, 4);
	memcpy(file->bytes + file->size, "seconds\0\0\0\0\0\0\0\0s", 16);
	file->size += 16;
	for (uint32_t i = 0; i < n; i++)
		put(file, bins[i], 2);
}

static void
put_call(struct file *file, uint64_t from, uint64_t to, uint32_t count)
{
	put(file, 1, 1);
	put(file, from, 8);
	put(file, to, 8);
	put(file, count, 4);
}

static struct profile *
read_file(const struct file *file, size_t size, const char *program,
          struct error *error)
{
	struct read_options options = { .program = program };
	struct source *source = source_of_memory("gmon", file->bytes, size,
	                                         error);
	struct profile *profile;

	assert_non_null(source);
	profile = format_gmon.read(source, &options, error);
	source_close(source);
	assert_int_equal(profile == NULL, error->is_set);
	return profile;
}

static struct profile *
read_whole(const struct file *file)
{
	const struct read_options options = { .program = self_path };
	struct error error = { 0 };
	struct profile *profile = read_file(file, file->size, self_path,
	                                    &error);

	if (profile == NULL)
		fail_msg("%s", error.text);
	check_again(&format_gmon, &options, file->bytes, file->size, profile);
	assert_int_equal(profile->n_processes, 1);
	assert_string_equal(profile->processes[0].program, self_path);
	return profile;
}

/* Finds two neighbours; *names is to be freed. */
static struct pair
find_pair(void)
{
	const struct symbol_search search = { 0 };
	struct error error = { 0 };
	struct names *names = names_new(&error);
	struct program *program = program_read(self_path, &search, names,
	                                       &error);
	struct pair pair = { 0 };

	assert_non_null(program);
	for (uint32_t i = 0; pair.first == 0 && i + 1 < program->functions.n;
	     i++) {
		const struct program_function *function =
		    &program->functions.items[i];

		if (function->end - function->start >= 16 &&
		    function->end == function[1].start &&
		    function[1].end - function[1].start >= 16 &&
		    function->end % 4 == 0)
			pair = (struct pair){ function->start, function->end,
				              function[1].end, i, i + 1 };
	}
	assert_true(pair.first > 0);
	program_free(program);
	names_free(names);
	return pair;
}

static uint64_t
self_of(const struct profile *profile, uint32_t node)
{
	return *call_graph_self(profile->graph, node);
}

static uint64_t
calls_of(const struct profile *profile, uint32_t caller, uint32_t callee)
{
	const struct call_graph *graph = profile->graph;

	for (uint32_t i = 0; i < graph->n_arcs; i++)
		if (graph->arcs[i].caller == caller &&
		    graph->arcs[i].callee == callee)
			return graph->arcs[i].calls;
	return 0;
}

static void
ticks_fall_on_functions(void **state)
{
	struct pair pair = find_pair();
	struct file file = { 0 };
	struct profile *profile;

	(void)state;
	put_head(&file);
	put_histogram(&file, pair.second - 8, (uint16_t[]){ 1, 2, 30 }, 3);
	profile = read_whole(&file);
	assert_int_equal(self_of(profile, pair.first_number), 3);
	assert_int_equal(self_of(profile, pair.second_number), 30);
	assert_string_equal(profile->resources[0].name, "cpu");
	assert_string_equal(profile->resources[0].gtick, "microsecond");
	assert_int_equal(profile->resources[0].interval, 10000);
	profile_free(profile);
}

static void
a_shared_bin_is_split(void **state)
{
	struct pair pair = find_pair();
	struct file file = { 0 };
	struct profile *profile;

	(void)state;
	put_head(&file);
	put_histogram(&file, pair.second - 6, (uint16_t[]){ 1, 5, 2 }, 3);
	profile = read_whole(&file);
	/*
	 * Hits are half ticks: each function has half of the five in the
	 * middle.
	 */
	assert_int_equal(profile->resources[0].interval, 5000);
	assert_int_equal(self_of(profile, pair.first_number), 2 + 5);
	assert_int_equal(self_of(profile, pair.second_number), 5 + 4);
	profile_free(profile);
}

static void
calls_are_counted(void **state)
{
	struct pair pair = find_pair();
	struct file file = { 0 };
	struct profile *profile;

	(void)state;
	put_head(&file);
	put_call(&file, pair.first + 4, pair.second + 8, 7);
	put_call(&file, pair.first + 12, pair.second, 4000000000u);
	put_call(&file, 1, pair.second, 5);
	profile = read_whole(&file);
	assert_int_equal(calls_of(profile, pair.first_number,
	                          pair.second_number), 4000000007);
	assert_false(profile->graph->has_hits);
	assert_string_equal(profile->tallies[0].what,
	                    "calls outside the program's functions");
	assert_int_equal(profile->tallies[0].count, 5);
	assert_int_equal(profile->n_warnings, 1);
	profile_free(profile);
}

static int
take(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

/* A graph that has no lines. */
static void
calls_come_back_from_callgrind(void **state)
{
	struct pair pair = find_pair();
	struct file file = { 0 };
	struct text_buffer text = { 0 };
	struct error error = { 0 };
	const struct read_options options = { 0 };
	static struct writer writer;
	struct profile *profile, *back;
	struct export_source what;
	struct source *source;
	uint64_t n_changed, calls = 0;

	(void)state;
	put_head(&file);
	put_histogram(&file, pair.second - 8, (uint16_t[]){ 1, 2, 30 }, 3);
	put_call(&file, pair.first + 4, pair.second + 8, 7);
	profile = read_whole(&file);
	what = (struct export_source){ .profile = profile,
		.inlines = INLINES_ON };
	writer_start(&writer, take, &text);
	assert_int_equal(exporter_callgrind.write(&what, &writer, &n_changed,
	                                          &error), 0);
	assert_int_equal(writer_flush(&writer), 0);
	source = source_of_memory("text", text.bytes, text.length, &error);
	back = format_callgrind.read(source, &options, &error);
	if (back == NULL)
		fail_msg("%s", error.text);
	assert_int_equal(call_graph_total(back->graph, 0), 33);
	for (uint32_t i = 0; i < back->graph->n_arcs; i++)
		calls += back->graph->arcs[i].calls;
	assert_int_equal(calls, 7);
	profile_free(back);
	source_close(source);
	text_free(&text);
	profile_free(profile);
}

/* main of this test calls cmocka directly. */
static void
calls_in_the_code_are_arcs(void **state)
{
	struct error error = { 0 };
	struct file file = { 0 };
	struct profile *profile;
	const struct call_graph *graph;
	bool is_found = false;
	uint32_t caller, callee;

	(void)state;
#if !defined __x86_64__ && !defined __i386__
	skip_since("calls are found in the code of x86 alone");
#endif
	put_head(&file);
	profile = read_whole(&file);
	graph = profile->graph;
	caller = names_add(profile->names, "ticks_fall_on_functions", 23,
	                   &error);
	callee = names_add(profile->names, "find_pair", 9, &error);
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		is_found |= graph->nodes[graph->arcs[i].caller].name ==
		            caller &&
		            graph->nodes[graph->arcs[i].callee].name ==
		            callee && graph->arcs[i].calls == 0;
	/* Unless it was inlined into all its callers. */
	assert_true(is_found || graph->n_arcs > 100);
	profile_free(profile);
}

static void
wrong_input_is_named(void **state)
{
	struct file file = { 0 };
	struct error error = { 0 };

	(void)state;
	put_head(&file);
	put(&file, 9, 1);
	assert_null(read_file(&file, file.size, self_path, &error));
	assert_string_equal(error.text, "gmon: 0x14: expected a record of "
	                    "kind 0, 1 or 2");
	error = (struct error){ 0 };
	assert_null(read_file(&file, file.size, NULL, &error));
	assert_string_equal(error.text, "gmon: needs the program that wrote "
	                    "it beside it: cpprof PROGRAM gmon");
	error = (struct error){ 0 };
	assert_null(read_file(&file, file.size, "/dev/null", &error));
	assert_string_equal(error.text,
	                    "/dev/null: cannot be read as a program");
}

/* Cut anywhere, the file gives its complete records, and a warning. */
static void
every_truncation_is_an_answer(void **state)
{
	struct pair pair = find_pair();
	struct file file = { 0 };
	size_t ends[3];
	uint64_t most = 0;

	(void)state;
	put_head(&file);
	put_histogram(&file, pair.first, (uint16_t[]){ 1, 2 }, 2);
	ends[0] = file.size;
	put_call(&file, pair.first, pair.second, 7);
	ends[1] = file.size;
	put_call(&file, pair.second, pair.first, 8);
	ends[2] = file.size;
	for (size_t size = 0; size <= file.size; size++) {
		struct error error = { 0 };
		struct profile *profile = read_file(&file, size, self_path,
		                                    &error);
		bool is_whole = size == 20 || size == ends[0] ||
		                size == ends[1] || size == ends[2];

		if (profile == NULL) {
			assert_true(size < ends[0] && size != 20);
			continue;
		}
		assert_int_equal(profile->n_warnings, is_whole ? 0 : 1);
		assert_int_equal(calls_of(profile, pair.first_number,
		                          pair.second_number),
		                 size >= ends[1] ? 7 : 0);
		most = self_of(profile, pair.first_number);
		profile_free(profile);
	}
	assert_int_equal(most, 3);
}

static void
sizes_are_checked(void **state)
{
	struct file file = { 0 };
	struct error error = { 0 };

	(void)state;
	put_head(&file);
	put(&file, 0, 1);
	put(&file, 0, 8);
	put(&file, UINT64_MAX, 8);
	put(&file, UINT32_MAX, 4);	/* bins */
	put(&file, 100, 4);
	put(&file, 0, 16);
	assert_null(read_file(&file, file.size, self_path, &error));
	assert_string_equal(error.text, "gmon: 0x14: cut short in its first "
	                    "record");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_fall_on_functions),
		cmocka_unit_test(a_shared_bin_is_split),
		cmocka_unit_test(calls_are_counted),
		cmocka_unit_test(calls_come_back_from_callgrind),
		cmocka_unit_test(calls_in_the_code_are_arcs),
		cmocka_unit_test(wrong_input_is_named),
		cmocka_unit_test(every_truncation_is_an_answer),
		cmocka_unit_test(sizes_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
