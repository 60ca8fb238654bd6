/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-speedscope.c -- speedscope's JSON, made by hand. */
#include "src/profile/sample_tree.h"
#include "tests/reader-fixture.h"

extern const struct format format_speedscope;

#define FRAMES "\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"a.c\"," \
	"\"line\":7},{\"name\":\"f\"},{\"name\":\"g\"}]}"

static struct profile *
read_text(const char *text)
{
	return must_read(&format_speedscope, text, strlen(text));
}

static void
expect_error(const char *text, const char *expected)
{
	must_refuse(&format_speedscope, text, strlen(text), expected);
}

/* Texts of one profile with its keys in this order. */
static void
speedscope_takes_keys_in_any_order(void **state)
{
	static const char *const texts[] = {
		"{" FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":"
		"\"t\",\"unit\":\"milliseconds\",\"samples\":[[0,1],[0],[0,1]],"
		"\"weights\":[1.5,2,0.25]}]}",
		"{\"profiles\":[{\"weights\":[1.5,2,0.25],\"samples\":[[0,1],"
		"[0],[0,1]],\"unit\":\"milliseconds\",\"type\":\"sampled\"}],"
		FRAMES "}",
		"{\"profiles\":[{\"samples\":[[0,1],[0],[0,1]],\"weights\":"
		"[1.5,2,0.25],\"unit\":\"milliseconds\"}],\"x\":[{\"y\":1}],"
		FRAMES "}",
		"{" FRAMES ",\"profiles\":[{\"unit\":\"milliseconds\","
		"\"weights\":[1.5,2,0.25],\"samples\":[[0,1],[0],[0,1]]}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(profile->n_resources, 1);
		assert_string_equal(profile->resources[0].name, "time");
		assert_string_equal(profile->resources[0].gtick, "nanosecond");
		assert_int_equal(hits_of(profile, 0, "main"), 2000000);
		assert_int_equal(hits_of(profile, 0, "main;f"), 1750000);
		assert_int_equal(sample_tree_samples(profile->tree, 0, 1), 2);
		assert_int_equal(profile->locations[0].line, 7);
		assert_int_equal(profile->n_sections, 0);
		assert_int_equal(profile->n_warnings, 0);
		profile_free(profile);
	}
}

/* As speedscope shows them. */
static void
speedscope_reads_other_units_as_plain_numbers(void **state)
{
	static const struct {
		const char *unit;
		uint32_t n_warnings;
	} cases[] = { { "samples", 0 }, { "none", 0 }, { "calls", 1 } };
	char text[500];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile *profile;

		snprintf(text, sizeof text, "{" FRAMES ",\"profiles\":[{"
		         "\"unit\":\"%s\",\"samples\":[[0,1],[0]],"
		         "\"weights\":[3,4]}]}", cases[i].unit);
		profile = read_text(text);
		assert_string_equal(profile->resources[0].name, "samples");
		assert_int_equal(hits_of(profile, 0, "main;f"), 3);
		assert_int_equal(hits_of(profile, 0, "main"), 4);
		assert_int_equal(profile->n_warnings, cases[i].n_warnings);
		profile_free(profile);
	}
}

static void
speedscope_charges_events_to_the_innermost_frame(void **state)
{
	static const char *const texts[] = {
		"{" FRAMES ",\"profiles\":[{\"type\":\"evented\",\"unit\":"
		"\"seconds\",\"startValue\":100,\"endValue\":110,\"events\":["
		"{\"type\":\"O\",\"frame\":0,\"at\":100.5},"
		"{\"type\":\"O\",\"frame\":1,\"at\":101},"
		"{\"at\":103,\"type\":\"C\",\"frame\":1},"
		"{\"type\":\"O\",\"frame\":1,\"at\":103.000000001},"
		"{\"type\":\"C\",\"frame\":1,\"at\":104},"
		"{\"type\":\"C\",\"frame\":0,\"at\":104},"
		"{\"type\":\"O\",\"frame\":2,\"at\":109},"
		"{\"type\":\"C\",\"frame\":2,\"at\":110}]}]}",
		"{\"profiles\":[{\"events\":["
		"{\"type\":\"O\",\"frame\":0,\"at\":100.5},"
		"{\"type\":\"O\",\"frame\":1,\"at\":101},"
		"{\"type\":\"C\",\"frame\":1,\"at\":103},"
		"{\"type\":\"O\",\"frame\":1,\"at\":103.000000001},"
		"{\"type\":\"C\",\"frame\":1,\"at\":104},"
		"{\"type\":\"C\",\"frame\":0,\"at\":104},"
		"{\"type\":\"O\",\"frame\":2,\"at\":109},"
		"{\"type\":\"C\",\"frame\":2,\"at\":110}],"
		"\"unit\":\"seconds\"}]," FRAMES "}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(hits_of(profile, 0, "main"), 500000001);
		assert_int_equal(hits_of(profile, 0, "main;f"), 2999999999);
		assert_int_equal(hits_of(profile, 0, "g"), 1000000000);
		profile_free(profile);
	}
}

