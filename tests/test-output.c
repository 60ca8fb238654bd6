/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-output.c -- tables as text, TSV, CSV and JSON. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/names.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/output/drawing.h"
#include "src/output/output.h"

/* A profile of a few names that some format must escape. */
enum { MAIN, NEW, ODD, CONTROL, BAD, N_NAMES };

static const char *const texts[N_NAMES] = {
	"main", "operator new(unsigned long)", "a|b;c\"d,e",
	"e\033[31m\xe2\x80\xaey", "f\xff\xc3\xa9"
};

struct fixture {
	struct names *names;
	struct call_paths paths;
	uint32_t parent[N_NAMES], name[N_NAMES];
	struct table table;
	struct text_buffer out;
	struct error error;
};

static int
take(void *context, const char *bytes, size_t n)
{
	text_add(context, bytes, n);
	return 0;
}

static int
set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	fixture->names = names_new(&fixture->error);
	for (uint32_t i = 0; i < N_NAMES; i++) {
		names_add(fixture->names, texts[i], strlen(texts[i]),
		          &fixture->error);
		fixture->name[i] = i;
		fixture->parent[i] = i == 0 ? NO_RECORD : i - 1;
	}
	fixture->paths = (struct call_paths){
		fixture->names, fixture->parent, fixture->name, false
	};
	fixture->table.view = "down";
	fixture->table.schema = "cpprof.test/1";
	fixture->table.gtick = "microsecond";
	fixture->table.interval = 1000;
	*state = fixture;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *fixture = *state;

	table_free(&fixture->table);
	text_free(&fixture->out);
	names_free(fixture->names);
	free(fixture);
	return 0;
}

/* Rows of hits, fraction and path or name. */
static void
add_rows(struct fixture *fixture, uint32_t first, uint32_t end, bool are_paths)
{
	struct table *table = &fixture->table;

	table_add_column(table, "hits", "#hits", CELL_HITS);
	table_add_column(table, "fraction", "usage_fraction", CELL_FRACTION);
	table_add_column(table, "path", "call path",
	                 are_paths ? CELL_PATH : CELL_NAME);
	for (uint32_t i = first; i < end; i++) {
		struct cell cells[] = {
			cell_hits(UINT64_MAX - i), cell_fraction(1.0 / 3),
			are_paths ? cell_path(&fixture->paths, i)
			          : cell_name(&fixture->paths, i)
		};

		table_add_row(table, cells, &fixture->error);
	}
}

static const char *
draw(struct fixture *fixture, draw_function *draw_it, struct layout layout)
{
	static struct writer writer;

	text_clear(&fixture->out);
	writer_start(&writer, take, &fixture->out);
	assert_int_equal(draw_it(&fixture->table, &layout, &writer,
	                         &fixture->error), 0);
	assert_int_equal(writer_flush(&writer), 0);
	return text_string(&fixture->out);
}

static const struct layout plain = { .digits = 4 };

static void
text_has_the_form_of_the_paper(void **state)
{
	struct fixture *fixture = *state;

	add_rows(fixture, MAIN, NEW + 1, true);
	fixture->table.pattern = "{fraction} ({path}) [{hits}]";
	table_add_header(&fixture->table, &fixture->error, "A Title");
	table_add_field(&fixture->table, "root", "root", cell_text("main"),
	                &fixture->error);
	table_add_field(&fixture->table, "total", NULL, cell_count(7),
	                &fixture->error);
	table_add_footer(&fixture->table, &fixture->error, "2 hidden");
	assert_string_equal(draw(fixture, output_text, plain),
	    "A Title\n"
	    "root: main\n"
	    "format: usage_fraction (call path) [#hits]\n"
	    "-----------------------------------------------------\n"
	    "0.3333 (main) [18446744073709551615]\n"
	    "0.3333 (main |operator new(unsigned long)|) "
	    "[18446744073709551614]\n"
	    "-----------------------------------------------------\n"
	    "2 hidden\n");
}

static void
text_shows_functions_bare_and_controls_escaped(void **state)
{
	struct fixture *fixture = *state;

	add_rows(fixture, NEW, N_NAMES, false);
	fixture->table.pattern = "{path}";
	fixture->table.is_plain = true;
	assert_string_equal(draw(fixture, output_text, plain),
	    "operator new(unsigned long)\n"
	    "a|b;c\"d,e\n"
	    "e\\x1b[31m\\xe2\\x80\\xaey\n"
	    "f\\xff\xc3\xa9\n");
}

