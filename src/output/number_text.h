/* SPDX-License-Identifier: GPL-3.0-or-later */
/* number_text.h -- numbers with all their digits, or with a few. */
#ifndef CPPROF_OUTPUT_NUMBER_TEXT_H
#define CPPROF_OUTPUT_NUMBER_TEXT_H

#include "src/base/text_buffer.h"

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

#endif
