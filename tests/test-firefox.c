/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-firefox.c -- processed profiles of Firefox, made by hand. */
#include "tests/reader-fixture.h"

extern const struct format format_firefox;

#define META "\"meta\":{\"interval\":1,\"sampleUnits\":{\"threadCPUDelta\":" \
	"\"\u00b5s\"},\"preprocessedProfileVersion\":48,\"product\":\"P\"}"
/* main calls f, and f itself. */
#define STACKS "\"stackTable\":{\"frame\":[0,1,1],\"prefix\":[null,0,1]}"
#define FRAMES "\"frameTable\":{\"func\":[0,1],\"line\":[null,12]}"
#define FUNCTIONS "\"funcTable\":{\"name\":[0,1],\"fileName\":[2,null]," \
	"\"lineNumber\":[3,9],\"resource\":[-1,-1]}"
#define STRINGS "\"stringArray\":[\"main\",\"f\",\"a.js\"]"
#define TABLES STACKS "," FRAMES "," FUNCTIONS "," STRINGS
#define THREAD(samples, tables) "{\"name\":\"t\",\"pid\":\"5\",\"tid\":6," \
	"\"samples\":{" samples "}," tables "}"
#define PROFILE(samples, tables) \
	"{" META ",\"threads\":[" THREAD(samples, tables) "]}"

static struct profile *
read_text(const char *text)
{
	return must_read(&format_firefox, text, strlen(text));
}

static void
expect_error(const char *text, const char *expected)
{
	must_refuse(&format_firefox, text, strlen(text), expected);
}

/* Fails in a build with UBSan where nothing is added to an empty text. */
static void
firefox_reads_a_library_without_path(void **state)
{
	struct profile *profile = read_text("{" META ",\"threads\":["
	    THREAD("\"stack\":[0]", TABLES) "],"
	    "\"libs\":[{\"path\":\"\",\"codeId\":\"\"}]}");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main"), 1);
	profile_free(profile);
}

static void
firefox_reads_tables_of_the_thread(void **state)
{
	static const char text[] = PROFILE("\"stack\":[0,2,2,null],"
	    "\"threadCPUDelta\":[9,2.5,null,1],\"weight\":null", TABLES);
	struct profile *profile = read_text(text);
	bool has_f = false;

	(void)state;
	assert_int_equal(format_firefox.probe(text, sizeof text - 1),
	                 PROBE_SURE);
	assert_string_equal(profile->resources[0].name, "samples");
	assert_int_equal(profile->resources[0].interval, 1000000);
	assert_int_equal(hits_of(profile, 0, "main"), 1);
	assert_int_equal(hits_of(profile, 0, "main;f;f"), 2);
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 1);
	assert_string_equal(profile->resources[1].name, "cpu");
	assert_int_equal(hits_of(profile, 1, "main"), 0);
	assert_int_equal(hits_of(profile, 1, "main;f;f"), 2500);
	assert_int_equal(hits_of(profile, 1, "[no stack]"), 1000);
	assert_string_equal(profile->threads[0].name, "t");
	assert_int_equal(profile->threads[0].tid, 6);
	assert_int_equal(profile->processes[0].pid, 5);
	for (uint32_t i = 0; i < profile->n_locations; i++) {
		const struct location *location = &profile->locations[i];
		const char *name = names_text(profile->names,
		                              location->function);

		has_f |= strcmp(name, "f") == 0;
		if (strcmp(name, "f") == 0)
			assert_int_equal(location->line, 12);
		if (strcmp(name, "main") == 0) {
			assert_int_equal(location->line, 3);
			assert_string_equal(names_text(profile->names,
			    location->file), "a.js");
		}
	}
	assert_true(has_f);
	profile_free(profile);
}

