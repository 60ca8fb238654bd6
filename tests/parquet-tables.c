/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parquet-tables.c -- tables that are drawn at random, as files.
 *
 *     parquet-tables FOLDER N
 *
 * Writes N tables as FOLDER/I.parquet by parquet.h, and beside each its cells as
 * text, FOLDER/I.cells, for parquet.py to compare with what a reader finds: a
 * line with the name and kind of each column, then a line for each row; fields
 * are separated by blanks.  A number is a number or "null", a text is "x" and
 * its bytes in hexadecimal, texts are a comma behind each.  The first tables are
 * of sizes at which something else begins; all are the same in every run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/own_file.h"
#include "src/formats/parquet/parquet.h"
#include "tests/random-numbers.h"

enum { MOST_COLUMNS = 20, MOST_LIST = 1200, LARGE_TABLE = 40 };

/* How the values of a column follow each other. */
enum manner { ONE_VALUE, FEW_VALUES, MANY_VALUES, ALL_DIFFER, IN_RUNS,
	SAME_AT_END, N_MANNERS };

struct drawn {
	struct parquet_column columns[MOST_COLUMNS];
	enum manner manners[MOST_COLUMNS];
	double nulls[MOST_COLUMNS];	/* how many numbers are, or lists empty */
	char column_names[MOST_COLUMNS][8];
	size_t n_columns, n_rows, n_names, longest_list;
	struct names *names;
	uint32_t *texts;		/* [n_names] */
	size_t last[MOST_COLUMNS], left[MOST_COLUMNS];	/* of a run */
	struct parquet_table *table;
	FILE *cells;
};

static struct error error;

static void
check(bool went_well, const char *what)
{
	if (went_well)
		return;
	fprintf(stderr, "%s: %s\n", what, error.text);
	exit(1);
}

static size_t
pick(size_t below)
{
	return (size_t)(uniform() * (double)below);
}

/* A number of a value, by the manner of its column. */
static size_t
draw_value(struct drawn *drawn, size_t column, size_t row)
{
	switch (drawn->manners[column]) {
	case ONE_VALUE:
		return 3;
	case FEW_VALUES:
		return pick(1 + (column + 1) * 3);
	case MANY_VALUES:
		return pick(drawn->n_rows + 1);
	case ALL_DIFFER:
		return row;
	case SAME_AT_END:
		return row * 5 < drawn->n_rows * 2 ? row : drawn->n_rows;
	default:
		if (drawn->left[column]-- == 0) {
			drawn->last[column] = pick(drawn->n_rows + 1);
			drawn->left[column] = pick(40);
		}
		return drawn->last[column];
	}
}

static int64_t
number_of(size_t value)
{
	static const int64_t odd[] = { 0, -1, 1, INT64_MIN + 1, INT64_MAX, 255,
		256, -256 };

	if (value < sizeof odd / sizeof *odd)
		return odd[value];
	return (int64_t)(value * UINT64_C(0x9e3779b97f4a7c15)) >> value % 61;
}

static void
put_text_line(struct drawn *drawn, uint32_t name)
{
	const unsigned char *text = (const unsigned char *)names_text(
	    drawn->names, name);
	const size_t n = names_length(drawn->names, name);

	putc('x', drawn->cells);
	for (size_t i = 0; i < n; i++)
		fprintf(drawn->cells, "%02x", text[i]);
}

static void
put_number(struct drawn *drawn, size_t column, size_t row)
{
	int64_t number = number_of(draw_value(drawn, column, row));

	if (drawn->columns[column].may_be_null &&
	    uniform() < drawn->nulls[column])
		number = PARQUET_NULL;
	check(parquet_put_number(drawn->table, column, number, &error) == 0,
	      "a number");
	if (number == PARQUET_NULL)
		fputs("null", drawn->cells);
	else
		fprintf(drawn->cells, "%" PRId64, number);
}

static uint32_t
draw_text(struct drawn *drawn, size_t column, size_t row)
{
	return drawn->texts[draw_value(drawn, column, row) % drawn->n_names];
}

static void
put_texts(struct drawn *drawn, size_t column, size_t row)
{
	uint32_t names[MOST_LIST];
	const size_t n = uniform() < drawn->nulls[column] ? 0 :
	    pick(drawn->longest_list + 1);

	for (size_t i = 0; i < n; i++) {
		names[i] = draw_text(drawn, column, row + i);
		put_text_line(drawn, names[i]);
		putc(',', drawn->cells);
	}
	check(parquet_put_texts(drawn->table, column, names, n, &error) == 0,
	      "texts");
}

static void
put_cell(struct drawn *drawn, size_t column, size_t row)
{
	uint32_t name;

	switch (drawn->columns[column].kind) {
	case PARQUET_NUMBER:
		put_number(drawn, column, row);
		break;
	case PARQUET_TEXT:
		name = draw_text(drawn, column, row);
		check(parquet_put_text(drawn->table, column, name, &error) == 0,
		      "a text");
		put_text_line(drawn, name);
		break;
	case PARQUET_TEXTS:
		put_texts(drawn, column, row);
	}
}

