/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_page.c -- several answers as one HTML page that needs no other file.
 *
 * The page has one block of JSON, which the script shows:
 *
 *	{"names": ["main", "ns::Box<int>::put(int)", ...],
 *	 "short": [0, "ns::Box::put", ...],
 *	 "shapes": [[["hits", "#hits", "hits"], ...], ...],
 *	 "parts": [{"kind": "top", "command": "top 60", "shape": 0,
 *	            "fields": [["total", null, 334], ...], "notes": ["..."],
 *	            "rows": [[62, 0.1856, [0]], ...], "left": 0}, ...],
 *	 "left": 0}
 *
 * A name is kept once and stands in rows by its number; its short form is 0 if
 * it is the same.  A shape is the columns
 * of an answer: key, title, and kind of value.  An amount that the prompt shows
 * with a unit is [value, "38.1 ms"].  "left" counts the rows that had no room.
 * A part without an answer has "why" in place of the rest; one for which there
 * is no room at all is missing.
 *
 * Names are untrusted.  JSON strings have no control characters, and every "<"
 * in the block becomes \u003c, so nothing in it ends the script element.  The
 * script puts texts into the page as text only, and the page's own policy
 * allows nothing to be loaded.
 *
 * Invariant: what is in the buffers is in the page, so their length is the size
 * so far.  A row whose bytes, with those of names that are new, exceed what is
 * left is not added.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/base/short_name.h"
#include "src/output/drawing.h"
#include "src/output/output.h"

enum {
	/* What the page has besides: its head, style, script and the ends of
	 * the block. */
	REPORT_FRAME = 70 * 1000,
	TEXT_MOST = 1000,		/* bytes of a name or text */
	TITLE_MOST = 200,
	NOTES_MOST = 40,		/* headings and footers of an answer */
};

struct report_page {
	const struct layout *layout;
	struct names *names;
	struct names *shapes;		/* their JSON */
	struct text_buffer name_list, shape_list, parts;
	struct text_buffer plain;	/* what the first answer says, for a
					 * browser without scripts */
	struct json json;		/* scratch */
	uint64_t left_out;
};

struct report_page *
report_page_new(const struct layout *layout, struct error *error)
{
	struct report_page *page = memory_array(1, sizeof *page, error);

	if (page == NULL)
		return NULL;
	page->layout = layout;
	page->names = names_new(error);
	page->shapes = names_new(error);
	if (page->names == NULL || page->shapes == NULL) {
		report_page_free(page);
		return NULL;
	}
	return page;
}

void
report_page_free(struct report_page *page)
{
	if (page == NULL)
		return;
	names_free(page->names);
	names_free(page->shapes);
	text_free(&page->name_list);
	text_free(&page->shape_list);
	text_free(&page->parts);
	text_free(&page->plain);
	text_free(&page->json.text);
	path_names_free(&page->json.path);
	free(page);
}

uint64_t
report_page_left_out(const struct report_page *page)
{
	return page->left_out;
}

/* Bytes that can still be added. */
static size_t
page_room(const struct report_page *page)
{
	size_t used = REPORT_FRAME + page->name_list.length +
	              2 * (size_t)names_count(page->names) +
	              page->shape_list.length + page->parts.length +
	              page->plain.length;

	return used < REPORT_SIZE_MAX ? REPORT_SIZE_MAX - used : 0;
}

static int
page_check(const struct report_page *page, struct error *error)
{
	if (page->name_list.failed || page->shape_list.failed ||
	    page->parts.failed || page->plain.failed ||
	    page->json.text.failed || page->json.path.word.failed)
		return error_out_of_memory(error);
	return 0;
}

/* Moves JSON to the page.  "<" is only in strings, where this is the same. */
static void
move_json(struct text_buffer *to, struct text_buffer *json)
{
	size_t begin = 0;

	for (size_t i = 0; i < json->length; i++) {
		if (json->bytes[i] != '<')
			continue;
		text_add(to, json->bytes + begin, i - begin);
		text_add_string(to, "\\u003c");
		begin = i + 1;
	}
	if (json->length > begin)
		text_add(to, json->bytes + begin, json->length - begin);
	text_clear(json);
}

