/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-views.c -- views of small profiles, computed by hand or printed in the
 * 1993 paper.
 */
#include "src/profile/large_array.h"
#include "tests/view-fixture.h"

#include "src/views/paths/paths.h"

/* Section 4.4 and figure 1 of the paper; the last caller is assumed. */
static const char forms[] =
    "main;db_update_record;db_read_record 84\n"
    "main;envelope;address_information;db_get_property;db_read_record 85\n"
    "main;envelope;db_get_property;db_read_record 21\n"
    "main;form_NJ_1040;address_information;db_get_property;"
    "db_read_record 84\n"
    "main;form_NJ_1040;db_get_property;db_read_record 21\n"
    "main;form_US_1040;address_information;db_get_property;"
    "db_read_record 84\n"
    "main;form_US_1040;db_get_property;db_read_record 22\n"
    "main;invoice;address_information;db_get_property;db_read_record 85\n"
    "main;invoice;db_get_property;db_read_record 22\n"
    "main;loan_application;address_information;db_get_property;"
    "db_read_record 84\n"
    "main;loan_application;db_get_property;db_read_record 22\n";

/* Profiles and the expected rows of views. */
struct example {
	const char *profile;
	view_function *view;
	const char *root;
	const char *expected;
};

static void
check_examples(const struct example *examples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fixture fixture;

		fixture_begin(&fixture, examples[i].profile);
		assert_shows(&fixture, examples[i].view, examples[i].root,
		             examples[i].expected);
		fixture_end(&fixture);
	}
}

#define CHECK(examples) \
	check_examples(examples, sizeof examples / sizeof *examples)

static void
functions_are_those_of_the_paper(void **state)
{
	static const struct example examples[] = {
		{ forms, view_functions, NULL,
		  "(db_read_record)614 (main)614 (db_get_property)530 "
		  "(address_information)422 (invoice)107 (envelope)106 "
		  "(form_US_1040)106 (loan_application)106 "
		  "(form_NJ_1040)105 (db_update_record)84" },
	};

	(void)state;
	CHECK(examples);
}

static void
up_is_that_of_the_paper(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, forms);
	fixture.request.limit = 5;
	assert_shows(&fixture, view_up, "db_read_record",
	    "(db_read_record)614 (db_get_property db_read_record)530 "
	    "(address_information db_get_property db_read_record)422 "
	    "(envelope address_information db_get_property "
	    "db_read_record)85 "
	    "(invoice address_information db_get_property "
	    "db_read_record)85");
	fixture_end(&fixture);
}

static void
tree_is_that_of_the_paper(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, forms);
	fixture.request.limit = 7;
	assert_shows(&fixture, view_tree, NULL,
	    "(main)614 (main invoice)107 "
	    "(main invoice address_information)85 "
	    "(main invoice address_information db_get_property)85 "
	    "(main invoice address_information db_get_property "
	    "db_read_record)85 (main invoice db_get_property)22 "
	    "(main invoice db_get_property db_read_record)22");
	fixture_end(&fixture);
}

static void
a_path_without_hits_has_a_line(void **state)
{
	static const struct example examples[] = {
		{ "main;uniquify_db;qsort 1820\n"
		  "main;print_salary_list;qsort 0\n", view_down, "main",
		  "(main)1820 (main uniquify_db)1820 "
		  "(main uniquify_db qsort)1820 (main print_salary_list)0 "
		  "(main print_salary_list qsort)0" },
	};

	(void)state;
	CHECK(examples);
}

static const char self_recursion[] =
    "main;f 1\nmain;f;f 2\nmain;f;f;f 3\nmain;f;f;f;g 4";
static const char mutual_recursion[] =
    "main;a 1\nmain;a;b 2\nmain;a;b;a 3\nmain;a;b;a;b 4\n"
    "main;a;b;a;b;c 5";

static void
direct_recursion_shows_its_first_call_and_the_others(void **state)
{
	static const struct example examples[] = {
		{ self_recursion, view_down, "main",
		  "(main)10 (main f)10 (main f f)9 (main f g)4" },
		{ self_recursion, view_down, "f", "(f)10 (f f)9 (f g)4" },
		{ self_recursion, view_up, "g", "(f g)4 (g)4 (main f g)4" },
		{ self_recursion, view_callers, "f", "(main f)10 (f f)9" },
		{ self_recursion, view_callees, "f", "(f f)9 (f g)4" },
	};

	(void)state;
	CHECK(examples);
}