static void
firefox_reads_shared_tables_before_or_behind_threads(void **state)
{
	static const char *const texts[] = {
		"{" META ",\"shared\":{" TABLES "},\"threads\":["
		THREAD("\"stack\":[1]", "\"x\":1") ","
		THREAD("\"stack\":[2,1]", "\"x\":1") "]}",
		"{\"threads\":[" THREAD("\"stack\":[1]", "\"x\":1") ","
		THREAD("\"stack\":[2,1]", "\"x\":1") "],\"shared\":{" TABLES
		"}," META "}",
		"{\"threads\":[" THREAD("\"stack\":[1]", STACKS "," FRAMES ","
		FUNCTIONS) "," THREAD("\"stack\":[2,1]", STACKS "," FRAMES ","
		FUNCTIONS) "],\"shared\":{" STRINGS "}," META "}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(profile->n_sections, 2);
		assert_int_equal(profile->sections[0].end, 2);
		assert_int_equal(profile->sections[1].begin, 2);
		assert_int_equal(profile->sections[1].end, 5);
		assert_int_equal(sample_tree_parent(profile->tree, 2), NO_NODE);
		assert_int_equal(profile->n_threads, 2);
		assert_int_equal(profile->n_processes, 1);
		assert_int_equal(profile->resources[0].interval, 1000000);
		assert_int_equal(hits_of(profile, 0, "main;f"), 2);
		assert_int_equal(hits_of(profile, 0, "main;f;f"), 1);
		profile_free(profile);
	}
}

static void
firefox_waits_for_libraries_behind_threads(void **state)
{
	static const char text[] = "{" META ",\"threads\":["
	    THREAD("\"stack\":[1]", STACKS ",\"frameTable\":{\"func\":[0,1],"
	    "\"address\":[-1,7]},\"funcTable\":{\"name\":[0,1],\"resource\":["
	    "-1,0]},\"resourceTable\":{\"lib\":[0]}," STRINGS) "],"
	    "\"libs\":[{\"path\":\"/nowhere/x.so\"}]}";
	struct error error = { 0 };
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main;f"), 1);
	assert_int_equal(profile->n_modules, 1);
	assert_string_equal(profile->modules[0].path, "/nowhere/x.so");
	profile_free(profile);
	/* Without them the samples are still there. */
	profile = read_memory(&format_firefox, text,
	    (size_t)(strstr(text, "\"libs\"") - text), &error);
	assert_non_null(profile);
	assert_int_equal(hits_of(profile, 0, "main;f"), 1);
	profile_free(profile);
}

/* A path ends at its first NUL; one that begins with a NUL is no path. */
static void
firefox_cuts_a_librarys_path_at_a_nul(void **state)
{
	static const char text[] = "{" META ",\"libs\":["
	    "{\"path\":\"/nowhere/x.so\"},"
	    "{\"path\":\"/nowhere/x.so\\u0000y\"},"
	    "{\"path\":\"\\u0000z\"}],\"threads\":["
	    THREAD("\"stack\":[2]", "\"stackTable\":{\"frame\":[0,1,2],"
	    "\"prefix\":[null,0,1]},\"frameTable\":{\"func\":[0,1,2],"
	    "\"address\":[5,7,9]},\"funcTable\":{\"name\":[0,1,2],"
	    "\"resource\":[0,1,2]},\"resourceTable\":{\"lib\":[0,1,2]},"
	    STRINGS) "]}";
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main;f;a.js"), 1);
	assert_int_equal(profile->n_modules, 1);
	assert_string_equal(profile->modules[0].path, "/nowhere/x.so");
	assert_int_equal(profile->frames[0].module, 0);
	assert_int_equal(profile->frames[1].module, 0);
	assert_int_equal(profile->frames[2].module, NO_MODULE);
	profile_free(profile);
}

/* As in JSON everywhere, the last of two columns of one name counts. */
static void
firefox_takes_the_last_of_equal_columns(void **state)
{
	struct profile *profile = read_text(PROFILE("\"stack\":[1]", STACKS
	    ",\"frameTable\":{\"func\":[0,1],\"line\":[1,2],"
	    "\"line\":[null,12]}," FUNCTIONS "," STRINGS));
	bool has_f = false;

	(void)state;
	for (uint32_t i = 0; i < profile->n_locations; i++)
		if (strcmp(names_text(profile->names,
		        profile->locations[i].function), "f") == 0) {
			assert_int_equal(profile->locations[i].line, 12);
			has_f = true;
		}
	assert_true(has_f);
	profile_free(profile);
}

