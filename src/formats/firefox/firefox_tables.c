/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_tables.c -- the tables of a Firefox profile, as in the file. */
#include "src/formats/firefox/firefox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/formats/json/json_reader.h"

/* What all functions below need. */
struct table_reading {
	struct firefox_tables *tables;
	struct json_reader *json;
	struct error *error;
};

void
firefox_tables_free(struct firefox_tables *tables)
{
	free(tables->stack_frame.values);
	free(tables->stack_prefix.values);
	free(tables->stack_offset.values);
	free(tables->frame_function.values);
	free(tables->frame_line.values);
	free(tables->frame_library.values);
	free(tables->frame_address.values);
	free(tables->function_name.values);
	free(tables->function_resource.values);
	free(tables->function_file.values);
	free(tables->function_source.values);
	free(tables->function_line.values);
	free(tables->resource_library.values);
	free(tables->source_file.values);
	free(tables->strings.bytes);
	free(tables->strings.ends);
	free(tables->libraries.bytes);
	free(tables->libraries.ends);
}

void
firefox_fail_unprocessed(struct json_reader *json, uint64_t offset)
{
	json_fail(json, offset, "an unprocessed profile of Firefox (Gecko); "
	          "open it at profiler.firefox.com and save it there");
}

/* ---- columns ---- */

/* A number up to `most`; -1 and null give `none`.  false: anything else. */
static bool
get_number(const struct json_token *token, uint64_t most, uint64_t none,
           uint64_t *number)
{
	if (token->type == JSON_NULL ||
	    (token->type == JSON_NUMBER && token->length == 2 &&
	     memcmp(token->text, "-1", 2) == 0)) {
		*number = none;
		return true;
	}
	return json_whole_number(token, most, number);
}

static void
add_index(struct index_column *column, uint32_t index, struct error *error)
{
	if (memory_grow(&column->values, &column->capacity, column->n + 1,
	                sizeof *column->values, error) == 0)
		column->values[column->n++] = index;
}

void
index_column_read(struct index_column *column, struct json_reader *json,
                  const char *what, struct error *error)
{
	struct json_token token;
	uint64_t number;

	column->n = 0;
	column->offset = json_offset(json);
	if (!json_open_array(json, what))
		return;
	while (json_next_element(json, &token)) {
		if (column->n == 0)
			column->offset = token.offset;
		if (!get_number(&token, NO_CELL - 1, NO_CELL, &number))
			json_fail(json, token.offset, "expected %s", what);
		else
			add_index(column, (uint32_t)number, error);
	}
}

int
index_column_fail(const struct index_column *column, struct json_reader *json,
                  const char *name, size_t row, size_t n)
{
	if (column->values[row] == NO_CELL)
		json_fail(json, column->offset, "%s[%zu] is null, expected an "
		          "index below %zu", name, row, n);
	else
		json_fail(json, column->offset, "%s[%zu] is %" PRIu32 " of %zu",
		          name, row, column->values[row], n);
	return -1;
}

/* Lines refer to no table, so a wrong value is no error but no line. */
static void
firefox_tables_read_lines(struct table_reading *reading,
                          struct index_column *column)
{
	struct json_token token;
	uint64_t number;

	column->n = 0;
	if (!json_open_array(reading->json, "an array of lines"))
		return;
	while (json_next_element(reading->json, &token)) {
		if (!get_number(&token, NO_CELL - 1, NO_CELL, &number))
			number = NO_CELL;
		json_skip(reading->json, &token);
		add_index(column, (uint32_t)number, reading->error);
	}
}

static void
firefox_tables_read_addresses(struct table_reading *reading,
                              struct address_column *column)
{
	struct json_token token;
	uint64_t number;

	column->n = 0;
	if (!json_open_array(reading->json, "an array of addresses"))
		return;
	while (json_next_element(reading->json, &token)) {
		if (!get_number(&token, INT64_MAX, NO_ADDRESS, &number))
			json_fail(reading->json, token.offset,
			          "expected an address");
		else if (memory_grow(&column->values, &column->capacity,
		                     column->n + 1, sizeof *column->values,
		                     reading->error) == 0)
			column->values[column->n++] = number;
	}
}

static void
firefox_tables_add_text(struct table_reading *reading,
                        struct text_column *column, const char *text,
                        size_t length)
{
	if (memory_grow(&column->ends, &column->ends_capacity, column->n + 1,
	                sizeof *column->ends, reading->error) != 0 ||
	    memory_grow(&column->bytes, &column->bytes_capacity,
	                column->n_bytes + length, 1, reading->error) != 0)
		return;
	if (length > 0)
		memcpy(column->bytes + column->n_bytes, text, length);
	column->n_bytes += length;
	column->ends[column->n++] = column->n_bytes;
}

static void
read_strings(struct table_reading *reading)
{
	struct text_column *strings = &reading->tables->strings;
	struct json_token token;

	strings->n = strings->n_bytes = 0;
	if (!json_open_array(reading->json, "an array of strings"))
		return;
	reading->tables->has_strings = true;
	while (json_next_element(reading->json, &token)) {
		if (token.type == JSON_STRING || token.type == JSON_NULL)
			firefox_tables_add_text(reading, strings, token.text,
			                        token.length);
		else
			json_fail(reading->json, token.offset,
			          "expected a string");
	}
}

/* ---- tables ---- */