static void
mutual_recursion_returns_to_the_first_activation(void **state)
{
	static const struct example examples[] = {
		{ mutual_recursion, view_down, "main",
		  "(main)15 (main a)15 (main a b)14 (main a b a)12 "
		  "(main a b c)5" },
		{ mutual_recursion, view_down, "a",
		  "(a)15 (a b)14 (a b a)12 (a b c)5" },
		{ mutual_recursion, view_down, "b",
		  "(b)14 (b a)12 (b a b)9 (b c)5" },
		{ mutual_recursion, view_up, "b",
		  "(a b)14 (b)14 (main a b)14 (b a b)9" },
	};

	(void)state;
	CHECK(examples);
}

static void
a_root_inside_its_own_recursion_begins_once(void **state)
{
	static const struct example examples[] = {
		{ "a;b 1\na;b;a 2\na;b;a;c 3\na;c 4", view_down, "a",
		  "(a)10 (a c)7 (a b)6 (a b a)5" },
	};

	(void)state;
	CHECK(examples);
}

static void
a_function_reached_through_recursion_has_its_shortest_path(void **state)
{
	static const char profile[] =
	    "main;a 1\nmain;a;q 2\nmain;a;q;a 3\nmain;a;q;a;b 4\n"
	    "main;a;b 5";
	static const struct example examples[] = {
		{ profile, view_down, "main",
		  "(main)15 (main a)15 (main a b)9 (main a q)9 "
		  "(main a q a)7" },
		{ profile, view_up, "b",
		  "(a b)9 (b)9 (main a b)9 (q a b)4" },
	};

	(void)state;
	CHECK(examples);
}

static void
a_path_counts_only_while_it_is_the_active_chain(void **state)
{
	static const char profile[] =
	    "a;b;c 1\na;b;c;a 2\na;b;c;a;c 3\na;b;c;a;c;d 4\na;b;c;d 5";
	static const struct example examples[] = {
		{ profile, view_down, "a",
		  "(a)15 (a b)15 (a b c)15 (a b c a)9 (a c)7 (a b c d)5 "
		  "(a c d)4" },
		/* From b, the second c goes back to the first. */
		{ profile, view_up, "d",
		  "(b c d)9 (c d)9 (d)9 (a b c d)5 (a c d)4" },
	};

	(void)state;
	CHECK(examples);
}

static void
rows_of_equal_hits_compare_name_by_name_as_bytes(void **state)
{
	/* "a\1" sorts after "a", although "a\1 b" sorts before "a z". */
	static const struct example examples[] = {
		{ "m;a\1;b 1\nm;a;z 1\nm;\xff 1\nm;Z 1", view_down, "m",
		  "(m)4 (m Z)1 (m a)1 (m a z)1 (m a\1)1 (m a\1 b)1 "
		  "(m \xff)1" },
		{ "a\1;b;r 1\na;z;r 1\nr 1", view_up, "r",
		  "(r)3 (a z r)1 (a\1 b r)1 (b r)1 (z r)1" },
		{ "m;bcdefghijk 1\nm;bcdefghij 1\nm;bcdefghijj 1", view_body,
		  NULL, "(bcdefghij)1 (bcdefghijj)1 (bcdefghijk)1 (m)0" },
	};

	(void)state;
	CHECK(examples);
}

static void
flat_adds_bodies_up(void **state)
{
	static const uint64_t cumulative[] = { 10, 15, 16 };
	static const uint64_t inclusive[] = { 10, 5, 16 };
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];
	char *text;

	(void)state;
	fixture_begin(&fixture, "main 1\nmain;a 10\nmain;b 5");
	assert_int_equal(view_flat(&fixture.request, &table, &error), 0);
	text = rows_text(&table);
	assert_string_equal(text, "(a)10 (b)5 (main)1");
	for (size_t i = 0; i < 3; i++) {
		table_get_row(&table, i, cells);
		assert_int_equal(
		    cells[find_column(&table, "cumulative")].count,
		    cumulative[i]);
		assert_int_equal(
		    cells[find_column(&table, "inclusive")].count,
		    inclusive[i]);
	}
	free(text);
	table_free(&table);
	fixture_end(&fixture);
}

static void
flat_keeps_each_function_beside_its_own_total(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];

	(void)state;
	fixture_begin(&fixture, "main;a 1\nmain;a;b 99");
	fixture.request.threshold = 0.5;
	assert_int_equal(view_flat(&fixture.request, &table, &error), 0);
	assert_int_equal(table.n_rows, 1);
	table_get_row(&table, 0, cells);
	assert_int_equal(cells[find_column(&table, "inclusive")].count, 99);
	table_free(&table);
	fixture_end(&fixture);
}

