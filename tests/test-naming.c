/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-naming.c -- names of frames, at every granularity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/profile/frame_labels.h"
#include "src/profile/profile.h"

static uint32_t
name(struct profile *profile, const char *text)
{
	struct error error = { 0 };

	return text == NULL ? NO_NAME :
	    names_add(profile->names, text, strlen(text), &error);
}

static struct location
location(struct profile *profile, const char *function, const char *file,
         uint32_t line)
{
	return (struct location){ name(profile, function), name(profile, file),
		line, NO_NAME, 0, 0 };
}

/*
 * start -> main, which calls work at 10, where helper is inlined, which calls
 * leaf; leaf is also a frame of main itself that calls nothing.
 */
static struct profile *
make_profile(void)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct tree_builder *builder = tree_builder_new(1, &error);
	uint32_t module = profile_add_module(profile, "/usr/bin/prog", NULL, 0,
	                                     &error);
	struct location start = location(profile, "start", NULL, 0);
	struct location in_main = location(profile, "main", "/src/main.c", 10);
	struct location work[] = {
		location(profile, "work", "/src/work.c", 20),
		location(profile, "helper", "/src/work.h", 5),
	};
	struct location leaf = location(profile, "leaf", NULL, 0);
	struct location self = location(profile, "main", "/src/main.c", 12);
	uint32_t frames[] = {
		profile_add_frame(profile, module, 0x100, &start, 1, &error),
		profile_add_frame(profile, module, 0x200, &in_main, 1, &error),
		profile_add_frame(profile, module, 0x300, work, 2, &error),
		profile_add_frame(profile, module, 0x400, &leaf, 1, &error),
	};
	uint32_t own[] = { frames[0],
		profile_add_frame(profile, module, 0x210, &self, 1, &error) };
	uint32_t nodes[4];

	profile->frames[frames[0]].function_offset = 0x2c;
	profile_add_resource(profile, "cpu", "us", 1000, &error);
	assert_int_equal(tree_builder_chain(builder, NO_NODE, frames, 4, nodes,
	                                    &error), 0);
	tree_builder_add(builder, nodes[3], 0, 3, 3, &error);
	assert_int_equal(tree_builder_chain(builder, NO_NODE, own, 2, nodes,
	                                    &error), 0);
	tree_builder_add(builder, nodes[1], 0, 2, 2, &error);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	assert_false(error.is_set);
	return profile;
}

/* The stacks as named by the rule, one per line, in the tree's order. */
static void
assert_stacks(struct profile *profile, enum granularity granularity,
              enum inlines inlines, const char *expected)
{
	const struct naming_rule rule = { granularity, inlines };
	struct error error = { 0 };
	bool is_own;
	struct sample_tree *tree = profile_named_tree(profile, &rule, &is_own,
	                                              &error);
	char all[2000] = "";

	assert_non_null(tree);
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		char line[400] = "", longer[900];

		if (sample_tree_hits(tree, 0, n) == 0)
			continue;
		for (uint32_t m = n; m != NO_NODE; m = sample_tree_parent(tree,
		    m)) {
			snprintf(longer, sizeof longer, "%s%s%s",
			    names_text(profile->names, tree->label[m]),
			    line[0] != '\0' ? ";" : "", line);
			snprintf(line, sizeof line, "%.399s", longer);
		}
		snprintf(all + strlen(all), sizeof all - strlen(all),
		         "%s %d\n", line, (int)sample_tree_hits(tree, 0, n));
	}
	assert_string_equal(all, expected);
	if (is_own)
		sample_tree_free(tree);
}

static void
frames_are_named_by_each_granularity(void **state)
{
	struct profile *profile = make_profile();

	(void)state;
	assert_stacks(profile, GRANULARITY_FUNCTION, INLINES_AUTO,
	    "start;main 2\nstart;main;work;helper;leaf 3\n");
	assert_stacks(profile, GRANULARITY_MODULE, INLINES_AUTO,
	    "prog;prog 2\nprog;prog;prog;prog 3\n");
	assert_stacks(profile, GRANULARITY_FILE, INLINES_AUTO,
	    "prog;main.c 2\nprog;main.c;work.c;work.h;prog 3\n");
	assert_stacks(profile, GRANULARITY_LINE, INLINES_AUTO,
	    "start;main.c:10;work.c:20;work.h:5;leaf 3\n"
	    "start;main.c:12 2\n");
	assert_stacks(profile, GRANULARITY_CALLSITE, INLINES_AUTO,
	    "start+0x2c;main:10;work:20;helper:5;leaf 3\n"
	    "start+0x2c;main 2\n");
	assert_stacks(profile, GRANULARITY_ADDRESS, INLINES_AUTO,
	    "prog+0x100;prog+0x200;prog+0x300;prog+0x400 3\n"
	    "prog+0x100;prog+0x210 2\n");
	profile_free(profile);
}

