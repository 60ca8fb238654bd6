/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-formats.c -- the list of formats, and the example of how to add one.
 *
 * The program's formats and the example of doc/adding-a-format.md:
 * load_profiles chooses among them by their probes.
 */
#include "tests/reader-fixture.h"

#include "src/formats/exporter.h"

#define FORMAT(row) extern const struct format format_##row;
#include "src/formats/list.def"
FORMAT(trail)
#undef FORMAT

/* In place of those of src/formats/format.c, which is not linked then. */
const struct format *const formats[] = {
#define FORMAT(row) &format_##row,
#include "src/formats/list.def"
	FORMAT(trail)
#undef FORMAT
	NULL
};

static char *
path_of(const char *name)
{
	const char *source = getenv("srcdir");
	char *path;

	assert_true(asprintf(&path, "%s/%s", source != NULL ? source : ".",
	                     name) > 0);
	return path;
}

/* The file's text, the caller's to free. */
static char *
text_of(const char *name)
{
	enum { MOST = 1 << 20 };
	char *path = path_of(name), *text = calloc(1, MOST);
	FILE *file = fopen(path, "r");

	if (file == NULL)
		fail_msg("cannot open %s", path);
	assert_non_null(text);
	assert_true(fread(text, 1, MOST - 1, file) > 0);
	fclose(file);
	free(path);
	return text;
}

static void
the_example_is_found_by_its_probe_and_read(void **state)
{
	const struct read_options options = { .lenient = false };
	struct error error = { 0 };
	char *path = path_of("tests/examples/sample.trail");
	const char *const paths[] = { path };
	struct profile *profile = load_profiles(paths, 1, &options, &error);

	(void)state;
	if (profile == NULL)
		fail_msg("%s", error.text);
	check_tree(profile);
	assert_int_equal(profile->n_warnings, 0);
	assert_int_equal(profile->n_threads, 2);
	assert_string_equal(profile->threads[1].name, "writer");
	assert_int_equal(hits_of(profile, 0, "main;parse;parse_word"), 1200);
	assert_int_equal(hits_of(profile, 0, "main;parse"), 300);
	assert_int_equal(hits_of(profile, 0, "main;flush"), 50);
	assert_int_equal(hits_of(profile, 0, "main;parse;word::~word()"), 40);
	profile_free(profile);
	free(path);
}

static void
the_example_names_lines_and_cuts(void **state)
{
	static const char bad[] = "trail 1\n5 f\nfive f\n";
	static const char empty[] = "trail 1\n";
	static const char cut[] = "trail 1\n5 f\n7 g < ma";
	struct profile *profile;

	(void)state;
	must_refuse(&format_trail, bad, sizeof bad - 1,
	            "in:3: expected MICROSECONDS FUNCTION < CALLER < ...");
	must_refuse(&format_trail, empty, sizeof empty - 1,
	            "in: no samples in it");
	profile = must_read_leniently(&format_trail, bad);
	assert_int_equal(hits_of(profile, 0, "f"), 5);
	assert_string_equal(profile->warnings[0], "in: 1 line skipped, the "
	    "first: in:3: expected MICROSECONDS FUNCTION < CALLER < ...");
	profile_free(profile);
	profile = must_read(&format_trail, cut, sizeof cut - 1);
	assert_int_equal(profile->tree->n_nodes, 1);
	assert_string_equal(profile->warnings[0], "in:3: the input is cut "
	                    "short here; what came before was read");
	profile_free(profile);
	cut_at_every_byte(&format_trail, cut, sizeof cut - 1);
}

/* What the page says without being tested would soon be wrong. */
static void
the_page_shows_the_files_as_they_are(void **state)
{
	static const char *const files[] = { "tests/examples/trail.c",
		"tests/examples/sample.trail", NULL };
	char *page = text_of("doc/adding-a-format.md");

	(void)state;
	for (size_t i = 0; files[i] != NULL; i++) {
		char *text = text_of(files[i]);

		if (strstr(page, text) == NULL)
			fail_msg("doc/adding-a-format.md does not show %s",
			         files[i]);
		free(text);
	}
	free(page);
}

/* ---- the pages that list the formats ---- */

/* The rows of formats.md's table begin "| [NAME](". */
static void
formats_md_has_a_row_for_each_format(void **state)
{
	char *page = text_of("doc/formats.md"), begin[200];
	size_t n_rows = 0, n_formats = 0;

	(void)state;
	for (const char *at = page; (at = strstr(at, "\n| [")) != NULL; at++)
		n_rows++;
	for (; formats[n_formats] != NULL; n_formats++) {
		if (formats[n_formats] == &format_trail)
			continue;
		snprintf(begin, sizeof begin, "\n| [%s](",
		         formats[n_formats]->name);
		if (strstr(page, begin) == NULL)
			fail_msg("doc/formats.md lacks \"%s\"", begin + 1);
	}
	/* cachegrind has a row of its own, the example has none. */
	assert_int_equal(n_rows, n_formats);
	for (size_t i = 0; exporter_names[i] != NULL; i++) {
		snprintf(begin, sizeof begin, "`%s`", exporter_names[i]);
		if (strstr(page, begin) == NULL)
			fail_msg("doc/formats.md lacks %s", begin);
	}
	free(page);
}

/* --help prints a row in 80 columns: two blanks, a name of 22, two blanks. */
static void
formats_fit_a_line_of_help(void **state)
{
	(void)state;
	for (size_t i = 0; formats[i] != NULL; i++) {
		assert_true(strlen(formats[i]->name) <= 22);
		assert_true(strlen(formats[i]->summary) <= 80 - 26);
	}
	for (size_t i = 0; exporter_names[i] != NULL; i++) {
		assert_true(strlen(exporter_names[i]) <= 22);
		assert_true(strlen(exporters[i]->summary) <= 80 - 26);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_is_found_by_its_probe_and_read),
		cmocka_unit_test(the_example_names_lines_and_cuts),
		cmocka_unit_test(the_page_shows_the_files_as_they_are),
		cmocka_unit_test(formats_md_has_a_row_for_each_format),
		cmocka_unit_test(formats_fit_a_line_of_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