static void
text_aligns_columns_by_what_they_hold(void **state)
{
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;
	struct cell first[] = { cell_text("\xc3\xa9"), cell_count(5),
		                cell_text("x") };
	struct cell second[] = { cell_text("abc"), cell_count(1234),
		                 cell_text("") };

	table_add_column(table, "a", "a", CELL_TEXT);
	table_add_column(table, "b", "count", CELL_COUNT);
	table_add_column(table, "c", "c", CELL_TEXT);
	table_add_row(table, first, &fixture->error);
	table_add_row(table, second, &fixture->error);
	assert_string_equal(draw(fixture, output_text, plain),
	    "a    count  c\n"
	    "-----------------------------------------------------\n"
	    "\xc3\xa9        5  x\n"
	    "abc   1234\n"
	    "-----------------------------------------------------\n");
}

static void
text_wraps_fields_beside_their_titles(void **state)
{
	struct fixture *fixture = *state;
	struct layout narrow = { .width = 30 };

	table_add_field(&fixture->table, "command", "command",
	                cell_text("./w --input=a/long/path --fast b c d"),
	                &fixture->error);
	assert_string_equal(draw(fixture, output_text, narrow),
	    "command: ./w\n"
	    "         --input=a/long/path\n"
	    "         --fast b c d\n");
	assert_string_equal(draw(fixture, output_text, plain),
	    "command: ./w --input=a/long/path --fast b c d\n");
}

/* A text is wrapped; an elastic one is shortened in the middle. */
static void
text_fits_a_terminal_in_columns(void **state)
{
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;
	struct layout narrow = { .width = 24 };
	struct cell cells[] = {
		cell_text("abc"), cell_text("one two three four, fivesixseven")
	};

	table_add_column(table, "a", "", CELL_TEXT);
	table_add_column(table, "b", "", CELL_TEXT);
	table_add_row(table, cells, &fixture->error);
	table_add_header(table, &fixture->error, "  header of three lines and "
	                 "more");
	table->is_plain = true;
	assert_string_equal(draw(fixture, output_text, narrow),
	    "  header of three lines\n"
	    "  and more\n"
	    "abc  one two three four,\n"
	    "     fivesixseven\n");
	table->columns[1].is_elastic = true;
	assert_non_null(strstr(draw(fixture, output_text, narrow),
	                       "\nabc  one two t\xe2\x80\xa6" "esixseven\n"));
	assert_non_null(strstr(draw(fixture, output_text, plain),
	                       "three four, fivesixseven\n"));
	assert_non_null(strstr(draw(fixture, output_text, plain),
	                       "three lines and more\n"));
	table->columns[1].cuts_end = true;
	assert_non_null(strstr(draw(fixture, output_text, narrow),
	                       "\nabc  one two three four\xe2\x80\xa6\n"));
	assert_non_null(strstr(draw(fixture, output_text, plain),
	                       "three four, fivesixseven\n"));
}

/* Groups begin with their lines; a column may show 0 as nothing. */
static void
text_begins_groups_with_their_lines(void **state)
{
	static const char *const lines[] = { NULL, "...", "end" };
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;

	table_add_column(table, "hits", "hits", CELL_HITS)->hides_zero = true;
	table_add_column(table, "zero", "zero", CELL_COUNT);
	table_add_column(table, "block", "block", CELL_COUNT)->is_data_only =
	    true;
	table_add_column(table, "name", "name", CELL_TEXT);
	for (uint64_t block = 1; block <= 3; block++)
		for (uint64_t hits = 0; hits < 2; hits++)
			table_add_row(table, (struct cell[]){ cell_hits(hits),
			    cell_count(0), cell_count(block),
			    cell_text("x") }, &fixture->error);
	table->group_key = "block";
	table->group_lines = lines;
	table->n_group_lines = 3;
	assert_string_equal(draw(fixture, output_text, plain),
	    "hits  zero  name\n"
	    "-----------------------------------------------------\n"
	    "         0  x\n   1     0  x\n"
	    "...\n"
	    "         0  x\n   1     0  x\n"
	    "end\n"
	    "         0  x\n   1     0  x\n"
	    "-----------------------------------------------------\n");
}

/* Rows of one text stand below it; other formats have it in each row. */
static void
rows_stand_below_the_title_of_their_group(void **state)
{
	static const char *const titles[] = { "Long", "Long", "Short" };
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;

	table->is_plain = true;
	table_add_column(table, "name", "name", CELL_TEXT);
	table_add_column(table, "kind", "", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "text", "text", CELL_TEXT);
	for (size_t i = 0; i < 3; i++)
		table_add_row(table, (struct cell[]){ cell_text("name"),
		    cell_text(titles[i]), cell_text("x") }, &fixture->error);
	table->group_key = "kind";
	assert_string_equal(draw(fixture, output_text, plain),
	    "Long\nname  x\nname  x\n\nShort\nname  x\n");
	assert_string_equal(draw(fixture, output_tsv, plain),
	    "name\tkind\ttext\n"
	    "name\tLong\tx\nname\tLong\tx\nname\tShort\tx\n");
}