/* Empty, no UTF-8, of several bytes a character, long, and usual ones. */
static void
make_names(struct drawn *drawn)
{
	static const char *const odd[] = { "", "a\xff" "b\xc3", "f\xc3\xa4n",
		"\xf0\x9f\x98\x80", "\x01\n\t\"" };
	const size_t n_odd = sizeof odd / sizeof *odd;
	char text[400];

	for (size_t i = 0; i < drawn->n_names; i++) {
		if (i < n_odd)
			snprintf(text, sizeof text, "%s", odd[i]);
		else
			snprintf(text, sizeof text, "%0*zu",
			         i % 50 == 7 ? 300 : 1, i);
		drawn->texts[i] = names_add(drawn->names, text, strlen(text),
		                            &error);
		check(!error.is_set, "a name");
	}
}

static void
draw_columns(struct drawn *drawn)
{
	static const char kinds[][8] = { "number", "text", "texts" };
	static const double nulls[] = { 0, 0.02, 0.5, 0.98, 1 };

	for (size_t i = 0; i < drawn->n_columns; i++) {
		struct parquet_column *column = &drawn->columns[i];

		snprintf(drawn->column_names[i], sizeof *drawn->column_names,
		         "c%zu", i);
		column->name = drawn->column_names[i];
		column->kind = (enum parquet_kind)pick(3);
		column->may_be_null = column->kind == PARQUET_NUMBER &&
		    uniform() < 0.6;
		drawn->manners[i] = (enum manner)pick(N_MANNERS);
		drawn->nulls[i] = nulls[pick(5)];
		fprintf(drawn->cells, "%s%s %s", i > 0 ? " " : "",
		        column->name, kinds[column->kind]);
	}
	putc('\n', drawn->cells);
}

/* Sizes at which runs, groups of bits and bytes of indexes are full. */
static void
draw_sizes(struct drawn *drawn, size_t i)
{
	static const size_t rows[] = { 0, 1, 7, 8, 9, 15, 16, 17, 255, 256, 257,
		503, 504, 505, 512, 1009 };

	drawn->n_columns = 1 + pick(i % 4 == 0 ? MOST_COLUMNS : 6);
	drawn->n_rows = i < sizeof rows / sizeof *rows ? rows[i] : pick(1500);
	drawn->n_names = 6 + pick(i % 3 == 0 ? 1500 : 100);
	drawn->longest_list = i % 5 == 0 ? MOST_LIST * 20 / (drawn->n_rows + 20) :
	    pick(6);
}

/*
 * More rows than a row group has, and indexes into a dictionary that take three
 * bytes in a run.
 */
static void
make_large(struct drawn *drawn)
{
	static const struct parquet_column columns[] = {
		{ "number", PARQUET_NUMBER, true },
		{ "text", PARQUET_TEXT, false },
		{ "texts", PARQUET_TEXTS, false },
	};

	drawn->n_rows = drawn->n_names = (256 << 10) + 50;
	drawn->n_columns = sizeof columns / sizeof *columns;
	drawn->longest_list = 2;
	memcpy(drawn->columns, columns, sizeof columns);
	for (size_t i = 0; i < drawn->n_columns; i++) {
		drawn->manners[i] = i == 2 ? FEW_VALUES : SAME_AT_END;
		drawn->nulls[i] = 0.01;
	}
	fputs("number number text text texts texts\n", drawn->cells);
}

static void
write_table(const char *folder, size_t i)
{
	struct drawn *drawn = calloc(1, sizeof *drawn);
	char path[4096];

	check(drawn != NULL, "memory");
	seed = i;
	snprintf(path, sizeof path, "%s/%zu.cells", folder, i);
	drawn->cells = fopen(path, "w");
	check(drawn->cells != NULL, path);
	if (i == LARGE_TABLE) {
		make_large(drawn);
	} else {
		draw_sizes(drawn, i);
		draw_columns(drawn);
	}
	drawn->texts = calloc(drawn->n_names, sizeof *drawn->texts);
	drawn->names = names_new(&error);
	check(drawn->texts != NULL && drawn->names != NULL, "memory");
	make_names(drawn);
	drawn->table = parquet_table_new(drawn->columns, drawn->n_columns,
	                                 drawn->names, &error);
	check(drawn->table != NULL, "a table");
	for (size_t row = 0; row < drawn->n_rows; row++) {
		for (size_t column = 0; column < drawn->n_columns; column++) {
			if (column > 0)
				putc(' ', drawn->cells);
			put_cell(drawn, column, row);
		}
		putc('\n', drawn->cells);
		parquet_end_row(drawn->table);
	}
	snprintf(path, sizeof path, "%s/%zu.parquet", folder, i);
	check(parquet_table_rows(drawn->table) == drawn->n_rows &&
	      parquet_table_write(drawn->table, path, OWN_NOTHING,
	                          &error) == 0 &&
	      parquet_table_rows(drawn->table) == 0, path);
	check(fclose(drawn->cells) == 0, "the cells");
	parquet_table_free(drawn->table);
	names_free(drawn->names);
	free(drawn->texts);
	free(drawn);
}

int
main(int argc, char **argv)
{
	const size_t n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (n == 0) {
		fputs("usage: parquet-tables FOLDER N\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < n; i++)
		write_table(argv[1], i);
	return 0;
}
