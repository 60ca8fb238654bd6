/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parquet.h -- tables as Parquet files.
 *
 * Source: the specification of Apache Parquet, https://parquet.apache.org/docs/
 * (apache/parquet-format 2.10: README.md, Encodings.md, LogicalTypes.md and
 * parquet.thrift), and of Thrift's compact protocol (apache/thrift,
 * doc/specs/thrift-compact-protocol.md).
 *
 * Only what such tables need: 64-bit numbers, texts, and lists of texts.  A
 * file has row groups; in each, a column is one dictionary page, where that is
 * shorter, and one data page (version 1), both packed by zstd.  Numbers have
 * their least and greatest value in the footer, so that readers skip row
 * groups.
 */
#ifndef CPPROF_FORMATS_PARQUET_H
#define CPPROF_FORMATS_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"

enum parquet_kind { PARQUET_NUMBER, PARQUET_TEXT, PARQUET_TEXTS };

/* What stands for no value of a number, where that is allowed. */
#define PARQUET_NULL INT64_MIN

struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	bool may_be_null;	/* of numbers */
};

struct parquet_table;

/*
 * An empty table; columns[n] and names, whose numbers texts are, must outlive
 * it.  Freed with parquet_table_free; NULL with *error set.
 */
struct parquet_table *parquet_table_new(const struct parquet_column *columns,
                                        size_t n, const struct names *names,
                                        struct error *error);
void parquet_table_free(struct parquet_table *table);

/* Each puts one cell; those of a row in any order, before parquet_end_row. */
int parquet_put_number(struct parquet_table *table, size_t column,
                       int64_t number, struct error *error);
int parquet_put_text(struct parquet_table *table, size_t column, uint32_t name,
                     struct error *error);
int parquet_put_texts(struct parquet_table *table, size_t column,
                      const uint32_t *names, size_t n, struct error *error);
void parquet_end_row(struct parquet_table *table);

/* Rows, and bytes that they take in memory. */
size_t parquet_table_rows(const struct parquet_table *table);
size_t parquet_table_bytes(const struct parquet_table *table);

/*
 * Writes all rows to a file, which appears once it is whole, and empties the
 * table.  own: as of new_file_open_own.  0, or -1 with *error set.
 */
int parquet_table_write(struct parquet_table *table, const char *path,
                        size_t own, struct error *error);

#endif