static void
text_shows_hits_in_units(void **state)
{
	struct fixture *fixture = *state;
	struct cell cell = cell_hits(1500);
	struct layout layout = { .unit = UNIT_GTICKS };

	table_add_column(&fixture->table, "hits", "#hits", CELL_HITS);
	table_add_row(&fixture->table, &cell, &fixture->error);
	fixture->table.pattern = "[{hits}]";
	assert_string_equal(draw(fixture, output_text, layout),
	    "format: [used]\n"
	    "-----------------------------------------------------\n"
	    "[1.50 s]\n"
	    "-----------------------------------------------------\n");
	assert_non_null(strstr(draw(fixture, output_json, layout),
	                       "\"hits\":1500"));
}

/* The longest line of a text. */
static size_t
widest(const char *text)
{
	size_t most = 0;

	while (*text != '\0') {
		size_t n = strcspn(text, "\n"), width;

		width = printable_width(text, n);
		most = width > most ? width : most;
		text += n + (text[n] == '\n');
	}
	return most;
}

static void
text_fits_a_terminal_and_keeps_the_ends_of_paths(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	add_rows(fixture, MAIN, N_NAMES, true);
	fixture->table.pattern = "{fraction} ({path})";
	fixture->table.is_plain = true;
	for (size_t width = 30; width < 120; width++) {
		struct layout layout = { .digits = 4, .width = width };

		assert_true(widest(draw(fixture, output_text, layout)) <=
		            width);
	}
	text = draw(fixture, output_text, (struct layout){ .digits = 4,
	                                                   .width = 45 });
	assert_non_null(strstr(text, "(main \xe2\x80\xa6 |a\\|b;c\"d,e|)\n"));
	assert_null(strstr(draw(fixture, output_text, plain),
	                   "\xe2\x80\xa6"));
}

static void
text_indents_names_up_to_forty_columns(void **state)
{
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;
	const uint64_t depths[] = { 0, 1, 20, 21 };

	table_add_column(table, "depth", "depth", CELL_COUNT);
	table_add_column(table, "name", "name", CELL_NAME);
	table->indent_key = "depth";
	table->is_plain = true;
	for (size_t i = 0; i < 4; i++) {
		const struct cell cells[] = { cell_count(depths[i]),
			cell_name(&fixture->paths, MAIN) };

		table_add_row(table, cells, &fixture->error);
	}
	table->pattern = "{name}";
	assert_string_equal(draw(fixture, output_text, plain),
	    "main\n  main\n"
	    "                                        main\n"
	    "                                        21: main\n");
	table->pattern = "x{depth} {name}";
	assert_string_equal(draw(fixture, output_text, plain),
	    "x0 main\nx1   main\n"
	    "x20                                         main\n"
	    "x21                                         21: main\n");
}

static void
color_is_only_where_asked_for(void **state)
{
	struct fixture *fixture = *state;
	struct layout layout = { .digits = 4, .has_color = true };

	add_rows(fixture, MAIN, NEW + 1, true);
	fixture->table.pattern = "{path}";
	assert_null(strchr(draw(fixture, output_text, plain), '\033'));
	assert_non_null(strchr(draw(fixture, output_text, layout), '\033'));
	assert_null(strchr(draw(fixture, output_json, layout), '\033'));
}

/* Rows of a share, one with descendants, and a name. */
static void
add_shares(struct fixture *fixture)
{
	static const double shares[][2] = {
		{ 1, 1 }, { 0.5, 0.75 }, { 0.2578125, 0.2578125 }, { 1e-9, 0 },
		{ 0, 0.5 }, { 0, 0 }, { 7, 9 },
	};
	struct table *table = &fixture->table;

	table_add_column(table, "fraction", "%", CELL_PERCENT);
	table_add_column(table, "inclusive_fraction", "%", CELL_PERCENT)->
	    is_data_only = true;
	table_add_column(table, "path", "name", CELL_NAME);
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		struct cell cells[] = {
			cell_percent(shares[i][0]), cell_percent(shares[i][1]),
			cell_name(&fixture->paths, MAIN)
		};

		table_add_row(table, cells, &fixture->error);
	}
}

