/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-pprof-raw.c -- what `go tool pprof -raw` prints, made by hand. */
#include "tests/reader-fixture.h"

extern const struct format format_pprof_raw;

static const char whole[] =
    "Comment: anything\n"
    "PeriodType: cpu nanoseconds\n"
    "Period: 10000000\n"
    "Time: 2026-11-21 13:45:55.5 +0200 EET\n"
    "Duration: 809.\n"
    "Samples:\n"
    "samples/count cpu/nanoseconds[dflt]\n"
    "          1   10000000: 1 2 3 \n"
    "                step:[a b]: c] thread:[first one]\n"
    "                bytes:[16384 bytes] tid:[7]\n"
    "          2   20000000: 4 3 \n"
    "                thread:[second]\n"
    "          3   30000000: \n"
    "Locations\n"
    "     1: 0x49ab90 M=1 strings.Fields /src/strings.go:359 s=0\n"
    "     2: 0x4b6cee M=1 [F] operator / (A, B) file.c:-1 s=0(x s=1)\n"
    "             add(int, int) /my src/add.c:12:3 s=10(_Z3addii)\n"
    "     3: 0x4b6ef3 M=1 \n"
    "     4: 0x10 ??\n"
    "Mappings\n"
    "1: 0x400000/0x4b7000/0x1000 /a b/work ab12 [FN][FL][LN][IN]\n"
    "2: 0x500000/0x600000/0x0   \n";

static struct profile *
read_text(const char *text, size_t n)
{
	return must_read(&format_pprof_raw, text, n);
}

static void
raw_text_is_read_as_the_profile_that_it_was(void **state)
{
	struct profile *profile = read_text(whole, sizeof whole - 1);
	const struct frame *inner;

	(void)state;
	assert_int_equal(format_pprof_raw.probe(whole, sizeof whole - 1),
	                 PROBE_SURE);
	assert_int_equal(profile->n_warnings, 1);	/* no /a b/work */
	assert_string_equal(profile->resources[0].name, "cpu");
	assert_string_equal(profile->resources[0].gtick, "nanosecond");
	assert_int_equal(hits_of(profile, 1, "work+0xb7ef3;add(int, int)|"
	                         "operator / (A, B);strings.Fields"), 1);
	assert_int_equal(hits_of(profile, 0, "work+0xb7ef3;[unknown]"),
	                 20000000);
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 30000000);
	assert_int_equal(profile->n_threads, 2);
	assert_int_equal(profile->processes[0].start_ns,
	                 1795261555500000000);
	assert_int_equal(profile->processes[0].end_ns, 0);
	assert_string_equal(profile->modules[0].path, "/a b/work");
	assert_int_equal(profile->modules[0].build_id_size, 2);
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		inner = &profile->frames[i];
		if (inner->address != 0x4b6cee && inner->n_locations == 2) {
			const struct location *add = &profile->locations[
			    inner->first_location];

			assert_string_equal(names_text(profile->names,
			    add->file), "/my src/add.c");
			assert_int_equal(add->line, 12);
			assert_string_equal(names_text(profile->names,
			    add[1].file), "file.c");
			profile_free(profile);
			return;
		}
	}
	fail_msg("no inlined frame");
}

static void
raw_text_with_ends_of_line_of_windows_is_read(void **state)
{
	static char text[2 * sizeof whole];
	struct profile *profile;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof whole; i++) {
		if (whole[i] == '\n')
			text[n++] = '\r';
		text[n++] = whole[i];
	}
	assert_int_equal(format_pprof_raw.probe(text, n), PROBE_SURE);
	profile = read_text(text, n);
	assert_int_equal(profile->n_threads, 2);
	profile_free(profile);
}

