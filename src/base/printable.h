/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable.h -- escapes untrusted names for printing.
 *
 * Names come from files that others wrote.  Characters that could control a
 * terminal (C0, DEL and C1 controls, bidirectional overrides, invisible
 * characters) and bytes that are not UTF-8 are printed byte by byte as \xNN.
 * Between bars the shell reads \xNN as that byte again, so a printed name can
 * be typed.
 */
#ifndef CPPROF_BASE_PRINTABLE_H
#define CPPROF_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/text_buffer.h"
#include "src/base/utf8.h"

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

#endif
