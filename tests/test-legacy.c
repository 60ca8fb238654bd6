/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-legacy.c -- text profiles of gperftools, jemalloc and Go, made by hand.
 *
 * Scaled values are those that `go tool pprof -raw` prints for the same texts.
 */
#include "tests/reader-fixture.h"

extern const struct format format_legacy;

static struct profile *
read_text(const char *text)
{
	assert_int_equal(format_legacy.probe(text, strlen(text)), PROBE_SURE);
	return must_read(&format_legacy, text, strlen(text));
}

static void
expect_hits(const struct profile *profile, const char *resource,
            const char *stack, uint64_t hits)
{
	uint32_t r = profile_find_resource(profile, resource);

	if (r == NO_RESOURCE)
		fail_msg("no resource %s", resource);
	if (hits_of(profile, r, stack) != hits)
		fail_msg("%s %s: %llu, expected %llu", resource, stack,
		         (unsigned long long)hits_of(profile, r, stack),
		         (unsigned long long)hits);
}

static void
heap_profiles_are_estimated_as_pprof_does(void **state)
{
	struct profile *profile = read_text(
	    "heap profile: 4: 20000 [9: 90000] @ heap_v2/524288\n"
	    "1: 9216 [1: 9216] @ 0x1001 0x2001\n"
	    "3: 10784 [8: 80784] @ 0x1002 0x2001\n"
	    "0: 0 [2: 1048576] @ 0x3001 0x2001\n");

	(void)state;
	assert_string_equal(profile->resources[0].name, "inuse_space");
	assert_string_equal(profile->resources[0].gtick, "byte");
	expect_hits(profile, "alloc_objects", "0x2000;0x1000", 57);
	expect_hits(profile, "alloc_space", "0x2000;0x1000", 528909);
	expect_hits(profile, "inuse_objects", "0x2000;0x1000", 57);
	expect_hits(profile, "inuse_space", "0x2000;0x1000", 528909);
	expect_hits(profile, "alloc_objects", "0x2000;0x1001", 419);
	expect_hits(profile, "alloc_space", "0x2000;0x1001", 4234825);
	expect_hits(profile, "inuse_objects", "0x2000;0x1001", 439);
	expect_hits(profile, "inuse_space", "0x2000;0x1001", 1578262);
	expect_hits(profile, "alloc_objects", "0x2000;0x3000", 3);
	expect_hits(profile, "alloc_space", "0x2000;0x3000", 1658822);
	expect_hits(profile, "inuse_space", "0x2000;0x3000", 0);
	profile_free(profile);
	/* Go writes twice its rate. */
	profile = read_text(
	    "heap profile: 5: 20000 [5: 20000] @ heap/524288\n"
	    "1: 9216 [1: 9216] @ 0x1001 0x2001\n"
	    "4: 10784 [4: 10784] @ 0x1002 0x2001\n");
	assert_int_equal(profile->n_resources, 2);
	expect_hits(profile, "objects", "0x2000;0x1000", 28);
	expect_hits(profile, "space", "0x2000;0x1000", 266778);
	expect_hits(profile, "objects", "0x2000;0x1001", 390);
	expect_hits(profile, "space", "0x2000;0x1001", 1053977);
	/* Samples are those taken, not what they stand for. */
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[0]), 5);
	profile_free(profile);
}

static void
heap_profiles_of_all_blocks_are_as_they_are(void **state)
{
	static const char *const names[] = { "heapprofile", "growth",
		"growthz", "fragmentationz", "heap_v2/1", "heapz_v2/0", "heap/2" };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char text[300];
		struct profile *profile;

		snprintf(text, sizeof text, "heap profile:    3:  700 [   3: "
		         " 700] @ %s\n"
		         "     1:   100 [     1:   100] @ 0x1001 0x2001\n"
		         "     2:   600 [     2:   600] @ 0x1001\n"
		         "     5:     5 [     5:     5] @ 0x3001\n", names[i]);
		profile = read_text(text);
		expect_hits(profile, "space", "0x3000", 5);
		expect_hits(profile, "objects", "0x2000;0x1000", 1);
		expect_hits(profile, "space", "0x2000;0x1000", 100);
		expect_hits(profile, "space", "0x1000", 600);
		profile_free(profile);
	}
}

