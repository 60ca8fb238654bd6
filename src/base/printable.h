/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable.h -- untrusted names made fit to print.
 *
 * Names come from files that others wrote.  What could steer a terminal (C0,
 * DEL and C1 controls, bidirectional overrides, invisible characters) and
 * what is not UTF-8 is printed byte by byte as \xNN.  Between bars the shell
 * reads \xNN as that byte again, so what is printed can be typed.
 */
#ifndef CPPROF_BASE_PRINTABLE_H
#define CPPROF_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/text_buffer.h"
#include "src/base/utf8.h"

/* Adds bytes[n] with escapes for what is not printable. */
void text_add_printable(struct text_buffer *text, const char *bytes,
                        size_t n);

/*
 * Adds a name as the shell would read it: bare, or between bars when it is
 * empty or holds a blank, a parenthesis, a quote, one of ; | # > or anything
 * that is not printable.
 */
void text_add_word(struct text_buffer *text, const char *name, size_t n);

/*
 * Adds a name between bars whatever it holds.  A blank in front is \x20: a bar
 * followed by a blank would be a pipe.
 */
void text_add_between_bars(struct text_buffer *text, const char *name,
                           size_t n);

/* Terminal columns that printable UTF-8 takes, in any locale. */
size_t printable_width(const char *bytes, size_t n);

/* Length of the longest prefix of whole characters within `width` columns. */
size_t printable_prefix(const char *bytes, size_t n, size_t width);

/*
 * Adds printable UTF-8, with "..." in the place of its middle when it takes
 * more than `width` columns.
 */
void text_add_elided(struct text_buffer *text, const char *bytes, size_t n,
                     size_t width);

#endif