static void
firefox_numbers_below_zero_spoil_no_others(void **state)
{
	struct profile *profile = read_text(PROFILE("\"stack\":[0,1,1],"
	    "\"threadCPUDelta\":[1,-1,5]", TABLES));

	(void)state;
	assert_int_equal(profile->n_resources, 1);
	assert_string_equal(profile->resources[0].name, "samples");
	assert_int_equal(hits_of(profile, 0, "main;f"), 2);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "is below zero"));
	profile_free(profile);
}

static void
firefox_takes_weights_of_any_type(void **state)
{
	struct profile *profile = read_text(PROFILE("\"stack\":[0,1,0],"
	    "\"weight\":[0.5,3,0.000001],\"weightType\":\"tracing-ms\"",
	    TABLES));

	(void)state;
	assert_string_equal(profile->resources[0].name, "time");
	assert_int_equal(hits_of(profile, 0, "main"), 500001);
	assert_int_equal(hits_of(profile, 0, "main;f"), 3000000);
	profile_free(profile);
	profile = read_text(PROFILE("\"weightType\":\"bytes\","
	    "\"weight\":[4096,1.5],\"stack\":[0,1]", TABLES
	    ",\"nativeAllocations\":{\"stack\":[1]}"));
	assert_string_equal(profile->resources[0].name, "bytes");
	assert_int_equal(hits_of(profile, 0, "main"), 4096);
	assert_int_equal(profile->n_warnings, 2);
	assert_non_null(strstr(profile->warnings[0], "allocations"));
	assert_non_null(strstr(profile->warnings[1], "in: stacks whose weights were rounded to whole numbers: 1"));
	profile_free(profile);
}

