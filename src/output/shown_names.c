/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shown_names.c -- the names of a table, as its text shows them. */
#include "src/output/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/short_name.h"

enum { ROWS_A_STEP = 1024 };

void
shown_names_free(struct shown_names *shown)
{
	free(shown->number);
	free(shown->texts);
	free(shown->inner);
	arena_free(&shown->arena);
	name_forks_free(&shown->forks);
	*shown = (struct shown_names){ 0 };
}

/* The name in a text, which is shown whole so far. */
static struct short_name
name_in(const struct cell *cell)
{
	const char *name = cell->text + cell->name_begin;

	return (struct short_name){ .whole = name, .n_whole = cell->n_name,
		                    .text = name, .length = cell->n_name };
}

static int
compare_wholes(const void *a, const void *b, void *context)
{
	const struct short_name *x = a, *y = b;
	const size_t n = x->n_whole < y->n_whole ? x->n_whole : y->n_whole;
	const int order = memcmp(x->whole, y->whole, n);

	(void)context;
	return order != 0 ? order : (x->n_whole > y->n_whole) -
	                            (x->n_whole < y->n_whole);
}

static int
shown_names_compare_names(const void *a, const void *b)
{
	return compare_wholes(a, b, NULL);
}

/* Names in texts are there once, and end with a NUL. */
static int
shown_names_unite_inner(struct shown_names *shown, bool are_short,
                        struct error *error)
{
	struct short_name *inner = shown->inner;
	size_t n = 0;

	if (shown->n_inner == 0)
		return 0;
	if (sort_items(inner, shown->n_inner, sizeof *inner, compare_wholes,
	               NULL, error) != 0)
		return -1;
	for (size_t i = 0; i < shown->n_inner; i++)
		if (n == 0 ||
		    shown_names_compare_names(&inner[n - 1], &inner[i]) != 0)
			inner[n++] = inner[i];
	shown->n_inner = n;
	for (size_t i = 0; i < n; i++) {
		inner[i].whole = arena_text(&shown->arena, inner[i].whole,
		                            inner[i].n_whole, error);
		if (inner[i].whole == NULL)
			return -1;
		inner[i].text = inner[i].whole;
	}
	return !are_short ? 0 :
	       short_names_make(inner, n, &shown->arena, error);
}

struct short_name
shown_inner_name(const struct shown_names *shown, const struct cell *cell)
{
	struct short_name name = name_in(cell);
	const struct short_name *found = shown->n_inner == 0 ? NULL :
	    bsearch(&name, shown->inner, shown->n_inner, sizeof name,
	            shown_names_compare_names);

	return found == NULL ? name : *found;
}

/* Marks the names of a cell; the first cell with a name says of which set. */
static int
mark_cell(struct shown_names *shown, const struct cell *cell,
          struct error *error)
{
	const struct call_paths *paths = cell->path.paths;

	if (cell->kind == CELL_TEXT) {
		if (cell->n_name == 0)
			return 0;
		if (memory_grow(&shown->inner, &shown->inner_capacity,
		                shown->n_inner + 1, sizeof *shown->inner,
		                error) != 0)
			return -1;
		shown->inner[shown->n_inner++] = name_in(cell);
		return 0;
	}
	if (cell->kind != CELL_NAME && cell->kind != CELL_PATH)
		return 0;
	if (shown->names == NULL) {
		shown->number = memory_array(names_count(paths->names),
		                             sizeof *shown->number, error);
		if (shown->number == NULL)
			return -1;
		shown->names = paths->names;
	}
	if (paths->names != shown->names)
		return 0;
	if (cell->kind == CELL_NAME)
		shown->number[cell->path.record] = 1;
	else
		for (uint32_t record = cell->path.record; record != NO_RECORD;
		     record = paths->parent[record])
			shown->number[paths->name[record]] = 1;
	return 0;
}

int
shown_names_make(struct shown_names *shown, const struct table *table,
                 bool are_short, struct error *error)
{
	uint32_t count, n = 0;
	struct cell cells[TABLE_MAX_COLUMNS];

	for (size_t i = 0; i < table->n_fields; i++)
		if (mark_cell(shown, &table->fields[i].value, error) != 0)
			return -1;
	for (size_t i = 0; i < table->n_line_names; i++)
		if (mark_cell(shown, &table->line_names[i].name, error) != 0)
			return -1;
	for (size_t i = 0; i < table->n_rows; i++) {
		table_get_row(table, i, cells);
		for (size_t k = 0; k < table->n_columns; k++)
			if (mark_cell(shown, &cells[k], error) != 0)
				return -1;
		if (i % ROWS_A_STEP == 0 && interrupt_requested)
			return error_set(error, "interrupted");
	}
	if (shown_names_unite_inner(shown, are_short, error) != 0)
		return -1;
	count = shown->names == NULL ? 0 : names_count(shown->names);
	for (uint32_t name = 0; name < count; name++)
		n += shown->number[name];
	shown->texts = memory_array((size_t)n + 1, sizeof *shown->texts,
	                            error);
	if (shown->texts == NULL)
		return -1;
	n = 0;
	for (uint32_t name = 0; name < count; name++) {
		if (shown->number[name] == 0)
			continue;
		shown->number[name] = ++n;
		shown->texts[n] = (struct short_name){
			.whole = names_text(shown->names, name),
			.n_whole = names_length(shown->names, name),
			.text = names_text(shown->names, name),
			.length = names_length(shown->names, name),
		};
	}
	shown->n_texts = n;
	return !are_short ? 0 :
	       short_names_make(shown->texts + 1, n, &shown->arena, error);
}

int
shown_names_find_forks(struct shown_names *shown, struct error *error)
{
	return shown->names == NULL || shown->forks.of != NULL ? 0 :
	       name_forks_make(&shown->forks, shown->texts + 1,
	                       shown->n_texts, error);
}

const struct name_word *
shown_name_words(const struct shown_names *shown, const struct names *names,
                 uint32_t name, size_t *n)
{
	uint32_t number = shown->names == names && shown->forks.of != NULL ?
	                  shown->number[name] : 0;

	if (number == 0)
		return NULL;
	*n = shown->forks.of[number - 1].n;
	return shown->forks.words + shown->forks.of[number - 1].first;
}

const char *
shown_name(const struct shown_names *shown, const struct names *names,
           uint32_t name, size_t *n)
{
	uint32_t number = shown->names == names ? shown->number[name] : 0;

	if (number == 0) {
		*n = names_length(names, name);
		return names_text(names, name);
	}
	*n = shown->texts[number].length;
	return shown->texts[number].text;
}