/* Bytes that JSON takes in the page. */
static size_t
json_size(const struct text_buffer *json)
{
	size_t size = json->length;

	for (size_t i = 0; i < json->length; i++)
		size += json->bytes[i] == '<' ? 5 : 0;
	return size;
}

/* Adds a text as a JSON string; a very long one loses its end. */
static void
add_cut_string(struct text_buffer *json, const char *text, size_t n)
{
	struct text_buffer cut = { 0 };
	size_t end = TEXT_MOST;

	if (n <= TEXT_MOST) {
		text_add_json_string(json, text, n);
		return;
	}
	while (end > TEXT_MOST - 4 && (text[end] & 0xc0) == 0x80)
		end--;
	text_add(&cut, text, end);
	text_add_format(&cut, ELLIPSIS " (%zu more bytes)", n - end);
	text_add_json_string(json, cut.bytes, cut.length);
	json->failed |= cut.failed;
	text_free(&cut);
}

/* ---- names ---- */

/* The bytes that a name adds to the page if it is new, else 0. */
static size_t
name_cost(struct report_page *page, const char *name, size_t n)
{
	struct text_buffer *json = &page->json.text;
	size_t begin = json->length, size;

	if (names_find(page->names, name, n) != NO_NAME)
		return 0;
	add_cut_string(json, name, n);
	size = 3;		/* with commas and a 0 among short names */
	for (size_t i = begin; i < json->length; i++)
		size += json->bytes[i] == '<' ? 6 : 1;
	json->length = begin;
	return size;
}

/* The name's number in the page; NO_NAME with *error set. */
static uint32_t
name_number(struct report_page *page, const char *name, size_t n,
            struct error *error)
{
	uint32_t n_before = names_count(page->names), number;
	struct text_buffer json = { 0 };

	number = names_add(page->names, name, n, error);
	if (number == NO_NAME || number < n_before)
		return number;
	if (number > 0)
		text_add_char(&page->name_list, ',');
	add_cut_string(&json, name, n);
	page->name_list.failed |= json.failed;
	move_json(&page->name_list, &json);
	text_free(&json);
	return number;
}

/* ---- rows ---- */

/*
 * Whether the page has a column: not bars as text, nor the text of a line that
 * another column has as well.
 */
static bool
page_has_column(const struct column *column)
{
	return !column->is_text_only || (*column->title != '\0' &&
	                                 strcmp(column->key, "source") != 0);
}

/* The first name of a cell's path that a row needs, in json.path. */
static size_t
first_needed(const struct report_page *page, const struct report_part *part)
{
	size_t n = page->json.path.n;

	return part->has_ends && n > 0 ? n - 1 : 0;
}

/* The bytes of a row's names that are new to the page. */
static int
row_names_cost(struct report_page *page, const struct report_part *part,
               const struct table *table, const struct cell *cells,
               size_t *cost, struct error *error)
{
	struct path_names *path = &page->json.path;

	*cost = 0;
	for (size_t i = 0; i < table->n_columns; i++) {
		if (cells[i].kind != CELL_PATH && cells[i].kind != CELL_NAME)
			continue;
		if (path_names_get(path, &cells[i], error) != 0)
			return -1;
		for (size_t k = first_needed(page, part); k < path->n; k++)
			*cost += name_cost(page,
			    names_text(path->names, path->path[k]),
			    names_length(path->names, path->path[k]));
	}
	return 0;
}

/* Adds the numbers of the names of a path. */
static int
add_path_numbers(struct report_page *page, const struct report_part *part,
                 const struct cell *cell, struct error *error)
{
	struct path_names *path = &page->json.path;
	struct text_buffer *json = &page->json.text;
	size_t first;

	if (path_names_get(path, cell, error) != 0)
		return -1;
	first = first_needed(page, part);
	text_add_char(json, '[');
	for (size_t i = first; i < path->n; i++) {
		uint32_t number = name_number(page,
		    names_text(path->names, path->path[i]),
		    names_length(path->names, path->path[i]), error);

		if (number == NO_NAME)
			return -1;
		text_add_format(json, "%s%" PRIu32, i > first ? "," : "",
		                number);
	}
	text_add_char(json, ']');
	return 0;
}