static void
raw_text_that_does_not_fit_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "Period: 1\nSamples:\nx/count\nLocations\nMappings\n",
		  "in: no samples in it" },
		{ "Period: 1\nSamples:\nx\n", "in:3: expected types" },
		{ "Period: 1\nSamples:\nx/count\nx: 1\n", "in:4: expected a "
		  "sample" },
		{ "Period: 1\nSamples:\nx/count\n 1: 0\n", "in:4: expected num" },
		{ "Period: 1\nSamples:\nx/count\n -1: 1\n 1: 1\n",
		  "in:4: a value below zero" },
		{ "Period: 1\nSamples:\nx/count\n 1 2: 1\n 1: 1\nLocations\n",
		  "in:5: a sample of 1 value, expected 2" },
		{ "Period: 1\nSamples:\nx/count\n 1: 1\n                a\n",
		  "in:5: expected labels" },
		{ "Period: 1\nSamples:\nx/count\n 1: 1\nLocations\nx\n",
		  "in:6: expected a location" },
		{ "Period: 1\nSamples:\nx/count\n 1: 1\nLocations\nMappings\n"
		  "1: 0x\n", "in:7: expected a mapping" },
		{ "Period: 1\nSamples:\nx/count\n 1: 1\nLocations\nMappings\n",
		  "in: location 1 is missing or has no name" },
		/* By the number that the file gives it. */
		{ "Period: 1\nSamples:\nx/count\n 1: 70\nLocations\nMappings\n",
		  "in: location 70 is missing or has no name" },
		{ "Period: 1\nSamples:\nx/count\n 1: 1\n",
		  "in:4: the input is cut short here; no samples before" },
		{ "Period: 1\nSamples:\nx/count y/count\n 1: 1\nLocations\n"
		  "Mappings\n", "samples of 1 value, but 2 sample types" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_pprof_raw, cases[i].text,
		            strlen(cases[i].text), cases[i].error);
}

/* As of any profile that cpprof itself has exported. */
static void
raw_text_restores_what_comments_tell(void **state)
{
	static const char text[] =
	    "Comment: # cpprof 1\n"
	    "Comment: # resource: Real Time; gtick=us; interval=50\n"
	    "Comment: # command: prog -x\n"
	    "Comment: # host: here\n"
	    "PeriodType: \n"
	    "Period: 0\n"
	    "Samples:\n"
	    "Real Time/us\n"
	    "        500: 1\n"
	    "Locations\n     1: 0x0 main :0 s=0\nMappings\n";
	struct profile *profile = read_text(text, sizeof text - 1);

	(void)state;
	assert_int_equal(profile->resources[0].interval, 50);
	assert_null(profile->processes[0].program);
	assert_string_equal(profile->processes[0].command, "prog -x");
	assert_string_equal(profile->processes[0].host, "here");
	assert_int_equal(hits_of(profile, 0, "main"), 10);
	profile_free(profile);
}

/* The sums are checked when all is read; the file is named once. */
static void
raw_text_whose_sum_is_too_large_is_refused_with_its_line(void **state)
{
	static const char text[] = "Period: 1\nSamples:\nx/count\n"
	    "  9223372036854775807: 1\n  9223372036854775807: 1\n"
	    "  9223372036854775807: 1\n"
	    "Locations\n     1: 0x0 main :0 s=0\nMappings\n";
	struct error error = { 0 };

	(void)state;
	assert_null(read_memory(&format_pprof_raw, text, sizeof text - 1,
	                        &error));
	assert_string_equal(error.text,
	                    "in:6: the sum of hits exceeds 64 bits");
}

static void
other_texts_are_none(void **state)
{
	static const char *const others[] = { "Period: 1\n", "Samples:\nx/y\n",
		"Comment: a\nSamples:\n", "main;a 5\n", "" };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(format_pprof_raw.probe(others[i],
		    strlen(others[i])), PROBE_NO);
}

static void
raw_text_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	const char *second = strstr(whole, "          2 ");
	const char *mappings = strstr(whole, "Mappings");
	struct profile *profile;

	(void)state;
	cut_at_every_byte(&format_pprof_raw, whole, sizeof whole - 1);
	profile = read_text(whole, (size_t)(second - whole) + 27);
	assert_int_equal(hits_of(profile, 1,
	                         "[location 3];[location 2];[location 1]"), 1);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->hits[1]), 1);
	assert_non_null(strstr(profile->warnings[0], "cut short"));
	profile_free(profile);
	profile = read_text(whole, (size_t)(mappings - whole));
	assert_int_equal(hits_of(profile, 1, "0x4b6ef3;[location 4]"), 2);
	assert_non_null(strstr(profile->warnings[0], "cut short"));
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_text_is_read_as_the_profile_that_it_was),
		cmocka_unit_test(raw_text_with_ends_of_line_of_windows_is_read),
		cmocka_unit_test(
		    raw_text_that_does_not_fit_is_refused_with_its_line),
		cmocka_unit_test(
		    raw_text_restores_what_comments_tell),
		cmocka_unit_test(
		    raw_text_whose_sum_is_too_large_is_refused_with_its_line),
		cmocka_unit_test(other_texts_are_none),
		cmocka_unit_test(
		    raw_text_cut_at_every_byte_keeps_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