/* The hits of the slice that has a moment, by the only resource. */
static uint64_t
hits_at(const struct profile *profile, uint64_t ns)
{
	const struct timeline *timeline = profile->tree->timeline;
	uint64_t hits = 0;

	assert_non_null(timeline);
	for (size_t i = 0; i < timeline->first[timeline->n_rows]; i++)
		if (timeline->slice[i] == ns / timeline->width_ns)
			hits += timeline->hits[0][i];
	return hits;
}

/* The unit before and after them; nothing runs from 2 s to 6 s. */
static void
speedscope_times_have_gaps(void **state)
{
#define EVENTS "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":-1}," \
	"{\"type\":\"C\",\"frame\":0,\"at\":1}," \
	"{\"type\":\"O\",\"frame\":1,\"at\":5}," \
	"{\"type\":\"C\",\"frame\":1,\"at\":7}]"
	static const char *const texts[] = {
		"{" FRAMES ",\"profiles\":[{\"unit\":\"seconds\"," EVENTS "}]}",
		"{" FRAMES ",\"profiles\":[{" EVENTS ",\"unit\":\"seconds\"}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(profile->tree->timeline->width_ns, 125000000);
		assert_int_equal(hits_at(profile, 0), 125000000);
		assert_int_equal(hits_at(profile, 1999999999), 125000000);
		assert_int_equal(hits_at(profile, 2000000000), 0);
		assert_int_equal(hits_at(profile, 5999999999), 0);
		assert_int_equal(hits_at(profile, 6000000000), 125000000);
		profile_free(profile);
	}
}

/* Of however many slices, in the first of which it is. */
static void
speedscope_stretches_are_one_sample_each(void **state)
{
	struct profile *profile = read_text("{" FRAMES ",\"profiles\":[{"
	    "\"unit\":\"seconds\",\"samples\":[[0],[1],[0]],"
	    "\"weights\":[2,4,2]}]}");
	const struct timeline *timeline = profile->tree->timeline;
	uint64_t samples[3] = { 0 };

	(void)state;
	for (size_t i = 0; i < timeline->first[timeline->n_rows]; i++) {
		uint64_t second = timeline->slice[i] * timeline->width_ns /
		                  1000000000;

		samples[(second >= 2) + (second >= 6)] +=
		    timeline->samples[0][i];
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(samples[i], 1);
	profile_free(profile);
}

/* Their hits are kept, and the other profile has its times. */
static void
speedscope_times_beyond_63_bits_are_left_out(void **state)
{
	static const char *const parts[] = {
		"\"startValue\":1e30,\"samples\":[[0]],\"weights\":[1]",
		"\"startValue\":9e9,\"samples\":[[0]],\"weights\":[1e9]",
		"\"samples\":[[0],[0],[0]],\"weights\":[9e9,9e9,1]",
		"\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},"
		"{\"type\":\"C\",\"frame\":0,\"at\":1},"
		"{\"type\":\"O\",\"frame\":0,\"at\":1e18},"
		"{\"type\":\"C\",\"frame\":0,\"at\":1e18},"
		"{\"type\":\"O\",\"frame\":0,\"at\":2},"
		"{\"type\":\"C\",\"frame\":0,\"at\":3}]",
	};
	char text[1000];

	(void)state;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct profile *profile;

		snprintf(text, sizeof text, "{" FRAMES ",\"profiles\":["
		         "{\"unit\":\"seconds\",%s},{\"unit\":\"seconds\","
		         "\"startValue\":5,\"samples\":[[1]],"
		         "\"weights\":[4]}]}", parts[i]);
		profile = read_text(text);
		assert_true(hits_of(profile, 0, "main") >= 1000000000);
		assert_int_equal(profile->tree->timeline->width_ns, 62500000);
		assert_int_equal(hits_at(profile, 0), 62500000);
		profile_free(profile);
	}
}