/* Some writers leave it at 0. */
static void
heap_profiles_may_tell_nothing_of_what_was_allocated(void **state)
{
	struct profile *profile = read_text(
	    "heap profile: 1: 5 [0: 0] @ heapprofile\n"
	    "1: 5 [0: 0] @ 0x1001\n");

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	expect_hits(profile, "space", "0x1000", 5);
	profile_free(profile);
}

/* Without it, the values would not be scaled. */
static void
heap_profiles_with_a_rate_of_too_many_digits_are_none(void **state)
{
	static const char text[] = "heap profile: 1: 5 [1: 5] @ "
	    "heap_v2/9223372036854775808\n1: 5 [1: 5] @ 0x1001\n";

	(void)state;
	assert_int_equal(format_legacy.probe(text, sizeof text - 1),
	                 PROBE_NO);
}

static void
contention_without_a_clock_is_in_cycles_and_says_so(void **state)
{
	static const char *const texts[] = {
		"--- contentionz 1 ---\nsampling period = 2\n9 1 @ 0x11\n",
		"--- contentionz 1 ---\ncycles/second = 1000\n"
		"sampling period = 0\n9 1 @ 0x11\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct profile *profile = read_text(texts[i]);

		expect_hits(profile, "delay", "0x10", 9);
		assert_int_equal(profile->n_warnings, 1);
		assert_non_null(strstr(profile->warnings[0], "cycles"));
		profile_free(profile);
	}
}

/* The sum before the stacks shows which values there are. */
static void
jemalloc_profiles_without_a_sum_lose_no_stack(void **state)
{
	struct profile *profile = read_text("heap_v2/1\n"
	    "@ 0x1001\n  t*: 1: 5 [2: 9]\n"
	    "@ 0x2001\n  t*: 3: 6 [3: 6]\n");

	(void)state;
	expect_hits(profile, "inuse_space", "0x1000", 5);
	expect_hits(profile, "alloc_space", "0x1000", 9);
	expect_hits(profile, "inuse_space", "0x2000", 6);
	profile_free(profile);
}

static void
jemalloc_profiles_count_all_threads_once(void **state)
{
	static const char text[] =
	    "heap_v2/524288\n"
	    "  t*: 4: 20000 [0: 0]\n"
	    "  t0: 3: 10784 [0: 0]\n"
	    "  t1: 1: 9216 [0: 0]\n"
	    "@ 0x1001 0x2001\n"
	    "  t*: 1: 9216 [0: 0]\n"
	    "  t1: 1: 9216 [0: 0]\n"
	    "@ 0x1002 0x2001\n"
	    "  t*: 3: 10784 [0: 0]\n"
	    "  t0: 3: 10784 [0: 0]\n"
	    "  t*: 3: 10784 [0: 0]\n"
	    "\nMAPPED_LIBRARIES:\n"
	    "00001000-00003000 r-xp 00000000 fe:00 12    /gone/prog\n";
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	expect_hits(profile, "objects", "prog+0x1000;prog+0x0", 57);
	expect_hits(profile, "space", "prog+0x1000;prog+0x0", 528909);
	expect_hits(profile, "space", "prog+0x1000;prog+0x1", 1578262);
	profile_free(profile);
	profile = read_text("heap_v2/1\n  t*: 1: 5 [3: 15]\n@ 0x1001\n"
	                    "  t*: 1: 5 [3: 15]\n");
	expect_hits(profile, "alloc_space", "0x1000", 15);
	expect_hits(profile, "inuse_space", "0x1000", 5);
	profile_free(profile);
}

static void
contention_is_scaled_by_period_and_clock(void **state)
{
	struct profile *profile = read_text(
	    "--- contentionz 1 ---\n"
	    "cycles/second = 3201000000\n"
	    "sampling period = 100\n"
	    "ms since reset = 16502830\n"
	    "discarded samples = 7\n"
	    "  19490304       27 @ 0xbccc97 0xc61202\n"
	    "       768        1 @ 0xbccc97 0xa42dc7\n");

	(void)state;
	assert_string_equal(profile->resources[0].name, "delay");
	expect_hits(profile, "contentions", "0xc61201;0xbccc96", 2700);
	expect_hits(profile, "delay", "0xc61201;0xbccc96", 608881724);
	expect_hits(profile, "contentions", "0xa42dc6;0xbccc96", 100);
	expect_hits(profile, "delay", "0xa42dc6;0xbccc96", 23992);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "7 samples were "));
	profile_free(profile);
	profile = read_text("--- mutex:\nsampling period=0\n"
	                    "cycles/second=10\n7 3 @ 0x11\n");
	expect_hits(profile, "contentions", "0x10", 3);
	expect_hits(profile, "delay", "0x10", 7);
	profile_free(profile);
}

