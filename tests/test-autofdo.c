/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-autofdo.c -- the text that clang reads, of stacks made here.
 *
 * What is expected is written as LLVM describes it, in
 * llvm/include/llvm/ProfileData/SampleProfReader.h.  Counts by instructions are
 * those of a function in assembly, whose blocks and instructions are counted by
 * hand.
 */
#include "tests/module-fixture.h"

#include <errno.h>

#include "src/formats/exporter.h"
#include "tests/failing-memory.h"

extern const struct exporter exporter_autofdo;

/* ---- profiles ---- */

static struct profile *profile;
static struct tree_builder *builder;

static void
begin(const char *first_module)
{
	struct error error = { 0 };

	profile = profile_new(&error);
	builder = tree_builder_new(1, &error);
	profile_add_resource(profile, "cpu", "microsecond", 1000, &error);
	profile_add_module(profile, first_module, NULL, 0, &error);
	assert_false(error.is_set);
}

/* Where code is: a line of a function that begins at another one. */
struct place {
	const char *symbol;	/* NULL: none */
	uint32_t start_line, line, discriminator;
};

static uint32_t
add_frame_at(uint32_t module, uint64_t address, const struct place *places,
             uint32_t n)
{
	struct location locations[4] = { 0 };
	struct error error = { 0 };
	uint32_t frame;

	for (uint32_t i = 0; i < n; i++) {
		const struct place *place = &places[i];

		locations[i] = (struct location){
			.function = names_add(profile->names, "shown", 5,
			                      &error),
			.file = NO_NAME,
			.line = place->line,
			.linkage = place->symbol == NULL ? NO_NAME :
			    names_add(profile->names, place->symbol,
			              strlen(place->symbol), &error),
			.start_line = place->start_line,
			.discriminator = place->discriminator,
		};
	}
	frame = profile_add_frame(profile, module, address, locations, n,
	                          &error);
	assert_false(error.is_set);
	return frame;
}

/* A frame whose code cannot be read: it has only its hits. */
#define add_frame(...) \
	add_frame_at(0, 0x1000 + 16 * profile->n_frames, \
	             (const struct place[]){ __VA_ARGS__ }, \
	             sizeof (struct place[]){ __VA_ARGS__ } / \
	             sizeof(struct place))

/* Hits of the last of n frames, which are called in this order. */
static void
add_hits(uint64_t hits, uint32_t n, const uint32_t *frames)
{
	struct error error = { 0 };
	uint32_t node = NO_NODE;

	for (uint32_t i = 0; i < n; i++)
		node = tree_builder_child(builder, node, frames[i], &error);
	assert_int_equal(tree_builder_add(builder, node, 0, hits, hits,
	                                  &error), 0);
}

#define add_stack(hits, ...) \
	add_hits(hits, sizeof (uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t), \
	         (const uint32_t[]){ __VA_ARGS__ })

/* ---- what is written ---- */

static struct text_buffer text, remark;

