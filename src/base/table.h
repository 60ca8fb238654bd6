/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h -- the answer of a command: typed cells, no layout.
 *
 * Views and commands fill a table; one layout engine (src/output/) draws it as
 * text, TSV, CSV or JSON.
 */
#ifndef CPPROF_BASE_TABLE_H
#define CPPROF_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/names.h"

struct picture;
struct chart;

enum cell_kind {
	CELL_EMPTY,	/* nothing; null in JSON */
	CELL_TEXT,	/* prose or a name; may be untrusted */
	CELL_COUNT,	/* a whole number */
	CELL_HITS,	/* hits of the table's resource, shown by `unit` */
	CELL_GTICKS,	/* gticks of the table's resource, in readable units */
	CELL_FRACTION,	/* a share, shown with the set digits */
	CELL_PERCENT,	/* a share, shown as hundredths */
	CELL_NUMBER,	/* any number, shown with a few digits */
	CELL_AMOUNT,	/* hits of the table's resource that may be a part of
			 * one or below 0, such as a mean; in readable units */
	CELL_NAME,	/* one function: bare in text, a path of one in JSON */
	CELL_PATH,	/* a call path */
	CELL_FLAG,	/* true or false; "~" or nothing in patterns */
};

struct cell {
	enum cell_kind kind;
	union {
		/*
		 * CELL_TEXT: lives as long as the table.  CELL_EMPTY: what text
		 * shows in its place; NULL: nothing.
		 */
		struct {
			const char *text;
			uint32_t name_begin;	/* CELL_TEXT: n_name of its */
			uint32_t n_name;	/* bytes are a function's name,
						 * which text may shorten */
		};
		struct {
			uint64_t count;	/* CELL_COUNT, CELL_HITS, CELL_GTICKS */
			uint64_t whole;	/* CELL_GTICKS: the amount that it is a
					 * part of and whose unit it takes; 0:
					 * none */
		};
		double fraction;	/* CELL_FRACTION, CELL_PERCENT */
		struct {
			double number;	/* CELL_NUMBER, finite */
			bool is_by_zero;	/* number / 0, which data
						 * formats leave empty */
		};
		double amount;		/* CELL_AMOUNT, finite */
		bool flag;
		struct {		/* CELL_NAME: record is the name */
			const struct call_paths *paths;
			uint32_t record;
		} path;
	};
};

/* A number that is not known: "?" in text, nothing in data formats. */
static inline struct cell
cell_unknown(void)
{
	return (struct cell){ .kind = CELL_EMPTY, .text = "?" };
}

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
cell_number(double number)
{
	return (struct cell){ .kind = CELL_NUMBER, .number = number };
}

static inline struct cell
cell_by_zero(double number)
{
	return (struct cell){ .kind = CELL_NUMBER, .number = number,
		              .is_by_zero = true };
}