static void
speedscope_profiles_are_threads_and_units_resources(void **state)
{
	struct profile *profile = read_text("{\"profiles\":["
	    "{\"name\":\"one\",\"unit\":\"bytes\",\"samples\":[[0]],"
	    "\"weights\":[12884901888]},"
	    "{\"name\":\"two\",\"unit\":\"none\",\"samples\":[[0,1],[]],"
	    "\"weights\":[3,1.5]},"
	    "{\"name\":\"none\",\"unit\":\"none\",\"samples\":[],"
	    "\"weights\":[]},"
	    "{\"name\":\"last\",\"unit\":\"bytes\",\"samples\":[[0]],"
	    "\"weights\":[1]}]," FRAMES "}");

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "bytes");
	assert_string_equal(profile->resources[1].name, "samples");
	assert_int_equal(hits_of(profile, 0, "main"), 12884901889);
	assert_int_equal(hits_of(profile, 1, "main;f"), 3);
	assert_int_equal(hits_of(profile, 1, "[no stack]"), 2);
	assert_int_equal(profile->n_sections, 3);
	assert_string_equal(profile->threads[1].name, "two");
	assert_string_equal(profile->threads[
	    profile->sections[2].thread].name, "last");
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "weights rounded to "
	                       "whole numbers: 1"));
	profile_free(profile);
}

/* What export speedscope writes. */
static void
speedscope_profiles_of_our_own_are_resources(void **state)
{
	struct profile *profile = read_text("{\"exporter\":\"cpprof\","
	    FRAMES ",\"profiles\":[{\"name\":\"cpu\",\"unit\":"
	    "\"microseconds\",\"samples\":[[0,1]],\"weights\":[30]},"
	    "{\"name\":\"faults\",\"unit\":\"none\",\"samples\":[[0,1],[2]],"
	    "\"weights\":[4,5]}]}");

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].gtick, "microsecond");
	assert_string_equal(profile->resources[1].name, "faults");
	assert_int_equal(hits_of(profile, 0, "main;f"), 30);
	assert_int_equal(hits_of(profile, 1, "main;f"), 4);
	assert_int_equal(hits_of(profile, 1, "g"), 5);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(profile->n_sections, 0);
	profile_free(profile);
}

/* JavaScript prints doubles with up to 17 decimal places. */
static void
speedscope_subtracts_times_of_any_digits(void **state)
{
	struct profile *profile = read_text("{" FRAMES ",\"profiles\":[{"
	    "\"unit\":\"milliseconds\",\"events\":["
	    "{\"type\":\"O\",\"frame\":0,\"at\":0.00499999988824129},"
	    "{\"type\":\"C\",\"frame\":0,\"at\":123.4},"
	    "{\"type\":\"O\",\"frame\":1,\"at\":0.30000000000000004e3},"
	    "{\"type\":\"C\",\"frame\":1,\"at\":1717171717123.4567}]}]}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main"), 123395000);
	assert_int_equal(hits_of(profile, 0, "f"), 1717171716823456700);
	profile_free(profile);
}

#define PROFILE(body) "{" FRAMES ",\"profiles\":[{\"unit\":\"none\"," body "}]}"

static void
speedscope_refuses_what_does_not_fit_with_its_offset(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{" FRAMES ",\"profiles\":[]}", "in: no samples in it" },
		{ "[]", "in: 0x0: expected an object" },
		{ PROFILE("\"samples\":[[0,3]],\"weights\":[1]"),
		  "in: 0x80: frame 3 of 3" },
		{ PROFILE("\"samples\":[[-1]],\"weights\":[1]"),
		  "in: 0x7e: expected the number of a frame" },
		{ PROFILE("\"samples\":[0],\"weights\":[1]"),
		  "in: 0x7d: expected a sample" },
		{ PROFILE("\"samples\":[[0]],\"weights\":[-1]"),
		  "a value below zero" },
		{ PROFILE("\"samples\":[[0]]"), "1 samples have 0 weights" },
		{ PROFILE("\"samples\":[[0],[1],[1]],\"weights\":["
		          "9223372036854775807,9223372036854775807,3]"),
		  "the sum of hits exceeds 64 bits" },
		{ PROFILE("\"samples\":[[0]],\"weights\":[1e30]"),
		  "a weight that exceeds 63 bits" },
		{ "{" FRAMES ",\"profiles\":[{\"samples\":[[0]],"
		  "\"weights\":[1]}]}", "the profile has no unit" },
		{ "{" FRAMES ",\"profiles\":[{\"unit\":3600}]}",
		  "in: 0x6b: expected a unit" },
		{ PROFILE("\"events\":[{\"type\":\"O\",\"frame\":0}]"),
		  "in: 0x7c: expected an event with" },
		{ PROFILE("\"events\":[{\"type\":\"C\",\"frame\":0,"
		          "\"at\":5}]"), "the end of a frame that is not" },
		{ PROFILE("\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":5},"
		          "{\"type\":\"C\",\"frame\":0,\"at\":4}]"),
		  "a time before that of the previous event" },
		{ PROFILE("\"endValue\":{\"samples\":[[0]]},\"weights\":[1]"),
		  "in: 0x7d: expected a time" },
		{ PROFILE("\"events\":[{\"at\":{\"at\":1},\"frame\":0}]"),
		  "in: 0x82: expected a time" },
		{ "{" FRAMES ",\"profiles\":[{\"unit\":\"none\"}],"
		  "\"exporter\":\"cpprof\"}", "in: 0x7f: expected the exporter" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_error(cases[i].text, cases[i].error);
}