static void
goroutines_have_the_names_of_their_comments(void **state)
{
	struct profile *profile = read_text(
	    "goroutine profile: total 8\n"
	    "5 @ 0x4378b6 0x4b43d9 0x4b43c5 0x4b43c5 0x461481\n"
	    "# labels: {\"job\":\"a\"}\n"
	    "#\t0x4b43d8\tmain.wait+0x38\t/home/t.go:39\n"
	    "#\t0x4b43c4\tmain.inlined+0x24\t\t/home/t.go:36\n"
	    "#\t0x4b43c4\tmain.recurse+0x24\t/home/t.go:30\n"
	    "#\t0x4b43c4\tmain.inlined+0x24\t/home/t.go:36\n"
	    "#\t0x4b43c4\tmain.recurse+0x24\t/home/t.go:30\n"
	    "\n"
	    "2 @ 0x4b43d9 0x55 0x99\n"
	    "#\t0x4b43d8\tmain.wait+0x38\t/home/t.go:39\n"
	    "#       0x54        main.blanks+0x1     d:/home/t.go:11\n"
	    "#\t0x98\n\n"
	    "1 @ 0x77 0x461481\n\n");
	uint32_t wait;

	(void)state;
	assert_string_equal(profile->resources[0].name, "goroutine");
	expect_hits(profile, "goroutine", "runtime.goexit;main.recurse|main."
	            "inlined;main.recurse|main.inlined;main.wait;0x4378b5", 5);
	expect_hits(profile, "goroutine", "0x98;main.blanks;main.wait",
	            2);
	expect_hits(profile, "goroutine", "runtime.goexit;0x76", 1);
	wait = profile->frames[profile->tree->label[0]].first_location;
	assert_true(wait < profile->n_locations);
	profile_free(profile);
}

static void
threads_stand_where_they_stand(void **state)
{
	struct profile *profile = read_text(
	    "--- threadz 1 ---\n"
	    "\n"
	    "--- Thread 7f794ab90940 (name: main/14748) stack: ---\n"
	    "  PC:  0x00bc8f1c: helper(arg *)\n"
	    "  0x00bc8f1c: helper(arg *)\n"
	    "  0x0040be31: main\n"
	    "--- Thread 7f794964e700 (name: pool/14751) stack: ---\n"
	    "  PC: 0xbc8f1c 0xbcbd00\n"
	    "      creator: 0xa45b96\n"
	    "--- Thread 7f794934c700 (name: pool/14752) stack: ---\n"
	    "  [same as previous thread]\n"
	    "--- Memory map: ---\n"
	    "  00400000-00fcb000: /gone/server\n");

	(void)state;
	expect_hits(profile, "thread", "main;helper(arg *)", 1);
	expect_hits(profile, "thread", "server+0x645b95;server+0x7cbcff;"
	            "helper(arg *)", 2);
	assert_int_equal(profile->n_threads, 3);
	assert_string_equal(profile->threads[0].name, "main/14748");
	assert_int_equal(profile->n_sections, 3);
	profile_free(profile);
}

static void
symbols_in_front_name_addresses(void **state)
{
	struct profile *profile = read_text(
	    "--- symbol\n"
	    "binary=/gone/prog\n"
	    "0x0000000000001001 leaf(int)\n"
	    "0x0000000000002000 outer--inner<00000000000011a1>\n"
	    "---\n"
	    "--- profile\n"
	    "heap profile: 1: 5 [1: 5] @ heapprofile\n"
	    "1: 5 [1: 5] @ 0x1001 0x2001 0x3001\n");

	(void)state;
	expect_hits(profile, "space", "prog+0x3000;outer|inner;leaf(int)", 5);
	profile_free(profile);
}

