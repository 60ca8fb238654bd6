/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing.h -- what the kinds of output share, for the files of this folder. */
#ifndef CPPROF_OUTPUT_DRAWING_H
#define CPPROF_OUTPUT_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/short_name.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/output/output.h"

/* ---- number_text.c ---- */

/* Numbers with all their digits, or with a few. */

/*
 * Adds the shortest decimal that reads back as the same double; 0 for NaN and
 * infinities.
 */
void text_add_exact(struct text_buffer *text, double number);

/*
 * Adds a number, which is finite, to four significant digits: "0.05123",
 * "12.35"; its whole part has all digits unless it is very large: "1234567",
 * "1.5e+21".
 */
void text_add_rounded(struct text_buffer *text, double number);

/* ---- box_label.c ---- */

/* The name and the colour of a box in a picture. */

/*
 * Adds name[n], made printable, in at most `width` columns.  A name that is
 * too wide becomes a short one (short_name.h), then loses its outer scopes to
 * an ellipsis; if its last identifier is still too wide, that ends in one.
 * Adds nothing if there is no room for three columns.
 */
void text_add_label(struct text_buffer *text, const char *name, size_t n,
                    size_t width);

enum { BOX_HUES = 12, BOX_SHADES = 3 };

/*
 * The colour of name[n]: names of one scope or with one prefix ("std::",
 * "db_") have the same hue, below BOX_HUES, in different shades, below
 * BOX_SHADES.  The same name has the same colour in every run.
 */
struct box_color {
	unsigned hue, shade;
};
struct box_color box_color(const char *name, size_t n);

/* ---- name_forks.c ---- */

/*
 * In which words names with the same last identifier differ.
 *
 * A name that is too wide is cut to its last identifier.  Of names that then
 * would be the same, each can show the words in which it differs from another
 * one, too: "…sort<…shared_ptr…", "…sort<…double…".
 */

/* The bytes [begin, end) of a name; at: the first one that differs. */
struct name_word {
	uint32_t begin, end;
	uint32_t at;
};

struct name_forks {
	struct name_word *words;
	size_t n_words, capacity;
	struct {
		size_t first, n;	/* in words */
	} *of;				/* [n] of each name; NULL: not made */
};

/*
 * Finds the words of the texts of n names; those of one name are in order and
 * do not overlap.  Time is that of sorting the texts, and of their lengths.
 * Start with `{ 0 }`.
 */
int name_forks_make(struct name_forks *forks, const struct short_name *names,
                    size_t n, struct error *error);
void name_forks_free(struct name_forks *forks);

/* ---- alike_rows.c ---- */

/*
 * Rows whose shortened paths or names would look the same.
 *
 * On a terminal, paths are cut to its width, so that two of them may become the
 * same text.  All rows are drawn once to find these.  Paths then must show the
 * names in which they differ from each other, and names the words in which they
 * differ (src/output/drawing.h); what still looks the same is not cut.  Paths
 * that show the same names look the same even if one of them has room for more
 * of a name's scopes.
 */

/* A row with a path or name that is cut. */
struct drawn_row {
	uint64_t hash;		/* of the text; 0: to be drawn again */
	uint64_t shown;		/* of the names and gaps; 0: not a path */
	uint32_t row;
	uint32_t record;	/* the path or name */
	bool is_forked;		/* its names show where they differ */
	bool is_wide;		/* it may take another line */
	bool is_uncut;
	size_t first_must, n_must;	/* in `must` */
};

/* Start with `{ 0 }`; free with alike_rows_free. */
struct alike_rows {
	struct drawn_row *rows;	/* [n], ordered by row */
	size_t n, capacity;
	uint32_t *must;		/* [n_must] offsets in paths */
	size_t n_must, must_capacity;
};

void alike_rows_free(struct alike_rows *alike);

/*
 * Notes the text of a row's path or name as it was drawn, and a hash of the
 * names that it shows (path_shown_hash) or 0; in the first round rows come in
 * order, later each may come again.
 */
int alike_rows_add(struct alike_rows *alike, uint32_t row,
                   const struct cell *cell, const char *text, size_t n,
                   uint64_t shown, struct error *error);

/* What was noted of a row, or NULL. */
struct drawn_row *alike_rows_find(const struct alike_rows *alike,
                                  uint32_t row);