enum column_kind { INDICES, LINES, ADDRESSES };

/* The columns that are read; all others are skipped. */
static const struct firefox_column {
	const char *table, *name, *what;
	enum column_kind kind;
	size_t place;			/* in struct firefox_tables */
} columns[] = {
#define COLUMN(table, name, what, kind, member) \
	{ table, name, "an array of " what, kind, \
	  offsetof(struct firefox_tables, member) }
	COLUMN("stackTable", "frame", "frames' indices", INDICES,
	       stack_frame),
	COLUMN("stackTable", "prefix", "stacks' indices", INDICES,
	       stack_prefix),
	COLUMN("stackTable", "prefixOffset", "stacks' distances", INDICES,
	       stack_offset),
	COLUMN("frameTable", "func", "functions' indices", INDICES,
	       frame_function),
	COLUMN("frameTable", "line", "lines", LINES, frame_line),
	COLUMN("frameTable", "lib", "libraries' indices", INDICES,
	       frame_library),
	COLUMN("frameTable", "address", "addresses", ADDRESSES,
	       frame_address),
	COLUMN("funcTable", "name", "strings' indices", INDICES,
	       function_name),
	COLUMN("funcTable", "resource", "resources' indices", INDICES,
	       function_resource),
	COLUMN("funcTable", "fileName", "strings' indices", INDICES,
	       function_file),
	COLUMN("funcTable", "source", "sources' indices", INDICES,
	       function_source),
	COLUMN("funcTable", "lineNumber", "lines", LINES, function_line),
	COLUMN("resourceTable", "lib", "libraries' indices", INDICES,
	       resource_library),
	COLUMN("sources", "filename", "strings' indices", INDICES,
	       source_file),
#undef COLUMN
};

static void
read_column(struct table_reading *reading, const struct firefox_column *column)
{
	void *place = (char *)reading->tables + column->place;

	if (column->kind == INDICES)
		index_column_read(place, reading->json, column->what,
		                  reading->error);
	else if (column->kind == LINES)
		firefox_tables_read_lines(reading, place);
	else
		firefox_tables_read_addresses(reading, place);
}

static const struct firefox_column *
firefox_tables_find_column(const char *table, const struct json_token *key)
{
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		if (strcmp(columns[i].table, table) == 0 &&
		    json_is(key, columns[i].name))
			return &columns[i];
	return NULL;
}

static void
firefox_tables_read_table(struct table_reading *reading, const char *name,
                          bool *is_there)
{
	struct json_token key;

	if (!json_open_object(reading->json, "a table, an object"))
		return;
	if (is_there != NULL)
		*is_there = true;
	while (json_next_key(reading->json, &key)) {
		const struct firefox_column *column =
		    firefox_tables_find_column(name, &key);

		if (json_is(&key, "schema"))
			firefox_fail_unprocessed(reading->json, key.offset);
		else if (column != NULL)
			read_column(reading, column);
		else
			json_skip_value(reading->json);
	}
}

/* ---- libraries ---- */

static void
read_library(struct table_reading *reading)
{
	struct text_column *libraries = &reading->tables->libraries;
	struct text_buffer path = { .length = 0 }, id = { .length = 0 };
	struct json_token key, token;

	while (json_next_key(reading->json, &key)) {
		struct text_buffer *text = json_is(&key, "path") ? &path :
		                           json_is(&key, "codeId") ? &id : NULL;

		if (!json_get_value(reading->json, &token) || text == NULL ||
		    token.type != JSON_STRING)
			continue;
		text_clear(text);
		text_add(text, token.text, token.length);
	}
	if (path.failed || id.failed)
		error_out_of_memory(reading->error);
	if (!reading->error->is_set) {
		firefox_tables_add_text(reading, libraries, path.bytes,
		                        path.length);
		firefox_tables_add_text(reading, libraries, id.bytes,
		                        id.length);
	}
	text_free(&path);
	text_free(&id);
}

static void
read_libraries(struct table_reading *reading)
{
	struct json_token token;

	reading->tables->libraries.n = reading->tables->libraries.n_bytes = 0;
	if (!json_next(reading->json, &token) || token.type == JSON_NULL)
		return;
	if (token.type == JSON_STRING) {	/* an old form of Gecko */
		firefox_fail_unprocessed(reading->json, token.offset);
		return;
	}
	if (token.type != JSON_ARRAY) {
		json_fail(reading->json, token.offset,
		          "expected an array of libraries");
		return;
	}
	reading->tables->has_libraries = true;
	while (json_next_object(reading->json, &token, "a library, an object"))
		read_library(reading);
}

bool
firefox_tables_read_key(struct firefox_tables *tables,
                        struct json_reader *json, const struct json_token *key,
                        struct error *error)
{
	struct table_reading reading = { tables, json, error };
	const struct {
		const char *name;
		bool *is_there;
	} names[] = {
		{ "stackTable", &tables->has_stacks },
		{ "frameTable", NULL },
		{ "funcTable", NULL },
		{ "resourceTable", NULL },
		{ "sources", &tables->has_sources },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_is(key, names[i].name)) {
			firefox_tables_read_table(&reading, names[i].name,
			                          names[i].is_there);
			return true;
		}
	if (json_is(key, "stringArray"))
		read_strings(&reading);
	else if (json_is(key, "libs"))
		read_libraries(&reading);
	else
		return false;
	return true;
}