static void
top_shows_both_numbers_of_each_function(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];
	char *text;

	(void)state;
	fixture_begin(&fixture, "main 1\nmain;x;c;a 10\nmain;c;x;z;b 5\n"
	              "main;x;z;z 5\nmain;x;z;b;d 5\n");
	fixture.request.limit = 5;
	assert_int_equal(view_top(&fixture.request, &table, &error), 0);
	text = rows_text(&table);
	/* b, d and z have 5 each: by their totals, then by their names. */
	assert_string_equal(text, "(a)10 (z)5 (b)5 (d)5 (main)1");
	table_get_row(&table, 4, cells);
	assert_int_equal(cells[find_column(&table, "inclusive")].count, 26);
	assert_true(cells[find_column(&table, "inclusive_fraction")].fraction
	            == 1);
	table_get_row(&table, 1, cells);
	assert_int_equal(cells[find_column(&table, "inclusive")].count, 15);
	free(text);
	table_free(&table);
	fixture_end(&fixture);
}

/* Asks a view for what matches; returns its last footer, or "". */
static const char *
footer_of(struct fixture *fixture, view_function *view, const char *pattern,
          struct table *table)
{
	struct error error = { 0 };

	fixture->request.pattern = pattern == NULL ? NULL :
	                           pattern_new(pattern, &error);
	assert_int_equal(view(&fixture->request, table, &error), 0);
	pattern_free((struct pattern *)fixture->request.pattern);
	return table->n_footer == 0 ? "" : table->footer[table->n_footer - 1];
}

static void
an_empty_table_says_which_threshold_would_show_a_row(void **state)
{
	static const struct {
		view_function *view;
		const char *pattern, *root, *footer;
	} cases[] = {
		{ view_top, "b*", "m", "the largest, bb, is below the "
		  "threshold: 0.03 of the run, 3 hits; use threshold 0.03 to "
		  "show it" },
		{ view_flat, "b*", "m", "the largest, bb, is below the "
		  "threshold: 0.03 of the run, 3 hits; use threshold 0.03 to "
		  "show it" },
		{ view_body, "ba", "m", "ba is below the threshold: 0.02 of "
		  "the run, 2 hits; use threshold 0.02 to show it" },
		{ view_functions, "b*", "m", "the largest, bb, is below the "
		  "threshold: 0.03 of the run, 3 hits; use threshold 0.03 to "
		  "show it" },
		{ view_callees, NULL, "q", "the largest, (q bb), is below the "
		  "threshold: 0.03 of the run, 3 hits; use threshold 0.03 to "
		  "show it" },
		{ view_callers, NULL, "ba", "(q ba) is below the threshold: 0.02 "
		  "of the run, 2 hits; use threshold 0.02 to show it" },
		{ view_functions, "none*", "m",
		  "no function matches the pattern" },
		{ view_body, "q", "m", "no hits of Real Time" },
		{ view_functions, "a*", "m", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct fixture fixture;
		struct table table = { 0 };

		fixture_begin(&fixture, "m;a 95\nm;q;ba 2\nm;q;bb 3");
		fixture.request.root = fixture_name(&fixture, cases[i].root);
		fixture.request.threshold = 0.5;
		assert_string_equal(footer_of(&fixture, cases[i].view,
		                              cases[i].pattern, &table),
		                    cases[i].footer);
		table_free(&table);
		fixture_end(&fixture);
	}
}

static void
a_threshold_shows_what_reaches_it(void **state)
{
	(void)state;
	assert_int_equal(measure_least(0.01, 600), 6);
	assert_int_equal(measure_least(0.01, 601), 7);
	assert_int_equal(measure_least(0.07, 100), 7);
	assert_int_equal(measure_least(0.29, 100), 29);
	assert_int_equal(measure_least(0.57, 100), 57);
	assert_int_equal(measure_least(0, 600), 0);
	assert_int_equal(measure_least(0.01, 0), 0);
	assert_int_equal(measure_least(1, UINT64_MAX), UINT64_MAX);
	assert_int_equal(measure_least(0.1, 1), 1);
}

static void
what_is_hidden_is_counted_and_said(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };

	(void)state;
	fixture_begin(&fixture,
	              "m;a;b;c 50\nm;x 20\nm;y 20\nm;z 5\nm;z;w 4\nm;v 1");
	fixture.request.root = fixture_name(&fixture, "m");
	fixture.request.threshold = 0.05;
	fixture.request.depth = 3;
	fixture.request.limit = 4;
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	assert_int_equal(table.n_rows, 4);
	assert_int_equal(field_count(&table, "hidden"), 5);
	assert_int_equal(table.n_footer, 1);
	assert_string_equal(table.footer[0],
	    "2 entries below threshold 0.05 not shown, 1 longer than 3 functions, "
	    "2 more (limit 4)");
	table_free(&table);
	fixture_end(&fixture);
}

