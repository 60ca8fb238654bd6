/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.h -- draws a table as text, TSV, CSV or JSON. */
#ifndef CPPROF_OUTPUT_OUTPUT_H
#define CPPROF_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"

struct layout;

/* One way to draw a table; 0, or -1 with *error set (also "interrupted"). */
typedef int draw_function(const struct table *table,
                          const struct layout *layout, struct writer *writer,
                          struct error *error);

struct output_format {
	const char *name;	/* "json" */
	draw_function *draw;
};

/* Text is the first; ends with a NULL name. */
extern const struct output_format output_formats[];

/* The width of pictures as text where no terminal says it. */
enum { PICTURE_COLUMNS = 80 };

/* How text shows hits.  UNIT_AUTO: as the table or the column says. */
enum unit { UNIT_AUTO, UNIT_HITS, UNIT_GTICKS };

/* Settings for text; the other formats give every number in full. */
struct layout {
	int digits;		/* decimal places of fractions */
	enum unit unit;		/* of hits */
	size_t width;		/* of the terminal; 0: nothing is shortened */
	size_t height;		/* of the terminal; 0: any; for pictures */
	bool has_color;
	bool has_numbers;	/* rows with a path have numbers, for %N */
	size_t bar_width;	/* columns of a bar of each row's share; 0: no
				 * bars */
	bool has_blocks;	/* bars of block characters, else of # */
	bool has_short_names;	/* names without what tells none apart */
	/*
	 * Whether a function is the user's own: of a path that is too wide,
	 * such functions are left out last.  NULL: that is not known.
	 */
	bool (*is_own)(void *own, const struct names *names, uint32_t name);
	void *own;
};

/* The formats, in the order of output_formats. */
draw_function output_text, output_tsv, output_csv, output_json;

/*
 * A table with a picture as an SVG document of at most about a million bytes,
 * and the same in a page.
 */
draw_function output_svg, output_html;

/* ---- report_page.c ---- */

/*
 * Several answers as one page.
 *
 * The page holds each answer's rows as JSON, with the values that output_json
 * gives them, and a script that shows them; it computes no value.  It has an
 * upper size: an answer's smallest rows are left out when its room is used up,
 * and the page says how many.
 */

/* Bytes that a page never has. */
enum { REPORT_SIZE_MAX = 1000 * 1000 };

struct report_page;

/* An answer's place in the page. */
struct report_part {
	const char *kind;	/* for the script: "explain" */
	const char *command;	/* as typed at the prompt */
	const char *function;	/* whose callers, lines and so on; NULL: of
				 * the whole profile */
	size_t room;		/* bytes at most */
	bool is_brief;		/* without headings and with few fields */
	bool drops_smallest;	/* rows are in another order than that of
				 * their hits */
	bool has_ends;		/* of paths only the function that a row adds
				 * to the row above it is needed */
};

/* An empty page, freed with report_page_free; NULL with *error set. */
struct report_page *report_page_new(const struct layout *layout,
                                    struct error *error);
void report_page_free(struct report_page *page);

/* Adds an answer, or says why there is none. */
int report_page_add(struct report_page *page, const struct report_part *part,
                    const struct table *table, struct error *error);
int report_page_add_lack(struct report_page *page,
                         const struct report_part *part, const char *why,
                         struct error *error);

/* Rows that were left out for want of room. */
uint64_t report_page_left_out(const struct report_page *page);

/* Writes the page.  title: for the window, may be untrusted. */
int report_page_write(const struct report_page *page, const char *title,
                      struct writer *writer, struct error *error);

/*
 * Each of these calls it for row i; now and then it checks whether the user
 * pressed Ctrl-C or the writer failed.  If the writer failed *error stays
 * unset: the owner of the writer reports that.
 */
int output_may_go_on(size_t i, const struct writer *writer,
                     struct error *error);

/* ---- printable_writer.c ---- */

/*
 * Escapes text of other formats for a terminal.
 *
 * Exporters write names as they are.  On the way to a terminal
 * text_add_printable escapes them; line feeds and tabs stay.
 */

struct printable_writer {
	struct writer writer;		/* to write to */
	struct writer *to;		/* borrowed */
	char begun[4];			/* the bytes of an incomplete
					 * character */
	size_t n_begun;
	struct text_buffer text;
};

void printable_writer_start(struct printable_writer *printable,
                            struct writer *to);

/* Writes what is left, and frees; the errno of the first failure, or 0. */
int printable_writer_end(struct printable_writer *printable);

#endif