enum alike_stage {
	ALIKE_NAMES,	/* paths that show the same names show more of them */
	ALIKE_TEXTS,	/* likewise rows of the same text, and their names
			 * show the words in which they differ */
	ALIKE_WIDE,	/* these may take another line */
	ALIKE_LAST,	/* these are not cut */
	ALIKE_STAGES
};

/*
 * Decides how rows that look the same are drawn; column of the table has their
 * paths or names.  *n_alike: how many they are; their hashes are 0 until they
 * are noted again.
 */
int alike_rows_part(struct alike_rows *alike, const struct table *table,
                    size_t column, enum alike_stage stage, size_t *n_alike,
                    struct error *error);

/* ---- shown_names.c ---- */

/* The names of a table, as its text shows them. */

/* Start with `{ 0 }`, in which every name is whole; free it. */
struct shown_names {
	const struct names *names;	/* those that it knows, or NULL */
	uint32_t *number;		/* [names_count] into texts; 0: whole */
	struct short_name *texts;	/* [n_texts + 1], from 1 on */
	uint32_t n_texts;
	struct short_name *inner;	/* [n_inner] in texts, in order */
	size_t n_inner, inner_capacity;
	struct arena arena;
	struct name_forks forks;	/* of texts from 1 on */
};

/*
 * Makes texts of all names in the rows, fields and header of a table: whole, or
 * short and no two the same (src/base/short_name.h); those in texts likewise,
 * apart from the others.  0, or -1 with *error set, also when interrupted.
 */
int shown_names_make(struct shown_names *shown, const struct table *table,
                     bool are_short, struct error *error);

/* Finds where these texts differ, if that is not known yet; likewise. */
int shown_names_find_forks(struct shown_names *shown, struct error *error);

/* The words in which a name differs from others, *n of them; or NULL. */
const struct name_word *shown_name_words(const struct shown_names *shown,
                                         const struct names *names,
                                         uint32_t name, size_t *n);

void shown_names_free(struct shown_names *shown);

/* The name in a cell's text, whole and as it is shown; likewise. */
struct short_name shown_inner_name(const struct shown_names *shown,
                                   const struct cell *cell);

/* The text of a name, *n bytes; lives as long as the names and `shown`. */
const char *shown_name(const struct shown_names *shown,
                       const struct names *names, uint32_t name, size_t *n);

/* ---- path_text.c ---- */

/* The names of a path cell, fetched once and written often. */

/* Start with `{ 0 }`; reused from cell to cell. */
struct path_names {
	const struct shown_names *shown;	/* NULL: all names are whole */
	const struct layout *layout;	/* for is_own; NULL: without it */
	const struct names *names;
	uint32_t *path;			/* [n], outermost first */
	size_t n, capacity;
	const uint32_t *must;		/* [n_must] offsets, in order, of names
					 * that a shortened path must show */
	size_t n_must;
	bool is_forked;			/* a shortened name shows the words in
					 * which it differs from others */

	unsigned char *form;		/* scratch */
	size_t form_capacity;
	bool is_bare;
	size_t least;			/* columns of words that are cut */
	bool has_last_word;		/* of those that differ from others,
					 * shortened names show the last only */
	struct text_buffer word, cut;
	struct name_parts parts;
};

void path_names_free(struct path_names *path);

/* The names of a CELL_PATH or CELL_NAME. */
int path_names_get(struct path_names *path, const struct cell *cell,
                   struct error *error);

/*
 * Of each run of functions without symbols of one module, which are called
 * MODULE+0xOFFSET, keeps the last.  Whether any was left out.
 */
bool path_names_fold(struct path_names *path);

/*
 * Adds the path as the shell reads it: names separated by blanks, between bars
 * where needed.  If it would take more than `width` columns (0: no limit),
 * names lose their outer scopes, then names in the middle are left out, those
 * that are not the user's own first; an ellipsis marks both.  Names that it
 * must show lose all but the words in which they differ from others; where
 * these do not fit, the outermost names are left out as well.  The last name,
 * to which the number belongs, is put between `before` and `after`.
 */
void text_add_path(struct text_buffer *text, struct path_names *path,
                   size_t width, const char *before, const char *after);