/* Whether the prompt shows a cell with a unit. */
static bool
report_cell_has_unit(const struct drawing *drawing, const struct cell *cell,
                     const struct column *column)
{
	return cell->kind == CELL_GTICKS || cell->kind == CELL_AMOUNT ||
	    (cell->kind == CELL_HITS && drawing_has_unit(drawing, column));
}

/*
 * Adds a value that is no path, of the row in drawing->cells or of a field; what
 * the prompt shows with a unit also as its text.
 */
static int
add_shown_value(struct report_page *page, struct drawing *drawing,
                const struct cell *cell, bool has_text, struct error *error)
{
	struct text_buffer *json = &page->json.text, text = { 0 };
	int status;

	if (cell->kind == CELL_TEXT) {
		add_cut_string(json, cell->text, strlen(cell->text));
		return 0;
	}
	if (!has_text)
		return json_add_value(&page->json, cell, error);
	text_add_char(json, '[');
	status = json_add_value(&page->json, cell, error);
	if (status == 0)
		status = drawing_add_cell(drawing, &text, cell, 0, error);
	text_add_char(json, ',');
	text_add_json_string(json, text.bytes, text.length);
	text_add_char(json, ']');
	json->failed |= text.failed;
	text_free(&text);
	return status;
}

/* Adds the row in drawing->cells to json.text. */
static int
add_row(struct report_page *page, const struct report_part *part,
        struct drawing *drawing, struct error *error)
{
	const struct table *table = drawing->table;
	struct text_buffer *json = &page->json.text;
	bool is_first = true;

	text_add_char(json, '[');
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct cell *cell = &drawing->cells[i];
		int status;

		if (!page_has_column(&table->columns[i]))
			continue;
		if (!is_first)
			text_add_char(json, ',');
		is_first = false;
		if (cell->kind == CELL_PATH || cell->kind == CELL_NAME)
			status = add_path_numbers(page, part, cell, error);
		else
			status = add_shown_value(page, drawing, cell,
			    report_cell_has_unit(drawing, cell,
			                         &table->columns[i]), error);
		if (status != 0)
			return -1;
	}
	text_add_char(json, ']');
	return 0;
}

struct report_row {
	uint32_t row;
	uint64_t hits;
};

static int
compare_report_hits(const void *a, const void *b, void *context)
{
	uint64_t hits_a = ((const struct report_row *)a)->hits;
	uint64_t hits_b = ((const struct report_row *)b)->hits;

	(void)context;
	return (hits_a < hits_b) - (hits_a > hits_b);
}

/*
 * The rows in the order in which they get room: that of the table, or the
 * largest first.  A box has at least the hits of each below it, and sorting
 * keeps the order of equal ones, so no box is kept without those above it.
 */
static struct report_row *
order_rows(const struct report_part *part, const struct table *table,
           struct error *error)
{
	struct report_row *rows = memory_array(table->n_rows, sizeof *rows,
	                                       error);
	size_t column = drawing_find_column(table, "hits", 4);
	struct cell cells[TABLE_MAX_COLUMNS];

	for (size_t i = 0; rows != NULL && i < table->n_rows; i++) {
		rows[i].row = (uint32_t)i;
		if (column == table->n_columns)
			continue;
		table_get_row(table, i, cells);
		if (cells[column].kind == CELL_HITS)
			rows[i].hits = cells[column].count;
	}
	if (rows != NULL && part->drops_smallest &&
	    sort_items(rows, table->n_rows, sizeof *rows, compare_report_hits,
	               NULL, error) != 0) {
		free(rows);
		return NULL;
	}
	return rows;
}

/*
 * Marks the rows that get room, and enters their names.  *n_kept: how many they
 * are.
 */