static void
of_equal_paths_only_the_longest_stays(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, "m;a;b 50\nm;a;b;c 20\nm;x;y 20");
	fixture.request.folds_chains = true;
	assert_shows(&fixture, view_down, "m",
	             "(m)90 (m a b)70 (m a b c)20 (m x y)20");
	assert_shows(&fixture, view_up, "b", "(m a b)70");
	assert_shows(&fixture, view_tree, NULL,
	    "(m)90 (m a)70 (m a b)70 (m a b c)20 (m x)20 (m x y)20");
	fixture.request.folds_chains = false;
	assert_shows(&fixture, view_up, "b", "(a b)70 (b)70 (m a b)70");
	fixture_end(&fixture);
}

static void
a_path_that_several_others_extend_stays(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, "m;a;b;a;c 95\nm;a;d 1");
	fixture.request.folds_chains = true;
	fixture.request.threshold = 0.05;
	/* The second a goes back to the first, so b and c have the same hits. */
	assert_shows(&fixture, view_down, "m",
	             "(m a)96 (m a b a)95 (m a c)95");
	fixture.request.threshold = 0;
	assert_shows(&fixture, view_down, "m",
	             "(m a)96 (m a b a)95 (m a c)95 (m a d)1");
	fixture_end(&fixture);
	/* Here one of several has all hits of the path that it extends. */
	fixture_begin(&fixture, "m;a;b;a;c 5\nm;a;b;z 1");
	fixture.request.folds_chains = true;
	assert_shows(&fixture, view_down, "m",
	             "(m a)6 (m a b)6 (m a b a)5 (m a c)5 (m a b z)1");
	/* Hidden paths distinguish nothing. */
	fixture.request.threshold = 0.9;
	assert_shows(&fixture, view_down, "m", "(m a b)6");
	fixture_end(&fixture);
}

static void
the_limit_counts_paths_that_are_left_when_chains_are_folded(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	char *text;

	(void)state;
	fixture_begin(&fixture, "m;a;b;c 50\nm;x;y 20\nm;z 9\nm;w 1");
	fixture.request.root = fixture_name(&fixture, "m");
	fixture.request.folds_chains = true;
	fixture.request.threshold = 0.05;
	fixture.request.limit = 3;
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	text = rows_text(&table);
	assert_string_equal(text, "(m)80 (m a b c)50 (m x y)20");
	assert_int_equal(field_count(&table, "hidden"), 1 + 3 + 1);
	assert_int_equal(table.n_footer, 2);
	assert_string_equal(table.footer[0], "1 entry below threshold 0.05 "
	                    "not shown, 1 more (limit 3)");
	assert_string_equal(table.footer[1], "3 shorter paths with the "
	    "same stacks hidden; \"chains show\" shows them");
	free(text);
	table_free(&table);
	fixture_end(&fixture);
}

static void
tree_hides_and_counts_what_is_too_deep(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	char *text;

	(void)state;
	fixture_begin(&fixture, "a;b;c;d 90\na;b;c;e 1\na;x 9");
	fixture.request.threshold = 0.05;
	fixture.request.depth = 2;
	assert_int_equal(view_tree(&fixture.request, &table, &error), 0);
	text = rows_text(&table);
	assert_string_equal(text, "(a)100 (a b)91 (a x)9");
	assert_string_equal(table.footer[0],
	    "1 entry below threshold 0.05 not shown, "
	    "2 longer than 2 functions");
	free(text);
	table_free(&table);
	fixture_end(&fixture);
}

