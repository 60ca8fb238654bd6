/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h -- what a command answers: typed cells, no layout.
 *
 * Views and commands fill a table; one layout engine (src/output/) draws it as
 * text, TSV, CSV or JSON.  Rows are either cells kept here or made one at a
 * time by a function, so that a view of ten million rows costs no copy.
 */
#ifndef CPPROF_BASE_TABLE_H
#define CPPROF_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/call_paths.h"
#include "src/base/error.h"
#include "src/base/writer.h"

enum cell_kind {
	CELL_EMPTY,	/* nothing; null in JSON */
	CELL_TEXT,	/* words; may be untrusted */
	CELL_COUNT,	/* a whole number */
	CELL_HITS,	/* hits of the table's resource, shown by `unit` */
	CELL_GTICKS,	/* gticks of the table's resource, in readable units */
	CELL_FRACTION,	/* a share, shown with the set digits */
	CELL_PERCENT,	/* a share, shown as hundredths */
	CELL_NAME,	/* one function: bare in text, a path of one in JSON */
	CELL_PATH,	/* a call path */
	CELL_FLAG,	/* true or false; "~" or nothing in patterns */
};

struct cell {
	enum cell_kind kind;
	union {
		const char *text;	/* CELL_TEXT: lives as long as the table */
		struct {
			uint64_t count;	/* CELL_COUNT, CELL_HITS, CELL_GTICKS */
			uint64_t whole;	/* CELL_GTICKS: what it is a part of,
					 * whose unit it shares; 0: nothing */
		};
		double fraction;	/* CELL_FRACTION, CELL_PERCENT */
		bool flag;
		struct {		/* CELL_NAME: record is the name */
			const struct call_paths *paths;
			uint32_t record;
		} path;
	};
};

static inline struct cell
cell_text(const char *text)
{
	return (struct cell){ .kind = CELL_TEXT, .text = text };
}

static inline struct cell
cell_count(uint64_t count)
{
	return (struct cell){ .kind = CELL_COUNT, .count = count };
}

static inline struct cell
cell_hits(uint64_t hits)
{
	return (struct cell){ .kind = CELL_HITS, .count = hits };
}

static inline struct cell
cell_gticks(uint64_t gticks)
{
	return (struct cell){ .kind = CELL_GTICKS, .count = gticks };
}

static inline struct cell
cell_gticks_of(uint64_t gticks, uint64_t whole)
{
	return (struct cell){ .kind = CELL_GTICKS, .count = gticks,
		              .whole = whole };
}

static inline struct cell
cell_percent(double fraction)
{
	return (struct cell){ .kind = CELL_PERCENT, .fraction = fraction };
}

static inline struct cell
cell_fraction(double fraction)
{
	return (struct cell){ .kind = CELL_FRACTION, .fraction = fraction };
}

static inline struct cell
cell_flag(bool flag)
{
	return (struct cell){ .kind = CELL_FLAG, .flag = flag };
}

/* The name numbered `name` in paths->names. */
static inline struct cell
cell_name(const struct call_paths *paths, uint32_t name)
{
	return (struct cell){ .kind = CELL_NAME,
		              .path = { paths, name } };
}

static inline struct cell
cell_path(const struct call_paths *paths, uint32_t record)
{
	return (struct cell){ .kind = CELL_PATH,
		              .path = { paths, record } };
}

/* The kind says how a column aligns and which unit its heading may name. */
struct column {
	const char *key;	/* name in JSON, CSV and TSV: "hits" */
	const char *title;	/* in text: "usage_fraction" */
	enum cell_kind kind;
	bool is_text_only;	/* TSV, CSV and JSON leave it out: another
				 * column says the same in full */
	bool is_data_only;	/* aligned text leaves it out, likewise; never
				 * the last one */
	bool is_elastic;	/* the last one's CELL_TEXT is shortened where
				 * a terminal is too narrow, not broken */
	char mark;		/* of a CELL_FLAG, in aligned text; 0: '*' */
};

/*
 * One datum beside the rows: "root", "total".  A key with a dot ("resource.
 * name") is a member of an object in JSON.  Text shows a field only when its
 * title is not NULL, one a line, "title: value", above the rows.
 */
struct field {
	const char *key;
	const char *title;
	struct cell value;
};

enum { TABLE_MAX_COLUMNS = 16 };

struct table {
	struct arena arena;	/* texts of cells, fields and lines */

	const char *view;	/* "down"; the command's name */
	const char *schema;	/* "cpprof.paths/1", see doc/manual.md */

	struct field *fields;
	size_t n_fields, fields_capacity;

	/* Lines of text output, above the rule and below the rows. */
	const char **header, **footer;
	size_t n_header, n_footer, header_capacity, footer_capacity;

	struct column columns[TABLE_MAX_COLUMNS];
	size_t n_columns;

	/*
	 * How a row looks in text: literal characters and {key} for the cell
	 * of that column, "{fraction} ({path}) [{hits}]".  The `format:` line
	 * is the same with titles.  NULL: aligned columns under headings, or
	 * with is_plain without headings and rules (help, lists).
	 */
	const char *pattern;
	bool is_plain;
	/* Key of a CELL_COUNT column that indents rows in text, or NULL. */
	const char *indent_key;
	/* Of one at whose changes aligned text has an empty line, or NULL. */
	const char *group_key;

	/*
	 * Not NULL where the table is about its fields as much as its rows.
	 * TSV and CSV then are one list of key and value: the fields, and
	 * cells as "ROWS_KEY.ROW.COLUMN", a row's first cell, a CELL_TEXT,
	 * being its name.
	 */
	const char *rows_key;

	/* For CELL_HITS: what a hit is. */
	const char *gtick;
	uint64_t interval;

	/*
	 * Not NULL where the answer is a file's bytes and nothing else is set:
	 * writes them, whatever the format of answers.  0, or -1 with *error
	 * set; with *error unset where it is the writer that failed.
	 */
	int (*write)(void *write_source, struct writer *writer,
	             struct error *error);
	void *write_source;		/* the arena's */
	bool is_binary;			/* a terminal is no place for them */

	size_t n_rows;
	/*
	 * NULL: rows are in cells.  Else writes row i (below n_rows) to
	 * cells[n_columns]; what these point to is good until the next call.
	 */
	void (*row)(const struct table *table, size_t i, struct cell *cells);
	void *row_source;			/* the table's */
	void (*row_source_free)(void *row_source);	/* may be NULL */
	struct cell *cells;			/* [n_rows][n_columns] */
	size_t cells_capacity;
};

/* Start with `struct table table = { 0 };`. */
void table_free(struct table *table);

/* Each returns 0, or -1 with *error set for want of memory. */
int table_add_field(struct table *table, const char *key, const char *title,
                    struct cell value, struct error *error);
int table_add_header(struct table *table, struct error *error,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int table_add_footer(struct table *table, struct error *error,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Before the first row.  key and title are static or the arena's.  The column,
 * for callers that set more than its kind.
 */
struct column *table_add_column(struct table *table, const char *key,
                                const char *title, enum cell_kind kind);

/* n_columns cells, copied; texts must live as long as the table. */
int table_add_row(struct table *table, const struct cell *cells,
                  struct error *error);

/* Writes row i to cells[n_columns], wherever it comes from. */
void table_get_row(const struct table *table, size_t i, struct cell *cells);

/* A text kept with the table. */
const char *table_text(struct table *table, struct error *error,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
