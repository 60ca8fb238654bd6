/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.c -- tables as JSON: one document on one line.
 *
 * {"schema": ..., "view": ..., fields, "rows": [{key: value, ...}, ...]}.
 * Fields whose keys share the part before their first dot are members of one
 * object; they are neighbours in the table.  Integers are written with all
 * their 64 bits.
 */
#include <inttypes.h>
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/output/drawing.h"
#include "src/output/output.h"

static int
json_add_path(struct json *json, const struct cell *cell, struct error *error)
{
	struct path_names *path = &json->path;

	if (path_names_get(path, cell, error) != 0)
		return -1;
	text_add_char(&json->text, '[');
	for (size_t i = 0; i < path->n; i++) {
		uint32_t name = path->path[i];

		if (i > 0)
			text_add_char(&json->text, ',');
		text_add_json_string(&json->text,
		                     names_text(path->names, name),
		                     names_length(path->names, name));
	}
	text_add_char(&json->text, ']');
	return 0;
}

int
json_add_value(struct json *json, const struct cell *cell, struct error *error)
{
	struct text_buffer *text = &json->text;

	switch (cell->kind) {
	case CELL_EMPTY:
		text_add_string(text, "null");
		break;
	case CELL_TEXT:
		text_add_json_string(text, cell->text, strlen(cell->text));
		break;
	case CELL_COUNT:
	case CELL_HITS:
	case CELL_GTICKS:
		text_add_format(text, "%" PRIu64, cell->count);
		break;
	case CELL_FRACTION:
	case CELL_PERCENT:
		text_add_exact(text, cell->fraction);
		break;
	case CELL_NUMBER:
		if (cell->is_by_zero)
			text_add_string(text, "null");
		else
			text_add_exact(text, cell->number);
		break;
	case CELL_AMOUNT:
		text_add_exact(text, cell->amount);
		break;
	case CELL_FLAG:
		text_add_string(text, cell->flag ? "true" : "false");
		break;
	case CELL_NAME:
	case CELL_PATH:
		return json_add_path(json, cell, error);
	}
	return 0;
}

static void
add_key(struct text_buffer *text, const char *key, size_t n, bool is_first)
{
	if (!is_first)
		text_add_char(text, ',');
	text_add_json_string(text, key, n);
	text_add_char(text, ':');
}

/*
 * The length of the part of the key that names an object or an array: up to its
 * first dot or bracket, or 0.
 */
static size_t
container_length(const char *key)
{
	size_t n = strcspn(key, ".[");

	return key[n] == '\0' ? 0 : n;
}

/*
 * As a field, the name of a function is a string; as a cell of a row, it is a
 * path of one name.
 */
static int
add_field_value(struct json *json, const struct cell *cell,
                struct error *error)
{
	uint32_t name;

	if (cell->kind != CELL_NAME)
		return json_add_value(json, cell, error);
	if (path_names_get(&json->path, cell, error) != 0)
		return -1;
	name = json->path.path[0];
	text_add_json_string(&json->text, names_text(json->path.names, name),
	                     names_length(json->path.names, name));
	return 0;
}

static int
json_add_fields(struct json *json, const struct table *table,
                struct error *error)
{
	const char *container = "";
	size_t n_container = 0;		/* 0: in none */

	for (size_t i = 0; i < table->n_fields; i++) {
		const char *key = table->fields[i].key;
		size_t n = container_length(key);
		bool is_item = n > 0 && key[n] == '[';
		bool is_same = n > 0 && n == n_container &&
		    memcmp(container, key, n + 1) == 0;

		if (n_container > 0 && !is_same)
			text_add_char(&json->text,
			              container[n_container] == '[' ? ']' : '}');
		if (n > 0 && !is_same) {
			add_key(&json->text, key, n, false);
			text_add_char(&json->text, key[n] == '[' ? '[' : '{');
		}
		container = key;
		n_container = n;
		key += n > 0 ? n + 1 : 0;
		if (!is_item)
			add_key(&json->text, key, strlen(key),
			        n > 0 && !is_same);
		else if (is_same)
			text_add_char(&json->text, ',');
		if (add_field_value(json, &table->fields[i].value, error) != 0)
			return -1;
	}
	if (n_container > 0)
		text_add_char(&json->text,
		              container[n_container] == '[' ? ']' : '}');
	return 0;
}

static int
json_flush(struct json *json, struct writer *writer, struct error *error)
{
	if (json->text.failed || json->path.word.failed)
		return error_out_of_memory(error);
	writer_put(writer, json->text.bytes, json->text.length);
	text_clear(&json->text);
	return 0;
}

static int
json_add_row(struct json *json, const struct table *table, size_t row,
             struct error *error)
{
	struct cell cells[TABLE_MAX_COLUMNS];

	bool is_first = true;

	table_get_row(table, row, cells);
	text_add_string(&json->text, row > 0 ? ",{" : "{");
	for (size_t i = 0; i < table->n_columns; i++) {
		const char *key = table->columns[i].key;

		if (table->columns[i].is_text_only)
			continue;
		add_key(&json->text, key, strlen(key), is_first);
		is_first = false;
		if (json_add_value(json, &cells[i], error) != 0)
			return -1;
	}
	text_add_char(&json->text, '}');
	return 0;
}

static int
json_draw(struct json *json, const struct table *table, struct writer *writer,
          struct error *error)
{
	struct text_buffer *text = &json->text;

	text_add_string(text, "{\"schema\":");
	text_add_json_string(text, table->schema, strlen(table->schema));
	add_key(text, "view", 4, false);
	text_add_json_string(text, table->view, strlen(table->view));
	if (json_add_fields(json, table, error) != 0)
		return -1;
	add_key(text, "rows", 4, false);
	text_add_char(text, '[');
	for (size_t i = 0; i < table->n_rows; i++)
		if (json_add_row(json, table, i, error) != 0 ||
		    json_flush(json, writer, error) != 0 ||
		    output_may_go_on(i, writer, error) != 0)
			return -1;
	text_add_string(text, "]}\n");
	return json_flush(json, writer, error);
}

int
output_json(const struct table *table, const struct layout *layout,
            struct writer *writer, struct error *error)
{
	struct json json = { 0 };
	int status;

	(void)layout;
	status = json_draw(&json, table, writer, error);
	text_free(&json.text);
	path_names_free(&json.path);
	return status;
}
