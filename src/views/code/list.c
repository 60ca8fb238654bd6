/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c -- source lines with their hits.
 *
 * Cost, once the hits are known: O(lines of the files + n log n) for n lines
 * with hits.
 */
#include "src/views/code/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/views/rows/rows.h"

enum {
	CONTEXT = 3,		/* lines before and after one with hits */
	AROUND = 10,		/* the same for a line that was asked for */
	GAP = 5,		/* so few lines are not left out */
	TAB = 4,
};

struct list_drawing_up {
	const struct view_request *request;
	const struct listing *listing;
	struct measure measure;
	bool *is_shown;		/* [hits->n] by threshold and limit */
	struct hidden hidden;
	struct table *table;
	const char **group_lines;	/* [n_groups] */
	size_t n_groups, groups_capacity;
	bool has_estimates;
};

/* ---- which lines ---- */

static int
choose_lines(struct list_drawing_up *up, struct error *error)
{
	const struct code_hits *hits = up->listing->hits;
	uint64_t *values = memory_array(hits->n, sizeof *values, error);

	if (values == NULL)
		return -1;
	for (uint32_t i = 0; i < hits->n; i++)
		values[i] = hits->lines[i].inclusive;
	up->is_shown = code_hits_choose(values, hits->n, hits->inclusive,
	                                up->request->threshold,
	                                up->request->limit, error);
	free(values);
	return up->is_shown != NULL ? 0 : -1;
}

/* Counts lines with hits that have no row. */
static void
count_hidden(struct list_drawing_up *up, const struct line_hits *line)
{
	uint64_t least = measure_least(up->request->threshold,
	                               up->listing->hits->inclusive);

	if (line->inclusive == 0 || up->listing->line > 0)
		return;
	if (line->inclusive < least)
		up->hidden.below_threshold++;
	else
		up->hidden.beyond_limit++;
}

/* ---- rows ---- */

/*
 * A copy with blanks for tabs, so that a terminal shows the line as an editor
 * does.
 */
static const char *
expand_tabs(struct table *table, const char *line, struct error *error)
{
	size_t n_tabs = 0, column = 0;
	char *expanded, *to;

	for (const char *c = line; *c != '\0'; c++)
		n_tabs += *c == '\t';
	expanded = to = arena_alloc(&table->arena,
	                            strlen(line) + n_tabs * TAB + 1, error);
	for (; expanded != NULL && *line != '\0'; line++) {
		size_t blanks = TAB - column % TAB;

		if (*line != '\t') {
			*to++ = *line;
			column += ((unsigned char)*line & 0xc0) != 0x80;
			continue;
		}
		memset(to, ' ', blanks);
		to += blanks;
		column += blanks;
	}
	return expanded;
}

static void
list_add_columns(struct list_drawing_up *up)
{
	const struct column columns[] = {
		{ "fraction", "%", .kind = CELL_PERCENT, .hides_zero = true },
		{ "self", "self", .kind = CELL_HITS, .hides_zero = true },
		{ "hits", "total", .kind = CELL_HITS, .hides_zero = true },
		{ up->has_estimates ? "estimated" : NULL, "~",
		  .kind = CELL_FLAG, .mark = '~' },
		{ "block", "block", .kind = CELL_COUNT, .is_data_only = true },
		{ "file", "file", .kind = CELL_TEXT, .is_data_only = true },
		{ "line", "line", .kind = CELL_COUNT },
		{ "text", "text", .kind = CELL_TEXT, .is_data_only = true },
		{ "source", "source", .kind = CELL_TEXT, .is_text_only = true,
		  .is_elastic = true, .cuts_end = true },
	};

	table_add_columns(up->table, columns, sizeof columns / sizeof *columns);
	up->table->group_key = "block";
}

/* Begins a block of consecutive lines. */
static int
list_begin_block(struct list_drawing_up *up, const char *line,
                 struct error *error)
{
	if (memory_grow(&up->group_lines, &up->groups_capacity,
	                up->n_groups + 1, sizeof *up->group_lines,
	                error) != 0)
		return -1;
	up->group_lines[up->n_groups++] = line;
	return 0;
}