static void
percentages_may_be_the_roots(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];

	(void)state;
	fixture_begin(&fixture, "main;a;b 10\nmain 30");
	fixture.request.root = fixture_name(&fixture, "a");
	fixture.request.percent = PERCENT_ROOT;
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	assert_int_equal(field_count(&table, "denominator"), 10);
	assert_int_equal(field_count(&table, "total"), 40);
	table_get_row(&table, 1, cells);
	assert_float_equal(cells[find_column(&table, "fraction")].fraction,
	                   1.0, 0);
	assert_string_equal(table.header[3],
	                    "percentages of root a (10 hits)");
	table_free(&table);
	fixture_end(&fixture);
}

/* Hits of a path, written as names separated by blanks. */
static uint64_t
value_of(struct fixture *fixture, const char *text)
{
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];
	uint32_t path[16];
	char *words = strdup(text);

	fixture->request.n_path = 0;
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		path[fixture->request.n_path++] = fixture_name(fixture, word);
	fixture->request.path = path;
	assert_int_equal(view_path(&fixture->request, &table, &error), 0);
	assert_int_equal(table.n_rows, 1);
	table_get_row(&table, 0, cells);
	table_free(&table);
	free(words);
	return cells[0].count;
}

static void
path_has_the_value_that_down_shows(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, mutual_recursion);
	assert_int_equal(value_of(&fixture, "main"), 15);
	assert_int_equal(value_of(&fixture, "main a b a"), 12);
	assert_int_equal(value_of(&fixture, "main a b c"), 5);
	assert_int_equal(value_of(&fixture, "b a b"), 9);
	fixture_end(&fixture);
	fixture_begin(&fixture, "a;d;b;d;b;c 1\na;b;d;b;c 2");
	assert_int_equal(value_of(&fixture, "a b c"), 2);
	fixture_end(&fixture);
}

static void
a_path_that_never_occurs_has_no_hits(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, mutual_recursion);
	assert_int_equal(value_of(&fixture, "c main"), 0);
	assert_int_equal(value_of(&fixture, "a b a b"), 0);
	assert_int_equal(value_of(&fixture, "nobody"), 0);
	fixture_end(&fixture);
}

static void
path_predicts_the_run_without_it(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	uint32_t path[2];

	(void)state;
	fixture_begin(&fixture, forms);
	path[0] = fixture_name(&fixture, "address_information");
	path[1] = fixture_name(&fixture, "db_get_property");
	fixture.request.path = path;
	fixture.request.n_path = 2;
	assert_int_equal(view_path(&fixture.request, &table, &error), 0);
	assert_int_equal(field_count(&table, "gticks"), 8440);
	assert_int_equal(field_count(&table, "total_gticks"), 12280);
	assert_int_equal(field_count(&table, "new_total"), 192);
	assert_int_equal(field_cell(&table, "new_total").kind, CELL_HITS);
	assert_int_equal(field_count(&table, "new_total_gticks"), 3840);
	/* All in the unit of the whole run. */
	assert_int_equal(field_cell(&table, "gticks").whole, 12280);
	assert_int_equal(field_cell(&table, "new_total_gticks").whole, 12280);
	table_free(&table);
	fixture_end(&fixture);
}

static void
gticks_over_64_bits_are_null(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	uint32_t path;

	(void)state;
	fixture_begin(&fixture, "a 9223372036854775808");
	path = fixture_name(&fixture, "a");
	fixture.request.path = &path;
	fixture.request.n_path = 1;
	assert_int_equal(view_path(&fixture.request, &table, &error), 0);
	assert_int_equal(field_cell(&table, "gticks").kind, CELL_EMPTY);
	table_free(&table);
	fixture_end(&fixture);
}

static void
calls_are_framed_by_hits_that_follow_the_unit(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };

	(void)state;
	fixture_begin(&fixture, "a 1\na;b 2\na;b;c 4");
	fixture.request.root = fixture_name(&fixture, "b");
	assert_int_equal(view_callers(&fixture.request, &table, &error), 0);
	assert_int_equal(field_cell(&table, "body").kind, CELL_HITS);
	assert_int_equal(field_count(&table, "body"), 2);
	assert_int_equal(field_cell(&table, "inclusive").kind, CELL_HITS);
	assert_int_equal(field_count(&table, "inclusive"), 6);
	table_free(&table);
	fixture_end(&fixture);
}

static void
a_root_with_a_nul_is_named_whole(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };

	(void)state;
	fixture_begin(&fixture, "a 1");
	fixture.request.root = names_add(fixture.names, "b\0c", 3, &error);
	fixture.request.percent = PERCENT_ROOT;
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	assert_string_equal(table.header[1], "root: b\\x00c");
	assert_string_equal(table.header[3],
	                    "percentages of root b\\x00c (0 hits)");
	table_free(&table);
	fixture_end(&fixture);
}