static void
bars_show_shares(void **state)
{
	struct fixture *fixture = *state;
	const char *shown;

	add_shares(fixture);
	shown = draw(fixture, output_text, (struct layout){
		.bar_width = 8, .has_blocks = true });
	assert_non_null(strstr(shown, "            %  name\n"));
	assert_non_null(strstr(shown, "\n████████  100  main\n"));
	assert_non_null(strstr(shown, "\n████░░     50  main\n"));
	assert_non_null(strstr(shown, "\n██▏        26  main\n"));
	assert_non_null(strstr(shown, "\n▏           0  main\n"));
	assert_non_null(strstr(shown, "\n░░░░        0  main\n"));
	assert_non_null(strstr(shown, "\n            0  main\n"));
	assert_non_null(strstr(shown, "\n████████  700  main\n"));
	shown = draw(fixture, output_text, (struct layout){
		.bar_width = 8, .has_numbers = true });
	assert_non_null(strstr(shown, "%N              %  name\n"));
	assert_non_null(strstr(shown, "\n 2  ####--     50  main\n"));
	assert_non_null(strstr(shown, "\n 3  ###        26  main\n"));
	shown = draw(fixture, output_text, (struct layout){ .digits = 2 });
	assert_null(strstr(shown, "#"));
}

static void
colors_take_no_room(void **state)
{
	struct fixture *fixture = *state;
	struct layout layout = {
		.width = 36, .bar_width = 4, .has_numbers = true,
		.has_color = true,
	};
	const char *shown;

	add_rows(fixture, NEW, NEW + 1, false);
	fixture->table.pattern = "{path}";
	shown = draw(fixture, output_text, layout);
	assert_non_null(strstr(shown, "\033[2m1\033[0m  \033[32m##\033[0m    "
	                       "operator new(unsigned long)\n"));
}

static void
csv_quotes_and_joins_paths(void **state)
{
	struct fixture *fixture = *state;

	add_rows(fixture, ODD, ODD + 1, true);
	assert_string_equal(draw(fixture, output_csv, plain),
	    "hits,fraction,path\n"
	    "18446744073709551613,0.3333333333333333,"
	    "\"main;operator new(unsigned long);|a\\|b;c\"\"d,e|\"\n");
	assert_string_equal(draw(fixture, output_tsv, plain),
	    "hits\tfraction\tpath\n"
	    "18446744073709551613\t0.3333333333333333\t"
	    "main;operator new(unsigned long);|a\\|b;c\"d,e|\n");
}

static void
csv_of_fields_and_rows_is_one_list(void **state)
{
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;
	struct cell cells[] = { cell_text("cpu, all"), cell_count(7),
		                cell_text("x") };

	table->rows_key = "resources";
	table_add_field(table, "files", "files", cell_count(2),
	                &fixture->error);
	table_add_column(table, "name", "resource", CELL_TEXT);
	table_add_column(table, "hits", "hits", CELL_COUNT);
	table_add_column(table, "note", "note", CELL_TEXT);
	table_add_row(table, cells, &fixture->error);
	assert_string_equal(draw(fixture, output_csv, plain),
	    "key,value\nfiles,2\n"
	    "\"resources.cpu, all.hits\",7\n"
	    "\"resources.cpu, all.note\",x\n");
}

static void
what_is_for_text_is_in_text_only(void **state)
{
	struct fixture *fixture = *state;

	add_rows(fixture, MAIN, NEW, true);
	fixture->table.columns[1].is_text_only = true;
	assert_string_equal(draw(fixture, output_csv, plain),
	    "hits,path\n18446744073709551615,main\n");
	assert_string_equal(draw(fixture, output_tsv, plain),
	    "hits\tpath\n18446744073709551615\tmain\n");
	assert_null(strstr(draw(fixture, output_json, plain), "fraction"));
	assert_non_null(strstr(draw(fixture, output_text, plain), "0.3333"));
}

static void
csv_of_fields_alone_lists_them(void **state)
{
	struct fixture *fixture = *state;

	table_add_field(&fixture->table, "name", NULL, cell_text("a,b\n"),
	                &fixture->error);
	assert_string_equal(draw(fixture, output_csv, plain),
	                    "key,value\nname,\"a,b\\x0a\"\n");
}