static void
firefox_refuses_what_does_not_fit_with_its_offset(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{" META ",\"threads\":[]}", "in: no samples in it" },
		{ PROFILE("\"stack\":[3]", TABLES), "a sample of stack 3 of 3" },
		{ PROFILE("\"stack\":[0,1],\"weight\":[1]", TABLES),
		  "2 samples have 1 weights" },
		{ PROFILE("\"stack\":[0],\"threadCPUDelta\":[1,2]", TABLES),
		  "1 samples have 2 CPU deltas" },
		{ PROFILE("\"stack\":[0],\"weight\":[-1]", TABLES),
		  "a value below zero: differences" },
		{ PROFILE("\"stack\":[0]", STACKS ",\"frameTable\":{\"func\":["
		  "0,null]}," FUNCTIONS "," STRINGS),
		  "frameTable.func[1] is null, expected an index below 2" },
		{ PROFILE("\"stack\":[0.5]", TABLES),
		  "expected an array of stacks' indices" },
		{ PROFILE("\"stack\":[0]", "\"stackTable\":{\"frame\":[2],"
		  "\"prefix\":[null]}," FRAMES "," FUNCTIONS "," STRINGS),
		  "stackTable.frame[0] is 2 of 2" },
		{ PROFILE("\"stack\":[0]", "\"stackTable\":{\"frame\":[0],"
		  "\"prefix\":[1]}," FRAMES "," FUNCTIONS "," STRINGS),
		  "stackTable.prefix[0] is 1 of 1" },
		{ PROFILE("\"stack\":[0]", "\"stackTable\":{\"frame\":[0,1],"
		  "\"prefix\":[1,0]}," FRAMES "," FUNCTIONS "," STRINGS),
		  "row 0 of the stacks calls itself" },
		{ PROFILE("\"stack\":[0]", "\"stackTable\":{\"frame\":[0,1],"
		  "\"prefix\":[1]}," FRAMES "," FUNCTIONS "," STRINGS),
		  "2 stacks have 1 callers" },
		{ PROFILE("\"stack\":[1]", "\"stackTable\":{\"frame\":[0,1],"
		  "\"prefixOffset\":[0,2]}," FRAMES "," FUNCTIONS ","
		  STRINGS), "stackTable.prefixOffset[1] is 2 of 2" },
		{ PROFILE("\"stack\":[0]", STACKS ",\"frameTable\":{\"func\":["
		  "0,2]}," FUNCTIONS "," STRINGS),
		  "frameTable.func[1] is 2 of 2" },
		{ PROFILE("\"stack\":[0]", STACKS "," FRAMES ","
		  "\"funcTable\":{\"name\":[0,3]}," STRINGS),
		  "funcTable.name[1] is 3 of 3" },
		{ PROFILE("\"stack\":[0]", STACKS "," FRAMES ","
		  "\"funcTable\":{\"name\":[0,1],\"fileName\":[0,7]},"
		  STRINGS), "funcTable.fileName[1] is 7 of 3" },
		{ PROFILE("\"stack\":[0]", STACKS ",\"frameTable\":{\"func\":["
		  "0,1],\"lib\":[-1,0]}," FUNCTIONS "," STRINGS),
		  "frame 1 is of library 0 of 0" },
		{ PROFILE("\"schema\":{\"stack\":0}", TABLES),
		  "an unprocessed profile of Firefox (Gecko)" },
		{ "{\"libs\":\"[]\"}", "in: 0x8: an unprocessed profile" },
		{ "{\"threads\":[3]}", "in: 0xc: expected a thread" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_error(cases[i].text, cases[i].error);
	/* The column's first value. */
	expect_error("{" META ",\"threads\":[{\"stackTable\":{\"prefix\":[1],"
	             "\"frame\":[0]},\"samples\":{\"stack\":[0]}}]}",
	             "in: 0x90: stackTable.prefix[0]");
}

static void
firefox_reads_stacks_however_deep(void **state)
{
	enum { DEPTH = 100000 };
	char *text = malloc(DEPTH * 20 + 1000), *at = text;
	struct profile *profile;

	(void)state;
	at += sprintf(at, "{" META ",\"threads\":[{\"samples\":{\"stack\":["
	              "%d,5]},\"stackTable\":{\"frame\":[0", DEPTH - 1);
	for (int i = 1; i < DEPTH; i++)
		at += sprintf(at, ",%d", i % 2);
	at += sprintf(at, "],\"prefix\":[null");
	for (int i = 1; i < DEPTH; i++)
		at += sprintf(at, ",%d", i - 1);
	sprintf(at, "]}," FRAMES "," FUNCTIONS "," STRINGS "}]}");
	profile = read_text(text);
	assert_int_equal(profile->tree->n_nodes, DEPTH);
	assert_int_equal(sample_tree_hits(profile->tree, 0, DEPTH - 1), 1);
	assert_int_equal(sample_tree_hits(profile->tree, 0, 5), 1);
	profile_free(profile);
	free(text);
}

static void
firefox_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	static const char own[] = PROFILE("\"stack\":[0,2,2,null],"
	    "\"threadCPUDelta\":[9,2.5,null,1],\"weight\":[1,2,3,4]", TABLES);
	static const char shared[] = "{" META ",\"threads\":["
	    THREAD("\"stack\":[1]", "\"x\":1") "],\"libs\":[{\"path\":\"/a\","
	    "\"codeId\":\"ab\"}],\"shared\":{\"resourceTable\":{\"lib\":[0]},"
	    TABLES "}}";
	const char *functions = strstr(own, "\"funcTable\"");
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	cut_at_every_byte(&format_firefox, own, sizeof own - 1);
	cut_at_every_byte(&format_firefox, shared, sizeof shared - 1);
	profile = read_memory(&format_firefox, own, (size_t)(functions - own),
	                      &error);
	assert_non_null(profile);
	assert_non_null(strstr(profile->warnings[0], "cut short"));
	assert_int_equal(hits_of(profile, 0, "[unknown];[unknown];[unknown]"),
	                 5);
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(firefox_reads_tables_of_the_thread),
		cmocka_unit_test(
		    firefox_reads_shared_tables_before_or_behind_threads),
		cmocka_unit_test(firefox_waits_for_libraries_behind_threads),
		cmocka_unit_test(firefox_cuts_a_librarys_path_at_a_nul),
		cmocka_unit_test(firefox_takes_the_last_of_equal_columns),
		cmocka_unit_test(firefox_numbers_below_zero_spoil_no_others),
		cmocka_unit_test(firefox_takes_weights_of_any_type),
		cmocka_unit_test(
		    firefox_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(firefox_reads_a_library_without_path),
		cmocka_unit_test(firefox_reads_stacks_however_deep),
		cmocka_unit_test(
		    firefox_cut_at_every_byte_keeps_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
