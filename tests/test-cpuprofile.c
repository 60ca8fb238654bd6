/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-cpuprofile.c -- CPU profiles of V8, alone and in traces, made by hand. */
#include "tests/reader-fixture.h"

extern const struct format format_cpuprofile, format_chrome_trace;

#define FRAME(name, line) "\"callFrame\":{\"functionName\":\"" name "\"," \
	"\"scriptId\":\"3\",\"url\":\"file:///a/b.js\",\"lineNumber\":" line \
	",\"columnNumber\":4}"
#define ROOT "{\"id\":1," FRAME("(root)", "-1") ",\"hitCount\":0," \
	"\"children\":[2,4]}"

static struct profile *
read_format(const struct format *format, const char *text)
{
	return must_read(format, text, strlen(text));
}

static void
expect_error(const struct format *format, const char *text,
             const char *expected)
{
	must_refuse(format, text, strlen(text), expected);
}

/* Rows of a location, whose line is not a part of names. */
static uint64_t
hits_in_line(const struct profile *profile, uint32_t resource, uint32_t line)
{
	const struct sample_tree *tree = profile->tree;
	uint64_t hits = 0;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const struct frame *frame = &profile->frames[tree->label[node]];

		if (sample_tree_has_row(tree, node) && profile->locations[
		        frame->first_location].line == line)
			hits += sample_tree_hits(tree, resource, node);
	}
	return hits;
}

static void
cpuprofile_puts_hits_into_their_lines(void **state)
{
	struct profile *profile = read_format(&format_cpuprofile,
		"{\"nodes\":[" ROOT ",{\"id\":2," FRAME("f", "6") ","
		"\"hitCount\":3,\"children\":[3],\"positionTicks\":["
		"{\"line\":8,\"ticks\":2},{\"ticks\":1,\"line\":9,\"x\":[]},"
		"{\"line\":0,\"ticks\":5},{\"line\":7}]},"
		"{\"id\":3," FRAME("h", "9") ",\"hitCount\":1,"
		"\"positionTicks\":[{\"line\":10,\"ticks\":2}]},"
		"{\"id\":4," FRAME("g", "0") ",\"hitCount\":1,"
		"\"positionTicks\":null}],\"startTime\":100,\"endTime\":150,"
		"\"samples\":[2,2,3,2,4],\"timeDeltas\":[0,10,10,10,10]}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 30);
	assert_int_equal(hits_of(profile, 1, "f"), 3);
	assert_int_equal(hits_of(profile, 1, "f;h"), 1);
	assert_int_equal(hits_in_line(profile, 1, 8), 2);
	assert_int_equal(hits_in_line(profile, 0, 8), 20);
	assert_int_equal(hits_in_line(profile, 1, 9), 1);
	assert_int_equal(hits_in_line(profile, 0, 9), 10);
	/* Of h, more ticks than hits; of g, none. */
	assert_int_equal(hits_in_line(profile, 1, 0), 2);
	assert_int_equal(hits_in_line(profile, 0, 0), 20);
	profile_free(profile);
	/* Without lines, functions are where they begin. */
	profile = read_format(&format_cpuprofile,
		"{\"nodes\":[" ROOT ",{\"id\":2," FRAME("f", "6") ","
		"\"hitCount\":1}],\"samples\":[2],\"timeDeltas\":[1]}");
	assert_int_equal(hits_in_line(profile, 1, 7), 1);
	profile_free(profile);
	expect_error(&format_cpuprofile, "{\"nodes\":[{\"id\":2,"
	             "\"positionTicks\":[7]}],\"timeDeltas\":[]}",
	             "expected a line's hits, an object");
}

static void
cpuprofile_takes_keys_in_any_order(void **state)
{
	static const char *const texts[] = {
		"{\"nodes\":[" ROOT ",{\"id\":2," FRAME("f", "6") ","
		"\"hitCount\":2,\"children\":[3]},{\"id\":3," FRAME("", "9")
		",\"hitCount\":1},{\"id\":4," FRAME("g", "0") ",\"hitCount\":1}"
		"],\"startTime\":100,\"endTime\":190,\"samples\":[2,3,2,4],"
		"\"timeDeltas\":[5,10,20,30]}",
		"{\"timeDeltas\":[5,10,20,30],\"samples\":[2,3,2,4],"
		"\"endTime\":190,\"nodes\":[{\"hitCount\":1,\"id\":4,"
		FRAME("g", "0") "},{" FRAME("", "9") ",\"hitCount\":1,\"id\":"
		"3,\"parent\":2},{\"hitCount\":2,\"id\":2," FRAME("f", "6") "},"
		ROOT "],\"startTime\":100}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_format(&format_cpuprofile,
		                                      texts[i]);

		assert_int_equal(format_cpuprofile.probe(texts[i],
		    strlen(texts[i])), PROBE_SURE);
		assert_int_equal(profile->n_resources, 2);
		assert_string_equal(profile->resources[0].name, "time");
		assert_string_equal(profile->resources[0].gtick,
		                    "microsecond");
		/* A sample lasts until the next one, the last to the end. */
		assert_int_equal(hits_of(profile, 0, "f"), 10 + 30);
		assert_int_equal(hits_of(profile, 0,
		    "f;(anonymous b.js:10:5)"), 20);
		assert_int_equal(hits_of(profile, 0, "g"), 190 - 165);
		assert_int_equal(hits_of(profile, 1, "f"), 2);
		assert_int_equal(hits_of(profile, 1,
		    "f;(anonymous b.js:10:5)"), 1);
		assert_int_equal(profile->n_warnings, 0);
		for (uint32_t n = 0; n < profile->n_locations; n++)
			if (strcmp(names_text(profile->names, profile->
			    locations[n].function), "f") == 0) {
				assert_int_equal(profile->locations[n].line, 7);
				assert_string_equal(names_text(profile->names,
				    profile->locations[n].file), "/a/b.js");
			}
		profile_free(profile);
	}
}

