/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_tables.h -- the tables of a Firefox profile.
 *
 * A table is an object of columns, arrays of one length.  Rows refer to rows of
 * other tables by index: a stack to its caller and its frame, a frame to its
 * function, a function to its name.  Each thread has its own tables, or the
 * file has them in "shared": strings since version 56, all since version 60.
 * Sources: firefox-devtools/profiler, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md.
 */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_TABLES_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/json/json_reader.h"

/* In a column: null, or -1. */
#define NO_INDEX UINT32_MAX
#define NO_ADDRESS UINT64_MAX

struct index_column {
	uint32_t *values;
	size_t n, capacity;
	uint64_t offset;		/* in the input */
};

struct address_column {
	uint64_t *values;
	size_t n, capacity;
};

/* Strings joined without gaps: string i is bytes [ends[i - 1], ends[i]). */
struct text_column {
	char *bytes;
	uint64_t *ends;
	size_t n_bytes, n, bytes_capacity, ends_capacity;
};

/* libraries: texts 2i and 2i + 1 are path and code id of library i. */
struct firefox_tables {
	bool has_stacks, has_sources, has_strings, has_libraries;
	struct index_column stack_frame, stack_prefix, stack_offset;
	struct index_column frame_function, frame_line, frame_library;
	struct address_column frame_address;
	struct index_column function_name, function_resource, function_file,
	    function_source, function_line;
	struct index_column resource_library;
	struct index_column source_file;
	struct text_column strings, libraries;
};

void firefox_tables_free(struct firefox_tables *tables);

/*
 * Reads the value of a key that is a table.  false: the key is none, and the
 * value has not been read.  Failures set *error, the reader's; so does a table
 * in the form that Firefox itself (Gecko) writes.
 */
bool firefox_tables_read_key(struct firefox_tables *tables,
                             struct json_reader *json,
                             const struct json_token *key,
                             struct error *error);

/* Sets the error for a table with a "schema", the form that Gecko writes. */
void firefox_fail_unprocessed(struct json_reader *json, uint64_t offset);

/* Reads a column of indices, the value of a key. */
void index_column_read(struct index_column *column, struct json_reader *json,
                       const char *what, struct error *error);

/*
 * Sets the reader's error for a row that is no index below n, and returns -1.
 * name: of the column, "funcTable.name".
 */
int index_column_fail(const struct index_column *column,
                      struct json_reader *json, const char *name, size_t row,
                      size_t n);

/* The value in a row, NO_INDEX past the end of the column. */
static inline uint32_t
index_column_at(const struct index_column *column, size_t row)
{
	return row < column->n ? column->values[row] : NO_INDEX;
}

/* String `row`, which must be below n; not ended by NUL. */
static inline const char *
text_column_at(const struct text_column *column, size_t row, size_t *length)
{
	uint64_t begin = row > 0 ? column->ends[row - 1] : 0;

	*length = (size_t)(column->ends[row] - begin);
	return *length > 0 ? column->bytes + begin : "";
}

#endif