static int
take(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

static int
fill_up(void *context, const char *bytes, size_t n)
{
	(void)context;
	(void)bytes;
	(void)n;
	return ENOSPC;
}

static int
try_export(writer_function *to, struct error *error)
{
	static struct writer writer;
	const struct export_source source = {
		.profile = profile, .remark = &remark,
	};
	uint64_t n_changed = 7;
	int result;

	text_clear(&text);
	text_clear(&remark);
	writer_start(&writer, to, &text);
	result = exporter_autofdo.write(&source, &writer, &n_changed, error);
	writer_flush(&writer);
	assert_int_equal(n_changed, 0);
	return result;
}

static void
finish(void)
{
	struct error error = { 0 };

	if (builder != NULL)
		profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	builder = NULL;
	assert_false(error.is_set);
}

static void
end(void)
{
	profile_free(profile);
	text_free(&text);
	text_free(&remark);
	text = remark = (struct text_buffer){ 0 };
}

/* The profile is complete; its text is that, and its remark begins so. */
static void
assert_text(const char *expected, const char *expected_remark)
{
	struct error error = { 0 };

	finish();
	if (try_export(take, &error) != 0)
		fail_msg("%s", error.text);
	text_add_char(&text, '\0');
	text_add_char(&remark, '\0');
	assert_string_equal(text.bytes, expected);
	if (strncmp(remark.bytes, expected_remark, strlen(expected_remark)) != 0)
		fail_msg("%s", remark.bytes);
}

/* ---- lines, calls and inlined functions ---- */

/* The example of export_autofdo.c; 2 << 1 is LLVM's code of discriminator 2. */
static void
autofdo_writes_what_its_head_shows(void **state)
{
	uint32_t line, call, inlined, work;

	(void)state;
	begin("/nowhere/program");
	line = add_frame({ "main", 10, 13, 0 });
	call = add_frame({ "main", 10, 14, 2 << 1 });
	inlined = add_frame({ "main", 10, 15, 0 }, { "sum", 40, 41, 0 });
	work = add_frame({ "work", 100, 107, 0 });
	add_stack(20, line);
	add_stack(40, call);
	add_stack(60, inlined);
	add_stack(30, call, work);
	assert_text("main:120000:0\n"
	            " 3: 20000\n"
	            " 4.2: 40000 work:40000\n"
	            " 5: sum:60000\n"
	            "  1: 60000\n"
	            "work:30000:40000\n"
	            " 7: 30000\n",
	            "100.0% of 150 hits have a line in a function that the "
	            "compiler can find; counts are 1000 for each hit");
	end();
}

/* Each is called as often as its share of the hits below the line says. */
static void
autofdo_divides_a_line_among_its_calls(void **state)
{
	uint32_t call, other_call, f, f_else, g, h;

	(void)state;
	begin("/nowhere/program");
	call = add_frame({ "main", 1, 2, 0 });
	other_call = add_frame({ "main", 1, 3, 0 });
	f = add_frame({ "f", 1, 1, 0 });
	f_else = add_frame({ "f", 1, 5, 0 });
	g = add_frame({ "g", 1, 4, 0 });
	h = add_frame({ "h", 1, 1, 0 });
	add_stack(8, call);
	add_stack(20, call, f);
	add_stack(10, call, f_else);
	add_stack(4, call, g);
	add_stack(6, call, g, h);
	add_stack(2, other_call);
	add_stack(5, other_call, f);
	/* 30 and 10 of the 40 hits below the line; 10 of 10 below the other. */
	assert_text("f:35000:8000\n"
	            " 0: 25000\n"
	            " 4: 10000\n"
	            "main:10000:0\n"
	            " 1: 8000 f:6000 g:2000\n"
	            " 2: 2000 f:2000\n"
	            "h:6000:4000\n"
	            " 0: 6000\n"
	            "g:4000:2000\n"
	            " 3: 4000 h:4000\n",
	            "100.0% of 55 hits");
	end();
}

/* Of a recursive function, all levels above the hits are calls. */
static void
autofdo_counts_recursive_calls(void **state)
{
	uint32_t call, f, g;

	(void)state;
	begin("/nowhere/program");
	call = add_frame({ "main", 1, 2, 0 });
	f = add_frame({ "f", 1, 6, 0 });
	g = add_frame({ "g", 1, 6, 0 });
	add_stack(1, f, g);
	add_stack(1, call);
	add_stack(7, call, f, f, f);
	add_stack(1, call, f, f);
	add_stack(1, call, f);
	/* 7 + 7 + 1 hits are below calls of f on its line, and 1 below g. */
	assert_text("f:9000:9437\n"
	            " 5: 9000 f:8437 g:562\n"
	            "g:1000:562\n"
	            " 5: 1000\n"
	            "main:1000:0\n"
	            " 1: 1000 f:1000\n",
	            "100.0% of 11 hits");
	end();
}

/* Inlined in one another; equal functions at two lines are two. */
static void
autofdo_nests_inlined_functions(void **state)
{
	uint32_t frames[5], call;

	(void)state;
	begin("/nowhere/program");
	frames[0] = add_frame({ "a", 1, 3, 0 }, { "b", 20, 22, 4 },
	                      { "c", 30, 33, 0 });
	frames[1] = add_frame({ "a", 1, 3, 0 }, { "b", 20, 24, 0 });
	frames[2] = add_frame({ "a", 1, 4, 0 }, { "b", 20, 24, 0 });
	frames[3] = add_frame({ "a", 1, 3, 0 });
	frames[4] = add_frame({ "a", 1, 3, 0 }, { "b", 20, 22, 0 });
	call = add_frame({ "main", 1, 2, 0 });
	add_stack(40, call);
	for (uint32_t i = 0; i < 5; i++)
		add_stack(1u << i, call, frames[i]);
	/* Who is called is the function around the others. */
	assert_text("main:40000:0\n"
	            " 1: 40000 a:40000\n"
	            "a:31000:40000\n"
	            " 2: 8000\n"
	            " 2: b:19000\n"
	            "  2: 16000\n"
	            "  2.2: c:1000\n"
	            "   3: 1000\n"
	            "  4: 2000\n"
	            " 3: b:4000\n"
	            "  4: 4000\n",
	            "100.0% of 71 hits");
	end();
}

/* By their counts; equal ones by name. */
static void
autofdo_sorts_functions(void **state)
{
	static const char *const symbols[] = { "d", "a", "c", "b" };

	(void)state;
	begin("/nowhere/program");
	for (uint32_t i = 0; i < 4; i++)
		add_stack(i == 2 ? 9 : 5, add_frame({ symbols[i], 1, 1, 0 }));
	assert_text("c:9000:0\n 0: 9000\n"
	            "a:5000:0\n 0: 5000\n"
	            "b:5000:0\n 0: 5000\n"
	            "d:5000:0\n 0: 5000\n", "100.0% of 24 hits");
	end();
}

/* Parts and copies of a function are that function; offsets have 16 bits. */
static void
autofdo_merges_parts_of_functions(void **state)
{
	(void)state;
	begin("/nowhere/program");
	add_stack(1, add_frame({ "f", 10, 12, 0 }));
	add_stack(2, add_frame({ "f.llvm.123", 10, 12, 0 }));
	add_stack(4, add_frame({ "f.part.0", 10, 12, 0 }));
	add_stack(4, add_frame({ "f.cold", 10, 12, 0 }));
	add_stack(4, add_frame({ "f.part.0.cold", 10, 12, 0 }));
	add_stack(16, add_frame({ "f", 10, 9, 0 }));
	add_stack(32, add_frame({ ".cold", 10, 12, 0 }));
	assert_text(".cold:32000:0\n"
	            " 2: 32000\n"
	            "f:31000:0\n"
	            " 2: 15000\n"
	            " 65535: 16000\n", "100.0% of 63 hits");
	end();
}

/*
 * LLVM, encodeDiscriminator and getPrefixEncodingFromUnsigned in
 * DebugInfoMetadata.h, of a base discriminator alone; an odd number has none.
 */
static void
autofdo_decodes_discriminators(void **state)
{
	(void)state;
	for (uint32_t base = 0; base <= 0xfff; base = base < 70 ? base + 1 :
	     base + 321) {
		const uint32_t prefix = base > 0x1f ?
		    (base & 0xfe0) << 1 | (base & 0x1f) | 0x20 : base;
		char expected[100];

		begin("/nowhere/program");
		add_stack(3, add_frame({ "f", 1, 2, base == 0 ? 3 :
		                         prefix << 1 }));
		if (base == 0)
			snprintf(expected, sizeof expected,
			         "f:3000:0\n 1: 3000\n");
		else
			snprintf(expected, sizeof expected,
			         "f:3000:0\n 1.%u: 3000\n", base);
		assert_text(expected, "100.0% of 3 hits");
		end();
	}
	/* Copies and a duplication factor are coded above it. */
	begin("/nowhere/program");
	add_stack(3, add_frame({ "f", 1, 2, 5 << 1 | 3 << 7 }));
	assert_text("f:3000:0\n 1.5: 3000\n", "100.0% of 3 hits");
	end();
}

/* ---- what has no place ---- */

static void
autofdo_says_what_it_leaves_out(void **state)
{
	struct error error = { 0 };
	const struct place known = { "f", 1, 2, 0 };
	const struct place unknown[] = { { NULL, 1, 2, 0 },
		{ "f", 0, 2, 0 }, { "f", 1, 0, 0 }, { "operator new", 1, 2, 0 },
		{ ":b", 1, 2, 0 }, { "f\n", 1, 2, 0 }, { "", 1, 2, 0 } };
	const struct place half_known[] = { known, unknown[0] };
	uint32_t f;

	(void)state;
	begin("/nowhere/program");
	for (int i = 0; i < 4; i++) {
		static const char *const modules[] = { "/nowhere/one",
			"/nowhere/two", "/nowhere/three", "/nowhere/none" };

		profile_add_module(profile, modules[i], NULL, 0, &error);
	}
	f = add_frame(known);
	add_stack(500, f);
	/* A caller without a place does not call, nor is such a one called. */
	add_stack(10, add_frame_at(2, 1, &unknown[0], 1), f);
	add_stack(100, f, add_frame_at(1, 2, half_known, 2));
	for (uint32_t i = 0; i < 7; i++)
		add_stack(i == 6 ? 60 : 5, add_frame_at(i == 6 ? 3 : 2, 10 + i,
		                                        &unknown[i], 1));
	add_stack(300, add_frame_at(0, 20, &unknown[0], 1));
	assert_text("f:510000:0\n"
	            " 1: 510000\n",
	            "51.0% of 1000 hits have a line in a function that the "
	            "compiler can find; the rest has none (program: 30.0%, "
	            "one: 10.0%, three: 6.0%); counts are");
	assert_non_null(strstr(remark.bytes, "; in program they are not "
	                       "divided, as its code cannot be found (symfs"));
	end();
}

/* Of several modules whose code is not found, that with the most hits. */
static void
autofdo_names_the_module_that_is_missed_most(void **state)
{
	const struct place place = { "f", 1, 2, 0 };
	struct error error = { 0 };

	(void)state;
	begin("/nowhere/one");
	profile_add_module(profile, "/nowhere/two", NULL, 0, &error);
	profile_add_module(profile, "/nowhere/three", NULL, 0, &error);
	add_stack(3, add_frame_at(0, 1, &place, 1));
	add_stack(4, add_frame_at(1, 1, &place, 1));
	add_stack(5, add_frame_at(1, 2, &place, 1));
	add_stack(8, add_frame_at(2, 1, &place, 1));
	assert_text("f:20000:0\n 1: 20000\n", "100.0% of 20 hits");
	assert_non_null(strstr(remark.bytes, "; in two they are not divided"));
	end();
}

static void
assert_error(const char *expected)
{
	struct error error = { 0 };

	finish();
	assert_int_equal(try_export(take, &error), -1);
	if (strstr(error.text, expected) == NULL)
		fail_msg("%s", error.text);
	assert_int_equal(text.length, 0);
	assert_int_equal(remark.length, 0);
	end();
}

static void
autofdo_refuses_profiles_without_places(void **state)
{
	(void)state;
	begin("/nowhere/program");
	add_stack(3, add_frame({ "f", 0, 2, 0 }));
	assert_error("-fdebug-info-for-profiling");
	begin("/nowhere/program");
	add_stack(0, add_frame({ "f", 1, 2, 0 }));
	assert_error("there are no hits to export");
}

/* ---- counts by instructions ---- */

#ifdef __x86_64__
/*
 * Four blocks, of 5, 2, 1 and 3 instructions; the second is skipped by a jump.
 */
extern const char counted_blocks[], counted_first[], counted_second[],
    counted_skipped[], counted_third[], counted_last[], counted_more[];

__asm__(".text\n"
        ".globl counted_blocks\n"
        ".type counted_blocks, @function\n"
        "counted_blocks:\n"
        "	nop\n"
        "counted_first:\n"
        "	nop\n"
        "counted_second:\n"
        "	nop\n"
        "	cmp $3, %edi\n"
        "	jne counted_third\n"
        "counted_skipped:\n"
        "	nop\n"
        "	nop\n"
        "counted_third:\n"
        "	jmp counted_last\n"
        "counted_last:\n"
        "	nop\n"
        "	nop\n"
        "	ret\n"
        ".size counted_blocks, . - counted_blocks\n"
        ".globl counted_more\n"
        ".type counted_more, @function\n"
        "counted_more:\n"
        "	nop\n"
        "	nop\n"
        "	nop\n"
        "	ret\n"
        ".size counted_more, . - counted_more\n");

static uint32_t
add_code_of(const char *symbol, const char *label, uint32_t line)
{
	const struct place place = { symbol, 100, line, 0 };

	return add_frame_at(0, file_address(counted_blocks) +
	                    (uint64_t)(label - counted_blocks), &place, 1);
}

static uint32_t
add_code(const char *label, uint32_t line)
{
	return add_code_of("counted", label, line);
}

static void
add_code_hits(void)
{
	begin(own_path());
	add_stack(100, add_code(counted_first, 101));
	add_stack(50, add_code(counted_second, 102));
	add_stack(40, add_code(counted_skipped, 103));
	add_stack(7, add_code(counted_third, 104));
	/* On a line that has less elsewhere, and on one that has more. */
	add_stack(75, add_code(counted_last, 104));
	add_stack(3, add_code(counted_last + 1, 102));
}

/*
 * 150 hits of 5 instructions, 40 of 2, 7 of 1 and 78 of 3; a line has the
 * largest count of its instructions, and the entries are the first block's.
 */
static void
autofdo_divides_hits_by_instructions(void **state)
{
	(void)state;
	add_code_hits();
	assert_text("counted:106000:30000\n"
	            " 1: 30000\n"
	            " 2: 30000\n"
	            " 3: 20000\n"
	            " 4: 26000\n", "100.0% of 275 hits");
	assert_null(strstr(remark.bytes, "not divided"));
	end();
}

/*
 * Each function has its own entry, whatever the order of frames; it is entered
 * as often as its first block is executed, or as it is called, if that is more.
 */
static void
autofdo_divides_hits_of_several_functions(void **state)
{
	const struct place elsewhere = { "elsewhere", 1, 2, 0 };
	struct error error = { 0 };
	uint32_t call;

	(void)state;
	begin(own_path());
	profile_add_module(profile, "/nowhere/module", NULL, 0, &error);
	call = add_frame_at(1, 16, &elsewhere, 1);
	add_stack(4, call, add_code_of("more", counted_more + 1, 103));
	add_stack(1, call);
	/* Without a line, but its hits are those of the block. */
	add_stack(4, add_code_of("more", counted_more, 0));
	add_stack(20, add_code(counted_skipped, 101));
	add_stack(2, add_frame_at(1, 32, &elsewhere, 1));
	add_stack(10, add_code(counted_first, 102));
	assert_text("counted:12000:2000\n"
	            " 1: 10000\n"
	            " 2: 2000\n"
	            "elsewhere:3000:0\n"
	            " 1: 3000 more:3000\n"
	            "more:2000:3000\n"
	            " 3: 2000\n", "90.2% of 41 hits");
	assert_non_null(strstr(remark.bytes,
	                       "; in module they are not divided"));
	end();
}
#else
static void
autofdo_divides_hits_by_instructions(void **state)
{
	(void)state;
	skip_since("its instructions are those of x86-64");
}

static void
autofdo_divides_hits_of_several_functions(void **state)
{
	(void)state;
	skip_since("its instructions are those of x86-64");
}
#endif

/* ---- failures ---- */

static void
autofdo_ends_when_the_writer_fails(void **state)
{
	struct error error = { 0 };

	(void)state;
	begin("/nowhere/program");
	for (uint32_t i = 0; i < 20000; i++)
		add_stack(3, add_frame({ "f", 1, 2 + i, 0 }));
	finish();
	assert_int_equal(try_export(fill_up, &error), -1);
	assert_false(error.is_set);
	assert_int_equal(remark.length, 0);
	end();
}

static uint64_t
attempt(void *data, struct error *error)
{
	uint64_t digest = 0;

	(void)data;
	if (try_export(take, error) != 0)
		return 0;
	for (size_t i = 0; i < text.length; i++)
		digest = digest * 31 + (unsigned char)text.bytes[i];
	return digest;
}

static void
autofdo_reports_failures(void **state)
{
	uint32_t call, inlined;

	(void)state;
	begin("/nowhere/program");
	call = add_frame({ "main", 1, 2, 0 });
	inlined = add_frame({ "f", 1, 2, 0 }, { "g", 1, 2, 0 });
	add_stack(3, call);
	add_stack(4, call, inlined);
	finish();
	sweep_memory("export autofdo", attempt, NULL, 200);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(autofdo_writes_what_its_head_shows),
		cmocka_unit_test(autofdo_divides_a_line_among_its_calls),
		cmocka_unit_test(autofdo_counts_recursive_calls),
		cmocka_unit_test(autofdo_nests_inlined_functions),
		cmocka_unit_test(autofdo_sorts_functions),
		cmocka_unit_test(autofdo_merges_parts_of_functions),
		cmocka_unit_test(autofdo_decodes_discriminators),
		cmocka_unit_test(autofdo_says_what_it_leaves_out),
		cmocka_unit_test(autofdo_names_the_module_that_is_missed_most),
		cmocka_unit_test(autofdo_refuses_profiles_without_places),
		cmocka_unit_test(autofdo_divides_hits_by_instructions),
		cmocka_unit_test(autofdo_divides_hits_of_several_functions),
		cmocka_unit_test(autofdo_ends_when_the_writer_fails),
		cmocka_unit_test(autofdo_reports_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