static void
all_shows_the_small(void **state)
{
	struct fixture fixture;
	struct error error = { 0 };
	struct pattern *pattern = pattern_new("f*", &error);

	(void)state;
	assert_non_null(pattern);
	fixture_begin(&fixture, "main 1000\nmain;f1 1\nmain;f2 0\nmain;g 5");
	fixture.request.threshold = 0.01;
	fixture.request.pattern = pattern;
	assert_shows(&fixture, view_functions, NULL, "");
	fixture.request.threshold = 0;
	assert_shows(&fixture, view_functions, NULL, "(f1)1 (f2)0");
	pattern_free(pattern);
	fixture_end(&fixture);
}

/* Beside "when" the fraction is the first thing to go; the hits say the same. */
static void
fractions_give_way_to_when(void **state)
{
	static uint8_t slices[8];
	static size_t first[9] = { 0, 0, 1, 2, 3, 4, 5, 6, 7 };
	struct timeline timeline = { .width_ns = 1, .n_slices = 1,
		.n_resources = 1, .first = first, .slice = slices };
	struct fixture fixture;
	struct error error = { 0 };

	(void)state;
	fixture_begin(&fixture, "main 2\nmain;a 1");
	assert_in_range(fixture.tree->n_rows, 1, 8);
	timeline.n_rows = fixture.tree->n_rows;
	/* All hits of a row, but row 0, are in its only slice. */
	timeline.hits = (uint64_t *[]){ fixture.tree->hits[0] + 1 };
	timeline.samples = timeline.hits;
	fixture.tree->timeline = &timeline;
	for (int has_when = 0; has_when < 2; has_when++) {
		struct table table = { 0 };

		fixture.request.has_when = has_when;
		assert_int_equal(view_functions(&fixture.request, &table,
		                                &error), 0);
		assert_int_equal(
		    table.columns[find_column(&table, "fraction")].gives_way,
		    has_when);
		assert_false(
		    table.columns[find_column(&table, "hits")].gives_way);
		table_free(&table);
	}
	fixture.tree->timeline = NULL;
	fixture_end(&fixture);
}

static void
names_that_no_stack_holds_are_not_listed(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, "a;b 1");
	fixture_name(&fixture, "a file's name");
	assert_shows(&fixture, view_functions, NULL, "(a)1 (b)1");
	assert_shows(&fixture, view_body, NULL, "(b)1 (a)0");
	assert_shows(&fixture, view_down, "a file's name", "");
	assert_shows(&fixture, view_up, "a file's name", "");
	fixture_end(&fixture);
}

static void
a_run_without_hits_has_rows_and_no_fractions(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];

	(void)state;
	fixture_begin(&fixture, "a;b 0");
	fixture.request.threshold = 0;
	fixture.request.root = fixture_name(&fixture, "a");
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	assert_int_equal(table.n_rows, 2);
	table_get_row(&table, 0, cells);
	assert_true(cells[find_column(&table, "fraction")].fraction == 0);
	table_free(&table);
	table = (struct table){ 0 };
	fixture.request.threshold = 0.01;
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	assert_int_equal(table.n_rows, 0);
	table_free(&table);
	fixture_end(&fixture);
}

static void
a_rooted_view_needs_a_root(void **state)
{
	static view_function *const rooted[] = {
		view_up, view_callers, view_callees,
	};
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, "a;b 1");
	for (size_t i = 0; i < sizeof rooted / sizeof *rooted; i++) {
		struct table table = { 0 };
		struct error error = { 0 };

		assert_int_equal(rooted[i](&fixture.request, &table, &error),
		                 -1);
		assert_non_null(strstr(error.text,
		                       "there is no root function"));
		table_free(&table);
	}
	fixture_end(&fixture);
}

static void
hits_and_samples_are_told_apart(void **state)
{
	struct fixture fixture;
	struct table table = { 0 };
	struct error error = { 0 };

	(void)state;
	fixture_begin(&fixture, "a 9950");
	fixture.set.n_samples = 812;
	assert_int_equal(view_body(&fixture.request, &table, &error), 0);
	assert_string_equal(table.header[0],
	    "Body Function Profile for resource: Real Time");
	assert_string_equal(table.header[1],
	    "812 samples, 33.17 min; a sample can stand for several "
	    "intervals of 200 ms");
	assert_string_equal(table.header[2],
	    "percentages of the whole run (33.17 min)");
	table_free(&table);
	fixture_end(&fixture);
}