static void
inlined_locations_are_hidden_on_demand(void **state)
{
	struct profile *profile = make_profile();

	(void)state;
	assert_stacks(profile, GRANULARITY_FUNCTION, INLINES_OFF,
	    "start;main 2\nstart;main;work;leaf 3\n");
	assert_stacks(profile, GRANULARITY_CALLSITE, INLINES_OFF,
	    "start+0x2c;main:10;work:20;leaf 3\nstart+0x2c;main 2\n");
	profile->frames[2].is_deferred = true;
	assert_stacks(profile, GRANULARITY_FUNCTION, INLINES_AUTO,
	    "start;main 2\nstart;main;work;leaf 3\n");
	assert_stacks(profile, GRANULARITY_FUNCTION, INLINES_ON,
	    "start;main 2\nstart;main;work;helper;leaf 3\n");
	profile_free(profile);
}

static void
debug_lines_replace_locations(void **state)
{
	struct profile *profile = make_profile();
	struct error error = { 0 };
	struct location chain[] = {
		location(profile, "leaf", "/src/leaf.c", 7),
		location(profile, "inner", "/other/main.c", 8),
	};

	(void)state;
	assert_int_equal(profile_set_debug_lines(profile, 3, chain, 2,
	                                         &error), 0);
	assert_stacks(profile, GRANULARITY_LINE, INLINES_ON,
	    "start;src/main.c:10;work.c:20;work.h:5;leaf.c:7;"
	    "other/main.c:8 3\nstart;src/main.c:12 2\n");
	assert_stacks(profile, GRANULARITY_LINE, INLINES_AUTO,
	    "start;src/main.c:10;work.c:20;work.h:5;leaf.c:7;"
	    "other/main.c:8 3\nstart;src/main.c:12 2\n");
	profile->frames[3].is_deferred = true;
	assert_stacks(profile, GRANULARITY_LINE, INLINES_AUTO,
	    "start;src/main.c:10;work.c:20;work.h:5;leaf.c:7 3\n"
	    "start;src/main.c:12 2\n");
	profile_free(profile);
}

static void
hits_are_the_same_by_every_rule(void **state)
{
	struct profile *profile = make_profile();

	(void)state;
	for (int g = GRANULARITY_FUNCTION; g <= GRANULARITY_ADDRESS; g++)
		for (int i = INLINES_AUTO; i <= INLINES_OFF; i++) {
			const struct naming_rule rule = { (enum granularity)g,
				(enum inlines)i };
			struct error error = { 0 };
			bool is_own;
			struct sample_tree *tree = profile_named_tree(
			    profile, &rule, &is_own, &error);

			assert_true(is_own);
			assert_int_equal(sample_tree_total(tree, tree->hits[0]), 5);
			sample_tree_free(tree);
		}
	profile_free(profile);
}

/* Short paths */

static struct profile *
profile_of_files(const char *const *files, size_t n)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);

	for (size_t i = 0; i < n; i++) {
		struct location at = location(profile, "f", files[i], 1);

		profile_add_frame(profile, NO_MODULE, 0, &at, 1, &error);
	}
	assert_false(error.is_set);
	return profile;
}

static void
paths_are_cut_to_what_tells_them_apart(void **state)
{
	const char *const files[] = { "/a/src/util.c", "/b/src/util.c", "db.c",
		"/x/db.c", "/a/src/main.c", "main.cc", "/", "", "/a/b/", NULL,
		"/a/src/util.c" };
	const char *const expected[] = { "a/src/util.c", "b/src/util.c",
		"db.c", "x/db.c", "main.c", "main.cc", "/", "", "b/", NULL,
		"a/src/util.c" };
	struct profile *profile = profile_of_files(files, 11);
	struct error error = { 0 };
	const char **paths = short_paths_new(profile, &error);

	(void)state;
	assert_non_null(paths);
	for (size_t i = 0; i < 11; i++)
		if (files[i] != NULL)
			assert_string_equal(paths[name(profile, files[i])],
			                    expected[i]);
	assert_null(paths[name(profile, "f")]);
	free(paths);
	profile_free(profile);
}

/* A path of few letters, so that ends often agree. */
static void
random_path(char *path)
{
	int n = 1 + rand() % 6;

	for (int i = 0; i < n; i++)
		path[i] = "ab/"[rand() % 3];
	path[n] = '\0';
}

static void
short_paths_are_distinct_ends(void **state)
{
	enum { ROUNDS = 300, FILES = 12 };

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		char text[FILES][8];
		const char *files[FILES];
		struct profile *profile;
		struct error error = { 0 };
		const char **paths;

		for (int i = 0; i < FILES; i++) {
			random_path(text[i]);
			files[i] = text[i];
		}
		profile = profile_of_files(files, FILES);
		paths = short_paths_new(profile, &error);
		for (int i = 0; i < FILES; i++) {
			const char *mine = paths[name(profile, files[i])];
			size_t cut = strlen(files[i]) - strlen(mine);

			assert_string_equal(files[i] + cut, mine);
			assert_true(cut == 0 || mine[-1] == '/');
			for (int k = 0; k < FILES; k++)
				if (strcmp(files[i], files[k]) != 0)
					assert_string_not_equal(mine,
					    paths[name(profile, files[k])]);
		}
		free(paths);
		profile_free(profile);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_named_by_each_granularity),
		cmocka_unit_test(inlined_locations_are_hidden_on_demand),
		cmocka_unit_test(debug_lines_replace_locations),
		cmocka_unit_test(hits_are_the_same_by_every_rule),
		cmocka_unit_test(paths_are_cut_to_what_tells_them_apart),
		cmocka_unit_test(short_paths_are_distinct_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
