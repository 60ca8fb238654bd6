/* SPDX-License-Identifier: GPL-3.0-or-later */
/* when.c -- when hits came, as a line of characters. */
#include "src/views/rows/rows.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/profile/sample_tree.h"

/* O(nodes + entries). */
static struct when
when_of(const struct sample_set *set)
{
	const struct sample_tree *tree = set->tree;
	uint64_t times[TIMELINE_SLICES] = { 0 };
	struct when when = { .n_slices = 1 };

	if (set->flow != NULL || tree == NULL || tree->timeline == NULL)
		return when;
	if (tree->timeline->n_slices > WHEN_BUCKETS)
		when.n_slices = TIMELINE_SLICES / WHEN_BUCKETS;
	when.n = (tree->timeline->n_slices + when.n_slices - 1) /
	    when.n_slices;
	when.width_ns = when.n_slices * tree->timeline->width_ns;
	tree_time_add(tree, set->resource_number, 0, tree->n_nodes, times);
	for (uint32_t i = 0; i < TIMELINE_SLICES; i++)
		if (times[i] != 0)
			when.totals[i / when.n_slices] += times[i];
	return when;
}

static char
character(uint64_t hits, uint64_t total)
{
	if (total == 0)
		return '-';
	if (hits == 0)
		return '_';
	if (hits >= total)
		return '9';
	return (char)('0' + (unsigned __int128)hits * 10 / total);
}

void
when_draw(const struct when *when, const struct when_times *times,
          struct when_text *text)
{
	for (uint32_t i = 0; i < when->n; i++) {
		uint64_t hits = 0;

		for (uint32_t k = 0; k < when->n_slices; k++)
			hits += times->hits[i * when->n_slices + k];
		text->text[i] = character(hits, when->totals[i]);
	}
	text->text[when->n] = '\0';
}

struct when_text *
when_draw_rows(const struct when *when, const struct when_times *times,
               uint32_t n, struct table *table, struct error *error)
{
	struct when_text *texts = arena_alloc(&table->arena,
	                                      (size_t)n * sizeof *texts, error);

	for (uint32_t i = 0; texts != NULL && i < n; i++)
		when_draw(when, &times[i], &texts[i]);
	return texts;
}

/* "when: 10 s, 500 ms a character; ..." */
static int
when_describe(const struct when *when, struct table *table, struct error *error)
{
	struct text_buffer text = { 0 };
	const char *line;
	int status;

	text_add_string(&text, "when: ");
	text_add_gticks(&text, when->width_ns, 1, "nanosecond");
	text_add_string(&text, " a character, which is the row's share of "
	                "that time's hits: _ none, 0 less than 10%, ..., 9 "
	                "90% and more; - no hits at all");
	line = text_string(&text);
	status = text.failed ? error_out_of_memory(error) :
	    table_add_header(table, error, "%s", line);
	text_free(&text);
	return status;
}

/* The column of characters is wide, and hits say what the fraction does. */
static void
yield_fraction(struct table *table, const char *pattern)
{
	static const char start[] = "{fraction} ";

	if (strncmp(pattern, start, strlen(start)) != 0 ||
	    strstr(pattern, "{error}") != NULL)
		return;
	for (size_t i = 0; i < table->n_columns; i++)
		if (strcmp(table->columns[i].key, "fraction") == 0)
			table->columns[i].gives_way = true;
}

int
when_add_column(const struct view_request *request, struct when *when,
                struct table *table, struct error *error)
{
	const char *pattern = table->pattern;

	*when = (struct when){ 0 };
	if (!request->has_when)
		return 0;
	*when = when_of(request->set);
	if (when->n == 0)
		return table_add_header(table, error, "when: the profile does "
		    "not say when its hits were counted");
	table_add_column(table, "when", "when", CELL_TEXT);
	if (pattern != NULL) {
		table->pattern = table_text(table, error, "{when} %s",
		                            pattern);
		if (table->pattern == NULL)
			return -1;
		yield_fraction(table, pattern);
	}
	return when_describe(when, table, error);
}

struct when_times *
when_of_names(const struct sample_set *set, const uint32_t *names, uint32_t n,
              bool are_bodies,
              uint32_t (*name_at)(const void *context, uint32_t node),
              const void *context, struct error *error)
{
	const struct sample_tree *tree = set->tree;
	struct when_times *times = memory_array(n, sizeof *times, error);
	struct when_shown {
		uint32_t place;		/* in names, from 1; 0: not there */
		uint32_t until;		/* end of the last subtree added */
	} *shown = memory_array(names_count(set->names), sizeof *shown, error);

	if (times == NULL || shown == NULL) {
		free(times);
		free(shown);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		shown[names[i]].place = i + 1;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t name = name_at != NULL ?
		    name_at(context, node) : tree->label[node];
		struct when_shown *row;

		if (name == NO_NAME)
			continue;
		row = &shown[name];
		if (row->place == 0 || node < row->until)
			continue;
		row->until = are_bodies ? node + 1 : sample_tree_end(tree,
		    node);
		tree_time_add(tree, set->resource_number, node, row->until,
		              times[row->place - 1].hits);
	}
	free(shown);
	return times;
}

int
when_need(const struct sample_set *set, struct error *error)
{
	if (set->flow == NULL && set->tree != NULL &&
	    set->tree->timeline != NULL)
		return 0;
	return error_set(error, "the profile does not say when its hits were "
	                 "counted; \"help when\" names the formats that do");
}