/*
 * A collapsed stack of n frames over n_names functions in turn, with one hit.
 */
static char *
chain(uint32_t n, uint32_t n_names)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	for (uint32_t i = 0; i < n; i++)
		fprintf(file, "%sf%u", i > 0 ? ";" : "", i % n_names);
	fprintf(file, " 1");
	fclose(file);
	return text;
}

static void
deep_recursion_of_few_functions_has_few_paths(void **state)
{
	char *folded = chain(200000, 2);
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, folded);
	assert_shows(&fixture, view_down, "f0",
	             "(f0)1 (f0 f1)1 (f0 f1 f0)1");
	assert_shows(&fixture, view_up, "f0",
	             "(f0)1 (f0 f1 f0)1 (f1 f0)1");
	assert_shows(&fixture, view_functions, NULL, "(f0)1 (f1)1");
	fixture_end(&fixture);
	free(folded);
}

static void
a_deep_stack_of_distinct_functions_is_answered_whole(void **state)
{
	static view_function *const both[] = { view_down, view_up };
	static const char *const roots[] = { "f0", "f99999" };
	char *folded = chain(100000, 100000);
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, folded);
	fixture.request.depth = 1000;
	for (size_t i = 0; i < 2; i++) {
		struct table table = { 0 };
		struct error error = { 0 };

		fixture.request.root = fixture_name(&fixture, roots[i]);
		assert_int_equal(both[i](&fixture.request, &table, &error),
		                 0);
		assert_int_equal(table.n_rows, 1000);
		assert_int_equal(field_count(&table, "hidden"), 99000);
		table_free(&table);
	}
	fixture_end(&fixture);
	free(folded);
}

/* Each x0 goes back to the start of a long path: no walk back over it. */
static void
going_back_over_a_long_path_is_one_step(void **state)
{
	enum { LENGTH = 30000 };
	struct error error = { 0 };
	struct table table = { 0 };
	struct fixture fixture;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	assert_non_null(file);
	for (int i = 0; i < LENGTH; i++)
		fprintf(file, "x%d;", i);
	for (int i = 0; i < LENGTH; i++)
		fprintf(file, "y%d;x0;z%s", i, i + 1 < LENGTH ? ";" : " 1");
	fclose(file);
	fixture_begin(&fixture, text);
	fixture.request.root = fixture_name(&fixture, "x0");
	assert_int_equal(view_down(&fixture.request, &table, &error), 0);
	/* x0 .., then (x0 .. y0 x0), (x0 z), (x0 z y1), (x0 z y1 x0) .. */
	assert_int_equal(table.n_rows, LENGTH + 2 + 1 + 2 * (LENGTH - 1));
	table_free(&table);
	fixture_end(&fixture);
	free(text);
}

static void
too_many_paths_are_an_error(void **state)
{
	struct error error = { 0 };
	struct path_trie trie;

	(void)state;
	assert_int_equal(path_trie_begin(&trie, 0, 1, &error), 0);
	trie.n_records = MAX_RECORDS;
	assert_int_equal(path_trie_child(&trie, 0, 1, &error), NO_RECORD);
	assert_string_equal(error.text,
	    "more than 67108864 call paths: too many to count");
	path_trie_free(&trie);
}

/* Far more children than a line of the trie holds, each visited twice. */
static void
a_function_may_call_very_many(void **state)
{
	struct error error = { 0 };
	struct path_trie trie;

	(void)state;
	assert_int_equal(path_trie_begin(&trie, 0, 1, &error), 0);
	for (int visit = 0; visit < 2; visit++)
		for (uint32_t name = 0; name < 100000; name++)
			assert_int_equal(path_trie_child(&trie, 0, name,
			                                 &error), name + 1);
	assert_int_equal(trie.n_records, 100001);
	path_trie_free(&trie);
}

/* The returns of the view's rows, in their order. */
static void
assert_returns(struct fixture *fixture, view_function *view, const char *root,
               const uint64_t *expected, size_t n)
{
	struct view_request request = fixture->request;
	struct cell cells[TABLE_MAX_COLUMNS];
	struct table table = { 0 };
	struct error error = { 0 };
	size_t column;

	if (root != NULL)
		request.root = fixture_name(fixture, root);
	assert_int_equal(view(&request, &table, &error), 0);
	assert_int_equal(table.n_rows, n);
	column = find_column(&table, "returns");
	for (size_t i = 0; i < n; i++) {
		table_get_row(&table, i, cells);
		assert_int_equal(cells[column].count, expected[i]);
	}
	table_free(&table);
}