static void
cpuprofile_reads_the_older_form_however_deep(void **state)
{
	enum { DEPTH = 100000 };
	static const char node[] = "{\"functionName\":\"f\",\"children\":[";
	static const char end[] = "],\"hitCount\":1,\"url\":\"u\","
	    "\"lineNumber\":3,\"id\":";
	char *text = malloc(DEPTH * (sizeof node + sizeof end + 20) + 200);
	char *at = text;
	struct profile *profile;

	(void)state;
	at += sprintf(at, "{\"head\":");
	for (int i = 0; i < DEPTH; i++)
		at += sprintf(at, "%s", node);
	for (int i = 0; i < DEPTH; i++)
		at += sprintf(at, "%s%d}", end, i + 1);
	sprintf(at, ",\"startTime\":1.5,\"endTime\":1.500007,\"samples\":"
	        "[1,100000],\"timestamps\":[1500001,1500003]}");
	profile = read_format(&format_cpuprofile, text);
	assert_int_equal(profile->tree->n_nodes, DEPTH);
	assert_int_equal(profile->tree->deepest, DEPTH);
	/* Id 1 is the innermost. */
	assert_int_equal(sample_tree_hits(profile->tree, 0, DEPTH - 1), 2);
	assert_int_equal(sample_tree_hits(profile->tree, 0, 0), 4);
	assert_int_equal(profile->locations[0].line, 3);
	profile_free(profile);
	free(text);
}

static void
cpuprofile_time_does_not_go_back(void **state)
{
	struct profile *profile = read_format(&format_cpuprofile,
	    "{\"nodes\":[" ROOT ",{\"id\":2," FRAME("f", "6") "},{\"id\":4,"
	    FRAME("g", "0") "}],\"startTime\":0,\"endTime\":25,"
	    "\"samples\":[2,4,2,4],\"timeDeltas\":[0,20,-15,10]}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 20);
	assert_int_equal(hits_of(profile, 0, "g"), 5);
	assert_int_equal(hits_of(profile, 1, "g"), 2);
	profile_free(profile);
}

#define TWO_NODES "\"nodes\":[{\"id\":1,\"parent\":null," \
	FRAME("(root)", "-1") "},{\"id\":2,\"parent\":1," FRAME("f", "6") "}]"

static void
cpuprofile_times_are_deltas_or_absolute_by_their_key(void **state)
{
	static const char *const texts[] = {
		"{" TWO_NODES ",\"samples\":[2,2,1],\"startTime\":990,"
		"\"endTime\":1030,\"timeDeltas\":[10,10,5]}",
		"{" TWO_NODES ",\"samples\":[2,2,1],\"startTime\":990,"
		"\"endTime\":1030,\"timestamps\":[1000,1010,1015]}",
		"{" TWO_NODES ",\"samples\":[2,2,1],"
		"\"endTime\":1030,\"timestamps\":[1000,1010,1015]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_format(&format_cpuprofile,
		                                      texts[i]);

		assert_int_equal(hits_of(profile, 0, "f"), 15);
		assert_int_equal(hits_of(profile, 0, "(root)"), 15);
		profile_free(profile);
	}
}