static void
json_nests_fields_and_is_utf8(void **state)
{
	struct fixture *fixture = *state;
	struct table *table = &fixture->table;

	table_add_field(table, "root", NULL,
	                cell_name(&fixture->paths, MAIN), &fixture->error);
	table_add_field(table, "resource.name", NULL, cell_text("c\"p\\u"),
	                &fixture->error);
	table_add_field(table, "resource.interval", NULL, cell_count(20),
	                &fixture->error);
	table_add_field(table, "none", NULL,
	                (struct cell){ .kind = CELL_EMPTY }, &fixture->error);
	add_rows(fixture, BAD, BAD + 1, true);
	assert_string_equal(draw(fixture, output_json, plain),
	    "{\"schema\":\"cpprof.test/1\",\"view\":\"down\","
	    "\"root\":\"main\",\"resource\":{\"name\":\"c\\\"p\\\\u\","
	    "\"interval\":20},\"none\":null,\"rows\":["
	    "{\"hits\":18446744073709551611,\"fraction\":0.3333333333333333,"
	    "\"path\":[\"main\",\"operator new(unsigned long)\","
	    "\"a|b;c\\\"d,e\",\"e\\u001b[31m\\u202ey\","
	    "\"f\xef\xbf\xbd\xc3\xa9\"]}]}\n");
}

static void
json_of_no_rows_is_whole(void **state)
{
	struct fixture *fixture = *state;

	table_add_field(&fixture->table, "a.b", NULL, cell_flag(true),
	                &fixture->error);
	assert_string_equal(draw(fixture, output_json, plain),
	    "{\"schema\":\"cpprof.test/1\",\"view\":\"down\","
	    "\"a\":{\"b\":true},\"rows\":[]}\n");
}

static void
fractions_are_exact(void **state)
{
	const double numbers[] = { 0, 1, 0.1, 1.0 / 3, 2.0 / 3, 1e-300,
		                   0.68729641693811074 };
	struct text_buffer text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		text_clear(&text);
		text_add_exact(&text, numbers[i]);
		assert_true(strtod(text_string(&text), NULL) == numbers[i]);
	}
	text_clear(&text);
	text_add_exact(&text, 0.1);
	assert_string_equal(text_string(&text), "0.1");
	text_free(&text);
}

static void
units_are_readable(void **state)
{
	static const struct {
		uint64_t hits, interval;
		const char *gtick, *text;
	} cases[] = {
		{ 0, 1, "microsecond", "0" },
		{ 12300, 1, "microsecond", "12.3 ms" },
		{ 999, 1, "microsecond", "999 us" },
		{ 614, 20, "centisecond", "123 s" },
		{ 600, 1, "second", "10.0 min" },
		{ 25, 10, "centiseconds", "2.50 s" },
		{ 1, 1000, "millisecond", "1.00 s" },
		{ 1, 1000, "ms", "1.00 s" },
		{ 9996, 100, "us", "1.00 s" },
		{ 999400, 1, "ns", "999 us" },
		{ 599990, 1, "ms", "10.0 min" },
		{ 3, 1, "s", "3.00 s" },
		{ 1023, 1, "B", "1023 B" },
		{ 1024 * 1024 - 1, 1, "bytes", "1.00 MiB" },
		{ 1, 1, "nanosecond", "1.00 ns" },
		{ 90000, 1, "second", "25.0 h" },
		{ 1572864, 1, "byte", "1.50 MiB" },
		{ 5671, 10, "fault", "56710 faults" },
		{ 1, 1, "fault", "1 fault" },
		{ 3, 1, "miss", "3 misses" },
		{ 3, 1, "switch", "3 switches" },
		{ 3, 1, "samples", "3 samples" },
		{ 3, 1, "row of cells", "3 rows of cells" },
		{ 5, 2, "", "10" },
		{ 5, 2, NULL, "10" },
		{ 2, 1, "e\033", "2 e\\x1bs" },
		{ UINT64_MAX, UINT64_MAX, "fault",
		  "340282366920938463426481119284349108225 faults" },
	};
	struct text_buffer text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		text_clear(&text);
		text_add_gticks(&text, cases[i].hits, cases[i].interval,
		                cases[i].gtick);
		assert_string_equal(text_string(&text), cases[i].text);
	}
	text_free(&text);
}

static void
savings_compare(void **state)
{
	static const struct {
		uint64_t after, before;
		const char *gtick, *text;
	} cases[] = {
		{ 3840, 12280, "centisecond", "38.4 s instead of 122.8 s" },
		{ 11840, 12280, "centisecond", "118 s instead of 123 s" },
		{ 428, 1337, "second", "7.13 min instead of 22.28 min" },
		{ 5, 12280, "centisecond", "0.0500 s instead of 122.8 s" },
		{ 0, 12280, "centisecond", "0 instead of 123 s" },
		{ 1 << 20, 3 << 20, "byte", "1.00 MiB instead of 3.00 MiB" },
		{ 1, 12, "fault", "1 instead of 12 faults" },
		{ 3, 4, "", "3 instead of 4" },
	};
	struct text_buffer text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		text_clear(&text);
		text_add_saving(&text, cases[i].after, cases[i].before,
		                "", cases[i].gtick);
		assert_string_equal(text_string(&text), cases[i].text);
	}
	text_clear(&text);
	text_add_saving(&text, 1000, 4000, " of CPU time", "ms");
	assert_string_equal(text_string(&text),
	                    "1.00 s of CPU time instead of 4.00 s");
	text_free(&text);
}