/* text: the line's, or NULL. */
static int
list_add_row(struct list_drawing_up *up, const struct line_hits *line,
             const char *text, struct error *error)
{
	const struct names *names = up->request->set->names;
	const struct cell empty = { .kind = CELL_EMPTY };
	struct cell cells[TABLE_MAX_COLUMNS];
	const char *shown = text == NULL ? "" :
	    expand_tabs(up->table, text, error);
	const char *copy = text == NULL ? "" :
	    arena_text(&up->table->arena, text, strlen(text), error);
	const char *file = line->file == NO_NAME ? NULL :
	    view_name_text(names, line->file, up->table, error);
	uint32_t n = 0;

	if (error->is_set)
		return -1;
	cells[n++] = cell_percent(measure_fraction(&up->measure,
	                                           line->inclusive));
	cells[n++] = cell_hits(line->self);
	cells[n++] = cell_hits(line->inclusive);
	if (up->has_estimates)
		cells[n++] = cell_flag(line->is_estimated);
	cells[n++] = cell_count(up->n_groups);
	cells[n++] = file == NULL ? empty : cell_text(file);
	cells[n++] = line->line == 0 ? empty : cell_count(line->line);
	cells[n++] = text == NULL ? empty : cell_text(copy);
	cells[n++] = cell_text(line->line == 0 ? "(no line is known)" : shown);
	return table_add_row(up->table, cells, error);
}

/* The line between two blocks of a file; before the first, its name. */
static const char *
line_before(const struct list_drawing_up *up, const struct listed_file *file,
            bool is_first, struct error *error)
{
	if (!is_first)
		return "...";
	if (up->listing->n_files < 2 || file->file == NO_NAME)
		return NULL;
	return view_name_text(up->request->set->names, file->file, up->table,
	                      error);
}

/* Whether a line that was asked for, if there is one, is near. */
static bool
list_is_near(uint32_t asked, uint32_t line)
{
	return asked == 0 || ((int64_t)line >= (int64_t)asked - AROUND &&
	                      (int64_t)line <= (int64_t)asked + AROUND);
}

/*
 * The rows of one file.  lines[n]: those with hits, ascending; wanted: which
 * lines of the text have a row, by line number.
 */
static int
list_add_rows(struct list_drawing_up *up, const struct listed_file *file,
              const struct line_hits *lines, const bool *is_shown, uint32_t n,
              const bool *wanted, struct error *error)
{
	uint32_t n_lines = file->text != NULL ? file->text->n : 0;
	uint32_t before = 0, at = 0;	/* the last row's line; in lines */
	bool is_first = true;

	/* Lines that the text does not have follow it or, unknown, precede. */
	for (uint32_t number = 0;;) {
		bool has_hits = at < n && lines[at].line == number;
		bool is_in_text = number > 0 && number <= n_lines;
		struct line_hits line = { file->file, number, 0, 0, false };
		const char *group;

		if (has_hits)
			line = lines[at];
		if (is_in_text ? wanted[number] : has_hits && is_shown[at] &&
		    list_is_near(up->listing->line, number)) {
			if (is_first || number != before + 1) {
				group = line_before(up, file, is_first, error);
				if (error->is_set ||
				    list_begin_block(up, group, error) != 0)
					return -1;
			}
			if (list_add_row(up, &line, is_in_text ?
			                 file->text->lines[number - 1] : NULL,
			                 error) != 0)
				return -1;
			is_first = false;
			before = number;
		} else if (has_hits) {
			count_hidden(up, &line);
		}
		at += has_hits;
		if (number < n_lines)
			number++;
		else if (at < n)
			number = lines[at].line;
		else
			return 0;
	}
}

/* Marks lines [first, last] of a text, as far as it has them. */
static void
want(bool *wanted, uint32_t n_lines, int64_t first, int64_t last)
{
	for (int64_t i = first < 1 ? 1 : first; i <= last && i <= n_lines; i++)
		wanted[i] = true;
}