/* Deltas count from the start, the end is a time since boot. */
static void
cpuprofile_without_start_has_no_end_either(void **state)
{
	struct profile *profile = read_format(&format_cpuprofile,
	    "{" TWO_NODES ",\"samples\":[2,2],\"timeDeltas\":[5,10],"
	    "\"endTime\":500000000000}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 10);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "the last sample has no "
	                       "time in 1 of 1 profiles"));
	profile_free(profile);
}

/* One more time than samples, as old v8-profilers write; whole seconds. */
static void
cpuprofile_ends_with_a_time_behind_the_last_sample(void **state)
{
	static const char *const texts[] = {
		"{" TWO_NODES ",\"samples\":[2,2,1],\"startTime\":1,"
		"\"endTime\":4,\"timeDeltas\":[10,10,5,3]}",
		"{\"head\":{\"functionName\":\"(root)\",\"id\":1,\"children\":"
		"[{\"functionName\":\"f\",\"id\":2,\"children\":[]}]},"
		"\"samples\":[2,2,1],\"startTime\":163,\"endTime\":163,"
		"\"timestamps\":[163599286,163599296,163599301,163599304]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_format(&format_cpuprofile,
		                                      texts[i]);

		assert_int_equal(hits_of(profile, 0, "f"), 15);
		assert_int_equal(hits_of(profile, 0, "(root)"), 3);
		assert_int_equal(profile->n_warnings, 0);
		profile_free(profile);
	}
	expect_error(&format_cpuprofile, "{" TWO_NODES ",\"samples\":[2],"
	             "\"timeDeltas\":[1,2,3]}", "1 samples have 3 times");
}