static void
totals_have_four_digits(void **state)
{
	static const struct {
		uint64_t hits, interval;
		const char *gtick, *text;
	} cases[] = {
		{ 1063, 1000, "microsecond", "1.063 s" },
		{ 164, 4000000, "ns", "656 ms" },
		{ 614, 20, "centisecond", "122.8 s" },
		{ 4380000, 1, "us", "4.38 s" },
		{ 9999999, 1, "us", "10 s" },
		{ 1000, 1, "ms", "1 s" },
		{ 100000, 1, "s", "27.78 h" },
		{ 123456789, 1, "d", "123456789 ds" },
		{ 3 << 20, 1, "byte", "3 MiB" },
		{ UINT64_MAX, UINT64_MAX, "byte", NULL },
		{ 12, 10, "fault", "120 faults" },
		{ 0, 10, "ms", "0" },
		{ 7, 1, "", "7" },
	};
	struct text_buffer text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		text_clear(&text);
		text_add_total_gticks(&text, cases[i].hits, cases[i].interval,
		                      cases[i].gtick);
		if (cases[i].text != NULL)
			assert_string_equal(text_string(&text), cases[i].text);
	}
	text_free(&text);
}

static void
intervals_are_short(void **state)
{
	static const struct {
		uint64_t interval;
		const char *gtick, *text;
	} cases[] = {
		{ 4000, "microsecond", "4 ms" },
		{ 20, "centisecond", "200 ms" },
		{ 1001, "microsecond", "1.001 ms" },
		{ 1, "nanosecond", "ns" },
		{ 1000, "microseconds", "ms" },
		{ 524288, "byte", "512 KiB" },
		{ 10, "fault", "10 faults" },
		{ 1, "fault", "fault" },
		{ 1, "", "gtick" },
		{ 20, NULL, "20 gticks" },
		{ 2, "e\033", "2 e\\x1bs" },
		{ UINT64_MAX, "fault", "18446744073709551615 faults" },
	};
	struct text_buffer text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		text_clear(&text);
		text_add_interval(&text, cases[i].interval, cases[i].gtick);
		assert_string_equal(text_string(&text), cases[i].text);
	}
	text_free(&text);
}

static int
no_room(void *context, const char *bytes, size_t n)
{
	(void)bytes;
	(void)n;
	++*(int *)context;
	return ENOSPC;
}

static void
a_writer_fails_once_and_for_good(void **state)
{
	static struct writer writer;
	int calls = 0;

	(void)state;
	writer_start(&writer, no_room, &calls);
	writer_put(&writer, "abc", 3);
	assert_int_equal(calls, 0);
	assert_int_equal(writer_flush(&writer), ENOSPC);
	writer_put(&writer, "abc", 3);
	assert_int_equal(writer_flush(&writer), ENOSPC);
	assert_int_equal(calls, 1);
}

static void
drawing_stops_when_asked_to(void **state)
{
	struct fixture *fixture = *state;
	static struct writer writer;
	draw_function *const functions[] = { output_text, output_tsv,
		                             output_csv, output_json };

	add_rows(fixture, MAIN, N_NAMES, true);
	interrupt_requested = 1;
	for (size_t i = 0; i < 4; i++) {
		struct error error = { 0 };

		writer_start(&writer, take, &fixture->out);
		assert_int_equal(functions[i](&fixture->table, &plain,
		                              &writer, &error), -1);
		assert_string_equal(error.text, "interrupted");
	}
	interrupt_requested = 0;
}