static inline struct cell
cell_amount(double amount)
{
	return (struct cell){ .kind = CELL_AMOUNT, .amount = amount };
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

/* The kind decides how a column aligns and which unit its heading may name. */
struct column {
	const char *key;	/* name in JSON, CSV and TSV: "hits" */
	const char *title;	/* in text: "usage_fraction" */
	enum cell_kind kind;
	bool is_text_only;	/* not in TSV, CSV and JSON: another column has
				 * the same in full */
	bool is_data_only;	/* not in aligned text, likewise; never the
				 * last column */
	bool is_elastic;	/* last column only: CELL_TEXT too wide for the
				 * terminal is shortened, not wrapped */
	bool cuts_end;		/* of an elastic column, the end is cut off and
				 * not the middle */
	size_t room;		/* last column only: what its CELL_TEXT takes
				 * of a terminal; 0: any */
	bool gives_way;		/* text on a terminal that is too narrow for the
				 * last column, or for the path or name of a
				 * pattern, leaves it out, and a line says so;
				 * in a pattern one, and a blank is behind it */
	const char *short_title;	/* not NULL: the title on such a
					 * terminal, before any gives way */
	bool hides_zero;	/* aligned text shows a number 0 as nothing */
	bool has_sign;		/* text shows a + before amounts and percents
				 * above 0 */
	char mark;		/* of a CELL_FLAG, in aligned text; 0: '*' */
	const char *gtick;	/* of a CELL_HITS of another resource than the */
	uint64_t interval;	/* table's; NULL and 0: of the same */
	bool has_unit;		/* likewise: see the table's */
};

/*
 * A value besides the rows: "root", "total".  In JSON a key with a dot, such
 * as "resource.name", is a member of an object, and fields with the key
 * "steps[]" are the items of an array.  Text shows a field only when
 * its title is not NULL: "title: value" on a line of its own above the rows.
 */
struct field {
	const char *key;
	const char *title;
	struct cell value;
};

/* Bytes of a header or footer that are a name, which text may show shorter. */
struct line_name {
	bool is_footer;
	size_t line, begin, length;
	struct cell name;	/* CELL_NAME */
};

enum { TABLE_MAX_COLUMNS = 32, TABLE_MAX_LINE_NAMES = 6 };

struct table {
	struct arena arena;	/* texts of cells, fields and lines */

	const char *view;	/* "down": the command; set by who runs it */
	const char *schema;	/* "cpprof.paths/1", see doc/manual.md; NULL:
				 * the table has nothing to show */

	struct field *fields;
	size_t n_fields, fields_capacity;

	/* Lines of text output, above the rule and below the rows. */
	const char **header, **footer;
	size_t n_header, n_footer, header_capacity, footer_capacity;
	size_t n_first_lines;	/* of the header, so many stay where the others
				 * have no room, on the first screen */
	struct line_name line_names[TABLE_MAX_LINE_NAMES];	/* in order */
	size_t n_line_names;

	struct column columns[TABLE_MAX_COLUMNS];
	size_t n_columns;

	/*
	 * The form of a row in text: literal characters, and {key} for the
	 * cell of that column, as in "{fraction} ({path}) [{hits}]".  The
	 * `format:` line is the same with titles.  NULL: aligned columns under
	 * headings; with is_plain without headings and rules (help, lists).
	 */
	const char *pattern;
	bool is_plain;
	bool folds_unnamed;	/* text has one name for a run of functions
				 * without symbols of one module: the last */
	/*
	 * Not NULL: text draws this in place of the rows.  It belongs to
	 * row_source.
	 */
	const struct picture *picture;
	/* Not NULL: pictures of the table are this.  It is in the arena. */
	const struct chart *chart;
	/*
	 * Key of a CELL_COUNT column that indents rows in text, or NULL: by a
	 * pattern what begins with their names, in aligned text the whole row,
	 * or the last column if indents_last.
	 */
	const char *indent_key;
	bool indents_last;
	/*
	 * Key of a CELL_TEXT column, or NULL: in aligned text, what follows
	 * the last cell of each row and is never cut.
	 */
	const char *suffix_key;

	/*
	 * Key of a CELL_COUNT or CELL_TEXT column, or NULL: where its value
	 * changes, aligned text has an empty line.  A text is the title of the
	 * rows that have it, and stands above them.  If group_lines is not NULL,
	 * a count is a group's number from 1 on, and aligned text has the
	 * group's line instead, also before the first row; none if that is NULL.
	 */
	const char *group_key;
	const char *const *group_lines;	/* [n_group_lines], borrowed */
	size_t n_group_lines;

	/*
	 * Key of a CELL_TEXT column, or NULL: where rows have no path, what
	 * %3 stands for, such as a thread's name.
	 */
	const char *handle_key;

	/*
	 * Not NULL where the fields matter as much as the rows.  TSV and CSV
	 * are then one list of keys and values: the fields, and each cell as
	 * "ROWS_KEY.ROW.COLUMN".  ROW is the row's first cell, a CELL_TEXT.
	 */
	const char *rows_key;

	/* For CELL_HITS: what a hit is. */
	const char *gtick;
	uint64_t interval;
	bool has_unit;		/* text shows hits in gticks, unless told
				 * otherwise: they are no samples */

	size_t n_rows;
	/*
	 * NULL: rows are in cells.  Otherwise it writes row i (below n_rows)
	 * to cells[n_columns]; what these point to is valid until the next
	 * call.
	 */
	void (*row)(const struct table *table, size_t i, struct cell *cells);
	void *row_source;			/* the table's */
	void (*row_source_free)(void *row_source);	/* may be NULL */
	struct cell *cells;			/* [n_rows][n_columns] */
	size_t cells_capacity;
};

/* Start with `struct table table = { 0 };`. */
void table_free(struct table *table);

/* Each returns 0, or -1 with *error set if memory runs out. */
int table_add_field(struct table *table, const char *key, const char *title,
                    struct cell value, struct error *error);
int table_add_fields(struct table *table, const struct field *fields,
                     size_t n, struct error *error);
int table_add_header(struct table *table, struct error *error,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int table_add_footer(struct table *table, struct error *error,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Says that length bytes of the last header, or of the footer that is added
 * next, from begin on, are a name.  Names of one line are marked in order.  Does
 * nothing for more than TABLE_MAX_LINE_NAMES of them.
 */
void table_mark_header_name(struct table *table, size_t begin, size_t length,
                            struct cell name);
void table_mark_footer_name(struct table *table, size_t begin, size_t length,
                            struct cell name);

/*
 * Adds a column, before the first row.  key and title are static or in the
 * arena.  Returns the column, for callers that set more than its kind.
 */
struct column *table_add_column(struct table *table, const char *key,
                                const char *title, enum cell_kind kind);

/* Adds n columns, of which those without a key are left out. */
void table_add_columns(struct table *table, const struct column *columns,
                       size_t n);

/*
 * Adds a row of n_columns cells, which are copied; texts must live as long as
 * the table.
 */
int table_add_row(struct table *table, const struct cell *cells,
                  struct error *error);

/*
 * The column that row numbers at the prompt stand for: `path`, if it holds
 * call paths or functions, else that of handle_key; n_columns if there is none,
 * or if a picture is drawn in place of rows.
 */
size_t table_handle_column(const struct table *table);

/* Writes row i to cells[n_columns], kept or made. */
void table_get_row(const struct table *table, size_t i, struct cell *cells);

/*
 * A cell of the path of n >= 1 names, outermost first, which are copied; the
 * names must outlive the table.  Empty with *error set.
 */
struct cell table_path(struct table *table, const struct names *names,
                       const uint32_t *path, size_t n, struct error *error);

/* Formats a text that lives as long as the table. */
const char *table_text(struct table *table, struct error *error,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- chart ---- */

/*
 * Hits from the start of a run to its end, in layers.
 *
 * Each slice of the run is a bar, and each layer a part of every bar.  A hit
 * belongs to one layer, so the layers of a bar add up to its hits.
 */

struct chart_layer {
	struct cell name;		/* CELL_NAME, CELL_PATH or CELL_TEXT */
	bool is_rest;			/* all that is in no other layer */
	uint64_t hits;			/* of all slices */
	double fraction;		/* of what fractions are relative to */
	const uint64_t *slices;		/* [n_slices] hits */
};

struct chart {
	const struct chart_layer *layers;	/* the first is drawn lowest */
	uint32_t n_layers, n_slices;
	uint64_t width_ns;		/* of a slice */
};

/* ---- picture ---- */

/*
 * Boxes below boxes: what a flame graph draws.
 *
 * A box is a call path.  It lies below the box of the path that it extends.
 * Its width is its value, in hits.  The left part of it is solid, and the rest
 * is hatched.  The solid parts of a box's children lie side by side within its
 * own solid part, but one hit can be in the hatched parts of many boxes.  So
 * the boxes below a box can need more room than the box, which is its extent.
 */

/* The colours of boxes. */
enum box_tint {
	TINT_OF_NAME,		/* that of the function's name */
	TINT_UNCHANGED, TINT_GREW, TINT_LIKELY_GREW, TINT_SHRANK,
	TINT_LIKELY_SHRANK, TINT_MOVED,
	N_BOX_TINTS
};

struct picture_box {
	uint64_t begin;		/* of the box, from the left edge */
	uint64_t extent;	/* of the box and all boxes below it */
	uint64_t value;		/* width of the box */
	uint64_t solid;		/* at most the value */
	uint64_t own;		/* solid hits that are in no box below it */
	uint32_t record;	/* the path, in picture->paths */
	uint32_t depth;		/* 0: a box on top */
	bool is_estimated;	/* the value is */
	enum box_tint tint;
};

struct picture {
	const struct call_paths *paths;
	/*
	 * [n_boxes] every box before those below it, these from left to right.
	 */
	const struct picture_box *boxes;
	uint32_t n_boxes;
	uint32_t n_levels;
	uint64_t extent;	/* of all boxes */
	uint64_t n_left_out;	/* paths with hits that are too narrow for a
				 * box */
	bool is_open_ended;	/* n_left_out counts only what extends boxes */
	uint64_t denominator;	/* of fractions */
	bool is_comparison;	/* the table has the columns base, now, change
				 * and verdict, which say what tints mean */
};

#endif