static void
cpuprofile_keeps_samples_of_unknown_nodes(void **state)
{
	struct profile *profile = read_format(&format_cpuprofile,
	    "{\"nodes\":[" ROOT ",{\"id\":2," FRAME("f", "6") "}],"
	    "\"samples\":[2,77,1,99,77],\"endTime\":50,"
	    "\"timeDeltas\":[10,10,10,10,10]}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "[unknown node]"), 20);
	assert_int_equal(hits_of(profile, 1, "[unknown node]"), 3);
	assert_int_equal(hits_of(profile, 1, "(root)"), 1);
	assert_non_null(strstr(profile->warnings[1], "samples of nodes that "
	                       "are not in the file: 3"));
	profile_free(profile);
}

static void
cpuprofile_refuses_what_does_not_fit_with_its_offset(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{\"nodes\":[" ROOT "]}", "in: no samples in it" },
		{ "{\"nodes\":[{\"id\":1,\"children\":[2]},{\"id\":2,"
		  "\"children\":[1]}],\"samples\":[2]}",
		  "calls itself" },
		{ "{\"nodes\":[{\"id\":1,\"parent\":1}],\"samples\":[1]}",
		  "in: 0x2a: row 0 of the stacks calls itself" },
		{ "{\"nodes\":[{\"id\":1,\"parent\":1,\"hitCount\":1}]}",
		  "in: 0x9: row 0 of the stacks calls itself" },
		{ "{\"nodes\":[{\"id\":-1}]}", "in: 0x10: expected the id" },
		{ "{\"nodes\":[3]}", "in: 0xa: expected a node" },
		{ "{\"nodes\":[{\"children\":[\"x\"]}]}",
		  "in: 0x17: expected a node or its id" },
		{ "{\"nodes\":[],\"samples\":[null]}", "expected the id" },
		{ "{\"nodes\":[{\"id\":1}],\"samples\":[1,1],"
		  "\"timeDeltas\":[1]}", "2 samples have 1 times" },
		{ "{\"nodes\":[{\"id\":1}],\"samples\":[1],"
		  "\"timeDeltas\":[1e30]}", "expected a time" },
		{ "{\"nodes\":[{\"id\":1,\"hitCount\":0.5}]}",
		  "in: 0x1d: expected how often" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_error(&format_cpuprofile, cases[i].text,
		             cases[i].error);
}

#define CHUNK(id, tid, data) "{\"args\":{\"data\":{" data "}},\"cat\":\"x\"," \
	"\"id\":\"" id "\",\"name\":\"ProfileChunk\",\"ph\":\"P\",\"pid\":5," \
	"\"tid\":" tid ",\"ts\":1.5}"
#define START(id, tid) "{\"args\":{\"data\":{\"startTime\":100}},\"id\":\"" id \
	"\",\"name\":\"Profile\",\"pid\":5,\"tid\":" tid "}"

/* Pieces of two profiles mixed; ids are each profile's own. */
static const char trace[] = "[" START("0x1", "7") "," START("0x2", "8") ","
	CHUNK("0x1", "3", "\"cpuProfile\":{\"nodes\":[{\"id\":1,"
	FRAME("(root)", "-1") "},{\"id\":2,\"parent\":1," FRAME("f", "6") "}],"
	"\"samples\":[2,2]},\"timeDeltas\":[1,2]") ","
	CHUNK("0x2", "3", "\"timeDeltas\":[40],\"cpuProfile\":{\"samples\":[2],"
	"\"nodes\":[{\"id\":2," FRAME("other", "6") "}]}") ","
	"{\"args\":{\"data\":{\"x\":[[1]]}},\"name\":\"Layout\",\"pid\":5},"
	CHUNK("0x1", "3", "\"cpuProfile\":{\"nodes\":[{\"id\":5,\"parent\":2,"
	FRAME("g", "6") ",\"children\":[{\"id\":3," FRAME("h", "6") "}]}],"
	"\"samples\":[3]},\"timeDeltas\":[4],"
	"\"endTime\":115") ","
	CHUNK("0x2", "3", "\"endTime\":200") ","
	"{\"args\":{},\"name\":\"ProfileChunk\",\"id\":\"0x1\",\"pid\":5},"
	"{\"args\":{\"name\":\"Worker\"},\"name\":\"thread_name\",\"pid\":5,"
	"\"tid\":8}]";

static void
chrome_trace_sums_up_pieces_by_profile(void **state)
{
	struct profile *profile = read_format(&format_chrome_trace, trace);

	(void)state;
	assert_int_equal(format_chrome_trace.probe(trace, sizeof trace - 1),
	                 PROBE_SURE);
	assert_int_equal(hits_of(profile, 0, "f"), 2 + 4);
	assert_int_equal(hits_of(profile, 0, "f;g;h"), 115 - 107);
	assert_int_equal(hits_of(profile, 0, "other"), 60);
	assert_int_equal(hits_of(profile, 1, "f"), 2);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(profile->threads[0].tid, 7);
	assert_null(profile->threads[0].name);
	assert_string_equal(profile->threads[1].name, "Worker");
	assert_int_equal(profile->n_processes, 1);
	assert_int_equal(profile->processes[0].pid, 5);
	profile_free(profile);
}

/* The time grows with the trace, whatever its pids. */
/* As Hermes writes it: times twice, and the start where the samples are. */
static void
chrome_trace_reads_times_once_and_the_start_of_the_samples(void **state)
{
	struct profile *profile = read_format(&format_chrome_trace,
	    "[{\"name\":\"Profile\",\"ph\":\"P\",\"pid\":5,\"tid\":5,\"id\":1,"
	    "\"args\":{\"data\":{\"startTime\":0}}},"
	    "{\"name\":\"ProfileChunk\",\"ph\":\"P\",\"pid\":5,\"tid\":5,"
	    "\"id\":1,\"args\":{\"data\":{\"cpuProfile\":{" TWO_NODES ","
	    "\"startTime\":470000000,\"endTime\":470000040,"
	    "\"samples\":[2,2],\"timeDeltas\":[10,20]},"
	    "\"timeDeltas\":[10,20]}}},"
	    "{\"name\":\"ProfileChunk\",\"ph\":\"P\",\"pid\":5,\"tid\":5,"
	    "\"id\":1,\"args\":{\"data\":{\"cpuProfile\":{\"samples\":[1],"
	    "\"startTime\":3},\"timeDeltas\":[5]}}}]");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 25);
	assert_int_equal(hits_of(profile, 0, "(root)"), 5);
	profile_free(profile);
}

/* The trace began when the profile ran: its start and nodes are not there. */
static void
chrome_trace_without_start_has_no_end_of_the_profile(void **state)
{
	struct profile *profile = read_format(&format_chrome_trace,
	    "[" CHUNK("0x3", "7", "\"cpuProfile\":{\"samples\":[2,2]},"
	    "\"timeDeltas\":[151,146]") ","
	    CHUNK("0x3", "7", "\"endTime\":428579660099") "]");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "[unknown node]"), 146);
	assert_non_null(strstr(profile->warnings[0], "the last sample has no "
	                       "time in 1 of 1 profiles"));
	profile_free(profile);
}

