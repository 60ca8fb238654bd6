/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-call-flow.c -- flows of callgrind profiles that have known callers.
 *
 * Every number expected here is that of the stacks behind the text; "~" means
 * that cpprof marks its number as an estimate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/formats/format.h"
#include "src/profile/call_flow.h"

extern const struct format format_callgrind;

static struct profile *
read_text(const char *text)
{
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source = source_of_memory("cg", text, strlen(text),
	                                         &error);
	struct profile *profile;

	assert_non_null(source);
	profile = format_callgrind.read(source, &options, &error);
	source_close(source);
	if (profile == NULL)
		fail_msg("%s", error.text);
	return profile;
}

/* "f 7~; " of each function, then "f>g 6; " of each call between two. */
static void
assert_flow(const char *text, const char *expected)
{
	struct profile *profile = read_text(text);
	struct error error = { 0 };
	struct call_flow *flow = call_flow_new(profile->graph,
	    names_count(profile->names), 0, false, &error);
	char found[2000] = "";
	size_t n = 0;

	assert_non_null(flow);
	for (uint32_t i = 0; i < flow->n_names; i++)
		if (flow->functions[i].is_known)
			n += (size_t)snprintf(found + n, sizeof found - n,
			    "%s %.0Lf%s; ", names_text(profile->names, i),
			    flow->functions[i].inclusive,
			    flow->functions[i].is_estimated ? "~" : "");
	for (uint32_t i = 0; i < flow->n_arcs; i++) {
		const struct flow_arc *arc = &flow->arcs[i];

		n += (size_t)snprintf(found + n, sizeof found - n,
		    "%s>%s %.0Lf%s; ", names_text(profile->names,
		    flow->vertices[arc->caller].name),
		    names_text(profile->names,
		    flow->vertices[arc->callee].name), arc->hits,
		    arc->is_estimated ? "~" : "");
	}
	assert_string_equal(found, expected);
	call_flow_free(flow);
	profile_free(profile);
}

/*
 * main 1, main;f 1, main;f;g 2, main;f;g;f 4, main;g 8, with one caller known:
 * f called by g has only one way up, which has another f.
 */
static void
an_activation_with_one_way_up_is_found_below_itself(void **state)
{
	(void)state;
	assert_flow("creator: callgrind-3.19.0\nevents: Ir\n"
	            "fn=main\n1 1\n"
	            "cfn=f'main\ncalls=1 1\n1 7\n"
	            "cfn=g'main\ncalls=1 1\n1 8\n"
	            "fn=f'main\n1 1\ncfn=g'f\ncalls=1 1\n1 6\n"
	            "fn=g'f\n1 2\ncfn=f'g\ncalls=1 1\n1 4\n"
	            "fn=f'g\n1 4\n"
	            "fn=g'main\n1 8\ntotals: 16\n",
	            "main 16; f 7~; g 14~; "
	            "main>f 7; main>g 8; f>g 6~; g>f 4~; ");
}

/*
 * main 1, main;f 1, main;f;g 2, main;f;g;f 4, main;f;g;f;g 8, main;g 16, with
 * three callers known: the second call of g by f has the first one above it.
 */
static void
a_call_whose_callers_show_it_again_counts_once(void **state)
{
	(void)state;
	assert_flow("creator: callgrind-3.19.0\nevents: Ir\n"
	            "fn=main\n1 1\n"
	            "cfn=f'main\ncalls=1 1\n1 15\n"
	            "cfn=g'main\ncalls=1 1\n1 16\n"
	            "fn=f'main\n1 1\ncfn=g'f'main\ncalls=1 1\n1 14\n"
	            "fn=g'f'main\n1 2\ncfn=f'g'f\ncalls=1 1\n1 12\n"
	            "fn=f'g'f\n1 4\ncfn=g'f'g'f\ncalls=1 1\n1 8\n"
	            "fn=g'f'g'f\n1 8\n"
	            "fn=g'main\n1 16\ntotals: 32\n",
	            "main 32; f 15~; g 30~; "
	            "main>f 15; main>g 16; f>g 14~; g>f 12~; ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    an_activation_with_one_way_up_is_found_below_itself),
		cmocka_unit_test(
		    a_call_whose_callers_show_it_again_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