static int
choose_rows(struct report_page *page, const struct report_part *part,
            struct drawing *drawing, const struct report_row *rows, char *kept,
            size_t *n_kept, struct error *error)
{
	const struct table *table = drawing->table;
	size_t begin = page->json.text.length, used = 0, cost, i;

	for (i = 0; i < table->n_rows; i++) {
		size_t room = page_room(page);

		room = part->room < room ? part->room : room;
		table_get_row(table, rows[i].row, drawing->cells);
		if (row_names_cost(page, part, table, drawing->cells, &cost,
		                   error) != 0)
			return -1;
		/* A row's numbers take less than this. */
		if (used + cost + 40 * table->n_columns > room)
			break;
		if (add_row(page, part, drawing, error) != 0)
			return -1;
		used += cost + json_size(&page->json.text) - begin + 1;
		text_clear(&page->json.text);
		begin = 0;
		if (used > room)
			break;
		kept[rows[i].row] = 1;
	}
	text_clear(&page->json.text);
	*n_kept = i;
	return page_check(page, error);
}

/* Adds the rows that get room, in the table's order. */
static int
add_rows(struct report_page *page, const struct report_part *part,
         const struct table *table, struct error *error)
{
	struct drawing drawing = { .table = table, .layout = page->layout };
	struct report_row *rows = order_rows(part, table, error);
	char *kept = memory_array(table->n_rows, sizeof *kept, error);
	size_t n_kept = 0;
	bool is_first = true;
	int status = rows == NULL || kept == NULL ? -1 :
	    choose_rows(page, part, &drawing, rows, kept, &n_kept, error);

	text_add_string(&page->parts, ",\"rows\":[");
	for (size_t i = 0; status == 0 && i < table->n_rows; i++) {
		if (!kept[i])
			continue;
		table_get_row(table, i, drawing.cells);
		status = add_row(page, part, &drawing, error);
		if (!is_first)
			text_add_char(&page->parts, ',');
		is_first = false;
		move_json(&page->parts, &page->json.text);
	}
	text_add_format(&page->parts, "],\"left\":%zu", table->n_rows - n_kept);
	page->left_out += table->n_rows - n_kept;
	text_free(&drawing.line);
	text_free(&drawing.rest);
	path_names_free(&drawing.path);
	free(rows);
	free(kept);
	return status;
}

/* ---- parts ---- */

/* The number of the table's columns among the shapes. */
static int
find_shape(struct report_page *page, const struct table *table,
           uint32_t *shape, struct error *error)
{
	static const char *const kinds[] = {
		[CELL_EMPTY] = "text", [CELL_TEXT] = "text",
		[CELL_COUNT] = "count", [CELL_HITS] = "hits",
		[CELL_GTICKS] = "hits", [CELL_FRACTION] = "share",
		[CELL_PERCENT] = "share", [CELL_NUMBER] = "number",
		[CELL_AMOUNT] = "hits", [CELL_NAME] = "path",
		[CELL_PATH] = "path", [CELL_FLAG] = "flag",
	};
	struct text_buffer *json = &page->json.text;
	uint32_t n_before = names_count(page->shapes);
	bool is_first = true;

	text_add_char(json, '[');
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (!page_has_column(column))
			continue;
		text_add_string(json, is_first ? "[" : ",[");
		is_first = false;
		add_cut_string(json, column->key, strlen(column->key));
		text_add_char(json, ',');
		add_cut_string(json, column->title, strlen(column->title));
		text_add_format(json, ",\"%s\"]", kinds[column->kind]);
	}
	text_add_char(json, ']');
	if (json->failed)
		return error_out_of_memory(error);
	*shape = names_add(page->shapes, json->bytes, json->length, error);
	if (*shape == NO_NAME)
		return -1;
	if (*shape == n_before) {
		if (n_before > 0)
			text_add_char(&page->shape_list, ',');
		move_json(&page->shape_list, json);
	}
	text_clear(json);
	return 0;
}

static void
add_part_head(struct report_page *page, const struct report_part *part)
{
	struct text_buffer *json = &page->json.text;

	text_add_string(json, page->parts.length > 0 ? ",{" : "{");
	text_add_string(json, "\"kind\":");
	add_cut_string(json, part->kind, strlen(part->kind));
	text_add_string(json, ",\"command\":");
	add_cut_string(json, part->command, strlen(part->command));
	if (part->function != NULL) {
		text_add_string(json, ",\"function\":");
		add_cut_string(json, part->function, strlen(part->function));
	}
}