static void
memory_maps_of_all_kinds_are_read(void **state)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{ "00400000-00500000 r-xp 00001000 fe:00 123    /a b/prog\n",
		  "prog+0x2000" },
		{ "00400000-00500000 r-xp 00001000 fe:00 123 /x/p (deleted)\n",
		  "p+0x2000" },
		{ "build=/home\n  400000-500000: $build/prog\n", "prog+0x1000" },
		{ "I0101 12:00:00 1 f.cc:98] build=/x/pr\n"
		  "I0101 12:00:00 1 f.cc:99] 400000-500000: /z$buildog\n",
		  "prog+0x1000" },
		{ "0x400000 0x500000 /x/prog (@1000) ab12\n", "prog+0x2000" },
		{ "I0101 12:00:00 1 f.cc:99] 400000-500000: /x/prog\n",
		  "prog+0x1000" },
		{ "00400000-00500000 rw-p 00001000 fe:00 123    /x/prog\n",
		  "0x401000" },
		{ "00402000-00500000 r-xp 00002000 fe:00 123    /x/prog\n",
		  "prog+0x1000" },
		{ "00400000-00401000 r-xp 00001000 fe:00 123    /x/prog\n",
		  "0x401000" },
		{ "this is no mapping\n500000-400000: /x/prog\n", "0x401000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[300];
		struct profile *profile;

		snprintf(text, sizeof text, "heap profile: 1: 5 [1: 5] @ "
		         "growth\n1: 5 [1: 5] @ 0x401001\n\n"
		         "MAPPED_LIBRARIES:\n%s", cases[i].line);
		profile = read_text(text);
		expect_hits(profile, "space", cases[i].name, 5);
		profile_free(profile);
	}
}

static void
what_does_not_fit_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n",
		  "in: no samples in it" },
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n1: 5 @ 0x1\n",
		  "in:2: expected N: BYTES [N: BYTES]" },
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n1: 5 [1: 5]\n",
		  "in:2: expected '@'" },
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n"
		  "0: 5 [1: 5] @ 0x1\n", "in:2: 0 blocks, but more" },
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n"
		  "1: 5 [1: 5] @ 0x12345678123456789\n",
		  "in:2: an address of more than 64 bits" },
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n"
		  "1: 9223372036854775808 [1: 5] @ 0x1\n", "in:2: expected N" },
		{ "heap profile: 1: 5 [1: 5] @ heap_v2/9223372036854775807\n"
		  "1: 9223372036854775807 [1: 9223372036854775807] @ 0x1\n",
		  "in:2: the estimate of a value exceeds" },
		{ "heap profile: 1: 5 [1: 5] @ heapprofile\n"
		  "1: 9223372036854775807 [1: 9223372036854775807] @ 0x1\n"
		  "1: 9223372036854775807 [1: 9223372036854775807] @ 0x1\n"
		  "1: 9223372036854775807 [1: 9223372036854775807] @ 0x1\n",
		  "in:4: the sum of hits" },
		{ "goroutine profile: total 1\nx @ 0x1\n", "in:2: expected N @" },
		{ "--- contention:\nsampling period = x\n1 1 @ 0x1\n",
		  "in:2: expected a number" },
		{ "--- contention:\nformat = java\n", "go tool pprof -proto" },
		{ "--- contention:\nsampling period = 9223372036854775807\n"
		  "1 2 @ 0x1\n", "in:3: more than 2^63" },
		{ "--- threadz 1 ---\n--- Thread x ---\n",
		  "in:2: expected a thread" },
		{ "--- symbol\n0x1 a\n---\n--- profile\n",
		  "in: no samples in it" },
		{ "--- symbol\n0x1 a\n---\nmain;a 5\n",
		  "in:4: expected the header" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_legacy, cases[i].text,
		            strlen(cases[i].text), cases[i].error);
}