/*
 * A hash of which names the path shows as text_add_path has just added it with
 * a width, and where some are left out; the same for two paths that show the
 * same ones, even if one shows more of their scopes.  Never 0.
 */
uint64_t path_shown_hash(const struct path_names *path);

/*
 * Adds the name of a CELL_NAME without bars.  If it is too wide it loses its
 * outer scopes, then what follows its last identifier.  An identifier that is
 * still too wide is cut in the middle.
 */
void text_add_bare_name(struct text_buffer *text, struct path_names *path,
                        size_t width);

/* Adds name[n], which is not a cell's, likewise; `path` is scratch. */
void text_add_name(struct text_buffer *text, struct path_names *path,
                   const char *name, size_t n, size_t width);

/*
 * Adds the names as in collapsed stacks, joined by semicolons.  A name that
 * holds a semicolon or an unprintable character, or begins with a bar, is put
 * between bars.
 */
void text_add_collapsed(struct text_buffer *text,
                        const struct path_names *path);

/* ---- json.c ---- */

/* Values of cells as JSON. */

/* Start with { 0 }; free both. */
struct json {
	struct text_buffer text;
	struct path_names path;		/* scratch */
};

/*
 * Adds the value of a cell: a number with all its digits, a text, or the names
 * of a path.  0, or -1 with *error set.
 */
int json_add_value(struct json *json, const struct cell *cell,
                   struct error *error);

/* ---- report_script.c ---- */

/* How a report looks, and what its page does with the data. */

/*
 * The lines of its style and of its script; each ends with NULL.  They contain
 * nothing that ends the element they are in.
 */
extern const char *const report_style[];
extern const char *const report_script[];

/* ---- svg.c ---- */

/*
 * What pictures of all kinds have in common as SVG.
 *
 * Shared by the kinds: boxes (picture_svg.c) and charts (chart_svg.c).  Names
 * are untrusted: they are made printable, then escaped, and only appear as the
 * text of elements.
 */

enum {
	SVG_PIXELS = 1200,	/* the width that pictures are made for */
	SVG_LINE = 16,		/* height of a line of text */
	SVG_PADDING = 10,
	SVG_CHARACTER_TENTHS = 66,	/* the width of one, in the font */
};

/* Rules of every picture; on dark screens the second ones, which end in "}". */
#define SVG_STYLE \
	"#cpprof-picture { background: #fff; " \
	"font: 11px 'DejaVu Sans Mono', Menlo, Consolas, monospace }\n" \
	"text { fill: #111 }\n" \
	".t { font-weight: bold }\n"
#define SVG_DARK_STYLE \
	"@media (prefers-color-scheme: dark) {\n" \
	"#cpprof-picture { background: #1b1b1d }\n" \
	"text { fill: #eee }\n"

/* Adds printable text as the content of an element. */
void svg_add_escaped(struct text_buffer *text, const char *bytes, size_t n);

/* The same for bytes of any kind. */
void svg_add_untrusted(struct text_buffer *text, const char *bytes, size_t n);

/*
 * Adds line `number`, from 1 on, of the lines at the top.  attributes: those of
 * its element, after a blank each, or "".
 */
void svg_add_line(struct text_buffer *text, int number, const char *attributes,
                  const char *line);

void svg_put(struct writer *writer, const char *text);

/*
 * Draw the picture or chart of a table as an svg element; is_document: as a
 * file of its own.
 */
int draw_boxes_svg(const struct table *table, const struct layout *layout,
                   struct writer *writer, bool is_document,
                   struct error *error);
int draw_chart_svg(const struct table *table, const struct layout *layout,
                   struct writer *writer, bool is_document,
                   struct error *error);

/* ---- picture_script.c ---- */

/* What a picture can do where scripts run. */

/*
 * The script's lines; ends with NULL.  They fit a CDATA section, in SVG and in
 * HTML.  They add search, zoom and the whole path of the box under the pointer;
 * without them, the picture can be read all the same.
 */
extern const char *const picture_script[];

/* ---- drawing.c ---- */

/*
 * The state while a table is drawn as text, line by line.
 *
 * Shared by the two forms of rows: by a pattern (text_pattern.c) and in
 * columns (text_columns.c).  text.c draws headings, rules and footers.
 */

/* What ANSI terminals take for a change of colour. */
#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[32m"
#define CYAN "\033[36m"
#define RESET "\033[0m"