/* Every node of a canonical path adds its returns, nested ones included. */
static void
returns_are_summed_by_path(void **state)
{
	struct error error = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, "a;b;a;b 5\na;c 3\n");
	assert_int_equal(large_array_reserve(&fixture.tree->returns, 5,
	    sizeof *fixture.tree->returns, &error), 0);
	for (uint64_t i = 0; i < 5; i++)
		fixture.tree->returns[i] = (uint64_t)1 << i;
	assert_shows(&fixture, view_down, "a",
	    "(a)8 (a b)5 (a b a)5 (a c)3");
	assert_returns(&fixture, view_down, "a",
	    (const uint64_t[]){ 1 + 4, 2 + 8, 4, 16 }, 4);
	assert_shows(&fixture, view_up, "b", "(a b)5 (b)5 (b a b)5");
	assert_returns(&fixture, view_up, "b",
	    (const uint64_t[]){ 2 + 8, 2 + 8, 8 }, 3);
	assert_returns(&fixture, view_functions, NULL,
	    (const uint64_t[]){ 1 + 4, 2 + 8, 16 }, 3);
	assert_returns(&fixture, view_flat, NULL,
	    (const uint64_t[]){ 2 + 8, 16, 1 + 4 }, 3);
	fixture_end(&fixture);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_of_the_paper),
		cmocka_unit_test(up_is_that_of_the_paper),
		cmocka_unit_test(tree_is_that_of_the_paper),
		cmocka_unit_test(a_path_without_hits_has_a_line),
		cmocka_unit_test(
		    direct_recursion_shows_its_first_call_and_the_others),
		cmocka_unit_test(
		    mutual_recursion_returns_to_the_first_activation),
		cmocka_unit_test(a_root_inside_its_own_recursion_begins_once),
		cmocka_unit_test(
		    a_function_reached_through_recursion_has_its_shortest_path),
		cmocka_unit_test(
		    a_path_counts_only_while_it_is_the_active_chain),
		cmocka_unit_test(
		    rows_of_equal_hits_compare_name_by_name_as_bytes),
		cmocka_unit_test(flat_adds_bodies_up),
		cmocka_unit_test(top_shows_both_numbers_of_each_function),
		cmocka_unit_test(
		    an_empty_table_says_which_threshold_would_show_a_row),
		cmocka_unit_test(
		    flat_keeps_each_function_beside_its_own_total),
		cmocka_unit_test(a_threshold_shows_what_reaches_it),
		cmocka_unit_test(what_is_hidden_is_counted_and_said),
		cmocka_unit_test(of_equal_paths_only_the_longest_stays),
		cmocka_unit_test(a_path_that_several_others_extend_stays),
		cmocka_unit_test(
		    the_limit_counts_paths_that_are_left_when_chains_are_folded),
		cmocka_unit_test(tree_hides_and_counts_what_is_too_deep),
		cmocka_unit_test(percentages_may_be_the_roots),
		cmocka_unit_test(path_has_the_value_that_down_shows),
		cmocka_unit_test(a_path_that_never_occurs_has_no_hits),
		cmocka_unit_test(path_predicts_the_run_without_it),
		cmocka_unit_test(gticks_over_64_bits_are_null),
		cmocka_unit_test(calls_are_framed_by_hits_that_follow_the_unit),
		cmocka_unit_test(a_root_with_a_nul_is_named_whole),
		cmocka_unit_test(all_shows_the_small),
		cmocka_unit_test(names_that_no_stack_holds_are_not_listed),
		cmocka_unit_test(a_run_without_hits_has_rows_and_no_fractions),
		cmocka_unit_test(a_rooted_view_needs_a_root),
		cmocka_unit_test(hits_and_samples_are_told_apart),
		cmocka_unit_test(deep_recursion_of_few_functions_has_few_paths),
		cmocka_unit_test(
		    a_deep_stack_of_distinct_functions_is_answered_whole),
		cmocka_unit_test(going_back_over_a_long_path_is_one_step),
		cmocka_unit_test(too_many_paths_are_an_error),
		cmocka_unit_test(a_function_may_call_very_many),
		cmocka_unit_test(returns_are_summed_by_path),
		cmocka_unit_test(fractions_give_way_to_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
