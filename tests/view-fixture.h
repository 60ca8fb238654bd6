/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view-fixture.h -- profiles and views as short texts, for tests of views.
 *
 * A profile is written as collapsed stacks, "main;a 1\nmain;a;b 2"; the rows
 * of a view are returned as "(main)3 (main a)3 (main a b)2", with a function
 * as a path of one.
 */
#ifndef CPPROF_TESTS_VIEW_FIXTURE_H
#define CPPROF_TESTS_VIEW_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/profile/large_array.h"
#include "src/views/view.h"

struct fixture {
	struct names *names;
	struct sample_tree *tree;
	uint64_t *sums;
	struct resource resource;
	struct profile profile;
	struct sample_set set;
	struct view_request request;	/* threshold 0, no limits */
};

static inline uint32_t
fixture_name(struct fixture *fixture, const char *name)
{
	struct error error = { 0 };
	uint32_t number = names_add(fixture->names, name, strlen(name),
	                            &error);

	assert_int_not_equal(number, NO_NAME);
	return number;
}

/* Enters one line, "a;b 3". */
static inline void
fixture_enter(struct fixture *fixture, struct tree_builder *builder,
              const char *line, size_t length)
{
	struct error error = { 0 };
	uint32_t node = NO_NODE;
	const char *end = line + length, *blank = memrchr(line, ' ', length);
	uint64_t hits = strtoull(blank + 1, NULL, 10);

	while (line < blank) {
		const char *stop = memchr(line, ';', (size_t)(blank - line));
		size_t n = (size_t)((stop ? stop : blank) - line);
		uint32_t name = names_add(fixture->names, line, n, &error);

		node = tree_builder_child(builder, node, name, &error);
		line += n + 1;
	}
	assert_true(blank + 1 < end);
	assert_int_equal(tree_builder_add(builder, node, 0, hits, hits,
	                                  &error), 0);
	assert_false(error.is_set);
}

static inline void
fixture_begin(struct fixture *fixture, const char *folded)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(1, &error);

	*fixture = (struct fixture){
		.names = names_new(&error),
		.resource = { .name = "Real Time", .gtick = "centisecond",
		              .interval = 20 },
	};
	assert_non_null(builder);
	assert_non_null(fixture->names);
	while (*folded != '\0') {
		size_t length = strcspn(folded, "\n");

		fixture_enter(fixture, builder, folded, length);
		folded += length + (folded[length] == '\n');
	}
	fixture->tree = tree_builder_finish(builder, &error);
	assert_non_null(fixture->tree);
	tree_builder_free(builder);
	fixture->sums = sample_tree_new_sums(fixture->tree,
	                                     fixture->tree->hits[0], &error);
	assert_non_null(fixture->sums);
	fixture->profile = (struct profile){
		.names = fixture->names,
		.tree = fixture->tree,
	};
	fixture->set = (struct sample_set){
		.profile = &fixture->profile,
		.tree = fixture->tree,
		.names = fixture->names,
		.resource = &fixture->resource,
		.self = fixture->tree->hits[0],
		.sums = fixture->sums,
		.total = sample_tree_total(fixture->tree, fixture->tree->hits[0]),
	};
	fixture->set.left = fixture->set.n_samples = fixture->set.total;
	fixture->request = (struct view_request){
		.set = &fixture->set,
		.root = NO_NAME,
		.limit = SIZE_MAX,
		.depth = SIZE_MAX,
	};
}

static inline void
fixture_end(struct fixture *fixture)
{
	sample_tree_free(fixture->tree);
	names_free(fixture->names);
	large_array_free(fixture->sums);
}

static inline size_t
find_column(const struct table *table, const char *key)
{
	size_t i = 0;

	while (strcmp(table->columns[i].key, key) != 0) {
		i++;
		assert_true(i < table->n_columns);
	}
	return i;
}

static inline struct cell
field_cell(const struct table *table, const char *key)
{
	for (size_t i = 0; i < table->n_fields; i++)
		if (strcmp(table->fields[i].key, key) == 0)
			return table->fields[i].value;
	fail_msg("no field %s", key);
	return (struct cell){ .kind = CELL_EMPTY };
}

static inline uint64_t
field_count(const struct table *table, const char *key)
{
	return field_cell(table, key).count;
}

/* Writes the cell's names with a separator between; the caller frees. */
static inline char *
path_text(const struct cell *cell, const char *separator)
{
	const struct call_paths *paths = cell->path.paths;
	bool is_path = cell->kind == CELL_PATH;
	size_t n = is_path ? call_paths_length(paths, cell->path.record) : 1;
	uint32_t *path = calloc(n, sizeof *path);
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(path);
	assert_non_null(file);
	if (is_path)
		call_paths_get(paths, cell->path.record, path);
	else
		path[0] = cell->path.record;
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%s%s", i > 0 ? separator : "",
		        names_text(paths->names, path[i]));
	fclose(file);
	free(path);
	return text;
}

/* All rows of a table; the caller frees. */
static inline char *
rows_text(const struct table *table)
{
	size_t path = find_column(table, "path");
	size_t hits = find_column(table, "hits");
	struct cell cells[TABLE_MAX_COLUMNS];
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	for (size_t i = 0; i < table->n_rows; i++) {
		char *names;

		table_get_row(table, i, cells);
		names = path_text(&cells[path], " ");
		fprintf(file, "%s(%s)%llu", i > 0 ? " " : "", names,
		        (unsigned long long)cells[hits].count);
		free(names);
	}
	fclose(file);
	return text;
}

/* The view's rows for `root` (NULL: none) as text; the caller frees. */
static inline char *
shown(struct fixture *fixture, view_function *view, const char *root)
{
	struct view_request request = fixture->request;
	struct table table = { 0 };
	struct error error = { 0 };
	char *text;

	if (root != NULL)
		request.root = fixture_name(fixture, root);
	if (view(&request, &table, &error) != 0)
		fail_msg("%s", error.text);
	text = rows_text(&table);
	table_free(&table);
	return text;
}

static inline void
assert_shows(struct fixture *fixture, view_function *view, const char *root,
             const char *expected)
{
	char *text = shown(fixture, view, root);

	assert_string_equal(text, expected);
	free(text);
}

#endif