#define OPEN(frame, at) "{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define CLOSE(frame, at) \
	"{\"type\":\"C\",\"frame\":" #frame ",\"at\":" #at "}"
#define WITH_EVENTS(events) PROFILE("\"events\":[" events "]")

/* Input is read by blocks, and an event may lie in two of them. */
static void
speedscope_events_lie_anywhere_in_blocks(void **state)
{
	static const char event[] = "%s" OPEN(0, 1%05d) "," CLOSE(0, 1%05d);
	enum { N_PAIRS = 2000, SIZE = 200 << 10 };
	struct error error = { 0 };
	char *text = malloc(SIZE);

	(void)state;
	for (int shift = 0; shift < (int)sizeof event; shift++) {
		int n = snprintf(text, SIZE, "{%*s" FRAMES ",\"profiles\":[{"
		                 "\"unit\":\"none\",\"events\":[", shift, "");
		struct profile *profile;

		for (int i = 0; i < N_PAIRS; i++)
			n += snprintf(text + n, (size_t)(SIZE - n), event,
			              i > 0 ? "," : "", 9 * i, 9 * i + 5);
		n += snprintf(text + n, (size_t)(SIZE - n), "]}]}");
		profile = read_memory(&format_speedscope, text, (size_t)n,
		                      &error);
		assert_non_null(profile);
		assert_int_equal(profile->n_warnings, 0);
		assert_int_equal(hits_of(profile, 0, "main"), 5 * N_PAIRS);
		profile_free(profile);
	}
	free(text);
}