/* Marks gaps of at most GAP lines, which "..." would hardly shorten. */
static void
close_gaps(bool *wanted, uint32_t n_lines)
{
	uint32_t last = 0;	/* marked so far; 0: none */

	for (uint32_t i = 1; i <= n_lines; i++) {
		if (!wanted[i])
			continue;
		if (last > 0 && i - last - 1 <= GAP)
			want(wanted, n_lines, last, i);
		last = i;
	}
}

/*
 * Where a function's first lines are shown from: code begins at its brace or
 * after it, so the lines before, up to an empty one or the end of something
 * else, are its name and arguments.
 */
static uint32_t
head_of(const struct listed_file *file)
{
	uint32_t first = file->first;

	while (first > 1 && first <= file->text->n &&
	       file->first - first <= CONTEXT) {
		const char *before = file->text->lines[first - 2];
		size_t n = strlen(before);

		while (n > 0 && strchr(" \t", before[n - 1]) != NULL)
			n--;
		if (n == 0 || *before == '#' ||
		    strchr("};", before[n - 1]) != NULL)
			break;
		first--;
	}
	return first;
}

static int
list_add_file(struct list_drawing_up *up, const struct listed_file *file,
              const struct line_hits *lines, const bool *is_shown, uint32_t n,
              struct error *error)
{
	uint32_t n_lines = file->text != NULL ? file->text->n : 0;
	uint32_t asked = up->listing->line;
	uint32_t head = file->first > 0 ? head_of(file) : 0;
	bool *wanted = memory_array((size_t)n_lines + 1, sizeof *wanted,
	                            error);
	int status;

	if (wanted == NULL)
		return -1;
	for (uint32_t i = 0; i < n && asked == 0; i++)
		if (is_shown[i] && lines[i].line > 0)
			want(wanted, n_lines, (int64_t)lines[i].line - CONTEXT,
			     (int64_t)lines[i].line + CONTEXT);
	if (asked == 0 && (file->first > 0 || up->listing->scope.function ==
	        NO_NAME) && up->request->threshold <= 0 &&
	    up->request->limit == SIZE_MAX)
		want(wanted, n_lines, 1, n_lines);
	if (asked > 0)
		want(wanted, n_lines, (int64_t)asked - AROUND,
		     (int64_t)asked + AROUND);
	/* Not the function before, nor the one after. */
	for (uint32_t i = 1; i <= n_lines && file->first > 0; i++)
		if (i < head || i > file->last)
			wanted[i] = false;
	if (file->first > 0) {
		want(wanted, n_lines, head, file->first);
		want(wanted, n_lines, file->last, file->last);
	}
	/* But what has hits, even if it is not between these. */
	for (uint32_t i = 0; i < n && asked == 0; i++)
		if (is_shown[i])
			want(wanted, n_lines, (int64_t)lines[i].line,
			     (int64_t)lines[i].line);
	close_gaps(wanted, n_lines);
	status = list_add_rows(up, file, lines, is_shown, n, wanted, error);
	free(wanted);
	return status;
}

static int
add_files(struct list_drawing_up *up, struct error *error)
{
	const struct code_hits *hits = up->listing->hits;
	uint32_t at = 0;

	for (uint32_t i = 0; i < up->listing->n_files; i++) {
		struct listed_file *file = &up->listing->files[i];
		uint64_t n_before = up->table->n_rows;
		uint32_t end = at;

		while (end < hits->n && hits->lines[end].file == file->file)
			end++;
		if (list_add_file(up, file, hits->lines + at, up->is_shown + at,
		                  end - at, error) != 0)
			return -1;
		file->has_rows = up->table->n_rows > n_before;
		at = end;
	}
	return 0;
}

static int
keep_group_lines(struct list_drawing_up *up, struct error *error)
{
	size_t size = up->n_groups * sizeof *up->group_lines;
	const char **lines;

	if (up->n_groups == 0)
		return 0;
	lines = arena_alloc(&up->table->arena, size, error);
	if (lines == NULL)
		return -1;
	memcpy(lines, up->group_lines, size);
	up->table->group_lines = lines;
	up->table->n_group_lines = up->n_groups;
	return 0;
}

