/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-flames.c -- flame graphs as JSON, made by hand. */
#include "tests/reader-fixture.h"

extern const struct format format_flames;

static const char tree[] = "{\"name\":\"root\",\"value\":10,\"children\":[{"
    "\"value\":6,\"children\":[{\"name\":\"c\",\"value\":2},{\"name\":\"c\","
    "\"value\":1,\"children\":[{\"name\":\"d\",\"value\":1,\"children\":[]}]}],"
    "\"name\":\"a\"},{\"name\":\"b\",\"value\":4,\"x\":[{}]}]}";

static void
flames_reads_trees(void **state)
{
	struct profile *profile = must_read(&format_flames, tree,
	                                    sizeof tree - 1);

	(void)state;
	assert_int_equal(format_flames.probe(tree, sizeof tree - 1),
	                 PROBE_LIKELY);
	assert_int_equal(hits_of(profile, 0, "a"), 3);
	assert_int_equal(hits_of(profile, 0, "a;c"), 2);
	assert_int_equal(hits_of(profile, 0, "a;c;d"), 1);
	assert_int_equal(hits_of(profile, 0, "b"), 4);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

/* An outermost node that is a function stays; values may be left out. */
static void
flames_keeps_functions_of_short_keys(void **state)
{
	static const char text[] = "{\"n\":\"main\",\"c\":[{\"n\":\"f\",\"v\":"
	    "2.5},{\"n\":\"g\",\"v\":1,\"c\":[{\"n\":\"h\",\"v\":4}]}]}";
	struct profile *profile = must_read(&format_flames, text,
	                                    sizeof text - 1);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main;f"), 3);
	assert_int_equal(hits_of(profile, 0, "main;g;h"), 4);
	assert_int_equal(profile->n_warnings, 2);
	assert_non_null(strstr(profile->warnings[0], "rounded"));
	assert_non_null(strstr(profile->warnings[1], "the children count"));
	profile_free(profile);
}

#define LEVELS(levels) "{\"version\":1,\"flamebearer\":{\"levels\":" levels \
	",\"names\":[\"total\",\"a\",\"b\",\"c\"],\"numTicks\":10}," \
	"\"metadata\":{\"format\":\"single\",\"units\":\"bytes\"}}"

static void
flames_reads_levels(void **state)
{
	static const char text[] = LEVELS("[[0,10,0,0],[0,6,3,1,0,4,4,2],"
	    "[1,2,2,3,1,1,1,3,1,1,0,1]]");
	struct profile *profile = must_read(&format_flames, text,
	                                    sizeof text - 1);

	(void)state;
	assert_int_equal(format_flames.probe(text, sizeof text - 1),
	                 PROBE_SURE);
	assert_string_equal(profile->resources[0].name, "bytes");
	assert_int_equal(hits_of(profile, 0, "a"), 3);
	assert_int_equal(hits_of(profile, 0, "a;c"), 3);
	assert_int_equal(hits_of(profile, 0, "b"), 4);
	profile_free(profile);
}

static void
flames_refuses_what_does_not_fit(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[]", "expected an object" },
		{ "{\"name\":\"a\",\"children\":[7]}", "expected a node" },
		{ "{\"name\":\"a\",\"children\":{}}", "an array of nodes" },
		{ "{\"name\":\"a\",\"value\":1e40,\"children\":[]}",
		  "expected a number" },
		{ LEVELS("[[0,5,0,0],[6,1,1,1]]"), "lies in none" },
		{ LEVELS("[[0,-5,0,0]]"), "expected an item" },
		{ LEVELS("[]"), "no samples" },
		{ "{\"flamebearer\":{\"levels\":[]},\"metadata\":{\"format\":"
		  "\"double\"}}", "a difference of two profiles" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_flames, cases[i].text,
		            strlen(cases[i].text), cases[i].error);
}

static void
flames_cut_at_every_byte_is_an_error_or_a_profile(void **state)
{
	static const char levels[] = LEVELS("[[0,10,0,0],[0,6,3,1]]");

	(void)state;
	cut_at_every_byte(&format_flames, tree, sizeof tree - 1);
	cut_at_every_byte(&format_flames, levels, sizeof levels - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flames_reads_trees),
		cmocka_unit_test(flames_keeps_functions_of_short_keys),
		cmocka_unit_test(flames_reads_levels),
		cmocka_unit_test(flames_refuses_what_does_not_fit),
		cmocka_unit_test(
		    flames_cut_at_every_byte_is_an_error_or_a_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