/* What is wrong in a file does not take the rest with it. */
static void
speedscope_leaves_out_what_is_wrong(void **state)
{
	static const struct {
		const char *text, *warning;
		int main, f;		/* hits; -1: there is no such stack */
	} cases[] = {
		{ PROFILE("\"samples\":[[0]],\"weights\":[1,2]"),
		  "1 samples have 2 weights", 1, -1 },
		{ PROFILE("\"samples\":[[0],[0,1]],\"weights\":[1]"),
		  "2 samples have 1 weights", 1, 0 },
		{ PROFILE("\"weights\":[1],\"samples\":[[0],[0,1]]"),
		  "2 samples have 1 weights", 1, 0 },
		{ PROFILE("\"samples\":[[0],[0,9,[1]],[0,1]],"
		          "\"weights\":[1,2,4]"), "frame 9 of 3", 1, 4 },
		{ PROFILE("\"samples\":[[0],5,[0,1]],\"weights\":[1,2,4]"),
		  "expected a sample", 1, 4 },
		{ PROFILE("\"samples\":[[0],[0],[0,1]],\"weights\":"
		          "[1,[2],4]"), "expected a weight", 1, 4 },
		{ "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":"
		  "{\"a\":1}},{\"unit\":\"none\",\"samples\":[[0]],"
		  "\"weights\":[3]}]}", "an array of samples", 3, -1 },
		{ "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":"
		  "[[7]],\"weights\":[1]},{\"unit\":\"none\",\"samples\":"
		  "[[0]],\"weights\":[3]}]}", "frame 7 of 3", 3, -1 },
		/* A frame keeps its number. */
		{ "{\"shared\":{\"frames\":[{\"name\":\"main\"},7,{\"name\":"
		  "\"f\",\"line\":-1}]},\"profiles\":[{\"unit\":\"none\","
		  "\"samples\":[[0],[0,2]],\"weights\":[1,4]}]}",
		  "a frame, an object; places that were left out: 2", 1, 4 },
		{ "{" FRAMES ",\"profiles\":[7,{\"unit\":\"none\",\"samples\":"
		  "[[0]],\"weights\":[3]}]}", "a profile, an object", 3, -1 },
		/* Time goes back by one; the previous event may be late. */
		{ WITH_EVENTS(OPEN(0, 0) "," OPEN(1, 5) "," CLOSE(1, 4) ","
		         CLOSE(0, 10)), "a time before", 10, 0 },
		{ WITH_EVENTS(OPEN(0, 0) "," OPEN(1, 900) "," CLOSE(1, 4) ","
		         CLOSE(0, 10)), "a time before", 10, 0 },
		/* One event is early. */
		{ WITH_EVENTS(OPEN(0, 10) "," OPEN(1, 20) "," CLOSE(1, 3) ","
		         CLOSE(0, 40)), "a time before", 30, 0 },
		/* The clock was set back. */
		{ WITH_EVENTS(OPEN(0, 100) "," OPEN(1, 120) "," CLOSE(1, 3) ","
		         OPEN(1, 5) "," CLOSE(1, 6) "," CLOSE(0, 9)),
		  "a time before", 25, 1 },
		/* Two ends at once in the wrong order. */
		{ WITH_EVENTS(OPEN(0, 0) "," OPEN(1, 5) "," CLOSE(0, 9) ","
		         CLOSE(1, 9)), "not the innermost open one", 5, 4 },
		{ WITH_EVENTS(OPEN(0, 0) "," OPEN(1, 5) "," CLOSE(2, 6) ","
		         CLOSE(1, 9) "," CLOSE(0, 9)),
		  "not the innermost open one", 5, 4 },
		{ WITH_EVENTS(OPEN(0, 0) ",7," OPEN(1, 5) ",{\"type\":\"X\","
		         "\"frame\":0,\"at\":1}," CLOSE(1, 9) ","
		         CLOSE(0, 9)), "an event, an object", 5, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile *profile = read_text(cases[i].text);

		assert_int_equal(hits_of(profile, 0, "main"), cases[i].main);
		if (cases[i].f >= 0)
			assert_int_equal(hits_of(profile, 0, "main;f"),
			                 cases[i].f);
		assert_true(profile->n_warnings >= 1);
		if (strstr(profile->warnings[0], cases[i].warning) == NULL)
			fail_msg("\"%s\" has no \"%s\"", profile->warnings[0],
			         cases[i].warning);
		profile_free(profile);
	}
}

#define GOOD "{\"type\":\"sampled\",\"name\":\"good\",\"unit\":\"none\"," \
	"\"samples\":[[0],[0,1]],\"weights\":[1,4]}"

/* A profile that cannot be read does not take the others with it. */
static void
speedscope_leaves_out_a_bad_profile(void **state)
{
	static const struct {
		const char *bad, *warning;
	} cases[] = {
		{ "{\"type\":\"sampled\",\"name\":\"s\",\"unit\":\"none\","
		  "\"samples\":[[0],[0,1],[2]],\"weights\":[1,-2,4]}",
		  "a value below zero, as in a difference of two profiles; "
		  "profile s is left out" },
		{ "{\"weights\":[1,-2],\"samples\":[[0],[0,1]],\"unit\":"
		  "\"none\"}", "below zero" },
		{ "{\"type\":\"weird\",\"name\":\"x\",\"unit\":"
		  "\"bytes\"}", "expected the type sampled or evented; profile "
		  "x is left out" },
		{ "{\"name\":\"x\",\"unit\":\"none\",\"samples\":[[0]],"
		  "\"weights\":[7],\"type\":\"weird\"}", "profile x is" },
		{ "{\"unit\":\"bytes\"}", "expected samples and weights, or "
		  "events; profile " },
	};
	char text[1000];

	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		const char *bad = cases[i / 2].bad;
		struct profile *profile;

		snprintf(text, sizeof text, "{" FRAMES ",\"profiles\":[%s,%s]}",
		         i % 2 == 0 ? bad : GOOD, i % 2 == 0 ? GOOD : bad);
		profile = read_text(text);
		assert_int_equal(profile->n_resources, 1);
		assert_int_equal(hits_of(profile, 0, "main"), 1);
		assert_int_equal(hits_of(profile, 0, "main;f"), 4);
		assert_int_equal(sample_tree_total(profile->tree,
		                                   profile->tree->hits[0]), 5);
		assert_int_equal(profile->n_threads, 1);
		assert_string_equal(profile->threads[0].name, "good");
		assert_int_equal(profile->n_warnings, 1);
		if (strstr(profile->warnings[0], cases[i / 2].warning) == NULL)
			fail_msg("\"%s\" has no \"%s\"", profile->warnings[0],
			         cases[i / 2].warning);
		profile_free(profile);
		/* Nothing is left. */
		snprintf(text, sizeof text, "{" FRAMES ",\"profiles\":[%s]}",
		         bad);
		expect_error(text, i / 2 < 2 ? "a value below zero" :
		             "expected");
	}
}