static void
chrome_trace_takes_many_processes(void **state)
{
	enum { N = 200000 };
	char *text = malloc(N * 50 + 200), *at = text;
	struct profile *profile;

	(void)state;
	at += sprintf(at, "[");
	for (int i = 0; i < N; i++)
		at += sprintf(at, "{\"name\":\"Profile\",\"pid\":%d},",
		              i / 2 * 3);
	sprintf(at, "{\"name\":\"Profile\",\"pid\":3,\"args\":{\"data\":{"
	        "\"cpuProfile\":{\"nodes\":[{\"id\":1}],\"samples\":[1]}}}}]");
	profile = read_format(&format_chrome_trace, text);
	assert_int_equal(profile->n_processes, N / 2);
	assert_int_equal(profile->processes[1].pid, 3);
	assert_int_equal(profile->threads[1].process, 1);
	profile_free(profile);
	free(text);
}

static void
chrome_trace_without_profile_says_so(void **state)
{
	(void)state;
	expect_error(&format_chrome_trace, "{\"traceEvents\":[{\"ph\":\"X\"}]}",
	             "without samples of a CPU profile");
	expect_error(&format_chrome_trace, "[{\"ph\":\"X\"},3]",
	             "in: 0xc: expected an event");
}

static void
v8_profiles_cut_at_every_byte_keep_what_is_whole(void **state)
{
	static const char text[] = "{\"samples\":[2,3,2,4],\"timeDeltas\":"
	    "[5,10,20,30],\"head\":{\"id\":1,\"children\":[{\"id\":2,"
	    "\"functionName\":\"f\",\"children\":[{\"functionName\":\"g\","
	    "\"id\":3}]},{\"id\":4,\"functionName\":\"h\"}]}}";

	(void)state;
	cut_at_every_byte(&format_cpuprofile, text, sizeof text - 1);
	cut_at_every_byte(&format_chrome_trace, trace, sizeof trace - 1);
}

static void
cpuprofile_hits_below_zero_spoil_no_time(void **state)
{
	struct profile *profile = read_format(&format_cpuprofile,
	    "{\"nodes\":[" ROOT ",{\"id\":2," FRAME("f", "6") ","
	    "\"hitCount\":-2},{\"id\":4," FRAME("g", "0") ",\"hitCount\":1}],"
	    "\"startTime\":100,\"endTime\":190,\"samples\":[2,4],"
	    "\"timeDeltas\":[5,10]}");

	(void)state;
	assert_int_equal(profile->n_resources, 1);
	assert_string_equal(profile->resources[0].name, "time");
	assert_int_equal(hits_of(profile, 0, "f"), 10);
	assert_int_equal(hits_of(profile, 0, "g"), 190 - 115);
	assert_non_null(strstr(profile->warnings[0],
	                       "a value of samples is below zero"));
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpuprofile_takes_keys_in_any_order),
		cmocka_unit_test(cpuprofile_puts_hits_into_their_lines),
		cmocka_unit_test(cpuprofile_hits_below_zero_spoil_no_time),
		cmocka_unit_test(cpuprofile_reads_the_older_form_however_deep),
		cmocka_unit_test(cpuprofile_time_does_not_go_back),
		cmocka_unit_test(
		    cpuprofile_times_are_deltas_or_absolute_by_their_key),
		cmocka_unit_test(cpuprofile_without_start_has_no_end_either),
		cmocka_unit_test(
		    cpuprofile_ends_with_a_time_behind_the_last_sample),
		cmocka_unit_test(cpuprofile_keeps_samples_of_unknown_nodes),
		cmocka_unit_test(
		    cpuprofile_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(chrome_trace_sums_up_pieces_by_profile),
		cmocka_unit_test(
		    chrome_trace_reads_times_once_and_the_start_of_the_samples),
		cmocka_unit_test(
		    chrome_trace_without_start_has_no_end_of_the_profile),
		cmocka_unit_test(chrome_trace_takes_many_processes),
		cmocka_unit_test(chrome_trace_without_profile_says_so),
		cmocka_unit_test(
		    v8_profiles_cut_at_every_byte_keep_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