/* The columns that a name or a line of text has at least. */
enum { DRAWING_NARROWEST = 16 };

/* Start with the first three members set. */
struct drawing {
	const struct table *table;
	const struct layout *layout;
	struct writer *writer;
	struct text_buffer line;	/* not written yet */
	size_t unseen;			/* columns that drawing_width counts for
					 * colours in the line */
	struct text_buffer rest;	/* scratch */
	struct path_names path;
	struct shown_names shown;
	struct alike_rows alike;
	uint32_t row;			/* that is being drawn */
	size_t cut_column;		/* of the paths or names that are cut */
	bool is_trial;			/* rows are drawn but not written */
	struct cell cells[TABLE_MAX_COLUMNS];	/* of the row being drawn */
	size_t indent_step, indent_most;	/* columns; see text_fit_indent */
	bool gave_way[TABLE_MAX_COLUMNS];	/* columns that are left out */
	/* Of aligned rows. */
	size_t widths[TABLE_MAX_COLUMNS];	/* of columns */
	size_t cell_widths[TABLE_MAX_COLUMNS];
	size_t gap;			/* blanks between columns */
	bool has_short_titles;
};

/* Adds a cell; a path or name takes at most `width` columns (0: any). */
int drawing_add_cell(struct drawing *drawing, struct text_buffer *text,
                     const struct cell *cell, size_t width,
                     struct error *error);

/* Writes the line and empties it. */
int drawing_flush(struct drawing *drawing, struct error *error);

/*
 * What comes before each row on a terminal, if the layout wants it: its
 * number, if the table has paths, and a bar of its share.
 * drawing_add_lead_title adds a title in the place of both.
 */
void drawing_add_lead(struct drawing *drawing, size_t row);
void drawing_add_lead_title(struct drawing *drawing);

/* Indents the line by the row's depth, where the table has one. */
void drawing_indent(struct drawing *drawing);

/* The column of the rows' depth, or n_columns. */
size_t drawing_depth_column(const struct drawing *drawing);

/* Whether hits of a column, or of no column if it is NULL, are shown in gticks. */
bool drawing_has_unit(const struct drawing *drawing,
                      const struct column *column);

/* The heading of a column. */
const char *drawing_title(const struct drawing *drawing, size_t column);

/* The column of that key, or n_columns. */
size_t drawing_find_column(const struct table *table, const char *key,
                           size_t n);

/* The columns that a text takes on a terminal. */
size_t drawing_width(const struct text_buffer *text);

/* The columns that the line takes so far. */
size_t drawing_used(const struct drawing *drawing);

/* The columns left for an elastic cell when `used` are taken; 0: no limit. */
size_t drawing_room(const struct drawing *drawing, size_t used);

/*
 * Adds a printable text to the line.  On a terminal it is broken at blanks
 * where it exceeds the width, and the following lines are indented by `indent`
 * blanks, like the text already in the line.
 */
int drawing_add_wrapped(struct drawing *drawing, const char *text, size_t n,
                        size_t indent, struct error *error);

/* Draws a row of a table with a pattern. */
int draw_pattern_row(struct drawing *drawing, struct error *error);

/*
 * Sets the columns that the rows of such a table leave at least for the first
 * path or name and its indentation.
 */
int measure_pattern(struct drawing *drawing, size_t *room,
                    struct error *error);

/* Before any row is drawn: decides whether a column gives way. */
int fit_pattern(struct drawing *drawing, struct error *error);
int draw_format_line(struct drawing *drawing, struct error *error);

/*
 * Draws the table's picture, and lines that say what is not drawn and what
 * hatching means.
 */
int draw_picture(struct drawing *drawing, struct error *error);

/*
 * For a table without a pattern: measures the widths, before any row is drawn,
 * and fits them to the terminal.  Columns that are left out are named by
 * draw_what_gave_way.  measured_room: the columns that are left for the last
 * cell; 0: too few.
 */
int measure_columns(struct drawing *drawing, struct error *error);
int draw_what_gave_way(struct drawing *drawing, struct error *error);
size_t measured_room(struct drawing *drawing);
int draw_headings(struct drawing *drawing, struct error *error);
int draw_aligned_row(struct drawing *drawing, struct error *error);

#endif