/* Whether a brief part has a field. */
static bool
is_brief_field(const char *key)
{
	static const char *const keys[] = { "hidden", "body", "inclusive",
		"hits", "self", "without_time" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static int
add_part_fields(struct report_page *page, const struct report_part *part,
                const struct table *table, struct error *error)
{
	struct drawing drawing = { .table = table, .layout = page->layout };
	struct text_buffer *json = &page->json.text;
	bool is_first = true;

	text_add_string(json, ",\"fields\":[");
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct field *field = &table->fields[i];
		const struct cell *value = &field->value;

		if (part->is_brief && !is_brief_field(field->key))
			continue;
		text_add_string(json, is_first ? "[" : ",[");
		is_first = false;
		add_cut_string(json, field->key, strlen(field->key));
		text_add_char(json, ',');
		if (field->title == NULL)
			text_add_string(json, "null");
		else
			add_cut_string(json, field->title,
			               strlen(field->title));
		text_add_char(json, ',');
		if (add_shown_value(page, &drawing, value,
		                    value->kind == CELL_FRACTION ||
		                    report_cell_has_unit(&drawing, value, NULL),
		                    error) != 0)
			return -1;
		text_add_char(json, ']');
	}
	text_add_char(json, ']');
	return 0;
}

static void
add_lines(struct text_buffer *json, const char *key, const char *const *lines,
          size_t n)
{
	text_add_format(json, ",\"%s\":[", key);
	for (size_t i = 0; i < n && i < NOTES_MOST; i++) {
		if (i > 0)
			text_add_char(json, ',');
		add_cut_string(json, lines[i], strlen(lines[i]));
	}
	text_add_char(json, ']');
}

/* Moves what comes before the rows to the page, if there is room for it. */
static bool
move_head(struct report_page *page, const struct report_part *part)
{
	size_t size = json_size(&page->json.text) + 100;

	if (size > page_room(page) || size > part->room) {
		text_clear(&page->json.text);
		return false;
	}
	move_json(&page->parts, &page->json.text);
	return true;
}

static int
add_plain(struct report_page *page, const struct table *table,
          struct error *error);

int
report_page_add(struct report_page *page, const struct report_part *part,
                const struct table *table, struct error *error)
{
	struct text_buffer *json = &page->json.text;
	bool is_first = page->parts.length == 0;
	uint32_t shape = 0;

	if (find_shape(page, table, &shape, error) != 0)
		return -1;
	add_part_head(page, part);
	text_add_format(json, ",\"shape\":%" PRIu32, shape);
	if (add_part_fields(page, part, table, error) != 0)
		return -1;
	if (!part->is_brief) {
		add_lines(json, "head", table->header, table->n_header);
		add_lines(json, "notes", table->footer, table->n_footer);
	}
	if (!move_head(page, part)) {
		page->left_out += table->n_rows;
		return page_check(page, error);
	}
	if (add_rows(page, part, table, error) != 0)
		return -1;
	text_add_char(&page->parts, '}');
	if (is_first && add_plain(page, table, error) != 0)
		return -1;
	return page_check(page, error);
}

int
report_page_add_lack(struct report_page *page, const struct report_part *part,
                     const char *why, struct error *error)
{
	struct text_buffer *json = &page->json.text;

	add_part_head(page, part);
	text_add_string(json, ",\"why\":");
	add_cut_string(json, why, strlen(why));
	if (move_head(page, part))
		text_add_char(&page->parts, '}');
	return page_check(page, error);
}

/* ---- the page ---- */

static int
append_to_text(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

/* Keeps an answer as the prompt prints it into a file. */
static int
add_plain(struct report_page *page, const struct table *table,
          struct error *error)
{
	struct writer *writer = memory_array(1, sizeof *writer, error);
	struct text_buffer text = { 0 };
	int status = -1;

	if (writer != NULL) {
		writer_start(writer, append_to_text, &text);
		status = output_text(table, page->layout, writer, error);
		writer_flush(writer);
	}
	if (status == 0 && text.length < page_room(page) / 20)
		svg_add_escaped(&page->plain, text.bytes, text.length);
	page->plain.failed |= text.failed;
	text_free(&text);
	free(writer);
	return status;
}

/*
 * Adds the short form of each name, 0 where that is the name itself or there is
 * no room.
 */
static int
add_short_names(const struct report_page *page, struct text_buffer *list,
                struct error *error)
{
	uint32_t n = names_count(page->names);
	struct short_name *names = memory_array(n, sizeof *names, error);
	struct text_buffer json = { 0 };
	struct arena arena = { 0 };
	size_t room = page_room(page);
	int status = names == NULL ? -1 : 0;

	for (uint32_t i = 0; status == 0 && i < n; i++) {
		names[i].whole = names_text(page->names, i);
		names[i].n_whole = names_length(page->names, i);
	}
	if (status == 0)
		status = short_names_make(names, n, &arena, error);
	for (uint32_t i = 0; status == 0 && i < n; i++) {
		if (i > 0)
			text_add_char(list, ',');
		if (names[i].length < names[i].n_whole)
			add_cut_string(&json, names[i].text, names[i].length);
		if (json.length == 0 ||
		    list->length + json_size(&json) > room) {
			text_clear(&json);
			text_add_char(list, '0');
		} else {
			move_json(list, &json);
		}
	}
	if (status == 0 && (list->failed || json.failed))
		status = error_out_of_memory(error);
	text_free(&json);
	arena_free(&arena);
	free(names);
	return status;
}

static void
put_lines(struct writer *writer, const char *const *lines)
{
	for (; *lines != NULL; lines++) {
		svg_put(writer, *lines);
		svg_put(writer, "\n");
	}
}

static void
put_text(struct writer *writer, const struct text_buffer *text)
{
	if (text->length > 0)
		writer_put(writer, text->bytes, text->length);
}

int
report_page_write(const struct report_page *page, const char *title,
                  struct writer *writer, struct error *error)
{
	struct text_buffer escaped = { 0 }, left = { 0 }, shorts = { 0 };

	if (add_short_names(page, &shorts, error) != 0) {
		text_free(&shorts);
		return -1;
	}
	svg_add_untrusted(&escaped, title, strnlen(title, TITLE_MOST));
	text_add_format(&left, "%" PRIu64, page->left_out);
	if (escaped.failed || left.failed) {
		text_free(&escaped);
		text_free(&left);
		text_free(&shorts);
		return error_out_of_memory(error);
	}
	svg_put(writer, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; style-src 'unsafe-inline'; "
	    "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
	    "form-action 'none'\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    "<link rel=\"icon\" href=\"data:,\">\n<title>");
	put_text(writer, &escaped);
	svg_put(writer, " - cpprof report</title>\n<style>\n");
	put_lines(writer, report_style);
	svg_put(writer, "</style>\n</head>\n<body>\n"
	    "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
	    "<header><h1>");
	put_text(writer, &escaped);
	svg_put(writer, "</h1><p id=\"about\">A cpprof report</p>\n"
	    "<nav id=\"contents\" aria-label=\"Contents\"></nav></header>\n"
	    "<main id=\"main\" tabindex=\"-1\">\n<noscript>"
	    "<p>Without scripts, this page has only what explain says.</p>\n"
	    "<pre>");
	put_text(writer, &page->plain);
	svg_put(writer, "</pre></noscript>\n</main>\n"
	    "<script type=\"application/json\" id=\"data\">\n"
	    "{\"names\":[");
	put_text(writer, &page->name_list);
	svg_put(writer, "],\n\"short\":[");
	put_text(writer, &shorts);
	svg_put(writer, "],\n\"shapes\":[");
	put_text(writer, &page->shape_list);
	svg_put(writer, "],\n\"parts\":[");
	put_text(writer, &page->parts);
	svg_put(writer, "],\n\"left\":");
	put_text(writer, &left);
	svg_put(writer, "}\n</script>\n<script>\n");
	put_lines(writer, report_script);
	svg_put(writer, "</script>\n</body>\n</html>\n");
	text_free(&escaped);
	text_free(&left);
	text_free(&shorts);
	return 0;
}