/* ---- the heading ---- */

/* The title: "Source of main", "Source file db.c", "Source at db.c:118". */
static const char *
title_of(const struct list_drawing_up *up, struct view_kind *kind,
         struct error *error)
{
	static const char before[] = "Source of ";
	const struct listing *listing = up->listing;
	uint32_t name = listing->scope.function != NO_NAME ?
	    listing->scope.function : listing->scope.file;
	const char *text = view_name_text(up->request->set->names, name,
	                                  up->table, error);

	if (text == NULL)
		return NULL;
	if (listing->line > 0)
		return table_text(up->table, error, "Source at %s:%" PRIu32,
		                  text, listing->line);
	if (listing->scope.function == NO_NAME)
		return table_text(up->table, error, "Source file %s", text);
	kind->title_name = name;
	kind->title_name_begin = strlen(before);
	return table_text(up->table, error, "%s%s", before, text);
}

static int
list_describe(struct list_drawing_up *up, struct error *error)
{
	const struct code_hits *hits = up->listing->hits;
	struct table *table = up->table;
	uint64_t counted;
	const char *text;
	struct view_kind kind = { .schema = "cpprof.lines/1",
		                  .ignores_inlined = true };

	kind.title = title_of(up, &kind, error);
	if (kind.title == NULL ||
	    view_describe(up->request, &kind, &up->measure, &up->hidden,
	                  table, error) != 0 ||
	    table_add_field(table, "hits", NULL, cell_count(hits->inclusive),
	                    error) != 0 ||
	    table_add_field(table, "self", NULL, cell_count(hits->self),
	                    error) != 0)
		return -1;
	if (up->listing->line > 0)
		return 0;
	if (view_add_totals(up->request, &up->measure, hits->self,
	                    hits->inclusive, hits->is_estimated, table,
	                    error) != 0)
		return -1;
	counted = up->listing->has_hidden_copies ? measure_function(
	    up->request->set, up->listing->scope.function) : hits->inclusive;
	if (counted == hits->inclusive)
		return 0;
	text = hits_text(up->request->set, counted, table, error);
	return text == NULL ? -1 : table_add_header(table, error, "%s of these "
	    "in functions; the others only have inlined copies, which inlines "
	    "on shows", text);
}

/* No line is near the one that was asked for: says how far the file goes. */
static int
explain_no_lines(struct list_drawing_up *up, struct error *error)
{
	const struct listed_file *file = up->listing->files;

	if (up->listing->n_files == 0 || file->text == NULL)
		return table_add_footer(up->table, error, "the source was not "
		    "found, and no line near %" PRIu32 " has hits",
		    up->listing->line);
	return table_add_footer(up->table, error, "the file has %" PRIu32
	                        " lines", (uint32_t)file->text->n);
}

static int
list_draw(struct list_drawing_up *up, struct error *error)
{
	const struct code_hits *hits = up->listing->hits;

	for (uint32_t i = 0; i < hits->n; i++)
		up->has_estimates |= hits->lines[i].is_estimated;
	if (choose_lines(up, error) != 0)
		return -1;
	list_add_columns(up);
	if (add_files(up, error) != 0 || keep_group_lines(up, error) != 0 ||
	    list_describe(up, error) != 0)
		return -1;
	if (up->listing->line > 0 && up->table->n_rows == 0)
		return explain_no_lines(up, error);
	return hits->inclusive > 0 ? 0 :
	    table_add_footer(up->table, error, "no hits of %s here",
	                     up->request->set->resource->name);
}

int
view_list(const struct view_request *request, const struct listing *listing,
          struct table *table, struct error *error)
{
	struct list_drawing_up up = {
		.request = request,
		.listing = listing,
		.measure = measure_of(request),
		.table = table,
		.hidden = { .is_of_function = true },
	};
	int status = list_draw(&up, error);

	free(up.is_shown);
	free(up.group_lines);
	return status;
}