static void
utf8_is_decoded_strictly(void **state)
{
	static const struct {
		const char *bytes;
		size_t n, length;
		uint32_t character;
	} cases[] = {
		{ "a", 1, 1, 'a' },
		{ "\xc3\xa9", 2, 2, 0xe9 },
		{ "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
		{ "\xc3", 1, 0, 0 },			/* cut */
		{ "\xc0\x80", 2, 0, 0 },		/* overlong */
		{ "\xe0\x80\xaf", 3, 0, 0 },
		{ "\xed\xa0\x80", 3, 0, 0 },		/* surrogate */
		{ "\xf4\x90\x80\x80", 4, 0, 0 },	/* above 10ffff */
		{ "\x80", 1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t character = 0;

		assert_int_equal(utf8_decode(cases[i].bytes, cases[i].n,
		                             &character), cases[i].length);
		if (cases[i].length > 0)
			assert_int_equal(character, cases[i].character);
	}
}

static void
wide_characters_take_two_columns(void **state)
{
	struct text_buffer text = { 0 };

	(void)state;
	assert_int_equal(printable_width("\xe4\xb8\xad\xe6\x96\x87", 6), 4);
	assert_int_equal(printable_width("e\xcc\x81", 3), 1);
	text_add_elided(&text, "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad"
	                "\xe6\x96\x87", 12, 7);
	assert_string_equal(text_string(&text),
	                    "\xe4\xb8\xad\xe2\x80\xa6\xe6\x96\x87");
	text_clear(&text);
	text_add_elided(&text, "0123456789\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad"
	                "\xe6\x96\x87", 22, 9);
	assert_string_equal(text_string(&text), "0123\xe2\x80\xa6"
	                    "\xe4\xb8\xad\xe6\x96\x87");
	text_free(&text);
}

/* Characters arrive in two or three parts, whole ones and damaged ones. */
static void
lines_keep_numbers_and_units_together(void **state)
{
	static const struct { const char *text; size_t width, length; } lines[] = {
		{ "to 210 ms) of 3 s", 17, 17 },
		{ "to 210 ms) of 3 s", 16, 13 },
		{ "to 210 ms) of 3 s", 9, 2 },
		{ "to 210 ms) of 3 s", 6, 2 },
		{ "to 210 ms) of 3 s", 10, 10 },
		{ "in 210 s.", 8, 2 },
		{ "in 209 s.", 8, 2 },
		{ "in 1.5 KiB", 8, 2 },
		{ "in 210 runs", 8, 6 },
		{ "in x s", 4, 4 },
		{ "a bcd", 3, 1 },
		{ "abcd e", 3, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		assert_int_equal(wrapping_line(lines[i].text,
		    strlen(lines[i].text), lines[i].width), lines[i].length);
}

static void
printable_writer_needs_no_whole_characters(void **state)
{
	static const char text[] = "a\t\xc3\xa9\xe4\xb8\xad\n\xe2\x80\xae"
	    "b\x9b\xc3\xf0\x9f\x98\x80\xf0\xf0\xf0\xf0\xe2\x80z\xe2\x80";
	static const char expected[] = "a\t\xc3\xa9\xe4\xb8\xad\n"
	    "\\xe2\\x80\\xae" "b\\x9b\\xc3\xf0\x9f\x98\x80"
	    "\\xf0\\xf0\\xf0\\xf0\\xe2\\x80z\\xe2\\x80";
	static struct printable_writer printable;
	static struct writer writer;
	size_t n = sizeof text - 1;

	(void)state;
	for (size_t i = 0; i <= n; i++)
		for (size_t k = i; k <= n; k++) {
			struct text_buffer out = { 0 };

			writer_start(&writer, take, &out);
			printable_writer_start(&printable, &writer);
			writer_put(&printable.writer, text, i);
			writer_flush(&printable.writer);
			writer_put(&printable.writer, text + i, k - i);
			writer_flush(&printable.writer);
			writer_put(&printable.writer, text + k, n - k);
			assert_int_equal(printable_writer_end(&printable), 0);
			writer_flush(&writer);
			assert_string_equal(text_string(&out), expected);
			text_free(&out);
		}
}

static void
labels_keep_the_last_identifier(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		const char *label;
	} cases[] = {
		{ "main", 4, "main" },
		{ "main", 2, "" },
		{ "db_read_record", 8, "db_read\u2026" },
		{ "std::vector<int, A<b> >::push_back(int&&)", 80,
		  "std::vector<int, A<b> >::push_back(int&&)" },
		{ "std::vector<int, A<b> >::push_back(int&&)", 12,
		  "\u2026push_back" },
		{ "std::vector<int, A<b> >::push_back(int&&)", 9,
		  "push_back" },
		{ "std::vector<int, A<b> >::push_back(int&&)", 6,
		  "push_\u2026" },
		{ "void ns::apply<f(int)>(int) const", 10, "ns::apply" },
		{ "void ns::apply<f(int)>(int) const", 8, "\u2026apply" },
		{ "bool std::operator><char, std::less<char> >(char)", 13,
		  "\u2026operator>" },
		{ "long ns::f<ns::B>(int) [clone .constprop.0]", 6, "ns::f" },
		{ "(anonymous namespace)::find(char const*)", 10,
		  "\u2026find" },
		{ "github.com/a/b.(*T).Method", 13, "\u2026(*T).Method" },
		{ "ns::run(int)::{lambda(int)#1}::operator()(int) const", 14,
		  "\u2026operator()" },
		{ "ns::A::operator<<(std::ostream&)", 13, "\u2026operator<<" },
		{ "ns::cooperator<int>(int)", 13, "\u2026cooperator" },
		{ "operator new(unsigned long)", 14, "operator new" },
		{ "github.com/a/b.(*T).Method", 14, "\u2026b.(*T).Method" },
		{ "ns::{lambda(int)#1}", 18, "ns::{lambda#1}" },
		{ "[unknown program]", 8, "[unknow\u2026" },
		{ "\u540d\u524d::\u95a2\u6570()", 6, "\u2026\u95a2\u6570" },
		{ "\u540d\u524d::\u95a2\u6570()", 4, "\u95a2\u6570" },
		{ "\u540d\u524d::\u95a2\u6570()", 3, "\u95a2\u2026" },
		{ "a\033[31mb", 5, "a\\x1\u2026" },
		{ "", 9, "" },
		{ "::", 9, "::" },
		{ "a::b::", 4, "\u2026b::" },
		{ ")))>>>]]]", 5, ")))>\u2026" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text_buffer text = { 0 };

		text_add_label(&text, cases[i].name, strlen(cases[i].name),
		               cases[i].width);
		assert_string_equal(text_string(&text), cases[i].label);
		assert_true(printable_width(text.bytes, text.length) <=
		            cases[i].width);
		text_free(&text);
	}
}

static void
boxes_of_a_family_have_one_hue(void **state)
{
	struct box_color read = box_color("db_read_record", 14);
	struct box_color get = box_color("db_get_property", 15);
	unsigned seen = 0;

	(void)state;
	assert_int_equal(read.hue, get.hue);
	assert_int_equal(box_color("std::sort(int*, int*)", 21).hue,
	                 box_color("std::vector<int>::at(int)", 25).hue);
	/* Names that differ in their arguments' scopes only. */
	assert_int_equal(box_color("sort(a::b)", 10).shade,
	                 box_color("sort(a::b)", 10).shade);
	for (char c = 'a'; c <= 'z'; c++) {
		struct box_color color = box_color(&c, 1);

		assert_true(color.hue < BOX_HUES && color.shade < BOX_SHADES);
		seen |= 1u << color.hue;
	}
	assert_true(__builtin_popcount(seen) > BOX_HUES / 2);
}

int
main(void)
{
#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, \
	                                                 tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_keep_numbers_and_units_together),
		cmocka_unit_test(printable_writer_needs_no_whole_characters),
		TABLE_TEST(text_has_the_form_of_the_paper),
		TABLE_TEST(text_shows_functions_bare_and_controls_escaped),
		TABLE_TEST(text_aligns_columns_by_what_they_hold),
		TABLE_TEST(text_wraps_fields_beside_their_titles),
		TABLE_TEST(text_fits_a_terminal_in_columns),
		TABLE_TEST(text_begins_groups_with_their_lines),
		TABLE_TEST(rows_stand_below_the_title_of_their_group),
		TABLE_TEST(text_shows_hits_in_units),
		TABLE_TEST(text_fits_a_terminal_and_keeps_the_ends_of_paths),
		TABLE_TEST(text_indents_names_up_to_forty_columns),
		TABLE_TEST(color_is_only_where_asked_for),
		TABLE_TEST(bars_show_shares),
		TABLE_TEST(colors_take_no_room),
		TABLE_TEST(csv_quotes_and_joins_paths),
		TABLE_TEST(csv_of_fields_alone_lists_them),
		TABLE_TEST(csv_of_fields_and_rows_is_one_list),
		TABLE_TEST(what_is_for_text_is_in_text_only),
		TABLE_TEST(json_nests_fields_and_is_utf8),
		TABLE_TEST(json_of_no_rows_is_whole),
		TABLE_TEST(drawing_stops_when_asked_to),
		cmocka_unit_test(fractions_are_exact),
		cmocka_unit_test(units_are_readable),
		cmocka_unit_test(savings_compare),
		cmocka_unit_test(totals_have_four_digits),
		cmocka_unit_test(intervals_are_short),
		cmocka_unit_test(a_writer_fails_once_and_for_good),
		cmocka_unit_test(utf8_is_decoded_strictly),
		cmocka_unit_test(wide_characters_take_two_columns),
		cmocka_unit_test(labels_keep_the_last_identifier),
		cmocka_unit_test(boxes_of_a_family_have_one_hue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
