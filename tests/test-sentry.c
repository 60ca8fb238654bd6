/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-sentry.c -- profiles of Sentry's SDKs, made by hand. */
#include "tests/reader-fixture.h"

extern const struct format format_sentry;

#define FRAMES "\"frames\":[{\"function\":\"f\",\"module\":\"a\"," \
	"\"filename\":\"a.py\",\"abs_path\":\"/src/a.py\",\"lineno\":7}," \
	"{\"function\":\"main\",\"filename\":\"b.py\",\"lineno\":40}," \
	"{\"function\":\"run\",\"module\":\"com.x.Job\"}," \
	"{\"instruction_addr\":\"0x1000\"}]"
#define STACKS "\"stacks\":[[0,1],[1],[2,0,1],[3],[]]"
#define THREADS "\"thread_metadata\":{\"12\":{\"name\":\"worker\"}," \
	"\"259\":{\"priority\":31}}"
#define SAMPLE(stack, thread, time) "{\"stack_id\":" #stack \
	",\"thread_id\":" #thread ",\"elapsed_since_start_ns\":" #time "}"
#define SAMPLES "\"samples\":[" SAMPLE(0, "12", "1000") "," \
	SAMPLE(1, 12, 2000) "," SAMPLE(2, "259", 3000) "," \
	SAMPLE(3, "259", 4000) "," SAMPLE(4, "259", 5000) "," \
	SAMPLE(-1, "259", 6000) "]"
#define FILE_OF(profile) "{\"version\":\"1\",\"profile\":{" profile "}}"

static const char good[] = FILE_OF(FRAMES "," STACKS "," SAMPLES "," THREADS);

static void
sentry_takes_keys_in_any_order(void **state)
{
	static const char *const texts[] = { good,
		FILE_OF(SAMPLES "," THREADS "," STACKS "," FRAMES),
		FILE_OF(THREADS "," SAMPLES "," FRAMES "," STACKS),
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = must_read(&format_sentry, texts[i],
		                                    strlen(texts[i]));
		const char *file;

		assert_int_equal(format_sentry.probe(texts[i],
		                     strlen(texts[i])), PROBE_SURE);
		assert_int_equal(hits_of(profile, 0, "main;f"), 1);
		assert_int_equal(hits_of(profile, 0, "main"), 1);
		assert_int_equal(hits_of(profile, 0, "main;f;com.x.Job.run"), 1);
		assert_int_equal(hits_of(profile, 0, "[unknown]"), 1);
		assert_int_equal(hits_of(profile, 0, "[no stack]"), 1);
		file = names_text(profile->names, profile->locations[0].file);
		assert_string_equal(file, "/src/a.py");
		assert_int_equal(profile->locations[0].line, 7);
		assert_int_equal(profile->n_threads, 2);
		for (uint32_t t = 0; t < 2; t++)
			if (profile->threads[t].tid == 12)
				assert_string_equal(profile->threads[t].name,
				                    "worker");
			else
				assert_int_equal(profile->threads[t].tid, 259);
		profile_free(profile);
	}
}

static void
sentry_has_times(void **state)
{
	static const char version_2[] = FILE_OF(FRAMES "," STACKS ","
	    "\"samples\":[{\"timestamp\":1724777211.5,\"stack_id\":0,"
	    "\"thread_id\":\"1\"},{\"timestamp\":1724777212.25,"
	    "\"stack_id\":2,\"thread_id\":\"1\"}]");
	struct profile *profile = must_read(&format_sentry, version_2,
	                                    sizeof version_2 - 1);

	(void)state;
	assert_non_null(profile->tree->timeline);
	assert_true(profile->tree->timeline->width_ns > 1000000);
	profile_free(profile);
}

static void
sentry_refuses_what_does_not_fit_with_its_offset(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[]", "in: 0x0: expected an object" },
		{ FILE_OF(FRAMES), "in: no samples" },
		{ FILE_OF("\"frames\":{}"), "in: 0x23: expected an array of "
		  "frames" },
		{ FILE_OF("\"stacks\":[7]"), "in: 0x24: expected a stack" },
		{ FILE_OF("\"stacks\":[[-1]]"), "in: 0x25: expected the number "
		  "of a frame" },
		{ FILE_OF("\"stacks\":[[0]],\"samples\":["
		          SAMPLE(1, "1", 1) "]"), "in: 0x23: a sample has stack 1, but "
		    "there are 1 stacks" },
		{ FILE_OF("\"stacks\":[[0]],\"samples\":["
		          SAMPLE(0, "1", 1) "]"), "stack 0 has frame 0, but "
		    "there are 0 frames" },
		{ FILE_OF("\"samples\":[" SAMPLE(0, "1", []) "]"),
		  "expected a time in nanoseconds" },
		{ FILE_OF(FRAMES "," STACKS "," SAMPLES) "{", "malformed JSON" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_sentry, cases[i].text,
		            strlen(cases[i].text), cases[i].error);
}

static void
sentry_is_told_by_its_keys(void **state)
{
	static const char *const others[] = { "", "{\"profile\":{}}",
		"{\"stacks\":[]}", "{\"profile\":{\"samples\":[{}]}}",
		"{\"profile\":{\"frames\":[{\"name\":\"f\"}]}}" };
	static const char *const heads[] = {
		"{\"profile\":{\"stacks\":[", "{\"profile\":{\"thread_metadata\":",
		"{\"profile\":{\"samples\":[{\"stack_id\":",
		"{\"version\":\"2\",\"profile\":{\"frames\":[{\"function\":",
		"{\"profile\":{\"frames\":[{\"instruction_addr\":\"0x1\"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		assert_int_equal(format_sentry.probe(heads[i],
		                     strlen(heads[i])), PROBE_SURE);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(format_sentry.probe(others[i],
		                     strlen(others[i])), PROBE_NO);
}

static void
sentry_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	(void)state;
	cut_at_every_byte(&format_sentry, good, sizeof good - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, since it is the sample of round-trips.py. */
		cmocka_unit_test(sentry_has_times),
		cmocka_unit_test(sentry_takes_keys_in_any_order),
		cmocka_unit_test(
		    sentry_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(sentry_is_told_by_its_keys),
		cmocka_unit_test(sentry_cut_at_every_byte_keeps_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