static void
lenient_reading_skips_what_does_not_fit(void **state)
{
	static const char text[] = "heap profile: 1: 5 [1: 5] @ growth\n"
	    "nonsense\n1: 5 [1: 5] @ 0x12345678123456789 0x2\n"
	    "1: 7 [1: 7] @ 0x11\n";
	struct profile *profile = must_read_leniently(&format_legacy, text);

	(void)state;
	assert_int_equal(profile->tree->n_nodes, 1);
	expect_hits(profile, "space", "0x10", 7);
	assert_non_null(strstr(profile->warnings[0], "2 lines skipped"));
	profile_free(profile);
}

static void
binary_data_behind_symbols_are_refused(void **state)
{
	static const char bytes[] = "--- symbol\n0x1 a\n---\n--- profile\n"
	    "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\n";
	struct error error = { 0 };

	(void)state;
	assert_null(read_memory(&format_legacy, bytes, sizeof bytes - 1,
	                        &error));
	assert_non_null(strstr(error.text, "in:5: binary data after the symbols, as pprof"));
}

static void
other_texts_are_none(void **state)
{
	static const char *const others[] = { "heap profile: x\n",
		"heap profile: 1: 5 [1: 5] @ other\n", "heap_v2/5 5\n",
		"goroutine profile: total 5 6\n", "profile: total 5\n",
		"--- Thread x (name: y) stack: ---\n", "# a comment\n",
		"main;a 5\n", "" };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(format_legacy.probe(others[i],
		    strlen(others[i])), PROBE_NO);
}

static void
profiles_cut_at_every_byte_keep_what_is_whole(void **state)
{
	static const char *const texts[] = {
		"heap profile: 1: 5 [1: 5] @ heap/2\n"
		"1: 5 [1: 5] @ 0x401001 0x402001\n"
		"#\t0x401000\tmain.f+0x1\t/f.go:1\n\nMAPPED_LIBRARIES:\n"
		"00400000-00500000 r-xp 00001000 fe:00 123    /a/prog\n",
		"--- symbol\nbinary=/x\n0x1 a--b\n---\n--- contention\n"
		"--- contention:\ncycles/second=5\n1 2 @ 0x2 0x1\n",
		"--- threadz 1 ---\n\n--- Thread 7f (name: a/1) stack: ---\n"
		"  PC: 0x1: a\n--- Thread 7e (name: b/1) stack: ---\n"
		"  PC: 0x2 0x3\n--- Memory map: ---\n 1-2: /x\n",
		"heap_v2/5\n t*: 1: 5 [0: 0]\n@ 0x5 0x6\n t*: 1: 5 [0: 0]\n",
	};
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		cut_at_every_byte(&format_legacy, texts[i],
		                  strlen(texts[i]));
	profile = read_memory(&format_legacy, texts[0], 66, &error);
	assert_non_null(profile);
	assert_int_equal(hits_of(profile, 0, "0x402000;0x401000"), 5);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "no newline"));
	profile_free(profile);
	/* A thread whose stack may be incomplete is dropped. */
	profile = read_memory(&format_legacy, texts[2], 110, &error);
	assert_non_null(profile);
	assert_int_equal(profile->n_threads, 1);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_profiles_are_estimated_as_pprof_does),
		cmocka_unit_test(heap_profiles_of_all_blocks_are_as_they_are),
		cmocka_unit_test(
		    heap_profiles_may_tell_nothing_of_what_was_allocated),
		cmocka_unit_test(
		    heap_profiles_with_a_rate_of_too_many_digits_are_none),
		cmocka_unit_test(
		    contention_without_a_clock_is_in_cycles_and_says_so),
		cmocka_unit_test(jemalloc_profiles_without_a_sum_lose_no_stack),
		cmocka_unit_test(jemalloc_profiles_count_all_threads_once),
		cmocka_unit_test(contention_is_scaled_by_period_and_clock),
		cmocka_unit_test(goroutines_have_the_names_of_their_comments),
		cmocka_unit_test(threads_stand_where_they_stand),
		cmocka_unit_test(symbols_in_front_name_addresses),
		cmocka_unit_test(memory_maps_of_all_kinds_are_read),
		cmocka_unit_test(what_does_not_fit_is_refused_with_its_line),
		cmocka_unit_test(lenient_reading_skips_what_does_not_fit),
		cmocka_unit_test(binary_data_behind_symbols_are_refused),
		cmocka_unit_test(other_texts_are_none),
		cmocka_unit_test(
		    profiles_cut_at_every_byte_keep_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
