/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-xhprof.c -- call graphs of PHP's xhprof, made by hand. */
#include "src/profile/call_graph.h"
#include "tests/reader-fixture.h"

extern const struct format format_xhprof;

static struct profile *
read_text(const char *text)
{
	struct error error = { 0 };
	struct profile *profile = read_memory(&format_xhprof, text,
	                                      strlen(text), &error);

	keep_seed(text, strlen(text));
	if (profile == NULL)
		fail_msg("%s", error.text);
	return profile;
}

/* Own hits of a function at a level, and calls from one to another. */
static uint64_t
self_of(const struct profile *profile, const char *name, uint32_t level,
        uint32_t resource)
{
	const struct call_graph *graph = profile->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		if (strcmp(names_text(profile->names, graph->nodes[i].name),
		           name) == 0 && graph->nodes[i].level == level)
			return call_graph_self(graph, i)[resource];
	fail_msg("no function %s", name);
	return 0;
}

static const char good[] =
    "{\"main()\":{\"ct\":1,\"wt\":100,\"cpu\":90,\"mu\":1000,\"pmu\":1000},"
    "\"main()==>f\":{\"ct\":3,\"wt\":60,\"cpu\":50,\"mu\":10,\"pmu\":10},"
    "\"f==>f@1\":{\"ct\":2,\"wt\":20,\"cpu\":20,\"mu\":4,\"pmu\":0}}";

static void
xhprof_own_numbers_are_differences(void **state)
{
	struct profile *profile = read_text(good);
	const struct call_graph *graph = profile->graph;

	(void)state;
	assert_int_equal(format_xhprof.probe(good, sizeof good - 1),
	                 PROBE_SURE);
	assert_int_equal(profile->n_resources, 4);
	assert_string_equal(profile->resources[0].name, "time");
	assert_string_equal(profile->resources[3].name, "peak-memory");
	assert_int_equal(self_of(profile, "main()", 1, 0), 40);
	assert_int_equal(self_of(profile, "f", 1, 0), 40);
	assert_int_equal(self_of(profile, "f", 2, 0), 20);
	assert_int_equal(self_of(profile, "main()", 1, 2), 990);
	assert_int_equal(call_graph_total(graph, 0), 100);
	assert_int_equal(call_graph_total(graph, 1), 90);
	assert_int_equal(graph->n_arcs, 2);
	assert_int_equal(graph->arcs[0].calls, 3);
	assert_int_equal(call_graph_hits(graph, 0)[1], 50);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

static void
xhprof_profiles_may_be_wrapped(void **state)
{
	struct profile *profile = read_text(
	    "{\"_id\":7,\"meta\":{\"url\":{\"x\":1}},\"profile\":{"
	    "\"main()\":{\"ct\":1,\"wt\":5}}}");

	(void)state;
	assert_int_equal(profile->n_resources, 1);
	assert_int_equal(self_of(profile, "main()", 1, 0), 5);
	profile_free(profile);
}

/* Memory can shrink; that spoils no time. */
static void
xhprof_memory_below_zero_is_left_out(void **state)
{
	struct profile *profile = read_text(
	    "{\"main()\":{\"ct\":1,\"wt\":9,\"mu\":5,\"pmu\":7},"
	    "\"main()==>f\":{\"ct\":1,\"wt\":10,\"mu\":8,\"pmu\":1},"
	    "\"main()==>g\":{\"ct\":1,\"wt\":0,\"mu\":-6,\"pmu\":0}}");

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[1].name, "peak-memory");
	assert_int_equal(self_of(profile, "main()", 1, 1), 6);
	assert_int_equal(self_of(profile, "main()", 1, 0), 0);
	assert_int_equal(profile->n_warnings, 2);
	assert_non_null(strstr(profile->warnings[0],
	                       "a value of memory is below zero"));
	assert_non_null(strstr(profile->warnings[1], "1 function"));
	profile_free(profile);
}

static void
xhprof_refuses_what_does_not_fit(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{}", "no samples" },
		{ "{\"main()\":{\"ct\":1}}", "no samples" },
		{ "{\"main()\":[]}", "expected numbers of calls" },
		{ "{\"main()\":{\"wt\":\"x\"}}", "expected a number of 63" },
		{ "{\"main()\":{\"wt\":9223372036854775807},\"a==>main()\":"
		  "{\"wt\":1}}", "a sum exceeds 63 bits" },
		{ "{\"main()\":{\"ct\":1,\"mu\":-1}}", "a value below zero" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_xhprof, cases[i].text,
		            strlen(cases[i].text), cases[i].error);
}

static void
xhprof_cut_at_every_byte_is_an_error_or_a_profile(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < sizeof good - 1; cut++) {
		struct error error = { 0 };
		struct profile *profile = read_memory(&format_xhprof, good,
		                                      cut, &error);

		assert_int_equal(profile == NULL, error.is_set);
		if (profile != NULL)
			assert_non_null(strstr(profile->warnings[0],
			                       "cut short"));
		profile_free(profile);
	}
}

/* Lines, as php-profiler's file has them, and an array as of a dump. */
static void
xhprof_requests_add_up(void **state)
{
	static const char *const around[][3] = {
		{ "", "\n", "\n" }, { "[", ",", "]" },
		{ "[\n", ",\n", "\n]\n" }, { "", "", "" },
	};
	static const char request[] =
	    "{\"_id\":{\"$oid\":\"a\"},\"meta\":{\"url\":\"/\",\"SERVER\":"
	    "{\"main()\":[1]}},\"profile\":{\"main()==>f\":{\"ct\":2,"
	    "\"wt\":60},\"main()\":{\"ct\":1,\"wt\":100}}}";
	char text[2 * sizeof request + 10];

	(void)state;
	for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
		int n = snprintf(text, sizeof text, "%s%s%s%s%s", around[i][0],
		                 request, around[i][1], request, around[i][2]);
		struct profile *profile;

		assert_int_equal(format_xhprof.probe(text, (size_t)n),
		                 PROBE_SURE);
		profile = read_text(text);
		assert_int_equal(profile->n_resources, 1);
		assert_int_equal(self_of(profile, "main()", 1, 0), 80);
		assert_int_equal(self_of(profile, "f", 1, 0), 120);
		assert_int_equal(profile->graph->n_arcs, 1);
		assert_int_equal(profile->graph->arcs[0].calls, 4);
		profile_free(profile);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xhprof_own_numbers_are_differences),
		cmocka_unit_test(xhprof_profiles_may_be_wrapped),
		cmocka_unit_test(xhprof_requests_add_up),
		cmocka_unit_test(xhprof_memory_below_zero_is_left_out),
		cmocka_unit_test(xhprof_refuses_what_does_not_fit),
		cmocka_unit_test(
		    xhprof_cut_at_every_byte_is_an_error_or_a_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