/* Events after endValue count, and are told; not what rounding makes of it. */
static void
speedscope_counts_events_after_the_end(void **state)
{
	static const struct {
		const char *end;
		uint32_t n_warnings;
	} cases[] = { { "4", 1 }, { "8.9999999999", 0 }, { "9", 0 } };
	char text[500];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile *profile;

		snprintf(text, sizeof text, "{" FRAMES ",\"profiles\":[{"
		         "\"unit\":\"seconds\",\"endValue\":%s,\"events\":["
		         OPEN(0, 0) "," CLOSE(0, 9) "]}]}", cases[i].end);
		profile = read_text(text);
		assert_int_equal(hits_of(profile, 0, "main"), 9000000000);
		assert_int_equal(profile->n_warnings, cases[i].n_warnings);
		if (cases[i].n_warnings > 0)
			assert_non_null(strstr(profile->warnings[0],
			    "events after the end of the profile"));
		profile_free(profile);
	}
}

static void
speedscope_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	static const char text[] = "{\"profiles\":[{\"unit\":\"none\","
	    "\"samples\":[[0,1],[0],[2]],\"weights\":[1,20,3]},{\"unit\":"
	    "\"none\",\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":5},"
	    "{\"type\":\"C\",\"frame\":0,\"at\":9}]}]," FRAMES "}";
	const char *weights = strstr(text, "[1,20");
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	cut_at_every_byte(&format_speedscope, text, sizeof text - 1);
	/* The second weight may be one of more digits. */
	profile = read_memory(&format_speedscope, text,
	                      (size_t)(weights - text) + 4, &error);
	assert_non_null(profile);
	assert_non_null(strstr(profile->warnings[0], "cut short"));
	assert_non_null(strstr(profile->warnings[0], "names"));
	assert_int_equal(hits_of(profile, 0, "[frame 0];[frame 1]"), 1);
	assert_int_equal(hits_of(profile, 0, "[frame 0]"), 0);
	profile_free(profile);
}

static void
speedscope_warns_of_frames_that_stay_open(void **state)
{
	struct profile *profile = read_text("{" FRAMES ",\"profiles\":[{"
	    "\"unit\":\"none\",\"endValue\":9,\"events\":["
	    "{\"type\":\"O\",\"frame\":0,\"at\":1},"
	    "{\"type\":\"O\",\"frame\":1,\"at\":3}]}]}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main;f"), 6);
	assert_int_equal(hits_of(profile, 0, "main"), 2);
	assert_non_null(strstr(profile->warnings[0],
	                       "frames without a closing event: 2"));
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speedscope_takes_keys_in_any_order),
		cmocka_unit_test(speedscope_reads_other_units_as_plain_numbers),
		cmocka_unit_test(
		    speedscope_charges_events_to_the_innermost_frame),
		cmocka_unit_test(speedscope_times_have_gaps),
		cmocka_unit_test(speedscope_stretches_are_one_sample_each),
		cmocka_unit_test(speedscope_times_beyond_63_bits_are_left_out),
		cmocka_unit_test(
		    speedscope_profiles_are_threads_and_units_resources),
		cmocka_unit_test(speedscope_profiles_of_our_own_are_resources),
		cmocka_unit_test(speedscope_subtracts_times_of_any_digits),
		cmocka_unit_test(
		    speedscope_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(speedscope_events_lie_anywhere_in_blocks),
		cmocka_unit_test(speedscope_leaves_out_what_is_wrong),
		cmocka_unit_test(speedscope_leaves_out_a_bad_profile),
		cmocka_unit_test(speedscope_counts_events_after_the_end),
		cmocka_unit_test(
		    speedscope_cut_at_every_byte_keeps_what_is_whole),
		cmocka_unit_test(speedscope_warns_of_frames_that_stay_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
