/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_buffer.h -- text: growing strings, characters, and what may go to a
 * terminal.
 */
#ifndef CPPROF_BASE_TEXT_BUFFER_H
#define CPPROF_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/error.h"
#include "src/base/memory.h"

/* ---- text_buffer.c ---- */

/*
 * A text that grows.
 *
 * Sticky: when memory runs out the text stops growing and `failed` is set;
 * check it once, before using the text.
 */

/* Start with `{ 0 }`.  bytes[length] is not followed by a NUL. */
struct text_buffer {
	char *bytes;
	size_t length, capacity;
	bool failed;
};

void text_free(struct text_buffer *text);

/* Empties it and keeps its memory; `failed` keeps its value. */
void text_clear(struct text_buffer *text);

void text_add(struct text_buffer *text, const char *bytes, size_t n);
void text_add_string(struct text_buffer *text, const char *string);
void text_add_char(struct text_buffer *text, char c);
void text_add_fill(struct text_buffer *text, char c, size_t n);
void text_add_format(struct text_buffer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Frees the text; a copy of it in the arena, with a NUL at its end.  NULL with
 * *error set when memory is short or was so before.
 */
char *text_move(struct text_buffer *text, struct arena *arena,
                struct error *error);

/* The text followed by a NUL, valid until the next call; "" if it failed. */
const char *text_string(struct text_buffer *text);

/* How many words `length` bytes have, separated by spaces. */
size_t text_count_words(const char *text, size_t length);

/* ---- text_lines.c ---- */

/* The lines of a text file. */

struct text_lines {
	char *bytes;		/* the file; each line ends in a NUL */
	size_t size;		/* of the file */
	const char **lines;	/* [n] line i + 1, without its end */
	uint32_t n;
};

/*
 * Splits bytes[size], which must have room for a NUL at bytes[size] and which
 * it takes over, even if it fails.  Lines end in LF or CR LF.
 */
int text_lines_split(struct text_lines *text, char *bytes, size_t size,
                     struct error *error);
void text_lines_free(struct text_lines *text);

/*
 * Reads the next line of an open file, without its LF and with a NUL after it,
 * into *line, which grows as memory_grow does; NUL bytes can be in it.  1, or 0
 * at the end of the file, or -1 with *error set: also if the line is longer
 * than 16 MiB, so that a device without an end does not fill the memory.
 */
int text_line_read(FILE *file, char **line, size_t *capacity, size_t *length,
                   struct error *error);

/* ---- utf8.c ---- */

/* Characters in untrusted bytes. */

/*
 * Decodes the character at the beginning of bytes[n], n >= 1, and returns its
 * length; 0 when it is not UTF-8 (overlong forms and surrogates are not).
 */
size_t utf8_decode(const char *bytes, size_t n, uint32_t *character);

/* Whether a terminal simply draws it. */
bool character_is_printable(uint32_t character);

/* ---- printable.c ---- */

/*
 * Escapes untrusted names for printing.
 *
 * Names come from files that others wrote.  Characters that could control a
 * terminal (C0, DEL and C1 controls, bidirectional overrides, invisible
 * characters) and bytes that are not UTF-8 are printed byte by byte as \xNN.
 * Between bars the shell reads \xNN as that byte again, so a printed name can
 * be typed.
 */

/* In place of what was left out. */
#define ELLIPSIS "\xe2\x80\xa6"

/* Adds bytes[n], escaping what is not printable. */
void text_add_printable(struct text_buffer *text, const char *bytes,
                        size_t n);

/*
 * Adds a name as the shell reads it: bare, or between bars when it is empty or
 * holds a blank, a parenthesis, a quote, one of ; | # > or anything that is
 * not printable.
 */
void text_add_word(struct text_buffer *text, const char *name, size_t n);

/*
 * Adds a name between bars, whatever it holds.  A blank at the beginning
 * becomes \x20, since a bar followed by a blank would be a pipe.
 */
void text_add_between_bars(struct text_buffer *text, const char *name,
                           size_t n);

/* Terminal columns that printable UTF-8 takes, in any locale. */
size_t printable_width(const char *bytes, size_t n);

/* Length of the longest prefix of whole characters within `width` columns. */
size_t printable_prefix(const char *bytes, size_t n, size_t width);

/*
 * Adds printable UTF-8.  When it takes more than `width` columns, an ellipsis
 * replaces its middle.
 */
void text_add_elided(struct text_buffer *text, const char *bytes, size_t n,
                     size_t width);

/* ---- json_string.c ---- */

/* Untrusted bytes as a JSON string. */

/*
 * Adds bytes[n] between quotes.  The string is valid UTF-8 whatever the bytes
 * are: a byte that is not part of UTF-8 becomes U+FFFD, and what a terminal
 * would not simply draw becomes \uNNNN.
 */
void text_add_json_string(struct text_buffer *text, const char *bytes,
                          size_t n);

/* ---- wrapping.c ---- */

/* Where the lines of a long text end. */

/*
 * Length of the first line of printable UTF-8 that is wrapped to `width`
 * columns: up to a blank, but not one between a number and its unit; or to the
 * end of its first word, which may be wider.
 */
size_t wrapping_line(const char *bytes, size_t n, size_t width);

#endif
